// The map of where two machines answer differently.

import { between } from "./contours.js";
import { classColour, rgb } from "./plane.js";
import { state } from "./state.js";

/** The class that a drawn fit answers at a place of the unit square. */
function answerAt({ answer, drawn }, x, y) {
  let best = 0, most = -Infinity;
  for (let k = 0; k < drawn.leads.length; k++) {
    const value = between(drawn.leads[k], drawn.side, x, y);
    if (value > most) [best, most] = [k, value];
  }
  return answer.classes[best];
}

/** Colour where A and B differ, in the colour of what B answers, and say how much it is. */
export function differences(plane, a, b, words) {
  plane.points(state.points);
  if (!a.answer || !b.answer || a.answer.detector !== b.answer.detector) {
    plane.clear();
    words.textContent = a.answer && b.answer
      ? "One of them only tells outliers, so that they cannot be compared." : "";
    return;
  }
  const colours = [0, 1, 2, 3, 4].map((k) => rgb(classColour(k)));
  let differ = 0, all = 0;
  plane.paint((x, y, data, at) => {
    all++;
    const other = answerAt(b, x, y);
    if (answerAt(a, x, y) === other) return;
    differ++;
    data.set(colours[Math.max(other, 0)], at);
    data[at + 3] = 150;
  });
  const apart = a.answer.answers.map((label, i) => [label, b.answer.answers[i], i])
    .filter(([one, other]) => one !== other).map(([, , i]) => i);
  plane.marks(state.points, { wrong: apart });
  words.textContent = `They differ on ${(100 * differ / all).toFixed(1)} % of the plane and on `
    + `${apart.length} of ${a.answer.answers.length} points; the colour is the answer of B.`;
}
