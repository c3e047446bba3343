// One node: its verdict, its reasons, the graph around it.

import { picture } from "./drawing.js";
import { address, el, get, here, labelled, listOf, movement, numeral, problem, select, svg, verdictBadge } from "./common.js";

const AGAIN = 700; // milliseconds until an explanation is asked for again

export async function showNode(main, { judge, isCurrent }) {
  const { part, params } = here();
  const node = await get(`/api/node/${encodeURIComponent(part)}`);
  if (!isCurrent()) return;
  const reasons = el("section", { "aria-labelledby": "reasons", class: "reasons" }, el("h2", { id: "reasons" }, "Reasons"), el("p", { class: "note", role: "status" }, "Working out the reasons…"));
  const graph = el("section", { "aria-labelledby": "graph" }, el("h2", { id: "graph" }, "The graph around it"));
  main.replaceChildren(
    el("p", { class: "back" }, el("a", { href: address("ranking", listOf(params)), id: "back" }, "← Ranking")),
    el("h1", { tabindex: "-1" }, el("bdi", {}, node.name)),
    standing(node), verdictForm(node, judge), el("div", { class: "halves" }, reasons, graph),
    table("All attributes", node.attributes), table("Other columns", node.others));
  const open = (row) => { location.hash = address(`node/${row}`, listOf(params)); };
  drawSurroundings(graph, node, params, open).catch(problem);
  explain(reasons, graph, node, open, isCurrent).catch(problem); // not awaited: the view is complete, and focus is moved only once
}

function standing(node) {
  const was = node.rank === node.updated_rank ? "" : ` (${node.rank.toLocaleString("en")} without verdicts)`;
  const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  return el("dl", { class: "facts" },
    node.id === node.name ? null : fact("id", el("bdi", {}, node.id)),
    fact("rank", el("span", { id: "rank" }, node.updated_rank.toLocaleString("en"), was, " ", movement(node))),
    fact("score", `${node.score}${node.updated_score === node.score ? "" : `, ${node.updated_score} after verdicts`}`),
    fact("p-value", node.p_value), fact("neighbours", node.neighbours.toLocaleString("en")),
    node.flag ? el("div", {}, el("dt", {}, "flagged"), el("dd", {}, "yes")) : null,
    node.changes.length ? el("div", { class: "moved" }, el("dt", {}, "from verdicts"), el("dd", {}, node.changes.join(", "))) : null);
}

function verdictForm(node, judge) {
  const note = el("textarea", { id: "note", rows: 2, maxlength: 10000 });
  note.value = node.verdict?.note ?? "";
  const author = el("input", { id: "author", maxlength: 200, autocomplete: "name", value: localStorage.getItem("author") ?? "", change: () => localStorage.setItem("author", author.value) });
  const button = (kind, text, key) => el("button", { type: "button", class: kind, "aria-pressed": String(node.kind === kind), "aria-keyshortcuts": key, click: () => judge([node.row], kind, note.value) }, text);
  const said = node.verdict ? [verdictBadge(node.kind), node.verdict.author ? ` by ${node.verdict.author}` : "", ` ${when(node.verdict.time)} `,
    el("button", { type: "button", class: "quiet", click: () => judge([node.row], "") }, "Take it back")] : ["No verdict yet."];
  return el("section", { class: "verdict-form", "aria-label": "Verdict" },
    el("p", { id: "said" }, said),
    el("div", { class: "kinds", role: "group", "aria-label": "Verdict on this node" }, button("abnormal", "Abnormal", "a"), button("normal", "Normal", "n"), button("unsure", "Unsure", "u")),
    el("div", { class: "row" }, labelled("Note", note), labelled("Author", author)));
}

function when(time) {
  const moment = new Date(time);
  return Number.isNaN(moment.getTime()) ? time : moment.toLocaleString();
}

