// Chips are dragged by mouse, pen or finger. A press without a way is a tap; keys press buttons as usual.
const FAR = 6; // pixels

export function drag(root, { tap, drop }) {
  let held = null;

  root.addEventListener("pointerdown", (event) => {
    const chip = event.target.closest("[data-chip]");
    if (!chip || event.button !== 0) return;
    held = { chip, x: event.clientX, y: event.clientY, moved: false };
    chip.setPointerCapture(event.pointerId);
  });

  root.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.moved && Math.hypot(dx, dy) < FAR) return;
    held.moved = true;
    held.chip.classList.add("held");
    held.chip.style.transform = `translate(${dx}px, ${dy}px)`;
    mark(target(event, held.chip));
  });

  root.addEventListener("pointerup", (event) => {
    if (!held) return;
    const { chip, moved } = held;
    held = null;
    const to = moved ? target(event, chip) : null;
    chip.classList.remove("held");
    chip.style.transform = "";
    mark(null);
    if (!moved) return;
    root.addEventListener("click", stop, { capture: true, once: true });
    setTimeout(() => root.removeEventListener("click", stop, { capture: true }), 0);
    if (to) drop(Number(chip.dataset.chip), to.dataset);
  });

  root.addEventListener("pointercancel", () => {
    if (held) {
      held.chip.classList.remove("held");
      held.chip.style.transform = "";
    }
    held = null;
    mark(null);
  });

  root.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-chip]");
    if (chip) tap(Number(chip.dataset.chip));
  });

  function stop(event) { event.stopPropagation(); event.preventDefault(); }

  function target(event, chip) {
    chip.style.pointerEvents = "none";
    const under = document.elementFromPoint(event.clientX, event.clientY);
    chip.style.pointerEvents = "";
    return under?.closest("[data-gap], [data-group], [data-rest]") ?? null;
  }

  function mark(over) {
    for (const one of root.querySelectorAll(".over")) one.classList.remove("over");
    over?.classList.add("over");
  }
}
