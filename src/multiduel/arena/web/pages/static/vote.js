import { Ranking } from "./ranking.js";
import { Sender, newRequest } from "./sending.js";
import { drag } from "./drag.js";

const here = document.getElementById("question");
const said = document.getElementById("said");
const toast = document.getElementById("toast");
const banner = document.getElementById("banner");
const zoomed = document.getElementById("zoomed");
const sender = new Sender(here.dataset, (words) => {
  banner.hidden = !words;
  banner.textContent = words;
});
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ORDER = ["", "1st", "2nd", "3rd"];
const EDGE = 24; // pixels from its ends within which a drag scrolls the slots
const SEEN_FOR = 5000; // milliseconds that a toast stays
const nth = (n) => ORDER[n] ?? `${n}th`;
let ranking = null;
let busy = false;
let fading = null;

const form = () => here.querySelector("form.question");
const two = () => ranking?.places === 2;

function begin() {
  const question = form();
  document.querySelector("header .watch").hidden = !question?.dataset.board;
  ranking = question?.dataset.question === "rank" ? new Ranking(Number(question.dataset.places)) : null;
  question?.setAttribute("novalidate", "");
  const before = question?.dataset.ballot ? JSON.parse(question.dataset.ballot) : null;
  if (ranking && before?.rank) ranking.ballot = before;
  if (ranking) draw();
  for (const option of here.querySelectorAll(".option:has(.heard)")) if (wasHeard(option)) hear(option);
  if (here.querySelector("[data-waits]")) setTimeout(() => location.reload(), 8000);
}

// ---- the order as it is

function draw(focus = null) {
  for (const button of here.querySelectorAll("[data-pick]")) {
    const position = Number(button.dataset.pick);
    const place = ranking.placeOf(position);
    const tied = place && ranking.slots[place - 1].length > 1;
    button.setAttribute("aria-pressed", String(place > 0 && (!two() || (place === 1 && !tied))));
    button.querySelector(".place").textContent = !place ? (two() ? "Choose" : "Tap to rank")
      : tied ? (two() ? "Tie" : `${nth(place)}, tie`) : two() ? (place === 1 ? "Better" : "") : nth(place);
    button.closest(".option").classList.toggle("first", place === 1 && !tied);
  }
  const slots = here.querySelector(".slots");
  slots.replaceChildren(...ranking.slots.map(slot));
  const next = slots.querySelector(".empty"); // in sight, where not all fit
  if (next && slots.scrollWidth > slots.clientWidth) slots.scrollLeft = next.offsetLeft + 1.5 * next.offsetWidth - slots.clientWidth;
  const rest = ranking.rest.length;
  here.querySelector(".hint").textContent = ranking.ballot && rest ? "Unplaced options are not compared." : "";
  here.querySelector("[data-do=vote]").setAttribute("aria-disabled", String(!ranking.ballot));
  if (focus !== null) (slots.querySelector(`[data-chip="${focus}"]`) ?? here.querySelector(`[data-pick="${focus}"]`))?.focus();
}

function slot(group, index) {
  const made = document.createElement("div");
  made.className = group.length ? "slot" : "slot empty";
  made.dataset.slot = index;
  const label = document.createElement("span");
  label.className = "nth";
  label.textContent = nth(index + 1);
  made.append(label, ...group.map(chip));
  return made;
}

function chip(position) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "chip";
  made.dataset.chip = made.dataset.drag = position;
  made.textContent = made.dataset.letter = LETTERS[position];
  made.setAttribute("aria-label", `${LETTERS[position]}, ${nth(ranking.placeOf(position))}`);
  return made;
}

function change(how, position = null) {
  how();
  draw(position);
  const words = ranking.slots.flatMap((group, k) => (group.length ? [`${nth(k + 1)} ${group.map((p) => LETTERS[p]).join(" and ")}`] : []));
  said.textContent = words.join(", ") || "Nothing placed.";
}

function toggle(position) {
  if (two()) {
    ranking = new Ranking(2);
    ranking.add(position);
  } else if (ranking.placeOf(position)) ranking.remove(position);
  else ranking.add(position);
}

function choose(position) {
  if (ranking) return change(() => toggle(position));
  form().querySelectorAll("input[type=radio]")[position].checked = true;
  said.textContent = `${LETTERS[position]} is chosen.`;
}

// ---- voting

function ballot() {
  if (ranking) return ranking.ballot;
  const question = form().dataset.question;
  const chosen = form().querySelector(`input[name=${question}]:checked`);
  return chosen && { [question]: Number(chosen.value) };
}

async function vote(what) {
  if (!what) {
    said.textContent = "";
    here.querySelector(".hint").textContent = two() || !ranking ? "Choose one first." : "Place two at least.";
    return;
  }
  await go({ path: `tickets/${form().dataset.ticket}`, body: { ballot: what } });
}

const undo = () => go({ path: "undo", body: { request: newRequest() } });

async function go(what) {
  if (busy) return;
  busy = true;
  here.classList.add("busy");
  let answer = await sender.send(what);
  let trouble = "";
  if (answer.html === undefined) {
    trouble = (what.path.startsWith("tickets/") ? "Your vote was not counted. " : "") + (answer.error ?? "That did not work.");
    if (what.path !== "undo" && answer.status !== 401) answer = await sender.send({ path: "question" });
    if (answer.status === 401) return location.reload();
  }
  if (answer.html !== undefined) await show(answer);
  here.classList.remove("busy");
  busy = false;
  said.textContent = "";
  pop(answer.said ?? "");
  banner.hidden = !trouble;
  banner.textContent = trouble;
}

