// A script beside its graph: lines and nodes lit together.

import { h, replace, button, many } from "./dom.js";
import { load, section } from "./loading.js";
import { GraphView } from "./graph.js";
import { pythonButton } from "./exporting.js";
import { View } from "./view.js";

const KEYWORDS = new Set(
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False".split(" "),
);

function highlighted(text) {
  const parts = [];
  for (const match of text.matchAll(/#.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\w+|\s+|./g)) {
    const word = match[0];
    if (KEYWORDS.has(word)) parts.push(h("span", { class: "keyword" }, word));
    else if (/^["']/.test(word) || /^\d/.test(word)) parts.push(h("span", { class: "literal" }, word));
    else if (word.startsWith("#")) parts.push(h("span", { class: "comment" }, word));
    else parts.push(word);
  }
  return parts;
}

export class ScriptView extends View {
  constructor(app, source) {
    super(app, source, "script");
    this.code = h("div", { class: "code-pane", tabindex: "0", role: "region", "aria-label": "The script" });
    this.told = h("div", { class: "told" });
    this.graph = new GraphView(app, source);
    this.graph.element.classList.add("beside-code");
    this.element.append(h("div", { class: "script-code" }, h("h2", { class: "out-of-sight" }, "What lines depend on"), this.told, this.code), this.graph.element);
    this.begin("script", this.code);
  }

  stop() {
    super.stop();
    this.graph.stop();
  }

  draw(script) {
    this.script = script;
    this.lines = new Map();
    queueMicrotask(() => this.show());
    return script.files.map((file) => [
      script.files.length > 1 && h("h3", { class: "file-name" }, file.name),
      h(
        "ol",
        { class: "lines" },
        file.lines.map((text, number) => {
          const line = h(
            "li",
            {
              class: "line-of-code",
              onclick: () => this.app.place.go({ ask: script.files.length > 1 ? `${file.name}:${number + 1}` : String(number + 1) }),
            },
            h("button", { type: "button", class: "line-number", "aria-label": `Line ${number + 1}` }, String(number + 1)),
            h("code", null, highlighted(text)),
          );
          this.lines.set(`${file.name} ${number + 1}`, line);
          return line;
        }),
      ),
    ]);
  }

  show() {
    this.graph.show();
    if (!this.script) return;
    const place = this.app.place;
    const criterion = place.get("ask");
    const key = JSON.stringify([criterion, place.get("forwards")]);
    if (key === this.key) return;
    this.key = key;
    if (criterion === undefined) {
      this.asking.stop();
      this.light(null);
      replace(this.told, this.choices(), h("p", { class: "note" }, "Pick a line, a variable or a file: what it depends on is lit in the text and in the graph."));
      return;
    }
    const params = { criterion: String(criterion) };
    if (place.get("forwards")) params.forwards = true;
    load(this.told, this.asking, (signal) => this.ask("depends", params, signal), (answer) => {
      this.light(answer);
      const marks = answer.seeds.length ? { mode: params.forwards ? "descendants" : "ancestors", nodes: answer.seeds } : undefined;
      if (JSON.stringify(place.get("marks")) !== JSON.stringify(marks)) queueMicrotask(() => place.go({ marks }, true));
      return [this.choices(), this.answer(criterion, answer)];
    });
  }

  light(answer) {
    const lit = new Set((answer?.lines ?? []).map(([file, number]) => `${file} ${number}`));
    for (const [name, line] of this.lines ?? []) {
      line.classList.toggle("lit", lit.has(name));
      line.classList.toggle("dim", answer !== null && !lit.has(name));
    }
  }

  choices() {
    const place = this.app.place;
    const chosen = place.get("ask");
    const group = (label, names) =>
      names.length > 0 &&
      h(
        "div",
        { class: "controls" },
        h("span", { class: "note" }, label),
        names.slice(0, 24).map((name) =>
          button(name, () => place.go({ ask: chosen === name ? undefined : name, marks: undefined }), { class: `plain small toggle${chosen === name ? " on" : ""}`, "aria-pressed": String(chosen === name), "data-keep": `${label} ${name}` }),
        ),
      );
    const forwards = place.get("forwards", false);
    return [
      h(
        "div",
        { class: "controls" },
        button("depends on", () => place.go({ forwards: undefined }), { class: `plain small toggle${forwards ? "" : " on"}`, "aria-pressed": String(!forwards), "data-keep": "depends on" }),
        button("affects", () => place.go({ forwards: true }), { class: `plain small toggle${forwards ? " on" : ""}`, "aria-pressed": String(forwards), "data-keep": "affects" }),
        chosen !== undefined && button("Clear", () => place.go({ ask: undefined, marks: undefined }), { class: "plain small" }),
      ),
      group("reads", this.script.inputs),
      group("writes", this.script.outputs),
      group("variables", this.script.variables),
    ];
  }

  answer(criterion, answer) {
    return [
      h(
        "p",
        { class: "summary", role: "status" },
        h("strong", null, /^\d+$/.test(String(criterion)) ? `Line ${criterion}` : String(criterion)),
        `${many(answer.lines.length, "line")}`,
        answer.files.length > 0 && h("span", null, "files: ", answer.files.join(", ")),
        h("span", { class: answer.certain ? "count added" : "count changed" }, answer.certain ? "certain" : "rests on assumptions"),
      ),
      answer.assumptions.length > 0 &&
        section("Assumed", "", h("ul", null, answer.assumptions.map((assumption) => h("li", { class: "note" }, `${assumption.where}: ${assumption.why}`)))),
      answer.opaque.length > 0 && section("Not followed", "", h("ul", null, answer.opaque.map((call) => h("li", { class: "note" }, `${call.where}: ${call.why}`)))),
      pythonButton(answer.python),
    ];
  }
}
