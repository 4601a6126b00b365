// Reports in the format of docs/local-reports.md. All computations that determine a report are exact:
// integers are BigInt, and random words come only from the system's generator.

const WORD = 1n << 64n;
const GRID = 2 ** 30;

// Rows [budget, N, K]: from this budget on, a piecewise report is one of N answers, K of them around the value.
const WINDOWS = [
  [0, 2, 1], [1.5, 3, 1], [2.5, 7, 2], [3.5, 13, 3], [4.75, 64, 11], [6, 128, 15], [7.5, 256, 19],
  [9, 256, 11], [11, 256, 6], [13, 256, 3], [15, 256, 2], [17, 256, 1],
];

// Return [N, K] for a question at a budget: there are N answers, and K of them are around a value.
// A report of one bit has [2, 1].
export function windowOf(question, epsilon) {
  if (question.reports !== "piecewise") return [2, 1];
  return WINDOWS.filter(([from]) => from <= epsilon).pop().slice(1);
}

// One word: eight random bytes, little-endian. `fill` fills an array with random bytes.
function word(fill) {
  const bytes = new Uint8Array(8);
  fill(bytes);
  return new DataView(bytes.buffer).getBigUint64(0, true);
}

// A float64 as an exact fraction of integers.
function fraction(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const digits = (bits & 0xfffffffffffffn) | (power > 0 ? 1n << 52n : 0n);
  const shift = BigInt(Math.max(power, 1) - 1075);
  return shift >= 0n ? [digits << shift, 1n] : [digits, 1n << -shift];
}

// Integer bounds on 2^bits·e^(−ε): the Taylor series at ε divided by a power of two, then squaring.
function around(top, bottom, bits) {
  const one = 1n << bits;
  let halvings = 0n;
  while (top > (bottom << halvings)) halvings += 1n;
  halvings += 8n;
  const low = (top << bits) / (bottom << halvings);
  const high = low + 1n;
  // 1/e^x ≤ 1/(sum of terms rounded down), and ≥ 1/(sum of terms rounded up, plus the remainder).
  let under = one, over = one, down = one, up = one;
  for (let k = 1n; up > 1n; k += 1n) {
    down = (down * low) / (k << bits);
    up = (up * high) / (k << bits) + 1n;
    under += down;
    over += up;
  }
  over += 2n;
  let least = (one * one) / over, most = (one * one) / under + 1n;
  for (let k = 0n; k < halvings; k += 1n) {
    least = (least * least) >> bits;
    most = ((most * most) >> bits) + 1n;
  }
  return [least, most];
}

// F = ⌈2^64·(N − K)/(K·e^ε + N − K)⌉, exactly. If a random word is below F, the answer is none of the K
// around the value. For one bit, this means that the answer is flipped.
export function threshold(epsilon, [answers, inside] = [2, 1]) {
  if (!(epsilon >= 0)) throw new Error("a budget is a number from 0 up");
  if (epsilon === Infinity) return 0n;
  const [top, bottom] = fraction(Math.min(epsilon, 80)), outside = BigInt(answers - inside);
  for (let bits = 192n; ; bits *= 2n) {
    const ends = around(top, bottom, bits).map((y) => {
      const whole = (BigInt(inside) << bits) + outside * y;
      return (WORD * outside * y + whole - 1n) / whole;
    });
    if (ends[0] === ends[1]) return ends[0] > 1n ? ends[0] : 1n;
  }
}

// The expected number of people who send their true bit, or one of the K answers around their value, rounded.
export function truly(question, epsilon, people = 100) {
  const missed = threshold(epsilon, windowOf(question, epsilon));
  return people - Number((2n * BigInt(people) * missed + WORD) / (2n * WORD));
}

function flipped(epsilon, fill, window) {
  return word(fill) < threshold(epsilon, window) ? 1 : 0;
}

// The number of rows of the matrix for this number of categories.
export function order(cells) {
  let many = 2;
  while (many < cells) many *= 2;
  return many;
}

