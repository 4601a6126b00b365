// Texts for participants: odds instead of budgets, and the content of a report.
import { order, parity, truly, windowOf } from "./report.js";

export function shown(question, number) {
  const text = String(Number(number.toPrecision(6)));
  return question.unit ? `${text} ${question.unit}` : text;
}

// Odds out of 100 people, or out of more people if the odds would round to 100 out of 100.
export function odds(question, epsilon) {
  let many = 100;
  while (truly(question, epsilon, many) === many) many *= 10;
  const right = truly(question, epsilon, many).toLocaleString("en-GB");
  const wrong = (many - truly(question, epsilon, many)).toLocaleString("en-GB");
  const people = `Of ${many.toLocaleString("en-GB")} people like you, about ${right} send`;
  if (question.kind === "yes-no") return `${people} their true answer and ${wrong} the opposite.`;
  if (question.reports === "piecewise") {
    const [answers, inside] = windowOf(question, epsilon), others = answers - inside;
    const own = inside === 1 ? `their own step of ${answers}`
      : `one of the ${inside} steps around their own, of ${answers}`;
    const rest = others === 1 ? "the other one, which is" : `one of the other ${others}, each`;
    const less = Number(Math.exp(epsilon).toPrecision(2)).toLocaleString("en-GB");
    return `${people} ${own}, and ${wrong} ${rest} ${less} times less likely.`;
  }
  if (question.kind === "number") return `${people} their own word, and ${wrong} the opposite.`;
  return `${people} the true yes or no, and ${wrong} the opposite.`;
}

const OPPOSITE = "How often it is the opposite is what you choose below. Nobody can learn more from what "
  + "was sent than these odds allow.";

export function how(question) {
  if (question.kind === "yes-no") {
    return `Your device tosses a coin in secret: it sends your answer, or sometimes the opposite. ${OPPOSITE}`;
  }
  if (question.reports === "piecewise") {
    const [lo, hi] = question.bounds.map((side) => shown(question, side));
    return "Your number never leaves this device. Chance makes one step of it, on a scale from "
      + `${lo} to ${hi}: the nearer a step is to your number, the likelier. Strict levels have few `
      + "steps. Then your device tosses a coin in secret: it sends a step around there, or sometimes "
      + "one of the others. How often it is one of the others is what you choose below. Nobody can "
      + "learn more from what was sent than these odds allow.";
  }
  if (question.kind === "number") {
    const [lo, hi] = question.bounds.map((side) => shown(question, side));
    return "Your number never leaves this device. Chance makes one word of it, “high” or “low”: the "
      + `nearer your number is to ${hi}, the likelier “high”; the nearer to ${lo}, the likelier `
      + "“low”. Then your device tosses a coin in secret: it sends that word, or sometimes the "
      + `opposite. ${OPPOSITE}`;
  }
  return "Your answer never leaves this device. Your device picks some of the options by chance. Is "
    + "your answer among them, yes or no? Then it tosses a coin in secret: it sends that yes or no, "
    + `or sometimes the opposite. ${OPPOSITE}`;
}

// The content of a report in words, read from its bytes and not from the answer.
export function says(question, bytes) {
  const bit = bytes[bytes.length - 1];
  if (question.kind === "yes-no") return bit ? "“Yes”." : "“No”.";
  if (question.reports === "piecewise") {
    const [answers] = windowOf(question, levelOf(question, bytes).epsilon);
    const [lo, hi] = question.bounds.map((side) => shown(question, side));
    return `“Step ${bit + 1} of ${answers}”, on a scale from ${lo} to ${hi}.`;
  }
  if (question.kind === "number") {
    const end = shown(question, question.bounds[bit]);
    return `“${bit ? "High" : "Low"}”: one word, for the end of the range at ${end}.`;
  }
  const row = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 5, true);
  if (!(row >= 1 && row < order(question.options.length))) throw new Error("no such row");
  const group = question.options.filter((_, place) => parity(row, place));
  return `“${bit ? "Yes" : "No"}”, to the question: is your answer one of these? ${group.join("; ")}`;
}

// The level in the bytes of a report.
export function levelOf(question, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const epsilon = view.getFloat64(16 + view.getUint32(8, true), true);
  return question.levels.find((level) => level.epsilon === epsilon);
}
