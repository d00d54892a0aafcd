// A provenance graph: modules first, into them by clicking, what a node comes from and leads to.

import { h, replace, button, icon, many } from "./dom.js";
import { Latest } from "./state.js";
import { MARKS, Picture } from "./picture.js";
import { load, replaceKeeping, section } from "./loading.js";
import { Table, plainTable } from "./table.js";
import { pictureButtons, pythonButton, tableButtons } from "./exporting.js";
import { PictureView } from "./view.js";

const TICKS = 160;

const ASKED = { ancestors: "What it is made of", descendants: "What it makes", delete: "Without it", path: "Between the two" };

const MODES = [
  ["ancestors", "Made of"],
  ["descendants", "Makes"],
  ["delete", "Without it"],
];

export class GraphView extends PictureView {
  constructor(app, source) {
    super(app, source, "graph");
    this.begin("about");
  }

  stop() {
    super.stop();
    clearInterval(this.player);
    this.picture?.stop();
    this.table?.stop();
  }

  draw(about) {
    this.about = about;
    const app = this.app;
    this.picture = new Picture({
      onopen: (focus) => (focus.search === undefined ? app.place.go({ focus, node: focus.node }) : app.search.focus()),
      onpick: (box) => app.place.go({ node: box.node }),
      onup: () => this.up(),
    });
    this.crumbs = h("ol", { class: "crumbs" });
    this.shown = h("span", { class: "shown", role: "status" });
    // The slider stays: somebody may be dragging it.
    this.counts = h("span", { class: "tools-part" });
    this.step = h("input", { type: "range", min: 0, "aria-label": "Step of the deletion", oninput: () => this.goTo(Number(this.step.value)) });
    this.stepNote = h("span", { class: "note" });
    this.steps = h("span", { class: "tools-part" }, button([icon("play"), "play"], () => this.play(), { class: "plain small" }), this.step, this.stepNote);
    this.tools = h("div", { class: "tools" }, this.counts, this.steps);
    this.panel = h("aside", { class: "panel", "aria-label": "What is chosen", tabindex: "-1" });
    this.state = h("div", { class: "picture-state", role: "status" });
    this.line = h("div", { class: "time-line" });
    const keepPicture = h("span", null, pictureButtons(() => this.picture.svg, "graph", () => this.picture.bounds()));
    queueMicrotask(() => this.show());
    return [
      h(
        "div",
        { class: "bar-line" },
        h("nav", { "aria-label": "Where in the graph" }, this.crumbs),
        this.shown,
        h("span", { class: "spacer" }),
        keepPicture,
      ),
      h("div", { class: "answer" }, h("div", { class: "graph-main" }, this.tools, h("div", { class: "stage" }, this.picture.element, this.state, this.legend()), this.line), this.panel),
    ];
  }

  legend() {
    const kinds = [
      ["module", "module, invocation"],
      ["segment", "group of nodes"],
      ["input", "input"],
    ];
    return h("div", { class: "legend", "aria-hidden": "true" }, kinds.map(([kind, name]) => h("span", { class: `key ${kind}` }, name)));
  }

  up() {
    const crumbs = this.answer?.crumbs ?? [];
    if (crumbs.length > 1) this.app.place.go({ focus: crumbs[crumbs.length - 2].focus, node: undefined });
  }

  params() {
    const place = this.app.place;
    const params = { focus: place.mapping("focus", {}) };
    if (place.mapping("marks")) params.marks = place.mapping("marks");
    if (place.list("executions")) params.executions = place.list("executions");
    if (params.focus.node !== undefined) {
      params.back = place.whole("back", 2);
      params.forth = place.whole("forth", 2);
    }
    return params;
  }

  show() {
    if (!this.about || !this.picture) return;
    const params = this.params();
    const key = JSON.stringify(params);
    this.showTools();
    if (key !== this.key) {
      const before = this.key && JSON.stringify({ ...JSON.parse(this.key), marks: undefined });
      const same = before === JSON.stringify({ ...params, marks: undefined });
      this.key = key;
      this.load(params, same);
    }
    this.showPanel();
    this.timeLine();
  }

  load(params, keep) {
    const ready = this.about.ready;
    return this.drawAnswer((signal) => this.ask("picture", params, signal), {
      keep,
      waiting: ready ? "Working it out" : `Reading ${many(this.about.nodes, "node")}: the first time takes a moment`,
      back: button("Back to all modules", () => this.app.place.go({ focus: undefined, marks: undefined, node: undefined })),
      drawn: (picture) => {
        this.showCrumbs();
        this.showTools();
        if (!picture.boxes.length) replace(this.state, h("div", { class: "invitation" }, h("strong", null, "Nothing here"), h("p", null, "The graph has no nodes.")));
      },
    });
  }

