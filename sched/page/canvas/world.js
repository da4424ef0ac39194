// A run, ready for questions: which iteration is it, who is in the batch, what does each hold, where do its blocks lie.

const DECODE = 1, PREFILL = 0;
const FREE = -1;
const MOST_CELLS = 4000;                     // above that a cell stands for several blocks of one owner
const INVERSION = [false, false, false, true, true, true];       // by cause code
const CAUSE = ["the iteration in progress", "urgent work before it", "what is kept for others", "KV memory", "tokens", "seats"];

// Index of the last value <= x in a sorted array, -1 if there is none.
function lastAtMost(values, x, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle + 1; else high = middle;
  }
  return low - 1;
}

class World {
  constructor(run) {
    const head = run.head;
    Object.assign(this, { head, machine: head.machine, end: head.end_s, requests: run.requests, stays: run.stays,
      pieces: run.pieces, preempted: run.preempted, waits: run.waits });
    this.n = this.requests.arrival.length;
    this.nStays = this.stays.request.length;
    this.names = head.ids ?? head.numbers.split(",").map((number, r) => `${head.classes[this.requests.cls[r]]}-${number}`);
    this.kept = head.kept && head.kept.kv > 0 && head.machine.kv < 2 ** 30 ? head.kept : null;
    this.clock(run.stretches);
    this.index();
    this.plan();
    this.gaps();
  }

  // Each class has one of three looks: the most urgent level, the least urgent one, all between; with one level in turn.
  get roles() {
    if (this._roles) return this._roles;
    const levels = this.head.levels.filter((_, c) => this.requests.cls.includes(c));
    const last = Math.max(...levels, 0);
    if (this.isFlat) return (this._roles = this.head.levels.map((_, c) => (c + 1) % 3));
    return (this._roles = this.head.levels.map((level) => (level === 0 ? 0 : level >= last ? 2 : 1)));
  }

  get isFlat() { return (this._flat ??= new Set(this.requests.level).size < 2); }

  role(r) { return this.roles[this.requests.cls[r]]; }
  isUrgent(r) { return this.requests.level[r] === 0; }

  clock({ start, count, first, step }) {
    const total = count.reduce((sum, c) => sum + c, 0), unit = this.head.unit_s;
    this.begin = new Float64Array(total);
    this.finish = new Float64Array(total);
    for (let s = 0, i = 0; s < count.length; s++) {
      let t = start[s], length = first[s];
      for (let j = 0; j < count[s]; j++, i++) {
        this.begin[i] = t;
        t += length;
        length += step[s] * unit / 1000;
        this.finish[i] = t;
      }
      if (s + 1 < start.length && Math.abs(start[s + 1] - t) < 2e-6 * count[s] + 2 * unit) this.finish[i - 1] = start[s + 1];
    }
    this.iterations = total;
  }

  // The iteration that holds the moment, and whether it is still in progress (else the engine is idle).
  moment(t) {
    const i = lastAtMost(this.begin, t + 1e-9);
    return { i, busy: i >= 0 && t < this.finish[i] };
  }

  index() {
    const { request, iteration } = this.stays;
    this.firstStay = new Int32Array(this.n + 1);
    for (let s = 0; s < this.nStays; s++) this.firstStay[request[s] + 1]++;
    for (let r = 0; r < this.n; r++) this.firstStay[r + 1] += this.firstStay[r];
    this.firstPiece = new Int32Array(this.nStays + 1);
    for (const s of this.pieces.stay) this.firstPiece[s + 1]++;
    for (let s = 0; s < this.nStays; s++) this.firstPiece[s + 1] += this.firstPiece[s];
    this.bySeq = Int32Array.from({ length: this.nStays }, (_, s) => s).sort((a, b) => this.stays.seq[a] - this.stays.seq[b]);
    this.admittedAt = Int32Array.from(this.bySeq, (s) => iteration[s]);
    this.prefillEnd = new Float64Array(this.nStays);
    for (let s = 0; s < this.nStays; s++) {
      let end = NaN;
      for (let p = this.firstPiece[s]; p < this.firstPiece[s + 1]; p++) {
        if (this.pieces.before[p] + this.pieces.tokens[p] >= this.stays.known[s]) { end = this.finish[this.pieces.iteration[p]]; break; }
      }
      this.prefillEnd[s] = Number.isNaN(end) ? this.stays.to[s] : end;
    }
  }

