// The choice of a machine and its parameters, as sliders, lists and switches.

const FINE = 1000;  // positions of a slider

const element = (name, attributes = {}, ...inside) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...inside);
  return made;
};

/** A number with a few digits. */
export function short(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value !== "number") return String(value);
  return Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

const toSlider = (c, value) => (c.log
  ? Math.log(value / c.min) / Math.log(c.max / c.min) : (value - c.min) / (c.max - c.min)) * FINE;

function fromSlider(c, position) {
  const share = position / FINE;
  const value = c.log ? c.min * (c.max / c.min) ** share : c.min + share * (c.max - c.min);
  return c.integer ? Math.round(value) : Number(value.toPrecision(3));
}

/** The number that a slider shows first where the default is a word. */
const middle = (c) => (typeof c.default === "number" ? c.default
  : fromSlider(c, FINE / 2));

function number(control, id, get, set) {
  const slider = element("input", { type: "range", min: 0, max: FINE, step: 1, id });
  const output = element("output", { htmlFor: id });
  const show = () => {
    const value = get();
    const isNumber = typeof value === "number";
    slider.hidden = !isNumber;
    if (isNumber) slider.value = toSlider(control, value);
    slider.setAttribute("aria-valuetext", short(value));
    output.textContent = isNumber ? short(value) : "";
    if (words) words.value = isNumber ? "number" : String(value);
  };
  slider.addEventListener("input", () => {
    set(fromSlider(control, Number(slider.value)));
    output.textContent = short(get());
    slider.setAttribute("aria-valuetext", short(get()));
  });
  let words = null;
  if (control.words.length) {
    words = element("select", { ariaLabel: `${control.name}: a word or a number` },
      ...control.words.map((word) => new Option(word === null ? "none" : word, String(word))),
      new Option("number", "number"));
    words.addEventListener("change", () => {
      const word = control.words.find((one) => String(one) === words.value);
      set(words.value === "number" ? middle(control) : word);
      show();
    });
  }
  show();
  return [slider, output, ...(words ? [words] : [])];
}

function choice(control, id, get, set) {
  const list = element("select", { id }, ...control.words.map(
    (word) => new Option(word === null ? "none" : word, JSON.stringify(word))));
  list.value = JSON.stringify(get());
  list.addEventListener("change", () => set(JSON.parse(list.value)));
  return [list];
}

function toggle(control, id, get, set) {
  const box = element("input", { type: "checkbox", id, checked: get() });
  box.addEventListener("change", () => set(box.checked));
  return [box];
}

/** Parameters that mean nothing with this kernel are not shown. */
function matters(control, params, machine) {
  const kernel = valueOf(machine, params, "kernel");
  if (kernel === undefined) return true;
  const uses = { degree: ["poly"], coef0: ["poly", "sigmoid"], matern_nu: ["matern"] };
  if (control.name === "gamma") return kernel !== "linear";
  return !uses[control.name] || uses[control.name].includes(kernel);
}

export function valueOf(machine, params, name) {
  if (name in params) return params[name];
  const control = machine.controls.find((one) => one.name === name);
  return control && control.default;
}

/** Fill `box` with the parameters of a machine; `changed` is called after each change. */
export function parameters(box, machine, pane, label, changed) {
  const row = (control) => {
    const id = `${label}-${control.name}`;
    const get = () => valueOf(machine, pane.params, control.name);
    const set = (value) => {
      pane.params = { ...pane.params, [control.name]: value };
      if (control.name === "kernel") parameters(box, machine, pane, label, changed);
      changed();
    };
    const make = { number, choice, switch: toggle }[control.kind];
    const name = element("label", { htmlFor: id, title: control.help, textContent: control.name });
    const made = element("div", { className: "parameter" }, name, ...make(control, id, get, set));
    made.dataset.name = control.name;
    return made;
  };
  const shown = machine.controls.filter((control) => matters(control, pane.params, machine));
  const open = box.querySelector("details")?.open;
  box.replaceChildren(...shown.filter((control) => !control.later).map(row));
  const later = shown.filter((control) => control.later);
  if (later.length) {
    const more = element("details", { open: Boolean(open) },
      element("summary", { textContent: "more parameters" }), ...later.map(row));
    box.append(more);
  }
}

/** A list of all machines, by family. */
export function machineList(list, machines) {
  const families = new Map();
  for (const machine of machines) {
    if (!families.has(machine.package)) families.set(machine.package, []);
    families.get(machine.package).push(machine);
  }
  for (const [family, members] of families) {
    list.append(element("optgroup", { label: family },
      ...members.map((machine) => new Option(machine.name, machine.name))));
  }
}
