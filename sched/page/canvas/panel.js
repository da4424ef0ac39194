// One side of the stage: memory, lanes, token budget and queue of one policy at one moment.

class Panel {
  constructor(side) {
    this.side = side;
    const letter = "AB"[side], make = (name, ...children) => el("div", { class: name }, ...children);
    this.title = el("bdi", { class: "title" });
    this.sub = el("span", { class: "sub" });
    this.status = make("status");
    this.memoryCanvas = el("canvas", { role: "img" });
    this.laneCanvas = el("canvas", { role: "img" });
    this.budgetCanvas = el("canvas", { role: "img" });
    this.marks = el("canvas", { class: "layer", "aria-hidden": true });
    this.halo = el("canvas", { class: "halo layer", "aria-hidden": true, hidden: true });
    this.memory = new MemoryMap(this.memoryCanvas, this.marks, this.halo);
    this.lanes = new Lanes(this.laneCanvas);
    this.memoryCap = [el("span"), el("span")];
    this.laneCap = [el("span"), el("span")];
    this.budgetCap = [el("span"), el("span")];
    this.chips = make("chips");
    this.queueTitle = el("span", { class: "sub" });
    this.queue = make("queue", this.queueTitle, this.chips);
    this.overlay = make("overlay");
    this.labels = [0, 1, 2].map((role) => make("chip over", classMark(role), el("span")));
    this.flag = make("chip over culprit", el("span"));
    this.buffer = make("chip over", el("span"));
    this.overlay.append(...this.labels, this.flag, this.buffer);
    this.memoryFigure = el("figure", { class: "memory" }, make("cap", ...this.memoryCap), make("holder", this.memoryCanvas, this.halo, this.marks, this.overlay));
    this.laneFigure = el("figure", { class: "lanes" }, make("cap", ...this.laneCap), this.laneCanvas);
    this.budget = make("budget", make("cap", ...this.budgetCap), this.budgetCanvas);
    this.root = el("section", { class: `panel side${letter}` },
      make("head", el("span", { class: "badge", "aria-hidden": true }, letter), this.title, this.sub, this.status),
      make("figures", this.memoryFigure, this.laneFigure), this.budget, this.queue);
    this.relabel();
  }

  // What does not change with the moment, in the language that is set.
  relabel() {
    const side = "AB"[this.side];
    this.memoryCanvas.setAttribute("aria-label", tr("KV memory under {side}: one cell is one block, its colour the class of its owner", { side }));
    this.laneCanvas.setAttribute("aria-label", tr("Batch under {side}: one lane a request, its last {n} iterations", { side, n: BACK }));
    this.budgetCanvas.setAttribute("aria-label", tr("Tokens of this iteration under {side}", { side }));
    this.root.setAttribute("aria-label", tr("Policy {side}", { side }));
    say(this.queueTitle, tr("Queue"));
    this.status._said = this.chips._said = null;
  }

  load(world, title, sub) {
    this.world = world;
    say(this.title, title);
    say(this.sub, sub);
    this.sub.title = sub;
    this.last = null;
  }

  resize(narrow) {
    if (!this.world) return;
    const wide = this.memoryFigure.clientWidth;
    if (!wide) return;
    this.memory.resize(wide, narrow ? 205 : 182, this.world, narrow);
    this.laneWidth = this.laneFigure.clientWidth;
    this.laneHeight = narrow ? 150 : Math.max(this.memory.height, 96);
    this.budgetWidth = this.budget.clientWidth;
    this.last = null;
  }

  paint(view, p, { focus, now, fade }) {
    const { world, state, stays, i } = view, culprit = culpritOf(view);
    this.memory.paint(state, i, p, { culprit, focus: world.stayOf(focus, view), now, fade });
    this.p = p;
    this.culprit = culprit;
    this.focus = focus;
    const key = `${i}|${view.idle}|${culprit}|${focus}|${p.key}|${this.laneWidth}|${language}`;
    if (this.painted === key && this.paintedWorld === world) return;
    this.painted = key;
    this.paintedWorld = world;
    this.lanes.paint(this.laneWidth, this.laneHeight, world, i, stays, p, { culprit, focus });
    this.sums = paintBudget(this.budgetCanvas, this.budgetWidth, world, i, stays, p);
  }

