// The memory map: 60 columns of cells that keep their place, coloured by class, with a line wherever the owner changes.

const COLUMNS = 60;                          // fewer where there are only a few blocks, so that each can be seen

class MemoryMap {
  constructor(canvas, halo) { this.canvas = canvas; this.halo = halo; this.fades = []; this.tiles = new Map(); }

  // In whole pixels, so that cells are alike, twice as fine on a coarse screen; a narrow one is filled all the same.
  resize(width, height, world, stretch = false) {
    this.world = world;
    this.columns = world.cells >= 600 ? COLUMNS : Math.max(1, Math.min(COLUMNS, Math.ceil(Math.sqrt(world.cells * 1.7))));
    this.rows = Math.max(1, Math.ceil(world.cells / this.columns));
    const ratio = Math.min(3, window.devicePixelRatio || 1), scale = ratio < 2 ? 2 * ratio : ratio;
    this.cw = Math.max(2, Math.floor((width * scale) / this.columns));
    this.ch = Math.max(2, Math.min(Math.floor((height * scale) / this.rows), Math.round(this.cw * 1.3)));
    this.scale = scale;
    this.canvas.width = this.cw * this.columns;
    this.canvas.height = this.ch * this.rows;
    this.ratio = stretch ? this.canvas.width / width : scale;
    this.width = this.canvas.width / this.ratio;
    this.height = this.canvas.height / this.ratio;
    this.canvas.style.width = this.width + "px";
    this.canvas.style.height = this.height + "px";
    this.halo.width = this.canvas.width;
    this.halo.height = this.canvas.height;
    this.tiles.clear();
    this.g = this.canvas.getContext("2d");
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
        t.fillStyle = mix(p.ink, p.batch, p.dark ? 0.35 : 0.35);
        const dot = Math.max(1, Math.min(Math.round(Math.min(cw, ch) * 0.3), Math.round(3 * scale)));
        for (let x = 0; x < many; x++) for (let y = 0; y < many; y++) t.fillRect(x * cw + ((cw - dot) >> 1), y * ch + ((ch - dot) >> 1), dot, dot);
      }
      if (scale > 1 && look !== 5) {                                                 // hairlines between cells
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
  looks(state, iteration) {
    const { world } = this, promised = world.machine.gate === "peak", buffer = world.buffer(state);
    const out = new Uint8Array(world.cells), seen = new Int32Array(world.nStays), written = new Int32Array(world.nStays).fill(-1);
    let idle = buffer ? Math.round(buffer.idle / world.perCell) : 0;
    for (let c = world.cells - 1; c >= 0; c--) if (state.owner[c] === FREE) out[c] = idle-- > 0 ? 10 : 9;
    const loan = buffer && world.kept.lend ? this.newest(state, Math.round(buffer.lent / world.perCell)) : Infinity;
    for (let c = 0; c < world.cells; c++) {
      const s = state.owner[c];
      if (s === FREE) continue;
      const r = world.stays.request[s], role = world.role(r);
      if (promised && written[s] < 0) written[s] = Math.ceil(world.blocks(world.computed(s, iteration)) / world.perCell);
      if (promised && seen[s]++ >= written[s]) out[c] = 3 + role;
      else out[c] = state.stamps[c] >= loan && !world.isUrgent(r) ? 6 + role : role;
    }
    return out;
  }

  // The loan is what was granted last to the less urgent: cells with at least this stamp.
  newest(state, cells) {
    if (cells <= 0) return Infinity;
    const { world } = this, stamps = [];
    for (let c = 0; c < world.cells; c++) if (state.owner[c] !== FREE && !world.isUrgent(world.stays.request[state.owner[c]])) stamps.push(state.stamps[c]);
    stamps.sort((a, b) => b - a);
    return stamps[Math.min(cells, stamps.length) - 1] ?? Infinity;
  }

  paint(state, iteration, p, { culprit, focus, now = 0, fade = false }) {
    const { g, world, cw, ch } = this, looks = this.looks(state, iteration), n = world.cells;
    g.setTransform(1, 0, 0, 1, 0, 0);
    for (let row = 0; row < this.rows; row++) {
      const stop = Math.min(n, (row + 1) * this.columns);
      for (let c = row * this.columns; c < stop;) {
        let e = c + 1;
        while (e < stop && looks[e] === looks[c]) e++;
        g.fillStyle = this.style(looks[c], p);
        g.fillRect((c % this.columns) * cw, row * ch, (e - c) * cw, ch);
        c = e;
      }
      if (stop < (row + 1) * this.columns) g.clearRect((stop % this.columns) * cw, row * ch, this.canvas.width, ch);
    }
    this.fading = fade && this.fade(state, p, now);
    this.edges(state.owner, p);
    this.dashes(p);
    if (focus !== null && focus !== culprit) this.outline(state.owner, focus, p.ink, 2);
    const ragged = culprit !== null && this.ragged(state.owner, culprit);
    if (culprit !== null) this.outline(state.owner, culprit, p.culprit, ragged ? 1.1 : still() ? 3 : 2.2);
    this.pulse(state.owner, ragged ? null : culprit, p);
  }

  // A wide outline of the culprit on a layer of its own, which the style sheet lets beat without any script.
  pulse(owner, culprit, p) {
    this.halo.hidden = culprit === null || still();
    if (this.halo.hidden) return;
    const g = this.g;
    this.g = this.halo.getContext("2d");
    this.g.clearRect(0, 0, this.halo.width, this.halo.height);
    this.outline(owner, culprit, p.culprit, 9);
    this.g = g;
  }

  // Cells that changed hands show the old fill fading over the new one; nothing moves.
  fade(state, p, now) {
    const { g, cw, ch, world } = this;
    for (let k = 0; k < state.changed.length && k < 4000; k += 2) this.fades.push([state.changed[k], state.changed[k + 1], now]);
    state.changed = [];
    this.fades = this.fades.filter((f) => now - f[2] < 120);
    for (const [cell, was, since] of this.fades) {
      g.globalAlpha = Math.max(0, 1 - (now - since) / 120);
      g.fillStyle = was === FREE ? p.free : p.fill[world.role(world.stays.request[was])];
      g.fillRect((cell % this.columns) * cw, Math.floor(cell / this.columns) * ch, cw, ch);
    }
    g.globalAlpha = 1;
    return this.fades.length > 0;
  }

  edges(owner, p) {
    const { g, cw, ch } = this, n = owner.length, thick = Math.max(1, Math.round(0.75 * this.scale));
    g.fillStyle = p.dark ? mix(p.bg, p.ink, 0.08) : p.edge;
    g.globalAlpha = 0.75;
    for (let row = 0; row < this.rows; row++) {
      const first = row * this.columns, stop = Math.min(n, first + this.columns);
      for (let c = first + 1; c < stop; c++) if (owner[c] !== owner[c - 1]) g.fillRect((c - first) * cw - (thick >> 1), row * ch, thick, ch);
      if (!row) continue;
      for (let c = first; c < stop;) {
        if (owner[c] === owner[c - this.columns]) { c++; continue; }
        let e = c + 1;
        while (e < stop && owner[e] !== owner[e - this.columns]) e++;
        g.fillRect((c - first) * cw, row * ch - (thick >> 1), (e - c) * cw, thick);
        c = e;
      }
    }
    g.globalAlpha = 1;
  }

  dashes(p) {                                  // the buffer begins here
    if (!this.world.keptCells) return;
    const { g, cw, ch, scale } = this, edge = this.world.cells - this.world.keptCells;
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
  ragged(owner, stay) {
    let cells = 0, edges = 0;
    for (let c = 0; c < owner.length; c++) {
      if (owner[c] !== stay) continue;
      cells++;
      edges += (owner[c - 1] !== stay) + (owner[c + 1] !== stay) + (owner[c - this.columns] !== stay) + (owner[c + this.columns] !== stay);
    }
    return edges > 0.55 * cells && cells > 60;
  }

  outline(owner, stay, colour, width) {
    const { g, cw, ch, scale } = this, n = owner.length, w = width * scale, half = w / 2;
    g.fillStyle = colour;
    for (let c = 0; c < n; c++) {
      if (owner[c] !== stay) continue;
      const x = (c % this.columns) * cw, y = Math.floor(c / this.columns) * ch;
      const column = c % this.columns;
      if (column === 0 || owner[c - 1] !== stay) g.fillRect(Math.max(0, x - half), y - half, w, ch + w);
      if (column === this.columns - 1 || owner[c + 1] !== stay) g.fillRect(Math.min(this.canvas.width - w, x + cw - half), y - half, w, ch + w);
      if (c < this.columns || owner[c - this.columns] !== stay) g.fillRect(x - half, Math.max(0, y - half), cw + w, w);
      if (c + this.columns >= n || owner[c + this.columns] !== stay) g.fillRect(x - half, Math.min(this.canvas.height - w, y + ch - half), cw + w, w);
    }
  }

  // Where a stay's cells lie, in CSS pixels: the middle of its largest run of rows.
  place(owner, stay) {
    let sx = 0, sy = 0, k = 0;
    for (let c = 0; c < owner.length; c++) if (owner[c] === stay) { sx += c % this.columns; sy += Math.floor(c / this.columns); k++; }
    return k ? [((sx / k + 0.5) * this.cw) / this.ratio, ((sy / k + 0.5) * this.ch) / this.ratio] : null;
  }

  ownerAt(x, y, state) {
    const column = Math.floor((x * this.ratio) / this.cw), row = Math.floor((y * this.ratio) / this.ch), c = row * this.columns + column;
    return column >= 0 && column < this.columns && c >= 0 && c < state.owner.length ? state.owner[c] : FREE;
  }
}
