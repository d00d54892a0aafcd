// What if: rows that are removed, in scenarios, and how the answer would differ.

import { h, replace, button, choose, delta, many, displayed } from "./dom.js";
import { Latest, isMapping } from "./state.js";
import { tokenChip } from "./terms.js";
import { load, replaceKeeping } from "./loading.js";
import { Table, plainTable } from "./table.js";
import { pythonButton, tableButtons } from "./exporting.js";

const LETTERS = "ABCDEF";

// A scenario of an address, without what is none.
function scenario({ name, delete: deleted, where, update }) {
  const entries = (value, good) => Object.fromEntries(Object.entries(isMapping(value) ? value : {}).filter(([, items]) => good(items)));
  return {
    name: typeof name === "string" ? name : undefined,
    delete: entries(deleted, (keys) => Array.isArray(keys) && keys.every(Array.isArray)),
    where: entries(where, (text) => typeof text === "string"),
    update: entries(update, (text) => typeof text === "string"),
  };
}

// What is removed, in scenarios of which one is being changed; a part of the address.
export class Strikes {
  constructor(place) {
    this.place = place;
  }

  get all() {
    const scenarios = this.place.list("cut", []).filter(isMapping).slice(0, LETTERS.length).map(scenario);
    return scenarios.length ? scenarios : [scenario({})];
  }

  get number() {
    return Math.min(this.place.whole("scenario", 0), this.all.length - 1);
  }

  get now() {
    return this.all[this.number];
  }

  get empty() {
    return this.all.every((each) => this.isEmpty(each));
  }

  isEmpty(each) {
    return !this.count(each) && ![...Object.values(each.where), ...Object.values(each.update)].some((text) => text.trim());
  }

  // What is asked of a scenario: its name is not part of it.
  question(each) {
    return { delete: each.delete, where: each.where, ...(Object.keys(each.update).length ? { update: each.update } : {}) };
  }

  name(number) {
    return this.all[number].name || `Scenario ${LETTERS[number]}`;
  }

  // What a scenario removes, in words.
  words(each) {
    const keys = Object.entries(each.delete).filter(([, keys]) => keys.length);
    const parts = keys.map(([relation, keys]) => (keys.length < 4 ? `${relation} ${keys.map((key) => key.map((part) => part ?? "NULL").join("|")).join(", ")}` : `${many(keys.length, "row")} of ${relation}`));
    for (const [relation, text] of Object.entries(each.where)) if (text.trim()) parts.push(`${relation} where ${text}`);
    const changed = Object.entries(each.update).map(([relation, text]) => `With ${text} in ${relation}`);
    if (changed.length) return [parts.length && `Without ${parts.join("; ")}`, ...changed].filter(Boolean).join("; ");
    return parts.length ? `Without ${parts.join("; ")}` : "Nothing removed";
  }

  count(each) {
    return Object.values(each.delete).reduce((total, keys) => total + keys.length, 0);
  }

  has(relation, key) {
    if (!key) return false;
    const text = JSON.stringify(key);
    return (this.now.delete[relation] ?? []).some((key) => JSON.stringify(key) === text);
  }

  change(changed, quiet = false) {
    const all = this.all.map((known, number) => (number === this.number ? changed : known));
    this.place.go({ cut: all }, quiet);
  }

  toggle(relation, key) {
    const text = JSON.stringify(key);
    const keys = this.now.delete[relation] ?? [];
    const left = keys.filter((key) => JSON.stringify(key) !== text);
    this.put(relation, left.length < keys.length ? left : [...keys, key]);
  }

