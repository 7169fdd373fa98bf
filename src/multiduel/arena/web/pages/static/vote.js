import { Ranking } from "./ranking.js";
import { Sender, newRequest } from "./sending.js";
import { drag } from "./drag.js";

const here = document.getElementById("question");
const said = document.getElementById("said");
const banner = document.getElementById("banner");
const sender = new Sender(here.dataset.arena, here.dataset.token, (words) => {
  banner.hidden = !words;
  banner.textContent = words;
});
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ORDER = ["", "1st", "2nd", "3rd"];
const nth = (n) => ORDER[n] ?? `${n}th`;
let ranking = null;
let busy = false;

const form = () => here.querySelector("form.question");
const two = () => ranking?.places === 2;

function begin() {
  const question = form();
  ranking = question?.dataset.question === "rank" ? new Ranking(Number(question.dataset.places)) : null;
  question?.setAttribute("novalidate", "");
  if (ranking) draw();
  if (here.querySelector("[data-waits]")) setTimeout(() => location.reload(), 8000);
}

// ---- the order as it is

function draw(focus = null) {
  for (const button of here.querySelectorAll("[data-pick]")) {
    const position = Number(button.dataset.pick);
    const place = ranking.placeOf(position);
    const level = place && ranking.groups[ranking.groupOf(position)].length > 1;
    button.setAttribute("aria-pressed", String(place > 0 && (!two() || (place === 1 && !level))));
    button.querySelector(".place").textContent = !place ? (two() ? "choose" : "place it")
      : level ? (two() ? "level" : `${nth(place)}, level`) : two() ? (place === 1 ? "better" : "") : nth(place);
    button.closest(".option").classList.toggle("first", place === 1 && !level);
  }
  const slots = here.querySelector(".slots");
  slots.replaceChildren();
  ranking.groups.forEach((group, index) => slots.append(gap(index), slot(group, index)));
  slots.append(gap(ranking.groups.length));
  const rest = ranking.rest;
  if (rest.length) {
    const box = document.createElement("div");
    box.className = "slot rest";
    box.dataset.rest = "1";
    box.append(label(ranking.groups.length ? "not placed" : "drag, or press 1, 2 … in your order"), ...rest.map(chip));
    slots.append(box);
  }
  here.querySelector(".hint").textContent = ranking.ballot && rest.length
    ? "Those not placed are not compared with the others." : "";
  const vote = here.querySelector("[data-do=vote]");
  vote.setAttribute("aria-disabled", String(!ranking.ballot));
  if (focus !== null) slots.querySelector(`[data-chip="${focus}"]`)?.focus();
}

function gap(index) {
  const made = document.createElement("div");
  made.className = "gap";
  made.dataset.gap = index;
  return made;
}

function slot(group, index) {
  const made = document.createElement("div");
  made.className = "slot";
  made.dataset.group = index;
  made.append(label(nth(ranking.placeOf(group[0]))), ...group.map(chip));
  return made;
}

function label(words) {
  const made = document.createElement("span");
  made.className = "nth";
  made.textContent = words;
  return made;
}

function chip(position) {
  const made = document.createElement("button");
  const place = ranking.placeOf(position);
  made.type = "button";
  made.className = "chip";
  made.dataset.chip = position;
  made.textContent = LETTERS[position];
  made.setAttribute("aria-label", `${LETTERS[position]}, ${place ? nth(place) : "not placed"}`);
  return made;
}

function change(how, position = null) {
  how();
  draw(position);
  const words = ranking.groups.map((group) => `${nth(ranking.placeOf(group[0]))} ${group.map((p) => LETTERS[p]).join(" and ")}`);
  said.textContent = words.join(", ") || "Nothing placed.";
}

function toggle(position) {
  if (two()) {
    ranking.groups = [];
    ranking.add(position);
  } else if (ranking.placeOf(position)) ranking.remove(position);
  else ranking.add(position);
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
    here.querySelector(".hint")?.replaceChildren(two() || !ranking ? "Choose one first." : "Place two at least.");
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
    trouble = answer.error ?? "That did not work.";
    if (answer.status === 401) return location.reload();
    if (what.path !== "undo") answer = await sender.send({ path: "question" });
  }
  if (answer.html !== undefined) await show(answer);
  here.classList.remove("busy");
  busy = false;
  said.textContent = answer.said ?? "";
  banner.hidden = !trouble;
  banner.textContent = trouble;
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
  const pick = event.target.closest("[data-pick]");
  if (pick && ranking) return change(() => toggle(Number(pick.dataset.pick)));
  const act = event.target.closest("[data-do]");
  if (!act || busy) return;
  event.preventDefault();
  ({ vote: () => vote(ballot()), skip: () => vote({ skip: true }), undo, level: () => change(() => ranking.levelAll()) })[act.dataset.do]();
});

drag(here, {
  tap: (position) => change(() => toggle(position), position),
  drop: (position, target) => change(() => {
    if (target.gap !== undefined) ranking.insert(position, Number(target.gap));
    else if (target.group !== undefined) ranking.level(position, ranking.groups[Number(target.group)].find((p) => p !== position) ?? position);
    else if (target.rest !== undefined) ranking.remove(position);
  }, position),
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || busy) return;
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
      if (key === "=") ranking.levelWithBefore(position);
      else if (key === "delete" || key === "backspace") ranking.remove(position);
      else ranking.move(position, key === "arrowleft" || key === "arrowup" ? -1 : 1);
    }, position);
  }
  if (/^[1-9]$/.test(key) && Number(key) <= Number(form().dataset.places)) {
    event.preventDefault();
    const position = Number(key) - 1;
    if (ranking) return change(() => toggle(position));
    form().querySelectorAll("input[type=radio]")[position].checked = true;
    said.textContent = `${LETTERS[position]} is chosen.`;
  } else if (key === "=" && ranking) {
    event.preventDefault();
    change(() => ranking.levelAll());
  } else if (key === "s") {
    event.preventDefault();
    vote({ skip: true });
  } else if (key === "enter" && (!event.target.closest("button, a, summary") || event.target.closest("[data-pick], [data-chip]"))) {
    event.preventDefault();
    vote(ballot());
  }
});

begin();
here.dataset.ready = "1";
if (sender.unsent) go(sender.unsent);
