// The story of one request, under A and under B beside it. A time of its life moves the stage there.

const PATTERNS = { quantum: "solid", legitimate: "dots", reserved: "held", kv: "inv", tokens: "inv back", seats: "inv cross" };

function waitBar(side) {
  const words = side.parts.map((part) => `${part.words} ${part.said}`).join("; ");
  const bar = el("div", { class: "whole", role: "img", "aria-label": `${side.wait}: ${words}` }, ...side.parts.map((part) => {
    const piece = el("i", { class: PATTERNS[part.cause], title: `${part.words}: ${part.said}` });
    piece.style.flexGrow = part.share;
    return piece;
  }));
  const key = el("ul", { class: "key" }, ...side.parts.map((part) => el("li", {}, el("i", { class: PATTERNS[part.cause], "aria-hidden": "true" }), el("span", {}, part.words), " ", el("b", {}, part.said))));
  return el("div", {}, bar, key);
}

function culpritTable(side, heads, caption) {
  const longest = Math.max(1e-12, ...side.culprits.map((row) => row.part));
  const body = side.culprits.map((row) => {
    const bar = el("i", { class: `share ${row.kind === "bypass" ? "inv back" : "inv"}` });
    bar.style.width = `${(100 * row.part) / longest}%`;
    return el("tr", {}, el("th", { scope: "row" }, classMark(row.role, 10), " ", el("bdi", {}, row.id)), el("td", {}, row.did), el("td", {}, row.short), el("td", { class: "r" }, row.said), el("td", { class: "r" }, row.share), el("td", { class: "bars", "aria-hidden": "true" }, bar));
  });
  const right = new Set([3, 4]);
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, el("table", {}, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, ...heads.map((name, k) => el("th", { scope: "col", class: right.has(k) ? "r" : null }, name)), el("td", {}))),
    el("tbody", {}, ...body, side.more ? el("tr", {}, el("td", { colspan: "6" }, side.more)) : null)));
}

function helpedList(rows) {
  return el("ul", { class: "helped" }, ...rows.map((row, k) => {
    const bar = el("i", { class: k ? "again" : "was" });
    bar.style.width = `${100 * row.share}%`;
    return el("li", {}, el("span", { class: k ? null : "strong" }, row.words), el("span", { class: "track", "aria-hidden": "true" }, bar), el("b", {}, row.said));
  }));
}

function lifeList(side, words, request) {
  return el("ol", { class: "life" }, ...side.life.map((one) => {
    const go = el("button", { type: "button", title: words.goto, "aria-label": `${words.goto}: ${one.at}` }, icon("play", 12), one.at);
    go.onclick = () => window.dispatchEvent(new CustomEvent("sched:goto", { detail: { t: one.t, focus: request } }));
    return el("li", { class: one.event }, go, el("b", {}, one.words), el("span", {}, one.text));
  }));
}

function sideNode(side, words, request) {
  const head = el("h2", {}, el("span", { class: "badge" }, side.side), " ", side.role === undefined ? null : classMark(side.role, 12), " ", el("bdi", {}, side.name), el("span", { class: "sub" }, side.policy));
  if (side.gone) return el("section", {}, head, el("p", {}, side.gone));
  const part = (title, note, ...nodes) => el("div", { class: "part" }, el("h3", {}, title), note ? el("p", { class: "sub" }, note) : null, ...nodes);
  return el("section", { "aria-label": `${side.side} ${side.policy}` }, head,
    el("p", { class: "sum" }, el("b", {}, side.wait), side.bad ? el("b", { class: "bad" }, side.bad) : null),
    ...side.sentences.map((text) => el("p", { class: "told", dir: "auto" }, text)),
    side.parts.length ? part(words.parts, words.adds, waitBar(side)) : null,
    side.culprits.length ? part(words.culprits, words.shared, culpritTable(side, words.heads, words.culprits)) : null,
    side.helped.length ? part(words.helped, words.again, helpedList(side.helped)) : null,
    part(words.life, null, lifeList(side, words, request)));
}

// Who opens a link to a story is taken to it, once the stage above has its height; after that nobody is moved.
let hasLanded = false;

function land(root) {
  hasLanded = true;
  const scroll = () => requestAnimationFrame(() => {
    if (root.getBoundingClientRect().top > 0.6 * innerHeight) root.scrollIntoView({ block: "start", behavior: still() ? "auto" : "smooth" });
  });
  if (window.__ready) scroll(); else window.addEventListener("sched:drawn", scroll, { once: true });
}

function story(api) {
  const { parentElement, data } = api, root = parentElement.querySelector(".story-root"), p = lookOf(root);
  for (const name of ["bg", "surface", "line", "ink", "ink2", "ink3", "accent", "urgent", "regular", "batch", "culprit", "culpritBg", "reserved", "reservedBg", "free"]) root.style.setProperty("--" + name, p[name]);
  root.replaceChildren(el("div", { class: "sides" }, ...data.sides.map((side) => sideNode(side, data.words, data.request))));
  // A request that was chosen in the list comes into focus on the stage; one that was clicked there is so already.
  if (root._picked !== undefined && root._picked !== data.picked) window.dispatchEvent(new CustomEvent("sched:focus", { detail: data.request }));
  root._picked = data.picked;
  if (data.landing && !hasLanded) land(root);
}
