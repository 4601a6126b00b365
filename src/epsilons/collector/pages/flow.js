// The way of a participant: choose a level, answer, see what is sent, send it. A report is made once,
// kept, and sent again as it is: made again, it would tell more than was promised.
import { hex, report, system, truly, unhex } from "./report.js";
import { how, levelOf, odds, says } from "./words.js";

const find = (id) => document.getElementById(id);

export function say(id, text) {
  find(id).textContent = text;
}

export function show(id, visible) {
  find(id).hidden = !visible;
}

async function place(question, token) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return `epsilons/${question.id}/${hex(new Uint8Array(digest)).slice(0, 16)}`;
}

// What was made on this device, if anything was.
function kept(where) {
  const text = localStorage.getItem(where);
  return text === null ? null : JSON.parse(text);
}

export function drawn(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [each, value] of Object.entries(attributes)) made.setAttribute(each, value);
  return made;
}

// Of 100 people so many send the truth: as a bar, for who reads no numbers.
function bar(epsilon) {
  const svg = drawn("svg", {class: "odds", viewBox: "0 0 100 4", preserveAspectRatio: "none",
                            "aria-hidden": "true"});
  svg.append(drawn("rect", {class: "range", width: 100, height: 4}),
             drawn("rect", {class: "true", width: truly(epsilon), height: 4}));
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
  document.title = question.question;
  say("question", question.question);
  say("asker", `Asked by ${question.organiser}. Open until ${when(question.closes)}.`);
  say("how", how(question));
  for (const [at, level] of question.levels.entries()) {
    const words = document.createElement("span");
    words.textContent = odds(question, level.epsilon);
    find("levels").append(choice("level", at, level.name, words, bar(level.epsilon)));
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

export function when(moment) {
  const date = new Date(moment);
  return `${date.toLocaleString("en-GB", {dateStyle: "long", timeStyle: "short", timeZone: "UTC"})} UTC`;
}

function answer(question) {
  const given = new FormData(find("form")).get("answer");
  if (question.kind === "yes-no") return given === "0";
  return Number(given);
}

function present(question, made, invitation) {
  const bytes = unhex(made.report), level = levelOf(question, bytes);
  say("says", says(question, bytes));
  say("level", `Level “${level.name}”. ${odds(question, level.epsilon)}`);
  say("whom", `${question.organiser}, by way of ${invitation.address || location.origin}`);
  say("bytes", made.report);
  if (made.sent) received();
  show("form", false);
  show("made", true);
}

function received() {
  say("title-made", "This was sent");
  say("send", "Send the same report again");
  show("please", false);
}

async function deliver(question, made, invitation, where) {
  find("send").disabled = true;
  say("outcome", "Sending …");
  try {
    const sent = await fetch(`${invitation.address}/r/${question.id}/${made.id}`, {
      method: "PUT",
      headers: {"Authorization": `Bearer ${invitation.token}`,
                "Content-Type": "application/octet-stream"},
      body: unhex(made.report),
      credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
    });
    const told = await sent.json();
    find("outcome").dataset.status = sent.status;
    say("outcome", sent.ok ? `${told.reason} You can close this page.` : told.reason);
    find("send").disabled = false;
    show("send", [429, 503].includes(sent.status));
    if (sent.ok) {
      received();
      localStorage.setItem(where, JSON.stringify({...made, sent: true}));
    }
  } catch {
    find("outcome").dataset.status = "none";
    say("outcome", "It could not be sent. Try again: the very same report is sent, so that you "
      + "never give away more than you chose.");
    find("send").disabled = false;
  }
}

// A new report: it is kept before it is shown, so that it is never made again.
async function fresh(question, epsilon, where) {
  const id = new Uint8Array(16);
  system(id);
  const made = {id: hex(id), report: hex(await report(question, answer(question), epsilon, system))};
  const first = kept(where);  // of another window, or of a second click, while this one was made
  if (!first) localStorage.setItem(where, JSON.stringify(made));
  return first ?? made;
}

// Begin. `invitation`: the token, and the address of the collector ("" for where the page is from).
export async function begin(question, invitation) {
  ask(question);
  const where = await place(question, invitation.token);
  let made = kept(where);
  if (made) {
    say("remembered", "This report was made on this device before. It is not made again.");
    present(question, made, invitation);
  } else if (question.status !== "open") {
    say("outcome", "This survey is closed.");
    return;
  } else show("form", true);
  find("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const level = question.levels[Number(new FormData(find("form")).get("level"))];
    try {
      made = kept(where) ?? await fresh(question, level.epsilon, where);
    } catch {
      made = null;
      say("outcome", "This browser cannot keep a report, so none was made, and nothing is sent.");
      return;
    }
    find("form").reset();
    present(question, made, invitation);
    find("title-made").focus();
  });
  find("send").addEventListener("click", () => deliver(question, made, invitation, where));
}
