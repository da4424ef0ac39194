// The link as text that can be read and selected, with what was changed set apart, and a button that copies it.

async function copied(text, box) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {                                     // no clipboard without https: the old way, by a selection
    const range = document.createRange(), selection = getSelection();
    range.selectNodeContents(box);
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

export default function link({ data, parentElement }) {
  const box = parentElement.querySelector("code"), button = parentElement.querySelector("button"), said = parentElement.querySelector("output");
  box.replaceChildren(...data.parts.map(([text, isChanged]) => {
    const part = document.createElement(isChanged ? "b" : "span");
    part.textContent = text;
    return part;
  }));
  const text = data.parts.map(([part]) => part).join("");
  button.textContent = data.copy;
  if (said.dataset.of !== text) said.textContent = "";
  button.onclick = async () => {
    said.textContent = (await copied(text, box)) ? data.copied : data.failed;
    said.dataset.of = text;
  };
}
