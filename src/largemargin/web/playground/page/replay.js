// The scrubber: what the machine did, frame by frame.

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
    this.slider.setAttribute("aria-label", `Step of pane ${pane.name}`);
    this.button.addEventListener("click", () => (this.frames ? this.leave() : this.open()));
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    find(".replay-back").addEventListener("click", () => this.step(-1));
    find(".replay-next").addEventListener("click", () => this.step(1));
    this.play.addEventListener("click", () => this.toggle());
  }

  async open() {
    this.button.disabled = true;
    this.pane.fits.drop();
    try {
      const answer = await ask("/replay", this.pane.question, this.pane.name);
      this.points = state.points;
      this.answer = answer;
      this.frames = answer.frames;
      this.box.hidden = false;
      this.button.textContent = "Leave the replay";
      this.slider.max = this.frames.length - 1;
      this.pane.look(-1);
      this.show(0);
    } catch (error) {
      if (error.status !== 409) this.pane.find(".warnings").textContent = error.message;
    }
    this.button.disabled = false;
  }

  show(at) {
    const frame = this.frames[at];
    this.at = at;
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", frame.words);
    this.words.textContent = frame.words;
    this.pane.plane.show(this.points, { ...this.answer.common, ...frame }, frame);
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
    this.frames = null;
    this.box.hidden = true;
    this.button.textContent = "Step through it";
    delete this.pane.root.dataset.frame;
  }
}