  set(relation, keys) {
    const known = new Map((this.now.delete[relation] ?? []).map((key) => [JSON.stringify(key), key]));
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

  update(relation, text) {
    const update = { ...this.now.update, [relation]: text };
    if (!text.trim()) delete update[relation];
    this.change({ ...this.now, update }, true);
  }

  rename(name) {
    this.change({ ...this.now, name: name.trim() || undefined }, true);
  }

  clear() {
    this.place.go({ cut: undefined, scenario: undefined });
  }

  add() {
    this.place.go({ cut: [...this.all, scenario({})], scenario: this.all.length });
  }

  drop(number) {
    const all = this.all.filter((_, place) => place !== number);
    this.place.go({ cut: all.length ? all : undefined, scenario: Math.max(0, Math.min(this.number, all.length - 1)) });
  }
}

// The scenarios: which is shown, and what can be done with them.
function scenarioTabs(strike) {
  return h(
    "div",
    { class: "scenarios", role: "group", "aria-label": "Scenarios" },
    strike.all.map((each, number) =>
      button(strike.name(number), () => strike.place.go({ scenario: number }), {
        class: `plain tab${number === strike.number ? " on" : ""}`,
        "aria-pressed": String(number === strike.number),
        title: strike.words(each),
        "data-keep": `scenario ${number}`,
      }),
    ),
    strike.all.length < LETTERS.length && !strike.empty && button("Add beside", () => strike.add(), { class: "plain small", "data-keep": "add" }),
    strike.all.length > 1 && button("Drop", () => strike.drop(strike.number), { class: "plain small" }),
    !strike.empty && button("Clear", () => strike.clear(), { class: "plain small" }),
  );
}

// What a scenario removes, and how many rows would differ.
function summary(strike, each, answer) {
  const words = { changed: "changed", deleted: "gone", added: "new" };
  const parts = Object.keys(words)
    .filter((word) => answer.counts[word])
    .map((word) => h("span", { class: `count ${word}` }, `${answer.counts[word].toLocaleString("en")} ${words[word]}`));
  const total = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const updated = total(answer.updated);
  const removed = total(answer.removed) + updated;
  const used = removed - total(answer.unused);
  let rows = many(removed, "row");
  if (!removed) rows = "no row of this query is meant";
  else if (!used) rows += `, ${removed === 1 ? "not" : "none of them"} in this query`;
  else if (used < removed) rows += `, ${used.toLocaleString("en")} of them in this query`;
  return h(
    "p",
    { class: "summary", role: "status" },
    h("strong", null, strike.words(each)),
    h("span", { class: used ? "note" : "bad" }, rows),
    parts.length ? parts : h("span", { class: "count" }, "nothing differs"),
    h("span", { class: "note" }, `${answer.counts.unchanged ? answer.counts.unchanged.toLocaleString("en") : "none"} as before · from ${answer.method}`),
  );
}

// Below the answer: the scenario that it is shown in.
export class ScenarioBar {
  constructor(app, source) {
    this.app = app;
    this.source = source;
    this.latest = new Latest();
    this.tabs = h("div");
    this.result = h("div", { class: "lazy" });
    this.element = h("div", { class: "what-if" }, this.tabs, this.result);
  }

  stop() {
    this.latest.stop();
  }

  show() {
    const { strike } = this.app;
    replaceKeeping(this.tabs, scenarioTabs(strike));
    const each = strike.now;
    load(this.result, this.latest, (signal) => this.app.asker.ask(this.source, "what_if", { scenarios: [strike.question(each)] }, signal), ({ scenarios: [answer] }) => [
      summary(strike, each, answer),
      answer.differing > 0 &&
        button("Only what differs", () => this.app.place.go({ differing: !this.app.place.get("differing", false) || undefined }), {
          class: `plain small toggle${this.app.place.get("differing", false) ? " on" : ""}`,
          "aria-pressed": String(Boolean(this.app.place.get("differing", false))),
          "data-keep": "differing",
        }),
    ]);
  }
}

export class WhatIf {
  constructor(app, source, about) {
    this.app = app;
    this.source = source;
    this.about = about;
    this.latest = new Latest();
    this.tabs = h("div");
    this.inputs = new Map();
    this.result = h("div", { class: "differences" });
    this.of = h("select", { "aria-label": "Column to compare", onchange: () => app.place.go({ of: Number(this.of.value) }, true) });
    this.compared = h("div", { class: "controls", hidden: true }, h("label", null, "compare ", this.of));
    this.element = h("div", { class: "what-if" }, this.tabs, this.choices(), this.compared, this.result);
  }

  stop() {
    this.latest.stop();
    this.table?.stop();
  }

