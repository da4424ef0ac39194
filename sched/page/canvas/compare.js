// The policies over all seeds as a real table: headings are buttons that sort, a policy's button opens its menu.

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// One policy's seeds on the log axis that all rows share: a line over the range, a small dot each, the mean, the goal.
function dotsNode(dot, words, [low, high], goal) {
  const width = 150, height = 22, middle = height / 2, at = (s) => 8 + ((width - 16) * Math.log(Math.max(s, low) / low)) / Math.log(high / low);
  const node = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words, class: "dots" });
  const title = shape("title", {});
  title.textContent = words;
  node.append(title);
  if (goal) node.append(shape("line", { x1: at(goal), x2: at(goal), y1: 0, y2: height, class: "goal" }));
  if (!dot.values.length) return node;
  node.append(shape("line", { x1: at(Math.min(...dot.values)), x2: at(Math.max(...dot.values)), y1: middle, y2: middle, class: "range" }));
  for (const one of dot.values) node.append(shape("circle", { cx: at(one), cy: middle, r: 2, class: "seed" }));
  const x = at(dot.mean);
  if (dot.met === false) node.append(shape("path", { d: `M${x} ${middle - 6.5}l6.500 6.500 -6.500 6.500 -6.500 -6.500z`, class: "missed" }));
  else node.append(shape("circle", { cx: x, cy: middle, r: 5.5, class: dot.met ? "met" : "plain" }));
  return node;
}

function headNode(column, data, sort) {
  const down = data.sort === `-${column.key}`, mine = data.sort?.replace(/^-/, "") === column.key;
  const attributes = { scope: "col", class: column.kind === "number" ? "r" : null, title: column.help || null };
  if (!column.sorts) return el("th", attributes, column.title);
  const button = el("button", { type: "button", "data-sort": column.key, "aria-description": column.help || null }, column.title, el("span", { class: "arrow", "aria-hidden": "true" }, mine ? (down ? " ↓" : " ↑") : ""));
  button.onclick = () => sort(mine && !down ? `-${column.key}` : column.key);
  return el("th", { ...attributes, "aria-sort": mine ? (down ? "descending" : "ascending") : "none" }, button);
}

function cellNode(cell, column, data) {
  if (cell.dot) return el("td", { class: "picture" }, dotsNode(cell.dot, cell.text, data.axis, data.goal));
  const text = cell.tone === "strong" ? el("b", {}, cell.text) : cell.text;
  return el("td", { class: [column.kind === "number" ? "r" : "", cell.tone === "quiet" ? "quiet" : ""].join(" ").trim() || null }, text, ...[cell.sub, cell.note].filter(Boolean).map((one) => el("small", {}, one)));
}

// A small menu below the policy's button; it closes on Escape, on a choice and when the focus leaves it.
function menuNode(row, data, act, button, close) {
  const items = data.menu.map(([what, label]) => {
    const one = el("button", { type: "button", role: "menuitem", tabindex: "-1", "data-what": what }, label);
    one.onclick = () => { close(true); act({ what, key: row.key }); };
    return one;
  });
  const node = el("div", { class: "menu", role: "menu", "aria-label": row.title }, ...items);
  node.onkeydown = (event) => {
    const place = items.indexOf(event.target), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); items[(place + step + items.length) % items.length].focus(); }
    if (event.key === "Escape" || event.key === "Tab") { event.stopPropagation(); close(event.key === "Escape"); }
  };
  node.addEventListener("focusout", (event) => { if (!node.contains(event.relatedTarget) && event.relatedTarget !== button) close(false); });
  return node;
}

function rowNode(row, data, act) {
  const name = el("span", { class: "name" }, row.title);
  const side = row.side ? el("i", { class: "side" }, row.side) : null;
  const head = el("th", { scope: "row" }), cells = row.cells.map((cell, k) => cellNode(cell, data.columns[k], data));
  const node = el("tr", { class: row.chosen ? "chosen" : null, "data-key": row.key });
  if (!data.menu.length) { head.append(name); node.append(head, ...cells); return node; }
  const button = el("button", { type: "button", class: "policy", "aria-haspopup": "menu", "aria-expanded": "false", title: data.open.replace("{policy}", row.title) }, name, side);
  let menu = null;
  // Taking the menu away moves the focus, which asks to close it once more.
  const close = (back) => { const gone = menu; menu = null; gone?.remove(); button.setAttribute("aria-expanded", "false"); if (back) button.focus(); };
  const open = () => {
    menu = menuNode(row, data, act, button, close);
    const box = button.getBoundingClientRect(), root = node.closest(".compare-root"), from = root.getBoundingClientRect();
    menu.style.left = `${box.left - from.left}px`;
    menu.style.top = `${box.bottom - from.top + 2}px`;
    root.append(menu);
    button.setAttribute("aria-expanded", "true");
    menu.firstChild.focus();
  };
  button.onclick = (event) => { event.stopPropagation(); if (menu) close(true); else open(); };
  node.onclick = () => { if (!menu) open(); };
  head.append(button);
  node.append(head, ...cells);
  return node;
}

// A shade at each edge beyond which there are more columns.
function shadeEdges(scroll) {
  const shade = () => {
    const { scrollLeft, clientWidth, scrollWidth } = scroll, edges = scroll.parentElement;
    edges.classList.toggle("more-left", scrollLeft > 1);
    edges.classList.toggle("more-right", scrollLeft + clientWidth < scrollWidth - 1);
    edges.style.setProperty("--head", `${scroll.querySelector("thead th")?.offsetWidth ?? 0}px`);
  };
  scroll.onscroll = shade;
  new ResizeObserver(shade).observe(scroll);
  shade();
}

function compare(api) {
  const { parentElement, data, setTriggerValue } = api, root = parentElement.querySelector(".compare-root"), p = lookOf(root);
  for (const name of ["bg", "surface", "raised", "line", "ink", "ink2", "ink3", "accent", "urgent", "culprit", "good"]) root.style.setProperty("--" + name, p[name]);
  const held = root.getRootNode().activeElement, focused = root.contains(held) ? { sort: held.dataset.sort, key: held.closest("tr")?.dataset.key } : null;
  const left = root.querySelector(".scroll")?.scrollLeft ?? 0;
  const sort = (key) => setTriggerValue("sort", key), act = (what) => setTriggerValue("act", what);
  const first = data.sort ? { key: "policy", title: data.head, kind: "text", sorts: true } : { key: "policy", title: data.head, kind: "text" };
  const heads = [first, ...data.columns].map((column) => headNode(column, data, sort));
  const table = el("table", {}, el("caption", {}, data.caption), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...data.rows.map((row) => rowNode(row, data, act))));
  root.replaceChildren(...[
    data.verdict.length ? verdictNode(data.verdict) : null,
    data.trust ? el("p", { class: "basis" }, data.trust) : null,
    el("div", { class: "edges" }, el("div", { class: "scroll", role: "region", "aria-label": data.caption, tabindex: "0" }, table))].filter(Boolean));
  const scroll = root.querySelector(".scroll");
  scroll.scrollLeft = left;
  shadeEdges(scroll);
  if (focused?.sort) root.querySelector(`[data-sort="${focused.sort}"]`)?.focus();
  else if (focused?.key) [...root.querySelectorAll("tr")].find((one) => one.dataset.key === focused.key)?.querySelector("button")?.focus();
  root.dataset.rows = data.rows.length;
  // Tests and the console find the table here: it lives in a shadow of its own.
  if (data.menu.length) globalThis.__compare = root; else globalThis.__percentiles = root;
}
