// What a value is made of: its inputs in groups, each with its measure, its share, and its rows.

import { h, replace, button, choose, icon, many, grouped, displayed } from "./dom.js";
import { Latest } from "./state.js";
import { spans } from "./charts.js";
import { pictureButtons, pythonButton, tableButtons } from "./exporting.js";
import { load, replaceKeeping } from "./loading.js";

const UNITS = { time: ["day", "month", "year"], number: ["range"] };

function percent(share) {
  if (share === null || share === undefined) return "";
  const value = 100 * share;
  return `${Math.abs(value) >= 0.1 || value === 0 ? value.toFixed(1) : Math.abs(value) < 1e-6 ? value.toExponential(1) : value.toPrecision(2)} %`;
}

export class Value {
  // `onadd()` has the next number that is chosen beside this one.
  constructor(app, source, about, { row, column, numbers, onadd }) {
    Object.assign(this, { app, source, about, row, column, numbers });
    this.name = about.columns[column].name;
    this.latest = new Latest();
    this.details = new Latest();
    this.suggesting = new Latest();
    this.place = h("div", { class: "lazy" });
    this.sentence = h("p", { class: "sentence" });
    // What answers are drawn around stays: somebody may be typing in it.
    this.by = h("select", { "aria-label": "Group by", onchange: () => this.group({ by: this.grouping(JSON.parse(this.by.value)) }) });
    this.unit = h("select", { "aria-label": "in", onchange: () => this.group({ by: { ...JSON.parse(this.by.value), unit: this.unit.value } }) });
    this.kept = h("div", { class: "chips" });
    this.splits = h("div", { class: "chips", role: "group", "aria-label": "Columns by which its inputs stand out" });
    this.controls = h("div", { class: "controls", hidden: true }, h("label", null, "group by ", this.by), this.unit, this.kept, !app.asker.still && button("Compare with another number", onadd, { class: "plain small" }));
    this.element = h(
      "section",
      { class: "panel-section value" },
      h("h2", null, this.title),
      button(icon("close"), () => this.close(), { class: "plain icon-button in-section", "aria-label": "Close the value" }),
      this.sentence,
      this.splits,
      this.controls,
      this.place,
    );
    this.show();
  }

  get title() {
    return this.name;
  }

  // The column of the value; of several numbers that of one of them.
  type() {
    return this.about.columns[this.column];
  }

  close() {
    this.app.place.go({ col: undefined, by: undefined, only: undefined });
  }

  stop() {
    this.latest.stop();
    this.details.stop();
    this.suggesting.stop();
  }

  get params() {
    const params = { row: this.row, column: this.name, only: this.app.place.list("only", []) };
    const by = this.app.place.mapping("by");
    return by ? { ...params, by } : params;
  }

  get view() {
    return "value";
  }

  ask(view, signal) {
    return this.app.asker.ask(this.source, view, this.params, signal);
  }

  show() {
    const ask = async (signal) => {
      try {
        return await this.ask(this.view, signal);
      } catch (error) {
        if (!signal.aborted) this.say("");
        throw error;
      }
    };
    load(this.place, this.latest, ask, (answer) => this.draw(answer));
  }

  // What is said of an answer: more of an older one is not waited for.
  say(sentence) {
    this.details.stop();
    replace(this.sentence, sentence);
  }

  // Ask the same of other groups.
  group(values) {
    this.app.place.go(values);
  }

  draw(answer) {
    this.answer = answer;
    const table = h("div", { class: "plain-scroll parts", tabindex: "0", role: "region", "aria-label": `What ${answer.column} is made of` });
    const numbers = Boolean(this.app.asker.exported) || undefined;
    const question = () => ({ source: this.source, view: "listed", params: { ...this.params, numbers } });
    this.table = table;
    this.say(answer.sentence);
    this.offer(answer);
    this.suggest(answer);
    if (!answer.refused) {
      queueMicrotask(() => this.fill(null));
      this.more();
    }
    return [
      answer.refused && h("div", { class: "trouble refused", role: "status" }, answer.refused),
      answer.ordered && this.chart(answer),
      !answer.refused && table,
      h(
        "p",
        { class: "note" },
        h("code", null, answer.call),
        answer.bars.length > 0 && ` · ${answer.by.column || answer.axes[answer.by.axis].name}: ${answer.measure}`,
        answer.nulls > 0 && ` · ${many(answer.nulls, "input")} with NULL, which ${answer.nulls === 1 ? "is" : "are"} not counted`,
        answer.known < answer.groups && answer.reason && ` · unknown: ${answer.reason}`,
      ),
      [...new Set(answer.axes.map((axis) => axis.note).filter(Boolean))].map((note) => h("p", { class: "note" }, note)),
      !answer.refused && !this.app.asker.still && answer.axes[answer.by.axis].relation && this.least(answer),
      !answer.refused && tableButtons(this.app.asker, question, `${answer.column}-inputs`),
      pythonButton(answer.python),
    ];
  }

