// The memory map: cells that keep their place, coloured by class, with a line wherever the owner changes. Only cells
// that look different from before are drawn again; outlines lie on a layer of their own.

const COLUMNS = 60;                          // fewer where there are only a few blocks, more where there are very many
const LINES_ABOVE = 6;                       // device pixels of a cell below which owners are not told apart by lines
const LEFT = 16, TOP = 32;                   // how a cell looks: its fill, and whether its owner begins here

class MemoryMap {
  constructor(canvas, marks, halo) { Object.assign(this, { canvas, marks, halo, tiles: new Map(), fades: new Map() }); }

  // In whole pixels, so that cells are alike, twice as fine on a coarse screen; a narrow one is filled all the same.
  resize(width, height, world, stretch = false) {
    this.world = world;
    const ratio = Math.min(3, window.devicePixelRatio || 1), scale = ratio < 2 ? 2 * ratio : ratio, wide = width * scale, high = height * scale;
    this.columns = this.columnsFor(world.cells, wide, high);
    this.rows = Math.max(1, Math.ceil(world.cells / this.columns));
    this.cw = Math.max(2, Math.floor(wide / this.columns));
    this.ch = Math.max(2, Math.min(Math.floor(high / this.rows), Math.round(this.cw * 1.3)));
    this.scale = scale;
    this.lined = Math.min(this.cw, this.ch) >= LINES_ABOVE;
    this.canvas.width = this.cw * this.columns;
    this.canvas.height = this.ch * this.rows;
    this.ratio = stretch ? this.canvas.width / width : scale;
    this.width = this.canvas.width / this.ratio;
    this.height = this.canvas.height / this.ratio;
    for (const one of [this.canvas, this.marks]) { one.style.width = this.width + "px"; one.style.height = this.height + "px"; }
    for (const one of [this.marks, this.halo]) { one.width = this.canvas.width; one.height = this.canvas.height; }
    this.tiles.clear();
    this.fades.clear();
    this.g = this.canvas.getContext("2d");
    this.looks = new Uint8Array(world.cells);
    this.drawn = new Uint8Array(world.cells).fill(255);
    this.seen = new Int32Array(world.nStays);
    this.written = new Int32Array(world.nStays);
    this.marked = null;
  }

  // Sixty columns, unless the cells would then be flat: so many that they are about as wide as high.
  columnsFor(cells, wide, high) {
    if (cells < 600) return Math.max(1, Math.min(COLUMNS, Math.ceil(Math.sqrt(cells * 1.7))));
    if (cells <= 4000) return COLUMNS;
    let best = COLUMNS, area = 0;
    for (let columns = COLUMNS; columns <= wide / 2; columns++) {
      const cw = Math.floor(wide / columns), ch = Math.min(Math.floor(high / Math.ceil(cells / columns)), Math.round(cw * 1.3));
      const used = cw * ch * (cw > 1.6 * ch ? 0.7 : 1) * (0.5 + (0.5 * cw * columns) / wide);
      if (ch >= 2 && used > area) { area = used; best = columns; }
    }
    return best;
  }

  // One cell of a look: 0-2 written, 3-5 promised, 6-8 on loan, 9 free, 10 free in the buffer.
  style(look, p) {
    const key = look + p.key;
    if (this.tiles.has(key)) return this.tiles.get(key);
    const { cw, ch, g, scale } = this, tile = document.createElement("canvas");
    let made;
    if (look === 9) made = p.free;
    else if (look === 10) made = hatch(g, { fg: mix(p.urgent, p.bg, 0.35), bg: p.reservedBg, gap: 4, width: 1 }, scale);
    else if (look === 3 || look === 4) made = hatch(g, { fg: p.role[look - 3], bg: p.promisedBg[look - 3], gap: 3.4, width: 1.3 }, scale);
    else {
      const role = look % 3, many = look >= 3 ? 12 : 1;                     // a hatch spans several cells
      tile.width = cw * many;
      tile.height = ch * many;
      const t = tile.getContext("2d");
      t.fillStyle = look === 5 ? hatch(t, { fg: p.batch, bg: p.promisedBg[2], gap: 3.4, width: 1.3 }, scale) : p.fill[role];
      t.fillRect(0, 0, tile.width, tile.height);
      if (look >= 6) { t.fillStyle = hatch(t, { fg: p.bg, gap: 5, width: 1.1 }, scale); t.fillRect(0, 0, tile.width, tile.height); }
      if (role === 2) {                                                     // batch: a dot in each cell, on top of any hatch
        t.fillStyle = mix(p.ink, p.batch, 0.35);
        const dot = Math.max(1, Math.min(Math.round(Math.min(cw, ch) * 0.3), Math.round(3 * scale)));
        for (let x = 0; x < many; x++) for (let y = 0; y < many; y++) t.fillRect(x * cw + ((cw - dot) >> 1), y * ch + ((ch - dot) >> 1), dot, dot);
      }
      if (scale > 1 && look !== 5 && this.lined) {                          // hairlines between cells
        t.fillStyle = mix(p.fill[role], p.bg, role === 0 ? 0.25 : 0.3);
        for (let x = 0; x < many; x++) t.fillRect((x + 1) * cw - 1, 0, 1, tile.height);
        for (let y = 0; y < many; y++) t.fillRect(0, (y + 1) * ch - 1, tile.width, 1);
      }
      made = g.createPattern(tile, "repeat");
    }
    this.tiles.set(key, made);
    return made;
  }