function table(title, lines) {
  if (!lines.length) return "";
  const rows = lines.map((one) => el("tr", {}, el("th", { scope: "row" }, one.name), el("td", {}, one.value)));
  return el("details", {}, el("summary", {}, `${title} (${lines.length})`), el("table", { class: "values" }, el("tbody", {}, rows)));
}

async function explain(reasons, graph, node, open, isCurrent) {
  let found = null;
  try {
    while (!(found = (await get(`/api/explanation/${node.row}`)).explanation)) {
      await new Promise((next) => setTimeout(next, AGAIN));
      if (!isCurrent()) return;
    }
  } catch (error) {
    reasons.replaceChildren(reasons.firstChild, el("p", { class: "problem" }, error.message));
    return;
  }
  if (!isCurrent()) return;
  reasons.replaceChildren(reasons.firstChild, el("p", { class: "lead" }, found.summary), questions(found), deviations("Features", found.features),
    deviations("Position in the graph", found.structure), ties(found, open), components(found));
  graph.insertBefore(comparison(found.picture, open), graph.querySelector(".around"));
}

function questions(found) {
  return el("ul", { class: "questions" }, found.questions.map((one) => el("li", { title: one.asks },
    el("span", {}, one.label), gauge(one.percentile / 100), el("span", { class: "num" }, `more unusual than ${Math.floor(one.percentile)}%`))));
}

function gauge(share) {
  const box = svg("svg", { viewBox: "0 0 100 8", class: "gauge", "aria-hidden": "true", preserveAspectRatio: "none" });
  box.append(svg("rect", { class: "room", width: 100, height: 8 }), svg("rect", { class: share > 0.95 ? "above" : "below", width: 100 * share, height: 8 }));
  return box;
}

function deviations(title, lines) {
  if (!lines.length) return "";
  const rows = lines.map((one) => el("tr", {}, el("th", { scope: "row" }, one.name),
    el("td", {}, el("div", { class: "both" }, el("span", { class: short("actual", one.observed) }, one.observed), bars(one), el("span", { class: short("expected", one.expected) }, one.expected))),
    el("td", { class: Math.abs(one.size) >= 2 ? "num high" : "num" }, `${one.size > 0 ? "+" : ""}${numeral(one.size)}`)));
  const head = el("tr", {}, el("th", { scope: "col" }, title), el("th", { scope: "col" }, el("span", { class: "is-actual" }, "■"), " actual ", el("span", { class: "is-expected" }, "■"), " expected"), el("th", { scope: "col", class: "num" }, "off by"));
  return el("table", { class: "deviations" }, el("thead", {}, head), el("tbody", {}, rows));
}

// Dates and numbers are not broken at their hyphens.
function short(name, text) {
  return text.length <= 12 ? `${name} whole` : name;
}

// The actual value above the expected one, on one scale.
function bars(one) {
  const [actual, expected] = [one.observed_value, one.expected_value];
  if (actual === null || expected === null) return "";
  const isDate = one.kind === "date" || one.kind === "time";
  const low = isDate ? Math.min(actual, expected) - Math.abs(actual - expected) : Math.min(0, actual, expected);
  const spread = Math.max(actual, expected, isDate ? -Infinity : 0) - low || 1;
  const zero = isDate ? 0 : (-low / spread) * 100;
  const bar = (value, y, kind) => {
    const end = ((value - low) / spread) * 100;
    return svg("rect", { class: kind, x: Math.min(zero, end), y, width: Math.max(0.8, Math.abs(end - zero)), height: 5 });
  };
  return svg("svg", { viewBox: "0 0 100 13", class: "bars", "aria-hidden": "true", preserveAspectRatio: "none" }, bar(actual, 0, "is-actual"), bar(expected, 7, "is-expected"));
}

