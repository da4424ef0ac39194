// Colours, hatches, marks and numbers: what every drawing of the stage shares. TOKENS is put in front when it is served.

const NARROW_NO_BREAK = "\u202f";
const ROLE = ["urgent", "regular", "batch"];

const hex = (c) => [1, 3, 5].map((k) => parseInt(c.slice(k, k + 2), 16));
const mix = (c, d, share) => "#" + hex(c).map((v, k) => Math.round(v + (hex(d)[k] - v) * share).toString(16).padStart(2, "0")).join("");

function luminance(css) {
  const parts = css.startsWith("#") ? hex(css) : (css.match(/[\d.]+/g) ?? ["255", "255", "255"]).map(Number);
  return (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
}

// The palette that fits the page's background, with the fills derived from it.
function lookOf(element) {
  const style = getComputedStyle(element);
  const background = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
  const dark = luminance(background) < 0.4;
  const p = { ...TOKENS.palette[dark ? "dark" : "light"], dark };
  p.role = ROLE.map((name) => p[name]);
  p.fill = [p.urgent, mix(p.regular, p.bg, 0.18), mix(p.batch, p.bg, 0.18)];
  p.pale = p.role.map((c) => mix(c, p.bg, 0.42));
  p.promisedBg = p.role.map((c) => mix(c, p.bg, 0.72));
  p.waiting = mix(p.ink3, p.bg, 0.72);
  p.edge = mix(p.ink, p.bg, 0.28);
  p.font = style.getPropertyValue("--st-font").trim() || "sans-serif";
  p.key = background + dark;
  return p;
}

const HATCHES = new Map();

// A hatch as a repeating pattern; `scale` is device pixels per pixel.
function hatch(context, { fg, bg, gap = 5, width = 1.15, down = false }, scale) {
  const key = [fg, bg, gap, width, down, scale].join();
  if (!HATCHES.has(key)) {
    const size = Math.round(gap * Math.SQRT2 * scale), tile = document.createElement("canvas");
    tile.width = tile.height = size;
    const g = tile.getContext("2d");
    if (bg) { g.fillStyle = bg; g.fillRect(0, 0, size, size); }
    g.strokeStyle = fg;
    g.lineWidth = width * scale;
    g.beginPath();
    for (const shift of [-size, 0, size]) {
      if (down) { g.moveTo(shift - 2, -2); g.lineTo(shift + size + 2, size + 2); }
      else { g.moveTo(shift - 2, size + 2); g.lineTo(shift + size + 2, -2); }
    }
    g.stroke();
    HATCHES.set(key, tile);
  }
  return context.createPattern(HATCHES.get(key), "repeat");
}

function inversionHatch(g, p, scale) { return hatch(g, { fg: p.culprit, bg: p.culpritBg, gap: 3.6, width: 1.15 }, scale); }

// The class marks: triangle, disc, square, of about the same weight.
function mark(g, role, x, y, size, colour) {
  const h = size / 2;
  g.fillStyle = colour;
  g.beginPath();
  if (role === 0) { g.moveTo(x, y - h); g.lineTo(x + h * 1.05, y + h * 0.85); g.lineTo(x - h * 1.05, y + h * 0.85); g.closePath(); }
  else if (role === 1) g.arc(x, y, h * 0.95, 0, 2 * Math.PI);
  else g.rect(x - h * 0.85, y - h * 0.85, h * 1.7, h * 1.7);
  g.fill();
}

function flag(g, x, y, size, colour) {
  g.fillStyle = colour;
  g.fillRect(x, y - size / 2, size * 0.14, size);
  g.beginPath();
  g.moveTo(x, y - size / 2); g.lineTo(x + size * 0.95, y - size / 2); g.lineTo(x + size * 0.7, y - size * 0.2);
  g.lineTo(x + size * 0.95, y + size * 0.1); g.lineTo(x, y + size * 0.1);
  g.fill();
}

function ringedCross(g, x, y, radius, p) {
  g.fillStyle = p.bg; g.strokeStyle = p.ink; g.lineWidth = 1.3;
  g.beginPath(); g.arc(x, y, radius, 0, 2 * Math.PI); g.fill(); g.stroke();
  const k = radius * 0.45;
  g.beginPath(); g.moveTo(x - k, y - k); g.lineTo(x + k, y + k); g.moveTo(x + k, y - k); g.lineTo(x - k, y + k); g.stroke();
}

// A canvas in device pixels, drawn in CSS pixels; returns its context and scale.
function fit(canvas, width, height) {
  const scale = Math.min(3, window.devicePixelRatio || 1), w = Math.round(width * scale), h = Math.round(height * scale);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; canvas.style.width = width + "px"; canvas.style.height = height + "px"; }
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  return [g, scale];
}

// What a person reads is a whole sentence in the language chosen: the English one is the key of its translation, and
// MESSAGES, put in front when the script is served, holds those of the other languages.
let language = "en";

function setLanguage(code) { language = Object.hasOwn(MESSAGES, code ?? "") ? code : "en"; }

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (!Object.hasOwn(values, name) ? whole : typeof values[name] === "number" ? count(values[name]) : values[name]));
}

function tr(template, values = {}) { return filled(MESSAGES[language]?.[template] ?? template, values); }

