// A pane: a machine on the points, its picture, its numbers, what it says of itself.

import { contour, leadsOf, unpacked } from "./contours.js";
import { machineList, parameters, short } from "./controls.js";
import { Plane } from "./plane.js";
import { listen } from "./pointer.js";
import { Replay } from "./replay.js";
import { on, state } from "./state.js";
import { Newest } from "./talk.js";

const REST = 700;  // milliseconds without a change after which certificates are asked for
const TRIES = 6;   // of a fit that took too long, as the first does, which is compiled

export class Pane {
  constructor(name, machines, changed) {
    Object.assign(this, { name, machines, changed, answer: null, drawn: null, looked: -1 });
    const template = document.getElementById("pane-template");
    this.root = template.content.cloneNode(true).querySelector(".pane");
    this.root.dataset.pane = name;
    this.root.setAttribute("aria-label", `Pane ${name}`);
    this.find = (what) => this.root.querySelector(what);
    this.find(".name").textContent = name;
    this.plane = new Plane(this.find(".plane"), `Plane ${name}: arrows move a cross, Enter adds a `
      + "point, Delete erases the nearest, m takes it along");
    this.fits = new Newest("/fit", name);
    this.withouts = new Newest("/without", name);
    this.certificates = new Newest("/certificate", name);
    this.replay = new Replay(this);
    listen(this.plane, (i) => this.look(i));
    this.list = this.find(".machine");
    this.list.id = `machine-${name}`;
    this.find(".machine-label").htmlFor = this.list.id;
    machineList(this.list, machines);
    this.list.addEventListener("change", () => {
      this.settings.machine = this.list.value;
      this.settings.params = this.kept();
      this.refresh();
      changed();
    });
    this.find(".certificate-box").addEventListener("toggle", () => this.rest());
    on("points", ({ moving }) => {
      if (!this.visible) return;
      this.plane.points(state.points);
      this.fit(moving);
    });
    this.refresh();
  }

  get settings() {
    return state.panes[this.name];
  }

  get machine() {
    return this.machines.find((one) => one.name === this.settings.machine);
  }

  get visible() {
    return this.name === "A" || state.compare;
  }

  /** The kernel stays when the machine changes, if the new one has kernels. */
  kept() {
    const known = new Set(this.machine.controls.map((control) => control.name));
    const shared = ["kernel", "gamma", "degree", "coef0"];
    return Object.fromEntries(Object.entries(this.settings.params)
      .filter(([name]) => shared.includes(name) && known.has(name)));
  }

  /** Show the machine and its parameters as they are in the state. */
  refresh() {
    this.list.value = this.settings.machine;
    this.find(".says").textContent = this.machine.says;
    parameters(this.find(".parameters"), this.machine, this.settings, this.name, () => {
      this.changed();
      this.fit();
    });
    this.replay.close();
    this.plane.points(state.points);
    this.fit();
  }

  get question() {
    const { machine, params } = this.settings;
    return { points: state.points, machine, params };
  }

  fit(moving = false, tries = 1) {
    if (!this.visible) return;
    this.replay.close();
    clearTimeout(this.resting);
    this.certificates.drop();
    this.look(-1);
    this.root.dataset.busy = "true";
    const points = state.points;
    const missing = this.missing(points);
    if (missing) {
      this.fits.drop();
      delete this.root.dataset.busy;
      this.fail(new Error(missing));
      return;
    }
    this.fits.ask(this.question, (answer, error, waited) => {
      if (!this.fits.waiting) delete this.root.dataset.busy;
      if (error) this.fail(error);
      else this.show(points, answer, waited);
      if (error?.status === 503 && tries < TRIES) this.fit(moving, tries + 1);
      else if (!moving) this.rest();
    });
  }

  /** What points there must be for a fit to make sense. */
  missing(points) {
    if (!points.length) return "There are no points: draw some, or choose a preset.";
    const labels = new Set(points.map((point) => point[2]));
    return labels.size > 1 || this.machine.detector ? ""
      : "There is one class only: choose another class above and draw its points.";
  }

  fail(error) {
    this.answer = this.drawn = null;
    this.plane.clear();
    this.find(".problem").hidden = false;
    this.find(".problem").textContent = error.message;
    this.find(".numbers").replaceChildren();
    this.find(".time").textContent = "";
    this.find(".certificate").replaceChildren();
    document.dispatchEvent(new CustomEvent("fitted", { detail: this.name }));
  }

