// The duality gap of each frame as a line, with a mark at the frame that is shown.

import { short } from "./controls.js";

const WIDTH = 600, LEFT = 70, RIGHT = 590, TOP = 12, BOTTOM = 92;
const LEAST = 1e-8;   // smaller gaps are drawn there

/** Draw the gaps into a figure; without any it is hidden. */
export function gapCurve(figure, gaps, at) {
  const known = gaps.filter((gap) => typeof gap === "number");
  figure.hidden = known.length < 2;
  if (figure.hidden) return;
  const logs = gaps.map((gap) => (typeof gap === "number" ? Math.log10(Math.max(gap, LEAST)) : null));
  const numbers = logs.filter((log) => log !== null);
  const high = Math.ceil(Math.max(...numbers)), low = Math.min(high - 1, Math.floor(Math.min(...numbers)));
  const x = (k) => LEFT + (RIGHT - LEFT) * k / Math.max(1, gaps.length - 1);
  const y = (log) => TOP + (BOTTOM - TOP) * (high - log) / (high - low);
  const places = logs.map((log, k) => (log === null ? "" : `${x(k).toFixed(1)} ${y(log).toFixed(1)}`));
  const level = (log) => `<line x1="${LEFT}" x2="${WIDTH}" y1="${y(log)}" y2="${y(log)}"/>`
    + `<text x="${LEFT - 8}" y="${y(log) + 4}" text-anchor="end">1e${log}</text>`;
  const svg = figure.querySelector("svg");
  const here = logs[at] === null ? "" : `<circle cx="${x(at)}" cy="${y(logs[at])}" r="5"/>`;
  svg.innerHTML = `${level(high)}${level(low)}<path d="M${places.filter(Boolean).join("L")}"/>`
    + `<line class="at" x1="${x(at)}" x2="${x(at)}" y1="${TOP}" y2="${BOTTOM}"/>${here}`;
  svg.setAttribute("aria-label", `Duality gap, now ${short(gaps[at])}, at first ${short(known[0])}, in `
    + `the end ${short(known.at(-1))}`);
}
