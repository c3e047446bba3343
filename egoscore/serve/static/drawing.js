// Pictures of a part of the graph: zoom, pan, hover for attributes, click to walk to a node.

import { el, svg } from "./common.js";

const CENTRE = 11, DOT = 8, FAR = 5, NAMED = 14;
const STEP = 1.25, LEAST = 0.25, MOST = 2.5;

// `kind(i, j)` is the class of an edge, "" for one that is in both pictures; `shade(i)` 0 to 1.
export function picture(data, { title, edges, kind = () => "", shade, open, named }) {
  const view = { x: 0, y: 0, width: data.width, height: data.height };
  const box = svg("svg", { class: "ego", tabindex: "0", role: "group", "aria-label": `${title}: ${describe(data, edges)}` });
  const lines = edges.map(([a, b]) => {
    const [from, to] = [data.nodes[a], data.nodes[b]];
    return svg("line", { class: `tie ${kind(a, b)}${data.hops?.[a] === 2 && data.hops[b] === 2 ? " outer" : ""}`, x1: from.x, y1: from.y, x2: to.x, y2: to.y });
  });
  const order = named ?? data.nodes.map((_, i) => i).slice(0, NAMED);
  const dots = data.nodes.map((node, i) => dot(data, node, i, shade(i), open));
  const names = labels(data, order);
  box.append(...lines, ...dots, ...names);
  const show = () => box.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  show();
  movable(box, view, data, show);
  return el("figure", { class: "drawing" }, el("figcaption", {}, el("strong", {}, title)), box, buttons(box, view, data, show));
}

function describe(data, edges) {
  return `${data.nodes.length} nodes, ${edges.length} edges`;
}

function dot(data, node, i, shade, open) {
  const far = data.hops?.[i] === 2;
  const radius = i === 0 ? CENTRE : far ? FAR : DOT;
  const step = Number.isFinite(shade) ? Math.round(Math.min(1, Math.max(0, shade)) * 8) : "x";
  const ring = i === 0 ? svg("circle", { class: "ring", cx: node.x, cy: node.y, r: radius + 4 }) : null;
  const circle = svg("circle", { class: `dot s${step}`, cx: node.x, cy: node.y, r: radius });
  const title = svg("title", {}, hover(node));
  const link = i === 0 ? {} : { tabindex: "0", role: "link", "aria-label": `${node.name}, rank ${node.updated_rank}`, click: () => open(node.row),
    keydown: (event) => { if (event.key === "Enter") { event.preventDefault(); open(node.row); } } };
  const shape = node.kind ? svg("circle", { class: `verdict ${node.kind}`, cx: node.x + radius * 0.8, cy: node.y - radius * 0.8, r: 3.5 }) : null;
  return svg("g", { class: i === 0 ? "node centre" : "node", ...link }, title, ring, circle, shape);
}

function hover(node) {
  const values = node.values.map((one) => `${one.name}: ${one.value}`);
  const verdict = node.kind ? [`verdict: ${node.kind}`] : [];
  return [node.name, `rank ${node.updated_rank}, score ${node.score}, ${node.neighbours} neighbours`, ...verdict, ...values].join("\n");
}

// Names next to their dots, shortened where there is little room; one without any is left out.
function labels(data, order) {
  const taken = data.nodes.map((node, i) => [node.x - DOT, node.y - DOT, node.x + DOT, node.y + DOT]);
  const isFree = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= data.width && box[3] <= data.height
    && taken.every((other) => box[0] >= other[2] || other[0] >= box[2] || box[1] >= other[3] || other[1] >= box[3]);
  const found = [];
  for (const i of order) {
    const label = tries(data, i).find((one) => isFree(one.box));
    if (!label) continue;
    taken.push(label.box);
    found.push(svg("text", { class: "halo", x: label.box[0], y: label.box[3] - 3, "aria-hidden": "true" }, label.text));
  }
  return found;
}

// Places for a name, those away from the centre first; the centre's own is below it.
function tries(data, i) {
  const node = data.nodes[i], letters = [...node.name];
  const isRight = node.x > data.width / 2, isLow = node.y >= data.height / 2;
  const isBeside = i > 0 && Math.abs(node.x - data.width / 2) > Math.abs(node.y - data.height / 2);
  return [16, 10, 7].flatMap((most) => {
    const text = letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : node.name;
    const width = 6.7 * text.length;
    const beside = [isRight ? node.x + DOT + 4 : node.x - DOT - 4 - width, node.y + 4];
    const apart = [node.x - width / 2, node.y + (isLow ? CENTRE + 15 : -DOT - 5)];
    return (isBeside ? [beside, apart] : [apart, beside]).map(([x, y]) => ({ text, box: [x, y - 11, x + width, y + 3] }));
  });
}

function zoom(view, data, factor, x = view.x + view.width / 2, y = view.y + view.height / 2) {
  const width = Math.min(data.width * MOST, Math.max(data.width * LEAST, view.width * factor));
  const scale = width / view.width;
  Object.assign(view, { x: x - (x - view.x) * scale, y: y - (y - view.y) * scale, width, height: view.height * scale });
}

function movable(box, view, data, show) {
  let last = null, moved = 0;
  const scale = () => view.width / box.getBoundingClientRect().width;
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== box) return;  // scrolls the page otherwise
    event.preventDefault();
    const frame = box.getBoundingClientRect();
    zoom(view, data, event.deltaY > 0 ? STEP : 1 / STEP, view.x + (event.clientX - frame.left) * scale(), view.y + (event.clientY - frame.top) * scale());
    show();
  }, { passive: false });
  box.addEventListener("pointerdown", (event) => { last = event; moved = 0; });
  box.addEventListener("pointermove", (event) => {
    if (!last || !event.buttons) return;
    moved += Math.abs(event.clientX - last.clientX) + Math.abs(event.clientY - last.clientY);
    if (moved > 5 && !box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
    view.x -= (event.clientX - last.clientX) * scale();
    view.y -= (event.clientY - last.clientY) * scale();
    last = event;
    show();
  });
  box.addEventListener("pointerup", () => { last = null; });
  box.addEventListener("click", (event) => { if (moved > 5) event.stopPropagation(); moved = 0; }, true);
  box.addEventListener("keydown", (event) => {
    const by = view.width / 10;
    const moves = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] };
    if (event.key in moves) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; }
    else if (event.key === "+" || event.key === "=") zoom(view, data, 1 / STEP);
    else if (event.key === "-") zoom(view, data, STEP);
    else if (event.key === "0") reset(view, data);
    else return;
    event.preventDefault();
    show();
  });
}

function reset(view, data) {
  Object.assign(view, { x: 0, y: 0, width: data.width, height: data.height });
}

function buttons(box, view, data, show) {
  const button = (text, name, act) => el("button", { type: "button", "aria-label": name, title: name, click: () => { act(); show(); } }, text);
  return el("div", { class: "zoom" },
    button("+", "Zoom in", () => zoom(view, data, 1 / STEP)),
    button("−", "Zoom out", () => zoom(view, data, STEP)),
    button("⤢", "Show all", () => reset(view, data)));
}
