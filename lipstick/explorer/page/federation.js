// A federation: its stores as a map with what crosses between them, and questions to all of them.

import { h, s, replace, button, freshId, many } from "./dom.js";
import { Latest } from "./state.js";
import { smooth } from "./picture.js";
import { load, replaceKeeping, section } from "./loading.js";
import { plainTable } from "./table.js";
import { pictureButtons, pythonButton } from "./exporting.js";
import { View } from "./view.js";

const QUESTIONS = [
  ["ancestors", "What it is made of"],
  ["descendants", "What is made of it"],
  ["delete", "What is gone without it"],
  ["paths", "Paths to"],
];

// What is said where no path is listed.
const VERDICTS = {
  yes: "There is a path; no store lists its nodes.",
  no: "There is no path.",
  unknown: "Unknown: a path may run through what is missing.",
};

export class FederationView extends View {
  constructor(app, source) {
    super(app, source, "federation");
    this.begin("about");
  }

  draw(about) {
    this.about = about;
    const place = this.app.place;
    this.map = h("div", { class: "map" });
    this.result = h("div", { class: "lazy" });
    const ask = h("select", { "aria-label": "Question" }, QUESTIONS.map(([value, label]) => h("option", { value, selected: value === place.get("ask") }, label)));
    const nodes = h("input", { type: "text", class: "where", placeholder: "alias::node", "aria-label": "Nodes", value: place.list("nodes", []).join(", ") });
    const targets = h("input", { type: "text", class: "where", placeholder: "alias::node", "aria-label": "Targets", value: place.list("targets", []).join(", ") });
    // Names are completed from the members whose graphs are open here.
    const completed = (input) => {
      const list = h("datalist", { id: freshId("names") });
      input.setAttribute("list", list.id);
      const latest = new Latest();
      let timer;
      input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(async () => {
          const text = input.value.split(/,\s+/).at(-1).trim();
          const before = input.value.slice(0, input.value.length - text.length);
          try {
            const { names: found } = await this.ask("complete", { text }, latest.start());
            replace(list, found.map((name) => h("option", { value: before + name })));
          } catch {
            replace(list); // names can be typed without it
          }
        }, 180);
      });
      return [input, list];
    };
    const names = (input) => input.value.split(/,\s+/).map((name) => name.trim()).filter(Boolean);
    const go = (event) => {
      event.preventDefault();
      place.go({ ask: ask.value, nodes: names(nodes), targets: ask.value === "paths" ? names(targets) : undefined });
    };
    const aim = () => {
      targets.hidden = ask.value !== "paths";
    };
    ask.addEventListener("change", aim);
    aim();
    this.chosen = h("div", { class: "lazy" });
    queueMicrotask(() => this.show());
    return h(
      "div",
      { class: "answer" },
      h("div", { class: "graph-main" }, this.map),
      h(
        "aside",
        { class: "panel", "aria-label": "Questions", tabindex: "-1" },
        h("header", { class: "panel-head" }, h("h2", null, this.app.sources[this.source].name)),
        this.chosen,
        section("Ask all stores", "", h("form", { class: "controls", onsubmit: go }, completed(nodes), ask, completed(targets), h("button", { type: "submit", class: "plain" }, "Ask"))),
        this.result,
        section("Members", "what they disclose", this.members(about)),
        about.members.some((member) => member.absent) &&
          section("Out of reach", "answers may be incomplete", about.members.filter((member) => member.absent).map((member) => h("p", { class: "bad" }, `${member.alias}: ${member.absent}`))),
        pythonButton(about.python),
      ),
    );
  }

  members(about) {
    const columns = ["member", "version", "discloses"].map((name) => ({ name, kind: "text" }));
    const rows = about.members.map((member) => [
      button(member.alias, () => this.pick(member.alias), { class: "more" }),
      member.absent ? "out of reach" : String(member.version),
      member.discloses ?? "",
    ]);
    return plainTable(columns, rows, { label: "Members" });
  }

  pick(alias) {
    this.app.place.go({ member: this.app.place.text("member") === alias ? undefined : alias });
  }

  // One member: what it discloses, exports and imports, and the way into its graph.
  member(alias) {
    const member = this.about.members.find((each) => each.alias === alias);
    if (!member) return null;
    const { name } = this.app.sources[this.source];
    const graph = this.app.sources.findIndex((source) => source.group === name && source.name === alias);
    const rank = this.about.members.indexOf(member);
    const passed = this.about.channels.filter((channel) => channel.source === rank);
    const facts = [
      ["version", member.absent ? null : String(member.version)],
      ["discloses", member.discloses],
      ["exports", member.exports?.join(", ")],
      ["passes on", passed.map((channel) => `${channel.names.join("; ")} to ${this.about.members[channel.target].alias}`).join("; ")],
      ["imports", member.imports?.join(", ")],
    ].filter(([, value]) => value);
    return section(
      alias,
      "",
      member.absent && h("p", { class: "bad" }, member.absent),
      h("dl", { class: "facts" }, facts.map(([label, value]) => [h("dt", null, label), h("dd", null, value)])),
      graph >= 0
        ? button("Open its graph", () => this.app.place.leave({ s: graph }))
        : h("p", { class: "note" }, "Its graph cannot be opened here: it is out of reach, on a server, or does not disclose its nodes."),
    );
  }

  drawMap() {
    const { counts, missing } = this.found;
    const { members, channels, width, height } = this.about;
    const svg = s(
      "svg",
      { class: "picture still", viewBox: `-30 -30 ${width + 60} ${height + 60}`, style: { "min-width": `${width + 60}px`, "max-width": `${1.4 * (width + 60)}px` }, role: "group", "aria-label": `Stores: ${members.map((member) => member.alias).join(", ")}` },
      s("defs", null, s("marker", { id: "lx-map-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { class: "arrow", d: "M0 0.800L7 4L0 7.200z" }))),
      channels.map((channel) =>
        s("path", { class: "edge", d: smooth(channel.points), "marker-end": "url(#lx-map-arrow)", "stroke-width": 1.6 }, s("title", null, channel.names.join("\n"))),
      ),
      members.map((member) => {
        const [x, y, w, tall] = member.at;
        const count = counts[member.alias];
        const lost = member.absent || missing.some((part) => part.store === member.alias);
        return s(
          "g",
          {
            class: `box module${count ? " is-lit" : ""}${lost ? " is-gone" : ""}${this.app.place.text("member") === member.alias ? " center" : ""}`,
            role: "button",
            tabindex: "0",
            "data-keep": member.alias,
            "aria-label": `${member.alias}: what it discloses, and its graph`,
            onclick: () => this.pick(member.alias),
            onkeydown: (event) => {
              if (event.key === "Enter" || event.key === " ") {
                event.preventDefault();
                this.pick(member.alias);
              }
            },
          },
          s("title", null, member.absent ?? `version ${member.version}`),
          s("rect", { x, y, width: w, height: tall, rx: 8 }),
          s("text", { class: "label", x: x + w / 2, y: y + 24, "text-anchor": "middle" }, member.alias),
          s("text", { class: "line", x: x + w / 2, y: y + 43, "text-anchor": "middle" }, member.absent ? "out of reach" : lost ? "refused" : count ? `${count.toLocaleString("en")} found` : `version ${member.version}`),
        );
      }),
    );
    replaceKeeping(this.map, [svg, h("div", { class: "map-exports" }, pictureButtons(() => svg, "federation"))]);
  }

  show() {
    if (!this.about) return;
    const place = this.app.place;
    const nodes = place.list("nodes", []);
    const member = place.text("member");
    const key = JSON.stringify([place.get("ask"), nodes, place.list("targets")]);
    replace(this.chosen, member !== undefined && this.member(member));
    if (key === this.key) {
      this.drawMap();
      return;
    }
    this.key = key;
    this.found = { counts: {}, missing: [] };
    this.drawMap();
    if (!nodes.length) {
      replace(this.result);
      return;
    }
    const params = { ask: place.text("ask", "ancestors"), nodes };
    if (params.ask === "paths") params.targets = place.list("targets", []);
    load(this.result, this.asking, (signal) => this.ask("crossing", params, signal), (reply) => this.answer(reply));
  }

  answer(reply) {
    this.found = { counts: reply.members, missing: reply.missing };
    this.drawMap();
    return [
      h(
        "p",
        { class: "summary", role: "status" },
        h("span", { class: `count ${reply.complete ? "added" : "changed"}` }, reply.complete ? "complete" : "incomplete"),
        reply.count !== undefined && many(reply.count, "node"),
        h("span", { class: "note" }, `${many(reply.requests, "request")}, ${reply.bytes.toLocaleString("en")} bytes`),
      ),
      reply.verdict && !reply.paths.length && h("p", { class: "verdict" }, VERDICTS[reply.verdict]),
      reply.paths?.map((path) => h("p", { class: "path" }, path.join(" → "))),
      reply.missing.length > 0 && section("Missing from this answer", "", reply.missing.map((part) => h("p", { class: "bad" }, part.text))),
      reply.names &&
        h("ul", { class: "links" }, reply.names.map((name) => h("li", null, button(name, () => this.app.place.go({ ask: "ancestors", nodes: [name] }), { class: "more" })))),
      pythonButton(reply.python),
    ];
  }
}
