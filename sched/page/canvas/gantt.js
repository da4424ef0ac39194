// All requests on one time axis: A thick, B thin beneath it. Bars are drawn once, on tiles; a frame only moves them.

const AXIS = 20, GUTTER = 88, TILE = 256;
const PITCH = [12.6, 6, 11.6];                               // by role: the height of a row where there is room
const SHRINK = [[1, 2.6], [0, 7.5], [1, 1.5], [2, 6], [0, 2.6], [2, 2.2]];      // who gives way first, and down to what
const MOST_ROWS = 240;                                       // of one class; beyond that they share rows

// Rows of a class: requests in order of arrival go round the rows, so that neighbours in time lie beneath each other.
function rowsOf(requests, begin, end, wanted) {
  const ends = new Array(Math.min(wanted, requests.length)).fill(-Infinity), row = new Map();
  let last = -1;
  for (const r of requests) {
    let best = -1;
    for (let k = 1; k <= ends.length && best < 0; k++) if (ends[(last + k) % ends.length] <= begin(r)) best = (last + k) % ends.length;
    if (best < 0) best = ends.length < MOST_ROWS ? ends.push(-Infinity) - 1 : (last + 1) % ends.length;
    ends[best] = Math.max(ends[best], end(r));
    row.set(r, best);
    last = best;
  }
  return { row, count: ends.length };
}

class Gantt {
  constructor(canvas, gutter) { this.canvas = canvas; this.gutter = gutter; this.tiles = new Map(); }

  // Rows for these two runs in this width; returns the height that they take.
  arrange(worlds, width, most) {
    this.worlds = worlds;
    this.width = width;
    this.tiles.clear();
    const [A, B] = worlds, groups = [];
    const classes = A.head.classes.map((_, c) => c).sort((a, b) => A.head.levels[a] - A.head.levels[b] || a - b);
    const members = A.head.classes.map(() => []), pad = 0.004 * A.end;
    const stop = (world, r) => (Number.isNaN(world.requests.ended[r]) ? world.end : world.requests.ended[r]);
    this.stops = Float64Array.from({ length: A.n }, (_, r) => Math.max(stop(A, r), B ? stop(B, r) : 0));
    for (let r = 0; r < A.n; r++) members[A.requests.cls[r]].push(r);
    for (const c of classes) {
      if (!members[c].length) continue;
      const role = A.roles[c], packed = rowsOf(members[c], (r) => A.requests.arrival[r], (r) => this.stops[r] + pad, role === 0 ? 9 : 1);
      groups.push({ c, role, members: members[c], ...packed, pitch: role === 1 && packed.count <= 8 ? PITCH[0] : PITCH[role] });
    }
    const preemptions = worlds.some((world) => world.preempted.at.length), room = most - AXIS - (preemptions ? 18 : 4) - 7 * groups.length;
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
    this.groupOf = [];
    for (const g of groups) this.groupOf[g.c] = g;
    this.preemptedY = preemptions ? y + 6 : null;
    this.height = Math.ceil(preemptions ? y + 16 : y);
    return this.height;
  }

  // The group of a request and the top of its row.
  rowOf(r) {
    const g = r === null ? undefined : this.groupOf[this.worlds[0].requests.cls[r]];
    return g ? [g, g.top + (g.row.get(r) % g.count) * g.pitch] : null;
  }

  get plot() { return this.width - GUTTER; }
  x(t, w) { return GUTTER + ((t - w[0]) / (w[1] - w[0])) * this.plot; }

  // The tiles of this scale that a window touches, drawn where they are not yet; while it moves the next one is drawn when the browser has time.
  cover(w, p, ahead) {
    const rate = this.plot / (w[1] - w[0]), { drawn } = this;
    if (!drawn || Math.abs(drawn.rate - rate) > 1e-6 * rate || drawn.theme !== p.key || drawn.width !== this.width || !this.tiles.size) {
      this.tiles.clear();
      this.drawn = { rate, theme: p.key, width: this.width };
      this.preemption = this.preemptions(rate, p);
    }
    const first = Math.floor((w[0] * this.drawn.rate) / TILE), last = Math.floor((w[1] * this.drawn.rate) / TILE);
    for (let k = first; k <= last; k++) if (!this.tiles.has(k)) this.tiles.set(k, this.tile(k, p));
    if (ahead && !this.tiles.has(last + 1)) this.soon(last + 1, p);
    if (this.tiles.size > 3 * (last - first + 2)) for (const k of this.tiles.keys()) if (k < first - 1 || k > last + 2) this.tiles.delete(k);
    return [first, last];
  }

  soon(k, p) {
    if (this.awaited) return;
    const { drawn } = this, act = () => { this.awaited = false; if (this.drawn === drawn && this.tiles.size && !this.tiles.has(k)) this.tiles.set(k, this.tile(k, p)); };
    this.awaited = true;
    if (globalThis.requestIdleCallback) requestIdleCallback(act, { timeout: 500 }); else setTimeout(act, 30);
  }

