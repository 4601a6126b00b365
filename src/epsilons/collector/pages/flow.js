// The participant's steps: reserve the invitation, choose a level, answer, review the report, send it. A
// report is randomized once and stored. A retry sends the same report: a second one would reveal more.
import { hex, report, system, truly, unhex } from "./report.js";
import { how, levelOf, odds, says } from "./words.js";

const find = (id) => document.getElementById(id);

export function say(id, text) {
  find(id).textContent = text;
}

export function show(id, visible) {
  find(id).hidden = !visible;
}

async function hashed(text) {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

async function place(question, token) {
  return `epsilons/${question.id}/${(await hashed(token)).slice(0, 16)}`;
}

// The stored key and, if it exists, the stored report of an invitation; null if nothing is stored.
function kept(where) {
  const text = localStorage.getItem(where);
  return text === null ? null : JSON.parse(text);
}

function keep(where, held) {
  localStorage.setItem(where, JSON.stringify(held));
  return held;
}

// 128 random bits for ids and keys, independent of the random bits of a report.
function drawnByChance() {
  const bytes = new Uint8Array(16);
  system(bytes);
  return hex(bytes);
}

// Run in only one window of this browser at a time.
function alone(where, work) {
  return navigator.locks ? navigator.locks.request(where, work) : work();
}

function put(invitation, path, key, body) {
  const headers = {"Authorization": `Bearer ${invitation.token}`, "Content-Type": "application/octet-stream"};
  if (key) headers.Reservation = key;
  return fetch(`${invitation.address}/r/${path}`, {
    method: "PUT", headers, body,
    credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
  });
}

export function drawn(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [each, value] of Object.entries(attributes)) made.setAttribute(each, value);
  return made;
}

// A bar that shows how many of 100 people send their true answer, or one around their value, in addition
// to the numbers.
function bar(question, epsilon) {
  const svg = drawn("svg", {class: "odds", viewBox: "0 0 100 4", preserveAspectRatio: "none",
                            "aria-hidden": "true"});
  svg.append(drawn("rect", {class: "range", width: 100, height: 4}),
             drawn("rect", {class: "true", width: truly(question, epsilon), height: 4}));
  return svg;
}

function choice(group, value, title, ...details) {
  const label = document.createElement("label"), input = document.createElement("input");
  input.type = "radio";
  input.name = group;
  input.value = value;
  input.required = true;
  const words = document.createElement("span"), strong = document.createElement("strong");
  strong.textContent = title;
  words.append(strong, ...details);
  label.append(input, words);
  return label;
}

function numberField(question) {
  const label = document.createElement("label"), input = document.createElement("input");
  const [lo, hi] = question.bounds, unit = question.unit ? ` ${question.unit}` : "";
  label.className = "number";
  label.append(`A number from ${lo} to ${hi}${unit}`, input);
  Object.assign(input, {type: "number", name: "answer", step: "any", min: lo, max: hi});
  input.required = true;
  return label;
}

function ask(question) {
  say("question", question.question);
  say("asker", `Asked by ${question.organiser}. ${state(question)}`);
  say("how", how(question));
  for (const [at, level] of question.levels.entries()) {
    const words = document.createElement("span");
    words.textContent = odds(question, level.epsilon);
    find("levels").append(choice("level", at, level.name, words, bar(question, level.epsilon)));
  }
  if (question.kind === "number") find("answers").append(numberField(question));
  else {
    const options = question.kind === "yes-no" ? ["Yes", "No"] : question.options;
    options.forEach((option, at) => find("answers").append(choice("answer", at, option)));
  }
  for (const level of question.levels) {
    const row = document.createElement("li");
    row.textContent = `${level.name}: ε = ${level.epsilon}. Whatever you answer, what is sent is at `
      + `most ${Math.exp(level.epsilon).toFixed(2)} times as likely as with any other answer.`;
    find("budgets").append(row);
  }
}

// A time in UTC, which is the same for everyone, and in the reader's time zone.
export function when(moment) {
  const date = new Date(moment), style = {dateStyle: "long", timeStyle: "short"};
  const utc = date.toLocaleString("en-GB", {...style, timeZone: "UTC"});
  const here = date.toLocaleString("en-GB", style);
  return here === utc ? `${utc} UTC` : `${utc} UTC (${here} where you are)`;
}

export function state({status, closes}) {
  if (status === "open") return `Open until ${when(closes)}.`;
  return status === "closed" ? `Closed since ${when(closes)}.`
    : `Closed early: its closing time was to be ${when(closes)}.`;
}

function answer(question) {
  const given = new FormData(find("form")).get("answer");
  if (question.kind === "yes-no") return given === "0";
  return Number(given);
}

function level(question) {
  return question.levels[Number(new FormData(find("form")).get("level"))];
}

function only(id) {
  for (const each of ["form", "review", "made", "handed"]) show(each, each === id);
  show("file", id === "form" && !find("file").dataset.never);
}

function focused(id, title) {
  only(id);
  find(title).focus();
}

function review(question) {
  const value = answer(question), {name, epsilon} = level(question);
  const unit = question.unit ? ` ${question.unit}` : "";
  say("chosen-answer", question.kind === "number" ? `${value}${unit}`
    : question.kind === "yes-no" ? (value ? "Yes" : "No") : question.options[value]);
  say("chosen-level", `“${name}”. ${odds(question, epsilon)}`);
  focused("review", "title-review");
}

