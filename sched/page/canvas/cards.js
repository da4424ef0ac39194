// The verdict, the line that says what it rests on, and one card a policy.

const SIDES = ["A", "B"];

function verdictNode(parts) {
  return el("h2", { class: "verdict" }, ...parts.map(([text, kind]) => (kind ? el("b", { class: kind }, text) : text)));
}

let isTrustOpen = false; // It stays open when the cards are drawn anew.

function trustNode(line, basis, tell) {
  const list = ([title, ...texts]) => (texts.length ? [el("h3", {}, title), el("ul", {}, ...texts.map((text) => el("li", {}, text)))] : []);
  const about = el("button", { type: "button" }, basis.about);
  about.onclick = tell;
  const node = el("details", { class: "trust" }, el("summary", {}, icon("met", 15), el("span", {}, line), el("u", {}, basis.why)),
    el("div", { class: "basis" }, ...list(basis.weak), ...list(basis.facts), about));
  node.open = isTrustOpen;
  node.addEventListener("toggle", () => { isTrustOpen = node.open; });
  return node;
}

function strip(card, low, high) {
  const at = (s) => `${(100 * Math.log(Math.min(high, Math.max(low, s)) / low)) / Math.log(high / low)}%`;
  const node = el("div", { class: "strip", "aria-hidden": "true" }, el("i", { class: "axis" }));
  if (card.goal_s !== null) { const tick = el("i", { class: "goal" }), label = el("span", {}, tr("goal")); tick.style.left = label.style.left = at(card.goal_s); label.className = card.value_s !== null && card.value_s > card.goal_s && Math.log(card.value_s / card.goal_s) < 0.22 * Math.log(high / low) ? "before" : ""; node.append(tick, label); }
  if (card.value_s !== null) { const dot = el("i", { class: card.met === false ? "missed" : card.met ? "met" : "plain" }); dot.style.left = at(card.value_s); node.append(dot); }
  return node;
}

function cardNode(card, axis, choose) {
  const buttons = SIDES.map((side) => {
    const one = el("button", { type: "button", "aria-pressed": String(card.side === side), "aria-label": tr("Show {title} as {side}", { title: card.title, side }), title: tr("Show as {side}", { side }) }, side);
    one.onclick = () => choose(card.key, side);
    return one;
  });
  const goal = card.met === null ? null : el("span", { class: card.met ? "good" : "bad" }, icon(card.met ? "met" : "missed", 16), card.met ? tr("meets {goal}", card) : tr("misses {goal}", card));
  const node = el("article", { class: `card${card.side ? " chosen" : ""}`, "aria-label": card.words, tabindex: "0", title: card.help },
    el("header", {}, el("h3", { title: card.title }, card.title), el("span", { class: "ab" }, ...buttons)),
    el("div", { class: "value" }, el("b", { title: card.value_help }, card.value), goal), strip(card, ...axis),
    el("footer", {}, el("span", { title: card.left_help }, card.left), el("span", { title: card.right_help }, card.right)));
  node.onkeydown = (event) => { if (event.key === "Enter" && event.target === node) choose(card.key, event.shiftKey ? "B" : "A"); };
  return node;
}

const HINT_READ = "sched.hint.read";

// Some browsers refuse to remember anything; then the steps come again on the next visit.
function remembered(value) {
  try { return value ? localStorage.setItem(HINT_READ, value) : localStorage.getItem(HINT_READ); } catch { return null; }
}

function hintNode(hint) {
  if (!hint || remembered()) return "";
  const read = el("button", { type: "button", class: "read" }, hint.read);
  const node = el("div", { class: "hint", role: "note", "aria-label": hint.name }, el("ol", {}, ...hint.steps.map((text) => el("li", {}, ...text.split("**").map((part, k) => (k % 2 ? el("b", {}, part) : part))))), read);
  read.onclick = () => { remembered("yes"); node.remove(); };
  return node;
}

function cards(api) {
  const { parentElement, data, setTriggerValue } = api, root = parentElement.querySelector(".cards-root"), p = lookOf(root);
  for (const name of ["bg", "surface", "line", "ink", "ink2", "ink3", "accent", "urgent", "culprit", "good"]) root.style.setProperty("--" + name, p[name]);
  const values = data.cards.flatMap((card) => [card.value_s, card.goal_s]).filter((s) => s !== null && s > 0);
  const axis = values.length ? [Math.min(...values) / 1.8, Math.max(...values) * 1.5] : [0.1, 10];
  const row = el("div", { class: `cards${data.cards.length > 4 ? " many" : ""}`, role: "group", "aria-label": tr("Policies") }, ...data.cards.map((card) => cardNode(card, axis, (key, side) => setTriggerValue("choose", { key, side }))));
  const before = root.querySelector(".cards"), left = before?.scrollLeft ?? 0;
  root.replaceChildren(hintNode(data.hint), verdictNode(data.verdict), trustNode(data.trust, data.basis, () => setTriggerValue("about", true)), row);
  if (root._pick) window.removeEventListener("sched:card", root._pick);
  root._pick = ({ detail: { place, side } }) => { if (data.cards[place]) setTriggerValue("choose", { key: data.cards[place].key, side }); };
  window.addEventListener("sched:card", root._pick);
  row.scrollLeft = before ? left : Math.max(0, (row.querySelector(".chosen")?.offsetLeft ?? 0) - row.offsetLeft - 2);
  return () => window.removeEventListener("sched:card", root._pick);
}
