// The stage: two policies on one playhead. Nothing goes to the server while it plays; `t` does when it comes to rest.

const SPEEDS = [0.25, 1, 4], SPEED_NAMES = ["¼×", "1×", "4×"];
const COLOURS = ["bg", "surface", "raised", "line", "ink", "ink2", "ink3", "accent", "urgent", "regular", "batch", "free", "reservedBg", "culprit", "culpritBg", "good"];
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Stage {
  constructor(parent) {
    Object.assign(this, { t: 0, speed: 1, side: 0, pinned: null, hover: null, window: null, worlds: [], frames: 0, cost: 0, texts: [] });
    this.build();
    (parent.querySelector?.(".stage-root") ?? parent).replaceChildren(this.root);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
  }

  // Remembers how to write a text, so that it can be written again in another language.
  text(write) { this.texts.push(write); write(); }

  labelled(node, label) {
    this.text(() => { node.setAttribute("aria-label", label()); if (node.tagName === "BUTTON") node.title = label(); });
    return node;
  }

  button(name, label, children, words = null) {
    const node = this.labelled(el("button", { class: name, type: "button" }, ...children), label);
    if (words) { const span = el("span"); node.append(span); this.text(() => say(span, words())); }
    return node;
  }

  build() {
    this.panels = [new Panel(0), new Panel(1)];
    this.choose = this.labelled(el("div", { class: "choose", role: "group" }), () => tr("Policy shown"));
    this.choices = [0, 1].map((side) => { const one = el("button", { type: "button", "aria-pressed": "false" }); one.onclick = () => this.showSide(side); this.choose.append(one); return one; });
    this.playButton = this.button("play", () => (this.playing ? tr("Pause") : tr("Play")), [icon("play", 22)]);
    this.clock = el("output", { class: "clock", "aria-live": "off" });
    this.buildScrub();
    this.speeds = SPEEDS.map((speed, k) => { const one = this.labelled(el("button", { type: "button", "aria-pressed": "false" }, SPEED_NAMES[k]), () => tr("Speed {speed}", { speed: SPEED_NAMES[k] })); one.onclick = () => this.setSpeed(speed); return one; });
    const speed = this.labelled(el("div", { class: "speed", role: "group" }, ...this.speeds), () => tr("Speed"));
    this.nextButton = this.button("next", () => tr("Next inversion"), [icon("next", 18)], () => tr("Next inversion"));
    this.transport = el("div", { class: "transport" }, this.playButton, this.clock, this.scrub, speed, this.nextButton);
    this.captions = [0, 1].map((side) => el("div", { class: "caption" }, el("span", { class: "badge", "aria-hidden": true }, "AB"[side]), el("p", {}, el("span", { class: "words" }), el("span", { class: "decided" }))));
    this.captionBox = el("div", { class: "captions", "aria-live": "polite" }, ...this.captions);
    this.ganttCanvas = this.labelled(el("canvas", { role: "img" }), () => tr("All requests over time: waiting, prefill, decode; inversions hatched"));
    this.gutterCanvas = el("canvas", { class: "gutter", "aria-hidden": true });
    this.gantt = new Gantt(this.ganttCanvas, this.gutterCanvas);
    this.lineCanvas = el("canvas", { class: "layer", "aria-hidden": true });
    this.tip = el("div", { class: "tip", hidden: true });
    this.ganttBox = el("div", { class: "gantt" }, this.ganttCanvas, this.gutterCanvas, this.lineCanvas, this.tip);
    this.help = new Help(this);
    this.previousButton = this.button("", () => tr("Previous inversion"), [icon("previous", 18)], () => tr("Previous"));
    this.nextButton2 = this.button("", () => tr("Next inversion"), [icon("next", 18)], () => tr("Next inversion"));
    this.tableButton = this.button("", () => tr("The same as a table"), [icon("table", 18)], () => tr("As table"));
    this.actions = el("div", { class: "actions" }, this.previousButton, this.nextButton2, this.tableButton);
    this.tables = el("div", { class: "tables", hidden: true });
    this.panelBox = el("div", { class: "panels" }, this.panels[0].root, this.panels[1].root);
    this.root = this.labelled(el("div", { class: "stage", tabindex: "0", role: "group" }, this.choose, this.panelBox, this.transport, this.captionBox, this.ganttBox, this.help.keys, this.help.root, this.actions, this.tables),
      () => tr("Replay. Space plays, arrows step, n and p go to the next and previous inversion, t shows a table, question mark shows all keys."));
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
    this.speak(head.lang);
    this.worlds = runs.map((run) => new World(run));
    this.estimate();
    this.pairUp();
    this.end = Math.max(...this.worlds.map((world) => world.end));
    this.pinned = name === null ? null : this.find(name);
    this.hover = this.storyKey = this.views = null;
    this.panels.forEach((panel, side) => { if (this.worlds[side]) panel.load(this.worlds[side], head.titles[side], head.subs[side]); });
    this.choices.forEach((one, side) => one.replaceChildren(el("b", {}, "AB"[side]), " ", el("bdi", {}, head.titles[side] ?? "")));
    this.worst = this.worlds[0].worst();
    for (const one of [this.nextButton, this.nextButton2, this.previousButton]) {
      one.disabled = !this.worlds.some((world) => world.episodes.length);
      one.title = one.disabled ? tr("Nobody urgent waits for less urgent work here") : one.getAttribute("aria-label");
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
    window.dispatchEvent(new CustomEvent("sched:drawn"));
  }

  // What waits could have been told, where it is of these runs; it may come before them or after.
  estimate() {
    const told = globalThis.schedLab?.estimates;
    const notes = told && told.stamp === this.head.stamp ? told.notes : this.head.notes;
    this.worlds.forEach((world, side) => world.take(notes?.[side]));
  }

  speak(lang) {
    if (lang === this.lang) return;
    this.lang = lang;
    setLanguage(lang);
    for (const write of this.texts) write();
    this.panels.forEach((panel) => panel.relabel());
    this.help.write();
  }

  find(name) { const r = this.worlds[0].names.indexOf(name); return r < 0 ? null : r; }

  // A policy that splits requests has others than the rest: then those of B are found by name, where there are such.
  pairUp() {
    const [A, B] = this.worlds;
    this.inB = B && (A.n !== B.n || A.names.some((name, r) => name !== B.names[r])) ? new Map(B.names.map((name, r) => [name, r])) : null;
  }

  // The place on a side of a request of A, and the place in A of a request on a side; null where it has none.
  placeOn(side, r) { return r === null || !side || !this.inB ? r : this.inB.get(this.worlds[0].names[r]) ?? null; }
  placeIn(side, r) { return r === null || !side || !this.inB ? r : this.find(this.worlds[1].names[r]); }

  begin(head) {
    this.playing = false;
    this.pin(head.focus ?? null);
    if (typeof head.t === "number") this.t = this.told = head.t;
    else if (this.worst) this.t = still() ? this.worst.from + 0.62 * (this.worst.to - this.worst.from) : Math.max(0, this.worst.from - 2);
    const stop = head.stop ?? this.worst?.to;                            // a lesson says where it stops: without motion it stands there
    if (head.play && stop !== undefined && !still()) { this.stopAt = stop; requestAnimationFrame(() => this.play(true, true)); }
    else if (head.play && head.stop !== undefined) this.t = head.stop;
    this.frame(head.window ?? null);
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
    for (const panel of this.panels) { panel.narrow = this.narrow; panel.resize(this.narrow); panel.painted = null; }
    this.ganttHeight = this.gantt.arrange(this.inB ? [this.worlds[0]] : this.worlds, width, this.narrow ? 300 : 268);
    this.ganttBox.style.height = this.ganttHeight + "px";
    this.scrubWidth = this.scrub.clientWidth;
    this.scrubHeight = this.scrub.clientHeight || 38;
    if (!this.window) this.openWindow(this.closeUp());
    this.restyle();
  }

  restyle() {
    if (!this.worlds.length) return;
    this.p = lookOf(this.root);
    for (const name of COLOURS) this.root.style.setProperty("--" + name, this.p[name]);
    this.paintStrip();
    this.show(true);
  }

  // Everything at this moment. Panels only when the iteration changes, words a few times a second while playing.
  show(force = false, now = performance.now()) {
    if (!this.worlds.length || !this.p) return;
    this.follow();
    const wordy = force || !this.playing || now - (this.worded ?? 0) > 250, clock = Number.isFinite(this.t) ? moment(this.t) : "";
    if (force || !this.playing || now - (this.clocked ?? 0) > 50) { this.clocked = now; this.said = clock; say(this.clock, clock); }
    this.placeBrush(this.said);
    this.sides(force, wordy, now);
    if (wordy) this.words(now);
    const [a, b] = this.window, key = `${a.toFixed(4)}|${b.toFixed(4)}|${this.focus}|${this.hover}|${this.p.key}|${this.width}|${this.rough}`;
    if (wordy || this.ganttKey !== key) this.paintGantt(key, wordy);
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

  visible() { return this.narrow ? [Math.min(this.side, this.worlds.length - 1)] : this.worlds.map((_, side) => side); }

  words(now) {
    this.worded = now;
    const shown = this.visible();
    this.views = this.worlds.map((world, side) => (shown.includes(side) ? this.panels[side].view : glance(world, this.t)));
    this.focus = this.pinned ?? this.urgentHead();
    for (const side of shown) this.panels[side].words(this.views[side]);
    this.views.forEach((view, side) => {
      const [words, last] = this.captions[side].lastChild.children;
      sayRich(words, caption(view, this.placeOn(side, this.focus)));
      say(last, decided(view));
    });
    const spoken = tr("{time} seconds, {status}", { time: this.t.toFixed(2), status: urgentStatus(this.views[0]).text });
    this.needle.setAttribute("aria-valuenow", this.t.toFixed(2));
    this.needle.setAttribute("aria-valuetext", spoken);
    if (!this.tables.hidden) this.fillTables();
  }

  urgentHead() {
    for (const [side, { world }] of this.views.entries()) {
      const wait = world.firstAt(this.t), r = wait === null ? null : world.asked.request[wait];
      if (r !== null && world.isUrgent(r)) return this.placeIn(side, r);
    }
    return null;
  }

  paintGantt(key, wordy) {
    this.ganttKey = key;
    const chosen = this.hover ?? this.pinned, focus = chosen ?? this.focus ?? null, world = this.worlds[0];
    const culprit = this.visible().includes(0) ? this.panels[0].culprit : culpritOf(glance(world, this.t));
    if (this.storyKey !== focus || this.storyIn !== language) { this.storyKey = focus; this.storyIn = language; this.storyText = this.story(focus); this.allPassed = focus === null ? [] : world.passed(focus, Infinity); }
    this.gantt.paint(this.window, this.p, { t: this.t, focus, chosen, culprit: culprit === null ? this.lastCulprit() : world.stays.request[culprit], passed: this.allPassed, ...this.storyText, wordy, playing: this.playing, rough: this.rough });
  }

  // Between inversions the flag stays with the last incident's main culprit while it is in view.
  lastCulprit() {
    let found = null;
    for (const [from, to, name] of this.head.culprits?.[0] ?? []) if (from <= this.window[1] && to >= this.window[0] && (found === null || from <= this.t)) found = name;
    return found === null ? null : this.find(found);
  }

  story(r) {
    if (r === null) return {};
    const [A, B] = this.worlds, wait = A.waitOf(r), inverted = A.inversionOf(r);
    if (wait <= 0 || inverted <= 0) return {};
    const part = Math.round((1000 * inverted) / wait) / 10 + NARROW_NO_BREAK + "%", there = this.placeOn(1, r), other = B && there !== null ? B.waitOf(there) : wait;
    const values = { name: A.name(r), waits: span(wait), part };
    const text = this.narrow ? tr("waits {waits}: {part} inversion", values) : tr("{name} waits {waits}, {part} of it inversion", values);
    return { text, after: !B || other >= 0.1 * wait ? "" : other < 0.1 ? tr("thin bar: runs at once") : tr("thin bar: waits {waits}", { waits: span(other) }) };
  }

  showSide(side, quiet = false) {
    this.side = side;
    this.panels.forEach((panel, k) => panel.root.classList.toggle("off", this.narrow && k !== side));
    this.choices.forEach((one, k) => one.setAttribute("aria-pressed", String(k === side)));
    if (!quiet) this.resize();
  }
}