  blocks(tokens) { return Math.ceil(tokens / this.machine.block); }

  life(r) {
    const total = this.requests.prompt[r] + this.requests.output[r];
    return Math.max(1, (this.machine.max_len ? Math.min(total, this.machine.max_len) : total) - 1);
  }

  // Tokens whose KV is computed, or scheduled, by the end of iteration i.
  computed(s, i) {
    const p = lastAtMost(this.pieces.iteration, i, this.firstPiece[s], this.firstPiece[s + 1]);
    if (p < this.firstPiece[s]) return this.stays.hit[s];
    const { iteration, before, tokens, count } = this.pieces;
    return before[p] + (tokens[p] === 1 ? Math.min(i - iteration[p] + 1, count[p]) : tokens[p]);
  }

  // What a stay does in iteration i: [tokens, kind], or null.
  work(s, i) {
    const p = lastAtMost(this.pieces.iteration, i, this.firstPiece[s], this.firstPiece[s + 1]);
    if (p < this.firstPiece[s] || i >= this.pieces.iteration[p] + this.pieces.count[p]) return null;
    return [this.pieces.tokens[p], this.pieces.before[p] >= this.stays.known[s] ? DECODE : PREFILL];
  }

  // Every grant of blocks, by iteration and in it by admission; stays give all back at their end.
  plan() {
    const peak = this.machine.gate === "peak", block = this.machine.block;
    const at = [], who = [], many = [];
    let most = 0;
    for (const s of this.bySeq) {
      let held = 0;
      const grant = (i, blocks) => { if (blocks > held) { at.push(i); who.push(s); many.push(blocks - held); held = blocks; } };
      grant(this.stays.iteration[s], this.blocks(peak ? this.life(this.stays.request[s]) : this.stays.hit[s]));
      for (let p = this.firstPiece[s]; p < this.firstPiece[s + 1]; p++) {
        const { iteration, before, tokens, count } = this.pieces;
        if (tokens[p] !== 1) { grant(iteration[p], this.blocks(before[p] + tokens[p])); continue; }
        for (let j = held * block - before[p]; j < count[p]; j += block) if (j >= 0) grant(iteration[p] + j, held + 1);
      }
      most = Math.max(most, held);
    }
    const order = counted(at, this.iterations + 1);
    this.grants = { at: pick(at, order), who: pick(who, order), many: pick(many, order) };
    const ends = counted(this.stays.end, this.iterations + 2);
    this.releases = { at: pick(this.stays.end, ends), who: ends };
    this.capacity = this.machine.kv;
    if (this.capacity > 2 ** 30) this.capacity = Math.max(60, Math.ceil(1.1 * this.mostUsed() / 60) * 60);
    this.perCell = Math.max(1, Math.ceil(this.capacity / MOST_CELLS));
    this.cells = Math.ceil(this.capacity / this.perCell);
    this.keptCells = this.kept ? Math.round(this.kept.kv / this.perCell) : 0;
    this.every = Math.max(2, this.end / 64);
    this.marks = new Map();
    this.state = this.blank();
  }

  mostUsed() {
    const { at, many, who } = this.grants, total = new Int32Array(this.nStays);
    let used = 0, most = 0, out = 0;
    for (let g = 0; g < at.length; g++) {
      for (; out < this.nStays && this.releases.at[out] <= at[g]; out++) used -= total[this.releases.who[out]];
      total[who[g]] += many[g];
      most = Math.max(most, (used += many[g]));
    }
    return most;
  }

  blank() {
    return { i: -1, grant: 0, release: 0, stamp: 0, owner: new Int32Array(this.cells).fill(FREE), stamps: new Int32Array(this.cells),
      held: new Int32Array(this.nStays), cellsOf: new Int32Array(this.nStays), low: 0, high: this.cells - 1, changed: [] };
  }

