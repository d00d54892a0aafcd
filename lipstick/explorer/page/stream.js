// Recorded streams: operators with their rates, the events of a stream, the path of an event.

import { choose, dated, h, replace, button, icon, many, rounded } from "./dom.js";
import { moments } from "./charts.js";
import { Picture } from "./picture.js";
import { Badge, Live, ago } from "./live.js";
import { load, section } from "./loading.js";
import { Table, plainTable } from "./table.js";
import { pictureButtons, pythonButton, tableButtons } from "./exporting.js";
import { PictureView } from "./view.js";

const WAYS = [
  [undefined, "Made of"],
  [true, "Is in"],
];

export class StreamView extends PictureView {
  constructor(app, source) {
    super(app, source, "graph streams");
    this.live = new Live({
      ask: (signal) => app.asker.ask(source, "about", this.query(), signal, true),
      ontold: (about) => this.told(about),
      over: (about) => about.ended || app.asker.still,
      onlost: () => this.badge.tell("lost", "not connected", "trying again"),
    });
    this.queries = h("select", { "aria-label": "Query", onchange: () => app.place.go({ query: this.queries.value, stream: undefined, event: undefined }) });
    this.choice = h("div", { class: "bar-line", hidden: true }, h("label", { class: "note" }, "query ", this.queries));
    this.body = h("div", { class: "pane" });
    replace(this.element, this.choice, this.body);
    this.begin("about", this.body);
  }

  query() {
    const query = this.app.place.text("query");
    return query === undefined ? {} : { query };
  }

  ask(view, params, signal) {
    return super.ask(view, { ...this.query(), ...params }, signal);
  }

  stop() {
    super.stop();
    this.live.stop();
    this.picture?.stop();
    this.table?.stop();
  }

  draw(about) {
    this.about = about;
    this.shownQuery = this.app.place.text("query");
    this.picture = new Picture({
      label: "Operators and events",
      onopen: (focus) => this.open(focus),
      onpick: (box) => this.open(box.focus),
      onup: () => this.up(),
    });
    this.crumbs = h("ol", { class: "crumbs" });
    this.shown = h("span", { class: "shown" });
    this.badge = new Badge();
    this.panel = h("aside", { class: "panel", "aria-label": "What is chosen", tabindex: "-1" });
    this.state = h("div", { class: "picture-state", role: "status" });
    this.line = h("div", { class: "time-line" });
    choose(this.queries, about.queries.map((name) => h("option", { value: name }, name)), about.query);
    this.choice.hidden = about.queries.length < 2;
    queueMicrotask(() => {
      this.told(about);
      this.live.start(about);
    });
    return [
      h(
        "div",
        { class: "bar-line" },
        h("nav", { "aria-label": "Where in the streams" }, this.crumbs),
        this.shown,
        h("span", { class: "spacer" }),
        this.badge.element,
        pictureButtons(() => this.picture.svg, "streams", () => this.picture.bounds()),
      ),
      h("div", { class: "answer" }, h("div", { class: "graph-main" }, h("div", { class: "stage" }, this.picture.element, this.state), this.line), this.panel),
    ];
  }

  // The newest answer about the query: what has changed is drawn again.
  told(about) {
    const fresh = about.version !== this.about.version;
    this.about = about;
    const batch = `batch ${about.batches.toLocaleString("en")}`;
    if (about.ended) this.badge.tell("over", "ended", many(about.batches, "batch", "batches"));
    else this.badge.tell(about.seconds < 30 ? "on" : "idle", about.seconds < 30 ? "live" : "waiting", `${batch} · ${ago(about.seconds)}`);
    if (fresh) this.panelKey = undefined;
    this.show();
  }

  open(focus) {
    const { stream, n, key } = focus;
    if (n !== undefined) this.app.place.go({ stream, event: { n, key: key ?? undefined } });
    else this.app.place.go({ stream, event: undefined });
  }

  up() {
    const place = this.app.place;
    place.go(place.mapping("event") ? { event: undefined } : { stream: undefined });
  }

  // What the address says is looked at: a stream, and an event of it.
  chosen() {
    const place = this.app.place;
    const stream = place.text("stream");
    const event = stream === undefined ? undefined : place.mapping("event");
    return { stream, event: Number.isSafeInteger(event?.n) ? event : undefined };
  }

