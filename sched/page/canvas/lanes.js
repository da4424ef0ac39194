// The batch over its last iterations, one lane a request, and the token budget of the iteration.

const BACK = 48;

class Lanes {
  constructor(canvas) { this.canvas = canvas; this.ticks = new Map(); }

  paint(width, height, world, i, stays, p, { culprit, focus }) {
    const [g, scale] = fit(this.canvas, width, height), left = this.gutter(g, world, p, width);
    g.clearRect(0, 0, width, height);
    this.hits = [];
    const step = Math.max(1, Math.floor(((width - 3 - left) / BACK) * scale)) / scale, right = Math.round((width - 3) * scale) / scale;
    const rows = [...stays].sort((a, b) => this.order(world, a, b)), pitch = Math.min(9.5, Math.max(1.6, height / Math.max(1, rows.length)));
    const most = Math.floor(height / pitch + 0.01), shown = rows.slice(0, most);
    this.labels(g, world, shown, pitch, left, p, height);
    this.peak = null;
    g.save();
    g.translate(right, 0);                                     // so that the ticks of all lanes fall on the same places
    const dash = Math.min(2, Math.max(1, pitch * 0.32));
    shown.forEach((s, k) => this.lane(g, world, s, i, { y: k * pitch, pitch, step, dash, scale, p }));
    g.restore();
    shown.forEach((s, k) => { if (s === culprit || world.stays.request[s] === focus) this.frame(g, world, s, i, { x: left + 4, y: k * pitch, pitch, step, right, p, isCulprit: s === culprit }); });
    if (this.peak) this.prefillNote(g, { ...this.peak, x: this.peak.x + right }, p);
    g.fillStyle = p.ink;
    g.fillRect(right, 0, 1.4, Math.max(Math.min(height, shown.length * pitch), 12));
    if (rows.length > most) this.note(g, tr("and {n} more", { n: rows.length - most }), left + 6, height - 4, p);
  }

  gutter(g, world, p, width) {
    const key = p.font + width;
    if (this.gutterOf !== world || this.gutterKey !== key) {
      this.gutterOf = world;
      this.gutterKey = key;
      g.font = `600 12px ${p.font}`;
      this.gutterWidth = Math.min(84, Math.max(56, 20 + Math.max(...world.classNames.map((name) => g.measureText(name).width))));
    }
    return this.gutterWidth;
  }

  order(world, a, b) { return world.roleOfStay[a] - world.roleOfStay[b] || world.stays.seq[a] - world.stays.seq[b]; }

  labels(g, world, shown, pitch, left, p, height) {
    const groups = [];
    shown.forEach((s, k) => {
      const c = world.requests.cls[world.stays.request[s]], last = groups.at(-1);
      if (last && last.c === c) last.to = k; else groups.push({ c, from: k, to: k });
    });
    let free = 0;
    for (const { c, from, to } of groups) {
      const role = world.roles[c], top = from * pitch, bottom = (to + 1) * pitch, seats = to - from + 1;
      g.fillStyle = p.role[role];
      g.fillRect(left, top + 0.5, 1.8, Math.max(1.5, bottom - top - 1));
      const tall = bottom - top > 30, y = Math.max(free + 6, Math.min(height - (tall ? 20 : 6), tall ? (top + bottom) / 2 - 6 : (top + bottom) / 2));
      if (y > height - 4) continue;
      mark(g, role, 5, y, 8.5, p.role[role]);
      g.fillStyle = p.ink;
      g.font = `600 12px ${p.font}`;
      g.textBaseline = "middle";
      g.fillText(short(g, world.className(c), left - 16), 13, y + 0.5);
      free = y + 7;
      if (tall) {
        g.fillStyle = p.ink3;
        g.font = `400 11.5px ${p.font}`;
        g.fillText(trCount(seats, "{n} seat", "{n} seats"), 0, y + 14);
        free = y + 21;
      }
    }
  }

  // Decodes in a row are one stroke with a pattern of ticks, an iteration each; prefill chunks stand out of it.
  lane(g, world, s, i, { y, pitch, step, dash, scale, p }) {
    const r = world.stays.request[s], role = world.roleOfStay[s], from = Math.max(world.stays.iteration[s], i - BACK + 1), middle = y + pitch / 2;
    const { iteration, before, tokens, count: length } = world.pieces, last = world.firstPiece[s + 1];
    let peak = null;
    this.hits.push([y, y + pitch, r]);
    let k = Math.max(world.firstPiece[s], lastAtMost(iteration, from, world.firstPiece[s], last));
    for (; k < last && iteration[k] <= i; k++) {
      const begin = Math.max(from, iteration[k]), stop = Math.min(i, iteration[k] + length[k] - 1), x = -(i - begin + 1) * step, many = stop - begin + 1;
      if (many <= 0) continue;
      if (before[k] < world.stays.known[s]) {
        const h = Math.max(dash, Math.min(1, 0.25 + Math.sqrt(tokens[k] / world.machine.budget)) * (pitch - 0.6));
        g.fillStyle = p.role[role];
        for (let j = 0; j < many; j++) g.fillRect(x + j * step, middle - h / 2, step - 0.3, h);
        peak = { x: x + (many - 1) * step, tokens: tokens[k] };
      } else {
        g.fillStyle = this.tick(g, role, step, scale, p);
        g.fillRect(x, middle - dash / 2, many * step, dash);
      }
    }
    if (peak && world.isUrgent(r) && pitch >= 4 && peak.x > (this.peak?.x ?? -Infinity)) this.peak = { ...peak, y: middle };
  }

