// A reduced graph of events: how far the reduction is, and what came from what.

import { h, replace, button, many } from "./dom.js";
import { Latest } from "./state.js";
import { lines } from "./charts.js";
import { Badge, Live, ago } from "./live.js";
import { load, section } from "./loading.js";
import { GraphView } from "./graph.js";
import { pictureButtons, pythonButton } from "./exporting.js";
import { View } from "./view.js";

const PANES = [
  ["reduction", "Reduction"],
  ["graph", "Graph"],
];

export class ReductionView extends View {
  constructor(app, source) {
    super(app, source, "graph reduction");
    this.finding = new Latest();
    this.live = new Live({
      ask: (signal) => app.asker.ask(source, "progress", {}, signal, true),
      ontold: (progress) => this.told(progress),
      over: (progress) => app.asker.still || (progress.topics.length > 0 && progress.topics.every((topic) => topic.complete)),
      onlost: () => this.badge.tell("lost", "not connected", "trying again"),
    });
    this.begin("progress");
  }

  stop() {
    super.stop();
    this.finding.stop();
    this.live.stop();
    this.graph?.stop();
  }

  draw(progress) {
    this.reached = progress;
    const place = this.app.place;
    this.badge = new Badge();
    this.topics = h("div", { class: "topics" });
    this.result = h("div", { class: "lazy" });
    this.outputs = h("ul", { class: "links tall" });
    this.total = h("span", { class: "note" });
    this.entity = h("input", { type: "search", class: "where", placeholder: "an output or input", "aria-label": "Entity", value: place.text("entity", ""), oninput: () => this.find() });
    this.tabs = PANES.map(([name, label]) =>
      h("button", { type: "button", class: "tab", role: "tab", id: `lx-pane-tab-${name}`, "aria-controls": `lx-pane-${name}`, onclick: () => place.go({ pane: name === "reduction" ? undefined : name }) }, label),
    );
    const go = (event) => {
      event.preventDefault();
      if (this.entity.value.trim()) place.go({ entity: this.entity.value.trim() });
    };
    this.panes = {
      reduction: h(
        "div",
        { class: "answer", role: "tabpanel", id: "lx-pane-reduction", "aria-labelledby": "lx-pane-tab-reduction" },
        h("div", { class: "graph-main scrolled" }, this.topics),
        h(
          "aside",
          { class: "panel", "aria-label": "Who came from whom", tabindex: "-1" },
          h("header", { class: "panel-head" }, h("h2", null, "Who came from whom")),
          h("form", { class: "controls", onsubmit: go }, this.entity, h("button", { type: "submit", class: "plain" }, "Trace")),
          this.result,
          h("section", { class: "panel-section" }, h("h3", null, "Outputs", this.total), this.outputs),
        ),
      ),
      graph: h("div", { class: "pane", role: "tabpanel", id: "lx-pane-graph", "aria-labelledby": "lx-pane-tab-graph" }),
    };
    queueMicrotask(() => {
      this.told(progress);
      this.live.start(progress);
      this.find();
    });
    const strip = h("div", { class: "tabs", role: "tablist", "aria-label": "Views", onkeydown: (event) => this.keys(event) }, this.tabs);
    return [h("div", { class: "bar-line" }, strip, h("span", { class: "spacer" }), this.badge.element), Object.values(this.panes)];
  }

  keys(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = this.tabs[(this.tabs.indexOf(document.activeElement) + step + this.tabs.length) % this.tabs.length];
    next.focus();
    next.click();
  }

  told(progress) {
    const fresh = progress.version !== this.reached.version;
    this.reached = progress;
    const going = progress.topics.filter((topic) => !topic.complete);
    const seconds = Math.max(0, Date.now() / 1000 - Date.parse(progress.committed) / 1000);
    if (progress.topics.length && !going.length) this.badge.tell("over", "complete", many(progress.topics.length, "topic"));
    else this.badge.tell(seconds < 30 ? "on" : "idle", seconds < 30 ? "live" : "waiting", progress.committed ? ago(seconds) : "");
    if (fresh || !this.topics.childElementCount) {
      replace(this.topics, progress.topics.map((topic) => this.topic(topic)), !progress.topics.length && h("div", { class: "invitation" }, h("strong", null, "Nothing was reduced yet"), h("p", null, "As soon as there is a commit, it is shown here.")));
      if (fresh) this.find();
    }
    this.show();
  }

  show() {
    if (!this.panes) return;
    const place = this.app.place;
    const pane = place.get("pane") === "graph" ? "graph" : "reduction";
    for (const [name, element] of Object.entries(this.panes)) element.hidden = name !== pane;
    this.tabs.forEach((tab, number) => {
      const on = PANES[number][0] === pane;
      tab.classList.toggle("on", on);
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    });
    if (pane === "graph") {
      if (!this.graph) {
        this.graph = new GraphView(this.app, this.source);
        replace(this.panes.graph, this.graph.element);
      } else this.graph.show();
      return;
    }
    const entity = place.text("entity");
    const forwards = place.get("forwards") === true;
    const key = JSON.stringify([entity, forwards, this.reached.version]);
    if (key === this.key) return;
    this.key = key;
    if (entity === undefined) {
      this.asking.stop();
      replace(this.result, h("p", { class: "note" }, "Pick an output: the inputs that it came from are listed, without what was between."), pythonButton(this.reached.python));
      return;
    }
    const params = { entity, version: this.reached.version };
    if (forwards) params.forwards = true;
    load(this.result, this.asking, (signal) => this.ask("trace", params, signal), (trace) => this.traced(entity, forwards, trace));
  }

