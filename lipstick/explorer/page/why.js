// Why a row is there: its annotation, its inputs, what each has to do with it, its blocks.

import { atMidnight, h, replace, button, icon, many, grouped } from "./dom.js";
import { Latest } from "./state.js";
import { bars } from "./charts.js";
import { formula, tokenChip } from "./terms.js";
import { pictureButtons, pythonButton, tableButtons } from "./exporting.js";
import { Table, plainTable } from "./table.js";

// Load into a place, saying so when it takes a moment, and what went wrong when it does.
export async function load(place, latest, ask, render) {
  const signal = latest.start();
  const slow = setTimeout(() => {
    if (!place.childElementCount) replace(place, skeleton());
    place.setAttribute("aria-busy", "true");
    place.classList.add("waiting");
  }, 140);
  try {
    const answer = await ask(signal);
    if (!signal.aborted) replaceKeeping(place, render(answer));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!error.kind) console.error(error);
    replace(place, trouble(error, () => load(place, latest, ask, render)));
  } finally {
    clearTimeout(slow);
    if (!signal.aborted) {
      place.removeAttribute("aria-busy");
      place.classList.remove("waiting");
    }
  }
}

let lost = null;

// Replace what is in a place, and leave the focus where it was, as soon as that is there again.
export function replaceKeeping(place, content) {
  const active = document.activeElement;
  if (place.contains(active)) lost = active.dataset.keep ?? null;
  else if (active && active !== document.body) lost = null;
  replace(place, content);
  if (!lost) return;
  const again = [...place.querySelectorAll("[data-keep]")].find((element) => element.dataset.keep === lost);
  again?.focus();
  if (again) lost = null;
}

function skeleton() {
  return h("div", { class: "skeleton", role: "status" }, h("span", { class: "out-of-sight" }, "Loading"), h("i"), h("i"), h("i"));
}

// Derivations up to which an annotation is shown unfolded.
const SHORT = 12;

// What values are typed like, where they are not numbers.
const EXAMPLES = { truth: "false", level: "SECRET", interval: "3..7" };

const HEADINGS = {
  slow: "This takes too long",
  refused: "This cannot be answered",
  failed: "Something went wrong",
  offline: "Not connected",
  unsaved: "Not in this page",
};

export function trouble(error, again) {
  const [first, ...rest] = error.message.split("\n");
  return h(
    "div",
    { class: `trouble ${error.kind ?? "failed"}`, role: "status" },
    h("strong", null, HEADINGS[error.kind] ?? HEADINGS.failed),
    h("p", null, first),
    rest.length > 0 && h("p", { class: "hint" }, rest.join(" ")),
    again && error.kind !== "refused" && error.kind !== "unsaved" && button("Try again", again),
  );
}

export function section(title, note, ...content) {
  return h("section", { class: "panel-section" }, h("h3", null, title, note && h("span", { class: "note" }, note)), content);
}

export class Why {
  // `valueOf(row, column)` makes what is shown of one value.
  constructor(app, source, about, valueOf) {
    this.app = app;
    this.source = source;
    this.about = about;
    this.valueOf = valueOf;
    this.latest = new Latest();
    this.body = h("div");
    this.element = h("aside", { class: "panel", "aria-label": "Why this row", tabindex: "-1" });
    this.terms = undefined;
  }

  ask(view, params, signal) {
    return this.app.asker.ask(this.source, view, params, signal);
  }

  stop() {
    this.latest.stop();
    this.table?.stop();
    this.value?.stop();
  }

  show(row) {
    if (row === undefined) {
      this.row = undefined;
      replace(
        this.element,
        h(
          "div",
          { class: "invitation" },
          h("strong", null, "Pick a row"),
          h("p", null, "for the inputs it was made from", this.about.explained.length > 0 && ", or an underlined value for what it adds up from"),
          h("p", { class: "keys" }, h("kbd", null, "↑"), h("kbd", null, "↓"), " move  ", h("kbd", null, "Enter"), " opens"),
        ),
      );
      return;
    }
    if (row !== this.row) this.terms = undefined;
    this.row = row;
    const params = this.terms ? { row, terms: this.terms } : { row };
    // A value does not wait for the annotation of its row.
    this.value?.stop();
    const column = this.app.place.whole("col");
    this.value = this.about.explained.includes(column) ? this.valueOf(row, column) : null;
    replaceKeeping(this.element, [this.value?.element, this.body]);
    load(this.body, this.latest, (signal) => this.ask("why", params, signal), (answer) => this.draw(answer));
  }

