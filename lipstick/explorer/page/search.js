// Search in all sources: modules, nodes, keys and values, streams, lines; and a row followed anywhere.

import { h, replace, button, icon, many, displayed } from "./dom.js";
import { Latest } from "./state.js";
import { load, section } from "./loading.js";
import { plainTable } from "./table.js";

export class Search {
  constructor(app) {
    this.app = app;
    this.latest = new Latest();
    this.findings = h("div", { class: "findings", hidden: true, role: "region", "aria-label": "Findings", tabindex: "-1" });
    this.input = h("input", {
      type: "search",
      placeholder: "Search  /",
      "aria-label": "Search in all sources",
      oninput: () => this.find(),
      onkeydown: (event) => this.key(event),
    });
    this.element = h("div", { class: "search", onkeydown: (event) => this.walk(event) }, this.input, this.findings);
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget)) this.close();
    });
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  close() {
    clearTimeout(this.timer);
    this.latest.stop();
    this.findings.hidden = true;
  }

  key(event) {
    if (event.key === "Escape") {
      event.preventDefault();
      this.close();
      this.input.blur();
    }
    if (event.key === "Enter") this.findings.querySelector("button")?.click();
  }

  walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || this.findings.hidden) return;
    event.preventDefault();
    const all = [this.input, ...this.findings.querySelectorAll("button")];
    all[Math.max(0, all.indexOf(document.activeElement) + step)]?.focus();
  }

  find() {
    clearTimeout(this.timer);
    const text = this.input.value.trim();
    if (!text) {
      this.close();
      return;
    }
    this.timer = setTimeout(() => this.search(text, 3), 180);
  }

  // What is busy is asked again, a few times.
  async search(text, times) {
    const signal = this.latest.start();
    this.findings.hidden = false;
    if (!this.findings.childElementCount) replace(this.findings, h("p", { class: "note" }, "Searching"));
    try {
      const reply = await this.app.asker.askEverywhere("search", { text, first: Math.max(0, this.app.number) }, signal);
      replace(this.findings, this.answer(text, reply));
      if (times && reply.unanswered.some((each) => each.slow)) this.timer = setTimeout(() => this.search(text, times - 1), 1500);
    } catch (error) {
      if (error.name !== "AbortError") replace(this.findings, h("p", { class: "bad" }, error.message));
    }
  }

  answer(text, reply) {
    const found = reply.answers.filter((answer) => answer.found.length);
    const room = Math.max(4, Math.floor(40 / Math.max(1, found.length)));
    return [
      found.map((answer) => [
        h("h3", null, this.app.sources[answer.source].name, h("span", { class: "note" }, answer.total.toLocaleString("en"))),
        h(
          "ul",
          null,
          answer.found.slice(0, room).map((match) =>
            h(
              "li",
              null,
              button([h("span", { class: "note" }, match.sort), " ", match.name, match.note && h("span", { class: "note" }, ` ${match.note}`)], () => this.go(answer.source, match.place), { class: "more" }),
            ),
          ),
        ),
      ]),
      !found.length && h("p", { class: "note" }, reply.unanswered.length ? `Nothing that answered has “${text}” in it; of the others it is unknown.` : `Nothing has “${text}” in it.`),
      reply.answers
        .filter((answer) => answer.searched !== undefined)
        .map((answer) => h("p", { class: "note" }, `${this.app.sources[answer.source].name}: ${answer.searched.toLocaleString("en")} of ${answer.nodes.toLocaleString("en")} nodes were searched in time; name a group, such as Cars:C2, to search in it alone.`)),
      reply.unanswered.map((each) => h("p", { class: "bad" }, `${this.app.sources[each.source].name} gave no answer, so it is unknown: ${each.why}`)),
    ];
  }

  go(source, place) {
    this.close();
    if (source === this.app.number) this.app.place.go(place);
    else this.app.place.leave({ s: source, ...place });
  }
}

// An input row: its columns, and what every source makes of it.
export class RowCard {
  constructor(app) {
    this.app = app;
    this.latest = new Latest();
    this.body = h("div", { class: "lazy" });
    this.title = h("h2", null);
    this.element = h(
      "aside",
      { class: "row-card", hidden: true, "aria-label": "An input row", tabindex: "-1" },
      h("header", { class: "panel-head" }, this.title, button(icon("close"), () => app.place.go({ token: undefined }), { class: "plain icon-button", "aria-label": "Close" })),
      this.body,
    );
  }

  show() {
    const token = this.app.place.list("token");
    const key = JSON.stringify(token ?? null);
    if (key === this.key) return;
    this.key = key;
    this.element.hidden = !token;
    if (!token) return;
    const [relation, ...rest] = token.map(String);
    replace(this.title, `${relation} ${rest.join(" · ")}`);
    load(this.body, this.latest, (signal) => this.app.asker.askEverywhere("follow", { relation, key: rest, first: Math.max(0, this.app.number) }, signal), (reply) => this.answer(reply));
    this.element.focus();
  }

  answer({ answers, unanswered }) {
    const source = answers.find((answer) => answer.source_row)?.source_row;
    const unread = answers.find((answer) => answer.unread)?.unread;
    const empty = (answer) => !answer.unknown && !(answer.nodes?.length || answer.total);
    const shown = answers.filter((answer) => !empty(answer)).map((answer) => this.of(answer));
    const without = answers.filter((answer) => empty(answer) && !answer.nodes).map((answer) => this.app.sources[answer.source].name);
    return [
      source
        ? h("dl", { class: "values" }, source.map(([name, value]) => [h("dt", null, name), h("dd", null, value ?? h("span", { class: "null" }, "NULL"))]))
        : unread && h("p", { class: "note" }, unread),
      shown,
      !shown.length && h("p", { class: "note" }, "No open source has anything made of this row."),
      without.length > 0 && h("p", { class: "note" }, `No row of these answers rests on it: ${without.join(", ")}.`),
      unanswered.map((each) => h("p", { class: "bad" }, `${this.app.sources[each.source].name} gave no answer: ${each.why}`)),
    ];
  }

  of(answer) {
    const { name } = this.app.sources[answer.source];
    const go = (place) => this.app.place.leave({ s: answer.source, ...place });
    if (answer.unknown) return section(name, "", h("p", { class: "note" }, answer.unknown));
    if (answer.nodes) {
      return section(
        name,
        "",
        h(
          "ul",
          { class: "links" },
          answer.nodes.map((node) =>
            h("li", null, button(node.name, () => go({ focus: { node: node.id }, node: node.id, marks: { mode: "descendants", nodes: [node.id] } }), { class: "more" }), h("span", { class: "note" }, ` makes ${many(node.makes, "node")}`)),
          ),
        ),
        answer.partial && h("p", { class: "note" }, "Of many tokens the first are listed."),
      );
    }
    const rows = answer.rows.map((row, number) => [button(displayed(row[0], answer.columns[0]) ?? "NULL", () => go({ row: answer.places[number] }), { class: "more" }), ...row.slice(1)]);
    return section(
      name,
      `${many(answer.total, "row")} of the answer`,
      rows.length > 0 && plainTable(answer.columns, rows, { label: `Rows of ${name}` }),
      answer.total > rows.length && h("p", { class: "note" }, `and ${(answer.total - rows.length).toLocaleString("en")} more`),
    );
  }
}
