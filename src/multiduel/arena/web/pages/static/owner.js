// Copy or save links, take a text file into a field, print, and choose or drop files.
document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const field = copy.closest("section").querySelector("[data-link]");
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      copy.textContent = "Copied";
    } catch { copy.textContent = "Press Ctrl-C"; }
  }
  const save = event.target.closest("[data-save]");
  if (save) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([save.closest("section").querySelector("[data-link]").value], { type: "text/csv" }));
    link.download = save.dataset.save;
    link.click();
  }
  if (event.target.closest("[data-print]")) print();
  const clear = event.target.closest("[data-clear]");
  if (clear) choose(clear.closest("[data-dropzone]"), []);
});

document.addEventListener("change", async (event) => {
  const input = event.target;
  if (input.dataset?.into && input.files[0]) await pour(input);
  if (input.dataset?.chosen !== undefined) list(input.closest("[data-dropzone]"));
});

// A text file into its field. What is no text is refused here: a field would show it as rubbish.
async function pour(input) {
  const file = input.files[0];
  const said = input.closest("form").querySelector("[data-said]");
  try {
    const words = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (words.includes("\0")) throw new Error("binary");
    document.getElementById(input.dataset.into).value = words;
    said.hidden = true;
  } catch {
    said.textContent = `‘${file.name}’ is no text in UTF-8. Save the table as CSV (UTF-8), and choose that file.`;
    said.hidden = false;
  }
  input.value = "";
}

// ---- files

const FILES = 2000;
const zoneOf = (event) => (event.dataTransfer?.types.includes("Files") ? document.querySelector("[data-dropzone]") : null);

for (const kind of ["dragover", "dragenter"]) {
  document.addEventListener(kind, (event) => {
    const zone = zoneOf(event);
    if (!zone) return;
    event.preventDefault();
    zone.classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.querySelector("[data-dropzone]")?.classList.remove("over");
});
document.addEventListener("drop", async (event) => {
  const zone = zoneOf(event);
  if (!zone) return;
  event.preventDefault(); // anywhere on the page: a file that misses must not replace it
  zone.classList.remove("over");
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const files = (await Promise.all(entries.filter(Boolean).map(filesOf))).flat();
  choose(zone, [...zone.querySelector("[data-chosen]").files, ...files].slice(0, FILES));
});

// The files of an entry, which may be a folder.
async function filesOf(entry) {
  if (entry instanceof File) return [entry];
  if (entry.isFile) return [await new Promise((done, failed) => entry.file(done, failed))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length || found.length >= FILES) return found;
    for (const one of some) if (!one.name.startsWith(".")) found.push(...(await filesOf(one)));
  }
}

function choose(zone, files) {
  const kept = new DataTransfer();
  for (const file of files) kept.items.add(file);
  zone.querySelector("[data-chosen]").files = kept.files;
  list(zone);
}

function list(zone) {
  const files = [...zone.querySelector("[data-chosen]").files];
  const shown = zone.querySelector(".chosen");
  shown.replaceChildren(...files.slice(0, 200).map(item));
  if (files.length > 200) shown.append(Object.assign(document.createElement("li"), { textContent: `and ${files.length - 200} more` }));
  shown.hidden = zone.querySelector("[data-clear]").hidden = !files.length;
}

function item(file) {
  const made = document.createElement("li");
  const picture = document.createElement("canvas");
  picture.width = picture.height = 0;
  made.append(picture, Object.assign(document.createElement("span"), { textContent: file.name }));
  if (file.type.startsWith("image/") && file.size < 2e7) {
    createImageBitmap(file).then((image) => {
      const scale = 96 / Math.max(image.width, image.height);
      picture.width = Math.max(1, image.width * scale);
      picture.height = Math.max(1, image.height * scale);
      picture.getContext("2d").drawImage(image, 0, 0, picture.width, picture.height);
      image.close();
    }).catch(() => {}); // the server says what is wrong with it
  }
  return made;
}

// A form with files is sent from here, so that they stay chosen when the answer is the form again.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-files]");
  const zone = form?.querySelector("[data-dropzone]");
  if (!zone?.querySelector("[data-chosen]").files.length) return;
  event.preventDefault();
  const said = event.submitter.textContent;
  event.submitter.textContent = "Sending …";
  try {
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: new FormData(form, event.submitter) });
    if (!answer.headers.get("content-type").startsWith("text/html")) throw new Error((await answer.json()).error);
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.redirected) next.querySelector("[data-dropzone]")?.replaceWith(zone);
    else history.replaceState(null, "", answer.url);
    document.title = next.title;
    for (const part of ["header.top", "main"]) document.querySelector(part).replaceWith(next.querySelector(part));
    (document.querySelector(".problem[role=alert]") ?? document.querySelector("main")).scrollIntoView();
  } catch (error) {
    event.submitter.textContent = said;
    const problem = Object.assign(document.createElement("p"), { className: "problem", role: "alert" });
    problem.textContent = error instanceof TypeError ? "No connection. Nothing was sent: please try again." : error.message;
    form.querySelector(":scope > .problem")?.remove();
    form.prepend(problem);
  }
});