function present(question, held, invitation) {
  const bytes = unhex(held.report), chosen = levelOf(question, bytes);
  say("says", says(question, bytes));
  say("level", `Level “${chosen.name}”. ${odds(question, chosen.epsilon)}`);
  say("whom", `${question.organiser}, by way of ${invitation.address || location.origin}`);
  say("bytes", held.report.match(/.{1,8}/g).join(" "));
  say("report-id", held.id);
  say("invitation", invitation.token);
  say("key", held.key ?? "none");
  if (held.sent) received();
  only("made");
}

function received() {
  say("title-made", "This was sent");
  say("remembered", "This device made one report for this invitation, and sent it.");
  show("please", false);
  show("send", false);
}

// Reserve the invitation. Status 200, 201: reserved for this device; 208: its report was received.
async function reserve(question, invitation, where) {
  const held = kept(where) ?? {};
  held.key ??= drawnByChance();
  if (invitation.key && !held.report) held.from = invitation.key;
  keep(where, held);  // before the request: without its key, this device could not use the invitation
  const answered = await put(invitation, question.id, held.from, await hashed(held.key));
  const {reason} = await answered.json();
  if (answered.status === 208) keep(where, {...held, sent: true});
  return {status: answered.status, reason, held: kept(where)};
}

async function deliver(question, invitation, where) {
  const held = kept(where);
  find("send").disabled = true;
  say("outcome", "Sending …");
  try {
    const path = `${question.id}/${held.id}`;
    const sent = await put(invitation, path, held.key, unhex(held.report));
    const told = await sent.json();
    find("outcome").dataset.status = sent.status;
    say("outcome", sent.ok ? `${told.reason} You can close this page.` : told.reason);
    find("send").disabled = false;
    show("send", [429, 503].includes(sent.status));
    if (sent.ok) {
      keep(where, {...held, sent: true});
      received();
    }
  } catch {
    find("outcome").dataset.status = "none";
    say("outcome", "It could not be sent. Try again: the very same report is sent, so that you "
      + "never give away more than you chose.");
    find("send").disabled = false;
  }
}

// Make a new report. It is stored before it is shown, so it is never randomized again.
async function fresh(question, where) {
  const held = kept(where);
  if (held?.report || held?.handed) return held;  // made by another window, or by a second click
  if (!held?.key) throw new Error("nothing is kept here");
  const made = hex(await report(question, answer(question), level(question).epsilon, system));
  return keep(where, {...held, id: drawnByChance(), report: made});
}

// Pass the key on to the offline page; this page then no longer asks the question.
async function hand(question, invitation, where) {
  const held = await alone(where, () => {
    const now = kept(where);
    return now.report ? now : keep(where, {...now, handed: true});
  });
  if (held.report) present(question, held, invitation);
  else handed(question, invitation, held);
}

function handed(question, invitation, held) {
  const link = `${location.origin}/s/${question.id}#${invitation.token}.${held.key}`;
  say("handed-link", link);
  find("copy").addEventListener("click", () => navigator.clipboard.writeText(link).then(
    () => say("outcome", "Copied."), () => say("outcome", "Select the link, and copy it.")));
  find("form").reset();
  focused("handed", "title-handed");
}

function listen(question, invitation, where) {
  find("form").addEventListener("submit", (event) => {
    event.preventDefault();
    review(question);
  });
  find("back").addEventListener("click", () => only("form"));
  find("take").addEventListener("click", () => hand(question, invitation, where));
  find("make").addEventListener("click", async () => {
    try {
      const held = await alone(where, () => fresh(question, where));
      find("form").reset();
      say("chosen-answer", "");
      if (held.handed) return handed(question, invitation, held);
      present(question, held, invitation);
      find("title-made").focus();
    } catch {
      say("outcome", "This browser cannot keep a report, so none was made, and nothing is sent.");
    }
  });
  find("send").addEventListener("click", () => deliver(question, invitation, where));
}

// Begin. `invitation` has the token, the address of the collector ("" for the origin of the page), and
// the key, if another page passed one on.
export async function begin(question, invitation) {
  ask(question);
  const where = await place(question, invitation.token), before = kept(where);
  listen(question, invitation, where);
  if (before?.handed) return handed(question, invitation, before);
  if (before?.sent) return present(question, before, invitation);
  if (question.status !== "open" && !before?.report) return say("outcome", "This survey is closed.");
  let found;
  try {
    found = await alone(where, () => reserve(question, invitation, where));
  } catch (problem) {
    if (!before?.report) throw problem;
    found = {held: before, reason: "The server does not answer. Your report is kept: send it later."};
  }
  const here = [200, 201, 208].includes(found.status);
  if (found.held?.report) {
    say("remembered", "This report was made on this device earlier. It is not made again.");
    present(question, found.held, invitation);
  } else if (found.held?.handed) handed(question, invitation, found.held);
  else if (here && found.status !== 208) only("form");
  if (here && (found.status !== 208 || found.held?.report)) return;
  say("outcome", found.reason);
  if ([403, 409, 410].includes(found.status)) show("send", false);  // the server would refuse it
}