  // The fewest rows whose removal brings the value to a number.
  least(answer) {
    const { relation } = answer.axes[answer.by.axis];
    const wanted = h("input", { type: "text", size: 12, inputmode: "decimal", "data-keep": "least", "aria-label": `Number that ${answer.column} should reach` });
    const found = h("div", { class: "lazy" });
    const latest = new Latest();
    const ask = (event) => {
      event.preventDefault();
      if (!wanted.value.trim()) return;
      load(found, latest, (signal) => this.app.asker.ask(this.source, "least", { ...this.params, than: wanted.value }, signal), (least) =>
        h(
          "p",
          { class: "note", role: "status" },
          `${answer.column} is ${least.side} ${grouped(wanted.value.trim(), true)} without ${many(least.size, "row")} of ${least.relation}, not without fewer${least.count === 1 ? "" : "; other sets of as many suffice, too"}. `,
          button("Remove them: what if?", () => this.app.strike.set(least.relation, least.keys), { class: "plain small" }),
        ),
      );
    };
    return h("form", { class: "least", onsubmit: ask }, h("label", null, `fewest rows of ${relation} to remove until it is `, wanted), " ", h("button", { type: "submit", class: "plain small" }, "Find"), found);
  }

  // The columns that set its inputs apart from other rows, as buttons that group by them.
  async suggest(answer) {
    const signal = this.suggesting.start();
    replace(this.splits);
    if (answer.by?.column || this.app.asker.still) return;
    try {
      const { splits } = await this.ask("splits", signal);
      if (signal.aborted) return;
      const chip = ({ by, text, share, usual }) => button([text, " ", h("strong", null, share)], () => this.group({ by }), { class: "plain small", title: `${share} of its inputs, ${usual}` });
      replace(this.splits, splits.length > 0 && h("span", { class: "note" }, "stands out: "), splits.map(chip));
    } catch (error) {
      if (error.name !== "AbortError" && !error.kind) throw error;
    }
  }

  // What to group by, and what is kept.
  offer({ axes, by, only }) {
    const chosen = by ?? this.app.place.mapping("by", {});
    this.axes = axes;
    // A saved page has the groups that were looked at.
    const held = (by) => this.app.asker.holds(this.source, this.view, { ...this.params, by });
    const option = (axis, column, label) => held(this.grouping({ axis, column })) && h("option", { value: JSON.stringify({ axis, column }) }, label);
    choose(
      this.by,
      [
        h("option", { value: "", disabled: true, hidden: true }, "choose"),
        axes.map((axis, place) => {
          const columns = axis.columns.filter((column) => column.kind !== "other").map((column) => option(place, column.name, column.name));
          const options = [option(place, "", axis.relation ? `rows of ${axis.name}` : axis.name), ...columns].filter(Boolean);
          return options.length > 0 && h("optgroup", { label: axis.name }, options);
        }),
      ],
      chosen.axis === undefined ? "" : JSON.stringify({ axis: chosen.axis, column: chosen.column ?? "" }),
    );
    this.by.parentElement.hidden = this.by.options.length < 2;
    const kind = this.kind(chosen);
    const units = UNITS[kind] ?? [];
    const words = (name) => (name === "range" ? "in ranges" : `by ${name}`);
    choose(this.unit, [h("option", { value: "" }, kind === "number" ? "each value" : "each time"), units.map((name) => h("option", { value: name }, words(name)))], chosen.unit ?? "");
    this.unit.hidden = !units.length;
    replace(
      this.kept,
      only.map((each, place) =>
        button([each.text, " ", icon("close")], () => this.group({ only: this.only.filter((_, other) => other !== place) }), { class: "plain small kept", "aria-label": `All again, not only ${each.text}` }),
      ),
    );
    this.controls.hidden = false;
  }

  kind({ axis, column }) {
    return this.axes[axis]?.columns.find((known) => known.name === column)?.kind;
  }

  get only() {
    return this.app.place.list("only", []);
  }

  // Times begin with months: a day or an instant each would be too many.
  grouping(by) {
    return this.kind(by) === "time" ? { ...by, unit: "month" } : by;
  }

  chart(answer) {
    const picture = spans(answer.bars, {
      label: `${answer.column} by ${answer.by.column}`,
      wide: Math.max(280, this.place.clientWidth),
      onpick: (from, to) => this.keep(answer.bars.slice(from, to + 1)),
    });
    return h("div", { class: "chart-box" }, picture, pictureButtons(() => picture, `${answer.column}-by-${answer.by.column}`), h("p", { class: "note" }, "Click a bar, or drag over several, to keep only these."));
  }

  // What is left of some groups is shown by the rows it has.
  get byRows() {
    return undefined;
  }

  keep(bars) {
    const { axis, column, unit } = this.answer.by;
    const labels = bars.map((bar) => bar.label);
    this.group({ only: [...this.only, { axis, column, unit, labels }], by: this.byRows });
  }

  // The source rows: they take longer than the bars.
  async more() {
    if (this.answer.by.column) return;
    const signal = this.details.start();
    try {
      const listed = await this.ask("listed", signal);
      if (!signal.aborted) this.fill(listed);
    } catch (error) {
      if (error.name !== "AbortError" && error.kind !== "unsaved" && error.kind !== "refused") throw error;
    }
  }

