// The frame on the strip: the window of time that the Gantt shows. It is dragged, widened and zoomed by pointer, touch
// and keys, follows the playhead, and goes into the link once somebody has set it.

Object.assign(Stage.prototype, {
  buildScrub() {
    const slider = (name, label) => this.labelled(el("div", { class: name, role: "slider", tabindex: "0", "aria-valuemin": "0" }), label);
    this.strip = el("canvas", { "aria-hidden": true });
    this.stripOver = el("canvas", { class: "layer", "aria-hidden": true });
    this.brush = slider("brush", () => tr("Window of time"));
    this.handles = [slider("handle", () => tr("Begin of the window")), slider("handle", () => tr("End of the window"))];
    this.needle = slider("needle", () => tr("Playhead"));
    this.scrub = el("div", { class: "scrub" }, this.strip, this.stripOver, this.brush, ...this.handles, this.needle);
  },

  // The window of a link, or none yet; one that somebody set is told to the server.
  frame(window) {
    this.framed = window !== null;
    this.loose = this.framed && (this.t < window[0] || this.t > window[1]);
    this.window = window === null ? null : this.clampWindow(window);       // one of a longer run is moved into this one
    this.toldWindow = window === null ? "" : window.join();
  },

  closeUp() { return Math.min(this.end * 1.02, this.end <= 26 ? 26 : this.narrow ? 11 : 19); },
  openWindow(length) { this.window = this.clampWindow([this.t - 0.48 * length, this.t + 0.52 * length]); },
  least() { return Math.max(0.02, this.end / 2000); },

  clampWindow([a, b]) {
    const length = b - a, lo = -0.01 * length, hi = Math.max(this.end + 0.03 * length, lo + length);
    const start = Math.max(lo, Math.min(a, hi - length));
    return [start, start + length];
  },

  // The window goes with the playhead, but only when it comes near the edge, and not while somebody looks elsewhere.
  follow() {
    if (this.loose) return;
    const [a, b] = this.window, length = b - a;
    if (this.t > a + 0.66 * length && this.playing) this.window = this.clampWindow([this.t - 0.66 * length, this.t + 0.34 * length]);
    else if (this.t < a + 0.03 * length || this.t > b - 0.03 * length) this.window = this.clampWindow([this.t - 0.45 * length, this.t + 0.55 * length]);
  },

  // A person moved the window; the playhead stays where it is.
  setWindow(window) {
    this.window = window;
    this.framed = true;
    this.loose = this.t < window[0] || this.t > window[1];
    this.show(true);
    this.settle();
  },

  wholeRun() {
    const length = this.window[1] - this.window[0];
    this.loose = false;
    if (length < this.end * 0.98) { this.close = length; this.setWindow(this.clampWindow([0, this.end * 1.03])); return; }
    this.openWindow(this.close ?? this.closeUp());
    this.setWindow(this.window);
  },

  zoomAt(t, factor) {
    const [a, b] = this.window, length = Math.max(this.least(), Math.min(this.end * 1.04, (b - a) * factor)), part = (t - a) / (b - a);
    this.roughly();
    this.setWindow(this.clampWindow([t - part * length, t + (1 - part) * length]));
  },

  // While it is being zoomed the bars are stretched; they are drawn anew when it rests.
  roughly() {
    this.rough = true;
    clearTimeout(this.roughTimer);
    this.roughTimer = setTimeout(() => { this.rough = false; this.show(true); }, 120);
  },

  pan(seconds) { this.setWindow(this.clampWindow([this.window[0] + seconds, this.window[1] + seconds])); },

  // Playhead and frame are painted: an element that moves makes the browser lay out all layers of the page each frame.
  // The elements that keys and screen readers know follow when it rests.
  placeBrush(clock) {
    const k = this.scrubWidth / this.end, [a, b] = this.window, left = Math.max(0, a * k), wide = Math.max(10, Math.min(this.scrubWidth, b * k) - left), x = this.t * k;
    const height = this.scrubHeight, [g] = fit(this.stripOver, this.scrubWidth, height), { p } = this, top = (height - 28) / 2;
    g.clearRect(0, 0, this.scrubWidth, height);
    g.strokeStyle = g.fillStyle = p.accent;
    g.lineWidth = 1.4;
    g.beginPath(); g.roundRect(left + 0.7, top, wide - 1.4, 28, 6); g.stroke();
    for (const edge of [left, left + wide]) { g.beginPath(); g.roundRect(Math.max(0, Math.min(this.scrubWidth - 6, edge - 3)), top + 8, 6, 12, 3); g.fill(); }
    g.fillStyle = p.ink;
    g.fillRect(x - 1, top - 1, 2, 30);
    g.beginPath(); g.moveTo(x - 5, top - 2); g.lineTo(x + 5, top - 2); g.lineTo(x, top + 5); g.fill();
    this.paintLine(clock);
    if (this.playing) return;
    const shape = `${left.toFixed(1)}|${wide.toFixed(1)}|${x.toFixed(1)}`;
    if (this.brushed === shape) return;
    this.brushed = shape;
    for (const [node, at] of [[this.brush, left], [this.handles[0], left], [this.handles[1], left + wide], [this.needle, x]]) node.style.transform = `translateX(${at}px)`;
    this.brush.style.width = wide + "px";
    const words = tr("{from} to {to}", { from: moment(Math.max(0, a)), to: moment(Math.min(this.end, b)) });
    for (const [node, t] of [[this.brush, a], [this.handles[0], a], [this.handles[1], b]]) { node.setAttribute("aria-valuenow", Math.max(0, Math.min(this.end, t)).toFixed(2)); node.setAttribute("aria-valuetext", words); }
  },

  // The playhead on the Gantt, with its time; not where it lies outside the window.
  paintLine(clock) {
    const [g] = fit(this.lineCanvas, this.width, this.ganttHeight), x = this.gantt.x(this.t, this.window), { p } = this, wide = 62;
    g.clearRect(0, 0, this.width, this.ganttHeight);
    if (x < GUTTER - 1 || x > this.width + 1) return;
    g.fillStyle = p.ink;
    g.fillRect(x - 0.8, 18, 1.6, this.ganttHeight);
    const left = Math.max(GUTTER - 4, Math.min(this.width - wide, x - wide / 2));
    g.font = `400 12px ${p.font}`;
    g.fillStyle = p.bg;
    for (const [at, text] of this.gantt.ticks(this.window)) {          // no half of a number beside the time
      const half = g.measureText(text).width / 2 + 1;
      if (Math.abs(at - left - wide / 2) < wide / 2 + half) g.fillRect(at - half, 0, 2 * half, 17);
    }
    g.fillStyle = p.ink;
    g.beginPath(); g.roundRect(left, 0, wide, 18, 5); g.fill();
    g.fillStyle = p.bg;
    g.font = `600 12px ${p.font}`;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillText(clock, left + wide / 2, 9.5);
  },

  // The inversions of both sides over the whole run.
  paintStrip() {
    const width = this.scrubWidth, height = this.scrubHeight, [g] = fit(this.strip, width, height), p = this.p;
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
    for (const node of [this.needle, this.brush, ...this.handles]) node.setAttribute("aria-valuemax", this.end.toFixed(2));
  },

  // What a press on the strip takes hold of: the playhead, a handle, the frame, or nothing.
  grip(event) {
    const x = event.clientX - this.scrub.getBoundingClientRect().left, k = this.scrubWidth / this.end, [a, b] = this.window.map((t) => Math.max(0, Math.min(this.scrubWidth, t * k)));
    const near = event.pointerType === "touch" ? 22 : 7, reach = Math.min(near, Math.max(5, (b - a) / 3));
    if (Math.abs(x - this.t * k) < Math.min(near, 6) && x > a + 8 && x < b - 8) return "playhead";
    if (x > a - near && x < a + reach) return "begin";
    if (x > b - reach && x < b + near) return "end";
    return x > a && x < b ? "frame" : "playhead";
  },

  scrubbing(event, state) {
    const x = event.clientX - this.scrub.getBoundingClientRect().left, t = Math.max(0, Math.min(this.end, (x / this.scrubWidth) * this.end));
    if (state.down) Object.assign(state, { grip: this.grip(event), from: t, window: [...this.window] });
    if (state.grip === "playhead") this.go(t, { rest: false });
    else if (state.moved) {
      const [a, b] = state.window;
      if (state.grip === "frame") this.setWindow(this.clampWindow([a + t - state.from, b + t - state.from]));
      else this.setWindow(state.grip === "begin" ? [Math.min(t, b - this.least()), b] : [a, Math.max(t, a + this.least())]);
    } else if (state.up) this.go(t, { rest: false });
    if (state.up) this.settle();
  },

  // Arrows on the frame move it, on a handle they move that edge.
  brushKey(event) {
    const edge = this.handles.indexOf(event.target), sign = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if ((edge < 0 && event.target !== this.brush) || (sign === undefined && !/^(Home|End)$/.test(event.key))) return false;
    const [a, b] = this.window, by = sign === undefined ? (event.key === "Home" ? -this.end : this.end) : (sign * (b - a)) / 20;
    if (edge < 0) this.pan(by);
    else this.setWindow(edge ? [a, Math.max(a + this.least(), Math.min(this.end * 1.03, b + by))] : [Math.min(b - this.least(), Math.max(0, a + by)), b]);
    return true;
  },
});
