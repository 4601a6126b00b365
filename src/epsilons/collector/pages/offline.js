// The page as a file, for people who do not trust a server's script. It tests itself before it asks.
import { begin, say, show } from "./flow.js";
import { hex, report, unhex } from "./report.js";

function given(name) {
  return JSON.parse(document.getElementById(name).textContent);
}

// The random bytes of a test vector. All bytes must be used.
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

// Return the number of test vectors; throw an error if one fails.
export async function tested(vectors) {
  for (const each of vectors) {
    const random = tape(each.random);
    const made = hex(await report(each.question, each.value, each.epsilon, random.fill));
    if (made !== each.report || !random.done()) throw new Error("a test vector fails");
  }
  return vectors.length;
}

// The invitation in a link such as https://host/s/survey#token, or #token.key if a page passed it on.
export function invited(link, id) {
  const url = new URL(link.trim());
  const near = ["localhost", "127.0.0.1"].includes(url.hostname);
  const safe = url.protocol === "https:" || (url.protocol === "http:" && near);
  const [token, key] = url.hash.slice(1).split(".");
  const whole = /^#[0-9a-f]{32}(\.[0-9a-f]{32})?$/.test(url.hash);
  if (!safe || url.pathname !== `/s/${id}` || !whole) throw new Error("another link");
  return {token, key, address: url.origin};
}

async function open() {
  const question = given("survey");
  const many = await tested(given("vectors"));
  say("tested", `This file has tested itself: ${many} of ${many} known reports came out right.`);
  document.getElementById("file").dataset.never = "it is the file";
  const form = document.getElementById("link");
  form.elements.link.value = decodeURIComponent(location.hash.slice(1));  // file.html#https://…
  show("link", true);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let invitation;
    try {
      invitation = invited(form.elements.link.value, question.id);
    } catch {
      say("outcome", "This is not an invitation to this survey. Copy the whole link.");
      return;
    }
    say("outcome", "");
    show("link", false);
    try {
      await begin({...question, status: "open"}, invitation);
    } catch {
      show("link", true);
      say("outcome", "The server does not answer, or this browser cannot keep anything. Nothing was"
        + " asked, and nothing was made.");
    }
  });
}

addEventListener("hashchange", () => location.reload());
open().catch(() => say("outcome", "This file does not work in this browser: its test failed."
  + " Nothing was made, and nothing is sent."));