  draw(derivation) {
    const app = this.app;
    const strike = app.strike;
    const options = {
      colors: app.colors,
      ontoken: (node) => this.pick(derivation, node),
      onmore: () => {
        this.terms = 500;
        this.show(this.row);
      },
      struck: (node) => strike.has(node.relation, this.key(derivation, node)),
    };
    this.table?.stop();
    return [
      h(
        "header",
        { class: "panel-head" },
        h("h2", null, `Row ${(derivation.row + 1).toLocaleString("en")}`),
        button(icon("close"), () => app.place.go({ row: undefined, col: undefined }), { class: "plain icon-button", "aria-label": "Close" }),
        h(
          "dl",
          { class: "values" },
          this.about.columns.map((column, place) => [
            h("dt", null, column.name),
            h("dd", { class: column.kind, title: derivation.cells[place] }, (column.kind === "number" ? grouped(derivation.cells[place], this.about.explained.includes(place)) : column.kind === "time" ? atMidnight(derivation.cells[place]) : derivation.cells[place]) ?? h("span", { class: "null" }, "NULL")),
          ]),
        ),
      ),
      h("section", { class: "panel-section" }, h("p", { class: "made-of" }, derivation.sentence), derivation.decided.length > 0 && h("p", { class: "decided" }, "decided by ", derivation.decided.map((text) => h("code", null, text)))),
      this.foldable("Annotation", "in N[X], factored", formula(derivation.annotation, options), derivation.members <= SHORT),
      section(
        "Made from",
        many(derivation.members, "derivation"),
        derivation.inputs.map((input) => this.inputs(input)),
      ),
      this.lazily("Shares", "how much each input has to do with it", "shares", (answer) => this.shares(answer)),
      this.lazily("Derivations", "one line each", "members", () => this.members(derivation), true),
      this.evaluation(),
      derivation.blocks.length > 1 && section("Blocks", "what it went through", this.blocks(derivation)),
      pythonButton(derivation.python),
    ];
  }

  key(answer, node) {
    const input = answer.inputs.find((each) => each.relation === node.relation);
    const place = input ? input.labels.indexOf(node.text) : -1;
    return place >= 0 ? input.keys[place] : null;
  }

  pick(answer, node) {
    const key = this.key(answer, node);
    if (key) this.app.strike.toggle(node.relation, key, node.text);
  }

  inputs(input) {
    const app = this.app;
    const shown = 12;
    const list = h("div", { class: "chips" });
    const fillIn = (all) => {
      const count = all ? input.labels.length : Math.min(shown, input.labels.length);
      replace(
        list,
        input.labels.slice(0, count).map((text, place) =>
          tokenChip(
            { relation: input.relation, text },
            {
              colors: app.colors,
              ontoken: () => app.strike.toggle(input.relation, input.keys[place], text),
              struck: app.strike.has(input.relation, input.keys[place]),
            },
          ),
        ),
        count < input.labels.length && button(`${(input.labels.length - count).toLocaleString("en")} more`, () => fillIn(true), { class: "more" }),
        input.count > input.labels.length && h("span", { class: "note" }, `of the first ${input.labels.length.toLocaleString("en")}`),
      );
    };
    fillIn(false);
    if (!input.count) return null;
    const rows = h("div", { class: "source-rows", hidden: true });
    const latest = new Latest();
    const look = button("rows", () => {
      rows.hidden = !rows.hidden;
      look.setAttribute("aria-expanded", String(!rows.hidden));
      if (rows.hidden || rows.childElementCount) return;
      load(rows, latest, (signal) => this.ask("inputs", { row: this.row, relation: input.relation }, signal), (inputs) => [
        plainTable(inputs.columns, inputs.rows, { label: `Rows of ${input.relation}` }),
        inputs.total > inputs.rows.length && h("p", { class: "note" }, `The first ${inputs.rows.length} of ${inputs.total.toLocaleString("en")}.`),
      ]);
    }, { class: "plain small", "aria-expanded": "false", title: "The rows as they are in their source" });
    return h(
      "div",
      { class: "inputs" },
      h(
        "div",
        { class: "inputs-head" },
        h("span", { class: "swatch", style: { "--hue": app.colors(input.relation) } }),
        h("strong", null, input.relation),
        h("span", { class: "note" }, many(input.count, "row")),
        look,
        button([icon("strike"), "remove all"], () => app.strike.set(input.relation, input.keys, input.labels), {
          class: "plain small",
          title: "What if none of these had been there?",
        }),
      ),
      list,
      rows,
    );
  }

  // What is there at once, folded unless it is short; whoever unfolds it finds it so in the next row.
  foldable(title, note, content, short) {
    const details = h("details", { class: "panel-section" }, h("summary", null, h("h3", null, title, h("span", { class: "note" }, note))), content);
    details.open = short || Boolean(this.opened?.has(title));
    details.addEventListener("toggle", () => this.remember(title, details.open));
    return details;
  }

  remember(title, open) {
    this.opened ??= new Set();
    this.opened[open ? "add" : "delete"](title);
  }

  lazily(title, note, view, render, direct = false) {
    const place = h("div", { class: "lazy" });
    const details = h("details", { class: "panel-section" }, h("summary", null, h("h3", null, title, h("span", { class: "note" }, note))), place);
    const latest = new Latest();
    const open = () => {
      if (!details.open || place.childElementCount) return;
      if (direct) replace(place, render());
      else load(place, latest, (signal) => this.ask(view, { row: this.row }, signal), render);
    };
    details.addEventListener("toggle", () => {
      this.remember(title, details.open);
      open();
    });
    if (this.opened?.has(title)) details.open = true;
    return details;
  }

