// One picture of the plane: regions on a canvas; lines, points and marks in SVG above it.

import { between, contour, leadsOf, nearestOn, unpacked } from "./contours.js";

const FINE = 200;      // pixels of the regions in each direction
export const SIZE = 1000;  // of the SVG, in its own units
const RADIUS = 9;      // of a point
const NS = "http://www.w3.org/2000/svg";

export const classColour = (k) => `var(--s${k})`;
export const across = (x) => (x + 1) / 2 * SIZE;
export const up = (y) => (1 - y) / 2 * SIZE;

/** The radius of a point: many are drawn smaller, and so is what is around them. */
const radius = (points) => (points.length > 600 ? 5 : RADIUS);

/** The mark of a class, a shape as well as a colour, around the middle. */
function mark(label, r) {
  const shapes = [
    `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M0 ${-1.25 * r}L${1.15 * r} ${0.9 * r}H${-1.15 * r}z`,
    `M0 ${-1.35 * r}L${1.35 * r} 0L0 ${1.35 * r}L${-1.35 * r} 0z`,
    `M${-1.4 * r} ${-0.45 * r}H${-0.45 * r}V${-1.4 * r}H${0.45 * r}V${-0.45 * r}H${1.4 * r}`
      + `V${0.45 * r}H${0.45 * r}V${1.4 * r}H${-0.45 * r}V${0.45 * r}H${-1.4 * r}z`,
  ];
  return shapes[label];
}

export const path = (segments) => segments
  .map(([a, b, c, d]) => `M${place(a)} ${place(1 - b)}L${place(c)} ${place(1 - d)}`).join("");
const place = (v) => (v * SIZE).toFixed(1);

const known = new Map();
document.addEventListener("look", () => known.clear());

/** The three numbers of a colour of the page. */
export function rgb(name) {
  if (!known.has(name)) known.set(name, looked(name));
  return known.get(name);
}

function looked(name) {
  const probe = document.createElement("i");
  probe.style.color = name;
  document.body.append(probe);
  const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  probe.remove();
  return found;
}

/** What is drawn of an answer: grids, leads, boundaries, margins. */
export function drawing(answer) {
  const { side, problems, classes } = answer;
  const grids = unpacked(answer.grid, problems, side);
  const leads = leadsOf(grids);
  const boundary = problems === 1
    ? contour(grids[0], side, 0) : leads.flatMap((lead) => contour(lead, side, 0));
  const base = answer.competing || problems === 1 ? leads : grids;
  const margins = answer.levels
    ? base.map((grid, k) => contour(grid, side, answer.levels[k])) : classes.map(() => []);
  return { grids, leads, boundary, margins, side };
}

export class Plane {
  /** Draw into an element that is a square. */
  constructor(element, label) {
    this.canvas = document.createElement("canvas");
    this.canvas.width = this.canvas.height = FINE;
    this.svg = document.createElementNS(NS, "svg");
    this.svg.setAttribute("viewBox", `0 0 ${SIZE} ${SIZE}`);
    this.svg.setAttribute("tabindex", "0");
    this.svg.setAttribute("role", "application");
    this.svg.setAttribute("aria-label", label);
    this.layers = {};
    for (const name of ["lines", "slack", "points", "marks", "hover", "cursor"]) {
      const layer = document.createElementNS(NS, "g");
      layer.setAttribute("class", name);
      this.svg.append(layer);
      this.layers[name] = layer;
    }
    element.append(this.canvas, this.svg);
  }

  clear() {
    this.canvas.getContext("2d").clearRect(0, 0, FINE, FINE);
    for (const name of ["lines", "slack", "marks", "hover"]) this.layers[name].innerHTML = "";
  }

  /** Colour fine pixels: `paint(x, y, data, at)` writes the four bytes for x, y from 0 to 1. */
  paint(paint) {
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(FINE, FINE);
    for (let row = 0, at = 0; row < FINE; row++) {
      const y = 1 - (row + 0.5) / FINE;
      for (let column = 0; column < FINE; column++, at += 4) {
        paint((column + 0.5) / FINE, y, image.data, at);
      }
    }
    context.putImageData(image, 0, 0);
  }

  regions(answer, drawn) {
    const colours = answer.classes.map((label) => rgb(classColour(Math.max(label, 0))));
    const { leads, side } = drawn;
    let largest = 1e-9;
    for (const lead of leads) for (const value of lead) if (value > largest) largest = value;
    const strong = answer.levels ? Math.min(largest, Math.max(...answer.levels)) : largest / 2;
    const grids = leads.length === 2 ? [leads[1]] : leads;
    const values = new Float64Array(grids.length);
    this.paint((x, y, data, at) => {
      for (let k = 0; k < grids.length; k++) values[k] = between(grids[k], side, x, y);
      let best = values[0] > 0 ? 1 : 0, lead = Math.abs(values[0]);
      if (grids.length > 1) {
        best = 0;
        for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
        lead = Math.max(values[best], 0);
      }
      if (answer.detector && best === 0) return;
      const colour = colours[answer.detector ? 0 : best];
      data[at] = colour[0];
      data[at + 1] = colour[1];
      data[at + 2] = colour[2];
      data[at + 3] = 40 + 60 * Math.min(1, lead / strong);
    });
  }

