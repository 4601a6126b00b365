// The page as a file, for who does not trust a server's script. It tests itself before it asks.
import { begin, say, show } from "./flow.js";
import { hex, report, unhex } from "./report.js";

function given(name) {
  return JSON.parse(document.getElementById(name).textContent);
}

// Random bytes of a test vector; all of them must be used.
function tape(text) {
  const bytes = unhex(text);
  let at = 0;
  const fill = (target) => {
    if (at + target.length > bytes.length) throw new Error("the vector is too short");
    target.set(bytes.subarray(at, at + target.length));
    at += target.length;
  };
  return {fill, done: () => at === bytes.length};
}

// How many test vectors there are; an error if one of them fails.
export async function tested(vectors) {
  for (const each of vectors) {
    const random = tape(each.random);
    const made = hex(await report(each.question, each.value, each.epsilon, random.fill));
    if (made !== each.report || !random.done()) throw new Error("a test vector fails");
  }
  return vectors.length;
}

// The invitation in a link such as https://host/s/survey#token.
export function invited(link, id) {
  const url = new URL(link.trim());
  const near = ["localhost", "127.0.0.1"].includes(url.hostname);
  const safe = url.protocol === "https:" || (url.protocol === "http:" && near);
  const token = url.hash.slice(1);
  if (!safe || url.pathname !== `/s/${id}` || !/^[0-9a-f]{32}$/.test(token)) {
    throw new Error("another link");
  }
  return {token, address: url.origin};
}

async function open() {
  const question = given("survey");
  const many = await tested(given("vectors"));
  say("tested", `This file has tested itself: ${many} of ${many} known reports came out right.`);
  show("link", true);
  document.getElementById("link").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const invitation = invited(new FormData(event.target).get("link"), question.id);
      say("outcome", "");
      show("link", false);
      await begin({...question, status: "open"}, invitation);
    } catch {
      show("link", true);
      say("outcome", "This is not an invitation to this survey. Copy the whole link.");
    }
  });
}

open().catch(() => say("outcome", "This file does not work in this browser: its test failed."
  + " Nothing was made, and nothing is sent."));
