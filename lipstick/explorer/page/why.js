// Why a row is there: its annotation, its inputs, what each has to do with it, its blocks.

import { displayed, h, replace, button, icon, many } from "./dom.js";
import { Latest } from "./state.js";
import { formula, tokenChip } from "./terms.js";
import { pythonButton, tableButtons } from "./exporting.js";
import { load, replaceKeeping, section } from "./loading.js";
import { circuitOf, evaluationOf, probabilityOf, sharesOf } from "./measures.js";
import { Table, plainTable } from "./table.js";

// Where a row is in the files of its source.
function placeText({ file, row_group: group, row }) {
  return h("span", { title: file }, `${file.slice(file.lastIndexOf("/") + 1)}, row group ${group}, row ${row.toLocaleString("en")}`);
}

// Derivations up to which an annotation is shown unfolded.
const SHORT = 12;

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
    this.picture?.stop();
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
    this.derivation = derivation;
    const options = {
      colors: app.colors,
      ontoken: (node) => this.pick(derivation, node),
      onmore: () => {
        this.terms = 500;
        this.show(this.row);
      },
      struck: (node) => this.struck(node),
    };
    this.table?.stop();
    return [
      h(
        "header",
        { class: "panel-head" },
        h("h2", null, `Row ${(derivation.row + 1).toLocaleString("en")}`),
        button(icon("close"), () => app.place.go({ row: undefined, col: undefined, also: undefined }), { class: "plain icon-button", "aria-label": "Close" }),
        h(
          "dl",
          { class: "values" },
          this.about.columns.map((column, place) => [
            h("dt", null, column.name),
            h("dd", { class: column.kind, title: derivation.cells[place] }, displayed(derivation.cells[place], column, this.about.explained.includes(place)) ?? h("span", { class: "null" }, "NULL")),
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
      sharesOf(this, this.folding("Shares")),
      // Saved pages hold what is asked without values of one's own.
      !app.asker.still && probabilityOf(this, this.folding("Probability")),
      circuitOf(this, this.folding("Circuit")),
      derivation.listed && this.derivations(derivation),
      evaluationOf(this),
      derivation.blocks.length > 1 && section("Blocks", "what it went through", this.blocks(derivation)),
      pythonButton(derivation.python),
    ];
  }

  // Whether an input is left out in the scenario that is looked at.
  struck(node) {
    return this.app.strike.has(node.relation, this.key(this.derivation, node));
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
        plainTable([...inputs.columns, { name: "where it is" }], inputs.rows.map((row, number) => [...row, placeText(inputs.places[number])]), { label: `Rows of ${input.relation}` }),
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

  // Whether a part is unfolded from the start, and what remembers that.
  folding(title) {
    return { again: this.opened?.has(title), ontoggle: (open) => this.remember(title, open) };
  }

  derivations(answer) {
    const place = h("div", { class: "lazy" });
    const details = h("details", { class: "panel-section" }, h("summary", null, h("h3", null, "Derivations", h("span", { class: "note" }, "one line each"))), place);
    details.addEventListener("toggle", () => {
      this.remember("Derivations", details.open);
      if (details.open && !place.childElementCount) replace(place, this.members(answer));
    });
    details.open = Boolean(this.opened?.has("Derivations"));
    return details;
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
