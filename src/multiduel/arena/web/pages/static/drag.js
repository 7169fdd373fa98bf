// Cards and chips are dragged by mouse, pen or finger. A press without a way is a tap; keys press buttons as usual.
// A finger on a card scrolls the page, unless it rests there first; on a chip it drags at once.
const FAR = 6; // pixels
const REST = 280; // milliseconds
const OWN = "a, audio, summary, input, select, textarea, [data-zoom]"; // whatever does something by itself

export function drag(root, { can, tap, drop, mark }) {
  let held = null;

  root.addEventListener("pointerdown", (event) => {
    const from = event.target.closest("[data-drag]");
    if (!from || event.button !== 0 || !event.isPrimary || event.target.closest(OWN) || !can()) return;
    if (event.target.clientWidth && event.offsetX > event.target.clientWidth) return; // on a scroll bar
    const patient = event.pointerType === "touch" && !event.target.closest(".chip, .letter");
    held = { from, position: Number(from.dataset.drag), id: event.pointerId, x: event.clientX, y: event.clientY, lifted: !patient, ghost: null };
    if (patient) held.timer = setTimeout(() => lift(event.clientX, event.clientY), REST);
  });

  document.addEventListener("pointermove", (event) => {
    if (!held || event.pointerId !== held.id) return;
    const far = Math.hypot(event.clientX - held.x, event.clientY - held.y) >= FAR;
    if (!held.ghost && !far) return;
    if (!held.lifted) return end(); // it scrolls
    if (!held.ghost) lift(event.clientX, event.clientY);
    follow(event.clientX, event.clientY);
    mark(target(event), event, held.position);
  });

  // Once a card is lifted, the page stays where it is.
  root.addEventListener("touchmove", (event) => { if (held?.ghost) event.preventDefault(); }, { passive: false });
  root.addEventListener("contextmenu", (event) => { if (held?.ghost) event.preventDefault(); });
  root.addEventListener("dragstart", (event) => { if (event.target.closest("[data-drag]")) event.preventDefault(); });

  document.addEventListener("pointerup", (event) => {
    if (!held || event.pointerId !== held.id) return;
    const { position, ghost, from } = held;
    const to = ghost ? target(event) : null;
    end();
    if (!ghost) return;
    document.addEventListener("click", stop, { capture: true, once: true });
    setTimeout(() => document.removeEventListener("click", stop, { capture: true }), 0);
    if (to) drop(position, to, event, from.dataset.chip !== undefined);
  });

  document.addEventListener("pointercancel", end);

  root.addEventListener("click", (event) => {
    const from = event.target.closest("[data-drag]");
    if (from && !event.target.closest(OWN)) tap(Number(from.dataset.drag), event.target.closest("[data-chip]") !== null);
  });

  function lift(x, y) {
    if (!held) return;
    held.lifted = true;
    held.ghost = document.createElement("div");
    held.ghost.className = "ghost";
    held.ghost.textContent = held.from.dataset.letter;
    document.body.append(held.ghost);
    held.from.classList.add("held");
    root.classList.add("dragging");
    follow(x, y);
  }

  function follow(x, y) { held.ghost.style.transform = `translate(${x}px, ${y}px)`; }

  function end() {
    if (!held) return;
    clearTimeout(held.timer);
    held.ghost?.remove();
    held.from.classList.remove("held");
    root.classList.remove("dragging");
    held = null;
    mark(null);
  }

  function stop(event) { event.stopPropagation(); event.preventDefault(); }

  function target(event) {
    return document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-slot], [data-rest]") ?? null;
  }
}