  tile(k, p) {
    const canvas = document.createElement("canvas"), [g, scale] = fit(canvas, TILE, this.height), { rate } = this.drawn;
    const from = (k * TILE) / rate, to = ((k + 1) * TILE) / rate, { arrival } = this.worlds[0].requests;
    const step = this.axisStep(rate);
    g.fillStyle = p.line;
    for (let n = Math.ceil((from - 1 / rate) / step); n * step <= to; n++) g.fillRect(Math.round((n * step - from) * rate), AXIS - 3, 1, this.height - AXIS);
    for (const group of this.groups) {
      for (const r of group.members) {
        if (arrival[r] > to) break;                                                   // in order of arrival
        if (this.stops[r] >= from) this.bars(g, scale, group, r, from, rate, p);
      }
    }
    for (const one of this.preemption) if (one.x > k * TILE - 180 && one.x < (k + 1) * TILE + 20) this.preempted(g, one, k * TILE, p);
    return canvas;
  }

  bars(g, scale, group, r, from, rate, p) {
    const y = group.top + (group.row.get(r) % group.count) * group.pitch, tall = group.pitch >= 7;
    const thick = tall ? Math.min(6, group.pitch * 0.5) : Math.max(1, group.pitch * 0.62), x = (t) => Math.max(-8, Math.min(TILE + 8, (t - from) * rate));
    this.spans(g, scale, this.worlds[0], r, y + (tall ? 1.2 : 0.4), thick, x, p, 0);
    if (tall && this.worlds[1]) this.spans(g, scale, this.worlds[1], r, y + thick + 1.4, 2.4, x, p, 1);
  }

  spans(g, scale, world, r, y, h, x, p, side) {
    const role = world.role(r);
    const bar = (a, b, fill) => { const left = x(a), right = x(b); if (right < 0 || left > TILE) return; g.fillStyle = fill; g.fillRect(left, y, Math.max(0.8, right - left), h); };
    const { from: start, to: stop, request: asker } = world.asked;
    for (let w = world.firstAsked[r]; w < world.firstAsked[r + 1]; w++) bar(start[w], stop[w], p.waiting);
    const { from: began, to: ended } = world.stays;
    for (let s = world.firstStay[r]; s < world.firstStay[r + 1]; s++) {
      bar(began[s], ended[s], p.pale[role]);
      bar(began[s], Math.min(ended[s], world.prefillEnd[s]), p.role[role]);
    }
    const { cause, from, to } = world.waits;
    if (!world.isUrgent(r)) return;
    for (let w = world.firstWait[r], next; w < world.firstWait[r + 1]; w = next) {
      next = w + 1;
      if (!INVERSION[cause[w]]) continue;
      while (next < world.firstWait[r + 1] && INVERSION[cause[next]] && from[next] - to[next - 1] < 1e-6) next++;
      const a = x(from[w]), b = x(to[next - 1]), wide = Math.max(1, b - a);
      if (b < 0 || a > TILE) continue;
      g.fillStyle = side ? hatch(g, { fg: p.culprit, bg: p.culpritBg, gap: 3, width: 1.2 }, scale) : inversionHatch(g, p, scale);
      g.fillRect(a, y, wide, h);
      if (h >= 4) { g.strokeStyle = p.culprit; g.lineWidth = 0.9; g.strokeRect(a + 0.45, y + 0.45, Math.max(0.5, wide - 0.9), h - 0.9); }
    }
  }

  paint(w, p, view) {
    const rate = this.plot / (w[1] - w[0]), rough = view.rough && this.tiles.size && this.drawn.theme === p.key;
    const [first, last] = rough ? [-Infinity, Infinity] : this.cover(w, p, view.playing);
    const [g, scale] = fit(this.canvas, this.width, this.height);
    g.clearRect(0, 0, this.width, this.height);
    if (view.focus !== null) this.tint(g, view.focus, p);
    g.save();
    g.beginPath(); g.rect(GUTTER - 4, 0, this.plot + 4, this.height); g.clip();
    const wide = (TILE * rate) / this.drawn.rate;
    for (const [k, tile] of this.tiles) {
      if (k < first || k > last) continue;
      const x = rough ? this.x((k * TILE) / this.drawn.rate, w) : Math.round((GUTTER + k * TILE - w[0] * this.drawn.rate) * scale) / scale;
      if (x < this.width && x + wide > GUTTER) g.drawImage(tile, x, 0, wide, this.height);
    }
    this.culprit(g, w, p, view);
    if (view.focus !== null) { this.passes(g, w, p, view); this.story(g, w, p, view); }
    g.restore();
    this.axis(g, w, p);
    if (view.wordy) this.labels(w, p, view);
  }

  // The request under a point.
  at(x, y, w) {
    if (x < GUTTER) return null;
    const t = w[0] + ((x - GUTTER) / this.plot) * (w[1] - w[0]), { arrival } = this.worlds[0].requests, pad = (4 * (w[1] - w[0])) / this.plot;
    for (const group of this.groups) {
      const row = Math.floor((y - group.top) / group.pitch);
      if (row < 0 || row >= group.count) continue;
      for (const r of group.members) if (arrival[r] - pad <= t && t <= this.stops[r] + pad && group.row.get(r) % group.count === row) return r;
    }
    return null;
  }
}
