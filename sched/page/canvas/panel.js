// One side of the stage: memory, lanes, token budget and queue of one policy at one moment.

class Panel {
  constructor(side) {
    this.side = side;
    const letter = "AB"[side], make = (name, ...children) => el("div", { class: name }, ...children);
    this.title = el("span", { class: "title" });
    this.sub = el("span", { class: "sub" });
    this.status = make("status");
    this.memoryCanvas = el("canvas", { role: "img", "aria-label": `KV memory under ${letter}: one cell is one block, its colour the class of its owner` });
    this.laneCanvas = el("canvas", { role: "img", "aria-label": `Batch under ${letter}: one lane a request, its last ${BACK} iterations` });
    this.budgetCanvas = el("canvas", { role: "img", "aria-label": `Tokens of this iteration under ${letter}` });
    this.halo = el("canvas", { class: "halo", "aria-hidden": true, hidden: true });
    this.memory = new MemoryMap(this.memoryCanvas, this.halo);
    this.lanes = new Lanes(this.laneCanvas);
    this.memoryCap = [el("span"), el("span")];
    this.laneCap = [el("span"), el("span")];
    this.budgetCap = [el("span"), el("span")];
    this.chips = make("chips");
    this.queue = make("queue", el("span", { class: "sub" }, "Queue"), this.chips);
    this.overlay = make("overlay");
    this.labels = [0, 1, 2].map((role) => make("chip over", classMark(role), el("span")));
    this.flag = make("chip over culprit", el("span"));
    this.buffer = make("chip over", el("span"));
    this.overlay.append(...this.labels, this.flag, this.buffer);
    this.memoryFigure = el("figure", { class: "memory" }, make("cap", ...this.memoryCap), make("holder", this.memoryCanvas, this.halo, this.overlay));
    this.laneFigure = el("figure", { class: "lanes" }, make("cap", ...this.laneCap), this.laneCanvas);
    this.budget = make("budget", make("cap", ...this.budgetCap), this.budgetCanvas);
    this.root = el("section", { class: `panel side${letter}`, "aria-label": `Policy ${letter}` },
      make("head", el("span", { class: "badge", "aria-hidden": true }, letter), this.title, this.sub, this.status),
      make("figures", this.memoryFigure, this.laneFigure), this.budget, this.queue);
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
    const stayOf = (r) => { const s = r === null ? undefined : stays.find((one) => world.stays.request[one] === r); return s === undefined ? null : s; };
    this.memory.paint(state, i, p, { culprit, focus: stayOf(focus), now, fade });
    this.lanes.paint(this.laneWidth, this.laneHeight, world, i, stays, p, { culprit, focus });
    this.p = p;
    this.sums = paintBudget(this.budgetCanvas, this.budgetWidth, world, i, stays, p);
    this.culprit = culprit;
  }

  // The texts around the pictures; called a few times a second while playing.
  words(view) {
    const { world, stays } = view, m = world.machine, sums = this.sums ?? { decodes: 0, prefill: 0, who: [] }, status = urgentStatus(view);
    const buffer = bufferText(view), idle = buffer ? `, **${count(Math.min(buffer.idle, view.free))}** of it kept` : "";
    say(this.memoryCap[0], m.kv > 2 ** 30 ? "KV memory, unlimited" : this.memory.width < 330 && idle ? `KV memory, ${count(world.capacity)}` : `KV memory, ${count(world.capacity)} blocks`);
    sayRich(this.memoryCap[1], `**${count(view.free)}** free${this.narrow ? "" : idle}`);
    say(this.laneCap[0], this.laneWidth < 190 ? "Batch" : `Batch, last ${BACK} iterations`);
    sayRich(this.laneCap[1], `**${stays.length}** of ${plural(m.seats, "seat")}`);
    say(this.budgetCap[0], view.i < 0 ? "Token budget" : `Token budget, iteration ${count(view.i)}`);
    const whose = sums.who.length ? ` of ${listed(sums.who.map(([r]) => world.names[r]))}` : "";
    sayRich(this.budgetCap[1], view.idle ? "**idle**" : `**${plural(sums.decodes, "decode")}**${sums.prefill ? ` + **${count(sums.prefill)}** prefill${this.narrow ? "" : whose}` : ", no prefill"}: **${count(sums.decodes + sums.prefill)}** of ${count(m.budget)}`);
    if (this.status._said !== status.text + status.kind) {
      this.status._said = status.text + status.kind;
      this.status.className = `status ${status.kind}`;
      this.status.replaceChildren(icon(status.kind === "good" ? "met" : "wait", 17), el("span", {}, status.text));
    }
    this.queueWords(view);
    this.mapLabels(view, buffer);
  }

