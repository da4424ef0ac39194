// All requests on one time axis: A thick, B thin beneath it. Bars are drawn once on a wide layer; a frame only moves it.

const AXIS = 20, GUTTER = 88;
const PITCH = [12.6, 6, 11.6];                               // by role: the height of a row where there is room
const SHRINK = [[1, 2.6], [0, 7.5], [1, 1.5], [2, 6], [0, 2.6], [2, 2.2]];      // who gives way first, and down to what

// Rows of a class: requests in order of arrival go round the rows, so that neighbours in time lie beneath each other.
function rowsOf(requests, begin, end, wanted) {
  const ends = new Array(Math.min(wanted, requests.length)).fill(-Infinity), row = new Map();
  let last = -1;
  for (const r of requests) {
    let best = -1;
    for (let k = 1; k <= ends.length && best < 0; k++) if (ends[(last + k) % ends.length] <= begin(r)) best = (last + k) % ends.length;
    if (best < 0) best = ends.push(-Infinity) - 1;
    ends[best] = end(r);
    row.set(r, best);
    last = best;
  }
  return { row, count: ends.length };
}

class Gantt {
  constructor(canvas) { this.canvas = canvas; this.layer = document.createElement("canvas"); this.drawn = null; }

  // Rows for these two runs in this width; returns the height that they take.
  arrange(worlds, width, most) {
    this.worlds = worlds;
    this.width = width;
    this.drawn = null;
    const [A, B] = worlds, groups = [];
    const classes = A.head.classes.map((_, c) => c).sort((a, b) => A.head.levels[a] - A.head.levels[b] || a - b);
    const stop = (world, r) => (Number.isNaN(world.requests.ended[r]) ? world.end : world.requests.ended[r]);
    for (const c of classes) {
      const members = [];
      for (let r = 0; r < A.n; r++) if (A.requests.cls[r] === c) members.push(r);
      if (!members.length) continue;
      const pad = 0.004 * A.end, role = A.roles[c];
      const packed = rowsOf(members, (r) => A.requests.arrival[r], (r) => Math.max(stop(A, r), B ? stop(B, r) : 0) + pad, role === 0 ? 9 : 1);
      groups.push({ c, role, members, ...packed, pitch: role === 1 && packed.count <= 8 ? PITCH[0] : PITCH[role] });
    }
    const evictions = worlds.some((world) => world.preempted.at.length), room = most - AXIS - (evictions ? 18 : 4) - 7 * groups.length;
    const total = () => groups.reduce((sum, g) => sum + g.pitch * g.count, 0);
    for (const [role, least] of SHRINK) {
      const over = total() - room, mine = groups.filter((g) => g.role === role), rows = mine.reduce((sum, g) => sum + g.count, 0);
      if (over > 0 && rows) for (const g of mine) g.pitch = Math.min(g.pitch, Math.max(least, g.pitch - over / rows));
    }
    let y = AXIS;
    for (const g of groups) {
      g.top = y;
      if (g.top + g.count * g.pitch > most * 1.6) g.count = Math.max(1, Math.floor((most * 1.6 - g.top) / g.pitch));
      y += g.count * g.pitch + 7;
    }
    this.groups = groups;
    this.rowOf = new Map();
    for (const g of groups) for (const r of g.members) this.rowOf.set(r, [g, g.top + (g.row.get(r) % g.count) * g.pitch]);
    this.evictedY = evictions ? y + 6 : null;
    this.height = Math.ceil(evictions ? y + 16 : y);
    return this.height;
  }

  get plot() { return this.width - GUTTER; }
  x(t, w) { return GUTTER + ((t - w[0]) / (w[1] - w[0])) * this.plot; }

  render(w, p) {
    const length = w[1] - w[0], from = w[0] - 0.35 * length, to = w[1] + 0.75 * length, rate = this.plot / length;
    const [g, scale] = fit(this.layer, (to - from) * rate, this.height);
    g.clearRect(0, 0, this.layer.width, this.height);
    this.drawn = { from, to, rate, theme: p.key, width: this.width };
    for (const group of this.groups) for (const r of group.members) this.bars(g, scale, group, r, from, to, rate, p);
  }

  bars(g, scale, group, r, from, to, rate, p) {
    const y = this.rowOf.get(r)[1], tall = group.pitch >= 7;
    const heights = tall ? [Math.min(6, group.pitch * 0.5), 2.4] : [Math.max(1, group.pitch * 0.62), 0];
    this.worlds.forEach((world, side) => {
      const h = heights[side];
      if (!h) return;
      const ended = world.requests.ended[r];
      if (world.requests.arrival[r] > to || ended < from) return;
      this.spans(g, scale, world, r, side ? y + heights[0] + 1.4 : y + (tall ? 1.2 : 0.4), h, (t) => (t - from) * rate, p, side);
    });
  }

