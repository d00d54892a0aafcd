// A capture: its answer as a table, why a row is there beside it, what if below it.

import { h, replace, button } from "./dom.js";
import { Table } from "./table.js";
import { palette } from "./terms.js";
import { Why } from "./why.js";
import { Value } from "./value.js";
import { Comparison } from "./comparison.js";
import { ScenarioBar, Strikes, WhatIf } from "./whatif.js";
import { Query } from "./query.js";
import { Missing, conditionOf } from "./missing.js";
import { tableButtons } from "./exporting.js";
import { View } from "./view.js";

const TABS = [
  ["answer", "Answer"],
  ["whatif", "What if"],
  ["missing", "Missing rows"],
  ["query", "Query"],
];

export class CaptureView extends View {
  constructor(app, source) {
    super(app, source, "capture");
    app.strike = new Strikes(app.place);
    this.begin("about");
  }

  stop() {
    super.stop();
    for (const part of [this.table, this.why, this.bar, this.whatIf, this.missing, this.query]) part?.stop();
  }

  draw(about) {
    this.about = about;
    const app = this.app;
    app.colors = palette(about.relations.map((relation) => relation.name));
    this.explained = new Set(about.explained);
    this.table = new Table({
      label: "The answer",
      columns: about.columns,
      query: { sort: app.place.whole("sort", -1), descending: app.place.get("down", false), filters: app.place.mapping("filters", {}) },
      fetchRows: (params, signal) => this.ask("rows", { ...params, ...this.supposed() }, signal),
      linked: (place) => this.explained.has(place),
      none: (filters) => about.missing && !app.place.mapping("scenario") && button("Why not?", () => app.place.go({ v: "missing", lacks: conditionOf(filters, about.columns) }), { class: "plain small" }),
      onopen: (row) => app.place.go({ row, col: undefined, also: undefined, by: undefined, only: undefined }),
      oncell: (row, col, added) => this.choose(row, col, added),
      picked: (row, col) => this.numbers.length > 1 && this.at(row, col) >= 0,
    });
    this.table.onquery = (query) =>
      app.place.go({ sort: query.sort < 0 ? undefined : query.sort, down: query.descending || undefined, filters: Object.values(query.filters).some(Boolean) ? query.filters : undefined }, true);
    const onadd = () => {
      this.adding = true;
      app.say("Click another number, or press Enter on it.", 6000);
      this.table.scroller.focus();
    };
    this.why = new Why(app, this.source, about, (row, column) =>
      this.numbers.length > 1 ? new Comparison(app, this.source, about, this.numbers, onadd) : new Value(app, this.source, about, { row, column, onadd }),
    );
    this.bar = new ScenarioBar(app, this.source);
    this.whatIf = new WhatIf(app, this.source, about);
    this.query = new Query(app, this.source);
    this.missing = about.missing ? new Missing(app, this.source, about) : null;
    this.names = TABS.filter(([name]) => name !== "missing" || this.missing);
    this.tabs = this.names.map(([name, label]) =>
      h("button", { type: "button", class: "tab", role: "tab", id: `lx-tab-${name}`, "aria-controls": `lx-view-${name}`, onclick: () => app.place.go({ v: name === "answer" ? undefined : name }) }, label),
    );
    this.dock = h("section", { class: "dock", "aria-label": "What if" }, this.bar.element);
    const question = () => ({ source: this.source, view: "rows", params: { ...this.table.params(0), ...this.supposed(), offset: 0, limit: 200 } });
    this.views = {
      answer: h(
        "div",
        { class: "answer", role: "tabpanel", id: "lx-view-answer", "aria-labelledby": "lx-tab-answer" },
        h("div", { class: "answer-main" }, this.table.element, this.dock),
        this.why.element,
      ),
      whatif: h("div", { class: "whole", role: "tabpanel", id: "lx-view-whatif", "aria-labelledby": "lx-tab-whatif" }, this.whatIf.element),
      ...(this.missing && { missing: h("div", { class: "whole", role: "tabpanel", id: "lx-view-missing", "aria-labelledby": "lx-tab-missing" }, this.missing.element) }),
      query: h("div", { class: "whole", role: "tabpanel", id: "lx-view-query", "aria-labelledby": "lx-tab-query" }, this.query.element),
    };
    this.exports = tableButtons(app.asker, question, "answer");
    const strip = h("div", { class: "tabs", role: "tablist", "aria-label": "Views", onkeydown: (event) => this.keys(event) }, this.tabs);
    this.table.load();
    queueMicrotask(() => this.show());
    return [
      h(
        "div",
        { class: "bar-line" },
        strip,
        h("span", { class: "note" }, about.relations.length > 0 && `from ${about.relations.map((relation) => relation.name).join(", ")}`),
        h("span", { class: "spacer" }),
        this.exports,
      ),
      Object.values(this.views),
    ];
  }

