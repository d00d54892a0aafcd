// The start page: all sources, with search, age and size, checks that are red, and numbers over captures.

import { delta, displayed, h, replace, button, many } from "./dom.js";
import { Live, ago } from "./live.js";
import { Latest } from "./state.js";
import { plainTable } from "./table.js";
import { replaceKeeping, section } from "./loading.js";
import { budgeted } from "./measures.js";

export const SORTS = { fault: "damaged", capture: "capture", graph: "store", script: "script", federation: "federation", stream: "streams", reduction: "events" };

const ORDERS = {
  given: null,
  name: (a, b) => a.name.localeCompare(b.name),
  newest: (a, b) => (b.changed ?? 0) - (a.changed ?? 0),
  largest: (a, b) => (b.bytes ?? 0) - (a.bytes ?? 0),
};

// Captures are looked at for so long, and while they have so many bytes in all; then by a click.
const LOOK = { milliseconds: 3000, bytes: 100_000_000 };

function inBytes(bytes) {
  if (bytes === undefined) return "";
  const unit = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** unit).toLocaleString("en", { maximumFractionDigits: unit ? 1 : 0 })} ${["B", "kB", "MB", "GB"][unit]}`;
}

// A query without its comments.
const oneLine = (query) => query.replace(/--[^\n]*/g, " ").replace(/\s+/g, " ").trim();

export class StartPage {
  constructor(app) {
    this.app = app;
    this.list = h("div", { class: "start-list" });
    this.histories = h("div");
    this.pairs = h("div", null, this.pairing());
    this.unseen = h("p", { class: "note", role: "status" });
    this.answers = new Map();
    this.latest = new Latest();
    this.filter = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the sources", oninput: () => this.draw() });
    this.order = h("select", { "aria-label": "Order", onchange: () => this.draw() }, Object.keys(ORDERS).map((name) => h("option", { value: name }, { given: "as given", name: "by name" }[name] ?? `${name} first`)));
    this.count = h("span", { class: "note", role: "status" });
    this.element = h("div", { class: "start scrolled" }, h("div", { class: "controls" }, h("h2", null, "Sources"), this.count, h("span", { class: "spacer" }), this.filter, this.order), this.unseen, this.list, this.histories, this.pairs);
    this.draw();
    this.waiting = app.sources.map((source, number) => ({ ...source, number })).filter(({ kind }) => kind === "capture").sort(ORDERS.newest);
    this.look(0);
    this.watching = new Live({ ask: (signal) => this.watch(signal), ontold: () => {}, over: () => !app.asker.exported, onlost: () => {} });
    this.watching.start({});
  }

  stop() {
    this.latest.stop();
    this.watching.stop();
    this.comparison?.stop();
  }

  // Captures are asked for their first rows, the newest first, as far as that is quick, and `least`
  // of them in any case; one that does not answer is listed all the same.
  async look(least) {
    const signal = this.latest.start();
    const until = performance.now() + LOOK.milliseconds;
    let [left, looked] = [LOOK.bytes, 0];
    for (const source of [...this.waiting]) {
      if (looked >= least && !this.app.asker.still && (performance.now() > until || (source.bytes ?? 0) > left)) continue;
      looked += 1;
      left -= source.bytes ?? 0;
      this.waiting.splice(this.waiting.indexOf(source), 1);
      try {
        this.answers.set(source.number, await this.app.asker.ask(source.number, "glance", {}, signal));
      } catch (error) {
        if (signal.aborted) return;
      }
    }
    this.draw();
    replace(this.histories, this.history());
    const { length } = this.waiting;
    const bytes = this.waiting.reduce((sum, source) => sum + (source.bytes ?? 0), 0);
    const goOn = () => button("Look at more", () => this.look(1), { class: "small", "data-keep": "look" });
    replaceKeeping(this.unseen, [length > 0 && [`${many(length, "capture")} of ${inBytes(bytes)} not looked at yet, for checks that are false and for numbers over captures. `, goOn()]]);
  }

  // The query of a capture that was looked at, its rows, and the relations that it reads.
  content(number) {
    const { query, total, relations = [] } = this.answers.get(number) ?? {};
    if (query === undefined) return null;
    return [h("code", { class: "card-query", title: query }, oneLine(query)), h("span", { class: "note" }, many(total, "row"), relations.length > 0 && ` from ${relations.join(", ")}`)];
  }

  // Captures that were saved to an open folder meanwhile.
  async watch(signal) {
    const { sources } = await this.app.asker.ask(0, "sources", {}, signal, true);
    const known = this.app.sources.length;
    if (sources.length > known) {
      this.app.sources = sources;
      this.app.show();
      this.waiting.push(...sources.map((source, number) => ({ ...source, number })).slice(known).filter(({ kind }) => kind === "capture"));
      this.draw();
      replace(this.pairs, this.pairing());
      await this.look(sources.length - known);
    }
    return { version: sources.length };
  }

  // The columns of a capture in which its first rows are false.
  red(number) {
    const { columns = [], rows = [] } = this.answers.get(number) ?? {};
    return columns.filter((column, place) => column.kind === "truth" && rows.some((row) => row[place] === "false")).map((column) => column.name);
  }

  // Of each query that was captured several times its numbers, from the first capture to the last.
  history() {
    const queries = new Map();
    const numbers = [...this.answers.keys()].sort((a, b) => (this.app.sources[a].changed ?? 0) - (this.app.sources[b].changed ?? 0));
    for (const number of numbers) {
      const { query } = this.answers.get(number);
      queries.set(query, [...(queries.get(query) ?? []), number]);
    }
    return [...queries].filter(([, captures]) => captures.length > 1).map(([query, captures]) => {
      const all = captures.map((number) => this.answers.get(number));
      const { columns, explained } = all.at(-1);
      const isMeasured = (place) => columns[place].kind === "truth" || (columns[place].kind === "number" && explained.includes(place));
      const measured = [...columns.keys()].filter(isMeasured);
      const keys = [...columns.keys()].filter((place) => !isMeasured(place));
      const keyOf = (row) => JSON.stringify(keys.map((place) => row[place]));
      const named = new Map(all.flatMap(({ rows }) => rows.map((row) => [keyOf(row), row])));
      const found = all.map(({ rows }) => new Map(rows.map((row) => [keyOf(row), row])));
      // Several rows with the same texts are not told apart.
      if (found.some((byKey, at) => byKey.size < all[at].rows.length)) return false;
      const reason = h("div", { role: "status" });
      const cell = (key, place, at) => {
        const [before, now] = [found[at - 1]?.get(key), found[at].get(key)];
        const { rows, total } = all[at];
        if (!now) return h("span", { class: "note" }, rows.length < total ? `not among the first ${rows.length}` : "no row");
        const change = before && delta(before[place], now[place]);
        const asked = { before: captures[at - 1], row: rows.indexOf(now), column: columns[place].name };
        return h("span", null, displayed(now[place], columns[place], true) ?? "NULL", change && [" ", this.leading(change, reason, captures[at], asked)]);
      };
      // Rows whose numbers differ come first.
      const differs = (key) => found.some((byKey, at) => at > 0 && measured.some((place) => byKey.get(key)?.[place] !== found[at - 1].get(key)?.[place]));
      const [different, same] = [[...named].filter(([key]) => differs(key)), [...named].filter(([key]) => !differs(key))];
      const rows = [...different, ...same].slice(0, 12).flatMap(([key, row]) => measured.map((place) => [...keys.map((at) => row[at]), columns[place].name, ...captures.map((_, at) => cell(key, place, at))]));
      const head = [...keys.map((place) => columns[place]), { name: "number", kind: "text" }, ...captures.map((number) => ({ name: this.app.sources[number].name, kind: "number" }))];
      return rows.length > 0 && section("Over captures", many(captures.length, "capture"), h("p", { class: "note" }, h("code", { title: query }, oneLine(query))), plainTable(head, rows, { label: `Numbers over ${captures.map((number) => this.app.sources[number].name).join(", ")}` }), named.size > 12 && h("p", { class: "note" }, `12 of ${many(named.size, "row")}; ${different.length ? `${different.length.toLocaleString("en")} of them ${different.length === 1 ? "differs" : "differ"}` : "none of them differs"}.`), all.some(({ rows: first, total }) => total > first.length) && this.compares(captures.slice(-2)) && button("All rows that differ", () => this.differing(reason, ...captures.slice(-2)), { class: "plain small" }), reason);
    });
  }

  // Whether a difference of two captures can be asked for: a saved page has some.
  compares([before, after], number = {}) {
    return this.app.asker.holds(after, "difference", { before, ...number });
  }

  // The difference of a number, which leads to what makes it.
  leading(text, element, after, { before, ...number }) {
    if (!this.compares([before, after], number)) return h("span", { class: "delta" }, text);
    return button(text, () => this.explain(element, after, { before, ...number }), { class: "plain small delta", title: "The rows that make this difference" });
  }

  // Ask for a difference, of which the last one that was asked for is waited for.
  compare(element, after, asked, render) {
    this.comparison?.stop();
    this.comparison = budgeted((seconds, signal) => this.app.asker.ask(after, "difference", { ...asked, seconds }, signal), render, { usual: 20 });
    replace(element, this.comparison.place, !this.app.asker.still && this.comparison.controls);
    this.comparison.run();
    element.scrollIntoView({ block: "nearest" });
  }

  // Which input rows, and how much of the text, make a number another than in the capture before.
  explain(element, after, asked) {
    this.compare(element, after, asked, ({ sentence, parts, inputs, not_held: missing }) => {
      const lines = inputs.map(({ text, part }) => h("li", null, text, h("span", { class: "delta" }, ` ${part}`)));
      return [h("p", { class: "sentence" }, sentence), h("ul", { class: "note" }, parts.map((part) => h("li", null, part))), h("ul", null, lines), missing.length > 0 && h("p", { class: "note" }, `Not held by both captures: ${missing.join(", ")}.`)];
    });
  }

  // All rows that differ between two captures, each number with a way to what makes its difference.
  differing(element, before, after) {
    const reason = h("div", { role: "status" });
    const found = h("div");
    replace(element, found, reason);
    this.compare(found, after, { before }, ({ sentence, columns, values, rows, total, inputs }) => {
      const why = (row, column, text) => this.leading(text, reason, after, { before, row, column });
      const value = (row, { before: old, after: now, difference }, column) => {
        const [was, is] = [old, now].map((text) => displayed(text, column, true) ?? "NULL");
        return h("span", null, row.change === "added" ? "" : was, row.change === "changed" && was !== is && " → ", row.change !== "removed" && was !== is && is, difference && row.row !== null && [" ", why(row.row, column.name, difference)]);
      };
      const head = [{ name: "row", kind: "text" }, ...columns, ...values];
      const lines = rows.map((row) => [row.change, ...row.key, ...row.values.map((each, at) => value(row, each, values[at]))]);
      return [
        h("p", { class: "sentence" }, sentence),
        rows.length > 0 && plainTable(head, lines, { label: "Rows that differ" }),
        total > rows.length && h("p", { class: "note" }, `The first ${rows.length} of ${many(total, "row")}.`),
        h("ul", { class: "note" }, inputs.map((text) => h("li", null, text))),
      ];
    });
  }

  // Any two captures, of edited texts too.
  pairing() {
    const captures = this.app.sources.map((source, number) => ({ ...source, number })).filter(({ kind }) => kind === "capture");
    if (captures.length < 2) return null;
    const place = h("div", { class: "panel-section" });
    if (this.app.asker.still) {
      const pairs = captures.flatMap((after) => captures.map((before) => [before, after])).filter((pair) => this.compares(pair.map(({ number }) => number)));
      const offered = pairs.map((pair) => button(`What differs from ${pair[0].name} to ${pair[1].name}`, () => this.differing(place, ...pair.map(({ number }) => number)), { class: "plain small" }));
      return [h("div", { class: "controls" }, offered), place];
    }
    const choice = (label, chosen) => h("select", { "aria-label": label }, captures.map(({ name, number }) => h("option", { value: String(number), selected: number === chosen.number }, name)));
    const [before, after] = [choice("Capture before", captures.at(-2)), choice("Capture after", captures.at(-1))];
    const ask = (event) => {
      event.preventDefault();
      this.differing(place, Number(before.value), Number(after.value));
    };
    return [h("form", { class: "controls", onsubmit: ask }, h("label", null, "What differs from ", before), h("label", null, " to ", after), h("button", { type: "submit", class: "plain small" }, "Compare")), place];
  }

  show() {}

  draw() {
    const text = this.filter.value.trim().toLowerCase();
    const { sources } = this.app;
    const shown = sources.map((source, number) => ({ ...source, number })).filter((source) => `${source.name} ${source.group ?? ""} ${SORTS[source.kind]}`.toLowerCase().includes(text));
    const order = ORDERS[this.order.value];
    if (order) shown.sort(order);
    replace(this.count, shown.length === sources.length ? many(sources.length, "source") : `${shown.length} of ${many(sources.length, "source")}`);
    replaceKeeping(
      this.list,
      [shown.map((source) =>
        button(
          [
            h("strong", null, source.name),
            h("span", { class: `sort ${source.kind}` }, SORTS[source.kind], source.group && ` in ${source.group}`),
            this.red(source.number).map((name) => h("span", { class: "bad" }, `${name} is false`)),
            this.content(source.number),
            h("span", { class: "note", title: source.changed ? new Date(source.changed).toLocaleString() : null }, source.changed ? `${ago((Date.now() - source.changed) / 1000)} · ` : "", inBytes(source.bytes)),
          ],
          () => this.app.place.leave({ s: source.number }),
          { class: "card", "data-keep": `source ${source.number}` },
        ),
      ), !shown.length && h("p", { class: "note" }, "No source has this in its name.")],
    );
  }
}