  traced(entity, forwards, trace) {
    const place = this.app.place;
    const names = trace.names.map((name) => h("li", null, button(name, () => place.go({ entity: name, forwards: forwards ? undefined : true }), { class: "more" })));
    const mode = forwards ? "descendants" : "ancestors";
    const inGraph = () => place.go({ pane: "graph", focus: { node: trace.node }, node: trace.node, marks: { mode, nodes: [trace.node] } });
    return section(
      entity,
      `${many(trace.total, forwards ? "output" : "input")}`,
      h(
        "div",
        { class: "actions" },
        button("Came from", () => place.go({ forwards: undefined }), { class: `plain toggle${forwards ? "" : " on"}`, "aria-pressed": String(!forwards), "data-keep": "from" }),
        button("Came of it", () => place.go({ forwards: true }), { class: `plain toggle${forwards ? " on" : ""}`, "aria-pressed": String(forwards), "data-keep": "of" }),
        button("In the graph", inGraph),
      ),
      trace.total ? h("ul", { class: "links" }, names) : h("p", { class: "note" }, forwards ? "Nothing came of it: it is an output." : "It came from nothing: it is an input."),
      trace.total > trace.names.length && h("p", { class: "note" }, `The first ${trace.names.length} of ${trace.total.toLocaleString("en")}.`),
      pythonButton(trace.python),
    );
  }

  find() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const text = this.entity.value.trim();
      const signal = this.finding.start();
      try {
        const outputs = await this.ask("outputs", { text, version: this.reached.version }, signal);
        replace(this.total, outputs.total > outputs.names.length ? `${outputs.names.length} of ${outputs.total.toLocaleString("en")}` : outputs.total.toLocaleString("en"));
        replace(
          this.outputs,
          outputs.names.map((name) => h("li", null, button(name, () => this.app.place.go({ entity: name, forwards: undefined }), { class: "more" }))),
          !outputs.names.length && h("li", { class: "note" }, text ? `No output is called “${text}”.` : "There are no outputs yet."),
        );
      } catch (error) {
        if (error.name !== "AbortError") replace(this.outputs, h("li", { class: "bad" }, error.message));
      }
    }, 180);
  }

  topic(topic) {
    const history = this.reached.history.map((point) => ({ time: point.time, ...point.topics[topic.topic] }));
    const series = ["received", "kept", "open"].map((name) => ({
      name: { received: "edges in", kept: "kept", open: "open" }[name],
      kind: name,
      points: history.filter((point) => typeof point[name] === "number").map((point) => [point.time, point[name]]),
    }));
    const chart = lines(series, { label: `Edges of ${topic.topic} over the commits` });
    const tile = (value, word, note) => value !== null && value !== undefined && h("div", { class: "tile" }, h("strong", null, value), h("span", null, word), note && h("span", { class: "note" }, note));
    const count = (value) => (value === null || value === undefined ? null : value.toLocaleString("en"));
    const facts = [
      ["messages", topic.messages],
      ["dead ends", topic.dead],
      ["open vertices", topic.open_vertices],
      ["most edges at once", topic.peak_edges],
      ["most memory", !topic.peak_bytes ? null : topic.peak_bytes < 2 ** 20 ? `${Math.ceil(topic.peak_bytes / 2 ** 10)} KB` : `${(topic.peak_bytes / 2 ** 20).toFixed(1)} MB`],
      ["came again", topic.repeated],
      ["of attempts that do not count", topic.abandoned],
      ["late", topic.late],
      ["of them repaired", topic.late ? topic.repaired : null],
      ["files", topic.files || null],
    ].filter(([, value]) => value !== null && value !== undefined && value !== 0);
    const state = topic.complete ? (topic.exact === false ? ["changed", "complete, not as declared"] : ["added", "complete and exact"]) : ["lit", "going on"];
    return h(
      "section",
      { class: "topic", "aria-label": `Topic ${topic.topic}` },
      h("h2", null, topic.topic, h("span", { class: `count ${state[0]}` }, state[1])),
      h(
        "div",
        { class: "tiles" },
        tile(count(topic.received), "edges in"),
        tile(count(topic.kept), "kept"),
        tile(topic.ratio === null ? null : topic.ratio.toFixed(2), "in for each kept"),
        tile(topic.complete ? null : count(topic.open_edges), "open", "edges in memory"),
        tile(topic.lag === null ? null : `${topic.lag.toFixed(1)} s`, "lag", "at the last commit"),
      ),
      series.some((line) => line.points.length > 1) && h("div", { class: "chart-box" }, chart, pictureButtons(() => chart, "reduction")),
      h("dl", { class: "facts wide" }, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, typeof value === "number" ? value.toLocaleString("en") : value)])),
    );
  }
}
