// The ranking: search, filters, histogram, the list with its verdicts.

import { address, count, el, get, here, labelled, listOf, movement, numeral, problem, select, svg, verdictBadge } from "./common.js";

const ROWS = 50;
const VERDICTS = [["", "any"], ["none", "without"], ["abnormal", "abnormal"], ["normal", "normal"], ["unsure", "unsure"], ["abnormal,normal,unsure", "with"]];
const HEADS = [["updated_rank", "rank"], ["name", "node"], ["score", "score"], ["updated_score", "after verdicts"], ["neighbours", "neighbours"]];
let columns = null;

export async function showRanking(main, { judge, isCurrent }) {
  const { params } = here();
  columns ??= await get("/api/columns");
  const ask = { ...Object.fromEntries(listOf(params)), start: params.get("start") ?? 0, count: ROWS, extra: params.get("extra") ?? "" };
  const [page, histogram] = await Promise.all([get("/api/ranking", ask), get("/api/histogram")]);
  if (!isCurrent()) return;
  const picked = new Set();
  main.replaceChildren(
    el("h1", { tabindex: "-1" }, "Ranking"),
    searchForm(params), filters(params), histogramFigure(histogram, params),
    el("p", { class: "note", id: "found" }, found(page, params)),
    bulk(picked, judge), list(page, params, picked), pager(page, params));
}

// Another list: the address changes, and the view follows it.
function go(params, changes, keepsPage = false) {
  const next = new URLSearchParams(params);
  if (!keepsPage) next.delete("start");
  for (const [name, value] of Object.entries(changes)) next.set(name, value);
  location.hash = address("ranking", next);
}

function wheres(params) {
  try { return JSON.parse(params.get("where") || "[]"); } catch { return []; }
}

function setWhere(params, key, filter) {
  const kept = wheres(params).filter((one) => one[0] !== key);
  if (filter) kept.push(filter);
  go(params, { where: kept.length ? JSON.stringify(kept) : "" });
}

function searchForm(params) {
  const input = el("input", { type: "search", id: "search", value: params.get("search") ?? "", maxlength: 200, placeholder: "Name or id", "aria-keyshortcuts": "/" });
  const submit = (event) => { event.preventDefault(); go(params, { search: input.value.trim() }); };
  return el("form", { role: "search", class: "search", submit }, labelled("Search", input), el("button", {}, "Search"));
}

function filters(params) {
  const byKey = (key) => columns.find((column) => column.key === key);
  const chosen = wheres(params);
  const flag = chosen.find((one) => one[0] === "flag");
  const options = (some) => some.map((column) => [column.key, `${column.label}${column.group === "ranking" ? "" : ` (${column.group})`}`]);
  const others = columns.filter((column) => !["flag", "verdict", "name"].includes(column.key));
  const own = others.filter((column) => column.group !== "ranking");
  const chips = chosen.filter((one) => one[0] !== "flag").map((one) => {
    const text = `${byKey(one[0])?.label ?? one[0]}: ${range(one)}`;
    return el("button", { type: "button", class: "chip", "aria-label": `Remove the filter ${text}`, click: () => setWhere(params, one[0], null) }, `${text} ×`);
  });
  const sort = params.get("sort") ?? "updated_rank";
  return el("details", { class: "filters", open: chosen.length > 0 || Boolean(params.get("verdict")) || Boolean(params.get("extra")) || sort !== "updated_rank" },
    el("summary", {}, "Filter and sort"),
    el("div", { class: "row" },
      labelled("Verdict", select(VERDICTS, params.get("verdict") ?? "", (event) => go(params, { verdict: event.target.value }))),
      labelled("Flagged", select([["", "any"], ["1", "yes"], ["0", "no"]], flag ? String(flag[1]) : "", (event) => {
        const value = event.target.value;
        setWhere(params, "flag", value === "" ? null : ["flag", Number(value), Number(value)]);
      })),
      labelled("Sort by", select(options(columns), sort, (event) => go(params, { sort: event.target.value }))),
      labelled("Order", select([["", "ascending"], ["1", "descending"]], params.get("desc") ?? "", (event) => go(params, { desc: event.target.value }))),
      labelled("Show also", select([["", "nothing else"], ...options(own)], params.get("extra") ?? "", (event) => go(params, { extra: event.target.value }, true)))),
    limitForm(params, options(others), byKey),
    chips.length ? el("p", { class: "chips" }, chips) : null);
}

