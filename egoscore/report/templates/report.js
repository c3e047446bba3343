"use strict";
// Searches and sorts the list of nodes; the page is complete without it.
(() => {
  const table = document.querySelector("table.top");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const search = document.getElementById("search");
  const found = document.getElementById("found");

  // "Chloé" is found by "chloe"
  const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();

  const rows = [...body.rows].map(row => {
    const card = document.getElementById(`node-${row.dataset.rank}`)?.closest("article");
    const parts = [...row.querySelectorAll(".node, .reason"), card?.querySelector(".lead")];
    return { row, card, text: plain(parts.map(part => part?.textContent ?? "").join(" ")) };
  });

  function filter() {
    const words = plain(search.value).split(/\s+/).filter(word => word);
    let count = 0;
    for (const { row, card, text } of rows) {
      row.hidden = !words.every(word => text.includes(word));
      if (card) card.hidden = row.hidden;
      count += row.hidden ? 0 : 1;
    }
    found.textContent = words.length ? `${count} of ${rows.length} nodes` : "";
  }

  // A number if the cell has one, "" if it is unknown, otherwise text.
  function key(cell) {
    const given = cell.dataset.value;
    return given === undefined ? plain(cell.textContent) : given === "" ? "" : Number(given);
  }

  function sort(head) {
    const turned = { ascending: "descending", descending: "ascending" };
    const order = turned[head.getAttribute("aria-sort")] ?? head.dataset.first ?? "ascending";
    const sign = order === "ascending" ? 1 : -1;
    const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
    const keyed = rows.map(({ row }) => [key(row.cells[head.cellIndex]), row]);
    keyed.sort(([a], [b]) => (a === "") - (b === "") || sign * compare(a, b));  // unknown ones last
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    body.append(...keyed.map(([, row]) => row));
  }

  for (const head of heads) {  // only made here: without this script they would do nothing
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }
  heads[0].setAttribute("aria-sort", "ascending");
  search.addEventListener("input", filter);
  search.closest("[hidden]").hidden = false;
  table.classList.add("sortable");
  filter();  // a browser may have kept what was typed when the page was reloaded
})();
