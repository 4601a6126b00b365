// The organiser's page: the key is in the address after #, and goes to this server alone.
import { drawn, say, show, when } from "./flow.js";
import { shown } from "./words.js";

const find = (id) => document.getElementById(id);
const name = location.pathname.split("/")[2];
const key = location.hash.slice(1);
const EVERY = 2000;
let question = null;

async function ask(what, method = "GET") {
  return fetch(`/o/${name}/${what}`, {method, headers: {"Authorization": `Bearer ${key}`},
                                      cache: "no-store", credentials: "omit"});
}

function worded(number) {
  if (question.kind === "number") return shown(question, Number(number.toPrecision(4)));
  return `${(100 * number).toFixed(1)} %`;
}

function part(number) {
  const [lo, hi] = question.kind === "number" ? question.bounds : [0, 1];
  return 100 * Math.min(Math.max((number - lo) / (hi - lo), 0), 1);
}

// A line for the range, a bar for the interval, a mark for the estimate.
function picture(result) {
  const svg = drawn("svg", {viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true"});
  const low = part(result.low), high = part(result.high), at = part(result.value);
  svg.append(
    drawn("rect", {class: "range", x: 0, y: 2.6, width: 100, height: 0.8}),
    drawn("rect", {class: "interval", x: low, y: 1.5, width: Math.max(high - low, 0.3), height: 3}),
    drawn("rect", {class: "value", x: Math.min(Math.max(at - 0.4, 0), 99.2), y: 0, width: 0.8, height: 6}),
  );
  return svg;
}

function ranged(each) {
  return `${worded(each.value)} (95 %: from ${worded(each.low)} to ${worded(each.high)})`;
}

// An estimate; below it the same, if all reports count alike.
function result(each, alike) {
  const box = document.createElement("div"), words = document.createElement("p");
  const strong = document.createElement("strong");
  const what = each.label ?? (question.kind === "number" ? "Mean" : "Share of yes");
  box.className = "result";
  strong.textContent = `${what}: ${worded(each.value)}`;
  words.append(strong, ` (95 %: from ${worded(each.low)} to ${worded(each.high)})`);
  if (part(each.low) === 0 && part(each.high) === 100) words.append(": nothing can be said yet");
  const second = cell("p", `If all reports count alike: ${ranged(alike)}`);
  second.className = "note";
  box.append(words, picture(each), second);
  return box;
}

function cell(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function influence({reports, moved}) {
  const who = `${reports} dishonest ${reports === 1 ? "report" : "reports"}`;
  if (moved === null) return `${who} could move this anywhere: there are few reports yet.`;
  const far = question.kind === "number" ? shown(question, Number(moved.toPrecision(3)))
    : `${(100 * moved).toFixed(1)} points`;
  return `${who} could move this by at most ${far}.`;
}

function render(told) {
  say("state", `Asked by ${question.organiser}. This survey is ${told.status}; its closing time is `
    + `${when(question.closes)}.`);
  say("many", `${told.reports} reports; ${told.used} of ${told.invited} invitations were used.`);
  find("results").replaceChildren(...(told.results.length
    ? told.results.map((each, at) => result(each, told.alike[at])) : [cell("p", "No report has come yet.")]));
  const together = question.kind === "one-of" ? " All ranges hold at once." : "";
  say("honest", told.status === "closed early"
    ? "This survey was closed before its time. If the moment was chosen by looking at the estimate, "
      + "the interval does not hold."
    : `The interval holds with 95 % at the closing time that was fixed beforehand.${together} It does `
      + "not hold for a moment that somebody chooses because the numbers look good. It takes those who "
      + "answered for a random sample. It counts reports by their level, as if the choice of a level "
      + "said nothing of the answer; where it does, read the second line. Asking the same people again "
      + "spends their privacy again.");
  say("influence", told.influence ? influence(told.influence) : "");
  find("levels").replaceChildren(...told.levels.map((level) => {
    const row = document.createElement("tr"), head = cell("th", level.name);
    head.scope = "row";
    row.append(head, cell("td", level.epsilon), cell("td", level.reports));
    return row;
  }));
  show("live", true);
}

async function refresh() {
  const answer = await ask("estimate");
  if (answer.status === 401) {
    say("outcome", "This key does not open this survey. Open the link that was shown when it was made.");
    return;
  }
  if (answer.ok) {
    render(await answer.json());
    say("outcome", "");
  } else say("outcome", "The server did not answer as it should.");
  setTimeout(again, EVERY);
}

function again() {
  refresh().catch(() => {
    say("outcome", "The server does not answer. What is shown may be old.");
    setTimeout(again, EVERY);
  });
}

async function save() {
  const answer = await ask("reports.parquet");
  if (!answer.ok) {
    say("outcome", (await answer.json()).reason);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `${name}.parquet`;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function open() {
  const asked = await fetch(`/s/${name}/question.json`, {cache: "no-store", credentials: "omit"});
  question = await asked.json();
  say("question", question.question);
  find("export").addEventListener("click", save);
  find("close").addEventListener("click", async () => {
    const answer = await ask("close", "POST");
    say("outcome", answer.ok ? "Closed." : "It could not be closed.");
  });
  again();
}

open().catch(() => say("outcome", "The survey could not be shown. Reload the page."));
