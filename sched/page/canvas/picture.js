// A button that asks for the picture, turns it into a PNG of twice its size and saves it.

const SCALE = 2, saved = new WeakMap();

async function png(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), image = new Image();
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.naturalWidth * SCALE);
    canvas.height = Math.round(image.naturalHeight * SCALE);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

async function save(svg, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await png(svg));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export default function picture({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button"), state = saved.get(parentElement) ?? { number: data.number };
  saved.set(parentElement, state);
  button.textContent = data.label;
  button.onclick = () => { state.asked = true; button.disabled = true; setTriggerValue("ask", true); };
  if (!state.asked || data.number === state.number || !data.svg) return;
  state.number = data.number;
  state.asked = false;
  save(data.svg, data.name).finally(() => { button.disabled = false; });
}