  /** Lines of the boundary and the margins. */
  lines(answer, drawn) {
    const margins = drawn.margins.map((segments, k) =>
      `<path class="margin c${Math.max(answer.classes[k], 0)}" d="${path(segments)}"/>`);
    this.layers.lines.innerHTML =
      `${margins.join("")}<path class="boundary" d="${path(drawn.boundary)}"/>`;
  }

  /** The points; `sizes` are factors of their radius, `lit` those that something happens to. */
  points(points, sizes = null, lit = []) {
    const r = radius(points);
    const lights = new Set(lit);
    this.layers.points.innerHTML = points.map(([x, y, label], i) =>
      `<path class="point c${label}${lights.has(i) ? " lit" : ""}" data-index="${i}" transform="`
      + `translate(${across(x).toFixed(1)} ${up(y).toFixed(1)})" d="`
      + `${mark(label, sizes ? r * sizes[i] : r)}"/>`).join("");
  }

  /** Rings around support vectors by their weight, crosses on errors. */
  marks(points, { support, weights, wrong }) {
    const most = Math.max(1e-12, ...(weights || []));
    const size = radius(points) / RADIUS;
    const rings = (support || []).filter((i) => points[i]).map((i, k) => {
      const share = weights ? weights[k] / most : 1;
      return `<circle class="support" cx="${across(points[i][0]).toFixed(1)}" cy="`
        + `${up(points[i][1]).toFixed(1)}" r="${(size * (14 + 5 * share)).toFixed(1)}" stroke-width="`
        + `${(size * size * (1 + 4 * share)).toFixed(2)}"/>`;
    });
    const crosses = (wrong || []).filter((i) => points[i]).map((i) =>
      `<path class="wrong" transform="translate(${across(points[i][0]).toFixed(1)} `
      + `${up(points[i][1]).toFixed(1)}) scale(${size.toFixed(2)})" d="M-8 -8L8 8M-8 8L8 -8"/>`);
    this.layers.marks.innerHTML = rings.join("") + crosses.join("");
  }

  /** From each point that is short of its margin, a line to the nearest place on it. */
  slack(points, answer, drawn) {
    if (!answer.levels || answer.detector || points.length > 600) {
      this.layers.slack.innerHTML = "";
      return;
    }
    const row = new Map(answer.classes.map((label, k) => [label, k]));
    this.layers.slack.innerHTML = points.map(([x, y, label], i) => {
      const k = row.get(label);
      if (k === undefined || !drawn.margins[k].length) return "";
      const scores = answer.competing || answer.problems === 1 ? drawn.leads : drawn.grids;
      const u = (x + 1) / 2, v = (y + 1) / 2;
      const short = answer.levels[k] - between(scores[k], drawn.side, u, v);
      if (short <= 1e-3 * answer.levels[k]) return "";
      const [a, b] = nearestOn(drawn.margins[k], u, v);
      return `<path class="c${label}" d="${path([[u, v, a, b]])}"/>`;
    }).join("");
  }

  /** Everything of a fit. */
  show(points, answer, extra = {}) {
    const drawn = drawing(answer);
    this.regions(answer, drawn);
    this.lines(answer, drawn);
    this.points(points, extra.sizes, extra.lit);
    this.slack(points, answer, drawn);
    this.marks(points, { support: answer.support, weights: weightsOf(answer), wrong: answer.wrong });
    return drawn;
  }

  /** What leaving out a point would change: its boundary, dashed. */
  without(segments, point) {
    this.layers.hover.innerHTML = point
      ? `<path class="without" d="${path(segments)}"/><circle class="chosen" cx="`
        + `${across(point[0])}" cy="${up(point[1])}" r="22"/>` : "";
  }

  cursor(at) {
    this.layers.cursor.innerHTML = at
      ? `<path d="M${across(at[0]) - 18} ${up(at[1])}h36M${across(at[0])} ${up(at[1]) - 18}v36"/>`
      : "";
  }
}

/** The weight of each support vector: its largest coefficient over the problems. */
export function weightsOf(answer) {
  if (!answer.support || !answer.coefficients) return null;
  return answer.support.map((_, i) =>
    Math.max(0, ...answer.coefficients.map((row) => Math.abs(row[i] || 0))));
}