  tick(g, role, step, scale, p) {
    const key = `${role}|${step}|${scale}|${p.key}`;
    if (!this.ticks.has(key)) {
      const tile = document.createElement("canvas"), wide = Math.round(step * scale), t = tile.getContext("2d");
      tile.width = wide;
      tile.height = 1;
      t.fillStyle = p.role[role];
      t.fillRect(0, 0, Math.max(1, Math.round(wide * 0.62)), 1);
      const made = g.createPattern(tile, "repeat");
      made.setTransform(new DOMMatrix([1 / scale, 0, 0, 1 / scale, 0, 0]));
      this.ticks.set(key, made);
    }
    return this.ticks.get(key);
  }

  frame(g, world, s, i, { x, y, pitch, step, right, p, isCulprit }) {
    const begin = right - (i - Math.max(world.stays.iteration[s], i - BACK + 1) + 1) * step, left = Math.max(x - 2, begin - 4);
    g.strokeStyle = isCulprit ? p.culprit : p.ink;
    g.lineWidth = isCulprit ? 1.8 : 1.2;
    g.strokeRect(left, y + 0.4, right - left - 1, Math.max(3, pitch - 0.8));
  }

  // The latest urgent prefill is named, on a ground of its own so that no lane runs through the words.
  prefillNote(g, { x, y, tokens }, p) {
    const text = tr("prefill {n}", { n: tokens });
    g.font = `500 11.5px ${p.font}`;
    const wide = g.measureText(text).width, left = x - wide - 7;
    if (left < 92) return;
    g.fillStyle = p.bg;
    g.fillRect(left - 3, y - 6, wide + 6, 12);
    g.fillStyle = p.ink;
    g.textBaseline = "middle";
    g.fillText(text, left, Math.max(6, y));
  }

  note(g, text, x, y, p) {
    g.font = `500 11.5px ${p.font}`;
    g.fillStyle = p.bg;
    g.fillRect(x - 2, y - 12, g.measureText(text).width + 4, 15);
    g.fillStyle = p.ink3;
    g.textBaseline = "alphabetic";
    g.fillText(text, x, y);
  }
}

// A text cut to a width; what keeps writing from turning round stays around what is left.
function short(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  const apart = text.startsWith("\u2068"), letters = Array.from(apart ? text.slice(1, -1) : text), wrap = (cut) => (apart ? `\u2068${cut}…\u2069` : `${cut}…`);
  while (letters.length > 1 && g.measureText(wrap(letters.join(""))).width > width) letters.pop();
  return wrap(letters.join(""));
}

// The token budget: decodes first, then prefills (hatched); the rest is unused.
function paintBudget(canvas, width, world, i, stays, p) {
  const height = 9, [g, scale] = fit(canvas, width, height), { budget } = world.machine, sums = { decodes: 0, prefill: 0, who: [] };
  g.clearRect(0, 0, width, height);
  g.fillStyle = p.free;
  g.beginPath(); g.roundRect(0, 0, width, height, 4); g.fill();
  g.save();
  g.clip();
  let x = 0;
  const decodes = [0, 0, 0], prefills = [];
  for (const s of stays) {
    const work = world.work(s, i), role = world.roleOfStay[s];
    if (!work) continue;
    if (work[1] === DECODE) decodes[role] += work[0]; else prefills.push([s, role, work[0]]);
  }
  const bar = (tokens, fill) => { const w = (tokens / budget) * width; g.fillStyle = fill; g.fillRect(x, 0, Math.max(w - 0.6, tokens ? 1 : 0), height); x += w; };
  decodes.forEach((tokens, role) => { sums.decodes += tokens; bar(tokens, p.role[role]); });
  for (const [s, role, tokens] of prefills) {
    bar(tokens, hatch(g, { fg: mix(p.role[role], p.bg, 0.55), bg: p.role[role], gap: 4.5, width: 1 }, scale));
    sums.prefill += tokens;
    sums.who.push([world.stays.request[s], tokens]);
  }
  g.restore();
  return sums;
}
