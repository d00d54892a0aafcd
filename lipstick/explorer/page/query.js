// The query: its text, the type of its annotations, its blocks, where its columns come from.

import { h, button, many } from "./dom.js";
import { section } from "./loading.js";
import { plainTable } from "./table.js";
import { View } from "./view.js";

const WORDS = new Set(
  "select from where group by having order limit offset join left right full inner outer cross on using and or not in exists as with union all except intersect distinct case when then else end between like is null asc desc over partition date interval true false lateral view rows range semi anti values cast".split(" "),
);

// The names in an expression, as they are compared: in lower case, without functions.
function namesIn(expression) {
  const matches = [...expression.matchAll(/'(?:[^'\\]|\\.|'')*'|([A-Za-z_]\w*)(?!\w*\s*\()/g)];
  return new Set(matches.map((match) => match[1]?.toLowerCase()).filter((name) => name && !WORDS.has(name)));
}

// The text with keywords set off, the names of relations marked, and those of an expression lit.
export function sqlText(text, mentions, colors, relation, lit = new Set()) {
  const parts = [];
  let at = 0;
  const plain = (piece) => {
    for (const match of piece.matchAll(/'(?:[^'\\]|\\.|'')*'|--[^\n]*|\w+|\s+|./gs)) {
      const word = match[0];
      if (lit.has(word.toLowerCase())) parts.push(h("mark", { class: "lit-name" }, word));
      else if (WORDS.has(word.toLowerCase())) parts.push(h("span", { class: "keyword" }, word));
      else if (word.startsWith("'")) parts.push(h("span", { class: "literal" }, word));
      else if (word.startsWith("--")) parts.push(h("span", { class: "comment" }, word));
      else if (/^\d/.test(word)) parts.push(h("span", { class: "literal" }, word));
      else parts.push(word);
    }
  };
  for (const mention of mentions) {
    plain(text.slice(at, mention.start));
    const lit = relation === undefined || relation.includes(mention.relation);
    parts.push(h("mark", { class: lit ? "mention" : "mention dim", style: { "--hue": colors(mention.relation) } }, text.slice(mention.start, mention.end)));
    at = mention.end;
  }
  plain(text.slice(at));
  return h("pre", { class: "code sql", tabindex: "0", role: "region", "aria-label": "The query" }, parts);
}

export class Query extends View {
  constructor(app, source) {
    super(app, source, "query");
  }

  show() {
    this.begin("query");
  }

  draw(answer) {
    const app = this.app;
    const chosen = app.place.text("block");
    const block = answer.blocks.find((each) => each.name === chosen);
    const reading = (name) => answer.blocks.find((each) => each.name === name);
    const relations = (each) => [...each.relations, ...each.reads.flatMap((name) => relations(reading(name)))];
    const part = app.place.text("part");
    const text = sqlText(answer.text, answer.mentions, app.colors, block && relations(block), part === undefined ? undefined : namesIn(part));
    return [
      h(
        "div",
        { class: "query-text" },
        h("h2", { class: "out-of-sight" }, "The query and its blocks"),
        section("Query", "", text),
        section("Annotation type", "what every row is annotated with", h("pre", { class: "code", tabindex: "0", role: "region", "aria-label": "Annotation type" }, answer.type)),
        section(
          "Columns",
          "what each is made of",
          plainTable(
            [{ name: "column", kind: "text" }, { name: "made of", kind: "text" }, { name: "under a deletion", kind: "text" }],
            answer.lineage.map((column) => [h("strong", null, column.column), this.part(column.from), column.stable ? "stays" : "may change"]),
            { label: "Lineage of columns" },
          ),
        ),
      ),
      h(
        "div",
        { class: "query-blocks" },
        section(
          "Blocks",
          "captured one by one, inner ones first",
          h(
            "ol",
            { class: "blocks" },
            answer.blocks.map((each) => this.block(each, each === block)),
          ),
        ),
      ),
    ];
  }

  // An expression, whose names are lit in the text when it is pressed.
  part(text) {
    if (!namesIn(text).size) return h("code", null, text);
    const on = this.app.place.text("part") === text;
    return button(h("code", null, text), () => this.app.place.go({ part: on ? undefined : text }, true), { class: `more part${on ? " on" : ""}`, "aria-pressed": String(on), title: "Show it in the query" });
  }

  block(block, open) {
    const numbers = [block.members !== null && block.members !== undefined && many(block.members, "member"), block.rows !== null && block.rows !== undefined && many(block.rows, "row")].filter(Boolean);
    const go = () => this.app.place.go({ block: open ? undefined : block.name });
    return h(
      "li",
      { class: `block${open ? " open" : ""}` },
      h(
        "div",
        { class: "block-head" },
        button(block.name, go, { class: "block-name", "aria-pressed": open ? "true" : "false" }),
        h("span", null, block.root ? `${block.kind}, the answer` : block.kind),
        h("span", { class: "note" }, numbers.join(" · ")),
      ),
      h("pre", { class: "code small" }, block.type),
      block.relations.length > 0 && h("p", { class: "reads" }, "from ", block.relations.map((name) => h("span", { class: "mention", style: { "--hue": this.app.colors(name) } }, name))),
      block.reads.length > 0 && h("p", { class: "reads" }, "reads ", block.reads.map((name) => button(name, () => this.app.place.go({ block: name }), { class: "more" }))),
      block.details.map((detail) => h("p", { class: "detail" }, h("span", { class: "note" }, detail.what), " ", this.part(detail.text))),
    );
  }
}