  // The memory map as it stands in iteration i. Cells keep their place: a block takes the lowest free cell when it is
  // granted (where there is a buffer, an urgent block takes the highest) and keeps it until it is given back.
  seek(i, idle = false) {
    const s = this.state, releaseTo = idle ? i + 1 : i;
    if (i < s.i || (i === s.i && s.idle && !idle)) this.restore(i);
    const gap = Math.max(1, Math.round(this.every / Math.max(1e-9, this.end / Math.max(1, this.iterations))));
    this.state.changed = [];
    const now = this.state;
    while (now.i < i) {
      const next = Math.min(i, (Math.floor(now.i / gap) + 1) * gap);
      this.advance(next);
      if (next % gap === 0 && !this.marks.has(next)) this.marks.set(next, freeze(now));
    }
    if (idle) for (; now.release < this.nStays && this.releases.at[now.release] <= releaseTo; now.release++) this.giveBack(this.releases.who[now.release]);
    now.idle = idle;
    return now;
  }

  restore(i) {
    let best = -1;
    for (const mark of this.marks.keys()) if (mark <= i && mark > best) best = mark;
    this.state = best < 0 ? this.blank() : thaw(this.marks.get(best));
  }

  advance(to) {
    const now = this.state, { at, who, many } = this.grants, ends = this.releases;
    for (;;) {
      const grantAt = now.grant < at.length ? at[now.grant] : Infinity;
      const releaseAt = now.release < this.nStays ? ends.at[now.release] : Infinity;
      if (Math.min(grantAt, releaseAt) > to) break;
      if (releaseAt <= grantAt) this.giveBack(ends.who[now.release++]);
      else { this.take(who[now.grant], many[now.grant]); now.grant++; }
    }
    now.i = to;
  }

  giveBack(s) {
    const now = this.state;
    let left = now.cellsOf[s];
    for (let c = 0; left > 0 && c < this.cells; c++) {
      if (now.owner[c] !== s) continue;
      now.owner[c] = FREE;
      now.changed.push(c, s);
      left--;
      if (c < now.low) now.low = c;
      if (c > now.high) now.high = c;
    }
    now.cellsOf[s] = now.held[s] = 0;
  }

  take(s, blocks) {
    const now = this.state, fromTop = this.kept && this.isUrgent(this.stays.request[s]);
    now.held[s] += blocks;
    const want = this.perCell === 1 ? now.held[s] : Math.max(1, Math.round(now.held[s] / this.perCell));
    for (; now.cellsOf[s] < want; now.cellsOf[s]++) {
      if (fromTop) while (now.high >= 0 && now.owner[now.high] !== FREE) now.high--;
      else while (now.low < this.cells && now.owner[now.low] !== FREE) now.low++;
      const cell = fromTop ? now.high : now.low;
      if (cell < 0 || cell >= this.cells) return;                          // rounding of cells that stand for several blocks
      now.owner[cell] = s;
      now.stamps[cell] = ++now.stamp;
      now.changed.push(cell, FREE);
    }
  }

  // The buffer by the policy's own count, in blocks: what urgent requests use of it, what is on loan, what lies idle.
  buffer(state) {
    if (!this.kept) return null;
    let urgent = 0, others = 0;
    for (let s = 0; s < this.nStays; s++) if (state.held[s]) { if (this.isUrgent(this.stays.request[s])) urgent += state.held[s]; else others += state.held[s]; }
    const size = this.kept.kv, lent = Math.min(size, Math.max(0, others - (this.capacity - size))), used = Math.min(urgent, size - lent);
    return { urgent: used, lent, idle: Math.max(0, size - lent - used) };
  }

  // Waiting intervals of all requests, by their start: arrival to admission, eviction to return.
  gaps() {
    const rows = [];
    for (let r = 0; r < this.n; r++) {
      let from = this.requests.arrival[r];
      for (let s = this.firstStay[r]; s < this.firstStay[r + 1]; s++) {
        rows.push([from, this.stays.from[s], r, s]);
        from = this.stays.why[s] === 1 || this.stays.why[s] === 2 ? this.stays.to[s] : NaN;
      }
      if (!Number.isNaN(from)) {
        const ended = this.requests.ended[r];
        rows.push([from, Number.isNaN(ended) ? this.end : ended, r, -1]);
      }
    }
    rows.sort((a, b) => a[0] - b[0]);
    this.gap = { from: Float64Array.from(rows, (w) => w[0]), to: Float64Array.from(rows, (w) => w[1]),
      request: Int32Array.from(rows, (w) => w[2]), stay: Int32Array.from(rows, (w) => w[3]) };
    this.inverted = [];
    const { request, from, to, cause } = this.waits;
    for (let w = 0; w < request.length; w++) if (INVERSION[cause[w]] && this.isUrgent(request[w])) this.inverted.push([from[w], to[w], request[w]]);
    this.inverted.sort((a, b) => a[0] - b[0]);
    this.episodes = [];                        // stretches of time in which some urgent request waits in inversion
    for (const [a, b] of this.inverted) {
      const last = this.episodes.at(-1);
      if (last && a <= last[1] + 1e-6) last[1] = Math.max(last[1], b); else this.episodes.push([a, b]);
    }
  }

