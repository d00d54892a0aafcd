// Annotations: trees of operations as formulas, whose tokens can be struck out.

import { h, button } from "./dom.js";

const SIGNS = { sum: " + ", product: " · ", monus: " ⊖ " };

// `colors` knows the colour of each relation; `ontoken` is called with one that is clicked.
export function formula(tree, { colors, ontoken, onmore, struck = () => false }) {
  function show(node, inside) {
    const parts = [];
    if (node.times > 1) parts.push(h("span", { class: "number" }, `${node.times}·`));
    parts.push(body(node, inside));
    if (node.power > 1) parts.push(h("sup", null, String(node.power)));
    return parts;
  }

  function body(node, inside) {
    if (node.op === "token") return tokenChip(node, { colors, ontoken, struck: struck(node) });
    if (node.op === "number") return h("span", { class: "number" }, node.text);
    if (node.op === "condition") return h("span", { class: "condition", title: node.text }, node.text);
    if (node.op === "delta") {
      return h("span", { class: "delta" }, h("span", { class: "sign" }, "δ("), show(node.parts[0], "delta"), h("span", { class: "sign" }, ")"));
    }
    const sign = SIGNS[node.op];
    const wrapped = (inside === "product" && node.op !== "product") || inside === "monus";
    const parts = [];
    node.parts.forEach((part, number) => {
      if (number) parts.push(h("span", { class: "sign" }, sign), h("wbr"));
      parts.push(...show(part, node.op));
    });
    if (node.more) {
      parts.push(h("span", { class: "sign" }, sign));
      const label = `${node.more.toLocaleString("en")} more`;
      parts.push(onmore ? button(label, onmore, { class: "more" }) : h("span", { class: "more" }, label));
    }
    if (!wrapped) return h("span", { class: node.op }, parts);
    return h("span", { class: node.op }, h("span", { class: "sign" }, "("), parts, h("span", { class: "sign" }, ")"));
  }

  return h("div", { class: "formula" }, show(tree, "top"));
}

export function tokenChip(node, { colors, ontoken, struck }) {
  const attributes = {
    class: `token${struck ? " struck" : ""}`,
    style: { "--hue": colors(node.relation) },
    title: `${node.relation}: ${node.text}`,
  };
  const inside = [h("span", { class: "token-relation" }, node.relation), h("span", { class: "token-key" }, node.text)];
  if (!ontoken) return h("span", attributes, inside);
  return h("button", { ...attributes, type: "button", "aria-pressed": struck ? "true" : "false", onclick: () => ontoken(node) }, inside);
}

// Colours that people with any colour vision tell apart (Okabe, Ito).
const HUES = ["#0072b2", "#d55e00", "#009e73", "#b0578d", "#a67c00", "#3a8fc4", "#6f6f6f", "#7a5195"];

const hues = new Map(); // of the names that were shown

// A name has the same colour in all sources: its own one, or the next that no other name has.
export function palette(names) {
  for (const name of [...names].sort()) {
    if (hues.has(name)) continue;
    const taken = new Set((hues.size < HUES.length ? [...hues.keys()] : names).map((other) => hues.get(other)));
    let hue = [...name].reduce((hash, letter) => Math.imul(hash ^ letter.codePointAt(0), 16_777_619), 7) >>> 29;
    while (taken.has(hue) && taken.size < HUES.length) hue = (hue + 1) % HUES.length;
    hues.set(name, hue);
  }
  return (name) => HUES[hues.get(name) ?? 6];
}
