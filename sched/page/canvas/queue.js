// The queue of a run: who waits at a moment, why, who went past; and what was decided last. All of it is looked up.

Object.assign(World.prototype, {
  // Waiting intervals, by request and time: arrival to admission, preemption to return; `need` in blocks.
  indexWaits() {
    const { request, from, to } = this.asked, { level, arrival } = this.requests, n = request.length;
    this.firstAsked = offsets(request, this.n);
    this.total = new Float64Array(this.n);
    for (let w = 0; w < n; w++) this.total[request[w]] += to[w] - from[w];
    this.byFrom = Int32Array.from({ length: n }, (_, w) => w).sort((a, b) => from[a] - from[b]);
    this.fromTimes = new Float64Array(n);
    for (let w = 0; w < n; w++) this.fromTimes[w] = from[this.byFrom[w]];
    this.queue = { t: -1, next: 0, active: [] };
    this.order = (a, b) => level[request[a]] - level[request[b]] || arrival[request[a]] - arrival[request[b]] || request[a] - request[b];
    this.firstWait = offsets(this.waits.request, this.n);
    this.heads();
    this.inversions();
    this.pastOf = new Map();
  },

  // Who stands first at every moment: a list of times and the waits that stand first from then on, -1 where nobody waits.
  heads() {
    const { from, to } = this.asked, heap = new Heap(this.order), at = [], who = [];
    const note = (t, w) => { if (at.length && at.at(-1) === t) who[who.length - 1] = w; else if ((who.at(-1) ?? -1) !== w) { at.push(t); who.push(w); } };
    for (let k = 0; k <= this.byFrom.length; k++) {
      const until = k < this.byFrom.length ? from[this.byFrom[k]] : Infinity;
      while (heap.size && to[heap.top] <= until) { const t = to[heap.pop()]; while (heap.size && to[heap.top] <= t) heap.pop(); note(t, heap.size ? heap.top : -1); }
      if (k < this.byFrom.length) { heap.push(this.byFrom[k]); note(until, heap.top); }
    }
    this.headTimes = Float64Array.from(at);
    this.headWaits = Int32Array.from(who);
  },

  firstAt(t) {
    const k = lastAtMost(this.headTimes, t), w = k < 0 ? -1 : this.headWaits[k];
    return w < 0 ? null : w;
  },

  inversions() {
    const { request, from, to, cause } = this.waits, rows = [];
    this.inverted = [];
    this.lost = new Float64Array(this.n);
    for (let w = 0; w < request.length; w++) if (INVERSION[cause[w]] && this.isUrgent(request[w])) { rows.push(w); this.lost[request[w]] += to[w] - from[w]; }
    rows.sort((a, b) => from[a] - from[b]);
    for (const w of rows) this.inverted.push([from[w], to[w], request[w]]);
    this.episodes = [];                        // stretches of time in which some urgent request waits in inversion
    for (const [a, b] of this.inverted) {
      const last = this.episodes.at(-1);
      if (last && a <= last[1] + 1e-6) last[1] = Math.max(last[1], b); else this.episodes.push([a, b]);
    }
    this.episodeStarts = Float64Array.from(this.episodes, ([a]) => a);
  },

  nextEpisode(t) { return this.episodeStarts[lastAtMost(this.episodeStarts, t) + 1] ?? null; },

  // Who waits at time t, most urgent and oldest first: [request, since, until, whether it then gets in].
  waiting(t) {
    const { request, from, to } = this.asked, queue = this.queue;
    if (t < queue.t) Object.assign(queue, { next: 0, active: [] });
    queue.t = t;
    let kept = 0;
    for (const w of queue.active) if (to[w] > t) queue.active[kept++] = w;
    queue.active.length = kept;
    const before = queue.next;
    for (; queue.next < this.byFrom.length && this.fromTimes[queue.next] <= t; queue.next++) if (to[this.byFrom[queue.next]] > t) queue.active.push(this.byFrom[queue.next]);
    if (queue.next > before) queue.active.sort(this.order);
    return queue.active.map((w) => [request[w], from[w], to[w], this.asked.admitted[w] === 1]);
  },

  // The wait of a request that a moment lies in, else null.
  waitAt(r, t) {
    const w = lastAtMost(this.asked.from, t, this.firstAsked[r], this.firstAsked[r + 1]);
    return w >= this.firstAsked[r] && t < this.asked.to[w] ? w : null;
  },

  // Cause code of a request's wait at time t, -1 when it is not classified.
  cause(r, t) {
    const { from, to, cause } = this.waits, w = lastAtMost(from, t, this.firstWait[r], this.firstWait[r + 1]);
    return w >= this.firstWait[r] && t < to[w] ? cause[w] : -1;
  },

  // Blocks that the gate asks for at admission, with what has to stay free beside those who run.
  needs(r, t) {
    const w = this.waitAt(r, t), beside = this.state.batch.length ? this.machine.water : 0;
    return (w === null ? this.blocks(this.requests.prompt[r]) : this.asked.need[w]) + beside;
  },

  // The server's estimates of when waits end: [request, at, seconds from then] in order of time.
  take(notes) {
    this.notes = new Map();
    for (const [name, at, fits] of notes ?? []) {
      if (!this.notes.has(name)) this.notes.set(name, { at: [], fits: [] });
      this.notes.get(name).at.push(at);
      this.notes.get(name).fits.push(fits);
    }
  },

  // When a wait was expected to end, by the estimate of the server made last before t: seconds from t; null without one.
  fitsIn(r, t) {
    const notes = this.notes.get(this.names[r]);
    if (!notes) return null;
    const k = lastAtMost(notes.at, t + 1e-9), w = this.waitAt(r, t);
    if (k < 0 || w === null || notes.at[k] < this.asked.from[w] - 1e-6) return null;
    const left = notes.at[k] + notes.fits[k] - t;
    return left > 0 ? left : null;
  },

  // Admissions of less urgent requests while r waited, up to t: stays in order of admission.
  passed(r, t) {
    let past = this.pastOf.get(r);
    if (!past) {
      const { from, to } = this.asked, { level } = this.requests, { request } = this.stays;
      past = { stays: [], at: [] };
      for (let w = this.firstAsked[r]; w < this.firstAsked[r + 1]; w++) {
        for (let k = lastAtMost(this.admittedTime, from[w] - 1e-9) + 1; k < this.nStays && this.admittedTime[k] < to[w]; k++) {
          if (level[request[this.bySeq[k]]] > level[r]) { past.stays.push(this.bySeq[k]); past.at.push(this.admittedTime[k]); }
        }
      }
      if (this.pastOf.size > 200) this.pastOf.clear();
      this.pastOf.set(r, past);
    }
    return past.stays.slice(0, lastAtMost(past.at, t + 1e-9) + 1);
  },

  // The most urgent request that waited longest: {r, from, to, total}.
  worst() {
    const { from, to } = this.asked;
    let r = null;
    for (let one = 0; one < this.n; one++) if (this.isUrgent(one) && this.total[one] > (r === null ? 0 : this.total[r])) r = one;
    if (r === null) return null;
    let longest = this.firstAsked[r];
    for (let w = longest; w < this.firstAsked[r + 1]; w++) if (to[w] - from[w] > to[longest] - from[longest]) longest = w;
    return { r, total: this.total[r], from: from[longest], to: to[longest] };
  },

  inversionOf(r) { return this.lost[r]; },
  waitOf(r) { return this.total[r]; },

  wasPreempted(s) { return this.stays.why[s] === 1 || this.stays.why[s] === 2; },

  // For whom a stay was preempted, else null.
  beneficiaryOf(s) {
    const { at, victim, beneficiary } = this.preempted, r = this.stays.request[s], to = this.stays.to[s];
    for (let k = lastAtMost(at, to + 1e-5); k >= 0 && at[k] > to - 1e-5; k--) if (victim[k] === r && beneficiary[k] !== r) return beneficiary[k];
    return null;
  },

  // The last iteration up to i in which anybody entered or left: when, who entered, who left.
  lastDecision(i, idle) {
    if (i < 0) return null;
    const entered = lastAtMost(this.admittedAt, i), left = lastAtMost(this.releases.at, idle ? i + 1 : i);
    const place = Math.max(entered < 0 ? -1 : this.admittedAt[entered], left < 0 ? -1 : this.releases.at[left]);
    if (place < 0) return null;
    const found = { i: Math.min(place, i), at: place < this.iterations && place <= i ? this.begin[place] : this.finish[i], entered: [], left: [] };
    for (let k = entered; k >= 0 && this.admittedAt[k] === place; k--) found.entered.unshift(this.bySeq[k]);
    for (let k = left; k >= 0 && this.releases.at[k] === place; k--) found.left.unshift(this.releases.who[k]);
    return found;
  },
});

// The smallest of some numbers by an order, again and again.
class Heap {
  constructor(order) { this.order = order; this.items = []; }
  get size() { return this.items.length; }
  get top() { return this.items[0]; }

  push(item) {
    const { items, order } = this;
    let k = items.push(item) - 1;
    for (; k > 0 && order(item, items[(k - 1) >> 1]) < 0; k = (k - 1) >> 1) items[k] = items[(k - 1) >> 1];
    items[k] = item;
  }

  pop() {
    const { items, order } = this, top = items[0], item = items.pop();
    if (!items.length) return top;
    let k = 0;
    for (let child = 1; child < items.length; child = 2 * k + 1) {
      if (child + 1 < items.length && order(items[child + 1], items[child]) < 0) child++;
      if (order(items[child], item) >= 0) break;
      items[k] = items[child];
      k = child;
    }
    items[k] = item;
    return top;
  }
}