  showCrumbs() {
    const { crumbs } = this.answer;
    replace(
      this.crumbs,
      crumbs.map((crumb, number) => {
        const last = number === crumbs.length - 1;
        return h("li", null, last ? h("span", { "aria-current": "page" }, crumb.label) : button(crumb.label, () => this.app.place.go({ focus: crumb.focus, node: undefined }), { class: "more" }));
      }),
    );
    replace(this.shown, `${this.amount()} · ${many(this.about.nodes, "node")} in all`);
  }

  // -- tools: steps, marks, deletion played through ------------------------------------------------

  showTools() {
    const place = this.app.place;
    const marks = place.mapping("marks");
    const focus = place.mapping("focus", {});
    const parts = [];
    if (focus.node !== undefined) {
      const stepper = (name, label) => {
        const value = place.whole(name, 2);
        return h(
          "span",
          { class: "stepper", role: "group", "aria-label": label },
          label,
          button("−", () => place.go({ [name]: Math.max(1, value - 1) }), { "aria-label": `Fewer ${label}`, "data-keep": `fewer ${label}` }),
          h("output", null, String(value)),
          button("+", () => place.go({ [name]: Math.min(12, value + 1) }), { "aria-label": `More ${label}`, "data-keep": `more ${label}` }),
        );
      };
      parts.push(stepper("back", "steps back"), stepper("forth", "steps forth"));
    }
    if (marks) {
      const counts = this.answer?.marked ?? {};
      parts.push(
        h("strong", null, ASKED[marks.mode]),
        Object.entries(counts).filter(([, count]) => count).map(([kind, count]) => {
          const on = place.text("list") === kind;
          return button([h("i", { class: `key mark ${kind}` }, MARKS[kind][1]), h("span", { class: `count ${kind}` }, `${count.toLocaleString("en")} ${MARKS[kind][0]}`)], () => place.go({ list: on ? undefined : kind }), {
            class: `plain small toggle${on ? " on" : ""}`,
            "aria-pressed": String(on),
            title: `List the ${MARKS[kind][0]} nodes`,
            "data-keep": kind,
          });
        }),
      );
      parts.push(
        button("Clear", () => {
          clearInterval(this.player);
          place.go({ marks: undefined, list: undefined });
        }, { class: "plain small" }),
      );
    }
    const steps = marks?.mode === "delete" ? this.answer?.steps : 0;
    this.steps.hidden = !steps;
    if (steps) {
      this.step.max = steps;
      const at = String(marks.step ?? steps);
      if (this.step.value !== at) this.step.value = at;
      replace(this.stepNote, `step ${at} of ${steps}`);
    }
    this.tools.hidden = parts.length === 0;
    replaceKeeping(this.counts, parts);
  }

  // A step of the deletion; the last is all of it.
  goTo(step) {
    const marks = this.app.place.mapping("marks");
    this.app.place.go({ marks: { ...marks, step: step >= this.answer.steps ? undefined : step } }, true);
  }

  play() {
    const { steps } = this.answer;
    clearInterval(this.player);
    let step = 0;
    const stride = Math.max(1, Math.ceil(steps / 24));
    const tick = () => {
      const going = this.app.place.mapping("marks")?.mode === "delete";
      if (going) this.goTo(step);
      if (!going || step >= steps) clearInterval(this.player);
      step += stride;
    };
    tick();
    this.player = setInterval(tick, 420);
  }

  // -- the panel ----------------------------------------------------------------------------------

  showPanel() {
    const place = this.app.place;
    const node = place.get("node");
    const focus = place.mapping("focus", {});
    const marks = place.mapping("marks");
    const list = marks && place.text("list");
    const key = JSON.stringify(list in MARKS ? [list, marks] : [node, focus.segment]);
    this.press();
    if (key === this.panelKey) return;
    this.panelKey = key;
    this.table?.stop();
    this.asking.stop();
    this.toggles = [];
    if (list in MARKS) {
      replace(this.panel, this.marked(marks, list));
    } else if (node !== undefined) {
      load(this.panel, this.asking, (signal) => this.ask("node", { node }, signal), (facts) => this.node(facts));
    } else if (focus.segment !== undefined) {
      replace(this.panel, this.nodes(focus.segment));
    } else {
      replace(this.panel, this.whole());
    }
  }