// A uniform number below `many`: words beyond the largest multiple of `many` are drawn again.
function below(many, fill) {
  if (many === 1) return 0;
  const cycle = BigInt(many), cycles = WORD - (WORD % cycle);
  let drawn = word(fill);
  while (drawn >= cycles) drawn = word(fill);
  return Number(drawn % cycle);
}

// Draw one of N answers: uniform on the K around the value or, if the coin says so, uniform on the others.
// One bit is the case N = 2.
function piece(value, epsilon, window, fill) {
  const [answers, inside] = window, places = answers - inside, scaled = value * places;
  const place = Math.floor(scaled / GRID) + (Number(word(fill) >> 34n) < scaled % GRID ? 1 : 0);
  if (!flipped(epsilon, fill, window)) return place + below(inside, fill);
  const other = below(places, fill);
  return other < place ? other : other + inside;
}

export function parity(row, cell) {
  let shared = row & cell, odd = 0;
  for (; shared; shared >>>= 1) odd ^= shared & 1;
  return odd;
}

// The public parameters of a question, as stored in every report.
export async function parameters(question) {
  if (question.kind === "yes-no") return new Uint8Array(0);
  if (question.kind === "number") {
    const pieces = question.reports === "piecewise";
    const view = new DataView(new ArrayBuffer(pieces ? 17 : 16));
    question.bounds.forEach((side, place) => view.setFloat64(8 * place, side, true));
    if (pieces) view.setUint8(16, 1);
    return new Uint8Array(view.buffer);
  }
  const lines = question.options.map((label) => JSON.stringify(label)).join("\n");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(lines));
  const view = new DataView(new ArrayBuffer(21));
  view.setUint32(0, question.options.length, true);
  view.setUint8(4, 1);
  new Uint8Array(view.buffer).set(new Uint8Array(digest).subarray(0, 8), 13);
  return new Uint8Array(view.buffer);
}

const CODES = {"yes-no": 1, "number": 2, "one-of": 4};

// The bytes after the budget: the randomized answer.
function answered(question, value, epsilon, fill) {
  if (question.kind === "yes-no") return [(value ? 1 : 0) ^ flipped(epsilon, fill)];
  if (question.kind === "number") {
    const [lo, hi] = question.bounds;
    const inside = Math.min(Math.max(value, lo), hi);
    const steps = Math.floor((inside - lo) * (GRID / (hi - lo)) + 0.5);
    const answer = piece(Math.min(Math.max(steps, 0), GRID), epsilon, windowOf(question, epsilon), fill);
    return question.reports === "piecewise" ? [answer] : [1, 0, 0, 0, answer];
  }
  const row = 1 + below(order(question.options.length) - 1, fill);
  const bit = parity(row, value) ^ flipped(epsilon, fill);
  return [row & 255, (row >>> 8) & 255, (row >>> 16) & 255, row >>> 24, bit];
}

// Make a report. `value`: true or false; a number; or the index of an option. `fill` fills an array with
// random bytes: from the system's generator on a person's device, from given bytes in tests.
export async function report(question, value, epsilon, fill) {
  if (!(epsilon > 0 && epsilon < Infinity)) throw new Error("this budget is not offered");
  if (question.kind === "number" && !Number.isFinite(value)) throw new Error("no number");
  if (question.kind === "yes-no" && typeof value !== "boolean") throw new Error("no answer");
  if (question.kind === "one-of" && !Object.keys(question.options).includes(String(value))) {
    throw new Error("no option");
  }
  const given = await parameters(question);
  const tail = answered(question, value, epsilon, fill);
  const view = new DataView(new ArrayBuffer(24 + given.length + tail.length));
  const bytes = new Uint8Array(view.buffer);
  bytes.set([0x45, 0x50, 0x53, 0x52, 1, CODES[question.kind], 0, 0]);
  view.setUint32(8, given.length, true);
  view.setUint32(12, 1, true);
  bytes.set(given, 16);
  view.setFloat64(16 + given.length, epsilon, true);
  bytes.set(tail, 24 + given.length);
  return bytes;
}

export function system(bytes) {
  crypto.getRandomValues(bytes);
}

export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function unhex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