function pop(words) {
  clearTimeout(fading);
  toast.textContent = words;
  toast.classList.toggle("seen", Boolean(words));
  fading = setTimeout(() => toast.classList.remove("seen"), SEEN_FOR);
}

// The next question, with its pictures already there.
async function show(answer) {
  const next = document.createElement("template");
  next.innerHTML = answer.html;
  const pictures = [...next.content.querySelectorAll("img")].map((img) => {
    const ahead = new Image();
    ahead.src = img.getAttribute("src");
    return ahead.decode().catch(() => {});
  });
  await Promise.race([Promise.all(pictures), new Promise((done) => setTimeout(done, 3000))]);
  here.replaceChildren(next.content);
  begin();
  here.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
  scrollTo({ top: 0, behavior: "instant" });
  here.querySelector("h1")?.focus({ preventScroll: true });
}

// ---- hands

here.addEventListener("submit", (event) => event.preventDefault());

here.addEventListener("click", (event) => {
  const zoom = event.target.closest("[data-zoom]");
  if (zoom) return enlarge(zoom);
  const act = event.target.closest("[data-do]");
  if (!act || busy) return;
  event.preventDefault();
  ({ vote: () => vote(ballot()), skip: () => vote({ skip: true }), undo, tie: () => change(() => ranking.tieAll()) })[act.dataset.do]();
});

// How a drop on a slot is meant: between two, or as a tie with those that are there.
function meant(position, slot, event) {
  if (!ranking.slots[Number(slot.dataset.slot)].some((p) => p !== position)) return "put";
  const box = slot.getBoundingClientRect();
  const share = (event.clientX - box.left) / box.width;
  return share < 0.3 ? "before" : share > 0.7 ? "after" : "tie";
}

drag(here, {
  can: () => ranking !== null && !two() && !busy,
  tap: (position, isChip) => (isChip ? change(() => toggle(position), position) : choose(position)),
  drop: (position, target, event, isChip) => {
    if (target.dataset.slot === undefined) return isChip && change(() => ranking.remove(position));
    const at = Number(target.dataset.slot);
    const how = meant(position, target, event);
    change(() => {
      if (how === "put" || how === "tie") ranking.put(position, at);
      else ranking.insert(position, how === "before" ? at : at + 1);
    }, position);
  },
  mark: (over, event, position) => {
    for (const one of here.querySelectorAll(".over")) one.classList.remove("over", "before", "after", "tie", "put");
    if (over?.dataset.slot === undefined) return;
    over.classList.add("over", meant(position, over, event));
    const slots = over.parentElement;
    const box = slots.getBoundingClientRect();
    if (event.clientX < box.left + EDGE) slots.scrollLeft -= EDGE / 2;
    if (event.clientX > box.right - EDGE) slots.scrollLeft += EDGE / 2;
  },
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || busy || zoomed.open) return;
  const typing = event.target.closest("input:not([type=radio]), textarea, select, audio");
  if (typing) return;
  const on = event.target.closest("[data-chip]");
  const key = event.key.toLowerCase();
  if (key === "z") return event.preventDefault(), undo();
  if (!form()) return;
  if (on && ranking && ["arrowleft", "arrowup", "arrowright", "arrowdown", "=", "delete", "backspace"].includes(key)) {
    event.preventDefault();
    const position = Number(on.dataset.chip);
    return change(() => {
      if (key === "=") ranking.tieWithBefore(position);
      else if (key === "delete" || key === "backspace") ranking.remove(position);
      else ranking.move(position, key === "arrowleft" || key === "arrowup" ? -1 : 1);
    }, position);
  }
  if (/^[1-9]$/.test(key) && Number(key) <= Number(form().dataset.places)) {
    event.preventDefault();
    choose(Number(key) - 1);
  } else if (key === "=" && ranking) {
    event.preventDefault();
    change(() => ranking.tieAll());
  } else if (key === "s") {
    event.preventDefault();
    vote({ skip: true });
  } else if (key === "enter" && (!event.target.closest("button, a, summary") || event.target.closest("[data-pick], [data-chip]"))) {
    event.preventDefault();
    vote(ballot());
  }
});

// ---- pictures and sounds

function enlarge(button) {
  const picture = button.closest(".option").querySelector("img");
  zoomed.querySelector("img").src = picture.src;
  zoomed.querySelector("img").alt = picture.alt;
  zoomed.showModal();
}

zoomed.addEventListener("click", () => zoomed.close());

here.addEventListener("play", (event) => {
  for (const other of here.querySelectorAll("audio")) if (other !== event.target) other.pause();
}, { capture: true });

here.addEventListener("ended", (event) => hear(event.target.closest(".option")), { capture: true });

// Marks are kept by ticket in this tab: an undo shows the same options again, in the same order, under another ticket.
const markOf = (ticket, option) => `multiduel heard ${ticket} ${option.dataset.position}`;

function hear(option) {
  option.querySelector(".heard").hidden = false;
  try { sessionStorage.setItem(markOf(form().dataset.ticket, option), "1"); } catch { /* a browser that keeps nothing */ }
}

function wasHeard(option) {
  const { ticket, again } = form().dataset;
  try { return [ticket, again].some((one) => sessionStorage.getItem(markOf(one, option))); } catch { return false; }
}

begin();
here.dataset.ready = "1";
if (sender.unsent) go(sender.unsent);
