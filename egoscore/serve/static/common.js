// What all views share: elements, requests, addresses.

const SVG = "http://www.w3.org/2000/svg";

// An element. Text is only ever set as text, so names and notes from the data stay inert.
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export async function get(path, params = {}) {
  const query = new URLSearchParams(params).toString();
  return answer(await fetch(query ? `${path}?${query}` : path));
}

export async function post(path, body) {
  const headers = { "content-type": "application/json" };
  return answer(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answer(response) {
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  const found = isJson ? await response.json() : { problem: await response.text() };
  if (!response.ok) throw new Error(found.problem || `The server answered ${response.status}.`);
  return found;
}

// An address is "#/view/part?parameters": every view has one, so back and forward work.
export function here() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, part] = path.split("/");
  return { view: view || "ranking", part, params: new URLSearchParams(query) };
}

export function address(view, params) {
  const kept = new URLSearchParams([...params].filter(([, value]) => value !== ""));
  const query = kept.toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

// The parameters that say which nodes a list holds, and in which order.
export function listOf(params) {
  return new URLSearchParams([...params].filter(([name]) => ["sort", "desc", "search", "verdict", "where"].includes(name)));
}

export function count(number, thing) {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
}

export function numeral(value) {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
}

// What changed, with a button to take it back.
export function say(text, more = [], isProblem = false) {
  const box = document.getElementById("message");
  box.className = isProblem ? "problem" : "";
  box.replaceChildren(el("p", {}, text), ...more);
  if (text) box.append(el("button", { type: "button", "aria-label": "Close this message", click: () => say("") }, "×"));
  if (!text) box.replaceChildren();
}

export function problem(error) {
  say(error.message, [], true);
}

// A labelled control: the label is around it, so that each has an accessible name.
export function labelled(text, control) {
  return el("label", {}, el("span", {}, text), control);
}

export function select(options, chosen, change, attributes = {}) {
  const made = options.map(([value, text]) => el("option", { value, selected: value === chosen }, text));
  return el("select", { change, ...attributes }, made);
}

export function verdictBadge(kind) {
  return kind ? el("span", { class: `badge ${kind}` }, kind) : "";
}

// Where a node stands, and where it stood without verdicts.
export function movement(row) {
  const by = row.rank - row.updated_rank;
  if (!by) return "";
  const text = `${by > 0 ? "▲" : "▼"} ${Math.abs(by).toLocaleString("en")}`;
  const title = `was ${row.rank.toLocaleString("en")} without verdicts`;
  return el("span", { class: by > 0 ? "up" : "down", title, "aria-label": title }, text);
}
