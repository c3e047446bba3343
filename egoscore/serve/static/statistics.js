// How far the review is, and what was learned.

import { count, el, get } from "./common.js";

export async function showStatistics(main, { isCurrent }) {
  const [found, state] = await Promise.all([get("/api/statistics"), get("/api/state")]);
  if (!isCurrent()) return;
  const { remaining } = found;
  const left = remaining
    ? `About ${remaining.about.toLocaleString("en")} abnormal nodes remain among the ${count(remaining.among, "node")} without a verdict in the first ${remaining.depth.toLocaleString("en")} places. An estimate: reviewers look at the highest nodes, not at a random sample.`
    : "An estimate of how many remain takes ten verdicts of which one is abnormal.";
  main.replaceChildren(
    el("h1", { tabindex: "-1" }, "Statistics"),
    el("h2", {}, "Verdicts"),
    el("p", { id: "counts" }, Object.entries(found.counts).map(([kind, number]) => `${number.toLocaleString("en")} ${kind}`).join(", ")),
    el("h2", {}, "Precision at k"),
    el("p", { class: "note" }, "The share of abnormal nodes among those with a verdict (abnormal or normal) in the first k places."),
    precision(found),
    el("h2", {}, "Remaining"), el("p", { id: "remaining" }, left),
    el("h2", {}, "What was learned"),
    state.lessons.length ? el("ul", {}, state.lessons.map((text) => el("li", {}, text))) : el("p", {}, "Nothing yet; give some verdicts."));
}

function precision(found) {
  const depths = [...new Set([...found.unsupervised, ...found.updated].map((one) => one.k))];
  const cell = (lines, k) => {
    const one = lines.find((line) => line.k === k);
    const text = !one || one.precision === null ? "–" : `${Math.round(100 * one.precision)}% (${one.abnormal} of ${one.reviewed})`;
    return el("td", { class: "num" }, text);
  };
  const first = (k) => found.in_order.find((one) => one.k === k);
  const rows = depths.map((k) => el("tr", {}, el("th", { scope: "row", class: "num" }, k.toLocaleString("en")), cell(found.unsupervised, k), cell(found.updated, k),
    el("td", { class: "num" }, first(k) ? `${first(k).abnormal} of ${k}` : "–")));
  const heads = ["k", "ranking without verdicts", "ranking now", "first k verdicts"];
  return el("table", { class: "values" }, el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col", class: "num" }, text)))), el("tbody", {}, rows));
}