  // One line a relation, made once: what is being typed stays.
  choices() {
    const { strike } = this.app;
    this.nameInput = h("input", { type: "text", class: "where name", "aria-label": "Name of the scenario", oninput: (event) => this.later(() => strike.rename(event.target.value)) });
    return h(
      "div",
      { class: "choices" },
      h("div", { class: "choice" }, h("label", { class: "where-label" }, "called ", this.nameInput)),
      this.about.relations
        .filter((relation) => relation.key.length)
        .map((relation) => {
          const chips = h("div", { class: "chips" });
          const list = h("datalist", { id: `lx-columns-${relation.name}` }, relation.columns.map((column) => h("option", { value: `${column} = ` })));
          const input = h("input", {
            type: "text",
            class: "where",
            list: list.id,
            autocomplete: "off",
            placeholder: `${relation.key[0]} in (…) or ${relation.columns.at(-1)} like '…%'`,
            "aria-label": `Remove rows of ${relation.name} where`,
            oninput: (event) => {
              this.typed = event.target;
              this.later(() => strike.where(relation.name, event.target.value));
            },
          });
          const number = relation.columns.find((column) => !relation.key.includes(column)) ?? "column";
          const change = h("input", {
            type: "text",
            class: "where",
            autocomplete: "off",
            placeholder: `${number} = … where …`,
            "aria-label": `Change values of ${relation.name}`,
            oninput: (event) => this.later(() => strike.update(relation.name, event.target.value)),
          });
          this.inputs.set(relation.name, { input, change, chips });
          return h(
            "div",
            { class: "choice" },
            h("span", { class: "swatch", style: { "--hue": this.app.colors(relation.name) } }),
            h("strong", null, relation.name),
            h("label", { class: "where-label" }, "without rows where ", input, list),
            h("label", { class: "where-label" }, "or with ", change),
            chips,
          );
        }),
    );
  }

  later(change) {
    clearTimeout(this.timer);
    this.timer = setTimeout(change, 350);
  }

  show() {
    const { strike } = this.app;
    replaceKeeping(this.tabs, scenarioTabs(strike));
    this.compared.hidden ||= strike.all.length < 2 || strike.empty;
    // A scenario that was added is typed like the one before it.
    const added = strike.all.length > this.known;
    this.known = strike.all.length;
    this.fill(strike);
    if (added) (this.typed ?? [...this.inputs.values()][0]?.input)?.focus();
    if (strike.empty) {
      this.latest.stop();
      replace(
        this.result,
        h(
          "div",
          { class: "invitation" },
          h("strong", null, "Nothing is removed"),
          h("p", null, "Remove rows where they are listed, or type a condition above: rows that would change, go or come are shown at once."),
        ),
      );
      return;
    }
    const scenarios = strike.all.map((each) => strike.question(each));
    load(this.result, this.latest, (signal) => this.app.asker.ask(this.source, "what_if", { scenarios }, signal), (changes) => this.draw(changes));
  }

  fill(strike) {
    const set = (input, value) => {
      if (input !== document.activeElement || this.shown !== strike.number) input.value = value;
    };
    set(this.nameInput, strike.now.name ?? "");
    this.nameInput.placeholder = strike.name(strike.number);
    for (const [name, { input, change, chips }] of this.inputs) {
      set(input, strike.now.where[name] ?? "");
      set(change, strike.now.update[name] ?? "");
      const keys = strike.now.delete[name] ?? [];
      replace(
        chips,
        keys.slice(0, 30).map((key) =>
          tokenChip({ relation: name, text: key.map((part) => part ?? "NULL").join("|") }, { colors: this.app.colors, struck: true, ontoken: () => strike.toggle(name, key) }),
        ),
        keys.length > 30 && h("span", { class: "note" }, `and ${keys.length - 30} more`),
      );
    }
    this.shown = strike.number;
  }

