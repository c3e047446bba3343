// Which view is shown, verdicts, keyboard, and what other tabs and programs changed.

import { address, count, el, get, here, listOf, movement, post, problem, say } from "./common.js";
import { showNode } from "./node.js";
import { showRanking } from "./ranking.js";
import { showStatistics } from "./statistics.js";

const POLL = 2500; // milliseconds
const VIEWS = { ranking: showRanking, node: showNode, statistics: showStatistics };
const main = document.getElementById("content");
let state = null, shown = 0, cursor = -1;

async function show(movesFocus = true) {
  const mine = ++shown, { view, part, params } = here();
  const draw = VIEWS[view] ?? showRanking;
  for (const link of document.querySelectorAll("nav [data-view]")) link.toggleAttribute("aria-current", link.dataset.view === view);
  try {
    await draw(main, { judge, isCurrent: () => mine === shown });
  } catch (error) {
    if (mine === shown) main.replaceChildren(el("h1", { tabindex: "-1" }, "This view is not available"), el("p", {}, error.message));
  }
  if (mine !== shown) return;
  cursor = -1;
  document.title = `${main.querySelector("h1")?.textContent ?? "Review"} – ${state?.title ?? "egoscore"}`;
  main.dataset.shown = `${view}/${part ?? ""}?${params}`;
  if (movesFocus) { scrollTo(0, 0); main.querySelector("h1")?.focus({ preventScroll: true }); }
}

// The view again, with what changed; where the reader was is kept.
async function refresh() {
  const { scrollX, scrollY } = window, row = focusedRow();
  const note = document.getElementById("note")?.value;
  await show(false);
  const field = document.getElementById("note");
  if (field && note) field.value = note;
  if (row) document.querySelector(`tr[data-row="${row}"] a`)?.focus({ preventScroll: true });
  scrollTo(scrollX, scrollY);
}

function focusedRow() {
  return document.activeElement?.closest?.("tr[data-row]")?.dataset.row;
}

function take(next) {
  const isNew = state?.key !== next.key;
  state = next;
  const said = Object.entries(state.counts).filter(([, number]) => number).map(([kind, number]) => `${number.toLocaleString("en")} ${kind}`);
  const learning = state.is_learning ? (said.length ? " Learning from them…" : " Preparing to learn…") : "";
  document.getElementById("run").textContent = `${state.title}: ${count(state.num_nodes, "node")}, ${state.num_flagged.toLocaleString("en")} flagged`;
  document.getElementById("progress").textContent = `${said.length ? `Verdicts: ${said.join(", ")}.` : "No verdicts yet."}${learning}${state.problem ? ` ${state.problem}` : ""}`;
  document.getElementById("undo").disabled = !state.version;
  const link = document.getElementById("next");
  link.hidden = state.next === null;
  link.href = address(`node/${state.next}`, new URLSearchParams());
  return isNew;
}

async function poll() {
  try {
    if (!document.hidden && take(await get("/api/state")) && !isWriting()) await refresh();
  } catch (error) { problem(error); }
  setTimeout(poll, state?.is_learning ? POLL / 5 : POLL);
}

function isWriting() {
  return document.activeElement?.matches?.("input:not([type=checkbox]), textarea, select");
}

async function judge(rows, kind, note = "") {
  if (!rows.length) return;
  const author = localStorage.getItem("author") ?? "";
  try {
    const found = await post("/api/verdicts", { rows, kind, note, author });
    take(found.state);
    tell(found, kind || "without a verdict");
  } catch (error) { problem(error); return; }
  await refresh();
}

async function undo() {
  try {
    const found = await post("/api/undo", {});
    take(found.state);
    tell(found, "without the last verdict");
  } catch (error) { problem(error); return; }
  await refresh();
}

// What a verdict did: how the node moved, who came to the top, where to go next.
function tell(found, what) {
  const [own] = found.own, others = found.rows.length - 1;
  const names = own ? `${own.name}${others > 0 ? ` and ${count(others, "other")}` : ""}` : "Done";
  const rank = own ? (own.from === own.to ? ` It stays at rank ${own.to}.` : ` Rank ${own.from.toLocaleString("en")} → ${own.to.toLocaleString("en")}.`) : "";
  const why = own?.changes?.length ? ` Because of ${own.changes.slice(0, 3).join(", ")}.` : "";
  const came = found.moved.map((row) => el("li", {}, el("a", { href: address(`node/${row.row}`, new URLSearchParams()) }, el("bdi", {}, row.name)),
    ` ${row.from.toLocaleString("en")} → ${row.to.toLocaleString("en")} `, el("span", { class: "note" }, row.changes.slice(0, 2).join(", "))));
  const next = found.state.next === null ? "" : el("a", { class: "go", href: address(`node/${found.state.next}`, new URLSearchParams()) }, "Next to review →");
  const learning = found.state.is_learning ? " The ranking follows in a moment." : "";
  say(`${names}: ${what}.${rank}${others > 0 ? "" : why}${learning}`, [came.length ? el("details", {}, el("summary", {}, `New among the first 20: ${came.length}`), el("ul", {}, came)) : "", next]);
}

async function step(by) {
  const { view, part, params } = here();
  if (view === "node") {
    const found = await get("/api/step", { ...Object.fromEntries(listOf(params)), row: part, by });
    if (found.row !== null) location.hash = address(`node/${found.row}`, listOf(params));
    return;
  }
  const links = [...main.querySelectorAll("tr[data-row] th a")];
  const at = links.findIndex((link) => link.closest("tr").dataset.row === focusedRow());
  cursor = Math.min(links.length - 1, Math.max(0, (at < 0 ? cursor : at) + by));
  links[cursor]?.focus();
}

function judgeHere(kind) {
  const { view, part } = here();
  if (view === "node") return judge([Number(part)], kind, document.getElementById("note")?.value ?? "");
  const picked = [...main.querySelectorAll("tr[data-row] input:checked")].map((box) => Number(box.closest("tr").dataset.row));
  const row = focusedRow();
  return judge(picked.length ? picked : row ? [Number(row)] : [], kind);
}

function search() {
  const field = document.getElementById("search");
  if (field) { field.focus(); field.select(); return; }
  location.hash = address("ranking", listOf(here().params));
  addEventListener("hashchange", () => show().then(() => document.getElementById("search")?.focus()), { once: true });
}

const KEYS = {
  j: () => step(1), k: () => step(-1), a: () => judgeHere("abnormal"), n: () => judgeHere("normal"), u: () => judgeHere("unsure"),
  z: undo, s: () => { if (state?.next !== null) location.hash = address(`node/${state.next}`, new URLSearchParams()); }, "/": search,
  "?": () => document.getElementById("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (isWriting()) { if (event.key === "Escape") document.activeElement.blur(); return; }
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  Promise.resolve(KEYS[event.key]()).catch(problem);
});
document.getElementById("undo").addEventListener("click", undo);
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => show());
history.replaceState(null, "", location.pathname + location.hash); // the token is in a cookie now
take(await get("/api/state"));
await show(false);
setTimeout(poll, POLL);