// A sentence about n things, which the template calls {n}.
function trCount(n, one, many, values = {}) { return tr(n === 1 && language === "en" ? one : many, { n, ...values }); }

// Sentences one after the other; Chinese ones end with a stop that is wide enough.
const joined = (sentences) => sentences.filter(Boolean).join(language === "zh" ? "" : " ");

// Numbers in words: three significant figures and never more than three decimals.
const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const count = (n) => WHOLE.format(Math.round(n));

function span(seconds) {
  if (!Number.isFinite(seconds)) return tr("never");
  if (seconds === 0) return "0" + NARROW_NO_BREAK + "s";
  if (seconds < 0.0995) return (seconds < 0.00095 ? "<1" : String(Math.round(seconds * 1000))) + NARROW_NO_BREAK + "ms";
  const digits = seconds < 0.995 ? 2 : seconds < 99.5 ? 1 : 0;
  return Number(seconds.toFixed(digits)).toLocaleString("en-US", { minimumFractionDigits: digits }) + NARROW_NO_BREAK + "s";
}

const moment = (seconds) => seconds.toFixed(2) + NARROW_NO_BREAK + "s";
const percent = (part) => Math.round(100 * part) + NARROW_NO_BREAK + "%";

function listed(names, most = 2) {
  const shown = names.slice(0, most), rest = names.length - shown.length;
  const comma = language === "zh" ? "、" : ", ";
  if (rest > 0) return trCount(rest, "{names} and {n} more", "{names} and {n} more", { names: shown.join(comma) });
  return shown.length < 2 ? shown.join("") : tr("{names} and {last}", { names: shown.slice(0, -1).join(comma), last: shown.at(-1) });
}

// A name as a user wrote it, fit to stand in a sentence: not too long, without marks that turn the writing round, and
// where it runs from right to left, kept apart from what stands beside it.
const LONGEST_NAME = 28, TURNS = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u0000-\u001f]/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802-\ud803\ud83a-\ud83b]/;

function displayed(name) {
  const letters = Array.from(name.replace(TURNS, ""));
  const cut = letters.length > LONGEST_NAME ? letters.slice(0, LONGEST_NAME - 9).join("") + "…" + letters.slice(-8).join("") : letters.join("");
  const text = cut.replaceAll("**", "*\u200b*");                // two stars would set what follows in bold
  return RIGHT_TO_LEFT.test(text) ? "\u2068" + text + "\u2069" : text;
}

// Elements are made from text and attributes only: nothing a user wrote is ever parsed as markup.
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value; else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function say(node, text) { if (node.textContent !== text) node.textContent = text; }

// Bold parts are between double stars; `parts` remembers what is shown so that nothing is touched for nothing.
function sayRich(node, text) {
  if (node._said === text) return;
  node._said = text;
  node.replaceChildren(...text.split("**").map((part, k) => (k % 2 ? el("b", {}, part) : part)));
}

const SHAPES = ["M0 -5.2 5.6 4.5 -5.6 4.5Z", "M-4.8 0a4.8 4.8 0 1 0 9.6 0a4.8 4.8 0 1 0 -9.6 0Z", "M-4.4 -4.4H4.4V4.4H-4.4Z"];
const ICONS = {
  play: "M8 5v14l11-7z", pause: "M6 5h4v14H6zM14 5h4v14h-4z", next: "M6 6l8.5 6L6 18zM16 6h2v12h-2z", previous: "M18 6l-8.5 6L18 18zM6 6h2v12H6z",
  met: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 18a8 8 0 1 1 0-16 8 8 0 0 1 0 16zm4.6-12.4L10 14.2l-2.6-2.6L6 13l4 4 8-8z",
  missed: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 18a8 8 0 1 1 0-16 8 8 0 0 1 0 16zm3.6-13L12 10.600 8.400 7 7 8.400 10.600 12 7 15.600 8.400 17 12 13.400 15.600 17 17 15.600 13.400 12 17 8.400z",
  wait: "M6 2v6l4 4-4 4v6h12v-6l-4-4 4-4V2zm10 14.500V20H8v-3.500l4-4z", flag: "M14.400 6 14 4H5v17h2v-7h5.600l.4 2h7V6z",
  table: "M3 4v16h18V4zm16 2v3H5V6zM5 11h6v3H5zm8 0h6v3h-6zm-8 5h6v2H5zm8 0h6v2h-6z",
};

function svg(path, { size = 18, box = "0 0 24 24", colour = "currentColor", label = null } = {}) {
  const space = "http://www.w3.org/2000/svg", node = document.createElementNS(space, "svg"), shape = document.createElementNS(space, "path");
  for (const [k, v] of Object.entries({ width: size, height: size, viewBox: box, "aria-hidden": label ? null : "true", role: label ? "img" : null, "aria-label": label })) if (v !== null) node.setAttribute(k, v);
  shape.setAttribute("d", path);
  shape.setAttribute("fill", colour);
  node.append(shape);
  return node;
}

const icon = (name, size = 18) => svg(ICONS[name], { size });
const classMark = (role, size = 11) => { const node = svg(SHAPES[role], { size, box: "-6 -6 12 12", colour: `var(--${ROLE[role]})` }); node.setAttribute("class", "mark"); return node; };