  // The texts around the pictures; called a few times a second while playing.
  words(view) {
    const { world, stays } = view, m = world.machine, status = urgentStatus(view), buffer = bufferText(view), free = view.free;
    const blocks = world.capacity, kept = buffer ? Math.min(buffer.idle, free) : 0;
    say(this.memoryCap[0], m.kv > 2 ** 30 ? tr("KV memory, unlimited") : this.memory.width < 330 && buffer ? tr("KV memory, {blocks}", { blocks }) : tr("KV memory, {blocks} blocks", { blocks }));
    sayRich(this.memoryCap[1], buffer && !this.narrow ? tr("**{free}** free, **{kept}** of it kept", { free, kept }) : tr("**{free}** free", { free }));
    say(this.laneCap[0], this.laneWidth < 190 ? tr("Batch") : tr("Batch, last {n} iterations", { n: BACK }));
    sayRich(this.laneCap[1], trCount(m.seats, "**{taken}** of {n} seat", "**{taken}** of {n} seats", { taken: stays.length }));
    say(this.budgetCap[0], view.i < 0 ? tr("Token budget") : tr("Token budget, iteration {i}", { i: view.i }));
    sayRich(this.budgetCap[1], this.tokens(view, m.budget));
    if (this.status._said !== status.text + status.kind) {
      this.status._said = status.text + status.kind;
      this.status.className = `status ${status.kind}`;
      this.status.replaceChildren(icon(status.kind === "good" ? "met" : "wait", 17), el("span", {}, status.text));
    }
    this.queueWords(view);
    this.mapLabels(view, buffer);
  }

  // "20 decodes + 555 prefill of api-66, api-67: 575 of 2,048"
  tokens({ idle, world }, budget) {
    const { decodes, prefill, who } = this.sums ?? { decodes: 0, prefill: 0, who: [] }, all = decodes + prefill;
    if (idle) return tr("**idle**");
    if (!prefill) return trCount(decodes, "**{n} decode**, no prefill: **{all}** of {budget}", "**{n} decodes**, no prefill: **{all}** of {budget}", { all, budget });
    if (this.narrow || !who.length) return trCount(decodes, "**{n} decode** + **{prefill}** prefill: **{all}** of {budget}", "**{n} decodes** + **{prefill}** prefill: **{all}** of {budget}", { prefill, all, budget });
    const names = listed(who.map(([r]) => world.name(r)));
    return trCount(decodes, "**{n} decode** + **{prefill}** prefill of {names}: **{all}** of {budget}", "**{n} decodes** + **{prefill}** prefill of {names}: **{all}** of {budget}", { prefill, names, all, budget });
  }

  // As many urgent requests by name as there is room for, the others by class; nothing is cut off at the edge.
  queueWords(view) {
    const g = this.laneCanvas.getContext("2d");
    g.font = `500 12.5px ${this.p.font}`;
    const wide = (chips) => chips.reduce((sum, { bold, text }) => sum + 44 + g.measureText(bold + text).width, 48);
    for (const [named, oldest] of [[3, true], [3, false], [2, false], [1, false], [0, false]]) {
      const chips = this.chipsOf(view, named, oldest);
      if (named && !this.narrow && wide(chips) > this.budgetWidth) continue;
      this.showChips(chips);
      return;
    }
  }

  chipsOf({ world, waiting, t }, named, oldest) {
    const chips = [], rest = new Map();
    for (const [r, since] of waiting) {
      const role = world.role(r);
      if (world.isUrgent(r) && chips.length < named) {
        const waited = span(t - since), text = chips.length ? waited : tr("{waited}, needs {needs}", { waited, needs: world.needs(r, t) });
        chips.push({ key: r, role, bold: world.name(r), text, bad: INVERSION[world.cause(r, t)], focus: r === this.focus });
        continue;
      }
      const key = world.requests.cls[r], one = rest.get(key) ?? { key: r, role, many: 0, since, bad: world.isUrgent(r) && INVERSION[world.cause(r, t)] };
      one.many++;
      if (since < one.since) Object.assign(one, { since, key: r });
      rest.set(key, one);
    }
    for (const [c, { key, role, many, since, bad }] of rest) {
      const values = { many, name: world.className(c), waited: span(t - since) };
      chips.push({ key, role, bold: "", text: oldest && many > 1 ? tr("{many} {name}, oldest {waited}", values) : tr("{many} {name}, {waited}", values), bad, focus: key === this.focus });
    }
    return chips;
  }

