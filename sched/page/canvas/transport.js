// Play, pause, jumps, keys and pointers of the stage.

Object.assign(Stage.prototype, {
  play(on, first = false) {
    if (on && this.t >= this.end - 1e-6) this.t = 0;
    if (!first) this.stopAt = null;
    this.playing = on;
    this.loose = false;
    this.root.classList.toggle("playing", on);
    this.playButton.replaceChildren(icon(on ? "pause" : "play", 22));
    this.playButton.title = on ? tr("Pause") : tr("Play");
    this.playButton.setAttribute("aria-label", this.playButton.title);
    this.captionBox.setAttribute("aria-live", on ? "off" : "polite");
    cancelAnimationFrame(this.ticking);
    this.before = null;
    if (on) this.ticking = requestAnimationFrame((now) => this.tick(now));
    else { this.show(true); if (!this.silent) this.tell(); this.silent = false; }
  },

  tick(now) {
    if (!this.playing) return;
    const passed = this.before === null ? 0 : Math.min(100, now - this.before) / 1000;
    if (still() && this.before !== null && now - this.before < 250) { this.ticking = requestAnimationFrame((next) => this.tick(next)); return; }
    this.before = now;
    this.t += (still() ? 0.25 : passed) * this.speed;
    const stop = this.stopAt ?? this.end;
    if (this.t >= stop) { this.t = stop; this.silent = this.stopAt !== null; this.play(false); return; }
    const began = performance.now();
    this.show(false, now);
    this.frames++;
    this.cost += performance.now() - began;
    this.ticking = requestAnimationFrame((next) => this.tick(next));
  },

  stop() { this.playing = false; cancelAnimationFrame(this.ticking); cancelAnimationFrame(this.glide); this.observer.disconnect(); this.unlisten?.(); },

  // The server learns where the playhead rests, so that the link says it, and the frame once somebody has set it. The
  // playhead rests on a tenth of a millisecond, rounded up: rounded down it could stand in the iteration before.
  tell() {
    const t = Math.min(this.end, Math.ceil(this.t * 1e4 - 1e-4) / 1e4);
    if (t !== this.t) { this.t = t; this.show(true); }
    if (this.framed) {
      const window = [Math.max(0, this.window[0]), Math.min(this.end, this.window[1])].map((one) => Math.round(one * 1e3) / 1e3);
      if (window.join() !== this.toldWindow && window[1] > window[0]) { this.toldWindow = window.join(); this.api?.setStateValue?.("window", window); }
    }
    if (t === this.told) return;
    this.told = t;
    this.api?.setStateValue?.("t", t);
  },

  go(t, { rest = true } = {}) {
    if (this.playing) this.play(false);
    cancelAnimationFrame(this.glide);
    this.t = Math.max(0, Math.min(this.end, t));
    this.loose = false;
    this.show(true);
    if (rest) this.settle();
  },

  // Held keys and drags would send dozens of times: the last one counts.
  settle() { clearTimeout(this.settling); this.settling = setTimeout(() => { if (!this.playing) this.tell(); }, 350); },

  // The playhead glides, and the window with it, so that what led here and what follows are both in view.
  jump(t) {
    if (this.playing) this.play(false);
    this.beat();
    this.loose = false;
    const from = this.t, to = Math.max(0, Math.min(this.end, t)), began = performance.now(), [a, b] = this.window, length = b - a;
    const inView = to > a + 0.2 * length && to < a + 0.7 * length, [c] = inView ? [a] : this.clampWindow([to - 0.46 * length, to + 0.54 * length]);
    cancelAnimationFrame(this.glide);
    const place = (share) => { this.window = [a + (c - a) * share, a + (c - a) * share + length]; this.t = from + (to - from) * share; };
    if (still()) { place(1); this.go(to); return; }
    const step = (now) => {
      const share = Math.max(0, Math.min(1, (now - began) / 220));
      place(1 - (1 - share) ** 3);
      this.show(share === 1);
      if (share < 1) this.glide = requestAnimationFrame(step); else this.settle();
    };
    this.glide = requestAnimationFrame(step);
  },

  // After a jump the culprit beats three times, then is still.
  beat() { this.root.classList.remove("jumped"); void this.root.offsetWidth; this.root.classList.add("jumped"); },

  step(direction) {
    const world = this.worlds[this.narrow ? this.side : 0], { i, busy } = world.moment(this.t), starts = world.begin;
    if (!starts.length) return;
    const at = i < 0 ? 0 : starts[i], inside = this.t - at > 1e-6;
    const next = direction > 0 ? starts[i + 1] ?? this.end : inside ? at : starts[Math.max(0, i - 1)];
    this.go(next + 1e-7);
    if (!busy && direction > 0 && next === undefined) this.go(this.end);
  },

  inversion(direction) {
    const found = this.worlds.find((world) => world.episodes.length);
    if (!found) return;
    const starts = found.episodes.map(([from, to]) => from + Math.min(0.05, (to - from) / 2));
    const next = direction > 0 ? starts.find((start) => start > this.t + 1e-3) ?? starts[0] : starts.filter((start) => start < this.t - 1e-3).at(-1) ?? starts.at(-1);
    this.jump(next);
  },

  worstWait() {
    if (!this.worst) return;
    this.attend(this.worst.r);
    this.jump(this.worst.from + 0.62 * (this.worst.to - this.worst.from));
  },

  nextUrgent() {
    const waiting = this.views[0].waiting.filter(([r]) => this.worlds[0].isUrgent(r)).map(([r]) => r);
    if (waiting.length) this.attend(waiting[(waiting.indexOf(this.pinned) + 1) % waiting.length]);
  },

  pin(request) {
    this.pinned = typeof request === "string" ? this.find(request) : request;
    if (this.p) this.show(true);
  },

  // What a person chose to look at goes into the link, like the playhead; a click opens its story below the stage.
  attend(request, opens = false) { this.pin(request); this.api?.setStateValue?.("focus", { request: this.pinned === null ? null : this.worlds[0].names[this.pinned], opens }); },

  setSpeed(speed) {
    this.speed = speed;
    this.speeds.forEach((one, k) => one.setAttribute("aria-pressed", String(SPEEDS[k] === speed)));
  },

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    const place = /^(?:Digit|Numpad)([1-5])$/.exec(event.code)?.[1] - 1, side = event.shiftKey ? "B" : "A", middle = (this.window[0] + this.window[1]) / 2;
    const at = this.t > this.window[0] && this.t < this.window[1] ? this.t : middle;
    const act = place >= 0 ? () => window.dispatchEvent(new CustomEvent("sched:card", { detail: { place, side } })) : {
      " ": () => this.play(!this.playing), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), PageDown: () => this.go(this.t + 1), PageUp: () => this.go(this.t - 1),
      Home: () => this.go(0), End: () => this.go(this.end), n: () => this.inversion(1), p: () => this.inversion(-1), w: () => this.worstWait(), f: () => this.nextUrgent(), b: () => this.wholeRun(),
      "[": () => this.setSpeed(SPEEDS[Math.max(0, SPEEDS.indexOf(this.speed) - 1)]), "]": () => this.setSpeed(SPEEDS[Math.min(2, SPEEDS.indexOf(this.speed) + 1)]),
      "+": () => this.zoomAt(at, 0.7), "=": () => this.zoomAt(at, 0.7), "-": () => this.zoomAt(at, 1 / 0.7), t: () => this.toggleTable(), "?": () => this.help.toggle(), Escape: () => this.escape(),
    }[event.key];
    if (!act || (event.key === " " && event.target.tagName === "BUTTON" && event.target !== this.playButton)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.brushKey(event)) act();
  },

  // Where nothing has the focus letters and digits act at once; keys that move a page only once the stage was clicked.
  onPageKey(event) {
    if (event.target !== document.body || !this.worlds.length || !this.root.isConnected || document.querySelector('[role="dialog"]')) return;
    const alone = this.api.alone && /^( |Arrow(Left|Right))$/.test(event.key);          // a report has said that these play
    if (this.clicked || alone || /^[npwbft?[\]]$/.test(event.key) || /^(?:Digit|Numpad)[1-5]$/.test(event.code)) this.onKey(event);
  },

  escape() { if (!this.help.root.hidden) this.help.toggle(false); else this.attend(null); },

  listen() {
    this.root.addEventListener("keydown", (event) => this.worlds.length && this.onKey(event));
    this.playButton.onclick = () => this.play(!this.playing);
    this.nextButton.onclick = this.nextButton2.onclick = () => this.inversion(1);
    this.previousButton.onclick = () => this.inversion(-1);
    this.tableButton.onclick = () => this.toggleTable();
    this.setSpeed(1);
    this.drag(this.scrub, (event, state) => this.scrubbing(event, state));
    this.scrub.addEventListener("pointermove", (event) => { if (!event.buttons && this.worlds.length) this.scrub.style.cursor = { playhead: "pointer", frame: "grab" }[this.grip(event)] ?? "ew-resize"; });
    this.drag(this.ganttCanvas, (event, state) => this.ganttDrag(event, state));
    this.pinching();
    this.ganttCanvas.addEventListener("pointermove", (event) => event.buttons || this.overGantt(event));
    this.ganttCanvas.addEventListener("pointerleave", () => this.point(null));
    this.ganttCanvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.panels.forEach((panel) => this.overPanel(panel));
    const goto = (event) => { this.jump(event.detail.t); if (event.detail.focus) this.attend(event.detail.focus, Boolean(event.detail.opens)); this.root.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" }); };
    const sharing = (event) => { if (event.target.closest?.(".st-key-share")) this.tell(); };
    const touched = (event) => { this.clicked = event.composedPath().includes(this.root); };
    const over = new AbortController(), until = { capture: true, signal: over.signal };
    for (const [name, act] of [["sched:goto", goto], ["sched:focus", (event) => this.pin(event.detail)], ["sched:estimates", () => { if (this.worlds.length) { this.estimate(); this.show(true); } }], ["pointerdown", sharing], ["keydown", sharing], ["pointerdown", touched], ["keydown", (event) => this.onPageKey(event)]]) window.addEventListener(name, act, until);
    this.unlisten = () => over.abort();
  },

  drag(node, move) {
    node.addEventListener("pointerdown", (event) => {
      if (event.button || !this.worlds.length) return;
      node.setPointerCapture(event.pointerId);
      const state = { x: event.clientX, moved: false, down: true };
      move(event, state);
      state.down = false;
      const over = new AbortController(), until = { signal: over.signal };
      node.addEventListener("pointermove", (next) => { if (next.pointerId !== event.pointerId) return; state.moved ||= Math.abs(next.clientX - state.x) > 3; move(next, state); }, until);
      const end = (next) => { if (next.pointerId !== event.pointerId) return; state.up = true; state.lost = next.type === "pointercancel"; move(next, state); over.abort(); };
      for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, end, until);
    });
  },

  ganttTime(event) {
    const box = this.ganttCanvas.getBoundingClientRect(), x = event.clientX - box.left;
    return [this.window[0] + ((x - GUTTER) / this.gantt.plot) * (this.window[1] - this.window[0]), x, event.clientY - box.top];
  },

  // A drag moves the window, or the playhead by its flag; a click chooses the request under it, or sets the playhead.
  ganttDrag(event, state) {
    const [t, x, y] = this.ganttTime(event), reach = event.pointerType === "touch" ? 40 : 31;
    if (state.down) Object.assign(state, { window: [...this.window], left: event.clientX, flag: y < 20 && Math.abs(x - this.gantt.x(this.t, this.window)) < reach });
    if (state.flag) { if (state.moved) this.go(t, { rest: false }); if (state.up) this.settle(); return; }
    if (this.pinch) state.moved = true;
    else if (state.moved && !state.lost) {
      const by = ((state.left - event.clientX) / this.gantt.plot) * (state.window[1] - state.window[0]);
      this.setWindow(this.clampWindow([state.window[0] + by, state.window[1] + by]));
    }
    if (!state.up || state.moved || state.lost) return;
    const hit = this.gantt.at(x, y, this.window);
    if (hit !== null) this.attend(hit === this.pinned ? null : hit, true); else if (x > GUTTER) this.go(t);
  },

  // Two fingers zoom about the point between them.
  pinching() {
    const fingers = new Map(), node = this.ganttCanvas;
    const spread = () => { const [a, b] = [...fingers.values()]; return [Math.max(24, Math.abs(a - b)), (a + b) / 2]; };
    node.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event.clientX); if (fingers.size === 2) this.pinch = spread()[0]; });
    node.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) return;
      fingers.set(event.pointerId, event.clientX);
      if (fingers.size !== 2) return;
      const [wide, middle] = spread();
      this.zoomAt(this.ganttTime({ clientX: middle, clientY: 0 })[0], this.pinch / wide);
      this.pinch = wide;
    });
    for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, (event) => { fingers.delete(event.pointerId); if (fingers.size < 2) setTimeout(() => { this.pinch = null; }); });
  },

  overGantt(event) {
    const [, x, y] = this.ganttTime(event);
    this.ganttCanvas.style.cursor = y < 20 && Math.abs(x - this.gantt.x(this.t, this.window)) < 31 ? "ew-resize" : x < GUTTER ? "default" : "grab";
    this.point(this.gantt.at(x, y, this.window), x, y);
  },

  // The wheel scrolls the page as anywhere; with Ctrl it zooms, sideways it moves the window.
  wheel(event) {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX, zooms = event.ctrlKey || event.metaKey;
    if (!this.worlds.length || (!zooms && Math.abs(sideways) <= (event.shiftKey ? 0 : Math.abs(event.deltaY)))) return;
    event.preventDefault();
    if (zooms) this.zoomAt(this.ganttTime(event)[0], Math.exp(event.deltaY * 0.004));
    else this.pan((sideways / this.gantt.plot) * (this.window[1] - this.window[0]));
  },

  overPanel(panel) {
    const inA = (r) => this.placeIn(this.panels.indexOf(panel), r);
    const find = (event, canvas) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const inMap = (event) => {
      const [x, y] = find(event, panel.memoryCanvas), stay = panel.view ? panel.memory.ownerAt(x, y, panel.view.state) : FREE;
      return stay === FREE ? null : inA(panel.world.stays.request[stay]);
    };
    const inLanes = (event) => { const [, y] = find(event, panel.laneCanvas); return inA(panel.lanes.hits?.find(([a, b]) => y >= a && y < b)?.[2] ?? null); };
    for (const [canvas, of] of [[panel.memoryCanvas, inMap], [panel.laneCanvas, inLanes]]) {
      canvas.addEventListener("pointermove", (event) => this.point(of(event), null, null, panel, event));
      canvas.addEventListener("pointerleave", () => this.point(null));
      canvas.addEventListener("click", (event) => { const r = of(event); if (r !== null) this.attend(r === this.pinned ? null : r, true); });
    }
    const inQueue = (event) => inA(event.target.closest?.(".chip")?._request ?? null), choose = (r) => { if (r !== null) this.attend(r === this.pinned ? null : r, true); };
    panel.chips.addEventListener("click", (event) => choose(inQueue(event)));
    panel.chips.addEventListener("pointerover", (event) => this.point(inQueue(event)));
    panel.chips.addEventListener("pointerleave", () => this.point(null));
  },

  // One request under the pointer is outlined everywhere at once; its name and state stand beside the pointer.
  point(request, x = null, y = null, panel = null) {
    if (this.hover !== request) { this.hover = request; if (!this.playing) this.show(true); }
    this.tip.hidden = request === null || x === null;
    const said = request !== null && x === null && panel ? tr("{name}: {state}", { name: this.worlds[0].name(request), state: requestLine(panel.view, this.placeOn(this.panels.indexOf(panel), request)) }) : "";
    for (const one of this.panels) one.root.title = one === panel ? said : "";
    if (this.tip.hidden || !this.views) return;
    const lines = this.views.map((view, side) => tr("{side}: {state}", { side: "AB"[side], state: requestLine(view, this.placeOn(side, request)) }));
    this.tip.replaceChildren(el("b", {}, this.worlds[0].name(request)), ...lines.map((text) => el("div", {}, text)));
    const wide = this.tip.offsetWidth;
    this.tip.style.transform = `translate(${Math.max(0, Math.min(this.width - wide - 4, x + 14))}px,${y > this.ganttHeight / 2 ? y - 62 : y + 16}px)`;
  },

});

const players = new WeakMap();

function stage(api) {
  let player = players.get(api.parentElement);
  if (!player) { player = new Stage(api.parentElement); players.set(api.parentElement, player); }
  player.receive(api);
  return () => { player.stop(); players.delete(api.parentElement); };
}
