// Tables in a div of class "sortable" are sorted by a click on a head, or by Enter: once upwards, again downwards.
function value(cell) {
  const text = cell.textContent.trim().replace(/,/g, "");
  const number = parseFloat(text);
  if (Number.isNaN(number)) return text.toLowerCase();
  return text.includes("µs") ? number * 1000 : number;
}

function sort(table, column, heads) {
  const upwards = heads[column].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", upwards ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
  rows.sort(([a], [b]) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // what is no number comes last
    return (a < b ? -1 : a > b ? 1 : 0) * (upwards ? 1 : -1);
  });
  body.append(...rows.map(([, row]) => row));
}

function makeSortable() {
  document.querySelectorAll(".sortable table").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.tabIndex = 0;
      head.style.cursor = "pointer";
      head.addEventListener("click", () => sort(table, column, heads));
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter") sort(table, column, heads);
      });
    });
  });
}

makeSortable();
