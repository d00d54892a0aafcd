// What every view of a source begins with: its element, its questions, and what stops them.

import { h } from "./dom.js";
import { Latest } from "./state.js";
import { load } from "./why.js";

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
