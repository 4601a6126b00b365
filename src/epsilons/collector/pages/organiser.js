// The organiser's page. The key is in the fragment of the URL, and is sent only to this server.
import { drawn, say, show, state } from "./flow.js";
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

// The number of decimals to show: the last decimal is at least a tenth of the half-width.
function decimals(each) {
  const half = (each.high - each.low) / 2 * (question.kind === "number" ? 1 : 100);
  return half > 0 ? Math.min(Math.max(-Math.floor(Math.log10(half)), 0), 12) : 0;
}

// A number rounded to `digits` decimals: to the nearest, or outwards for the ends of an interval.
function worded(number, digits, round = Math.round) {
  const size = 10 ** digits, whole = question.kind === "number" ? number : 100 * number;
  // First round to a hundredth of a step: a float error must not move an end by a full step.
  const text = (round(Number((whole * size).toFixed(2))) / size).toFixed(digits);
  if (question.kind !== "number") return `${text} %`;
  return question.unit ? `${text} ${question.unit}` : text;
}

function part(number) {
  const [lo, hi] = question.kind === "number" ? question.bounds : [0, 1];
  return 100 * Math.min(Math.max((number - lo) / (hi - lo), 0), 1);
}

// The picture of a result: a line for the range, a bar for the interval, a mark for the estimate.
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
  const digits = decimals(each);
  return `from ${worded(each.low, digits, Math.floor)} to ${worded(each.high, digits, Math.ceil)}`;
}

// The estimate that is valid for any choice of levels; below it the narrower one, with its assumption.
function result(each, unrelated) {
  const box = document.createElement("div"), words = document.createElement("p");
  const strong = document.createElement("strong");
  const what = each.label ?? (question.kind === "number" ? "Mean" : "Share of yes");
  box.className = "result";
  const anything = part(each.low) === 0 && part(each.high) === 100;
  strong.textContent = `${what}: ${anything ? "nothing can be said" : worded(each.value, decimals(each))}`;
  words.append(strong, ` (95 %: ${ranged(each)})`);
  const second = cell("p", "If the choice of a level says nothing about the answer: "
    + `${worded(unrelated.value, decimals(unrelated))} (95 %: ${ranged(unrelated)})`);
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
  const far = question.kind === "number" ? shown(question, Number(moved.toPrecision(2)))
    : `${Number((100 * moved).toPrecision(2))} points`;
  return `${who} could move this by at most ${far}.`;
}

// Explanation of both intervals, by the status of the survey.
function explained(status) {
  const together = question.kind === "one-of" ? " All ranges of one kind hold at once." : "";
  const early = status === "closed early";
  return [
    `The interval in the first line holds with 95 %, whatever people chose: all reports count alike, and `
      + `the choice of a level may be related to the answer in any way.${together} The second line is `
      + "narrower. It counts reports by their level, and holds only if the choice of a level says nothing "
      + "about the answer.",
    "Both take those who answered for a random sample.",
    early ? "This survey was closed before its time. If the moment was chosen by looking at the estimate, "
      + "neither interval holds."
      : "Both hold at the closing time that was fixed beforehand, and not for a moment that somebody "
        + "chooses because the numbers look good.",
    "Asking the same people again spends their privacy again.",
  ];
}

function counted(told) {
  const open = told.status === "open";
  const many = `${told.reports} ${told.reports === 1 ? "report" : "reports"}`;
  const used = `${many}${open ? " are shown" : ""}; ${told.used} of ${told.invited} invitations were used.`;
  if (!told.replaced) return used;
  return `${used} ${told.replaced} ${told.replaced === 1 ? "invitation was" : "invitations were"} replaced: so `
    + "many people may have answered twice.";
}

function render(told) {
  const open = told.status === "open";
  say("state", `Asked by ${question.organiser}. ${state({...question, status: told.status})}`);
  say("many", counted(told));
  find("results").replaceChildren(...(told.results.length
    ? told.results.map((each, at) => result(each, told.unrelated[at]))
    : [cell("p", open ? "Nothing is shown before twenty reports have come." : "No report has come.")]));
  find("honest").replaceChildren(...explained(told.status).map((each) => {
    const words = cell("p", each);
    words.className = "note";
    return words;
  }));
  show("batches", open);
  show("closing", open);
  show("exporting", !open);
  say("closed", open ? "" : "This survey is closed for good.");
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

function sure(asked) {
  show("close", !asked);
  show("sure", asked);
  find(asked ? "title-sure" : "close").focus();
}

async function close() {
  const answer = await ask("close", "POST");
  if (!answer.ok) say("outcome", "It could not be closed.");
  else render(await (await ask("estimate")).json());
}

async function open() {
  const asked = await fetch(`/s/${name}/question.json`, {cache: "no-store", credentials: "omit"});
  question = await asked.json();
  say("question", question.question);
  find("export").addEventListener("click", save);
  find("close").addEventListener("click", () => sure(true));
  find("not").addEventListener("click", () => sure(false));
  find("really").addEventListener("click", () => close().catch(
    () => say("outcome", "The server does not answer: it is not known whether the survey is closed.")));
  again();
}

// A new link in the same tab has another key: reload.
addEventListener("hashchange", () => location.reload());
open().catch(() => say("outcome", "The survey could not be shown. Reload the page."));
