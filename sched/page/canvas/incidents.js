// The incidents as a real table; a row's button moves the stage to it.

function incidents(api) {
  const { parentElement, data } = api, root = parentElement.querySelector(".incidents-root"), p = lookOf(root);
  for (const name of ["bg", "surface", "line", "ink", "ink2", "ink3", "accent", "urgent", "regular", "batch", "culprit", "culpritBg"]) root.style.setProperty("--" + name, p[name]);
  const longest = Math.max(1e-9, ...data.rows.map((row) => row.inversion_s)), heads = ["", tr("request"), tr("from"), tr("waited"), tr("inversion"), "", tr("share of its wait"), tr("short of"), tr("main culprits")];
  const right = new Set([2, 3, 4, 6]);
  const body = data.rows.map((row) => {
    const go = el("button", { type: "button", "aria-label": tr("Show {name} at {time} seconds", { name: displayed(row.request), time: row.from_s.toFixed(2) }), title: tr("Show on the stage") }, icon("play", 14));
    const show = (opens) => window.dispatchEvent(new CustomEvent("sched:goto", { detail: { t: row.from_s + 0.6 * (row.to_s - row.from_s), focus: row.request, opens } }));
    go.onclick = () => show(false);
    const tell = el("button", { type: "button", class: "name", title: data.tell }, classMark(row.role, 10), " ", displayed(row.request));
    tell.onclick = () => show(true);
    const bar = el("i", { class: "bar" });
    bar.style.width = `${(100 * row.inversion_s) / longest}%`;
    const culprits = row.culprits.flatMap(([name, role, share], k) => [k ? ", " : "", classMark(role, 9), " ", k ? displayed(name) : el("b", {}, displayed(name)), " ", percent(share)]);
    return el("tr", {}, el("td", {}, go), el("th", { scope: "row" }, tell), el("td", { class: "r" }, moment(row.from_s)), el("td", { class: "r" }, span(row.waited_s)),
      el("td", { class: "r strong" }, span(row.inversion_s)), el("td", { class: "bars" }, bar), el("td", { class: "r" }, percent(row.share)), el("td", {}, row.cause), el("td", { class: "who" }, ...culprits));
  });
  root.replaceChildren(el("p", { class: "lead" }, ...data.lead.map(([text, kind]) => (kind ? el("b", { class: kind }, text) : text))),
    data.rows.length ? el("div", { class: "edges" }, el("div", { class: "scroll" }, el("table", {}, el("caption", {}, data.caption), el("thead", {}, el("tr", {}, ...heads.map((name, k) => el("th", { scope: "col", class: right.has(k) ? "r" : null, title: data.help[k] ?? null }, name)))), el("tbody", {}, ...body)))) : "");
  const scroll = root.querySelector(".scroll");
  if (scroll) shadeEdges(scroll);
}