function range([, low, high]) {
  if (typeof low === "string") return `contains “${low}”`;
  return `${low === null ? "" : `from ${numeral(low)}`} ${high === null ? "" : `to ${numeral(high)}`}`.trim();
}

function limitForm(params, options, byKey) {
  const column = select(options, "score", () => adapt());
  const low = el("input", { type: "number", step: "any", inputmode: "decimal" }), high = el("input", { type: "number", step: "any", inputmode: "decimal" });
  const text = el("input", { type: "text", maxlength: 200 });
  const yes = select([["1", "yes"], ["0", "no"]], "1", null);
  const parts = [labelled("From", low), labelled("To", high), labelled("Contains", text), labelled("Is", yes)];
  const adapt = () => {
    const kind = byKey(column.value).kind;
    parts.forEach((part, i) => { part.hidden = { number: i > 1, text: i !== 2, "yes/no": i !== 3 }[kind]; });
  };
  adapt();
  const submit = (event) => {
    event.preventDefault();
    const key = column.value, kind = byKey(key).kind, number = (input) => (input.value === "" ? null : Number(input.value));
    const filter = kind === "text" ? [key, text.value] : kind === "yes/no" ? [key, Number(yes.value), Number(yes.value)] : [key, number(low), number(high)];
    setWhere(params, key, filter.slice(1).every((one) => one === null || one === "") ? null : filter);
  };
  return el("form", { class: "row", submit }, labelled("Filter by", column), ...parts, el("button", {}, "Add filter"));
}

function histogramFigure(data, params) {
  const width = 600, height = 90, top = Math.max(...data.counts.map(Math.sqrt), 1);
  const [first, last] = [data.edges[0], data.edges.at(-1)];
  const place = (score) => ((score - first) / (last - first || 1)) * width;
  const bars = data.counts.map((n, i) => {
    const tall = (Math.sqrt(n) / top) * (height - 8);
    const x = place(data.edges[i]), right = place(data.edges[i + 1]);
    return svg("rect", { class: "bar", x: x + 0.5, y: height - tall, width: Math.max(0.5, right - x - 1), height: tall });
  });
  const handle = svg("g", { class: "threshold", role: "slider", tabindex: "0", "aria-label": "Threshold of the score", "aria-valuemin": first, "aria-valuemax": last },
    svg("rect", { class: "grip", x: -14, y: 0, width: 28, height }), svg("line", { y1: 0, y2: height }), svg("line", { class: "knob", y1: 7, y2: 7.1 }));
  const box = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "histogram", role: "group", "aria-label": "How many nodes have which score" }, ...bars, handle);
  const said = el("output", { id: "above" }), link = el("a", { id: "show-above" }, "Show them");
  let threshold = data.threshold ?? last, asked = 0;
  const move = async (value) => {
    threshold = Math.min(last, Math.max(first, value));
    handle.setAttribute("transform", `translate(${place(threshold)} 0)`);
    handle.setAttribute("aria-valuenow", threshold.toPrecision(4));
    bars.forEach((bar, i) => bar.classList.toggle("beyond", data.edges[i] >= threshold));
    const next = new URLSearchParams(params);
    next.set("where", JSON.stringify([...wheres(params).filter((one) => one[0] !== "score"), ["score", threshold, null]]));
    next.delete("start");
    link.href = address("ranking", next);
    const mine = ++asked;
    try {
      const above = await get("/api/above", { threshold });
      if (mine !== asked) return;
      const text = `${count(above.count, "node")} above ${numeral(threshold)}`;
      said.textContent = `A threshold of ${numeral(threshold)} flags ${count(above.count, "node")}${threshold === data.threshold ? " (as in the run)" : ""}. `;
      handle.setAttribute("aria-valuetext", text);
    } catch (error) { problem(error); }
  };
  const at = (event) => { const frame = box.getBoundingClientRect(); return first + ((event.clientX - frame.left) / frame.width) * (last - first); };
  handle.addEventListener("pointerdown", (event) => { handle.setPointerCapture(event.pointerId); event.preventDefault(); handle.focus(); });
  handle.addEventListener("pointermove", (event) => { if (handle.hasPointerCapture(event.pointerId)) move(at(event)); });
  handle.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (by) { event.preventDefault(); move(threshold + (by * (last - first)) / 100); }
  });
  move(threshold);
  return el("figure", { class: "scores" }, el("figcaption", { class: "note" }, "Scores without verdicts (heights as square roots)"), box, el("p", {}, said, link));
}

