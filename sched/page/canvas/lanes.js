// The batch over its last iterations, one lane a request, and the token budget of the iteration.

const BACK = 48;

class Lanes {
  constructor(canvas) { this.canvas = canvas; }

  paint(width, height, world, i, stays, p, { culprit, focus }) {
    const [g] = fit(this.canvas, width, height), left = this.gutter(g, world, p);
    g.clearRect(0, 0, width, height);
    this.hits = [];
    const right = width - 3, step = (right - left) / BACK, rows = [...stays].sort((a, b) => this.order(world, a, b));
    const pitch = Math.min(9.5, Math.max(1.6, height / Math.max(1, rows.length))), most = Math.floor(height / pitch + 0.01);
    const shown = rows.slice(0, most);
    this.labels(g, world, rows, shown, pitch, left, p, height);
    this.peak = null;
    shown.forEach((s, k) => this.lane(g, world, s, i, { x: left + 4, y: k * pitch, pitch, step, right, p, culprit, focus }));
    if (this.peak) this.prefillNote(g, this.peak, p);
    g.fillStyle = p.ink;
    g.fillRect(right, 0, 1.4, Math.max(Math.min(height, shown.length * pitch), 12));
    if (rows.length > most) this.note(g, `and ${rows.length - most} more`, left + 6, height - 4, p);
  }

  gutter(g, world, p) {
    g.font = `600 12px ${p.font}`;
    return Math.min(84, Math.max(56, 20 + Math.max(...world.head.classes.map((name) => g.measureText(name).width))));
  }

  order(world, a, b) {
    return world.role(world.stays.request[a]) - world.role(world.stays.request[b]) || world.stays.seq[a] - world.stays.seq[b];
  }

  labels(g, world, rows, shown, pitch, left, p, height) {
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
      g.fillText(short(g, world.head.classes[c], left - 16), 13, y + 0.5);
      free = y + 7;
      if (tall) {
        g.fillStyle = p.ink3;
        g.font = `400 11.5px ${p.font}`;
        g.fillText(plural(seats, "seat"), 0, y + 14);
        free = y + 21;
      }
    }
  }

  lane(g, world, s, i, { x, y, pitch, step, right, p, culprit, focus }) {
    const r = world.stays.request[s], role = world.role(r), from = Math.max(world.stays.iteration[s], i - BACK + 1);
    const dash = Math.min(2, Math.max(1, pitch * 0.32)), middle = y + pitch / 2, begin = right - (i - from + 1) * step;
    const { iteration, before, tokens, count: length } = world.pieces;
    let peak = null;
    this.hits.push([y, y + pitch, r]);
    g.fillStyle = p.role[role];
    let k = Math.max(world.firstPiece[s], lastAtMost(iteration, from, world.firstPiece[s], world.firstPiece[s + 1]));
    for (; k < world.firstPiece[s + 1] && iteration[k] <= i; k++) {
      const prefill = before[k] < world.stays.known[s], stop = Math.min(i, iteration[k] + length[k] - 1);
      for (let j = Math.max(from, iteration[k]); j <= stop; j++) {
        const left = right - (i - j + 1) * step;
        if (prefill) {
          const h = Math.max(dash, Math.min(1, 0.25 + Math.sqrt(tokens[k] / world.machine.budget)) * (pitch - 0.6));
          g.fillRect(left, middle - h / 2, step - 0.3, h);
          peak = { x: left, tokens: tokens[k] };
        } else g.fillRect(left, middle - dash / 2, step * 0.62, dash);
      }
    }
    if (peak && world.isUrgent(r) && pitch >= 4 && peak.x > (this.peak?.x ?? 0)) this.peak = { ...peak, y: middle };
    if (s === culprit || r === focus) {
      g.strokeStyle = s === culprit ? p.culprit : p.ink;
      g.lineWidth = s === culprit ? 1.8 : 1.2;
      g.strokeRect(Math.max(x - 2, begin - 4), y + 0.4, right - Math.max(x - 2, begin - 4) - 1, Math.max(3, pitch - 0.8));
    }
  }

  // The latest urgent prefill is named, on a ground of its own so that no lane runs through the words.
  prefillNote(g, { x, y, tokens }, p) {
    const text = `prefill ${count(tokens)}`;
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

function short(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && g.measureText(cut + "…").width > width) cut = cut.slice(0, -1);
  return cut + "…";
}

// The token budget: decodes first, then prefills (hatched); the rest is unused.
function paintBudget(canvas, width, world, i, stays, p) {
  const height = 9, [g, scale] = fit(canvas, width, height), budget = world.machine.budget, sums = { decodes: 0, prefill: 0, who: [] };
  g.clearRect(0, 0, width, height);
  g.fillStyle = p.free;
  g.beginPath(); g.roundRect(0, 0, width, height, 4); g.fill();
  g.save();
  g.clip();
  let x = 0;
  const decodes = [0, 0, 0], prefills = [];
  for (const s of stays) {
    const work = world.work(s, i), role = world.role(world.stays.request[s]);
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