  // As many urgent requests by name as there is room for, the others by class; nothing is cut off at the edge.
  queueWords(view) {
    const g = this.laneCanvas.getContext("2d");
    g.font = `500 12.5px ${this.p.font}`;
    const wide = (chips) => chips.reduce((sum, { bold, text }) => sum + 44 + g.measureText(bold + text).width, 48);
    for (const [named, oldest] of [[3, "oldest "], [3, ""], [2, ""], [1, ""], [0, ""]]) {
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
        const bad = INVERSION[world.cause(r, t)], needs = chips.length ? "" : `, needs ${count(world.needs(r))}`;
        chips.push({ key: r, role, bold: world.names[r], text: `${span(t - since)}${needs}`, bad });
        continue;
      }
      const key = world.requests.cls[r], one = rest.get(key) ?? { role, many: 0, longest: 0, name: world.head.classes[key], bad: world.isUrgent(r) && INVERSION[world.cause(r, t)] };
      one.many++;
      one.longest = Math.max(one.longest, t - since);
      rest.set(key, one);
    }
    for (const { role, many, longest, name, bad } of rest.values()) chips.push({ role, bold: "", text: `${count(many)} ${name}, ${many > 1 ? oldest : ""}${span(longest)}`, bad });
    return chips;
  }

  showChips(chips) {
    const key = chips.map((chip) => chip.bold + chip.text + chip.bad).join("|") || "empty";
    if (this.chips._said === key) return;
    this.chips._said = key;
    this.chips.replaceChildren(...(chips.length ? chips.map(({ role, bold, text, bad, key: r }) => {
      const chip = el("span", { class: `chip${bad ? " bad" : ""}` }, classMark(role), bold ? el("b", {}, bold) : null, el("span", {}, text));
      if (r !== undefined) chip._request = r;
      return chip;
    }) : [el("span", { class: "sub" }, "empty")]));
  }

  // Totals of the classes in three fixed places, the culprit's name on its blocks, the buffer's content at its edge.
  mapLabels(view, buffer) {
    const { world, state, stays } = view, held = [0, 0, 0], names = [null, null, null];
    for (const s of stays) {
      const r = world.stays.request[s], role = world.role(r);
      held[role] += state.held[s];
      names[role] ??= world.head.classes[world.requests.cls[r]];
    }
    const culprit = this.culprit, { width, height } = this.memory, large = 0.025 * world.capacity;
    this.labels.forEach((chip, role) => {
      const middle = role === 2 ? this.middle(view) : null;
      chip.hidden = held[role] < large || (culprit !== null && held[role] === state.held[culprit] && world.role(world.stays.request[culprit]) === role) || (role === 2 && (culprit !== null && world.role(world.stays.request[culprit]) === 2 || !middle));
      if (chip.hidden) return;
      say(chip.lastChild, role === 2 ? `${world.names[world.stays.request[middle[2]]]}, ${count(state.held[middle[2]])}` : `${names[role]} ${count(held[role])}`);
      const bottomLeft = [4, height - 4, 0, -100], corner = buffer ? [bottomLeft, [4, 3, 0, 0]] : [[4, 3, 0, 0], [width - 4, height - 4, -100, -100]];
      const at = role === 2 ? [middle[0], middle[1], -50, -50] : corner[role];
      chip.style.transform = `translate(${Math.round(at[0])}px,${Math.round(at[1])}px) translate(${at[2]}%,${at[3]}%)`;
    });
    this.flag.hidden = culprit === null;
    if (culprit !== null) {
      const [x, y] = this.memory.place(state.owner, culprit) ?? [width / 2, height / 2];
      say(this.flag.lastChild, `${world.names[world.stays.request[culprit]]} holds ${count(state.held[culprit])}`);
      this.flag.style.transform = `translate(${Math.round(x)}px,${Math.round(this.clear(y, buffer))}px) translate(-50%,-50%)`;
    }
    this.buffer.hidden = !buffer;
    if (buffer) {
      say(this.buffer.lastChild, width < 230 ? buffer.text.replace(/^.*urgent, /, "") : buffer.text);
      this.buffer.style.transform = `translate(${width - 4}px,${Math.round(height - this.keptHeight() - 3)}px) translate(-100%,-100%)`;
    }
  }

  // Where the culprit's name covers neither the labels in the corners nor that of the buffer.
  clear(y, buffer) {
    const edge = this.memory.height - (buffer ? this.keptHeight() + 12 : -12), inside = Math.max(34, Math.min(this.memory.height - 12, y));
    return buffer && Math.abs(inside - edge) < 20 ? (edge > 54 ? edge - 21 : edge + 21) : Math.min(inside, this.memory.height - 12);
  }

  keptHeight() {
    const edge = this.world.cells - this.world.keptCells, row = Math.floor(edge / this.memory.columns);
    return ((this.memory.rows - row) * this.memory.ch) / this.memory.ratio;
  }

  middle(view) {
    let best = null;
    for (const s of view.stays) if (view.world.role(view.world.stays.request[s]) === 2 && (best === null || view.state.held[s] > view.state.held[best])) best = s;
    if (best === null || view.state.held[best] < 0.06 * view.world.capacity) return null;
    const at = this.memory.place(view.state.owner, best);
    return at ? [...at, best] : null;
  }
}
