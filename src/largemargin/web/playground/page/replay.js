// The scrubber: what the machine did, frame by frame.

import { gapCurve } from "./gap.js";
import { ask } from "./talk.js";
import { state } from "./state.js";

const PAUSES = { slow: 900, normal: 350, fast: 90 };

export class Replay {
  constructor(pane) {
    this.pane = pane;
    this.frames = null;
    const find = (what) => pane.root.querySelector(what);
    this.box = find(".replay");
    this.button = find(".replay-open");
    this.slider = find(".replay-at");
    this.play = find(".replay-play");
    this.speed = find(".replay-speed");
    this.words = find(".replay-words");
    this.kinds = find(".replay-kind");
    this.gap = find(".gap");
    this.slider.setAttribute("aria-label", `Step of pane ${pane.name}`);
    this.kinds.addEventListener("change", () => this.open(this.kinds.value));
    this.button.addEventListener("click", () => (this.frames ? this.leave() : this.open()));
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    find(".replay-back").addEventListener("click", () => this.step(-1));
    find(".replay-next").addEventListener("click", () => this.step(1));
    this.play.addEventListener("click", () => this.toggle());
  }

  async open(kind = null) {
    this.pause();
    this.button.disabled = true;
    this.pane.fits.drop();
    const asked = this.asked = Symbol("question");
    const points = state.points;
    try {
      const answer = await ask("/replay", { ...this.pane.question, kind }, this.pane.name);
      if (this.asked !== asked) return;   // the points or the machine changed meanwhile
      if (!answer.frames.length) throw new Error("Nothing happened that could be replayed.");
      this.begin(points, answer);
    } catch (error) {
      if (this.asked === asked && error.status !== 409) {
        this.pane.find(".warnings").textContent = error.message;
      }
    } finally {
      if (this.asked === asked) this.button.disabled = false;
    }
  }

  begin(points, answer) {
    Object.assign(this, { points, answer, frames: answer.frames });
    this.box.hidden = false;
    this.button.textContent = "Leave the replay";
    this.slider.max = this.frames.length - 1;
    const kinds = Object.entries(answer.kinds);
    this.kinds.replaceChildren(...kinds.map(([name, words]) => new Option(words, name)));
    this.kinds.value = answer.kind;
    this.kinds.parentElement.hidden = kinds.length < 2;
    this.pane.look(-1);
    this.show(0);
  }

  show(at) {
    const frame = this.frames[at];
    this.at = at;
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", frame.words);
    this.words.textContent = frame.words;
    this.pane.plane.show(this.points, { ...this.answer.common, ...frame }, frame);
    gapCurve(this.gap, this.frames.map(({ gap }) => gap), at);
    this.pane.root.dataset.frame = at;
  }

  step(by) {
    this.pause();
    this.show(Math.min(this.frames.length - 1, Math.max(0, this.at + by)));
  }

  toggle() {
    if (this.timer) {
      this.pause();
      return;
    }
    if (this.at === this.frames.length - 1) this.show(0);
    this.play.textContent = "Pause";
    const next = () => {
      if (this.at >= this.frames.length - 1) {
        this.pause();
        return;
      }
      this.show(this.at + 1);
      this.timer = setTimeout(next, PAUSES[this.speed.value]);
    };
    this.timer = setTimeout(next, PAUSES[this.speed.value]);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  /** Back to the fit. */
  leave() {
    this.close();
    this.pane.fit();
  }

  close() {
    this.pause();
    this.asked = null;
    this.button.disabled = false;
    this.frames = null;
    this.box.hidden = true;
    this.button.textContent = "Step through it";
    delete this.pane.root.dataset.frame;
  }
}
