// The ready scenarios as cards; the whole card is one button.

function gallery(api) {
  const { parentElement, data, setTriggerValue } = api, root = parentElement.querySelector(".gallery-root"), p = lookOf(root);
  for (const name of ["bg", "surface", "line", "ink", "ink2", "ink3", "accent"]) root.style.setProperty("--" + name, p[name]);
  const cards = data.rows.map((row) => {
    // A picture as an image: whatever stands in it can run nothing.
    const picture = el("img", { alt: "", src: "data:image/svg+xml," + encodeURIComponent(row.picture), width: "320", height: "120" });
    const open = el("button", { type: "button", "aria-current": row.current ? "true" : null }, row.title);
    open.onclick = () => setTriggerValue("choose", row.name);
    return el("li", { class: row.current ? "current" : null }, picture, el("h3", {}, open, row.current ? el("span", { class: "sub" }, data.words.current) : null), el("p", {}, row.story), row.teaches ? el("p", { class: "teaches" }, row.teaches) : null);
  });
  root.replaceChildren(el("ul", {}, ...cards), el("p", { class: "sub" }, data.words.how));
}
