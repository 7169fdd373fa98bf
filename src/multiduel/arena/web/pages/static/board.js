// A stream says that something has changed; the board is then fetched, at most once in a while.
const board = document.getElementById("board");
const live = document.getElementById("live");
const AT_MOST_EVERY = 1500; // milliseconds
let known = Number(board.querySelector("[data-number]").dataset.number);
let last = 0;
let waiting = null;

async function fetchBoard() {
  waiting = null;
  last = Date.now();
  try {
    const here = new URL(location);
    here.searchParams.set("fragment", "1");
    const answer = await fetch(here);
    if (!answer.ok) return;
    const open = [...board.querySelectorAll("details")].map((one) => one.open);
    const before = board.querySelector("#sentence")?.textContent;
    const at = document.activeElement?.closest("section")?.getAttribute("aria-labelledby");
    board.innerHTML = await answer.text();
    board.querySelectorAll("details").forEach((one, k) => { one.open = open[k] ?? false; });
    if (at) board.querySelector(`[aria-labelledby="${at}"] [tabindex="0"]`)?.focus({ preventScroll: true });
    known = Number(board.querySelector("[data-number]").dataset.number);
    const after = board.querySelector("#sentence")?.textContent;
    if (after && after !== before) live.textContent = after;
  } catch { /* the stream will say it again */ }
}

function changed(number) {
  if (number === known || waiting || document.hidden) return;
  waiting = setTimeout(fetchBoard, Math.max(0, last + AT_MOST_EVERY - Date.now()));
}

const stream = new EventSource(board.dataset.changes);
stream.onmessage = (event) => changed(Number(event.data));
addEventListener("visibilitychange", () => { if (!document.hidden) fetchBoard(); });
addEventListener("pagehide", () => stream.close());
