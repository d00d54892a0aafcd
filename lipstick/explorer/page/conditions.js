// Conditions as people type them, read and decided in a saved page as the explorer reads them.

import { Refused } from "./asking.js";

const LEXEME = /\s*(?:('(?:[^']|'')*')|(`(?:[^`]|``)+`)|(<=|>=|<>|!=|=|<|>)|(\.\.)|([(),])|((?:(?!\.\.)[^\s<>=!'`(),])+(?:,\d{3}(?!\d))*))/y;
const LEXEMES = ["text", "name", "op", "range", "mark", "word"];
const RESERVED = new Set(["and", "or", "not", "in", "between", "like", "is", "null"]);
const GROUPED = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/;
export const ungrouped = (text) => (GROUPED.test(text) ? text.replaceAll(",", "") : text);
export const COMPARED = {
  "=": (order) => order === 0,
  "<>": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

// Texts in the order of their code points.
export function orderOfTexts(left, right) {
  const [a, b] = [left[Symbol.iterator](), right[Symbol.iterator]()];
  for (;;) {
    const [x, y] = [a.next(), b.next()];
    if (x.done || y.done) return Number(Boolean(y.done)) - Number(Boolean(x.done));
    if (x.value !== y.value) return x.value.codePointAt(0) - y.value.codePointAt(0);
  }
}

export const order = (a, b) => (a < b ? -1 : Number(a > b));

// Doubles as Spark orders them: NaN is equal to itself, and larger than all others.
export const orderOfDoubles = (a, b) => order(Number.isNaN(a), Number.isNaN(b)) || (Number.isNaN(a) ? 0 : order(a, b));

// A number in digits as an integer, and how many of its digits stand after the point.
export function exact(text) {
  const [, sign, whole, part = ""] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  return { n: BigInt(`${whole}${part}` || "0") * (sign === "-" ? -1n : 1n), s: part.length };
}

export function orderOfExact(a, b) {
  const most = Math.max(a.s, b.s);
  return order(a.n * 10n ** BigInt(most - a.s), b.n * 10n ** BigInt(most - b.s));
}

export const EXACT = /^[+-]?(\d+\.?\d*|\.\d+)$/;
const DOUBLE = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const NO_DIGITS = /^([+-]?)(nan|inf(?:inity)?)$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?$/;

function instant(text) {
  const parts = TIME.exec(text);
  if (!parts || Number.isNaN(Date.parse(parts[1]))) return null;
  return `${parts[1]} ${parts[2] ?? "00:00"}:${parts[3] ?? "00"}.${(parts[4] ?? "").padEnd(6, "0")}`;
}

const number = (text) => {
  const [, sign, name] = NO_DIGITS.exec(text) ?? [];
  if (!name) return Number(text);
  return name.toLowerCase() === "nan" ? Number.NaN : sign === "-" ? -Infinity : Infinity;
};
const rounding = (single) => (text) => (DOUBLE.test(text) || NO_DIGITS.test(text) ? (single ? Math.fround(number(text)) : number(text)) : null);

// By sort of column: how its cells are read, how literals are (null: they are none), their order.
export const READ = {
  int: { cell: exact, literal: (text) => (EXACT.test(text) ? exact(text) : null), order: orderOfExact },
  decimal: { cell: exact, literal: (text) => (EXACT.test(text) ? exact(text) : null), order: orderOfExact },
  double: { cell: number, literal: rounding(false), order: orderOfDoubles },
  float: { cell: number, literal: rounding(true), order: orderOfDoubles },
  text: { cell: (text) => text, literal: (text) => text, order: orderOfTexts },
  date: { cell: (text) => text, literal: (text) => (DATE.test(text) && !Number.isNaN(Date.parse(text)) ? text : null), order },
  time: { cell: instant, literal: instant, order },
  truth: { cell: (text) => text === "true", literal: (text) => ({ true: true, false: false })[text.toLowerCase()] ?? null, order },
};

function pattern(text) {
  const parts = text.match(/\\?[^]/gu) ?? [];
  const plain = (part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`^${parts.map((part) => ({ "%": ".*", _: "." })[part] ?? plain(part.length > 1 && part[0] === "\\" ? part.slice(1) : part)).join("")}$`, "su");
}

// Whether a comparison holds for each row of a column: true, false, or null as SQL's NULL.
function decided({ op, column, values }, { sort, cells }) {
  if (op === "null") return cells.map((cell) => cell === null);
  const read = READ[sort];
  if (!read) throw new Refused("refused", `${column} is not compared in this page.`);
  if (op === "like") {
    if (sort === "double" || sort === "float" || sort === "time") throw new Refused("refused", `${column} is not a text: LIKE does not compare it here.`);
    const like = pattern(values[0]);
    return cells.map((cell) => (cell === null ? null : like.test(cell)));
  }
  const { cell: own, literal, order: compared } = read;
  const literals = values.map((text) => literal(text));
  if (literals.includes(null)) throw new Refused("refused", `${column}: '${values[literals.indexOf(null)]}' is no such value.`);
  const holds = op === "in" ? COMPARED["="] : COMPARED[op];
  return cells.map((cell) => {
    if (cell === null) return null;
    const value = own(cell);
    return literals.some((each) => holds(compared(value, each)));
  });
}

// The rows of columns, by name, that meet a condition.
export function mask(condition, columnOf) {
  const { op, parts } = condition;
  if (!parts) return decided(condition, columnOf(condition.column));
  const masks = parts.map((part) => mask(part, columnOf));
  if (op === "not") return masks[0].map((value) => (value === null ? null : !value));
  const absorbing = op === "or";
  return masks.reduce((left, right) =>
    left.map((value, row) => {
      if (value === absorbing || right[row] === absorbing) return absorbing;
      return value === null || right[row] === null ? null : !absorbing;
    }),
  );
}

// Reads a condition on columns; `implied`: the one that all comparisons are of.
export function readCondition(text, relation, columns, implied = "") {
  const known = new Map(columns.map((name) => [name.toLowerCase(), name]));
  const problem = (what) =>
    new Refused("refused", `'${text.trim()}' is not a condition on ${relation}: ${what}.\nWrite a column (${columns.join(", ")}), then =, <>, <, <=, >, >=, IN (…), BETWEEN … AND …, LIKE '…%' or IS NULL; join several by AND, OR and NOT.`);
  const tokens = [];
  const end = text.trimEnd().length;
  for (LEXEME.lastIndex = 0; LEXEME.lastIndex < end; ) {
    const from = LEXEME.lastIndex;
    const match = LEXEME.exec(text);
    if (!match) throw problem(`'${text.slice(from).trim().slice(0, 20)}' cannot be read`);
    const place = match.slice(1).findIndex((part) => part !== undefined);
    tokens.push([LEXEMES[place], match[place + 1]]);
  }
  let at = 0;
  const word = (offset = 0) => {
    const [sort, value] = tokens[at + offset] ?? [];
    const plain = value?.toLowerCase() ?? "";
    return ["op", "mark", "range"].includes(sort) || RESERVED.has(plain) ? plain : "";
  };
  const accept = (wanted) => at < tokens.length && word() === wanted && Boolean((at += 1));
  const expect = (wanted) => {
    if (!accept(wanted)) throw problem(`${wanted.toUpperCase()} is missing`);
  };
  const several = (op, read) => {
    const parts = [read()];
    while (accept(op)) parts.push(read());
    return parts.length === 1 ? parts[0] : { op, parts };
  };
  const either = () => several("or", () => several("and", negated));
  const negated = () => {
    if (word() === "not" && !(implied && ["in", "null"].includes(word(1)))) {
      at += 1;
      return { op: "not", parts: [negated()] };
    }
    if (!accept("(")) return comparison();
    const inner = either();
    expect(")");
    return inner;
  };
  const columnName = () => {
    if (at >= tokens.length) throw problem("it ends too early");
    const [sort, value] = tokens[at];
    const name = sort === "name" ? value.slice(1, -1).replaceAll("``", "`") : value;
    if (!["word", "name"].includes(sort) || !known.has(name.toLowerCase())) throw problem(`'${value}' is none of its columns`);
    at += 1;
    return known.get(name.toLowerCase());
  };
  const value = () => {
    if (tokens[at]?.[0] === "text") return tokens[at++][1].slice(1, -1).replaceAll("''", "'");
    const words = [];
    while (tokens[at]?.[0] === "word" && !RESERVED.has(word())) words.push(tokens[at++][1]);
    if (!words.length) throw problem("a value is missing");
    return ungrouped(words.join(" "));
  };
  // Of a list a comma always separates.
  const listed = () => {
    const [sort] = tokens[at] ?? [];
    const first = at;
    const found = value();
    return sort === "text" ? [found] : tokens.slice(first, at).map(([, token]) => token).join(" ").split(",");
  };
  const between = (column, mark) => {
    const low = { op: ">=", column, values: [value()] };
    expect(mark);
    return { op: "and", parts: [low, { op: "<=", column, values: [value()] }] };
  };
  const comparison = () => {
    const column = implied || columnName();
    let negative = accept("not");
    let found;
    if (accept("is")) {
      negative = accept("not");
      expect("null");
      found = { op: "null", column };
    } else if (implied && accept("null")) found = { op: "null", column };
    else if (accept("in")) {
      expect("(");
      const values = listed();
      while (accept(",")) values.push(...listed());
      expect(")");
      found = { op: "in", column, values };
    } else if (accept("between")) found = between(column, "and");
    else if (accept("like")) found = { op: "like", column, values: [value()] };
    else if (["=", "<>", "!=", "<", "<=", ">", ">="].includes(word())) {
      const op = word().replace("!=", "<>");
      at += 1;
      found = op === "=" && word(1) === ".." ? between(column, "..") : { op, column, values: [value()] };
    } else if (implied && word(1) === "..") found = between(column, "..");
    else throw problem(`${column} is compared with nothing`);
    return negative ? { op: "not", parts: [found] } : found;
  };
  const found = either();
  if (at < tokens.length) throw problem(`'${tokens[at][1]}' is not expected`);
  return found;
}