  // Look of every cell: what it is filled with, from who owns it, how far that is written, and what the buffer is doing.
  look(state, iteration) {
    const { world, looks, seen, written, columns, lined } = this, { owner } = state, n = world.cells, { roleOfStay } = world;
    const promised = world.machine.gate === "peak", buffer = world.buffer(state);
    if (promised) for (const s of state.batch) { seen[s] = 0; written[s] = Math.ceil(world.blocks(world.computed(s, iteration)) / world.perCell); }
    for (let c = 0; c < n; c++) {
      const s = owner[c];
      looks[c] = s === FREE ? 9 : promised && seen[s]++ >= written[s] ? 3 + roleOfStay[s] : roleOfStay[s];
    }
    let idle = buffer ? Math.round(buffer.idle / world.perCell) : 0, lent = buffer && world.kept.lend ? Math.round(buffer.lent / world.perCell) : 0;
    for (let c = n - 1; c >= 0 && idle > 0; c--) if (owner[c] === FREE) { looks[c] = 10; idle--; }
    // The loan is what was granted last to the less urgent.
    for (let c = state.newest; c >= 0 && lent > 0; c = state.older[c], lent--) if (looks[c] < 3) looks[c] += 6;
    if (!lined) return;
    for (let c = 0, column = 0; c < n; c++) {
      const s = owner[c];
      if (column > 0 && owner[c - 1] !== s) looks[c] |= LEFT;
      if (c >= columns && owner[c - columns] !== s) looks[c] |= TOP;
      if (++column === columns) column = 0;
    }
  }

  paint(state, iteration, p, { culprit, focus, now = 0, fade = false }) {
    const { g, looks, drawn } = this;
    this.look(state, iteration);
    g.setTransform(1, 0, 0, 1, 0, 0);
    if (this.theme !== p.key) { this.theme = p.key; this.line = p.dark ? mix(p.bg, p.ink, 0.08) : p.edge; drawn.fill(255); this.marked = null; g.clearRect(0, 0, this.canvas.width, this.canvas.height); }
    const { fades } = this;
    if (fade && this.lined) for (let k = 0; k < state.changed.length && k < 4000; k += 2) fades.set(state.changed[k], [state.changed[k + 1], now]);
    else fades.clear();
    state.changed.length = 0;
    this.repaint(looks, drawn, p);
    for (const [cell, [was, since]] of fades) this.fadeCell(cell, was, 1 - (now - since) / 120, p);
    this.fading = fades.size > 0;
    this.outlines(state, culprit, focus, p);
  }

  // Neighbours in a row that look alike are drawn as one.
  repaint(looks, drawn, p) {
    const { g, columns, cw, ch, scale } = this, n = looks.length, thick = Math.max(1, Math.round(0.75 * scale));
    this.dirty = 0;
    for (let c = 0, row = 0; c < n; row++) {
      const first = c, stop = Math.min(n, first + columns), y = row * ch;
      for (; c < stop;) {
        const look = looks[c];
        if (look === drawn[c]) { c++; continue; }
        let e = c + 1;
        const fill = look & 15;
        while (e < stop && looks[e] !== drawn[e] && (looks[e] & 15) === fill) e++;
        this.dirty += e - c;
        g.fillStyle = this.style(fill, p);
        g.fillRect((c - first) * cw, y, (e - c) * cw, ch);
        for (; c < e; c++) {
          const one = (drawn[c] = looks[c]), x = (c - first) * cw;
          if (one & (LEFT | TOP)) {
            g.fillStyle = this.line;
            if (one & LEFT) g.fillRect(x, y, thick, ch);
            if (one & TOP) g.fillRect(x, y, cw, thick);
          }
        }
      }
    }
  }