  question({ stream, event }) {
    const params = { stream, n: event.n };
    if (typeof event.key === "string") params.key = event.key;
    if (this.app.place.get("forwards") === true) params.forwards = true;
    return params;
  }

  show() {
    if (!this.about || !this.picture) return;
    if (this.app.place.text("query") !== this.shownQuery) {
      this.again();
      return;
    }
    const chosen = this.chosen();
    const version = this.about.version;
    const params = chosen.event ? { ...this.question(chosen), version } : { version };
    const key = JSON.stringify([chosen.event ? "path" : "picture", params]);
    if (key !== this.key) {
      const place = JSON.stringify([chosen.event ? params : null]).replace(`"version":${version}`, "");
      const keep = place === this.place;
      this.place = place;
      this.key = key;
      this.load(chosen, params, keep);
    } else if (this.answer) {
      this.here(chosen);
    }
    this.showPanel(chosen, params);
    this.batches();
  }

  // Another query of the store: everything is another.
  again() {
    this.live.stop();
    this.live.controller = new AbortController();
    this.shownQuery = this.app.place.text("query");
    this.key = this.panelKey = this.lineKey = undefined;
    this.picture.stop();
    this.begin("about", this.body);
  }

  load(chosen, params, keep) {
    let note = null;
    const ask = async (signal) => {
      if (!chosen.event) return this.ask("picture", params, signal);
      const path = await this.ask("path", params, signal);
      note = path.picture ? null : `${many(path.total, "event")}: too many to draw one by one`;
      return path.picture ? withTimes(path.picture) : this.ask("picture", params, signal);
    };
    return this.drawAnswer(ask, {
      keep,
      waiting: "Looking up the events",
      back: button("Back to all streams", () => this.app.place.go({ stream: undefined, event: undefined })),
      drawn: () => {
        this.note = note;
        // One may have gone on meanwhile, to where the same picture is.
        this.here(this.chosen());
      },
    });
  }

  // Where one is: in words above the picture, and in it.
  here({ stream, event }) {
    this.answer.boxes.forEach((box, number) => {
      if (!event && !box.whole) this.picture.boxes[number].classList.toggle("center", box.focus?.stream === stream);
    });
    const place = this.app.place;
    const crumbs = [["all streams", () => place.go({ stream: undefined, event: undefined })]];
    if (stream !== undefined) crumbs.push([stream, () => place.go({ event: undefined })]);
    if (event) crumbs.push([named(event), null]);
    replace(
      this.crumbs,
      crumbs.map(([label, go], number) =>
        h("li", null, number === crumbs.length - 1 ? h("span", { "aria-current": "page" }, label) : button(label, go, { class: "more" })),
      ),
    );
    replace(this.shown, this.note ?? this.amount());
  }

  // -- the panel ----------------------------------------------------------------------------------

  showPanel(chosen, params) {
    const key = JSON.stringify([chosen, params.forwards]);
    if (key === this.panelKey) return;
    const same = key === this.panelOf;
    this.panelKey = this.panelOf = key;
    if (chosen.event) {
      this.table?.stop();
      load(this.panel, this.asking, (signal) => this.ask("path", params, signal), (path) => this.event(chosen, path));
    } else if (chosen.stream !== undefined) {
      this.asking.stop();
      if (same && this.table) {
        this.table.load();
        replace(this.numbers, this.factsOf(chosen.stream));
      } else {
        this.table?.stop();
        replace(this.panel, this.stream(chosen.stream));
      }
    } else {
      this.table?.stop();
      this.asking.stop();
      replace(this.panel, this.whole());
    }
  }

