// A table as points: dropped, opened, or given to the command; its columns are chosen here.

import { changePoints, state, tell } from "./state.js";
import { ask } from "./talk.js";

const LARGEST = 6e6;  // bytes of a file
const byId = (id) => document.getElementById(id);
let source = null;   // what is sent with each choice: the text, or that it is the file of the command
let opened = "";     // the name of the file, if a hand chose it

const option = (name, chosen) => new Option(name || "none", name, false, name === chosen);

function choice(title, names, chosen, changed) {
  const list = document.createElement("select");
  list.append(...names.map((name) => option(name, chosen)));
  list.value = chosen;
  list.dataset.column = title;
  list.addEventListener("change", changed);
  const label = document.createElement("label");
  label.append(`${title} `, list);
  return label;
}

/** Show the points of the table for a choice of columns. */
async function show(chosen = {}) {
  const answer = await ask("/table", { ...source, ...chosen }, "table");
  if (!answer.points) return false;
  const box = byId("table-choice");
  const again = () => {
    const pick = Object.fromEntries([...box.querySelectorAll("select")].map(
      (list) => [list.dataset.column, list.value]));
    show(pick).catch((error) => { box.querySelector("p").textContent = error.message; });
  };
  const group = Object.assign(document.createElement("div"), { className: "group" });
  group.append(
    choice("x", answer.columns, answer.x, again), choice("y", answer.columns, answer.y, again),
    choice("label", ["", ...answer.labels], answer.label ?? "", again));
  const said = Object.assign(document.createElement("p"),
    { className: "soft", textContent: `${opened || answer.name}: ${answer.sentence}` });
  box.replaceChildren(group, said);
  box.hidden = false;
  state.names = { x: answer.x, y: answer.y, classes: answer.classes };
  state.classes = Math.max(2, answer.classes.length);
  state.current = 0;
  tell("tool");
  changePoints(answer.points);
  return true;
}

async function open(file) {
  if (!file) return;
  if (file.size > LARGEST) {
    byId("away-words").textContent = `${file.name} has ${Math.round(file.size / 1e6)} MB, and the page `
      + `takes ${LARGEST / 1e6}: give the file to the command, largemargin playground FILE.`;
    return;
  }
  source = { text: await file.text() };
  opened = file.name;
  try {
    await show();
  } catch (error) {
    byId("away-words").textContent = error.message;
  }
}

/** Listen for tables; says whether the command was given one. */
export async function tables(panes, linked) {
  byId("open-csv").addEventListener("change", (event) => open(event.target.files[0]));
  const dropping = (event, yes) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", yes);
  };
  document.addEventListener("dragover", (event) => dropping(event, true));
  document.addEventListener("dragleave", (event) => dropping(event, false));
  document.addEventListener("drop", (event) => {
    dropping(event, false);
    open(event.dataTransfer?.files[0]);
  });
  if (linked) return false;
  source = { file: true };
  return show();
}
