// What if: rows that are struck out, and what would differ without them.

import { h, replace, button, many } from "./dom.js";
import { Latest, isMapping } from "./state.js";
import { tokenChip } from "./terms.js";
import { load } from "./why.js";
import { plainTable } from "./table.js";
import { pythonButton } from "./exporting.js";

const LETTERS = "ABCDEF";

// A scenario of an address, without what is none.
function scenario({ delete: deleted, where }) {
  const entries = (value, good) => Object.fromEntries(Object.entries(isMapping(value) ? value : {}).filter(([, items]) => good(items)));
  return {
    delete: entries(deleted, (keys) => Array.isArray(keys) && keys.every(Array.isArray)),
    where: entries(where, (text) => typeof text === "string"),
  };
}

// What is struck out, in scenarios of which one is being changed; a part of the address.
export class Strikes {
  constructor(place) {
    this.place = place;
  }

  get all() {
    const scenarios = this.place.list("cut", []).filter(isMapping).slice(0, LETTERS.length).map(scenario);
    return scenarios.length ? scenarios : [{}];
  }

  get number() {
    return Math.min(this.place.whole("scenario", 0), this.all.length - 1);
  }

  get now() {
    return this.all[this.number];
  }

  get empty() {
    return this.all.every((scenario) => !this.count(scenario) && !Object.values(scenario.where ?? {}).some((text) => text.trim()));
  }

  count(scenario) {
    return Object.values(scenario.delete ?? {}).reduce((total, keys) => total + keys.length, 0);
  }

  has(relation, key) {
    if (!key) return false;
    const text = JSON.stringify(key);
    return (this.now.delete?.[relation] ?? []).some((key) => JSON.stringify(key) === text);
  }

  change(changed, quiet = false) {
    const all = this.all.map((known, number) => (number === this.number ? changed : known));
    this.place.go({ cut: all }, quiet);
  }

  toggle(relation, key) {
    const text = JSON.stringify(key);
    const keys = this.now.delete?.[relation] ?? [];
    const left = keys.filter((key) => JSON.stringify(key) !== text);
    this.put(relation, left.length < keys.length ? left : [...keys, key]);
  }

  set(relation, keys) {
    const known = new Map((this.now.delete?.[relation] ?? []).map((key) => [JSON.stringify(key), key]));
    const whole = keys.every((key) => known.has(JSON.stringify(key)));
    for (const key of keys) {
      if (whole) known.delete(JSON.stringify(key));
      else known.set(JSON.stringify(key), key);
    }
    this.put(relation, [...known.values()]);
  }

  put(relation, keys) {
    const deleted = { ...this.now.delete };
    if (keys.length) deleted[relation] = keys;
    else delete deleted[relation];
    this.change({ ...this.now, delete: deleted });
  }

  where(relation, text, quiet = true) {
    const where = { ...this.now.where, [relation]: text };
    if (!text.trim()) delete where[relation];
    this.change({ ...this.now, where }, quiet);
  }

  clear() {
    this.place.go({ cut: undefined, scenario: undefined });
  }

  add() {
    this.place.go({ cut: [...this.all, structuredClone(this.now)], scenario: this.all.length });
  }

  drop(number) {
    const all = this.all.filter((_, place) => place !== number);
    this.place.go({ cut: all.length ? all : undefined, scenario: Math.max(0, Math.min(this.number, all.length - 1)) });
  }
}

export class WhatIf {
  constructor(app, source, about) {
    this.app = app;
    this.source = source;
    this.about = about;
    this.latest = new Latest();
    this.result = h("div", { class: "differences" });
    this.choices = h("div", { class: "choices" });
    this.element = h("div", { class: "what-if" }, this.choices, this.result);
  }

  stop() {
    this.latest.stop();
  }

  show() {
    this.drawChoices();
    const strike = this.app.strike;
    if (strike.empty) {
      this.latest.stop();
      replace(
        this.result,
        h(
          "div",
          { class: "invitation" },
          h("strong", null, "Nothing is struck out"),
          h("p", null, "Click tokens of a row's annotation, or type a condition on a key: rows that would change, disappear or appear are shown at once."),
        ),
      );
      return;
    }
    const scenarios = strike.all.map((scenario) => ({ delete: scenario.delete ?? {}, where: scenario.where ?? {} }));
    load(this.result, this.latest, (signal) => this.app.asker.ask(this.source, "what_if", { scenarios }, signal), (changes) => this.draw(changes));
  }