  whole() {
    const about = this.about;
    const facts = [
      ["nodes", about.nodes],
      about.edges && ["edges", about.edges],
      ["groups of nodes", about.segments],
      ["modules", about.modules],
      ["executions", about.execution_count],
    ].filter(Boolean);
    return [
      h("header", { class: "panel-head" }, h("h2", null, this.app.sources[this.source].name)),
      h("dl", { class: "facts" }, facts.map(([name, count]) => [h("dt", null, name), h("dd", null, count.toLocaleString("en"))])),
      about.execution_count > 1 && this.comparing(),
      h("p", { class: "keys" }, h("kbd", null, "Enter"), " opens  ", h("kbd", null, "⌫"), " back  ", h("kbd", null, "arrows"), " move  ", h("kbd", null, "+ −"), " zoom"),
      pythonButton(about.python),
    ];
  }

  comparing() {
    const executions = this.about.executions;
    const numbers = executions.map((execution) => execution.execution);
    const select = (label, value) =>
      h("select", { "aria-label": label }, numbers.map((number) => h("option", { value: String(number), selected: number === value }, String(number))));
    const left = select("One execution", numbers[0]);
    const right = select("Another execution", numbers[1]);
    const place = h("div", { class: "lazy" });
    const latest = new Latest();
    const run = () =>
      load(place, latest, (signal) => this.ask("compare", { left: Number(left.value), right: Number(right.value) }, signal), (comparison) => [
        comparison.total
          ? plainTable(comparison.columns, comparison.rows, { label: "How the executions differ" })
          : h("p", { class: "note" }, "They do not differ."),
        h("p", { class: "note" }, `${many(comparison.only_left.count, "node")} only in ${left.value}, ${comparison.only_right.count.toLocaleString("en")} only in ${right.value}`),
        this.links("Only in the first", comparison.only_left),
        this.links("Only in the second", comparison.only_right),
        pythonButton(comparison.python),
      ]);
    return section("Compare executions", "", h("div", { class: "controls" }, left, " with ", right, " ", button("Compare", run)), place);
  }

  nodes(segment) {
    this.table = new Table({
      label: `Nodes of ${segment}`,
      sortable: false,
      fetchRows: async (params, signal) => {
        const page = await this.ask("nodes", { segment, offset: params.offset, limit: params.limit }, signal);
        return { ...page, places: page.ids };
      },
      onopen: (id) => this.app.place.go({ node: id }),
    });
    this.table.load();
    this.table.element.classList.add("tall");
    return [
      h("header", { class: "panel-head" }, h("h2", null, segment)),
      this.table.element,
      tableButtons(this.app.asker, () => ({ source: this.source, view: "nodes", params: { segment, limit: 200 } }), "nodes"),
    ];
  }

  // The nodes behind a count above the picture.
  marked(marks, list) {
    const place = this.app.place;
    this.table = new Table({
      label: `Nodes that are ${MARKS[list][0]}`,
      sortable: false,
      least: 56,
      fetchRows: async (params, signal) => {
        const page = await this.ask("marked", { marks, mark: list, offset: params.offset, limit: params.limit }, signal);
        return { ...page, places: page.ids };
      },
      onopen: (id) => place.go({ node: id, list: undefined }),
    });
    this.table.load();
    this.table.element.classList.add("tall");
    const says = {
      gone: "These nodes are gone without what was deleted.",
      changed: "These values differ without what was deleted.",
      stale: "Only a rerun of the module gives these values.",
    };
    return [
      h(
        "header",
        { class: "panel-head" },
        h("h2", null, `${ASKED[marks.mode] ?? ""}: ${MARKS[list][0]}`),
        button(icon("close"), () => place.go({ list: undefined }), { class: "plain icon-button", "aria-label": "Close" }),
      ),
      says[list] && h("p", { class: "note" }, says[list]),
      this.table.element,
      tableButtons(this.app.asker, () => ({ source: this.source, view: "marked", params: { marks, mark: list, limit: 20_000 } }), `${list}-nodes`),
    ];
  }

  // Buttons of the panel say what is marked now, also by keys and by the address.
  press() {
    for (const { element, pressed } of this.toggles ?? []) {
      element.classList.toggle("on", pressed());
      element.setAttribute("aria-pressed", String(pressed()));
    }
    const other = this.app.place.mapping("marks")?.nodes?.[0];
    if (this.path) this.path.hidden = other === undefined || this.itself(other);
  }

