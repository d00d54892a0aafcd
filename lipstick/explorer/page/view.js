// What every view of a source begins with: its element, its questions, and what stops them.

import { h, replace, counted } from "./dom.js";
import { Latest } from "./state.js";
import { load, trouble } from "./loading.js";

export class View {
  constructor(app, source, kind) {
    this.app = app;
    this.source = source;
    this.latest = new Latest();
    this.asking = new Latest();
    this.drawing = new Latest();
    this.element = h("div", { class: kind });
  }

  ask(view, params, signal) {
    return this.app.asker.ask(this.source, view, params, signal);
  }

  // Asks the first question, and draws what it answers into an element.
  begin(view, element = this.element) {
    load(element, this.latest, (signal) => this.ask(view, {}, signal), (answer) => this.draw(answer));
  }

  stop() {
    for (const latest of [this.latest, this.asking, this.drawing]) latest.stop();
  }
}

// A view with a picture in its middle: an answer that is drawn, or words in its place.
export class PictureView extends View {
  // Asks, and draws the answer; `waiting` is told while it takes long, `back` leads out of an error.
  async drawAnswer(ask, { keep, waiting, back, drawn }) {
    const signal = this.drawing.start();
    const slow = setTimeout(() => replace(this.state, h("div", { class: "working" }, h("i"), waiting)), 160);
    try {
      const answer = await ask(signal);
      if (signal.aborted) return;
      this.answer = answer;
      replace(this.state);
      const held = this.picture.svg.contains(document.activeElement);
      this.picture.draw(answer, keep);
      if (held) this.picture.boxes[this.picture.active]?.focus();
      drawn(answer);
    } catch (error) {
      if (error.name === "AbortError") return;
      replace(this.state, trouble(error, () => this.drawAnswer(ask, { keep, waiting, back, drawn })), back);
    } finally {
      clearTimeout(slow);
    }
  }

  // How much of what there is the picture shows, in words.
  amount() {
    const { shown, total, what } = this.answer;
    return total > shown ? `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} ${what} shown` : counted(total, what);
  }
}