  fill(listed) {
    const answer = this.answer;
    const bars = answer.bars;
    const sizes = bars.map((bar) => Math.abs(bar.value ?? 0));
    const most = Math.max(...sizes, 0) || 1;
    const signed = bars.some((bar) => bar.value < 0);
    const shares = bars.some((bar) => bar.share !== null);
    const summed = answer.additive && shares && !signed && !answer.ordered;
    const columns = listed?.columns ?? [];
    let upto = 0;
    const rows = bars.map((bar, place) => {
      upto += bar.share ?? 0;
      const bare = bar.label ?? (answer.by.column ? "NULL" : "no row");
      return h(
        "tr",
        { class: `part${bar.decides ? " decides" : ""}${this.removed(bar) ? " struck" : ""}` },
        h("th", { scope: "row" }, this.actions(bar, bare), h("span", { class: bar.label === null ? "null" : "part-name" }, bare)),
        h("td", { class: "measure" }, this.bar(bar, most, signed)),
        shares && h("td", { class: "number" }, percent(bar.share)),
        summed && h("td", { class: "number soft" }, percent(upto)),
        answer.by.column && h("td", { class: "number soft" }, bar.count.toLocaleString("en")),
        h("td", { class: "number" }, bar.state === "there" ? (displayed(bar.without, this.type(), true) ?? "NULL") : h("span", { class: "bad" }, bar.state === "gone" ? "row gone" : "unknown")),
        columns.map((column, at) => {
          const text = listed.rows[place][at];
          return h("td", { class: column.kind, title: text }, displayed(text, column) ?? h("span", { class: "null" }, "NULL"));
        }),
      );
    });
    const rest = answer.rest;
    const head = [
      answer.by.column || answer.axes[answer.by.axis].name,
      answer.additive ? { SUM: "adds", COUNT: "counts" }[answer.function] : shares ? "alone" : "brings",
      shares && "share",
      summed && "up to here",
      answer.by.column && "inputs",
      "without it",
      ...columns.map((column) => column.name),
    ].filter(Boolean);
    replaceKeeping(
      this.table,
      h(
        "table",
        { class: "plain-table" },
        h("thead", null, h("tr", null, head.map((name, place) => h("th", { scope: "col", class: place > 0 && place < head.length - columns.length ? "number" : columns[place - head.length + columns.length]?.kind }, name)))),
        h("tbody", null, rows),
        rest &&
          h(
            "tfoot",
            null,
            h(
              "tr",
              null,
              h("th", { scope: "row" }, `${rest.count.toLocaleString("en")} others`),
              h("td", { class: "measure" }, rest.text !== undefined && h("span", { class: "bar-text" }, displayed(rest.text, this.type(), true))),
              shares && h("td", { class: "number" }, percent(rest.share)),
              summed && h("td", { class: "number soft" }, percent(1)),
              h("td", { class: "note", colspan: String(Math.max(1, head.length - 2 - Boolean(shares) - Boolean(summed))) }, answer.by.column && many(rest.inputs, "input")),
            ),
          ),
      ),
    );
  }

  bar(bar, most, signed, type = this.type()) {
    const size = bar.value === null ? 0 : (100 * Math.abs(bar.value)) / most;
    const none = bar.state === "unknown" ? "unknown" : bar.state === "gone" ? "" : "NULL";
    const text = displayed(bar.text, type, true) ?? none;
    return [
      h("span", { class: "bar-text" }, text),
      h("span", { class: `bar-track${signed ? " signed" : ""}` }, h("i", { class: bar.value < 0 ? "less" : "", style: { width: `${signed ? size / 2 : size}%` } })),
    ];
  }

  removed(bar) {
    const { relation } = this.answer.axes[this.answer.by.axis];
    return bar.key ? this.app.strike.has(relation, bar.key) : Boolean(bar.where) && this.app.strike.now.where?.[relation] === bar.where;
  }

  actions(bar, name) {
    const { relation } = this.answer.axes[this.answer.by.axis];
    const removable = relation && (bar.key || bar.where);
    const struck = removable && this.removed(bar);
    const label = struck ? `Put ${name} back` : `Remove ${name}: what if?`;
    return h(
      "span",
      { class: "part-actions" },
      removable &&
        button(icon("strike"), () => (bar.key ? this.app.strike.toggle(relation, bar.key) : this.app.strike.where(relation, struck ? "" : bar.where, false)), {
          class: "plain icon-button",
          "aria-label": label,
          title: label,
          "aria-pressed": String(Boolean(struck)),
          "data-keep": `remove ${name}`,
        }),
      bar.key &&
        relation &&
        button(icon("follow"), () => this.app.place.go({ token: [relation, ...bar.key] }), { class: "plain icon-button", "aria-label": `Follow ${name}: what every source makes of it`, title: `Follow ${name}: what every source makes of it` }),
      this.answer.by.column &&
        button(icon("filter"), () => this.keep([bar]), { class: "plain icon-button", "aria-label": `Only ${name}`, title: `Only ${name}` }),
    );
  }
}
