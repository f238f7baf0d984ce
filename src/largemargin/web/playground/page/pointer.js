// Hands on a plane: mouse, finger, pen and keyboard.

import {
  changePoints, nearest, placed, redo, remember, setPoints, state, tell, undo, MOST_POINTS,
} from "./state.js";

const NEAR = 0.035;      // how near to a point counts as on it
const BRUSH = 0.06;      // distance between points of a stroke
const STEP = 0.04;       // of the cursor of the keyboard

/** Where an event is, in the plane. */
function where(svg, event) {
  const box = svg.getBoundingClientRect();
  return [
    (event.clientX - box.left) / box.width * 2 - 1,
    1 - (event.clientY - box.top) / box.height * 2,
  ];
}

const near = (event) => (event.pointerType === "touch" ? 2 * NEAR : NEAR);
const without = (points, i) => points.filter((_, j) => j !== i);
const withPoint = (points, i, point) => points.map((old, j) => (j === i ? point : old));

/** Let a plane be drawn on; `hover(index)` is told which point is looked at, or -1. */
export function listen(plane, hover) {
  const svg = plane.svg;
  let hand = null;     // what is being done: {kind, index, last}
  let looked = -1;

  const look = (i) => {
    if (i !== looked) hover(looked = i);
  };

  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const [x, y] = where(svg, event);
    const i = nearest(x, y, near(event));
    svg.setPointerCapture(event.pointerId);
    look(-1);
    if (state.tool === "erase") hand = { kind: "erase" };
    else if (i >= 0 && state.tool !== "brush") hand = { kind: "move", index: i };
    else if (state.tool === "move" || state.points.length >= MOST_POINTS) return;
    else hand = { kind: state.tool, last: [x, y] };
    remember();
    if (hand.kind === "erase" && i >= 0) setPoints(without(state.points, i), true);
    if (hand.kind === "draw" || hand.kind === "brush") {
      setPoints([...state.points, placed(x, y, state.current)], true);
      if (hand.kind === "draw") hand = { kind: "move", index: state.points.length - 1 };
    }
  });

  svg.addEventListener("pointermove", (event) => {
    const [x, y] = where(svg, event);
    if (!hand) {
      if (event.pointerType !== "touch") look(nearest(x, y, NEAR));
      return;
    }
    const points = state.points;
    if (hand.kind === "move" && !points[hand.index]) {
      hand = null;     // it was undone meanwhile
    } else if (hand.kind === "move") {
      setPoints(withPoint(points, hand.index, placed(x, y, points[hand.index][2])), true);
    } else if (hand.kind === "erase") {
      const i = nearest(x, y, near(event));
      if (i >= 0) setPoints(without(points, i), true);
    } else if (hand.kind === "brush" && Math.hypot(x - hand.last[0], y - hand.last[1]) > BRUSH) {
      hand.last = [x, y];
      const stray = () => (Math.random() - 0.5) * BRUSH;
      setPoints([...points, placed(x + stray(), y + stray(), state.current)], true);
    }
  });

  const end = () => {
    if (!hand) return;
    hand = null;
    setPoints(state.points);
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
  svg.addEventListener("pointerleave", () => look(-1));
  keyboard(plane, look);
}

/** Arrows move a cross, Enter adds a point, Delete erases, m takes a point along. */
function keyboard(plane, look) {
  const svg = plane.svg;
  let at = [0, 0], held = -1;
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  svg.addEventListener("focus", () => svg.matches(":focus-visible") && plane.cursor(at));
  svg.addEventListener("blur", () => {
    held = -1;
    plane.cursor(null);
  });
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? STEP / 4 : STEP;
    const points = state.points;
    if (moves[event.key]) {
      const [dx, dy] = moves[event.key];
      at = placed(at[0] + dx * step, at[1] + dy * step, 0).slice(0, 2);
      if (!points[held]) held = -1;  // it was undone meanwhile
      if (held >= 0) setPoints(withPoint(points, held, placed(...at, points[held][2])), true);
      else look(nearest(...at, 2 * NEAR));
    } else if (event.key === "Enter" || event.key === " ") {
      changePoints([...points, placed(...at, state.current)]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      const i = nearest(...at, 3 * NEAR);
      if (i >= 0) changePoints(without(points, i));
      held = -1;
    } else if (event.key === "m") {
      if (held >= 0) {
        held = -1;
        setPoints(points);
      } else {
        held = nearest(...at, 4 * NEAR);
        if (held >= 0) remember();
      }
    } else return;
    event.preventDefault();
    plane.cursor(at);
  });
}

/** Keys that work anywhere on the page. */
export function shortcuts() {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=range]):not([type=checkbox]), select, textarea");
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !typing && (key === "z" || key === "y")) {
      event.preventDefault();
      (key === "y" || event.shiftKey ? redo : undo)();
    } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const label = Number(event.key) - 1;
      const tool = { d: "draw", b: "brush", v: "move", e: "erase" }[key];
      if (label >= 0 && label < state.classes) state.current = label;
      else if (tool) state.tool = tool;
      else return;
      tell("tool");
    }
  });
}