  draw(changes) {
    const { strike } = this.app;
    this.table?.stop();
    const summaries = changes.scenarios.map((answer, number) => h("div", { class: "beside" }, changes.scenarios.length > 1 && h("strong", null, strike.name(number)), h("div", null, summary(strike, strike.all[number], answer))));
    return [
      summaries,
      changes.scenarios.length > 1 ? this.matrix(changes) : changes.scenarios[0].differing > 0 && this.overlay(strike.now),
      changes.scenarios[strike.number].python && pythonButton(changes.scenarios[strike.number].python),
    ];
  }

  // The rows that differ in one scenario, in a table as the answer's.
  overlay(each) {
    const scenario = this.app.strike.question(each);
    const params = (more) => ({ ...more, scenario, differing: true });
    this.table = new Table({
      label: "Rows that differ",
      linked: (place) => this.about.explained.includes(place),
      fetchRows: (more, signal) => this.app.asker.ask(this.source, "rows", params(more), signal),
    });
    this.table.element.classList.add("tall");
    this.table.load();
    const question = () => ({ source: this.source, view: "rows", params: params({ offset: 0, limit: 200 }) });
    return [this.table.element, tableButtons(this.app.asker, question, "differences")];
  }

  // Scenarios side by side: of one column, what it is and what it would be in each.
  matrix(changes) {
    const { place, strike } = this.app;
    const columns = changes.columns;
    const numbers = columns.map((column, at) => at).filter((at) => columns[at].kind === "number" && this.about.explained.includes(at));
    const at = numbers.includes(place.whole("of")) ? place.whole("of") : (numbers[0] ?? columns.length - 1);
    const keys = columns.map((_, place) => place).filter((place) => !this.about.explained.includes(place));
    const known = new Map();
    changes.scenarios.forEach((each, number) => {
      for (const row of each.rows) {
        // A new row is the same in two scenarios where no more than numbers of it differ.
        const inside = (name) => (known.get(name)?.sides[number] ? inside(`${name}+`) : name);
        const name = row.row ?? inside(`new ${JSON.stringify(keys.map((key) => row.new[key]))}`);
        if (!known.has(name)) known.set(name, { row, sides: [] });
        known.get(name).sides[number] = row;
      }
    });
    const rows = [...known.values()].slice(0, 200);
    const size = (side) => (side?.new && side.old ? Math.abs(Number(side.new[at]) - Number(side.old[at])) || 0 : 0);
    const most = Math.max(...rows.flatMap(({ sides }) => sides.map(size)), 0) || 1;
    const cell = (side, row) => {
      if (!side) return h("span", { class: "note" }, row.row === null ? "not there" : "as it is");
      if (side.change === "deleted") return h("del", null, side.place ? `row ${side.place.toLocaleString("en")}` : "gone");
      if (side.change === "added") return h("ins", null, `new: ${displayed(side.new[at], columns[at], true) ?? "NULL"}`);
      const less = Number(side.new[at]) < Number(side.old[at]);
      return h(
        "span",
        { class: "matrix-cell" },
        h("ins", null, displayed(side.new[at], columns[at], true) ?? "NULL"),
        h("span", { class: "delta" }, delta(side.old[at], side.new[at])),
        h("span", { class: "bar-track signed" }, h("i", { class: less ? "less" : "", style: { width: `${(50 * size(side)) / most}%` } })),
      );
    };
    choose(this.of, (numbers.length ? numbers : [at]).map((number) => h("option", { value: String(number) }, columns[number].name)), String(at));
    this.compared.hidden = false;
    return [
      plainTable(
        [...keys.map((key) => columns[key]), { name: "now", kind: "number" }, ...changes.scenarios.map((_, number) => ({ name: strike.name(number), kind: "number" }))],
        rows.map(({ row, sides }) => {
          const shown = row.old ?? row.new;
          return [...keys.map((key) => shown[key]), row.old ? (displayed(row.old[at], columns[at], true) ?? "NULL") : h("span", { class: "note" }, "not there"), ...changes.scenarios.map((_, number) => cell(sides[number], row))];
        }),
        { label: "Scenarios side by side" },
      ),
      changes.scenarios.some((each) => each.differing > each.rows.length) && h("p", { class: "note" }, "Of each scenario the first 200 rows that differ are compared."),
    ];
  }
}
