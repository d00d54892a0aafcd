// Changed values of input rows in a saved page: the aggregates of one grouping, computed again from
// its members. See lipstick/explorer/captures/portable_changes.py for their form.

import { Refused } from "./asking.js";
import { EXACT, READ, exact, mask, readCondition, ungrouped } from "./conditions.js";
import { ON_EXACT, Scalar, Unknown, converted, plainValue, rescaled, scalar } from "./scalars.js";
import { extremeOf, normal } from "./windows.js";

const [UNUSED, SETTLED] = [-1, -2];
const CHANGE = /^\s*(`[^`]+`|[^\s=`]+)\s*=\s*(.+?)(?:\s+where\s+(.+))?\s*$/is;
const SCALED = /^(\S+)\s*([-+*])\s*([\d.,]+)\s*(%?)$/;
const BITS = 1000; // of a sum of doubles in units of the smallest one
const bare = (name) => name.replace(/^`+|`+$/g, "").toLowerCase();
const refusal = (message) => new Refused("refused", message);
const textOf = (value) => (value instanceof Unknown ? value.what : normal(value));
export const unsaved = (why) => new Refused("unsaved", `${why} Ask the capture itself: lipstick explore PATH`);

// Reads new values of a column: its name, how a value becomes another one, and of which rows.
function readChange(text, relation, columns) {
  const [, name, to, where] = CHANGE.exec(text) ?? [];
  const column = columns.find((each) => each.name.toLowerCase() === bare(name ?? ""));
  const names = columns.map((each) => each.name);
  if (!column) throw refusal(`'${text.trim()}' changes no column of ${relation}.\nWrite a column (${names.join(", ")}), = and a value, or a calculation such as price * 0.9 or price + 10 %; then WHERE and a condition, or nothing for all rows.`);
  const [, own, op, by, percent] = SCALED.exec(to.trim()) ?? [];
  const change = own && bare(own) === column.name.toLowerCase() ? calculated(column, op, by.replaceAll(",", ""), percent) : literal(column, to.trim());
  return { column, change, condition: where && readCondition(where, relation, names) };
}

function literal({ name, sort, ...kind }, text) {
  if (text.toLowerCase() === "null") return () => null;
  const quoted = text.length > 1 && text[0] === "'" && text.at(-1) === "'";
  const plain = ungrouped(quoted ? text.slice(1, -1).replaceAll("''", "'") : text);
  const found = sort === "time" ? null : READ[sort]?.literal(plain);
  const value = found?.n === undefined ? found : rescaled(found, kind.scale);
  const other = value?.n !== undefined && READ[sort].order(value, found) !== 0;
  if (value === undefined || value === null || other || converted(value, { sort, ...kind }) instanceof Unknown) throw refusal(`${name}: '${plain}' is no such value.`);
  return () => asValue(value, sort);
}

function calculated({ name, sort, ...kind }, op, by, percent) {
  if (!["int", "decimal", "double", "float"].includes(sort)) throw refusal(`${name} is not a number to calculate with.`);
  if (!EXACT.test(by)) throw refusal(`'${by}' is not a number to calculate with.`);
  let [operation, number] = [op, exact(by)];
  if (percent) {
    const part = { n: number.n, s: number.s + 2 };
    [operation, number] = ["*", op === "*" ? part : ON_EXACT[op]({ n: 1n, s: 0 }, part)];
  }
  if (sort === "double" || sort === "float") {
    const given = converted(number, { sort });
    const does = { "+": (a) => a + given, "-": (a) => a - given, "*": (a) => a * given }[operation];
    return (old) => (old === null ? null : converted(does(old), { sort }));
  }
  return (old) => {
    if (old === null) return null;
    const value = converted(rescaled(ON_EXACT[operation](old, number), kind.scale), { sort, ...kind });
    if (value instanceof Unknown) throw refusal(`New values of ${name} do not fit its type.`);
    return value;
  };
}

const asValue = (value, sort) => (sort === "date" ? { k: "date", v: value } : value);

// The value of a cell of a relation's source.
function cellValue(text, sort) {
  if (text === null) return null;
  return READ[sort] && sort !== "time" ? asValue(READ[sort].cell(text), sort) : new Unknown("a value of another type");
}

// A double as an integer, and the power of two that it is to be multiplied by.
function binary(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const power = Number(bits >> 52n);
  const digits = (bits & (2n ** 52n - 1n)) + (power ? 2n ** 52n : 0n);
  return { n: value < 0 ? -digits : digits, e: Math.max(power, 1) - 1075 };
}

// The sum of numbers of one sort, exact; of doubles it is rounded once.
function exactSum(call, values) {
  const [, { sort, scale }] = call.steps[0];
  const sumOfParts = (parts) => parts.reduce((sum, part) => sum + part, 0n);
  if (sort !== "double" && sort !== "float") {
    return new Scalar({ ...call, sort, scale, values: [] }).finished(values.length, sumOfParts(values.map(({ n }) => n)));
  }
  if (!values.every(Number.isFinite)) return new Unknown("a sum of numbers that are not finite");
  const parts = values.map(binary).filter(({ n }) => n);
  const unit = parts.reduce((least, { e }) => Math.min(least, e), 0);
  if (parts.some(({ e }) => e - unit > BITS)) return new Unknown("a sum of numbers of very different sizes");
  const total = sumOfParts(parts.map(({ n, e }) => n << BigInt(e - unit)));
  return new Scalar({ ...call, sort: "double", unit, values: [] }).finished(values.length, total);
}