function ties(found, open) {
  const group = (title, lines) => (lines.length ? el("div", {}, el("h3", {}, title), el("ul", {}, lines.map((one) => el("li", {},
    one.row === null ? el("bdi", {}, one.name) : el("a", { href: "#", click: (event) => { event.preventDefault(); open(one.row); } }, el("bdi", {}, one.name)),
    el("span", { class: "note" }, ` ${one.surprise > 0 ? "+" : ""}${numeral(one.surprise)}`))))) : "");
  return el("div", { class: "ties" }, group("Unexpected edges", found.unexpected), group("Missing edges", found.missing), group("Expected edges", found.fitting));
}

function components(found) {
  const rows = found.components.map((one) => el("tr", {}, el("th", { scope: "row" }, one.label), el("td", { class: "num" }, one.value), el("td", { class: "num" }, `${Math.floor(one.percentile)}%`)));
  const head = el("tr", {}, el("th", { scope: "col" }, "part"), el("th", { scope: "col", class: "num" }, "value"), el("th", { scope: "col", class: "num" }, "higher than"));
  return el("details", {}, el("summary", {}, "Parts of the score"), el("p", { class: "note" }, `Compared with ${found.compared_with}.`),
    el("table", { class: "values" }, el("thead", {}, head), el("tbody", {}, rows)));
}

// Both ego-graphs; where there are noise levels, what is expected at the chosen one.
function comparison(data, open) {
  const key = ([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`;
  const view = (title, edges, others, kind, shades) => {
    const known = new Set(others.map(key));
    return picture(data, { title, edges, open, named: data.named, shade: (i) => shades[i], kind: (a, b) => (known.has(key([a, b])) ? "" : kind) });
  };
  const left = data.left_out ? ` ${data.left_out.toLocaleString("en")} more neighbours are not shown here.` : "";
  const pair = el("div", { class: "pair" });
  const show = (level) => {
    const [expected, shade] = level ? [level.expected, level.shade] : [data.expected, data.shade_expected];
    pair.replaceChildren(view("Actual", data.actual, expected, "only-actual", data.shade_actual), view("Expected", expected, data.actual, "only-expected", shade));
  };
  show();
  const options = [["", "all levels"], ...data.levels.map((level, i) => [String(i), `noise level ${numeral(level.tau)}`])];
  const choice = data.levels.length ? labelled("Reconstructed from", select(options, "", (event) => show(data.levels[event.target.value]), { id: "level" })) : null;
  return el("div", { class: "comparison" }, choice, pair,
    el("p", { class: "legend note" }, key_("only-actual"), " unexpected edge ", key_("only-expected"), " missing edge; shades: ", el("bdi", {}, data.shade), ", dark low, yellow high.", left));
}

function key_(kind) {
  return svg("svg", { viewBox: "0 0 28 8", class: "key", "aria-hidden": "true" }, svg("line", { class: `tie ${kind}`, x1: 1, x2: 27, y1: 4, y2: 4 }));
}

async function drawSurroundings(section, node, params, open) {
  const around = el("div", { class: "around" });
  section.append(around);
  const hops = params.get("hops") === "2" ? 2 : 1;
  const data = await get(`/api/surroundings/${node.row}`, { hops });
  const toggled = new URLSearchParams(listOf(params));
  if (hops === 1) toggled.set("hops", "2");
  const download = (kind) => el("a", { href: `/api/export/neighbourhood?row=${node.row}&hops=${hops}&format=${kind}`, download: "" }, kind === "gexf" ? "GEXF" : "GraphML");
  around.append(
    picture(data, { title: hops === 1 ? "All neighbours" : "Two hops", edges: data.edges, open, shade: (i) => data.nodes[i].share }),
    el("p", { class: "note" }, "Shades: score, yellow high."),
    data.left_out ? el("p", { class: "careful", id: "sampled" }, `Only ${(data.nodes.length - 1).toLocaleString("en")} nodes with the highest scores are drawn; ${data.left_out.toLocaleString("en")} more are left out.`) : "",
    el("p", { class: "links" }, el("a", { href: address(`node/${node.row}`, toggled), id: "hops" }, hops === 1 ? "Show two hops" : "Show one hop"), " Export: ", download("graphml"), " ", download("gexf")));
}
