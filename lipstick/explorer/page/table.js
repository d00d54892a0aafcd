// Tables of any length: only the rows that are seen are there, and are asked for as one scrolls.

import { arrange, h, replace, button, delta, displayed, freshId, many, widest } from "./dom.js";

const ROW = 30;
const PAGE = 100;
const TALLEST = 8_000_000; // pixels that browsers can scroll

// Whether a click or a key adds to what is chosen.
function isAdding({ ctrlKey, metaKey, shiftKey }) {
  return ctrlKey || metaKey || shiftKey;
}

export class Table {
  // `fetchRows(params, signal)` resolves to a window of rows; `onopen(place, row)` opens one. The
  // `columns`, where they are known, are there also if there are no rows for a filter that fails.
  // `none(filters)` may have an element for when they leave no row; `oncell(place, column, added)`
  // opens a value, or adds it to those that are `picked(place, column)`.
  constructor({ fetchRows, onopen, oncell, label, query, columns, none, sortable = true, least = 92, linked = () => false, picked = null }) {
    this.known = columns;
    this.none = none;
    this.fetchRows = fetchRows;
    this.onopen = onopen;
    this.oncell = oncell;
    this.linked = linked;
    this.picked = picked;
    this.sortable = sortable;
    this.least = least;
    this.query = { sort: -1, descending: false, filters: {}, ...query };
    this.pages = new Map();
    this.total = 0;
    this.active = 0;
    this.column = 0; // the cell of the active row that the keys are at
    this.selected = null;
    this.generation = 0;
    this.controller = new AbortController();
    this.id = freshId("table");
    this.head = h("div", { class: "table-head" });
    this.space = h("div", { class: "table-space", role: "presentation" });
    this.body = h("div", { class: "table-rows", role: "rowgroup" });
    this.space.append(this.body);
    this.scroller = h(
      "div",
      {
        class: "table-scroll",
        role: "grid",
        tabindex: "0",
        "aria-label": label,
        "aria-busy": "true",
        "aria-multiselectable": picked && "true",
        onscroll: () => this.draw(),
        onkeydown: (event) => this.key(event),
      },
      h("div", { class: "table-top" }, this.head),
      this.space,
    );
    this.note = h("div", { class: "table-note", role: "status" });
    this.element = h("div", { class: "table" }, this.scroller, this.note);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.scroller);
  }

  stop() {
    this.controller.abort();
    this.observer.disconnect();
  }

  async load() {
    this.generation += 1;
    this.controller.abort();
    this.controller = new AbortController();
    this.pages.clear();
    this.failed = null;
    await this.page(0);
  }

  // Load what other parameters ask for: columns may be wider.
  again() {
    this.columns = null;
    this.load();
  }

  params(page) {
    const filters = Object.fromEntries(Object.entries(this.query.filters).filter(([, v]) => v));
    const params = { offset: page * PAGE, limit: PAGE };
    if (this.query.sort >= 0) params.sort = this.query.sort;
    if (this.query.descending) params.descending = true;
    if (Object.keys(filters).length) params.filters = filters;
    return params;
  }

  async page(number) {
    if (this.pages.has(number)) return;
    this.pages.set(number, null);
    const generation = this.generation;
    try {
      const page = await this.fetchRows(this.params(number), this.controller.signal);
      if (generation !== this.generation) return;
      this.pages.set(number, page);
      this.total = page.total;
      this.all = page.all ?? page.total;
      this.failed = null;
      const fresh = !this.columns || this.columns.length !== page.columns.length;
      if (fresh) this.shape(page);
      this.marks();
      if (fresh) this.move(this.column);
      else this.draw();
    } catch (error) {
      if (error.name === "AbortError" || generation !== this.generation) return;
      this.pages.delete(number);
      this.failed = error.message;
      this.total = 0;
      this.scroller.removeAttribute("aria-busy");
      if (!this.columns && this.known) this.shape({ columns: this.known, rows: [] });
      this.draw();
    }
  }

  shape(page) {
    this.columns = page.columns;
    const widths = page.columns.map((column, place) => {
      const texts = page.rows.slice(0, 60).map((row, at) => this.words(row[place], page.after?.[at], place).join(" ").slice(0, 64));
      return Math.max(this.least, widest(this.scroller, page.after ? "600 13.5px" : "13.5px", [`${column.name.slice(0, 24)} ↓`, ...texts]) + (page.after && !place ? 42 : 26));
    });
    this.template = widths.map((w) => `minmax(${Math.round(w)}px, ${Math.round(w)}fr)`).join(" ");
    this.width = widths.reduce((a, b) => a + b, 0);
    this.buttons = [];
    replace(
      this.head,
      page.columns.map((column, place) => {
        const name = h("span", { class: "column-name" }, column.name);
        const sort = this.sortable
          ? button(name, () => this.sort(place), { class: "column-sort", title: `${column.name}: ${column.type}` })
          : h("span", { class: "column-sort" }, name);
        this.buttons.push(sort);
        const filter =
          this.sortable &&
          h("input", {
            class: "column-filter",
            type: "search",
            placeholder: column.kind === "number" ? "> 100" : "filter",
            "aria-label": `Filter ${column.name}`,
            value: this.query.filters[place] ?? "",
            oninput: (event) => this.filter(place, event.target.value),
          });
        return h(
          "div",
          {
            class: `column ${column.kind}`,
            role: "columnheader",
            "aria-colindex": place + 1,
          },
          sort,
          filter,
        );
      }),
    );
    this.head.style.setProperty("grid-template-columns", this.template);
    this.head.parentElement.style.setProperty("min-width", `${this.width}px`);
    this.scroller.setAttribute("aria-colcount", String(page.columns.length));
    // Before there are columns, it is not a row.
    this.head.setAttribute("role", "row");
    this.head.parentElement.setAttribute("role", "rowgroup");
    this.scroller.removeAttribute("aria-busy");
  }

  marks() {
    if (!this.sortable) return;
    [...this.head.children].forEach((cell, place) => {
      const sorted = this.query.sort === place;
      const word = sorted ? (this.query.descending ? "descending" : "ascending") : "none";
      cell.setAttribute("aria-sort", word);
    });
  }

  sort(place) {
    const same = this.query.sort === place;
    if (same && this.query.descending) this.query.sort = -1;
    this.query.descending = same ? !this.query.descending : false;
    if (!same) this.query.sort = place;
    this.scroller.scrollTop = 0;
    this.onquery?.(this.query);
    this.load();
  }

  filter(place, text) {
    this.query.filters = { ...this.query.filters, [place]: text };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.scroller.scrollTop = 0;
      this.onquery?.(this.query);
      this.load();
    }, 220);
  }

  // Where many rows are higher than a browser can scroll, a pixel is several.
  get scale() {
    return Math.max(1, (this.total * ROW) / TALLEST);
  }

  draw() {
    if (!this.columns) {
      if (this.failed) replace(this.note, h("span", { class: "bad" }, this.failed));
      return;
    }
    const height = Math.min(this.total * ROW, TALLEST);
    this.element.style.setProperty("--rows", String(Math.max(2, this.total) + (this.sortable ? 1 : 0)));
    this.space.style.setProperty("height", `${Math.max(height, ROW)}px`);
    this.space.style.setProperty("min-width", `${this.width}px`);
    const seen = Math.ceil(this.scroller.clientHeight / ROW) + 2;
    const first = Math.max(0, Math.floor((this.scroller.scrollTop * this.scale) / ROW) - 1);
    const last = Math.min(this.total, first + seen + 2);
    const top = this.scale > 1 ? this.scroller.scrollTop : first * ROW;
    this.body.style.setProperty("transform", `translateY(${top}px)`);
    this.scroller.setAttribute("aria-rowcount", String(this.total + 1));
    const before = this.drawn ?? new Map();
    this.drawn = new Map();
    for (let number = first; number < last; number += 1) {
      const look = this.look(number);
      this.drawn.set(look, before.get(look) ?? this.row(number));
    }
    const rows = [...this.drawn.values()];
    arrange(this.body, rows);
    if (rows.length) this.scroller.setAttribute("aria-activedescendant", `${this.id}-${this.active}-${this.column}`);
    this.tell();
  }

  tell() {
    if (this.failed) {
      replace(this.note, h("span", { class: "bad" }, this.failed));
    } else if (this.total === 0) {
      const filtered = Object.values(this.query.filters).some((text) => text.trim());
      replace(this.note, this.all ? `No row of ${this.all.toLocaleString("en")} meets these conditions. ` : "There are no rows. ", filtered && this.none?.(this.query.filters));
    } else {
      const part = this.total === this.all ? "" : ` of ${this.all.toLocaleString("en")}`;
      replace(this.note, `${many(this.total, "row")}${part}`);
    }
  }

  entry(number) {
    const page = Math.floor(number / PAGE);
    const held = this.pages.get(page);
    if (held === undefined) this.page(page);
    if (!held) return null;
    const at = number - held.offset;
    return at < held.rows.length ? { cells: held.rows[at], place: held.places?.[at] ?? number, after: held.after?.[at] } : null;
  }

  // All that a row as it is drawn depends on.
  look(number) {
    const entry = this.entry(number);
    const linked = entry && this.columns.map((_, place) => [this.linked(place), this.picked?.(entry.place, place)]);
    return [number, this.generation, this.template, entry?.place === this.selected, number === this.active && this.column, linked].join(" ");
  }

  row(number) {
    const entry = this.entry(number);
    const chosen = entry && entry.place === this.selected;
    const cells = entry
      ? entry.cells.map((text, place) => this.cell(entry, text, place, number))
      : this.columns.map(() => h("div", { class: "cell", role: "gridcell" }, h("span", { class: "ghost" })));
    return h(
      "div",
      {
        class: `row${entry?.after ? ` is-${entry.after.place ? "cut" : entry.after.change}` : ""}${chosen ? " chosen" : ""}${number === this.active ? " active" : ""}`,
        role: "row",
        id: `${this.id}-${number}`,
        "aria-rowindex": number + 2,
        "aria-selected": chosen ? "true" : "false",
        style: { "grid-template-columns": this.template },
        onclick: () => this.open(number),
      },
      cells,
    );
  }

  // A value as it is shown; where it would be another, that one and the difference follow.
  words(text, after, place) {
    const { kind } = this.columns[place];
    const plain = (value) => displayed(value, this.columns[place], this.linked(place)) ?? "NULL";
    if (!(after?.change === "changed" || after?.place) || plain(after.cells[place]) === plain(text)) return [plain(text)];
    const words = [plain(text), plain(after.cells[place])];
    const change = kind === "number" ? delta(text, after.cells[place]) : "";
    return change ? [...words, change] : words;
  }

  value(entry, text, place) {
    const { after } = entry;
    const [before, now, change] = this.words(text, after, place);
    if (after?.change === "deleted" && !after.place) return h("del", null, before);
    if (after?.change === "added") return h("ins", null, before);
    if (now !== undefined) return [h("del", null, before), " ", h("ins", null, now), change && h("span", { class: "delta" }, change)];
    return text === null ? h("span", { class: "null" }, "NULL") : before;
  }

  cell(entry, text, place, number) {
    const kind = this.columns[place].kind;
    const value = this.value(entry, text, place);
    const gone = entry.after?.place ? [`↓ ${entry.after.place.toLocaleString("en")}.`, `would be row ${entry.after.place.toLocaleString("en")}, which LIMIT leaves out`] : ["−", "would be gone"];
    const mark = place === 0 && entry.after && { changed: ["≠", "would change"], deleted: gone, added: ["+", "would be new"] }[entry.after.change];
    const linked = this.opens(entry, place);
    const picked = this.picked?.(entry.place, place) && entry.after?.change !== "added";
    return h(
      "div",
      {
        class: `cell ${kind}${kind === "truth" && text === "false" ? " false" : ""}${linked ? " linked" : ""}${picked ? " picked" : ""}${number === this.active && place === this.column ? " at" : ""}`,
        role: "gridcell",
        id: `${this.id}-${number}-${place}`,
        "aria-colindex": place + 1,
        "aria-selected": picked ? "true" : null,
        title: text !== null && (text.length > 14 || kind === "time") ? text : null,
        onclick: linked
          ? (event) => {
              event.stopPropagation();
              this.openCell(number, place, isAdding(event));
            }
          : null,
      },
      mark && h("span", { class: `sign ${entry.after.change}`, title: mark[1], "aria-label": mark[1], role: "img" }, `${mark[0]} `),
      value,
    );
  }

  open(number) {
    this.active = number;
    const entry = this.entry(number);
    if (entry && this.onopen && entry.after?.change !== "added") {
      this.selected = entry.place;
      this.onopen(entry.place, entry.cells);
    }
    this.draw();
  }

  // Whether a cell has a value that is opened.
  opens(entry, place) {
    return this.oncell && this.linked(place) && entry.cells[place] !== null && entry.after?.change !== "added";
  }

  openCell(number, place, added) {
    this.active = number;
    this.column = place;
    this.oncell(this.entry(number).place, place, added);
    this.draw();
  }

  // Move to another cell, and have it in sight.
  move(column) {
    this.column = Math.max(0, Math.min(this.columns.length - 1, column));
    const cell = this.head.children[this.column];
    const { scrollLeft, clientWidth } = this.scroller;
    if (cell.offsetLeft < scrollLeft) this.scroller.scrollLeft = cell.offsetLeft;
    else if (cell.offsetLeft + cell.offsetWidth > scrollLeft + clientWidth) this.scroller.scrollLeft = cell.offsetLeft + cell.offsetWidth - clientWidth;
    this.draw();
  }

  key(event) {
    if (event.target !== this.scroller || !this.columns) return;
    const aside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (aside) {
      event.preventDefault();
      this.move(this.column + aside);
      return;
    }
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    let next = null;
    if (event.key in steps) next = this.active + steps[event.key];
    if (event.key === "Home") next = 0;
    if (event.key === "End") next = this.total - 1;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const entry = this.entry(this.active);
      if (entry && this.opens(entry, this.column)) this.openCell(this.active, this.column, isAdding(event));
      else this.open(this.active);
      return;
    }
    if (next === null) return;
    event.preventDefault();
    this.active = Math.max(0, Math.min(this.total - 1, next));
    const y = (this.active * ROW) / this.scale;
    const room = this.scroller.clientHeight - 3 * ROW;
    if (y < this.scroller.scrollTop) this.scroller.scrollTop = y;
    else if (y > this.scroller.scrollTop + room) this.scroller.scrollTop = y - room;
    this.draw();
  }
}

// A table that is small enough to be there as it is.
export function plainTable(columns, rows, { label, marked } = {}) {
  return h(
    "div",
    { class: "plain-scroll", tabindex: "0", role: "region", "aria-label": label },
    h(
      "table",
      { class: "plain-table" },
      h(
        "thead",
        null,
        h("tr", null, columns.map((column) => h("th", { scope: "col", class: column.kind }, column.name))),
      ),
      h(
        "tbody",
        null,
        rows.map((row, number) =>
          h(
            "tr",
            { class: marked?.(number) },
            row.map((text, place) =>
              h(
                "td",
                { class: columns[place].kind },
                text instanceof Node ? text : text === null ? h("span", { class: "null" }, "NULL") : displayed(text, columns[place]),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
