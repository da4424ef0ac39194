// The stage: two policies on one playhead. Nothing goes to the server while it plays; `t` does when it comes to rest.

const SPEEDS = [0.25, 1, 4], SPEED_NAMES = ["¼×", "1×", "4×"];
const KEYS = [["Space", "play"], ["←", ""], ["→", "step"], ["n", ""], ["p", "next, previous inversion"], ["w", "worst wait"], ["t", "table"], ["?", "all keys"]];
const MORE_KEYS = [["PageUp", ""], ["PageDown", "one second"], ["[", ""], ["]", "speed"], ["1", ""], ["5", "card as A, with Shift as B"], ["b", "whole run or close-up"], ["f", "next waiting urgent"], ["Home", ""], ["End", "ends of the run"], ["Esc", "nobody in focus"]];
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Stage {
  constructor(parent) {
    this.t = 0; this.speed = 1; this.side = 0; this.pinned = null; this.hover = null; this.window = null; this.worlds = []; this.frames = 0; this.cost = 0;
    this.build();
    (parent.querySelector?.(".stage-root") ?? parent).replaceChildren(this.root);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
  }

  build() {
    const button = (name, label, ...children) => el("button", { class: name, type: "button", "aria-label": label, title: label }, ...children);
    this.panels = [new Panel(0), new Panel(1)];
    this.choose = el("div", { class: "choose", role: "group", "aria-label": "Policy shown" });
    this.choices = [0, 1].map((side) => { const one = el("button", { type: "button", "aria-pressed": "false" }); one.onclick = () => this.showSide(side); this.choose.append(one); return one; });
    this.playButton = button("play", "Play", icon("play", 22));
    this.clock = el("output", { class: "clock", "aria-live": "off" });
    this.strip = el("canvas", { "aria-hidden": true });
    this.brush = el("div", { class: "brush" }, el("i"), el("i"));
    this.needle = el("div", { class: "needle" });
    this.scrub = el("div", { class: "scrub", role: "slider", tabindex: "0", "aria-label": "Playhead", "aria-valuemin": "0" }, this.strip, this.brush, this.needle);
    this.speeds = SPEEDS.map((speed, k) => { const one = el("button", { type: "button", "aria-pressed": "false", "aria-label": `Speed ${speed}` }, SPEED_NAMES[k]); one.onclick = () => this.setSpeed(speed); return one; });
    this.nextButton = button("next", "Next inversion", icon("next", 18), el("span", {}, "Next inversion"));
    this.transport = el("div", { class: "transport" }, this.playButton, this.clock, this.scrub, el("div", { class: "speed", role: "group", "aria-label": "Speed" }, ...this.speeds), this.nextButton);
    this.captions = [0, 1].map((side) => el("p", { class: "caption" }, el("span", { class: "badge", "aria-hidden": true }, "AB"[side]), el("span", { class: "words" })));
    this.captionBox = el("div", { class: "captions", "aria-live": "polite" }, ...this.captions);
    this.ganttCanvas = el("canvas", { role: "img", "aria-label": "All requests over time: waiting, prefill, decode; inversions hatched" });
    this.gantt = new Gantt(this.ganttCanvas);
    this.line = el("div", { class: "line" });
    this.flagTime = el("div", { class: "flagtime" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.ganttBox = el("div", { class: "gantt" }, this.ganttCanvas, this.line, this.flagTime, this.tip);
    const keyRow = (keys) => keys.flatMap(([key, text]) => [el("kbd", {}, key), text ? el("span", {}, text) : null]).filter(Boolean);
    this.keys = el("div", { class: "keys" }, ...keyRow(KEYS));
    this.moreKeys = el("div", { class: "keys", hidden: true }, ...keyRow(MORE_KEYS));
    this.previousButton = button("", "Previous inversion", icon("previous", 18), el("span", {}, "Previous"));
    this.nextButton2 = button("", "Next inversion", icon("next", 18), el("span", {}, "Next inversion"));
    this.tableButton = button("", "The same as a table", icon("table", 18), el("span", {}, "As table"));
    this.actions = el("div", { class: "actions" }, this.previousButton, this.nextButton2, this.tableButton);
    this.tables = el("div", { class: "tables", hidden: true });
    this.panelBox = el("div", { class: "panels" }, this.panels[0].root, this.panels[1].root);
    this.root = el("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "Replay. Space plays, arrows step, n and p go to the next and previous inversion, t shows a table, question mark shows all keys." },
      this.choose, this.panelBox, this.transport, this.captionBox, this.ganttBox, this.keys, this.moreKeys, this.actions, this.tables);
  }

  // New data, or the same again on a change of theme. Playhead, window and focus stay.
  async receive(api) {
    this.api = api;
    if (api.data === this.raw) { this.restyle(); return; }
    this.raw = api.data;
    const { head, runs } = await unpackStage(api.data);
    if (this.raw !== api.data) return;                                  // newer data came meanwhile
    const name = this.pinned === null ? null : this.worlds[0]?.names[this.pinned];
    this.head = head;
    this.worlds = runs.map((run) => new World(run));
    this.pairUp();
    this.end = Math.max(...this.worlds.map((world) => world.end));
    this.pinned = name === null ? null : Math.max(-1, this.worlds[0].names.indexOf(name));
    if (this.pinned < 0) this.pinned = null;
    this.panels.forEach((panel, side) => { if (this.worlds[side]) panel.load(this.worlds[side], head.titles[side], head.subs[side]); });
    this.choices.forEach((one, side) => one.replaceChildren(el("b", {}, "AB"[side]), " " + (head.titles[side] ?? "")));
    this.worst = this.worlds[0].worst();
    for (const [one, words] of [[this.nextButton, "Next"], [this.nextButton2, "Next"], [this.previousButton, "Previous"]]) {
      one.disabled = !this.worlds.some((world) => world.episodes.length);
      one.title = one.disabled ? "Nobody urgent waits for less urgent work here" : `${words} inversion`;
    }
    const first = this.seen === undefined;
    this.seen = true;
    if (first || head.number !== this.number) this.begin(head);
    else if (this.t > this.end) this.settle();                          // the link must not keep a moment that is gone
    this.number = head.number;
    this.t = Math.min(this.t, this.end);
    this.resize();
    window.__stage = this;
    window.__ready = (window.__ready ?? 0) + 1;
  }

  // A policy that splits requests has others than the rest: then those of B are found by name, where there are such.
  pairUp() {
    const [A, B] = this.worlds;
    this.inB = B && (A.n !== B.n || A.names.some((name, r) => name !== B.names[r])) ? new Map(B.names.map((name, r) => [name, r])) : null;
  }

  // The place on a side of a request of A, and the place in A of a request on a side; null where it has none.
  placeOn(side, r) { return r === null || !side || !this.inB ? r : this.inB.get(this.worlds[0].names[r]) ?? null; }
  placeIn(side, r) {
    if (r === null || !side || !this.inB) return r;
    const place = this.worlds[0].names.indexOf(this.worlds[1].names[r]);
    return place < 0 ? null : place;
  }

  begin(head) {
    this.playing = false;
    this.pin(head.focus ?? null);
    if (typeof head.t === "number") this.t = this.told = head.t;
    else if (this.worst) this.t = still() ? this.worst.from + 0.62 * (this.worst.to - this.worst.from) : Math.max(0, this.worst.from - 2);
    this.window = null;
    const stop = head.stop ?? this.worst?.to;                            // a lesson says where it stops: without motion it stands there
    if (head.play && stop !== undefined && !still()) { this.stopAt = stop; requestAnimationFrame(() => this.play(true, true)); }
    else if (head.play && head.stop !== undefined) this.t = head.stop;
  }

  resize() {
    if (!this.worlds.length) return;
    const width = this.root.clientWidth;
    if (!width) return;
    this.width = width;
    this.narrow = width < 700;
    this.root.classList.toggle("narrow", this.narrow);
    this.root.classList.toggle("one", this.worlds.length < 2);
    this.showSide(this.side, true);
    for (const panel of this.panels) { panel.narrow = this.narrow; panel.resize(this.narrow); }
    this.ganttHeight = this.gantt.arrange(this.inB ? [this.worlds[0]] : this.worlds, width, this.narrow ? 300 : 268);
    this.ganttBox.style.height = this.ganttHeight + "px";
    this.scrubWidth = this.scrub.clientWidth;
    if (!this.window) this.openWindow(Math.min(this.end * 1.02, this.end <= 26 ? 26 : this.narrow ? 11 : 19));
    this.restyle();
  }

  restyle() {
    if (!this.worlds.length) return;
    this.p = lookOf(this.root);
    const style = this.root.style;
    for (const name of ["bg", "surface", "raised", "line", "ink", "ink2", "ink3", "accent", "urgent", "regular", "batch", "free", "culprit", "culpritBg", "good"]) style.setProperty("--" + name, this.p[name]);
    this.paintStrip();
    this.show(true);
  }

  openWindow(length) { this.window = this.clampWindow([this.t - 0.48 * length, this.t + 0.52 * length]); }

  clampWindow([a, b]) {
    const length = b - a, lo = -0.01 * length, hi = Math.max(this.end + 0.03 * length, lo + length);
    const start = Math.max(lo, Math.min(a, hi - length));
    return [start, start + length];
  }

  // The window of the Gantt goes with the playhead, but only when it comes near the edge.
  follow() {
    const [a, b] = this.window, length = b - a;
    if (this.t > a + 0.66 * length && this.playing) this.window = this.clampWindow([this.t - 0.66 * length, this.t + 0.34 * length]);
    else if (this.t < a + 0.03 * length || this.t > b - 0.03 * length) this.window = this.clampWindow([this.t - 0.45 * length, this.t + 0.55 * length]);
  }

  paintStrip() {
    const width = this.scrubWidth, height = this.scrub.clientHeight || 38, [g] = fit(this.strip, width, height), p = this.p;
    g.clearRect(0, 0, width, height);
    this.worlds.forEach((world, side) => {
      const y = height / 2 - 9 + side * 10, cells = new Float32Array(Math.ceil(width / 2));
      g.fillStyle = p.free;
      g.beginPath(); g.roundRect(0, y, width, 8, 3); g.fill();
      for (const [from, to] of world.inverted) {
        const a = (from / this.end) * cells.length, b = Math.max((to / this.end) * cells.length, a + 0.5);
        for (let c = Math.floor(a); c < Math.min(cells.length, b); c++) cells[c] += Math.min(b, c + 1) - Math.max(a, c);
      }
      g.fillStyle = p.culprit;
      cells.forEach((many, c) => { if (many > 0.02) { g.globalAlpha = Math.min(1, 0.3 + 0.2 * many); g.fillRect(c * 2, y, 2, 8); } });
      g.globalAlpha = 1;
    });
    this.scrub.setAttribute("aria-valuemax", this.end.toFixed(2));
  }

  // Everything at this moment. Panels only when the iteration changes, words a few times a second while playing.
  show(force = false, now = performance.now()) {
    if (!this.worlds.length || !this.p) return;
    this.follow();
    const x = (this.t / this.end) * this.scrubWidth, [a, b] = this.window, k = this.scrubWidth / this.end;
    this.needle.style.transform = `translateX(${x}px)`;
    const left = Math.max(0, a * k), right = Math.min(this.scrubWidth, b * k), shape = left.toFixed(1) + right.toFixed(1);
    if (this.brushed !== shape) { this.brushed = shape; this.brush.style.transform = `translateX(${left}px)`; this.brush.style.width = Math.max(10, right - left) + "px"; }
    this.line.style.transform = this.flagTime.style.transform = `translateX(${this.gantt.x(this.t, this.window)}px)`;
    const wordy = force || !this.playing || now - (this.worded ?? 0) > 250, clock = Number.isFinite(this.t) ? this.t.toFixed(2) + NARROW_NO_BREAK + "s" : "";
    if (force || !this.playing || now - (this.clocked ?? 0) > 50) { this.clocked = now; say(this.clock, clock); say(this.flagTime, clock); }
    this.sides(force, wordy, now);
    const key = `${a.toFixed(4)}|${b.toFixed(4)}|${this.focus}|${this.hover}|${this.p.key}|${this.width}`;
    if (wordy || this.ganttKey !== key) this.paintGantt(key);
    if (wordy) this.words(now);
  }

  sides(force, wordy, now) {
    for (const side of this.visible()) {
      const world = this.worlds[side], panel = this.panels[side], { i, busy } = world.moment(this.t);
      if (!force && panel.last && panel.last.i === i && panel.last.busy === busy && !panel.memory.fading && !wordy) continue;
      panel.view = glance(world, this.t);
      panel.paint(panel.view, this.p, { focus: this.placeOn(side, this.hover ?? this.pinned), now, fade: this.playing && !still() });
      panel.last = { i, busy };
    }
  }

  visible() { return this.worlds.map((_, side) => side).filter((side) => !this.narrow || side === this.side); }

  words(now) {
    this.worded = now;
    this.views = this.worlds.map((world, side) => (this.visible().includes(side) ? this.panels[side].view : glance(world, this.t)));
    this.focus = this.pinned ?? this.urgentHead();
    for (const side of this.visible()) this.panels[side].words(this.views[side]);
    this.views.forEach((view, side) => sayRich(this.captions[side].lastChild, caption(view, this.placeOn(side, this.focus))));
    this.scrub.setAttribute("aria-valuenow", this.t.toFixed(2));
    this.scrub.setAttribute("aria-valuetext", `${this.t.toFixed(2)} seconds, ${urgentStatus(this.views[0]).text}`);
    if (!this.tables.hidden) this.fillTables();
  }

  urgentHead() {
    for (const [side, view] of this.views.entries()) { const head = view.waiting[0]; if (head && view.world.isUrgent(head[0])) return this.placeIn(side, head[0]); }
    return null;
  }

  paintGantt(key) {
    this.ganttKey = key;
    const focus = this.hover ?? this.focus ?? null, world = this.worlds[0], culprit = this.panels[0].view ? culpritOf(glance(world, this.t)) : null;
    if (this.storyKey !== focus) { this.storyKey = focus; this.storyText = this.story(focus); this.allPassed = focus === null ? [] : world.passed(focus, Infinity); }
    this.gantt.paint(this.window, this.p, { t: this.t, focus, culprit: culprit === null ? this.lastCulprit() : world.stays.request[culprit], passed: this.allPassed, ...this.storyText });
  }

  // Between inversions the flag stays with the last incident's main culprit while it is in view.
  lastCulprit() {
    let found = null;
    for (const [from, to, name] of this.head.culprits?.[0] ?? []) if (from <= this.window[1] && to >= this.window[0] && (found === null || from <= this.t)) found = name;
    const r = found === null ? -1 : this.worlds[0].names.indexOf(found);
    return r < 0 ? null : r;
  }

  story(r) {
    if (r === null) return {};
    const [A, B] = this.worlds, wait = A.waitOf(r), inverted = A.inversionOf(r);
    if (wait <= 0 || inverted <= 0) return {};
    const share = Math.round((1000 * inverted) / wait) / 10, there = this.placeOn(1, r), other = B && there !== null ? B.waitOf(there) : wait;
    const shared = this.narrow ? `waits ${span(wait)}: ${share}${NARROW_NO_BREAK}% inversion` : `${A.names[r]} waits ${span(wait)} under A, ${share}${NARROW_NO_BREAK}% of it inversion`;
    return { text: shared, after: B && other < 0.1 * wait ? (other < 0.1 ? "thin bar: B runs it at once" : `thin bar: ${span(other)} under B`) : "" };
  }

  fillTables() {
    const head = (names) => el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)));
    const tables = this.views.map((view, side) => {
      const { world } = view, rows = [];
      const row = (r, state) => el("tr", {}, el("th", { scope: "row" }, classMark(world.role(r)), " ", world.names[r]), el("td", {}, state), el("td", {}, requestLine(view, r)));
      for (const [r] of view.waiting) rows.push(row(r, "waiting"));
      const order = [...view.stays].sort((a, b) => view.state.held[b] - view.state.held[a]);
      for (const s of order) rows.push(row(world.stays.request[s], "in the batch"));
      const more = rows.length - 60;
      return el("table", {}, el("caption", {}, `${"AB"[side]} ${this.head.titles[side]} at ${this.t.toFixed(2)} s: ${count(view.free)} of ${count(world.capacity)} blocks free`),
        el("thead", {}, head(["request", "state", "now"])), el("tbody", {}, ...rows.slice(0, 60), more > 0 ? el("tr", {}, el("td", { colspan: "3" }, `and ${more} more`)) : null));
    });
    this.tables.replaceChildren(...tables);
  }

  toggleTable() {
    this.tables.hidden = !this.tables.hidden;
    if (!this.tables.hidden) { this.fillTables(); this.tables.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" }); }
  }

  showSide(side, quiet = false) {
    this.side = side;
    this.panels.forEach((panel, k) => panel.root.classList.toggle("off", this.narrow && k !== side));
    this.choices.forEach((one, k) => one.setAttribute("aria-pressed", String(k === side)));
    if (!quiet) this.resize();
  }
}