  whole() {
    const about = this.about;
    const place = this.app.place;
    const columns = [
      { name: "stream", kind: "text" },
      { name: "events", kind: "number" },
      { name: "a second", kind: "number" },
      { name: "ticks behind", kind: "number" },
    ];
    const rows = about.streams.map((stream) => [
      button(stream.name, () => place.go({ stream: stream.name }), { class: "more" }),
      stream.events.toLocaleString("en"),
      stream.rate === null ? "" : speed(stream.rate),
      stream.behind === null ? "" : stream.behind.toLocaleString("en"),
    ]);
    return [
      h("header", { class: "panel-head" }, h("h2", null, about.query)),
      section("Streams", "", plainTable(columns, rows, { label: "Streams" })),
      h("p", { class: "note" }, "A second: mean of the last batches, by the times of their commits. Ticks behind: from the latest event to the latest of the sources."),
      this.notes(about.notes),
      h("p", { class: "keys" }, h("kbd", null, "Enter"), " opens  ", h("kbd", null, "⌫"), " back  ", h("kbd", null, "arrows"), " move  ", h("kbd", null, "+ −"), " zoom"),
      pythonButton(about.python),
    ];
  }

  notes(notes) {
    return notes.length > 0 && section("Not all that was sent", "", notes.map((note) => h("p", { class: "note" }, note)));
  }

  factsOf(name) {
    const described = this.about.streams.find((stream) => stream.name === name);
    if (!described) return [];
    const facts = [
      ...Object.entries(described.facts).filter(([, value]) => value !== null),
      ["events", described.events.toLocaleString("en")],
      described.rate !== null && ["a second", speed(described.rate)],
      described.behind !== null && ["behind its sources", many(described.behind, "tick")],
    ].filter(Boolean);
    return facts.map(([title, value]) => [h("dt", null, title), h("dd", null, value)]);
  }

  stream(name) {
    const place = this.app.place;
    const described = this.about.streams.find((stream) => stream.name === name);
    const open = (_place, cells) => place.go({ event: described?.keyed ? { n: Number(cells[1]), key: cells[0] } : { n: Number(cells[0]) } });
    this.table = new Table({
      label: `Events of ${name}, the newest first`,
      sortable: false,
      least: 56,
      fetchRows: async (params, signal) => withDates(await this.ask("events", { stream: name, offset: params.offset, limit: params.limit, version: this.about.version }, signal)),
      onopen: open,
    });
    this.table.load();
    this.table.element.classList.add("tall");
    const number = h("input", { type: "text", inputmode: "numeric", size: 7, "aria-label": "Number of an event", placeholder: "number" });
    const key = described?.keyed && h("input", { type: "text", size: 10, "aria-label": "Key of an event", placeholder: "key" });
    const go = (event) => {
      event.preventDefault();
      const n = Number(number.value.trim());
      if (Number.isSafeInteger(n) && n > 0) place.go({ event: key ? { n, key: key.value } : { n } });
      else number.focus();
    };
    this.numbers = h("dl", { class: "facts" }, this.factsOf(name));
    return [
      h("header", { class: "panel-head" }, h("h2", { class: "node-name" }, name), button(icon("close"), () => place.go({ stream: undefined }), { class: "plain icon-button", "aria-label": "Close" })),
      this.numbers,
      h("form", { class: "controls", onsubmit: go }, key, number, h("button", { type: "submit", class: "plain" }, "Trace")),
      this.table.element,
      tableButtons(this.app.asker, () => ({ source: this.source, view: "events", params: { ...this.query(), stream: name, limit: 200 } }), "events"),
      pythonButton(this.about.python),
    ];
  }

  event({ stream, event }, path) {
    const place = this.app.place;
    const forwards = place.get("forwards") === true;
    const { columns, rows } = path.itself;
    const counts = Object.entries(path.counts);
    return [
      h(
        "header",
        { class: "panel-head" },
        h("h2", { class: "node-name" }, `${stream} ${named(event)}`),
        button(icon("close"), () => place.go({ event: undefined }), { class: "plain icon-button", "aria-label": "Close" }),
        h("dl", { class: "values" }, columns.map((column, at) => [h("dt", null, FIELDS[column.name] ?? column.name), h("dd", { title: rows[0][at] }, (column.name === "t" ? dated(rows[0][at]) : rows[0][at]) ?? h("span", { class: "null" }, "NULL"))])),
      ),
      h(
        "div",
        { class: "actions" },
        WAYS.map(([way, label]) => button(label, () => place.go({ forwards: way }), { class: `plain toggle${forwards === Boolean(way) ? " on" : ""}`, "aria-pressed": String(forwards === Boolean(way)), "data-keep": label })),
      ),
      counts.length > 0
        ? h("p", { class: "summary" }, counts.map(([sid, count]) => h("span", null, h("strong", null, count.toLocaleString("en")), ` of ${sid}`)))
        : h("p", { class: "note" }, forwards ? "Nothing was made of it." : "It came in as it is: nothing is before it."),
      this.moments(path),
      path.ends.map((end) => this.end(end)),
      this.notes(path.notes),
      pythonButton(path.python),
    ];
  }

