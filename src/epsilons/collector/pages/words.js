// What people read: odds in place of budgets, and what a report says.
import { order, parity, truly } from "./report.js";

export function shown(question, number) {
  const text = String(Number(number.toPrecision(6)));
  return question.unit ? `${text} ${question.unit}` : text;
}

export function odds(question, epsilon) {
  const right = truly(epsilon), wrong = 100 - right;
  if (question.kind === "yes-no") {
    return `Of 100 people like you, about ${right} send their true answer and ${wrong} the opposite.`;
  }
  if (question.kind === "number") {
    return `Of 100 people like you, about ${right} send their word “high” or “low” as chance made `
      + `it of their number, and ${wrong} send the opposite word.`;
  }
  return `Of 100 people like you, about ${right} reply truly to a random question about their `
    + `answer, and ${wrong} reply the opposite.`;
}

export function how(question) {
  if (question.kind === "yes-no") {
    return "Your device tosses a coin in secret. Mostly it sends your answer; sometimes it sends "
      + "the opposite. Nobody can tell which it did, so nobody can hold what was sent against you.";
  }
  if (question.kind === "number") {
    const [lo, hi] = question.bounds.map((side) => shown(question, side));
    return `Your number never leaves your device. Chance makes one word of it: “high”, the more `
      + `often the nearer your number is to ${hi}, or “low”, the more often the nearer it is to `
      + `${lo}. Then a coin, tossed in secret, sometimes turns that word into its opposite.`;
  }
  return "Your answer never leaves your device. Your device picks a random group of the options, "
    + "and replies yes or no to the question whether your answer is in it. Then a coin, tossed in "
    + "secret, sometimes turns the reply into its opposite.";
}

// What the bytes of a report say, in words: read from the bytes, not from the answer.
export function says(question, bytes) {
  const bit = bytes[bytes.length - 1];
  if (question.kind === "yes-no") return bit ? "“Yes”." : "“No”.";
  if (question.kind === "number") {
    const end = shown(question, question.bounds[bit]);
    return `“${bit ? "High" : "Low"}”: one word, for the end of the range at ${end}.`;
  }
  const row = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 5, true);
  if (!(row >= 1 && row < order(question.options.length))) throw new Error("no such row");
  const group = question.options.filter((_, place) => parity(row, place));
  return `“${bit ? "Yes" : "No"}”, to the question: is it ${group.join(", or ")}?`;
}

// The level that stands in the bytes of a report.
export function levelOf(question, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const epsilon = view.getFloat64(16 + view.getUint32(8, true), true);
  return question.levels.find((level) => level.epsilon === epsilon);
}