  // Who waits at time t, most urgent and oldest first: [request, since, until].
  waiting(t) {
    const found = [], { from, to, request } = this.gap;
    const last = lastAtMost(from, t);
    for (let w = 0; w <= last; w++) if (to[w] > t && to[w] > from[w]) found.push([request[w], from[w], to[w]]);
    const { level, arrival } = this.requests;
    return found.sort((a, b) => level[a[0]] - level[b[0]] || arrival[a[0]] - arrival[b[0]] || a[0] - b[0]);
  }

  running(i, idle) {
    if (idle || i < 0) return [];
    const found = [];
    for (let k = lastAtMost(this.admittedAt, i); k >= 0; k--) if (this.stays.end[this.bySeq[k]] > i) found.push(this.bySeq[k]);
    return found.reverse();
  }

  // Cause code of a request's wait at time t, -1 when it is not classified.
  cause(r, t) {
    const { request, from, to, cause } = this.waits;
    for (let w = 0; w < request.length; w++) if (request[w] === r && from[w] <= t && t < to[w]) return cause[w];
    return -1;
  }

  needs(r) {                                   // blocks that the gate asks for at admission
    const gate = this.machine.gate;
    if (gate === "peak") return this.blocks(this.life(r));
    const prompt = this.requests.prompt[r];
    return this.blocks(gate === "first_chunk" ? Math.min(prompt, this.machine.budget) : prompt);
  }

  // Admissions of less urgent requests while r waited, up to t: stays.
  passed(r, t) {
    const found = [], level = this.requests.level;
    for (let w = 0; w < this.gap.from.length && this.gap.from[w] <= t; w++) {
      if (this.gap.request[w] !== r) continue;
      for (let s = 0; s < this.nStays; s++) {
        const at = this.stays.from[s];
        if (at > this.gap.from[w] && at < Math.min(this.gap.to[w], t + 1e-9) && level[this.stays.request[s]] > level[r]) found.push(s);
      }
    }
    return found.sort((a, b) => this.stays.from[a] - this.stays.from[b]);
  }

  // The most urgent request that waited longest: {r, from, to, total}.
  worst() {
    const total = new Float64Array(this.n), first = new Map();
    for (let w = 0; w < this.gap.from.length; w++) {
      const r = this.gap.request[w], length = this.gap.to[w] - this.gap.from[w];
      total[r] += length;
      if (!first.has(r) || length > first.get(r).to - first.get(r).from) first.set(r, { from: this.gap.from[w], to: this.gap.to[w] });
    }
    let best = null;
    for (let r = 0; r < this.n; r++) if (this.isUrgent(r) && total[r] > (best?.total ?? 0)) best = { r, total: total[r], ...first.get(r) };
    return best;
  }

  inversionOf(r) { return this.inverted.reduce((sum, w) => sum + (w[2] === r ? w[1] - w[0] : 0), 0); }
  waitOf(r) { let sum = 0; for (let w = 0; w < this.gap.from.length; w++) if (this.gap.request[w] === r) sum += this.gap.to[w] - this.gap.from[w]; return sum; }
}

// Order of items by a small whole number, equal ones as they came.
function counted(keys, size) {
  const start = new Int32Array(size + 2), order = new Int32Array(keys.length);
  for (let k = 0; k < keys.length; k++) start[Math.min(keys[k], size) + 1]++;
  for (let k = 0; k <= size; k++) start[k + 1] += start[k];
  for (let k = 0; k < keys.length; k++) order[start[Math.min(keys[k], size)]++] = k;
  return order;
}

function pick(values, order) { return Int32Array.from(order, (k) => values[k]); }
function freeze(s) { return { ...s, owner: s.owner.slice(), held: s.held.slice(), cellsOf: s.cellsOf.slice(), stamps: s.stamps.slice(), changed: [], idle: false }; }
function thaw(s) { return freeze(s); }