  showChips(chips) {
    const key = chips.map((chip) => chip.bold + chip.text + chip.bad + chip.focus).join("|") || "empty";
    if (this.chips._said === key) return;
    this.chips._said = key;
    this.chips.replaceChildren(...(chips.length ? chips.map(({ role, bold, text, bad, focus, key: r }) => {
      const chip = el("button", { class: `chip${bad ? " bad" : ""}${focus ? " focus" : ""}`, type: "button", title: this.world.name(r), tabindex: "-1" }, classMark(role), bold ? el("b", {}, bold) : null, el("span", {}, text));
      chip._request = r;
      return chip;
    }) : [el("span", { class: "sub" }, tr("empty"))]));
  }

  // Totals of the classes in three fixed places, the culprit's name on its blocks, the buffer's content at its edge.
  mapLabels(view, buffer) {
    const { world, state, stays } = view, held = [0, 0, 0], names = [null, null, null];
    for (const s of stays) {
      const role = world.roleOfStay[s];
      held[role] += state.held[s];
      names[role] ??= world.className(world.requests.cls[world.stays.request[s]]);
    }
    const culprit = this.culprit, { width, height } = this.memory, large = 0.025 * world.capacity, culpritRole = culprit === null ? -1 : world.roleOfStay[culprit];
    this.labels.forEach((chip, role) => {
      const middle = role === 2 ? this.middle(view) : null;
      chip.hidden = held[role] < large || (culpritRole === role && held[role] === state.held[culprit]) || (role === 2 && (culpritRole === 2 || !middle));
      if (chip.hidden) return;
      say(chip.lastChild, role === 2 ? tr("{name}, {blocks}", { name: world.name(world.stays.request[middle[2]]), blocks: state.held[middle[2]] }) : tr("{name} {blocks}", { name: names[role], blocks: held[role] }));
      const bottomLeft = [4, height - 4, 0, -100], corner = buffer ? [bottomLeft, [4, 3, 0, 0]] : [[4, 3, 0, 0], [width - 4, height - 4, -100, -100]];
      const at = role === 2 ? [middle[0], this.clear(middle[1], buffer), -50, -50] : corner[role];
      chip.style.transform = `translate(${Math.round(at[0])}px,${Math.round(at[1])}px) translate(${at[2]}%,${at[3]}%)`;
    });
    this.flag.hidden = culprit === null;
    if (culprit !== null) {
      const [x, y] = this.memory.place(state, culprit) ?? [width / 2, height / 2];
      say(this.flag.lastChild, tr("{name} holds {blocks}", { name: world.name(world.stays.request[culprit]), blocks: state.held[culprit] }));
      this.flag.style.transform = `translate(${Math.round(x)}px,${Math.round(this.clear(y, buffer))}px) translate(-50%,-50%)`;
    }
    this.buffer.hidden = !buffer;
    if (buffer) {
      say(this.buffer.lastChild, width < 230 ? buffer.brief : buffer.text);
      this.buffer.style.transform = `translate(${width - 4}px,${Math.round(height - this.keptHeight() - 3)}px) translate(-100%,-100%)`;
    }
  }

  // Where a name in the middle covers neither the labels in the corners nor that of the buffer.
  clear(y, buffer) {
    const edge = this.memory.height - (buffer ? this.keptHeight() + 12 : -12), inside = Math.max(34, Math.min(this.memory.height - 12, y));
    return buffer && Math.abs(inside - edge) < 20 ? (edge > 54 ? edge - 21 : edge + 21) : Math.min(inside, this.memory.height - 12);
  }

  keptHeight() {
    const edge = this.world.cells - this.world.keptCells, row = Math.floor(edge / this.memory.columns);
    return ((this.memory.rows - row) * this.memory.ch) / this.memory.ratio;
  }

  middle({ world, stays, state }) {
    let best = null;
    for (const s of stays) if (world.roleOfStay[s] === 2 && (best === null || state.held[s] > state.held[best])) best = s;
    if (best === null || state.held[best] < 0.06 * world.capacity) return null;
    const at = this.memory.place(state, best);
    return at ? [...at, best] : null;
  }
}
