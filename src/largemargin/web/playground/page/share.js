// Taking things away: a link, a script, a model file, a picture, the data.

import { PRESETS } from "./presets.js";
import { on, placed, state, MOST_CLASSES } from "./state.js";
import { SIZE } from "./plane.js";
import { ask } from "./talk.js";

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity"];

const toText = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const LONGEST = 40_000;  // characters that as many points as are allowed can take
const fromText = (text) => Uint8Array.from(
  atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

async function through(bytes, stream) {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

async function packPoints(points) {
  const numbers = new Int16Array(points.flatMap(([x, y, label]) =>
    [Math.round(x * 1e4), Math.round(y * 1e4), label]));
  return toText(await through(new Uint8Array(numbers.buffer), new CompressionStream("deflate-raw")));
}

async function unpackPoints(text) {
  if (text.length > LONGEST) throw new Error("too long");
  const bytes = await through(fromText(text), new DecompressionStream("deflate-raw"));
  const numbers = new Int16Array(bytes.buffer.slice(0, bytes.length - bytes.length % 6));
  const points = [];
  for (let i = 0; i < numbers.length; i += 3) {
    const label = Math.min(MOST_CLASSES - 1, Math.max(0, numbers[i + 2]));
    points.push(placed(numbers[i] / 1e4, numbers[i + 1] / 1e4, label));
  }
  return points;
}

/** The fragment that holds everything: machines, parameters, points. */
export async function fragment() {
  const said = new URLSearchParams();
  for (const name of state.compare ? ["A", "B"] : ["A"]) {
    const { machine, params } = state.panes[name];
    said.set(name, machine);
    for (const [key, value] of Object.entries(params)) {
      said.set(`${name}.${key}`, typeof value === "string" ? value : JSON.stringify(value));
    }
  }
  said.set("points", await packPoints(state.points));
  return said.toString();
}

function valueIn(text, control) {
  if (control.kind === "switch") return text === "true";
  const word = (control.words || []).find((one) => String(one) === text);
  return word !== undefined || text === "null" ? word ?? null : Number(text);
}

/** A number of a link, held to a range. */
function within(text, least, most, usual) {
  const value = Number(text);
  return text === null || Number.isNaN(value) ? usual : Math.min(most, Math.max(least, value));
}

/** Take the state from the fragment; says whether it held points, a preset, machines or nothing. */
export async function readLink(machines) {
  const said = new URLSearchParams(location.hash.slice(1));
  let found = "nothing";
  for (const name of ["A", "B"]) {
    const machine = machines.find((one) => one.name === said.get(name));
    if (!machine) continue;
    found = "machines";
    const params = {};
    for (const control of machine.controls) {
      const text = said.get(`${name}.${control.name}`);
      const value = text === null ? NaN : valueIn(text, control);
      if (!Number.isNaN(value)) params[control.name] = value;
    }
    state.panes[name] = { machine: machine.name, params };
    if (name === "B") state.compare = true;
  }
  if (Object.hasOwn(PRESETS, said.get("preset") ?? "")) {
    state.preset = said.get("preset");
    state.size = Math.round(within(said.get("size"), 10, 1000, state.size));
    state.noise = within(said.get("noise"), 0, 1, state.noise);
    found = "preset";
  }
  if (said.has("points")) {
    try {
      state.points = await unpackPoints(said.get("points"));
      state.classes = Math.max(2, ...state.points.map((point) => point[2] + 1));
      found = "points";
    } catch {
      document.getElementById("away-words").textContent =
        "The points of this link are damaged: copy it again.";
    }
  }
  return found;
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The picture of a plane as one SVG, styles written out and the regions within. */
export function pictureOf(plane) {
  const svg = plane.svg.cloneNode(true);
  const originals = plane.svg.querySelectorAll("path, circle");
  svg.querySelectorAll("path, circle").forEach((part, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLES) part.setAttribute(name, style.getPropertyValue(name));
  });
  const back = getComputedStyle(plane.svg.parentElement).backgroundColor;
  const regions = `<rect width="${SIZE}" height="${SIZE}" fill="${back}"/><image width="${SIZE}" `
    + `height="${SIZE}" href="${plane.canvas.toDataURL("image/png")}"/>`;
  const inside = new XMLSerializer().serializeToString(svg);
  return inside.replace(/^<svg[^>]*>/, (head) => head + regions);
}

const csv = () => ["x,y,class", ...state.points.map((point) => point.join(","))].join("\n") + "\n";

/** The buttons below the panes. */
export function takeAway(panes) {
  const byId = (id) => document.getElementById(id);
  const say = (text) => { byId("away-words").textContent = text; };
  const pane = panes[0];
  const on_click = (id, work) => byId(id).addEventListener("click", () =>
    work().catch((error) => say(error.message)));

  on_click("copy-python", async () => {
    const { script } = await ask("/script", pane.question, "A");
    Object.assign(byId("script"), { hidden: false, value: script });
    say(await copy(script) ? "The script is on the clipboard." : "Copy the script from here:");
  });
  on_click("copy-link", async () => {
    history.replaceState(null, "", `#${await fragment()}`);
    say(await copy(location.href) ? "The link is on the clipboard; it holds the points, the "
      + "machines and their parameters." : "The link is in the address of this page.");
  });
  on_click("save-model", async () => {
    const response = await ask("/model", pane.question, "A");
    download("model.safetensors", await response.blob());
    say("Load it with largemargin.load.");
  });
  on_click("save-svg", async () =>
    download("playground.svg", new Blob([pictureOf(pane.plane)], { type: "image/svg+xml" })));
  on_click("save-csv", async () => download("points.csv", new Blob([csv()], { type: "text/csv" })));
  const stale = () => location.hash.includes("points=") && history.replaceState(null, "", "#");
  let loaded = false;
  on("points", () => (loaded ? stale() : loaded = true));
}
