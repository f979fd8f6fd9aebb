// Long tables: a box that keeps the rows with all of its words, and headings that sort. Without scripts they are tables.
const SHORT = 8; // rows that are seen at once need neither

function sorts_before(a, b) {
  const [x, y] = [a, b].map((text) => parseFloat(text.replace(/,/g, "")));
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
}

function sort_by(table, column, heading) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const text = (row) => row.cells[column]?.textContent.trim() ?? "";
  const rows = [...table.tBodies[0].rows].sort((a, b) => sorts_before(text(a), text(b)));
  table.tBodies[0].append(...(down ? rows.reverse() : rows));
}

function add_sorting(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    heading.tabIndex = 0;
    heading.style.cursor = "pointer";
    heading.title = "Sort";
    heading.onclick = () => sort_by(table, column, heading);
    heading.onkeydown = (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        sort_by(table, column, heading);
      }
    };
  });
}

function add_filter(table) {
  const box = document.createElement("input");
  const count = document.createElement("span");
  const rows = [...table.tBodies[0].rows];
  box.type = "search";
  box.placeholder = "Keep rows with ...";
  box.setAttribute("aria-label", "Keep rows with these words");
  box.className = "table-filter md-input";
  count.setAttribute("role", "status");
  box.oninput = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    count.textContent = words.length ? ` ${rows.filter((row) => !row.hidden).length} of ${rows.length}` : "";
  };
  const place = table.closest(".md-typeset__scrollwrap") ?? table;
  place.before(box, count);
}

// A table that is wider than its place shows each row as a block: the first cell, and the others behind their headings.
function name_cells(table) {
  const names = [...table.tHead.rows[0].cells].map((heading) => heading.textContent.trim());
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => {
      if (column > 0) cell.dataset.heading = names[column];
    });
  }
}

function fit(table) {
  table.classList.remove("stacked");
  const place = table.closest(".md-typeset__scrollwrap") ?? table.parentElement;
  table.classList.toggle("stacked", table.offsetWidth > place.clientWidth + 1);
}

document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll("article table")].filter(
    (table) => table.tHead && table.tBodies[0]?.rows.length > 0,
  );
  for (const table of tables) {
    name_cells(table);
    if (table.tBodies[0].rows.length > SHORT) {
      add_sorting(table);
      add_filter(table);
    }
  }
  const fit_all = () => tables.forEach(fit);
  // The theme puts tables into scrollers after this; until then a table may be wider than the page.
  requestAnimationFrame(fit_all);
  window.addEventListener("load", fit_all);
  window.addEventListener("resize", fit_all);
});