  drawChoices() {
    const strike = this.app.strike;
    const focused = document.activeElement?.dataset?.relation;
    if (focused && this.choices.contains(document.activeElement) && this.shown === strike.number) {
      this.drawChips();
      return;
    }
    this.shown = strike.number;
    this.chips = new Map();
    replace(
      this.choices,
      h(
        "div",
        { class: "scenarios", role: "group", "aria-label": "Scenarios" },
        strike.all.map((scenario, number) =>
          button(`Scenario ${LETTERS[number]}`, () => this.app.place.go({ scenario: number }), {
            class: `plain tab${number === strike.number ? " on" : ""}`,
            "aria-pressed": number === strike.number ? "true" : "false",
          }),
        ),
        strike.all.length < LETTERS.length && !strike.empty && button("Add beside", () => strike.add(), { class: "plain small" }),
        strike.all.length > 1 && button("Drop", () => strike.drop(strike.number), { class: "plain small" }),
        !strike.empty && button("Clear", () => strike.clear(), { class: "plain small" }),
      ),
      this.about.relations
        .filter((relation) => relation.key.length)
        .map((relation) => {
          const chips = h("div", { class: "chips" });
          this.chips.set(relation.name, chips);
          const input = h("input", {
            type: "text",
            class: "where",
            "data-relation": relation.name,
            placeholder: `${relation.key[0]} = …`,
            "aria-label": `Strike out rows of ${relation.name} where`,
            value: strike.now.where?.[relation.name] ?? "",
            oninput: (event) => {
              clearTimeout(this.timer);
              this.timer = setTimeout(() => strike.where(relation.name, event.target.value), 350);
            },
          });
          return h(
            "div",
            { class: "choice" },
            h("span", { class: "swatch", style: { "--hue": this.app.colors(relation.name) } }),
            h("strong", null, relation.name),
            h("label", { class: "where-label" }, "without rows where ", input),
            chips,
          );
        }),
    );
    this.drawChips();
  }

  drawChips() {
    const strike = this.app.strike;
    for (const [name, place] of this.chips) {
      const keys = strike.now.delete?.[name] ?? [];
      replace(
        place,
        keys.slice(0, 30).map((key) =>
          tokenChip({ relation: name, text: key.map((part) => part ?? "NULL").join("|") }, { colors: this.app.colors, struck: true, ontoken: () => strike.toggle(name, key) }),
        ),
        keys.length > 30 && h("span", { class: "note" }, `and ${keys.length - 30} more`),
      );
    }
  }

  draw(changes) {
    const several = changes.scenarios.length > 1;
    return [several ? this.beside(changes) : this.single(changes, changes.scenarios[0]), pythonButton(changes.scenarios[this.app.strike.number].python)];
  }

  counts(scenario) {
    const words = ["changed", "deleted", "added"];
    const parts = words.filter((word) => scenario.counts[word]).map((word) => h("span", { class: `count ${word}` }, `${scenario.counts[word].toLocaleString("en")} ${word}`));
    const struck = Object.values(scenario.struck).reduce((a, b) => a + b, 0);
    return h(
      "p",
      { class: "summary", role: "status" },
      `Without ${many(struck, "row")}: `,
      parts.length ? parts : h("span", { class: "count" }, "nothing differs"),
      h("span", { class: "note" }, `${scenario.counts.unchanged.toLocaleString("en")} as before · from ${scenario.method}`),
    );
  }

  single(changes, scenario) {
    const rows = scenario.rows.map((row) =>
      changes.columns.map((column, place) => this.pair(row, place)),
    );
    return [
      this.counts(scenario),
      scenario.rows.length > 0 &&
        plainTable([{ name: "change", kind: "text" }, ...changes.columns], rows.map((cells, number) => [this.word(scenario.rows[number]), ...cells]), {
          label: "Rows that differ",
          marked: (number) => scenario.rows[number].change,
        }),
      scenario.differing > scenario.rows.length && h("p", { class: "note" }, `The first ${scenario.rows.length} of ${scenario.differing.toLocaleString("en")} that differ.`),
    ];
  }

  word(row) {
    const signs = { changed: "≠", deleted: "−", added: "+" };
    return h("span", { class: `sign ${row.change}`, title: row.change }, `${signs[row.change]} ${row.change}`);
  }

  pair(row, place) {
    const before = row.old?.[place];
    const after = row.new?.[place];
    const shown = (text) => text ?? "NULL";
    if (row.change === "deleted") return h("del", null, shown(before));
    if (row.change === "added") return h("ins", null, shown(after));
    if (before === after) return shown(before);
    return h("span", { class: "pair" }, h("del", null, shown(before)), " ", h("ins", null, shown(after)));
  }

  beside(changes) {
    const keys = new Map();
    changes.scenarios.forEach((scenario, number) => {
      for (const row of scenario.rows) {
        const name = row.row === null ? `new ${JSON.stringify(row.new)}` : `row ${row.row}`;
        if (!keys.has(name)) keys.set(name, { row, sides: [] });
        keys.get(name).sides[number] = row;
      }
    });
    const columns = [
      { name: "row", kind: "text" },
      { name: "now", kind: "text" },
      ...changes.scenarios.map((_, number) => ({ name: `Scenario ${LETTERS[number]}`, kind: "text" })),
    ];
    const text = (cells) => (cells ? cells.map((cell) => cell ?? "NULL").join(" · ") : "not there");
    const rows = [...keys.values()].slice(0, 200).map(({ row, sides }) => [
      row.row === null ? "new" : String(row.row + 1),
      text(row.old),
      ...changes.scenarios.map((_, number) => {
        const side = sides[number];
        if (!side) return h("span", { class: "note" }, "as it is");
        if (side.change === "deleted") return h("del", null, "gone");
        return h("ins", null, text(side.new));
      }),
    ]);
    return [
      changes.scenarios.map((scenario, number) => h("div", { class: "beside" }, h("strong", null, LETTERS[number]), this.counts(scenario))),
      rows.length > 0 && plainTable(columns, rows, { label: "Scenarios side by side" }),
    ];
  }
}
