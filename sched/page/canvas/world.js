// A run, ready for questions: which iteration is it, who is in the batch, what does each hold, where do its blocks lie.

const DECODE = 1, PREFILL = 0;
const FREE = -1;
const MOST_CELLS = 10000;                    // above that a cell stands for several blocks of one owner
const INVERSION = [false, false, false, true, true, true];       // by cause code

// Index of the last value <= x in a sorted array, -1 (or what stands before `low`) if there is none.
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
      pieces: run.pieces, preempted: run.preempted, waits: run.waits, asked: run.asked, stretches: run.stretches });
    this.n = this.requests.arrival.length;
    this.nStays = this.stays.request.length;
    const numbers = head.ids ? null : head.numbers.split(","), { cls, level } = this.requests;
    this.names = head.ids ?? numbers.slice(0, this.n).map((number, r) => `${head.classes[cls[r]]}-${number}`);
    this.shown = [];
    this.classNames = head.classes.map(displayed);
    this.kept = head.kept && head.kept.kv > 0 && head.machine.kv < 2 ** 30 ? head.kept : null;
    this.isFlat = level.every((one) => one === level[0]);
    this.roles = this.looksOfClasses();
    this.clock(run.stretches);
    this.index();
    this.plan();
    this.indexWaits();
  }

  // Each class has one of three looks: the most urgent level, the least urgent one, all between; with one level in turn.
  looksOfClasses() {
    const { levels } = this.head;
    if (this.isFlat) return levels.map((_, c) => (c + 1) % 3);
    const present = new Set(this.requests.cls), last = Math.max(0, ...levels.filter((_, c) => present.has(c)));
    return levels.map((level) => (level === 0 ? 0 : level >= last ? 2 : 1));
  }

  name(r) { return (this.shown[r] ??= displayed(this.names[r])); }
  className(c) { return this.classNames[c]; }
  role(r) { return this.roles[this.requests.cls[r]]; }
  isUrgent(r) { return this.requests.level[r] === 0; }

  clock({ start, count, first, step }) {
    let total = 0;
    for (const c of count) total += c;
    const unit = this.head.unit_s;
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
    const { request, iteration, known, to, seq } = this.stays, { before, tokens, iteration: at, stay } = this.pieces;
    this.firstStay = offsets(request, this.n);
    this.firstPiece = offsets(stay, this.nStays);
    this.bySeq = counted(seq, this.nStays);
    this.admittedAt = pick(iteration, this.bySeq);
    this.admittedTime = new Float64Array(this.nStays);
    this.roleOfStay = new Uint8Array(this.nStays);
    this.lowerStay = new Uint8Array(this.nStays);
    this.prefillEnd = new Float64Array(this.nStays);
    for (let s = 0; s < this.nStays; s++) {
      this.admittedTime[s] = this.stays.from[this.bySeq[s]];
      this.roleOfStay[s] = this.role(request[s]);
      this.lowerStay[s] = this.isUrgent(request[s]) ? 0 : 1;
      let end = to[s];
      for (let p = this.firstPiece[s]; p < this.firstPiece[s + 1]; p++) if (before[p] + tokens[p] >= known[s]) { end = this.finish[at[p]]; break; }
      this.prefillEnd[s] = end;
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
    const peak = this.machine.gate === "peak", { block } = this.machine, { iteration, before, tokens, count } = this.pieces;
    let at = new Int32Array(4096), who = new Int32Array(4096), many = new Int32Array(4096), n = 0, held = 0, s = 0;
    const grant = (i, blocks) => {
      if (blocks <= held) return;
      if (n === at.length) [at, who, many] = [at, who, many].map((old) => { const wider = new Int32Array(2 * n); wider.set(old); return wider; });
      at[n] = i; who[n] = s; many[n++] = blocks - held;
      held = blocks;
    };
    for (let k = 0; k < this.nStays; k++) {
      s = this.bySeq[k];
      held = 0;
      grant(this.stays.iteration[s], this.blocks(peak ? this.life(this.stays.request[s]) : this.stays.hit[s]));
      for (let p = this.firstPiece[s]; p < this.firstPiece[s + 1]; p++) {
        if (tokens[p] !== 1) { grant(iteration[p], this.blocks(before[p] + tokens[p])); continue; }
        for (let j = held * block - before[p]; j < count[p]; j += block) if (j >= 0) grant(iteration[p] + j, held + 1);
      }
    }
    const order = counted(at.subarray(0, n), this.iterations + 1), ends = counted(this.stays.end, this.iterations + 2);
    this.grants = { at: pick(at, order), who: pick(who, order), many: pick(many, order) };
    this.releases = { at: pick(this.stays.end, ends), who: ends };
    this.capacity = this.machine.kv;
    if (this.capacity > 2 ** 30) this.capacity = Math.max(60, Math.ceil(1.1 * this.mostUsed() / 60) * 60);
    this.perCell = Math.max(1, Math.ceil(this.capacity / MOST_CELLS));
    this.cells = Math.ceil(this.capacity / this.perCell);
    this.keptCells = this.kept ? Math.round(this.kept.kv / this.perCell) : 0;
    this.gap = Math.max(1, Math.ceil(this.iterations / 48));          // iterations between two remembered maps
    this.marks = new Map();
    this.state = new Blocks(this);
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

  // The memory map as it stands in iteration i. Cells keep their place: a block takes the lowest free cell when it is
  // granted (where there is a buffer, an urgent block takes the highest) and keeps it until it is given back.
  seek(i, idle = false) {
    if (i < this.state.i || (i === this.state.i && this.state.idle && !idle) || i > this.state.i + 2 * this.gap) this.restore(i);
    const now = this.state;
    while (now.i < i) {
      const next = Math.min(i, (Math.floor(now.i / this.gap) + 1) * this.gap);
      now.advance(next);
      if (next % this.gap === 0 && !this.marks.has(next)) this.marks.set(next, now.copy());
    }
    if (idle) now.release(i + 1);
    now.idle = idle;
    return now;
  }

  restore(i) {
    let best = -1;
    for (const mark of this.marks.keys()) if (mark <= i && mark > best) best = mark;
    if (i >= this.state.i && best <= this.state.i) return;
    const epoch = this.state.epoch + 1;
    this.state = best < 0 ? new Blocks(this) : this.marks.get(best).copy();
    this.state.epoch = epoch;
  }

  // Blocks of a set-aside of which `urgent` are in use that a request may not take though they are free.
  closedTo(state, r) {
    const { kept } = this;
    if (!kept || this.requests.level[r] < kept.levels) return 0;
    const idle = Math.max(0, kept.kv - state.urgent);
    return kept.lend ? idle - Math.floor(kept.share * idle + 0.5) : idle;
  }

  // The buffer by the policy's own count, in blocks: what urgent requests use of it, what is on loan, what lies idle.
  buffer(state) {
    if (!this.kept) return null;
    const size = this.kept.kv, lent = Math.min(size, Math.max(0, state.others - (this.capacity - size))), used = Math.min(state.urgent, size - lent);
    return { urgent: used, lent, idle: Math.max(0, size - lent - used) };
  }

  running(i, idle) { return idle || i < 0 ? [] : this.state.batch; }

  // The stay of a request that is in the batch of this view, else null.
  stayOf(r, view) {
    if (r === null || view.idle || view.i < 0) return null;
    for (let s = this.firstStay[r]; s < this.firstStay[r + 1]; s++) if (this.stays.iteration[s] <= view.i && this.stays.end[s] > view.i) return s;
    return null;
  }
}

// First row of each of n groups in a column that names groups, rows of a group standing together.
function offsets(group, n) {
  const first = new Int32Array(n + 1);
  for (let k = 0; k < group.length; k++) first[group[k] + 1]++;
  for (let k = 0; k < n; k++) first[k + 1] += first[k];
  return first;
}

// Order of items by a small whole number, equal ones as they came.
function counted(keys, size) {
  const start = new Int32Array(size + 2), order = new Int32Array(keys.length);
  for (let k = 0; k < keys.length; k++) start[Math.min(keys[k], size) + 1]++;
  for (let k = 0; k <= size; k++) start[k + 1] += start[k];
  for (let k = 0; k < keys.length; k++) order[start[Math.min(keys[k], size)]++] = k;
  return order;
}

function pick(values, order) {
  const found = new Int32Array(order.length);
  for (let k = 0; k < order.length; k++) found[k] = values[order[k]];
  return found;
}
