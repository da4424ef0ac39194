// Shows the stage of a saved report: its data lies in the page, and nothing is ever asked of a server.

publish({ parentElement: document.body });
const views = await globalThis.schedLab.ready;
const place = document.getElementById("stage"), text = document.getElementById("payload").textContent;
const data = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
const parentElement = place.attachShadow({ mode: "open" }), box = document.createElement("div");
const api = { data, parentElement, alone: true, setStateValue() {}, setTriggerValue() {} };
const draw = () => views.stage(api);

box.className = "stage-root";
parentElement.append(box);
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
