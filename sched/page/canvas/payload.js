// One run of one policy, as sched/figures/payload.py packed it: a JSON head and typed columns, deflated together.

const NEVER = 0xffffffff;

async function inflate(bytes) {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  writer.write(bytes);
  writer.close();
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

// Bytes of one rank stand together (they deflate better so); this puts the numbers together again.
function words(bytes, at, count) {
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    out[i] = (bytes[at + i] | (bytes[at + count + i] << 8) | (bytes[at + 2 * count + i] << 16) | (bytes[at + 3 * count + i] << 24)) >>> 0;
  }
  return out;
}

function column(bytes, at, kind, count, unit) {
  if (kind === "u1") return bytes.slice(at, at + count);
  const raw = words(bytes, at, count);
  for (let i = 1; i < count; i++) raw[i] = raw[i] + raw[i - 1];      // differences, modulo 2^32
  if (kind === "i4") return new Int32Array(raw.buffer);
  const seconds = new Float64Array(count);
  for (let i = 0; i < count; i++) seconds[i] = raw[i] === NEVER ? NaN : raw[i] * unit;
  return seconds;
}

function unpackRun(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const table = {};
  let at = 4 + size;
  for (const [name, kind, count] of head.columns) {
    const [group, key] = name.split(".");
    (table[group] ??= {})[key] = column(bytes, at, kind, count, head.unit_s);
    at += kind === "u1" ? count : 4 * count;
  }
  return { head, ...table };
}

// The payload of the stage: a JSON head, then the two runs one after the other.
async function unpackStage(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  const runs = [];
  for (const length of head.sizes) {
    runs.push(unpackRun(await inflate(bytes.slice(at, at + length))));
    at += length;
  }
  return { head, runs };
}