  // The events that one was made of, or that were made of it, by their times.
  moments({ itself, ends }) {
    const timeOf = ({ columns, rows }) => rows.map((row) => Number(row[columns.findIndex((column) => column.name === "t")]));
    const times = ends.flatMap(timeOf).filter(Number.isFinite);
    const [until] = timeOf(itself);
    if (times.length < 2 || !Number.isFinite(until)) return null;
    const ticks = Math.max(...times, until) - Math.min(...times, until);
    return section("In time", many(ticks, "tick"), moments(times, until, { label: `${many(times.length, "event")} within ${many(ticks, "tick")}` }));
  }

  end(end) {
    const place = this.app.place;
    const number = end.keyed ? 1 : 0;
    const rows = withDates(end, 11).rows.map((row) => row.map((text, at) => (at === number ? button(text, () => place.go({ stream: end.stream, event: end.keyed ? { n: Number(text), key: row[0] } : { n: Number(text) } }), { class: "more" }) : text)));
    return section(
      end.stream,
      many(end.count, "event"),
      plainTable(end.columns, rows, { label: `Events of ${end.stream}` }),
      end.count > end.rows.length && h("p", { class: "note" }, `The first ${end.rows.length} of ${end.count.toLocaleString("en")}.`),
    );
  }

  // -- batches ------------------------------------------------------------------------------------

  batches() {
    const { history, streams } = this.about;
    this.line.hidden = history.length < 2;
    const { stream } = this.chosen();
    const key = JSON.stringify([stream, this.about.version]);
    if (this.line.hidden || key === this.lineKey) return;
    this.lineKey = key;
    const sources = stream !== undefined ? [stream] : streams.filter((box) => box.facts.operator === "source").map((box) => box.name);
    const sizes = history.map((batch) => sources.reduce((total, name) => total + (batch.rows[name] ?? 0), 0));
    const most = Math.max(...sizes, 1);
    const words = `events of ${sources.join(", ")} by batch`;
    replace(
      this.line,
      h("span", { class: "note" }, words),
      h(
        "div",
        { class: "ticks", role: "img", "aria-label": `${words}: ${sizes.slice(-10).join(", ")} in the last ${Math.min(10, sizes.length)}` },
        history.map((batch, at) => h("span", { class: "tick on", title: `batch ${batch.batch}: ${many(sizes[at], "event")}`, style: { "--high": String(Math.max(0.03, sizes[at] / most)) } })),
      ),
      h("span", { class: "note" }, `up to ${most.toLocaleString("en")} a batch`),
    );
  }
}

// A page of events whose times are dates, or the time of day alone.
function withDates(page, from = 0) {
  const at = page.columns.findIndex((column) => column.name === "t");
  return { ...page, rows: page.rows.map((row) => row.map((text, place) => (place === at && dated(text) !== text ? dated(text).slice(from) : text))) };
}

// A picture of events with the time of day in place of ticks.
function withTimes(picture) {
  const time = (line) => line.replace(/^t (\d+)$/, (_, ticks) => (dated(ticks) === ticks ? `t ${ticks}` : dated(ticks).slice(11)));
  return { ...picture, boxes: picture.boxes.map((box) => ({ ...box, lines: box.lines.map(time) })) };
}

// What n, t and d are, to who reads the values of one event.
const FIELDS = { n: "number", t: "time", d: "delay" };

function speed(rate) {
  return rounded(rate >= 10 ? Math.round(rate) : rate);
}

function named({ n, key }) {
  return typeof key === "string" ? `${key} #${n.toLocaleString("en")}` : `#${n.toLocaleString("en")}`;
}