  node(details) {
    const place = this.app.place;
    const { name, ...facts } = details.facts;
    const itself = (node) => node === details.id || node === name;
    this.itself = itself;
    this.path = button("Path from the lit one", () => place.go({ marks: { mode: "path", nodes: [place.mapping("marks").nodes[0], details.id] }, list: undefined }), { class: "plain toggle" });
    const on = (mode) => {
      const marks = place.mapping("marks");
      return marks?.mode === mode && itself(marks.nodes?.[0]);
    };
    const toggle = (mode, label) => {
      const element = button(label, () => place.go({ marks: on(mode) ? undefined : { mode, nodes: [details.id] }, list: undefined }), { class: "plain toggle" });
      this.toggles.push({ element, pressed: () => on(mode) });
      return element;
    };
    this.toggles = [];
    queueMicrotask(() => this.press());
    const values = Object.entries(details.tuple);
    return [
      h(
        "header",
        { class: "panel-head" },
        h("h2", { class: "node-name" }, name),
        button(icon("close"), () => place.go({ node: undefined }), { class: "plain icon-button", "aria-label": "Close" }),
      ),
      h(
        "div",
        { class: "actions" },
        MODES.filter(([mode]) => mode !== "delete" || this.about.deletable).map(([mode, label]) => toggle(mode, label)),
        this.path,
        details.row && button("Follow this row", () => place.go({ token: details.row }), { class: "plain toggle", title: "What every open source makes of it" }),
        button("Around it", () => place.go({ focus: { node: details.id } }), { class: "plain toggle" }),
      ),
      h("dl", { class: "facts" }, Object.entries(facts).map(([key, value]) => [h("dt", null, key), h("dd", null, value)])),
      values.length > 0 && section("Tuple", "", h("dl", { class: "values" }, values.map(([key, value]) => [h("dt", null, key), h("dd", null, value ?? h("span", { class: "null" }, "NULL"))]))),
      this.links("Made of", details.made_of),
      this.links("Makes", details.makes),
      pythonButton(details.python),
    ];
  }

  links(title, list) {
    if (!list.count) return null;
    return section(
      title,
      many(list.count, "node"),
      h("ul", { class: "links" }, list.nodes.map((neighbour) => h("li", null, button(neighbour.name, () => this.app.place.go({ node: neighbour.id }), { class: "more" })))),
      list.count > list.nodes.length && h("p", { class: "note" }, `and ${(list.count - list.nodes.length).toLocaleString("en")} more`),
    );
  }

  // -- time ---------------------------------------------------------------------------------------

  timeLine() {
    const executions = this.about.executions;
    this.line.hidden = executions.length < 2;
    if (this.line.hidden) return;
    const chosen = this.app.place.list("executions");
    const key = JSON.stringify(chosen ?? null);
    if (key === this.lineKey) return;
    this.lineKey = key;
    const anchor = chosen?.[0];
    // Of more executions than there is room for some that follow one another are one tick.
    const size = Math.ceil(executions.length / TICKS);
    const ticks = Array.from({ length: Math.ceil(executions.length / size) }, (_, place) => {
      const members = executions.slice(place * size, (place + 1) * size);
      const nodes = members.reduce((total, member) => total + member.nodes, 0);
      const [from, to] = [members[0].execution, members.at(-1).execution];
      return { from, to, nodes, name: from === to ? `Execution ${from}` : `Executions ${from} to ${to}` };
    });
    const most = Math.max(...ticks.map((tick) => tick.nodes));
    const pick = ({ from, to }, extend) => {
      const range = extend && anchor !== undefined ? [Math.min(anchor, from), Math.max(chosen[1], to)] : [from, to];
      const same = chosen && chosen[0] === range[0] && chosen[1] === range[1];
      this.app.place.go({ executions: same ? undefined : range });
    };
    const held = this.line.contains(document.activeElement) ? document.activeElement.dataset.number : null;
    const on = ({ from, to }) => !chosen || (to >= chosen[0] && from <= chosen[1]);
    const first = chosen ? ticks.findIndex(on) : 0;
    replace(
      this.line,
      h("span", { class: "note", id: "lx-time" }, chosen ? (chosen[0] === chosen[1] ? `execution ${chosen[0]}` : `executions ${chosen[0]} to ${chosen[1]}`) : `${executions.length.toLocaleString("en")} executions`),
      h(
        "div",
        { class: "ticks", role: "group", "aria-labelledby": "lx-time" },
        ticks.map((tick, place) =>
          h("button", {
            type: "button",
            class: `tick${on(tick) ? " on" : ""}`,
            "data-number": tick.from,
            tabindex: place === Math.max(0, first) ? "0" : "-1",
            "aria-pressed": String(Boolean(chosen) && on(tick)),
            "aria-label": `${tick.name}: ${many(tick.nodes, "node")}`,
            title: `${tick.name}: ${many(tick.nodes, "node")}`,
            style: { "--high": String(0.15 + (0.85 * tick.nodes) / most) },
            onclick: (event) => pick(tick, event.shiftKey),
            onkeydown: (event) => {
              const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (!step) return;
              event.preventDefault();
              const next = this.line.querySelectorAll(".tick")[place + step];
              next?.focus();
            },
          }),
        ),
      ),
      chosen && button("All", () => this.app.place.go({ executions: undefined }), { class: "plain small" }),
    );
    if (held !== null) this.line.querySelector(`[data-number="${held}"]`)?.focus();
  }
}