// The rows of a column that meet a filter: a condition, or else a text that is within the values.
export function filtered(text, name, column) {
  const plain = text.trim();
  const begins = plain.toLowerCase().split("(")[0].split(" ")[0];
  const sign = "=<>!".includes(plain[0]);
  if (sign || ["in", "between", "like", "null", "is", "not"].includes(begins) || plain.includes("..")) {
    try {
      return mask(readCondition(plain, name, [name], name), () => column);
    } catch (error) {
      if (sign || !error.message.includes("is not a condition on")) throw error;
    }
  }
  if (!READ[column.sort]) throw new Refused("refused", `${name} is not compared in this page.`);
  if (["double", "float", "time"].includes(column.sort)) throw new Refused("refused", `${name} is filtered by comparisons in this page, such as > 5.`);
  const wanted = (column.sort === "text" ? plain : ungrouped(plain)).toLowerCase();
  return column.cells.map((cell) => (cell === null ? null : cell.toLowerCase().includes(wanted)));
}

// Places of a column's rows in its order; rows that are equal stay as they are. NULL and NaN
// are last, or where SQL's ORDER BY has them: `nullsFirst` is then true or false.
export function sortedPlaces(places, { sort, cells }, descending, nullsFirst = null) {
  const read = READ[sort];
  if (!read) throw new Refused("refused", "These values have no order to sort by.");
  const keys = new Map(places.map((place) => [place, cells[place] === null ? null : read.cell(cells[place])]));
  const apart = (key) => (key === null ? (nullsFirst ? -2 : 2) : Number.isNaN(key) ? (descending && nullsFirst !== null ? -1 : 1) : 0);
  return [...places].sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    return apart(x) - apart(y) || (apart(x) ? 0 : descending ? read.order(y, x) : read.order(x, y));
  });
}
