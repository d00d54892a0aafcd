// Elements, made without a word of HTML: what comes from data is text, whatever it contains.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") {
      for (const [key, setting] of Object.entries(value)) element.style.setProperty(key, setting);
    } else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child));
}

// Have these children and no others. Those that are there stay: a press on one becomes a click.
export function arrange(element, children) {
  const kept = new Set(children);
  for (const child of [...element.children]) if (!kept.has(child)) child.remove();
  children.forEach((child, place) => {
    if (element.children[place] !== child) element.insertBefore(child, element.children[place] ?? null);
  });
}

export function many(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

export function rounded(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e15)) return value.toExponential(3);
  return value.toLocaleString("en", { maximumFractionDigits: size >= 1000 ? 2 : 4 });
}

// A number as text with separators, exactly; whole ones only if they are counted or measured, for
// they may be keys and years.
export function grouped(text, measured = false) {
  const parts = /^(-?)(\d+)(\.\d+)?$/.exec(text ?? "");
  if (!parts || !(measured || parts[3])) return text;
  return `${parts[1] ? "−" : ""}${parts[2].replace(/\B(?=(\d{3})+$)/g, ",")}${parts[3] ?? ""}`;
}

// A double as sentences have it: the digits that its computation adds are in the files alone.
function spelledDouble(text) {
  const value = Number(text);
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size >= 1e15 || (size && size < 1e-6)) return text;
  const digits = Number.isInteger(value) ? {} : size >= 1000 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumSignificantDigits: 6 };
  return value.toLocaleString("en", digits).replace("-", "−");
}

const INEXACT = ["DOUBLE", "FLOAT"];

// A text whose characters that are not seen, or that turn others round, are; emoji keep their joiners.
function escaped(text) {
  return text.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => (each === "\n" ? "\\n" : `\\u${each.codePointAt(0).toString(16).padStart(4, "0")}`));
}

// A cell as people read it: numbers with separators, at midnight the day alone.
export function displayed(text, { kind, type }, measured = false) {
  if (text === null || text === undefined) return text;
  if (kind === "time") return text.replace(/ 00:00:00(\+00:00)?$/, "");
  if (kind !== "number") return escaped(text);
  return INEXACT.includes(type) ? spelledDouble(text) : grouped(text, measured);
}

// A time of a stream as a date, where its ticks are seconds, milli- or microseconds of this century.
export function dated(text) {
  const unit = { 10: 1000, 13: 1, 16: 0.001 }[/^\d+$/.test(text ?? "") ? text.length : 0];
  if (!unit || !/^[1-3]/.test(text)) return text;
  const [day, time] = new Date(Number(text) * unit).toISOString().slice(0, -1).split("T");
  const part = unit < 1 ? text.slice(-3) : "";
  return `${day} ${unit === 1000 ? time.slice(0, 8) : time + part}`;
}

// How a number changes: the difference, and in percent.
export function delta(before, after) {
  const change = Number(after) - Number(before);
  if (before === null || after === null || !Number.isFinite(change) || change === 0) return "";
  const sign = change > 0 ? "+" : "−";
  const part = Math.abs((100 * change) / Number(before));
  const percent = Number.isFinite(part) ? ` (${sign}${part >= 0.1 ? part.toFixed(1) : Number(part.toPrecision(2))} %)` : "";
  const size = Math.abs(change);
  // As many decimals as the numbers have, two at most.
  const decimals = Math.min(2, Math.max(...[before, after].map((text) => /\.(\d+)$/.exec(text)?.[1].length ?? 0)));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return `${sign}${size >= 1 && !Number.isInteger(size) ? size.toLocaleString("en", digits) : rounded(size)}${percent}`;
}

// Of how many of something there are in words, where it is one: the rest says it in the plural.
const SINGULAR = {
  "modules and inputs": "module or input",
  invocations: "invocation",
  "groups of nodes": "group of nodes",
  nodes: "node",
  inputs: "input",
  streams: "stream",
  events: "event",
};

export function counted(count, nouns) {
  return `${count.toLocaleString("en")} ${count === 1 ? (SINGULAR[nouns] ?? nouns) : nouns}`;
}

let pen = null;

// How wide the widest of some texts is in the font of an element, such as "600 13px".
export function widest(element, size, texts) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `${size} ${getComputedStyle(element).fontFamily || "sans-serif"}`;
  return Math.max(0, ...texts.map((text) => pen.measureText(text).width));
}

// Give a select its options, and choose one. It stays in place, and with it what is being typed.
export function choose(select, options, value) {
  const fresh = [...h("div", null, options).children];
  const same = fresh.length === select.children.length && fresh.every((option, number) => option.isEqualNode(select.children[number]));
  if (!same) replace(select, fresh);
  if (select.value !== value) select.value = value;
}

let lastId = 0;
export function freshId(prefix) {
  lastId += 1;
  return `lx-${prefix}-${lastId}`;
}

export function button(label, onclick, attributes) {
  return h("button", { type: "button", class: "plain", onclick, ...attributes }, label);
}

// An icon is a path in a box of 16.
const ICONS = {
  sun: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  close: "M4 4l8 8M12 4l-8 8",
  filter: "M2.5 3.5h11l-4.2 5v4.500l-2.600-1.300v-3.200z",
  strike: "M2.5 8h11M5 4.5h6M5 11.5h6",
  follow: "M2.500 8h10.500M9 4l4 4-4 4",
  play: "M5 3l8 5-8 5z",
  up: "M8 13V3M4 7l4-4 4 4",
  fit: "M2.5 6v-3.500h3.500M10 2.500h3.500v3.500M13.500 10v3.500h-3.500M6 13.500h-3.500v-3.500",
  save: "M8 2v8M4.500 7l3.500 3.500 3.500-3.500M2.500 13.500h11",
  link: "M6.500 9.500l3-3M7 4.500l1.500-1.500a2.800 2.800 0 0 1 4 4l-1.500 1.500M9 11.500l-1.500 1.500a2.800 2.800 0 0 1-4-4l1.500-1.500",
};

export function icon(name) {
  return s(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, class: "icon", "aria-hidden": "true" },
    s("path", { d: ICONS[name] }),
  );
}
