// Several numbers beside each other: their inputs, those in common first, and each number without them.

import { h, replace, button, icon, many, displayed } from "./dom.js";
import { spans } from "./charts.js";
import { pictureButtons, pythonButton, tableButtons } from "./exporting.js";
import { replaceKeeping } from "./loading.js";
import { budgeted } from "./measures.js";
import { Value } from "./value.js";

export class Comparison extends Value {
  // `numbers`: the row and the column of each.
  constructor(app, source, about, numbers, onadd) {
    super(app, source, about, { row: numbers[0][0], column: numbers[0][1], numbers, onadd });
    this.element.classList.add("comparison");
  }

  get title() {
    return `${this.numbers.length} numbers`;
  }

  get params() {
    const numbers = this.numbers.map(([row, column]) => ({ row, column: this.about.columns[column].name }));
    return { numbers, only: this.only, by: this.app.place.mapping("by") };
  }

  get view() {
    return "comparison";
  }

  close() {
    this.app.place.go({ also: undefined, by: undefined, only: undefined });
  }

  stop() {
    super.stop();
    this.question?.stop();
  }

  // It may take long: it is asked within seconds, and can be withdrawn.
  show() {
    if (!this.question) {
      const ask = (seconds, signal) => this.app.asker.ask(this.source, this.view, { ...this.params, seconds }, signal);
      this.question = budgeted(ask, (answer) => this.draw(answer), { onfailed: () => this.say(""), usual: 20 });
      replace(this.place, this.question.controls, this.question.place);
    }
    this.question.run();
  }

  type(at) {
    return this.about.columns[this.numbers[at][1]];
  }

  // A difference is as inexact as one of its numbers.
  between(at) {
    return [this.type(at), this.type(0)].find(({ type }) => type === "DOUBLE" || type === "FLOAT") ?? this.type(0);
  }

  draw(answer) {
    this.answer = answer;
    this.table = h("div", { class: "plain-scroll parts", tabindex: "0", role: "region", "aria-label": "What moves the numbers" });
    this.say(answer.sentence);
    this.offer(answer);
    const question = () => ({ source: this.source, view: this.view, params: this.params });
    const missed = answer.known < answer.groups;
    if (!answer.refused) queueMicrotask(() => this.fill());
    return [
      this.chosen(answer),
      answer.refused && h("div", { class: "trouble refused", role: "status" }, answer.refused),
      answer.ordered && answer.numbers.map((_, at) => this.chartOf(answer, at)),
      !answer.refused && this.table,
      h("p", { class: "note" }, answer.axes.map(({ name, rows, common }) => `${many(rows, "row")} of ${name}, ${common.toLocaleString("en")} in common`).join(" · "), missed && answer.reason && ` · unknown: ${answer.reason}`),
      [...new Set(answer.axes.map((axis) => axis.note).filter(Boolean))].map((note) => h("p", { class: "note" }, note)),
      !answer.refused && tableButtons(this.app.asker, question, "numbers"),
      pythonButton(answer.python),
    ];
  }

  // The numbers, each to be left out again.
  chosen({ numbers }) {
    const without = (at) => this.numbers.filter((_, other) => other !== at);
    const leave = (at) => {
      const [[row, col], ...also] = without(at);
      this.app.place.go({ row, col, also: also.length ? also : undefined, by: undefined, only: undefined });
    };
    return h(
      "ul",
      { class: "chips numbers", "aria-label": "The numbers" },
      numbers.map(({ label, value, difference }, at) =>
        h(
          "li",
          null,
          h("span", { class: "soft" }, label, " "),
          h("strong", null, displayed(value, this.type(at), true) ?? "NULL"),
          at > 0 && difference !== null && h("span", { class: "delta" }, this.signed(displayed(difference, this.between(at), true))),
          button(icon("close"), () => leave(at), { class: "plain icon-button", "aria-label": `Leave out ${label}`, title: `Leave out ${label}` }),
        ),
      ),
    );
  }

  signed(text) {
    return /^[1-9]|^0[.]/.test(text) ? `+${text}` : text;
  }

  chartOf(answer, at) {
    const { label } = answer.numbers[at];
    const picture = spans(answer.bars.map((bar) => ({ ...bar.numbers[at], label: bar.label })), {
      label: `${label} by ${answer.by.column}`,
      wide: Math.max(280, this.place.clientWidth),
      onpick: (from, to) => this.keep(answer.bars.slice(from, to + 1)),
    });
    return h("div", { class: "chart-box" }, h("p", { class: "note" }, label), picture, pictureButtons(() => picture, `${label}-by-${answer.by.column}`));
  }

  // What is left is shown by the rows of the same relation.
  get byRows() {
    return { axis: this.answer.by.axis };
  }

  fill() {
    const { answer } = this;
    const { bars, numbers, lead, rest } = answer;
    const columns = answer.columns.slice(answer.by.column ? answer.columns.length : lead);
    const most = numbers.map((_, at) => Math.max(...bars.map((bar) => Math.abs(bar.numbers[at].value ?? 0)), 0) || 1);
    const negative = numbers.map((_, at) => bars.some((bar) => bar.numbers[at].value < 0));
    const state = (each, text) => (each.state === "there" ? (text ?? "NULL") : h("span", { class: "bad" }, each.state === "gone" ? "row gone" : "unknown"));
    const rows = bars.map((bar, place) => {
      const name = bar.label ?? (answer.by.column ? "NULL" : "no row");
      return h(
        "tr",
        { class: `part${this.removed(bar) ? " struck" : ""}` },
        h("th", { scope: "row" }, this.actions(bar, name), h("span", { class: bar.label === null ? "null" : "part-name" }, name)),
        h("td", { class: "number soft" }, bar.common.toLocaleString("en")),
        numbers.map((_, at) => [
          answer.by.column && h("td", { class: "number soft" }, bar.numbers[at].count.toLocaleString("en")),
          h("td", { class: "measure" }, this.bar(bar.numbers[at], most[at], negative[at], this.type(at))),
          h("td", { class: "number" }, state(bar.numbers[at], displayed(bar.numbers[at].without, this.type(at), true))),
        ]),
        bar.differences.map((each, at) => h("td", { class: "number" }, state(each, displayed(each.text, this.between(at + 1), true)))),
        columns.map((column, at) => h("td", { class: column.kind, title: answer.rows[place][lead + at] }, displayed(answer.rows[place][lead + at], column) ?? h("span", { class: "null" }, "NULL"))),
      );
    });
    const head = [
      answer.by.column || answer.axes[answer.by.axis].name,
      "in common",
      ...numbers.flatMap(({ label }) => [answer.by.column && `inputs of ${label}`, `brings to ${label}`, `${label} without it`]),
      ...numbers.slice(1).map(({ label }) => `${label} − ${numbers[0].label} without it`),
    ].filter(Boolean);
    replaceKeeping(
      this.table,
      h(
        "table",
        { class: "plain-table" },
        h("thead", null, h("tr", null, head.map((name, place) => h("th", { scope: "col", class: place ? "number" : null }, name)), columns.map((column) => h("th", { scope: "col", class: column.kind }, column.name)))),
        h("tbody", null, rows),
        rest.count > 0 && h("tfoot", null, h("tr", null, h("th", { scope: "row" }, `${rest.count.toLocaleString("en")} others`), h("td", { class: "note", colspan: String(head.length + columns.length - 1) }, `${rest.common.toLocaleString("en")} of them have inputs in common`))),
      ),
    );
  }
}