  spans(g, scale, world, r, y, h, x, p, side) {
    const role = world.role(r), bar = (a, b, fill) => { g.fillStyle = fill; g.fillRect(x(a), y, Math.max(0.8, x(b) - x(a)), h); };
    let from = world.requests.arrival[r];
    for (let s = world.firstStay[r]; s < world.firstStay[r + 1]; s++) {
      const { from: start, to: stop, why } = world.stays;
      if (start[s] > from) bar(from, start[s], p.waiting);
      bar(start[s], stop[s], p.pale[role]);
      bar(start[s], Math.min(stop[s], world.prefillEnd[s]), p.role[role]);
      from = why[s] === 1 || why[s] === 2 ? stop[s] : NaN;
    }
    if (!Number.isNaN(from)) {
      const ended = world.requests.ended[r];
      bar(from, Number.isNaN(ended) ? world.end : ended, p.waiting);
    }
    const wide = h >= 4;
    for (const [a, b] of this.inversions(world, r)) {
      g.fillStyle = side ? hatch(g, { fg: p.culprit, bg: p.culpritBg, gap: 3, width: 1.2 }, scale) : inversionHatch(g, p, scale);
      const w = Math.max(1, x(b) - x(a));
      g.fillRect(x(a), y, w, h);
      if (wide) { g.strokeStyle = p.culprit; g.lineWidth = 0.9; g.strokeRect(x(a) + 0.45, y + 0.45, Math.max(0.5, w - 0.9), h - 0.9); }
    }
  }

  // Inversion intervals of a request, neighbours joined.
  inversions(world, r) {
    world.joined ??= joinByRequest(world.inverted);
    return world.joined.get(r) ?? [];
  }

  paint(w, p, view) {
    const d = this.drawn, rate = this.plot / (w[1] - w[0]);
    const near = d && Math.abs(d.rate - rate) < 1e-6 * rate && d.theme === p.key && d.width === this.width;
    if (!near || w[0] < d.from || w[1] > d.to) this.render(w, p);
    const [g, scale] = fit(this.canvas, this.width, this.height);
    g.clearRect(0, 0, this.width, this.height);
    this.axis(g, w, p, view);
    if (view.focus !== null) this.tint(g, view.focus, p);
    const shift = (w[0] - this.drawn.from) * rate * scale, wide = Math.round(this.plot * scale);
    g.save();
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.drawImage(this.layer, shift, 0, wide, this.layer.height, Math.round(GUTTER * scale), 0, wide, this.layer.height);
    g.restore();
    g.save();
    g.beginPath(); g.rect(GUTTER - 4, 0, this.plot + 4, this.height); g.clip();
    this.culprit(g, w, p, view);
    if (view.focus !== null) { this.passes(g, w, p, view); this.story(g, w, p, view); }
    this.evictions(g, w, p);
    g.restore();
    this.labels(g, w, p, view);
  }

  axis(g, w, p) {
    const length = w[1] - w[0], steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
    const step = steps.find((s) => (s / length) * this.plot > 62) ?? length;
    g.font = `400 12px ${p.font}`;
    g.textBaseline = "middle";
    g.textAlign = "center";
    for (let k = Math.ceil(w[0] / step); k * step <= w[1]; k++) {
      const x = Math.round(this.x(k * step, w)) + 0.5;
      g.fillStyle = p.line;
      g.fillRect(x - 0.5, AXIS - 3, 1, this.height - AXIS);
      g.fillStyle = p.ink2;
      if (x > GUTTER + 14 && x < this.width - 16) g.fillText(Number((k * step).toFixed(3)) + NARROW_NO_BREAK + "s", x, 8);
    }
    g.textAlign = "left";
  }

  tint(g, r, p) {
    const row = this.rowOf.get(r);
    if (!row || row[0].pitch < 7) return;
    g.fillStyle = p.surface;
    g.beginPath(); g.roundRect(0, row[1] - 1.6, this.width, row[0].pitch + 1, 4); g.fill();
  }

  culprit(g, w, p, { culprit }) {
    const row = culprit === null ? null : this.rowOf.get(culprit);
    if (!row) return;
    const world = this.worlds[0], a = this.x(world.requests.arrival[culprit], w), ended = world.requests.ended[culprit];
    const b = this.x(Number.isNaN(ended) ? world.end : ended, w);
    g.strokeStyle = p.culprit;
    g.lineWidth = 1.5;
    g.strokeRect(Math.max(GUTTER - 2, a), row[1] + 0.2, Math.min(this.width + 2, b) - Math.max(GUTTER - 2, a), Math.max(3, row[0].pitch - 1.6));
  }

  passes(g, w, p, { focus, passed }) {
    g.fillStyle = p.culprit;
    const world = this.worlds[0];
    for (const s of passed) {
      const r = world.stays.request[s], row = this.rowOf.get(r), x = this.x(world.stays.from[s], w);
      if (!row || x < GUTTER || x > this.width) continue;
      const y = row[1] - 1;
      g.beginPath(); g.moveTo(x - 3.6, y - 3); g.lineTo(x + 3.6, y - 3); g.lineTo(x, y + 3.4); g.fill();
    }
  }

  story(g, w, p, { focus, text, after }) {
    const row = this.rowOf.get(focus);
    if (!row || row[0].pitch < 4 || !text) return;
    const world = this.worlds[0], a = this.x(world.requests.arrival[focus], w);
    const wait = world.gap.request.indexOf(focus), b = this.x(wait < 0 ? world.requests.arrival[focus] : world.gap.to[wait], w);
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
  }