  show(points, answer, waited) {
    const began = performance.now();
    this.answer = answer;
    this.points = points;
    this.find(".problem").hidden = true;
    this.drawn = this.plane.show(points, answer);
    if (points !== state.points) this.plane.points(state.points);  // a hand went on meanwhile
    this.numbers(answer);
    this.find(".warnings").replaceChildren(...answer.warnings.map((text) => paragraph(text)));
    const drawing = performance.now() - began;
    const { fit, picture } = answer.milliseconds;
    this.find(".time").textContent = `fit ${ms(fit)}, grid ${ms(picture)}, drawn in ${ms(drawing)}; `
      + `${ms(waited + drawing)} in all`;
    this.root.dataset.machine = answer.machine;
    this.root.dataset.support = answer.support ? answer.support.length : "";
    document.dispatchEvent(new CustomEvent("fitted", { detail: this.name }));
  }

  numbers(answer) {
    const facts = [
      [answer.detector ? "outliers" : "training error", `${short(100 * answer.error)} % (${answer.wrong.length} of `
        + `${answer.answers.length})`],
      ...answer.numbers.map(({ words, value }) => [words, typeof value === "boolean"
        ? (value ? "yes" : "no") : value === null ? "infinite" : short(value)]),
    ];
    this.find(".numbers").replaceChildren(...facts.flatMap(([name, value]) =>
      [Object.assign(document.createElement("dt"), { textContent: name }),
        Object.assign(document.createElement("dd"), { textContent: value })]));
  }

  /** After a while without a change: the certificate, if it is looked at. */
  rest() {
    clearTimeout(this.resting);
    const box = this.find(".certificate-box");
    if (!box.open || !this.answer) return;
    this.resting = setTimeout(() => {
      this.find(".certificate").replaceChildren(paragraph("The certificate is being computed.", "soft"));
      this.certificates.ask(this.question, (answer, error) => {
        const list = this.find(".certificate");
        if (error) list.replaceChildren(paragraph(error.message, "soft"));
        else list.replaceChildren(...answer.statements.map(statement));
      });
    }, REST);
  }

  /** A point is looked at: its margin and coefficient, and what leaving it out would change. */
  look(i) {
    if (i === this.looked) return;
    this.looked = i;
    const box = this.find(".looked");
    this.plane.without([], null);
    this.withouts.drop();
    clearTimeout(this.waiting);
    if (i < 0 || !this.answer || this.points !== state.points) {
      box.textContent = "";
      return;
    }
    const point = state.points[i];
    const told = this.told(i, point);
    box.textContent = told;
    this.plane.without([], point);
    this.waiting = setTimeout(() => {
      this.withouts.ask({ ...this.question, index: i }, (answer, error) => {
        if (this.looked !== i) return;
        if (error) {
          box.textContent = `${told} ${error.message}`;
          return;
        }
        box.textContent = `${told} ${answer.sentence.replace(/class \d/, nameOf(answer.answer))}`;
        const grids = unpacked(answer.grid, answer.problems, answer.side);
        const lines = grids.length === 1 ? contour(grids[0], answer.side, 0)
          : leadsOf(grids).flatMap((lead) => contour(lead, answer.side, 0));
        this.plane.without(lines, point);
      });
    }, 120);
  }

  told(i, point) {
    const { support, coefficients, margins } = this.answer;
    const k = support ? support.indexOf(i) : -1;
    const own = k >= 0 ? coefficients.map((row) => short(row[k])).join(", ") : "";
    return `Point ${i + 1}, ${nameOf(point[2])}: margin ${short(margins[i])}`
      + (support ? (k >= 0 ? `, coefficient ${own}.` : ", no support vector.") : ".");
  }
}

const nameOf = (label) => state.names.classes[label] ?? `class ${label + 1}`;

const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

export function paragraph(text, className = "") {
  return Object.assign(document.createElement("p"), { textContent: text, className });
}

/** One statement of a certificate; those that say nothing are grey, with the reason. */
function statement(one) {
  const item = document.createElement("div");
  item.className = `statement${one.applies && !one.vacuous ? "" : " off"}`;
  const head = document.createElement("h4");
  head.textContent = one.name.replaceAll("_", " ");
  const value = document.createElement("span");
  value.className = "value";
  value.textContent = one.shown;
  head.append(" ", value);
  item.append(head, paragraph(one.sentence));
  if (one.vacuous) item.append(paragraph("It bounds a probability by 1 or more, which says nothing."));
  item.title = one.source;
  return item;
}