  // A cell that changed hands shows the old fill fading over the new one; nothing moves.
  fadeCell(cell, was, left, p) {
    if (left <= 0) { this.fades.delete(cell); return; }
    const { g, cw, ch, columns, world } = this, x = (cell % columns) * cw, y = Math.floor(cell / columns) * ch;
    this.drawn[cell] = 255;                                    // so that the next picture begins with the new fill alone
    g.globalAlpha = left;
    g.fillStyle = was === FREE ? p.free : p.fill[world.roleOfStay[was]];
    g.fillRect(x, y, cw, ch);
    g.globalAlpha = 1;
  }

  // Culprit and focus are outlined, the culprit also on a layer that the style sheet lets beat without any script.
  outlines(state, culprit, focus, p) {
    const cells = (s) => (s === null ? 0 : state.cellsOf[s]), calm = still();
    const key = `${culprit}|${cells(culprit)}|${focus}|${cells(focus)}|${p.key}|${calm}|${state.epoch}|${this.width}`;
    if (this.marked === key) return;
    this.marked = key;
    const g = this.marks.getContext("2d"), { width, height } = this.marks;
    g.clearRect(0, 0, width, height);
    this.dashes(g, p);
    if (focus !== null && focus !== culprit) this.outline(g, state, focus, p.ink, 2);
    const ragged = culprit !== null && this.ragged(state, culprit);
    if (culprit !== null) this.outline(g, state, culprit, p.culprit, ragged ? 1.1 : calm ? 3 : 2.2);
    this.halo.hidden = culprit === null || calm || ragged;
    if (this.halo.hidden) return;
    const h = this.halo.getContext("2d");
    h.clearRect(0, 0, width, height);
    this.outline(h, state, culprit, p.culprit, 9);
  }

  dashes(g, p) {                               // the buffer begins here
    if (!this.world.keptCells) return;
    const { cw, ch, scale } = this, edge = this.world.cells - this.world.keptCells;
    const row = Math.floor(edge / this.columns), column = edge % this.columns;
    g.strokeStyle = p.ink;
    g.lineWidth = 1.4 * scale;
    g.setLineDash([4 * scale, 3 * scale]);
    g.beginPath();
    if (column) { g.moveTo(0, (row + 1) * ch); g.lineTo(column * cw, (row + 1) * ch); g.lineTo(column * cw, row * ch); }
    g.moveTo(column * cw, row * ch);
    g.lineTo(this.canvas.width, row * ch);
    g.stroke();
    g.setLineDash([]);
  }

  // Whether a stay's cells are so scattered that a strong line around them would hide everything else.
  ragged({ owner, firstOf, nextOf, cellsOf }, stay) {
    let edges = 0;
    for (let c = firstOf[stay]; c >= 0; c = nextOf[c]) edges += (owner[c - 1] !== stay) + (owner[c + 1] !== stay) + (owner[c - this.columns] !== stay) + (owner[c + this.columns] !== stay);
    return edges > 0.55 * cellsOf[stay] && cellsOf[stay] > 60;
  }

  outline(g, { owner, firstOf, nextOf }, stay, colour, width) {
    const { cw, ch, scale, columns } = this, n = owner.length, w = width * scale, half = w / 2;
    g.fillStyle = colour;
    for (let c = firstOf[stay]; c >= 0; c = nextOf[c]) {
      const column = c % columns, x = column * cw, y = Math.floor(c / columns) * ch;
      if (column === 0 || owner[c - 1] !== stay) g.fillRect(Math.max(0, x - half), y - half, w, ch + w);
      if (column === columns - 1 || owner[c + 1] !== stay) g.fillRect(Math.min(this.canvas.width - w, x + cw - half), y - half, w, ch + w);
      if (c < columns || owner[c - columns] !== stay) g.fillRect(x - half, Math.max(0, y - half), cw + w, w);
      if (c + columns >= n || owner[c + columns] !== stay) g.fillRect(x - half, Math.min(this.canvas.height - w, y + ch - half), cw + w, w);
    }
  }

  // Where a stay's cells lie, in CSS pixels: the middle of them all.
  place({ firstOf, nextOf }, stay) {
    let sx = 0, sy = 0, k = 0;
    for (let c = firstOf[stay]; c >= 0; c = nextOf[c]) { sx += c % this.columns; sy += Math.floor(c / this.columns); k++; }
    return k ? [((sx / k + 0.5) * this.cw) / this.ratio, ((sy / k + 0.5) * this.ch) / this.ratio] : null;
  }

  ownerAt(x, y, state) {
    const column = Math.floor((x * this.ratio) / this.cw), row = Math.floor((y * this.ratio) / this.ch), c = row * this.columns + column;
    return column >= 0 && column < this.columns && c >= 0 && c < state.owner.length ? state.owner[c] : FREE;
  }
}