// The value of an aggregate over rows of arguments.
function aggregated(call, rows) {
  const unknown = rows.flat().find((value) => value instanceof Unknown);
  if (unknown) return unknown;
  const there = rows.filter((row) => !row.includes(null));
  const distinct = new Map(call.distinct ? there.map((row) => [row.map(normal).join("\u0000"), row]) : []);
  const values = (call.distinct ? [...distinct.values()] : there).map(([value]) => value);
  if (call.monoid === "COUNT") return { n: BigInt(values.length), s: 0 };
  if (!values.length) return null;
  if (call.monoid === "SUM" || call.monoid === "AVG") return exactSum(call, values);
  try {
    return extremeOf(values, call.monoid === "MIN");
  } catch (error) {
    if (error instanceof Unknown) return error;
    throw error;
  }
}

// Numbers, each written less the one before.
function fromSteps(steps) {
  let at = 0;
  return steps.map((step) => {
    at += step;
    return at;
  });
}

// New values of columns of relations, and what follows from them.
export class Changes {
  // `columnOf(relation, name)`: a column of a relation's source.
  constructor({ refused, group = [], scans = [], read, columns = [], calls = [] }, relations, columnOf) {
    Object.assign(this, { refused, read, columns, calls, relations, columnOf, values: [] });
    this.scans = scans.map(({ relation, tokens }) => ({ relation: relations.get(relation), rows: fromSteps(tokens).map((token) => token - relations.get(relation).first) }));
    this.group = fromSteps(group);
    this.groups = [];
    this.group.forEach((place, member) => (this.groups[place] ??= []).push(member));
    const gates = calls.flatMap((call) => call.gates).sort((a, b) => a - b);
    this.shared = new Set(gates.filter((gate, at) => gate >= 0 && gate === gates[at - 1]));
  }

  // The values of gates once columns have others, and how many rows of each relation have these.
  supposed(update) {
    if (this.refused) throw refusal(this.refused);
    const [updated, columns] = [{}, new Map()];
    for (const [name, text] of update) {
      const relation = this.relations.get(name);
      if (!relation) throw refusal(`The query reads no relation '${name}' with rows to change.`);
      const { column, change, condition } = readChange(text, name, relation.columns);
      if (relation.columns.indexOf(column) < (relation.keys[0]?.length ?? 0)) throw refusal(`${column.name} is of the key of ${name}, which is not changed.`);
      const { cells } = this.columnOf(relation, column.name);
      const meets = condition ? mask(condition, (each) => this.columnOf(relation, each)) : cells.map(() => true);
      updated[name] = meets.filter((each) => each === true).length;
      const held = this.read[name]?.[column.name] ?? [];
      if (typeof held === "string") throw refusal(`${column.name} of ${name} ${held}`);
      const values = cells.map((cell, row) => (meets[row] === true ? change(cellValue(cell, column.sort)) : undefined));
      for (const at of held) {
        const { rows } = this.scans[this.columns[at].scan];
        columns.set(at, new Map(rows.flatMap((row, member) => (values[row] === undefined ? [] : [[member, values[row]]]))));
      }
    }
    return { given: this.gates(columns), updated };
  }

  gates(columns) {
    const given = new Map();
    for (const call of this.calls) {
      const members = [...columns].flatMap(([at, values]) => (call.operands.flat().includes(at) ? [...values.keys()] : []));
      for (const group of new Set(members.map((member) => this.group[member]))) {
        const gate = call.gates[group];
        if (gate === UNUSED) continue;
        const value = this.value(call, group, columns);
        if (gate !== SETTLED) given.set(gate, value);
        else if (textOf(value) !== textOf(this.value(call, group, new Map()))) throw unsaved("A group of nothing but NULL would have a value.");
      }
    }
    // Aggregates that are equal now are one gate: they must be equal then, too.
    for (const call of this.shared.size ? this.calls : []) {
      call.gates.forEach((gate, group) => {
        if (!this.shared.has(gate) || !given.has(gate)) return;
        if (textOf(given.get(gate)) !== textOf(this.value(call, group, columns))) given.set(gate, new Unknown("two aggregates that are equal now"));
      });
    }
    return given;
  }

  // The value of an aggregate of a group.
  value(call, group, columns) {
    if (!call.steps) return new Unknown(call.text);
    const operand = (at, member) => (columns.get(at)?.has(member) ? columns.get(at).get(member) : this.column(at)[member]);
    return aggregated(call, this.groups[group].map((member) => call.steps.map((step, part) => scalar(step, (place) => operand(call.operands[part][place], member)))));
  }

  // A column of the members as it is.
  column(at) {
    const { values, scan, name } = this.columns[at];
    const read = () => {
      if (values) return values.map(plainValue);
      const { relation, rows } = this.scans[scan];
      const source = this.columnOf(relation, relation.columns.find((each) => each.name.toLowerCase() === name.toLowerCase()).name);
      const found = source.cells.map((cell) => cellValue(cell, source.sort));
      return rows.map((row) => found[row]);
    };
    this.values[at] ??= read();
    return this.values[at];
  }
}