function found(page, params) {
  const isAll = !params.get("search") && !params.get("verdict") && !wheres(params).length;
  if (!page.total) return "No node fits; remove a filter or search for something else.";
  const last = Math.min(page.start + ROWS, page.total);
  return `${isAll ? "" : "Found "}${count(page.total, "node")}, shown ${(page.start + 1).toLocaleString("en")} to ${last.toLocaleString("en")}`;
}

function bulk(picked, judge) {
  const button = (kind, text) => el("button", { type: "button", class: kind, click: () => judge([...picked], kind) }, text);
  return el("div", { class: "bulk", id: "bulk", hidden: true, role: "group", "aria-label": "Verdict on the selected nodes" },
    el("span", { id: "picked" }), button("abnormal", "Abnormal"), button("normal", "Normal"), button("unsure", "Unsure"), button("", "No verdict"));
}

function list(page, params, picked) {
  const update = () => {
    document.getElementById("bulk").hidden = !picked.size;
    document.getElementById("picked").textContent = `${count(picked.size, "node")} selected`;
  };
  const boxes = page.rows.map((row) => el("input", { type: "checkbox", "aria-label": `Select ${row.name}`, change: (event) => {
    if (event.target.checked) picked.add(row.row); else picked.delete(row.row);
    update();
  } }));
  const all = el("input", { type: "checkbox", "aria-label": "Select all nodes of this page", change: (event) => boxes.forEach((box) => {
    if (box.checked !== event.target.checked) { box.checked = event.target.checked; box.dispatchEvent(new Event("change")); }
  }) });
  const extra = params.get("extra");
  const heads = HEADS.map(([key, text]) => head(params, key, text));
  const more = extra ? [head(params, extra, columns.find((column) => column.key === extra)?.label ?? extra)] : [];
  const rows = page.rows.map((row, i) => line(row, boxes[i], params));
  return el("table", { class: "ranking" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, all), ...heads, el("th", { scope: "col" }, "verdict"), ...more)), el("tbody", {}, rows));
}

function head(params, key, text) {
  const isSorted = (params.get("sort") ?? "updated_rank") === key, down = params.get("desc") === "1";
  const startsDown = !["updated_rank", "rank", "name"].includes(key);
  const desc = isSorted ? !down : startsDown;
  const direction = isSorted ? (down ? "descending" : "ascending") : null;
  return el("th", { scope: "col", "aria-sort": direction, class: key === "name" ? "" : "num" },
    el("button", { type: "button", click: () => go(params, { sort: key, desc: desc ? "1" : "" }) }, text));
}

function line(row, box, params) {
  const link = el("a", { href: address(`node/${row.row}`, listOf(params)) }, el("bdi", {}, row.name));
  const why = row.changes?.length ? el("span", { class: "why", title: row.changes.join(", ") }, row.changes[0]) : "";
  return el("tr", { "data-row": row.row, class: row.flag ? "flagged" : "" },
    el("td", { class: "pick" }, box),
    el("td", { class: "num rank" }, row.updated_rank.toLocaleString("en"), " ", movement(row)),
    el("th", { scope: "row", class: "node" }, link, row.name === row.id ? "" : el("span", { class: "id" }, ` ${row.id}`), row.flag ? el("span", { class: "badge flag" }, "flagged") : "", why),
    el("td", { class: "num", "data-name": "score" }, row.score),
    el("td", { class: "num", "data-name": "after verdicts" }, row.updated_score),
    el("td", { class: "num", "data-name": "neighbours" }, row.neighbours.toLocaleString("en")),
    el("td", { class: "said" }, verdictBadge(row.kind)),
    row.extra === undefined ? null : el("td", { class: "num", "data-name": columns.find((column) => column.key === params.get("extra"))?.label }, row.extra));
}

function pager(page, params) {
  const to = (start) => { const next = new URLSearchParams(params); next.set("start", start); return address("ranking", next); };
  const before = page.start > 0, after = page.start + ROWS < page.total;
  if (!before && !after) return "";
  return el("nav", { class: "pager", "aria-label": "Pages of the ranking" },
    before ? el("a", { href: to(Math.max(0, page.start - ROWS)) }, "← Previous") : el("span"),
    after ? el("a", { href: to(page.start + ROWS) }, "Next →") : el("span"));
}
