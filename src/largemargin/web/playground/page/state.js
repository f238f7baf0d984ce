// What the page shows: points, tools, panes. Points are never changed in place, so that undoing
// is going back to an older list.

export const MOST_POINTS = 2000;
export const MOST_CLASSES = 5;
const MOST_STEPS = 200;

export const PLAIN = { x: "x", y: "y", classes: [] };  // names where no table gives others

const listeners = new Map();

export const state = {
  points: [],          // [x, y, class]
  classes: 2,
  current: 0,          // the class that is drawn
  tool: "draw",        // draw, brush, move or erase
  compare: false,
  names: PLAIN,
  panes: { A: { machine: "SVC", params: {} }, B: { machine: "VotedPerceptron", params: {} } },
  preset: "overlap",
  size: 120,
  noise: 0.3,
};

const done = [], undone = [];  // points with their names

/** Call `hear` whenever something of this kind happens: points, tool, panes, history. */
export function on(kind, hear) {
  listeners.set(kind, [...(listeners.get(kind) || []), hear]);
}

export function tell(kind, detail) {
  for (const hear of listeners.get(kind) || []) hear(detail);
}

export const rounded = (value) => Math.round(value * 1e4) / 1e4;

/** A point on the grid of a ten-thousandth, within the square, so that a link holds it exactly. */
export function placed(x, y, label) {
  const inside = (v) => rounded(Math.min(1, Math.max(-1, v)));
  return [inside(x), inside(y), label];
}

const shown = () => ({ points: state.points, names: state.names });

/** Remember the points as they are, before they are changed. */
export function remember() {
  done.push(shown());
  if (done.length > MOST_STEPS) done.shift();
  undone.length = 0;
  tell("history");
}

/** Show other points; `moving` while a hand is still at it. */
export function setPoints(points, moving = false) {
  state.points = points.slice(0, MOST_POINTS);
  const used = 1 + Math.max(0, ...state.points.map((point) => point[2]));
  if (used > state.classes) {
    state.classes = used;
    tell("tool");
  }
  tell("points", { moving });
}

export function changePoints(points, names = state.names) {
  remember();
  state.names = names;
  setPoints(points);
}

export const canUndo = () => done.length > 0;
export const canRedo = () => undone.length > 0;

function go(from, to) {
  if (!from.length) return;
  to.push(shown());
  const { points, names } = from.pop();
  state.names = names;
  setPoints(points);
  tell("history");
}

export const undo = () => go(done, undone);
export const redo = () => go(undone, done);

/** The nearest point within a distance, or -1. */
export function nearest(x, y, within) {
  let best = -1, least = within * within;
  state.points.forEach(([px, py], i) => {
    const distance = (px - x) ** 2 + (py - y) ** 2;
    if (distance <= least) [best, least] = [i, distance];
  });
  return best;
}
