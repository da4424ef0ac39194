// Who owns which cell at one iteration, and who is in the batch; it moves forward event by event.

class Blocks {
  constructor(world) {
    const { cells, nStays } = world;
    Object.assign(this, { world, i: -1, idle: false, epoch: 0, grant: 0, released: 0, entered: 0, stamp: 0, low: 0, high: cells - 1, urgent: 0, others: 0, batch: [], changed: [] });
    this.owner = new Int32Array(cells).fill(FREE);
    this.stamps = new Int32Array(cells);       // when each cell was granted, in order of grants
    this.held = new Int32Array(nStays);        // blocks of each stay
    this.cellsOf = new Int32Array(nStays);
    this.lists();
  }

  // The cells of each stay and those of the less urgent by age, as linked lists.
  lists() {
    const { cells, nStays } = this.world;
    this.firstOf = new Int32Array(nStays).fill(-1);
    this.nextOf = new Int32Array(cells).fill(-1);
    this.older = new Int32Array(cells).fill(-1);
    this.newer = new Int32Array(cells).fill(-1);
    this.newest = -1;
  }

  copy() {
    const made = Object.assign(Object.create(Blocks.prototype), this, { owner: this.owner.slice(), stamps: this.stamps.slice(), held: this.held.slice(), cellsOf: this.cellsOf.slice(), batch: this.batch.slice(), changed: [], idle: false });
    made.lists();
    const taken = [];
    for (let c = made.owner.length - 1; c >= 0; c--) if (made.owner[c] !== FREE) { made.own(c, made.owner[c]); if (this.world.lowerStay[made.owner[c]]) taken.push(c); }
    for (const c of taken.sort((a, b) => made.stamps[a] - made.stamps[b])) made.age(c);
    return made;
  }

  own(c, s) { this.nextOf[c] = this.firstOf[s]; this.firstOf[s] = c; }

  age(c) {
    this.older[c] = this.newest;
    this.newer[c] = -1;
    if (this.newest >= 0) this.newer[this.newest] = c;
    this.newest = c;
  }

  unage(c) {
    const { older, newer } = this, before = older[c], after = newer[c];
    if (before >= 0) newer[before] = after;
    if (after >= 0) older[after] = before; else if (this.newest === c) this.newest = before;
    older[c] = newer[c] = -1;
  }

  advance(to) {
    const { grants, releases, nStays, bySeq, admittedAt } = this.world, { at, who, many } = grants;
    for (;;) {
      const grantAt = this.grant < at.length ? at[this.grant] : Infinity, releaseAt = this.released < nStays ? releases.at[this.released] : Infinity;
      const next = Math.min(grantAt, releaseAt);
      if (next > to) break;
      if (releaseAt <= grantAt) this.giveBack(releases.who[this.released++]);
      else { this.enter(next, bySeq, admittedAt); this.take(who[this.grant], many[this.grant]); this.grant++; }
    }
    this.enter(to, bySeq, admittedAt);
    this.i = to;
  }

  enter(to, bySeq, admittedAt) {
    for (; this.entered < bySeq.length && admittedAt[this.entered] <= to; this.entered++) {
      const s = bySeq[this.entered];
      if (this.world.stays.end[s] > admittedAt[this.entered]) this.batch.push(s);
    }
  }

  release(to) {
    const { releases, nStays } = this.world;
    for (; this.released < nStays && releases.at[this.released] <= to; this.released++) this.giveBack(releases.who[this.released]);
  }

  giveBack(s) {
    const lower = this.world.lowerStay[s];
    for (let c = this.firstOf[s]; c >= 0;) {
      const next = this.nextOf[c];
      this.owner[c] = FREE;
      this.nextOf[c] = -1;
      if (lower) this.unage(c);
      this.change(c, s);
      if (c < this.low) this.low = c;
      if (c > this.high) this.high = c;
      c = next;
    }
    this.firstOf[s] = -1;
    if (lower) this.others -= this.held[s]; else this.urgent -= this.held[s];
    this.cellsOf[s] = this.held[s] = 0;
    const place = this.batch.indexOf(s);
    if (place >= 0) this.batch.splice(place, 1);
  }

  take(s, blocks) {
    const { kept, lowerStay, perCell, cells } = this.world, lower = lowerStay[s], fromTop = kept && !lower, { owner } = this;
    this.held[s] += blocks;
    if (lower) this.others += blocks; else this.urgent += blocks;
    const want = perCell === 1 ? this.held[s] : Math.max(1, Math.round(this.held[s] / perCell));
    for (; this.cellsOf[s] < want; this.cellsOf[s]++) {
      if (fromTop) while (this.high >= 0 && owner[this.high] !== FREE) this.high--;
      else while (this.low < cells && owner[this.low] !== FREE) this.low++;
      const cell = fromTop ? this.high : this.low;
      if (cell < 0 || cell >= cells) return;                          // rounding of cells that stand for several blocks
      owner[cell] = s;
      this.stamps[cell] = ++this.stamp;
      this.own(cell, s);
      if (lower) this.age(cell);
      this.change(cell, FREE);
    }
  }

  // What changed hands since somebody last looked, for the fades; far more than that is a jump and does not fade.
  change(cell, was) { if (this.changed.length < 8000) this.changed.push(cell, was); }
}
