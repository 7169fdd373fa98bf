// Copy a link, take a file into a field, print.
document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const field = copy.parentElement.querySelector("[data-link]");
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      copy.textContent = "Copied";
    } catch { copy.textContent = "Press Ctrl-C"; }
  }
  if (event.target.closest("[data-print]")) print();
});

document.addEventListener("change", async (event) => {
  const into = event.target.dataset?.into;
  if (into && event.target.files[0]) document.getElementById(into).value = await event.target.files[0].text();
});
