// The start page: all sources, with search, age and size.

import { h, replace, button, many } from "./dom.js";
import { ago } from "./live.js";

export const SORTS = { fault: "damaged", capture: "capture", graph: "store", script: "script", federation: "federation", stream: "streams", reduction: "events" };

const ORDERS = {
  given: null,
  name: (a, b) => a.name.localeCompare(b.name),
  newest: (a, b) => (b.changed ?? 0) - (a.changed ?? 0),
  largest: (a, b) => (b.bytes ?? 0) - (a.bytes ?? 0),
};

function inBytes(bytes) {
  if (bytes === undefined) return "";
  const unit = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** unit).toLocaleString("en", { maximumFractionDigits: unit ? 1 : 0 })} ${["B", "kB", "MB", "GB"][unit]}`;
}

export class StartPage {
  constructor(app) {
    this.app = app;
    this.list = h("div", { class: "start-list" });
    this.filter = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the sources", oninput: () => this.draw() });
    this.order = h("select", { "aria-label": "Order", onchange: () => this.draw() }, Object.keys(ORDERS).map((name) => h("option", { value: name }, name === "given" ? "as given" : `${name} first`)));
    this.count = h("span", { class: "note", role: "status" });
    this.element = h("div", { class: "start scrolled" }, h("div", { class: "controls" }, h("h2", null, "Sources"), this.count, h("span", { class: "spacer" }), this.filter, this.order), this.list);
    this.draw();
  }

  stop() {}

  show() {}

  draw() {
    const text = this.filter.value.trim().toLowerCase();
    const { sources } = this.app;
    const shown = sources.map((source, number) => ({ ...source, number })).filter((source) => `${source.name} ${source.group ?? ""} ${SORTS[source.kind]}`.toLowerCase().includes(text));
    const order = ORDERS[this.order.value];
    if (order) shown.sort(order);
    replace(this.count, shown.length === sources.length ? many(sources.length, "source") : `${shown.length} of ${many(sources.length, "source")}`);
    replace(
      this.list,
      shown.map((source) =>
        button(
          [
            h("strong", null, source.name),
            h("span", { class: `sort ${source.kind}` }, SORTS[source.kind], source.group && ` in ${source.group}`),
            h("span", { class: "note", title: source.changed ? new Date(source.changed).toLocaleString() : null }, source.changed ? `${ago((Date.now() - source.changed) / 1000)} · ` : "", inBytes(source.bytes)),
          ],
          () => this.app.place.leave({ s: source.number }),
          { class: "card" },
        ),
      ),
      !shown.length && h("p", { class: "note" }, "No source has this in its name."),
    );
  }
}
