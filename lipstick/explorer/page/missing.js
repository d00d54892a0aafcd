// Rows that are not in the answer: the operators that lose them, and what would bring one.

import { h, replace, button, many } from "./dom.js";
import { pythonButton } from "./exporting.js";
import { section } from "./loading.js";
import { budgeted } from "./measures.js";
import { plainTable } from "./table.js";

// Seconds that Spark may take.
const PATIENCE = { choices: [20, 60, 180], usual: 180 };

// The filters below the columns of the answer as one condition.
export function conditionOf(filters, columns) {
  const parts = Object.entries(filters).filter(([, text]) => text.trim());
  return parts.map(([place, text]) => `\`${columns[place].name.replaceAll("`", "``")}\` ${comparisonTyped(text.trim())}`).join(" and ");
}

// What does not compare is the value that is missed.
function comparisonTyped(text) {
  if (/^(not )?null$/i.test(text)) return `is ${text}`;
  if (/^([<>=!]|(not|in|between|like|is)\b)/i.test(text)) return text;
  return text.includes("..") ? `= ${text}` : `= '${text.replaceAll("'", "''")}'`;
}

export class Missing {
  constructor(app, source, about) {
    Object.assign(this, { app, source, about });
    this.list = h("datalist", { id: "lx-missing-columns" }, about.columns.map((column) => h("option", { value: `${column.name} = ` })));
    this.input = h("input", { type: "text", class: "where", list: this.list.id, autocomplete: "off", placeholder: `${about.columns[0]?.name ?? "column"} = …`, "aria-label": "A condition that the missing row meets" });
    const form = h(
      "form",
      {
        class: "controls",
        onsubmit: (event) => {
          event.preventDefault();
          if (this.input.value.trim()) app.place.go({ lacks: this.input.value.trim() });
        },
      },
      h("label", { class: "where-label" }, "why is there no row with ", this.input, this.list),
      h("button", { type: "submit", class: "plain" }, "Find out"),
      h("span", { class: "note" }, "asks Spark"),
    );
    this.result = h("div");
    this.losses = h("div");
    this.element = h("div", { class: "missing" }, h("h2", { class: "out-of-sight" }, "Missing rows"), form, this.result, section("Where rows are lost", "of each operator's inputs", this.losses));
  }

  stop() {
    for (const question of [this.question, this.counting, this.bringing, this.changing]) question?.stop();
  }

  // A question of Spark, in its place, and at once.
  asked(place, view, params, render) {
    const question = budgeted((seconds, signal) => this.app.asker.ask(this.source, view, { ...params, seconds }, signal), render, PATIENCE);
    replace(place, question.controls, question.place);
    question.run();
    return question;
  }

  show() {
    const where = this.app.place.text("lacks");
    if (where !== this.where) {
      this.where = where;
      this.input.value = where ?? "";
      this.stop();
      replace(this.result);
      if (where) this.question = this.asked(this.result, "missing", { where }, (answer) => this.draw(answer, where));
    }
    // One question after the other: what was asked for is not made to wait for the counts.
    if (!where && !this.losses.childElementCount) this.counting = this.asked(this.losses, "dropped", {}, (answer) => this.counts(answer));
    this.losses.parentElement.hidden = Boolean(where);
  }

  draw(answer, where) {
    const changes = h("div", { role: "status" });
    const bring = button("What would bring it?", () => {
      this.bringing = this.asked(changes, "changes", { where }, (found) => this.changes(found, where));
    }, { class: "plain" });
    return [
      h("h2", { class: "sentence" }, answer.question),
      answer.present && h("p", { class: "sentence" }, h("strong", null, "It is there.")),
      h("ol", { class: "reasons" }, answer.reasons.map((reason) => this.reason(reason))),
      answer.notes.map((note) => h("p", { class: "note" }, note)),
      !answer.present && [bring, changes],
      pythonButton(answer.python),
      button("Where are rows lost?", () => this.app.place.go({ lacks: undefined }), { class: "more" }),
    ];
  }

  reason(reason) {
    return h(
      "li",
      { class: "block reason" },
      h("div", { class: "block-head" }, h("strong", null, reason.relation), h("span", { class: "note" }, reason.rows ? many(reason.rows, "row") : "no row"), h("span", { class: "operator" }, reason.operator)),
      h("p", null, reason.sentence),
      reason.excerpt && h("pre", { class: "code small" }, reason.excerpt[0].trimStart(), h("mark", { class: "lit-name" }, reason.excerpt[1]), reason.excerpt[2]),
      reason.example.length > 0 &&
        h(
          "details",
          null,
          h("summary", { class: "note" }, reason.rows > 1 ? "one of the rows" : "the row"),
          h("dl", { class: "values" }, reason.example.map(([name, value]) => [h("dt", null, name), h("dd", null, value ?? h("span", { class: "null" }, "NULL"))])),
        ),
      reason.partners.length > 0 && h("ol", { class: "reasons" }, reason.partners.map((partner) => this.reason(partner))),
    );
  }

  changes({ changes }, where) {
    if (!changes.length) return h("p", { class: "note" }, "No change of few values was found that brings it.");
    return h("ul", { class: "changes" }, changes.map((change, number) => this.change(change, number, where)));
  }

  change(sentence, number, where) {
    const answer = h("div", { role: "status" });
    const ask = button("The answer with it", () => {
      this.changing = this.asked(answer, "changed", { where, number }, (found) => this.difference(found));
    }, { class: "more" });
    return h("li", null, sentence, " ", ask, answer);
  }

  // The rows that the answer gets and loses by a change.
  difference({ columns, rows, more }) {
    const counted = ["appears", "disappears"].map((change) => rows.filter((row) => row[0] === change).length);
    return [
      h("p", { class: "note" }, `${many(counted[0], "row")} more, ${many(counted[1], "row")} less`, more && `, of the first ${many(rows.length, "row")} that differ`, ". All others stay as they are."),
      plainTable([{ name: "change" }, ...columns.map((name) => ({ name }))], rows, { label: "Rows that change", marked: (number) => rows[number][0] }),
    ];
  }

  counts({ operators }) {
    if (!operators.length) return h("p", { class: "note" }, "No operator of this query can lose rows.");
    return h(
      "div",
      { class: "plain-scroll", tabindex: "0", role: "region", "aria-label": "Rows that operators lose" },
      h(
        "table",
        { class: "plain-table" },
        h("thead", null, h("tr", null, ["operator", "condition", "rows of", "lost"].map((name) => h("th", { scope: "col" }, name)))),
        h(
          "tbody",
          null,
          operators.map((each) =>
            h(
              "tr",
              null,
              h("td", null, each.operator, each.place && h("span", { class: "note" }, ` ${each.place}`)),
              h("td", { title: each.condition }, h("code", null, each.condition)),
              h("td", null, each.input),
              h("td", { class: "measure" }, h("span", { class: "bar-text" }, `${each.lost.toLocaleString("en")} of ${each.rows.toLocaleString("en")}`), h("span", { class: "bar-track", "aria-hidden": "true" }, h("i", { style: { width: `${each.rows ? (100 * each.lost) / each.rows : 0}%` } }))),
            ),
          ),
        ),
      ),
    );
  }
}
