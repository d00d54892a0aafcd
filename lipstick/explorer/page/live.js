// What is still written: asked again and again, as long as its answer may become another.

import { h, replace } from "./dom.js";

const SOON = 1500;
const LATER = 5000;

export class Live {
  // `ask(signal)` resolves to an answer; `ontold(answer)` is given each, `onlost(error)` what went wrong.
  constructor({ ask, ontold, over, onlost }) {
    this.ask = ask;
    this.ontold = ontold;
    this.over = over;
    this.onlost = onlost;
    this.controller = new AbortController();
  }

  start(answer) {
    this.version = answer.version;
    this.still = 0;
    if (!this.over(answer)) this.wait(SOON);
  }

  stop() {
    clearTimeout(this.timer);
    this.controller.abort();
  }

  wait(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), milliseconds);
  }

  async look() {
    // Nobody sees a page that is in the background: it costs nothing then.
    if (document.hidden) {
      this.wait(LATER);
      return;
    }
    try {
      const answer = await this.ask(this.controller.signal);
      this.still = answer.version === this.version ? this.still + 1 : 0;
      this.version = answer.version;
      this.ontold(answer);
      if (!this.over(answer)) this.wait(this.still > 4 ? LATER : SOON);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.onlost(error);
      this.wait(LATER);
    }
  }
}

export function ago(seconds) {
  if (seconds < 1) return "just now";
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

// Whether something is still written, and when it last was.
export class Badge {
  constructor() {
    this.state = h("span", { role: "status" });
    this.age = h("span", { class: "note" });
    this.element = h("span", { class: "live" }, h("i", { "aria-hidden": "true" }), this.state, this.age);
  }

  tell(kind, word, detail) {
    this.element.className = `live ${kind}`;
    if (this.state.textContent !== word) replace(this.state, word);
    replace(this.age, detail);
  }
}