  evictions(g, w, p) {
    if (this.evictedY === null) return;
    const side = this.worlds[1]?.preempted.at.length ? 1 : 0, world = this.worlds[side], { at, victim, beneficiary } = world.preempted;
    this.evictedSide = side;
    const groups = [];
    for (let k = 0; k < at.length; k++) {
      const x = this.x(at[k], w), last = groups.at(-1);
      if (x < GUTTER - 20 || x > this.width + 20) continue;
      if (last && x - last.x < 26) last.many++; else groups.push({ x, many: 1, who: beneficiary[k], self: beneficiary[k] === victim[k] });
    }
    g.font = `500 11.5px ${p.font}`;
    g.textBaseline = "middle";
    groups.forEach(({ x, many, who, self }, k) => {
      ringedCross(g, x, this.evictedY, 4.6, p);
      const room = (groups[k + 1]?.x ?? this.width) - x - 16, long = self ? `${many}` : `${many} for ${world.names[who]}`;
      g.fillStyle = p.ink;
      const text = g.measureText(long).width < room ? long : many > 1 && g.measureText(`${many}`).width < room ? `${many}` : "";
      g.fillText(text, x + 8, this.evictedY + 0.5);
    });
  }

  labels(g, w, p, { t, focus, culprit }) {
    const world = this.worlds[0];
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.font = `400 12px ${p.font}`;
    g.fillStyle = p.ink2;
    g.fillText(this.worlds[1] ? "A thick, B thin" : "", GUTTER - 6, 8);
    for (const group of this.groups) {
      const visible = group.members.filter((r) => world.requests.arrival[r] < w[1] && !(world.requests.ended[r] < w[0]));
      if (group.pitch >= 10) this.rowLabels(g, p, group, visible, t, focus, culprit);
      else this.groupLabel(g, p, group, visible, culprit);
    }
    if (this.evictedY !== null) { g.fillStyle = p.ink2; g.font = `400 12px ${p.font}`; g.fillText(`evicted in ${this.evictedSide ? "B" : "A"}`, GUTTER - 6, this.evictedY + 0.5); }
    g.textAlign = "left";
  }

  rowLabels(g, p, group, visible, t, focus, culprit) {
    const world = this.worlds[0], best = new Map();
    for (const r of visible) {
      const ended = world.requests.ended[r], row = this.rowOf.get(r)[1];
      const far = t < world.requests.arrival[r] ? world.requests.arrival[r] - t : t > ended ? t - ended + 0.01 : -1;
      if (r === focus || r === culprit || far < (best.get(row)?.far ?? Infinity)) best.set(row, { r, far: r === focus || r === culprit ? -2 : far });
    }
    for (const [y, { r }] of best) {
      const strong = r === focus || r === culprit;
      g.font = `${strong ? 650 : 400} 12px ${p.font}`;
      g.fillStyle = p.ink;
      g.fillText(short(g, world.names[r], GUTTER - 24), GUTTER - 18, y + 5);
      if (r === culprit) flag(g, GUTTER - 13, y + 4.6, 8.5, p.culprit); else mark(g, group.role, GUTTER - 9, y + 4.6, 8, p.role[group.role]);
    }
  }

  groupLabel(g, p, group, visible, culprit) {
    const y = group.top + Math.min(8, (group.count * group.pitch) / 2);
    g.font = `500 12px ${p.font}`;
    g.fillStyle = p.ink;
    g.fillText(short(g, this.worlds[0].head.classes[group.c], GUTTER - 24), GUTTER - 18, y);
    mark(g, group.role, GUTTER - 9, y, 8, p.role[group.role]);
    if (group.count * group.pitch < 26) return;
    g.font = `400 11.5px ${p.font}`;
    g.fillStyle = p.ink3;
    g.fillText(`${count(visible.length)} in view`, GUTTER - 6, y + 14);
  }

  // The request under a point.
  at(x, y, w) {
    if (x < GUTTER) return null;
    const t = w[0] + ((x - GUTTER) / this.plot) * (w[1] - w[0]), world = this.worlds[0], pad = (4 * (w[1] - w[0])) / this.plot;
    for (const group of this.groups) {
      const row = Math.floor((y - group.top) / group.pitch);
      if (row < 0 || row >= group.count) continue;
      for (const r of group.members) {
        const stop = Math.max(...this.worlds.map((one) => (Number.isNaN(one.requests.ended[r]) ? one.end : one.requests.ended[r])));
        if (group.row.get(r) % group.count === row && world.requests.arrival[r] - pad <= t && t <= stop + pad) return r;
      }
    }
    return null;
  }
}

function joinByRequest(inverted) {
  const found = new Map();
  for (const [a, b, r] of inverted) {
    const list = found.get(r) ?? [], last = list.at(-1);
    if (last && a - last[1] < 1e-6) last[1] = Math.max(last[1], b); else list.push([a, b]);
    found.set(r, list);
  }
  return found;
}
