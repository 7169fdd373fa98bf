// Show the button that does something now: simulated raters stop without being told to, and after the verdict nobody votes.
const buttons = document.querySelectorAll(".demo [name=on]");
const EVERY = 2000; // milliseconds

async function look() {
  try {
    const { button } = await (await fetch("/demo/raters")).json();
    if (button !== undefined) for (const one of buttons) one.hidden = one.value !== button;
  } catch { /* the server is busy, or has ended */ }
  setTimeout(look, EVERY);
}
look();
