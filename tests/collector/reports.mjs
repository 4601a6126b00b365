// Makes reports from given random bytes: reads cases as lines of JSON, and writes reports.
import { readFileSync } from "node:fs";
import { hex, report, system, threshold, truly, unhex, windowOf } from "./report.js";
import { levelOf, odds, says } from "./words.js";

const given = JSON.parse(readFileSync(0, "utf-8"));
const out = [];

// Make many reports of one value, from given random bytes or from the system's generator.
async function many(each) {
  const tape = each.tape === null ? null : readFileSync(each.tape);
  let at = 0;
  const fill = tape === null ? system : (target) => {
    if (at + target.length > tape.length) throw new Error("the tape has ended");
    target.set(tape.subarray(at, at + target.length));
    at += target.length;
  };
  const counts = {};
  for (let k = 0; k < each.many; k += 1) {
    const tail = hex((await report(each.question, each.value, each.epsilon, fill)).slice(each.from));
    counts[tail] = (counts[tail] ?? 0) + 1;
  }
  return counts;
}

async function one(each) {
  const tape = unhex(each.random);
  let at = 0;
  const fill = (target) => {
    if (at + target.length > tape.length) throw new Error("the tape has ended");
    target.set(tape.subarray(at, at + target.length));
    at += target.length;
  };
  const made = await report(each.question, each.value, each.epsilon, fill);
  const found = [hex(made), at];
  if (each.question.levels) {
    found.push(says(each.question, made), levelOf(each.question, made).name);
    found.push(odds(each.question, each.epsilon));
  }
  return found;
}

for (const each of given) {
  if (each.what === "threshold") out.push(threshold(each.epsilon, each.window).toString());
  else if (each.what === "window") out.push(windowOf({reports: "piecewise"}, each.epsilon));
  else if (each.what === "truly") out.push(truly({}, each.epsilon));
  else if (each.what === "many") out.push(await many(each));
  else out.push(await one(each).catch((problem) => [problem.message]));
}
process.stdout.write(JSON.stringify(out));