  // The numbers that are looked at: the one that is open, and those beside it.
  get numbers() {
    const { place } = this.app;
    const [row, col] = [place.whole("row"), place.whole("col")];
    if (row === undefined || !this.explained.has(col)) return [];
    const others = place.list("also", []).filter((each) => Array.isArray(each) && each.length === 2 && Number.isSafeInteger(each[0]) && each[0] >= 0 && this.explained.has(each[1]));
    return [...new Map([[row, col], ...others].map((each) => [String(each), each])).values()];
  }

  at(row, col) {
    return this.numbers.findIndex((each) => each[0] === row && each[1] === col);
  }

  // Open a number, alone or `added` to the others, from which it goes when it is there already.
  choose(row, col, added) {
    const { place } = this.app;
    const numbers = added || this.adding ? this.numbers : [];
    const there = numbers.length ? this.at(row, col) : -1;
    if (this.adding) this.app.say("");
    this.adding = false;
    if (!numbers.length) {
      place.go({ row, col, also: undefined, ...(place.whole("col") === col && !place.get("also") ? {} : { by: undefined, only: undefined }) });
      return;
    }
    getSelection()?.removeAllRanges();
    const [first, ...also] = there < 0 ? [...numbers, [row, col]] : numbers.filter((_, at) => at !== there || numbers.length === 1);
    place.go({ row: first[0], col: first[1], also: also.length ? also : undefined, by: undefined, only: undefined });
  }

  // Close what is open: the numbers beside the value, the value, then the row; whether there was any.
  close() {
    const place = this.app.place;
    const open = ["also", "col", "row"].find((name) => place.get(name) !== undefined);
    if (!open) return false;
    place.go({ [open]: undefined, by: undefined, only: undefined });
    this.table?.scroller.focus();
    return true;
  }

  // The scenario that the answer is shown in: its rows have what they would be beside them.
  supposed() {
    const { strike, place } = this.app;
    if (strike.isEmpty(strike.now)) return {};
    return { scenario: strike.question(strike.now), ...(place.get("differing", false) === true ? { differing: true } : {}) };
  }

  keys(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = this.tabs.indexOf(document.activeElement);
    const next = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
    next.focus();
    next.click();
  }

  show() {
    if (!this.about) return;
    const place = this.app.place;
    const view = this.names.some(([name]) => name === place.get("v")) ? place.get("v") : "answer";
    for (const [name, element] of Object.entries(this.views)) element.hidden = name !== view;
    this.tabs.forEach((tab, number) => {
      const on = this.names[number][0] === view;
      tab.classList.toggle("on", on);
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    });
    const strike = this.app.strike;
    replace(this.tabs[1], "What if", !strike.empty && h("span", { class: "badge" }, String(strike.all.length)));
    const seen = JSON.stringify([place.get("row"), place.get("col"), place.get("also"), place.get("cut"), place.get("scenario")]);
    const grouped = JSON.stringify([place.get("by"), place.get("only")]);
    if (this.exports) this.exports.hidden = view !== "answer";
    this.views.answer.classList.toggle("no-row", place.whole("row") === undefined);
    this.views.answer.classList.toggle("with-value", this.explained.has(place.whole("col")));
    if (view === "answer") {
      if (this.seen !== seen) {
        this.seen = seen;
        this.table.selected = place.whole("row") ?? null;
        // The value that is open is in sight, also beside the panel that explains it.
        if (this.numbers.length) this.table.column = this.numbers.at(-1)[1];
        if (this.table.columns) this.table.move(this.table.column);
        this.why.show(place.whole("row"));
      } else if (this.grouped !== grouped) {
        this.why.value?.show();
      }
      this.grouped = grouped;
      this.dock.hidden = strike.empty;
      if (!strike.empty) this.bar.show();
      const supposed = JSON.stringify(this.supposed());
      if (this.asked !== undefined && this.asked !== supposed) this.table.again();
      this.asked = supposed;
    }
    if (view === "whatif") this.whatIf.show();
    if (view === "missing") this.missing.show();
    if (view === "query") this.query.show();
  }
}
