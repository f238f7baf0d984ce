// A table as points: dropped, opened, or given to the command; its columns are chosen here.

import { changePoints, on, state, tell } from "./state.js";
import { ask } from "./talk.js";

const LARGEST = 6e6;  // bytes of a file
const byId = (id) => document.getElementById(id);
// Where the points come from: `asked` is sent with each choice, the text or that it is the file of the
// command; `name` is that of a file which a hand chose.
let source = { asked: { file: true }, name: "" };
let asking = null;   // the question that is being answered, which a newer one ends
let names = null;    // those of the points of the table

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

/** Show the points of a table for a choice of columns; one that cannot be read changes nothing. */
async function show(chosen = {}, from = source) {
  asking?.abort();
  asking = new AbortController();
  const answer = await ask("/table", { ...from.asked, ...chosen }, "table", asking.signal);
  if (!answer.points) return false;
  source = from;
  const box = byId("table-choice");
  const again = () => {
    const pick = Object.fromEntries([...box.querySelectorAll("select")].map(
      (list) => [list.dataset.column, list.value]));
    show(pick).catch((error) => {
      if (error.name !== "AbortError") box.querySelector("p").textContent = error.message;
    });
  };
  const group = Object.assign(document.createElement("div"), { className: "group" });
  group.append(
    choice("x", answer.columns, answer.x, again), choice("y", answer.columns, answer.y, again),
    choice("label", ["", ...answer.labels], answer.label ?? "", again));
  const said = Object.assign(document.createElement("p"),
    { className: "soft", textContent: `${from.name || answer.name}: ${answer.sentence}` });
  box.replaceChildren(group, said);
  names = { x: answer.x, y: answer.y, classes: answer.classes };
  state.classes = Math.max(2, answer.classes.length);
  state.current = 0;
  tell("tool");
  changePoints(answer.points, names);
  return true;
}

async function open(file) {
  if (!file) return;
  try {
    if (file.size > LARGEST) {
      throw new Error(`${file.name} has ${Math.round(file.size / 1e6)} MB, and the page takes `
        + `${LARGEST / 1e6}: give the file to the command, largemargin playground FILE.`);
    }
    await show({}, { asked: { text: await file.text() }, name: file.name });
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("away-words").textContent = error.message;
    byId("away-words").scrollIntoView({ block: "nearest" });  // a file is dropped anywhere
  }
}

/** Listen for tables; says whether the command was given one. */
export async function tables(panes, linked) {
  on("points", () => { byId("table-choice").hidden = state.names !== names; });
  byId("open-csv").addEventListener("change", (event) => {
    open(event.target.files[0]);
    event.target.value = "";  // the same file may be chosen again when it has changed
  });
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
  return linked ? false : show();
}
