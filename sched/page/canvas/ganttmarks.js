// What is written and marked on the Gantt: axis, names, the culprit, who went past the request in focus, preemptions.

const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];

Object.assign(Gantt.prototype, {
  axisStep(rate) { return STEPS.find((s) => s * rate > 62) ?? this.plot / rate; },

  // Where the numbers of the axis stand, and what they say.
  *ticks(w) {
    const step = this.axisStep(this.plot / (w[1] - w[0]));
    for (let k = Math.ceil(w[0] / step); k * step <= w[1]; k++) {
      const x = Math.round(this.x(k * step, w)) + 0.5;
      if (x > GUTTER + 14 && x < this.width - 16) yield [x, Number((k * step).toFixed(3)) + NARROW_NO_BREAK + "s"];
    }
  },

  axis(g, w, p) {
    g.font = `400 12px ${p.font}`;
    g.textBaseline = "middle";
    g.textAlign = "center";
    g.fillStyle = p.ink2;
    for (const [x, text] of this.ticks(w)) g.fillText(text, x, 8);
    g.textAlign = "left";
  },

  tint(g, r, p) {
    const row = this.rowOf(r);
    if (!row || row[0].pitch < 7) return;
    g.fillStyle = p.surface;
    g.beginPath(); g.roundRect(0, row[1] - 1.6, this.width, row[0].pitch + 1, 4); g.fill();
  },

  culprit(g, w, p, { culprit, chosen }) {
    for (const [r, colour] of [[chosen, p.ink], [culprit, p.culprit]]) {
      const row = this.rowOf(r);
      if (!row) continue;
      const a = Math.max(GUTTER - 2, this.x(this.worlds[0].requests.arrival[r], w)), b = Math.min(this.width + 2, this.x(this.stops[r], w));
      if (b <= a) continue;
      g.strokeStyle = colour;
      g.lineWidth = r === culprit ? 1.5 : 1;
      g.strokeRect(a, row[1] + 0.2, b - a, Math.max(3, row[0].pitch - 1.6));
    }
  },

  passes(g, w, p, { passed }) {
    g.fillStyle = p.culprit;
    g.beginPath();
    const { from, request } = this.worlds[0].stays;
    for (const s of passed) {
      if (from[s] < w[0] || from[s] > w[1]) continue;
      const row = this.rowOf(request[s]), x = this.x(from[s], w), y = row[1] - 1;
      g.moveTo(x - 3.6, y - 3); g.lineTo(x + 3.6, y - 3); g.lineTo(x, y + 3.4);
    }
    g.fill();
  },

  story(g, w, p, { focus, text, after }) {
    const row = this.rowOf(focus);
    if (!row || row[0].pitch < 4 || !text) return;
    const world = this.worlds[0], a = this.x(world.requests.arrival[focus], w), first = world.firstAsked[focus];
    const b = first < world.firstAsked[focus + 1] ? this.x(world.asked.to[first], w) : a;
    if (a > this.width || b < GUTTER) return;                                        // its wait is not in view
    g.font = `600 12px ${p.font}`;
    g.textBaseline = "middle";
    const wide = g.measureText(text).width, y = row[1] + Math.min(4.4, row[0].pitch / 2);
    const lo = Math.max(GUTTER + 4, a + 6), hi = Math.min(this.width - 4, b - 6);
    const x = hi - lo > wide ? Math.max(lo, Math.min(hi - wide, Math.max(lo, (lo + hi - wide) / 2))) : Math.min(this.width - wide - 4, Math.max(lo, b + 8));
    g.fillStyle = p.surface;
    g.fillRect(x - 4, y - 7, wide + 8, 14);
    g.fillStyle = p.culprit;
    g.fillText(text, x, y + 0.5);
    const ended = world.requests.ended[focus], e = this.x(Number.isNaN(ended) ? world.end : ended, w) + 8;
    if (after && e > x + wide && e + 170 < this.width) { g.font = `400 12px ${p.font}`; g.fillStyle = p.ink2; g.fillText(after, e, y + 0.5); }
  },

  // Preemptions at a scale, neighbours counted together: where, how many, for whom.
  preemptions(rate, p) {
    if (this.preemptedY === null) return [];
    this.preemptedSide = this.worlds[1]?.preempted.at.length ? 1 : 0;
    const world = this.worlds[this.preemptedSide], { at, victim, beneficiary } = world.preempted, groups = [], g = this.canvas.getContext("2d");
    for (let k = 0; k < at.length; k++) {
      const x = at[k] * rate, last = groups.at(-1);
      if (last && x - last.x < 26) last.many++; else groups.push({ x, many: 1, who: beneficiary[k], self: beneficiary[k] === victim[k] });
    }
    g.font = `500 11.5px ${p.font}`;
    groups.forEach((one, k) => {
      const room = (groups[k + 1]?.x ?? Infinity) - one.x - 16, many = count(one.many), long = one.self ? many : tr("{many} for {name}", { many, name: world.name(one.who) });
      one.text = g.measureText(long).width < room ? long : one.many > 1 && g.measureText(many).width < room ? many : "";
    });
    return groups;
  },

  preempted(g, { x, text }, from, p) {
    ringedCross(g, x - from, this.preemptedY, 4.6, p);
    g.font = `500 11.5px ${p.font}`;
    g.textBaseline = "middle";
    g.fillStyle = p.ink;
    g.fillText(text, x - from + 8, this.preemptedY + 0.5);
  },

  // The names stand on a layer of their own, which is drawn a few times a second.
  labels(w, p, view) {
    const [g] = fit(this.gutter, GUTTER - 4, this.height), { arrival, ended } = this.worlds[0].requests;
    g.clearRect(0, 0, GUTTER, this.height);
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.font = `400 12px ${p.font}`;
    g.fillStyle = p.ink2;
    if (this.worlds[1]) this.beside(g, p, tr("A thick, B thin"), 8);
    for (const group of this.groups) {
      const visible = group.members.filter((r) => arrival[r] < w[1] && !(ended[r] < w[0]));
      if (group.pitch >= 10) this.rowLabels(g, p, group, visible, view); else this.groupLabel(g, p, group, visible);
    }
    if (this.preemptedY !== null) { g.fillStyle = p.ink2; this.beside(g, p, this.preemptedSide ? tr("preempted in B") : tr("preempted in A"), this.preemptedY + 0.5); }
  },

  // A text at the right of the gutter; where a font is wide it is smaller rather than cut.
  beside(g, p, text, y) {
    g.font = `400 12px ${p.font}`;
    const room = GUTTER - 10, wide = g.measureText(text).width;
    if (wide > room) g.font = `400 ${((12 * room) / wide).toFixed(1)}px ${p.font}`;
    g.fillText(text, GUTTER - 6, y);
  },

  rowLabels(g, p, group, visible, { t, focus, culprit }) {
    const world = this.worlds[0], best = new Map();
    for (const r of visible) {
      const ended = world.requests.ended[r], row = this.rowOf(r)[1];
      const far = t < world.requests.arrival[r] ? world.requests.arrival[r] - t : t > ended ? t - ended + 0.01 : -1;
      if (r === focus || r === culprit || far < (best.get(row)?.far ?? Infinity)) best.set(row, { r, far: r === focus || r === culprit ? -2 : far });
    }
    for (const [y, { r }] of best) {
      const strong = r === focus || r === culprit;
      g.font = `${strong ? 650 : 400} 12px ${p.font}`;
      g.fillStyle = p.ink;
      g.fillText(short(g, world.name(r), GUTTER - 24), GUTTER - 18, y + 5);
      if (r === culprit) flag(g, GUTTER - 13, y + 4.6, 8.5, p.culprit); else mark(g, group.role, GUTTER - 9, y + 4.6, 8, p.role[group.role]);
    }
  },

  groupLabel(g, p, group, visible) {
    const y = group.top + Math.min(8, (group.count * group.pitch) / 2);
    g.font = `500 12px ${p.font}`;
    g.fillStyle = p.ink;
    g.fillText(short(g, this.worlds[0].className(group.c), GUTTER - 24), GUTTER - 18, y);
    mark(g, group.role, GUTTER - 9, y, 8, p.role[group.role]);
    if (group.count * group.pitch < 26) return;
    g.font = `400 11.5px ${p.font}`;
    g.fillStyle = p.ink3;
    g.fillText(tr("{n} in view", { n: visible.length }), GUTTER - 6, y + 14);
  },
});