  shares(answer) {
    if (answer.refused) return h("p", { class: "note" }, answer.refused);
    const items = answer.shares.slice(0, 24).map((share) => ({
      label: `${share.relation}:${share.text}`,
      value: share.value,
      text: `${(100 * share.value).toFixed(share.value < 0.1 ? 1 : 0)} %${share.error ? " ±" : ""}`,
    }));
    const left = answer.shares.length - items.length + answer.rest[0];
    const sum = answer.shares.slice(24).reduce((total, share) => total + share.value, 0) + answer.rest[1];
    if (left) items.push({ label: `${left.toLocaleString("en")} others`, value: sum, text: `${(100 * sum).toFixed(1)} %`, kind: "rest" });
    const chart = bars(items, { label: "Shapley values of the inputs" });
    const witnesses = answer.witnesses;
    return [
      h("div", { class: "chart-box" }, chart, pictureButtons(() => chart, "shares")),
      h(
        "p",
        { class: "note" },
        witnesses.why ?? `${many(witnesses.count, "minimal set")} of inputs ${witnesses.count === 1 ? "suffices" : "suffice"}:`,
      ),
      witnesses.sets.slice(0, 6).map((set) =>
        h("div", { class: "chips witness" }, set.map((token) => tokenChip(token, { colors: this.app.colors }))),
      ),
    ];
  }

  members(answer) {
    this.table?.stop();
    this.table = new Table({
      label: "Derivations of the row",
      sortable: false,
      fetchRows: (params, signal) => this.ask("members", { ...params, row: this.row }, signal),
    });
    this.table.element.classList.add("short");
    this.table.load();
    const question = () => ({ source: this.source, view: "members", params: { row: answer.row, limit: 200 } });
    return [this.table.element, tableButtons(this.app.asker, question, "derivations")];
  }

  evaluation() {
    const place = h("div", { class: "lazy" });
    const latest = new Latest();
    const menu = h(
      "select",
      { "aria-label": "Semiring", onchange: () => change() },
      this.about.semirings.map((choice) => h("option", { value: choice.id }, `${choice.name}: ${choice.says}`)),
    );
    const values = h("div", { class: "controls" });
    const given = new Map();
    const run = () => {
      const chosen = Object.fromEntries([...given].map(([name, value]) => [name, value()]).filter(([, value]) => value));
      const params = { semiring: menu.value, row: undefined, offset: 0, limit: 1, at: this.row };
      if (Object.keys(chosen).length) params.values = chosen;
      load(place, latest, (signal) => this.ask("evaluate", params, signal), (answer) => {
        const [only] = answer.values;
        return [h("output", { class: only.refused ? "bad" : "evaluated" }, only.refused ?? only.text ?? "NULL"), pythonButton(answer.python)];
      });
    };
    // What the tokens of a relation are valued: by default, by a number, or by one of its columns.
    const valued = (relation, columns, sort) => {
      const number = h("input", { type: "text", size: 8, placeholder: EXAMPLES[sort], hidden: true, oninput: run, "aria-label": `Value of tokens of ${relation.name}` });
      const choice = h(
        "select",
        {
          "aria-label": `What values tokens of ${relation.name}`,
          onchange: () => {
            number.hidden = choice.value !== "=";
            if (number.hidden) run();
            else number.focus();
          },
        },
        h("option", { value: "" }, "default"),
        h("option", { value: "=" }, sort in EXAMPLES ? `one ${sort}` : "a number"),
        sort in EXAMPLES ? [] : columns.map((column) => h("option", { value: `:${column}` }, column)),
      );
      given.set(relation.name, () => (choice.value.startsWith(":") ? { column: choice.value.slice(1) } : choice.value && number.value.trim()));
      return h("div", { class: "valued" }, h("span", { class: "note" }, relation.name), choice, number);
    };
    const change = async () => {
      given.clear();
      replace(values);
      run();
      const semiring = menu.value;
      const sort = this.about.semirings.find((choice) => choice.id === semiring).values;
      if (!sort) return;
      let columns = {};
      try {
        columns = (await this.ask("numbers", {})).columns;
      } catch {
        // Without them there are numbers, still.
      }
      if (menu.value === semiring) replace(values, this.about.relations.filter((relation) => relation.key.length).map((relation) => valued(relation, columns[relation.name] ?? [], sort)));
    };
    const details = h(
      "details",
      { class: "panel-section" },
      h("summary", null, h("h3", null, "Evaluate", h("span", { class: "note" }, "in a semiring"))),
      h("div", { class: "controls" }, menu),
      values,
      place,
    );
    details.addEventListener("toggle", () => {
      if (details.open && !place.childElementCount) change();
    });
    return details;
  }

  blocks(answer) {
    return h(
      "ol",
      { class: "lit-blocks" },
      answer.blocks.map((block) =>
        h("li", null, button(block.name, () => this.app.place.go({ v: "query", block: block.name }), { class: "more" }), ` ${many(block.tuples, "tuple")} of ${many(block.members, "member")}`),
      ),
    );
  }
}
