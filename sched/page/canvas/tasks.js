// Tasks on one processor over time: a row a task, a piece for what it does, a line at the moment that is asked about.

function taskRow({ name, pieces, told }, end) {
  const track = el("div", { class: "track" });
  for (const [from, to, does] of pieces) {
    const piece = el("i", { class: does });
    piece.style.left = `${(100 * from) / end}%`;
    piece.style.width = `${(100 * (to - from)) / end}%`;
    track.append(piece);
  }
  return el("div", { class: "task", role: "img", "aria-label": told }, el("span", { class: "name", "aria-hidden": "true" }, name), track);
}

function taskChart({ heading, rows, end, at }, step) {
  const box = el("div", { class: "rows" }, ...rows.map((row) => taskRow(row, end))), line = el("div", { class: "now" }), axis = el("div", { class: "axis", "aria-hidden": "true" });
  line.style.left = `${(100 * at) / end}%`;
  const over = el("div", { class: "over", "aria-hidden": "true" }, line);
  for (let k = 0; k <= end; k += 2) { const tick = el("span", {}, k === 0 ? step : String(k)); tick.style.left = `${(100 * k) / end}%`; axis.append(tick); }
  box.append(over, axis);
  return el("figure", {}, el("figcaption", {}, heading), box);
}

function tasks({ parentElement, data }) {
  const holder = parentElement.querySelector(".tasks-root"), p = lookOf(holder);
  const legend = el("div", { class: "legend" }, ...data.legend.map(([kind, words]) => el("span", {}, el("i", { class: kind, "aria-hidden": "true" }), words)));
  const root = el("div", { class: "tasks" }, ...data.charts.map((chart) => taskChart(chart, data.step)), legend);
  for (const [name, colour] of Object.entries(p)) if (typeof colour === "string" && colour.startsWith("#")) root.style.setProperty("--" + name, colour);
  holder.replaceChildren(root);
}
