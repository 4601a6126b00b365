// The participant's page, from a server. The invitation is in the fragment of the URL, which browsers
// do not send, so it does not appear in logs.
import { begin, say } from "./flow.js";

async function open() {
  const id = location.pathname.split("/")[2];
  document.getElementById("file-link").href = `/s/${id}/offline.html`;
  const token = location.hash.slice(1);
  if (/^[0-9a-f]{32}\.[0-9a-f]{32}$/.test(token)) {
    say("outcome", "This link is for the file: open the file, and paste the link there.");
    return;
  }
  if (!/^[0-9a-f]{32}$/.test(token)) {
    say("outcome", "This link has no invitation, or only a part of one. Open it as it was sent.");
    return;
  }
  const asked = await fetch(`/s/${id}/question.json`, {cache: "no-store", credentials: "omit"});
  if (!asked.ok) throw new Error("no question");
  await begin(await asked.json(), {token, address: ""});
}

// A new link in the same tab is another invitation: reload.
addEventListener("hashchange", () => location.reload());
open().catch(() => say("outcome", "The question could not be shown. Reload the page."
  + " If this browser forbids pages to remember anything, allow it: a report is made only once."));
