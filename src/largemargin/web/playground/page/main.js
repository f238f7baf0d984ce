// The page: what is above the panes, and how its parts work together.

import { differences } from "./differ.js";
import { Pane } from "./pane.js";
import { Plane } from "./plane.js";
import { shortcuts } from "./pointer.js";
import { PRESETS, presetPoints } from "./presets.js";
import { readLink, takeAway } from "./share.js";
import {
  canRedo, canUndo, changePoints, on, redo, setPoints, state, tell, undo, MOST_CLASSES, MOST_POINTS,
  PLAIN,
} from "./state.js";
import { tables } from "./table.js";
import { ask } from "./talk.js";

const byId = (id) => document.getElementById(id);

function tools() {
  byId("tools").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    state.tool = button.dataset.tool;
    tell("tool");
  });
  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", redo);
  byId("clear").addEventListener("click", () => changePoints([]));
  on("tool", showTools);
  on("history", showTools);
  on("points", showTools);
  showTools();
}

function showTools() {
  for (const button of byId("tools").children) {
    button.setAttribute("aria-pressed", button.dataset.tool === state.tool);
  }
  byId("undo").disabled = !canUndo();
  byId("redo").disabled = !canRedo();
  const counts = Array.from({ length: state.classes }, (_, k) =>
    state.points.filter((point) => point[2] === k).length);
  const { x, y } = state.names;
  byId("count").textContent = `${state.points.length} points (${counts.join(" + ")})`
    + (state.points.length < MOST_POINTS ? "" : ", which is the limit: erase some to draw others")
    + (x === "x" && y === "y" ? "" : `; across: ${x}, up: ${y}`);
  showClasses();
}

function showClasses() {
  const box = byId("classes");
  const wanted = `${state.classes} ${state.current} ${state.names.classes}`;
  if (box.dataset.shown === wanted) return;
  box.dataset.shown = wanted;
  const buttons = Array.from({ length: state.classes }, (_, k) => {
    const button = document.createElement("button");
    const swatch = Object.assign(document.createElement("i"), { className: `swatch c${k}` });
    button.type = "button";
    button.append(swatch, state.names.classes[k] ?? `Class ${k + 1}`);
    button.setAttribute("aria-pressed", k === state.current);
    button.addEventListener("click", () => {
      state.current = k;
      tell("tool");
    });
    return button;
  });
  if (state.classes < MOST_CLASSES) {
    const more = Object.assign(document.createElement("button"), { type: "button", textContent: "+" });
    more.setAttribute("aria-label", "One more class");
    more.addEventListener("click", () => {
      state.current = state.classes++;
      tell("tool");
    });
    buttons.push(more);
  }
  box.replaceChildren(...buttons);
}

function presets(panes) {
  const list = byId("preset");
  list.append(...Object.entries(PRESETS).map(([name, preset]) => new Option(preset.name, name)));
  const make = () => {
    state.size = Number(byId("size").value);
    state.noise = Number(byId("noise").value);
    changePoints(presetPoints(state.preset, state.size, state.noise), PLAIN);
  };
  list.addEventListener("change", () => {
    state.preset = list.value;
    usePreset(panes);
    make();
  });
  byId("size").addEventListener("input", make);
  byId("noise").addEventListener("input", make);
  showPreset();
}

function showPreset() {
  byId("preset").value = state.preset;
  byId("size").value = state.size;
  byId("noise").value = state.noise;
}

/** A preset has its kernel, for the machines that have kernels. */
function usePreset(panes) {
  state.classes = state.preset === "three" ? 3 : 2;
  state.current = 0;
  for (const pane of panes) {
    const known = new Set(pane.machine.controls.map((control) => control.name));
    const suggested = Object.entries(PRESETS[state.preset].suggest).filter(([name, value]) =>
      known.has(name) && !(value === "scale" && pane.machine.package === "online"));
    const rest = Object.entries(pane.settings.params).filter(
      ([name]) => !["kernel", "gamma", "degree", "coef0"].includes(name));
    pane.settings.params = Object.fromEntries([...rest, ...suggested]);
    pane.refresh();
  }
  tell("tool");
}

function comparing(panes) {
  const plane = new Plane(document.querySelector("#differ .plane"), "Where A and B differ");
  plane.svg.removeAttribute("tabindex");
  plane.svg.setAttribute("role", "img");
  const show = () => {
    byId("compare").checked = state.compare;
    byId("panes").dataset.compare = state.compare;
    panes[1].root.hidden = byId("differ").hidden = !state.compare;
  };
  byId("compare").addEventListener("change", () => {
    state.compare = byId("compare").checked;
    show();
    panes[1].refresh();
  });
  document.addEventListener("fitted", () => {
    if (state.compare) differences(plane, ...panes, document.querySelector(".differ-words"));
  });
  show();
}

/** Whether a link left the parameters of a pane to the preset. */
const plain = (pane) => Object.keys(pane.settings.params).length === 0;

async function start() {
  const machines = await ask("/machines");
  const linked = await readLink(machines);
  const changed = () => tell("panes");
  const panes = ["A", "B"].map((name) => new Pane(name, machines, changed));
  byId("panes").append(...panes.map((pane) => pane.root));
  tools();
  presets(panes);
  shortcuts();
  comparing(panes);
  takeAway(panes);
  const given = await tables(panes, linked !== "nothing");
  if (linked === "points") setPoints(state.points);
  else if (!given) {
    if (linked !== "machines") usePreset(panes.filter(plain));
    setPoints(presetPoints(state.preset, state.size, state.noise));
  }
  showPreset();
  document.addEventListener("look", () => setPoints(state.points));
  addEventListener("hashchange", () => location.reload());  // another link in the same window
  document.body.dataset.ready = "true";
}

start();
