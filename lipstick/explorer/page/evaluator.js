// Answers of a saved page to what was not asked before: the circuit of a capture's annotations,
// evaluated without some input rows. See lipstick/explorer/captures/portable.py for its form.

import { canonical, Refused } from "./asking.js";
import { filtered, mask, readCondition, sortedPlaces } from "./conditions.js";
import { Scalar, TOO_LARGE, Unknown, cellText, compared, plainValue, scalar } from "./scalars.js";
import { windowValues } from "./windows.js";
import { Changes, unsaved } from "./changes.js";

const [CONSTANT, TOKEN, PRODUCT, SUM, DELTA, MONUS, COMPARE, CONDITION, TENSOR, PLAIN, APPLIED, CHOICE, , ROWS, WINDOWED] = Array(15).keys();
const LISTED = 200; // rows that differ which are listed

function known(value) {
  if (!(value instanceof Unknown)) return value;
  throw unsaved(`This depends on ${value.what}, which a saved page does not compute.`);
}

// Gates in topological order with their edges; evaluated where some tokens are gone, or some gates
// have other values.
class Circuit {
  constructor({ kind, payload, size, child, label, scalars, functions, comparisons, plain, opaque }) {
    Object.assign(this, { kind, payload, child, label, functions, comparisons });
    this.start = [0];
    for (const each of size) this.start.push(this.start.at(-1) + each);
    // An edge has the distance to its end.
    kind.forEach((_, gate) => {
      for (let edge = this.start[gate]; edge < this.start[gate + 1]; edge += 1) child[edge] = gate - child[edge];
    });
    this.scalars = scalars.map((each) => new Scalar(each));
    this.plain = plain.map(plainValue);
    this.opaque = new Map(opaque.map(([gate, what, value]) => [gate, { what: new Unknown(what), value: value && plainValue(value.now) }]));
    this.base = this.evaluate(new Set());
  }

  // Values of all gates, without the tokens that are gone and with the values that are given; the
  // others are as now.
  evaluate(gone, given = new Map()) {
    const world = { values: [], counts: [], touched: new Uint8Array(this.kind.length), given };
    for (const gate of this.kind.keys()) this.step(gate, gone, world);
    return world;
  }

  step(gate, gone, world) {
    const { values, touched, given } = world;
    const kind = this.kind[gate];
    if (given.has(gate)) {
      touched[gate] = 1;
      values[gate] = given.get(gate);
      return;
    }
    const [first, end] = [this.start[gate], this.start[gate + 1]];
    if (kind === TOKEN) touched[gate] = gone.has(this.payload[gate]) ? 1 : 0;
    for (let edge = first; edge < end && !touched[gate]; edge += 1) touched[gate] = touched[this.child[edge]];
    if (this.base && !touched[gate]) {
      values[gate] = this.base.values[gate];
      world.counts[gate] = this.base.counts[gate];
    } else if (kind === TENSOR && !this.opaque.has(gate)) this.add(gate, first, end, world);
    else values[gate] = this.opaque.has(gate) ? this.untold(gate, touched[gate]) : this.value(gate, kind, first, end, world);
  }

  untold(gate, touched) {
    const { what, value } = this.opaque.get(gate);
    return touched || value === null ? what : value;
  }

  value(gate, kind, first, end, { values, touched }) {
    const of = (edge) => values[this.child[edge]];
    switch (kind) {
      case CONSTANT:
        return this.payload[gate];
      case TOKEN:
        return touched[gate] ? 0 : 1;
      case PLAIN:
        return this.plain[this.payload[gate]];
      case DELTA:
        return of(first) instanceof Unknown ? of(first) : Math.min(of(first), 1);
      case MONUS: {
        const [a, b] = [of(first), of(first + 1)];
        if (a === 0 || a instanceof Unknown) return a;
        return b instanceof Unknown ? b : Math.max(0, a - b);
      }
      case COMPARE: {
        const [op, plain] = this.comparisons[this.payload[gate]];
        return this.truth(compared(op, of(first), end - first > 1 ? of(first + 1) : plainValue(plain)));
      }
      case CONDITION:
        return this.truth(of(first));
      case CHOICE:
        for (let edge = first; edge < end; edge += 2) {
          if (of(edge) instanceof Unknown) return of(edge);
          if (of(edge) > 0) return of(edge + 1);
        }
        return null;
      case APPLIED:
        return scalar(this.functions[this.payload[gate]], (place) => of(first + place));
      case ROWS: {
        const call = this.functions[this.payload[gate]];
        return windowValues(call, Array.from({ length: (end - first) / call.width }, (_, row) => Array.from({ length: call.width }, (_, place) => of(first + row * call.width + place))));
      }
      case WINDOWED:
        return of(first) instanceof Unknown ? of(first) : of(first)[this.payload[gate]];
      default:
        return this.count(kind, first, end, values);
    }
  }

  truth(value) {
    return value instanceof Unknown ? value : Number(value === true);
  }

  count(kind, first, end, values) {
    let total = kind === SUM ? 0 : 1;
    let unknown = null;
    for (let edge = first; edge < end; edge += 1) {
      const value = values[this.child[edge]];
      if (value instanceof Unknown) unknown = value;
      else if (kind === SUM) total += value * this.label[edge];
      else total *= value ** this.label[edge];
    }
    if (unknown && (kind === SUM || total)) return unknown;
    return total > Number.MAX_SAFE_INTEGER ? TOO_LARGE : total;
  }

  // Tensors: how many values, and their sum or the place of their extreme.
  add(gate, first, end, { values, counts }) {
    const scalar = this.scalars[this.payload[gate]];
    let [number, total] = [0, scalar.adds ? 0n : null];
    for (let edge = first; edge < end; edge += 1) {
      const below = this.child[edge];
      let [own, part] = [values[below], null];
      const nested = this.kind[below] === TENSOR;
      if (nested) [own, part] = counts[below] ?? [values[below], null];
      if (own instanceof Unknown) {
        values[gate] = own;
        counts[gate] = [own, null];
        return;
      }
      if (!own) continue;
      if (!scalar.adds) own = scalar.monoid === "COUNT" ? own : 1;
      number += own;
      if (scalar.adds) total += nested ? part : own === 1 ? scalar.values[this.label[edge]] : BigInt(own) * scalar.values[this.label[edge]];
      else if (scalar.monoid !== "COUNT") {
        const place = nested ? part : this.label[edge];
        if (total === null || (scalar.least ? place < total : place > total)) total = place;
      }
    }
    counts[gate] = [number, total];
    values[gate] = number > Number.MAX_SAFE_INTEGER ? TOO_LARGE : scalar.finished(number, total);
  }
}

// The answer of a capture in worlds without some rows.
export class Evaluator {
  constructor({ circuit, relations, changes, columns, shown, limit, rows }) {
    this.circuit = new Circuit(circuit);
    this.relations = new Map(relations.map((each) => [each.name, { ...each, place: new Map(each.keys.map((key, row) => [JSON.stringify(key), row])) }]));
    this.values = new Changes(changes, this.relations, (relation, name) => this.column(relation, name));
    this.columns = columns.slice(0, shown);
    this.all = columns; // with those that LIMIT sorts by
    this.limit = limit;
    this.rows = rows.gate.map((gate, row) => ({ gate, position: rows.position[row], copies: rows.copies[row], cells: rows.cells[row], shown: rows.cells[row].slice(0, shown), formal: rows.formal[row] }));
    this.answer = [];
    this.rows.forEach((row, number) => {
      for (let copies = row.copies; copies > 0; copies -= 1) this.answer.push(number);
    });
    this.kept = new Map();
  }

  // The tokens that a scenario removes, or the gates with other values, and how many of each relation.
  supposed(scenario) {
    const update = Object.entries(scenario.update ?? {}).filter(([, text]) => text.trim());
    const { gone, removed, unused } = this.removed(scenario);
    if (update.length && Object.keys(removed).length) throw new Refused("refused", "A scenario removes rows or changes values.\nDo the other in a scenario beside it.");
    return { gone, removed, unused, ...(update.length ? this.values.supposed(update) : { given: new Map(), updated: {} }) };
  }

  removed(scenario) {
    const gone = new Set();
    const [removed, unused] = [{}, {}];
    const relation = (name) => {
      const found = this.relations.get(name);
      if (!found) throw new Refused("refused", `The query reads no relation '${name}' with rows to remove.`);
      return found;
    };
    for (const [name, keys] of Object.entries(scenario.delete ?? {})) {
      const { place, first } = relation(name);
      const missing = keys.filter((key) => !place.has(JSON.stringify(key))).length;
      for (const key of keys) if (place.has(JSON.stringify(key))) gone.add(first + place.get(JSON.stringify(key)));
      if (missing) unused[name] = missing;
      removed[name] = keys.length;
    }
    for (const [name, text] of Object.entries(scenario.where ?? {})) {
      if (!text.trim()) continue;
      const found = relation(name);
      const before = gone.size;
      const condition = readCondition(text, name, found.columns.map((column) => column.name));
      mask(condition, (column) => this.column(found, column)).forEach((meets, row) => meets && gone.add(found.first + row));
      removed[name] = (removed[name] ?? 0) + gone.size - before;
    }
    return { gone, removed, unused };
  }

  column(relation, name) {
    const column = relation.columns.find((each) => each.name === name);
    if (column.cells) return column;
    throw unsaved(`The values of ${name} of ${relation.name} are not in this page.`);
  }

  // Every row of the answer in a scenario: its change, and its cells; then the rows that are new.
  world(scenario) {
    const key = canonical(scenario);
    if (!this.kept.has(key)) {
      if (this.kept.size > 20) this.kept.clear();
      this.kept.set(key, this.changes(scenario));
    }
    return this.kept.get(key);
  }

  changes(scenario) {
    const { gone, given, ...counts } = this.supposed(scenario);
    const world = this.circuit.evaluate(gone, given);
    // Rows at one position are one row with its partner, or without it.
    const left = new Map();
    const { shown, cut } = this.there(world);
    for (const number of shown) {
      const { position } = this.rows[number];
      if (!left.has(position)) left.set(position, []);
      left.get(position).push(number);
    }
    const entries = this.answer.map((number) => {
      const row = this.rows[number];
      const now = left.get(row.position) ?? [];
      const place = Math.max(0, now.indexOf(number));
      const [stays] = now.splice(place, 1);
      const beyond = cut.get(row.position);
      if (stays === undefined && beyond) return { number, change: "deleted", cells: this.cells(beyond.number, world).slice(0, this.columns.length), rank: beyond.rank };
      if (stays === undefined) return { number, change: "deleted", cells: null };
      const cells = this.cells(stays, world).slice(0, this.columns.length);
      return { number, cells, change: cells.some((text, at) => text !== row.shown[at]) ? "changed" : "unchanged" };
    });
    const added = [...left.values()].flat().sort((a, b) => a - b);
    entries.push(...added.map((number) => ({ number, change: "added", cells: this.cells(number, world).slice(0, this.columns.length) })));
    return { entries, ...counts };
  }

  copies(row, { values, touched }) {
    return touched[row.gate] || this.limit ? known(values[row.gate]) : row.copies;
  }

  // The rows of the answer in a world by number, copies one by one; and those that LIMIT cuts, by
  // position, with the place that each would have.
  there(world) {
    const rows = this.rows.flatMap((row, number) => Array(this.copies(row, world)).fill(number));
    if (!this.limit) return { shown: rows, cut: new Map() };
    const cells = new Map(rows.map((number) => [number, this.cells(number, world)]));
    const places = rows.sort((a, b) => this.rows[a].position - this.rows[b].position).map((_, place) => place);
    const { by, offset, limit } = this.limit;
    const sorted = by.reduceRight(
      (order, [at, descending, first]) => sortedPlaces(order, { ...this.all[at], cells: rows.map((number) => cells.get(number)[at]) }, descending, first),
      places,
    );
    const ranked = sorted.map((place, at) => ({ number: rows[place], rank: at + 1 }));
    const isShown = ({ rank }) => rank > offset && (limit === null || rank <= offset + limit);
    const cut = new Map(ranked.filter((each) => !isShown(each)).map((each) => [this.rows[each.number].position, each]));
    return { shown: ranked.filter(isShown).map(({ number }) => number), cut };
  }

  // The cells of a row in a world. Sums of doubles are rounded once here: they differ from Spark's
  // only if they differ from those that are rounded so now.
  cells(number, { values, touched }) {
    const row = this.rows[number];
    const cells = [...row.cells];
    for (const [place, gate] of row.formal) {
      if (row.copies && !touched[gate]) continue;
      const text = known(cellText(values[gate], this.all[place]));
      const before = row.copies ? cellText(this.circuit.base.values[gate], this.all[place]) : undefined;
      if (text !== before) cells[place] = text;
    }
    return cells;
  }

  ask(view, params) {
    if (view === "rows") return this.window(params);
    if (view === "what_if") return { columns: this.columns, scenarios: params.scenarios.map((scenario) => this.described(scenario)) };
    return null;
  }

  described(scenario) {
    const { entries, removed, updated, unused } = this.world(scenario);
    const counts = { changed: 0, deleted: 0, added: 0, unchanged: 0 };
    for (const { change } of entries) counts[change] += 1;
    const differing = entries.map((entry, place) => ({ ...entry, place })).filter(({ change }) => change !== "unchanged");
    return {
      counts,
      differing: differing.length,
      rows: differing.slice(0, LISTED).map(({ number, change, cells, place, rank }) => ({ row: change === "added" ? null : place, change, old: change === "added" ? null : this.rows[number].shown, new: cells, ...(rank && { place: rank }) })),
      method: "this page",
      removed,
      updated,
      unused,
      python: "",
    };
  }

  // A window of the answer, sorted and filtered, in a scenario or as it is.
  window({ scenario, differing, sort = -1, descending = false, filters = {}, offset = 0, limit = 100 }) {
    const entries = scenario ? this.world(scenario).entries : this.answer.map((number) => ({ number, change: "unchanged" }));
    const shown = entries.map(({ number, change, cells }) => (change === "added" ? cells : this.rows[number].shown));
    const column = (place) => ({ ...this.columns[place], cells: shown.map((cells) => cells[place]) });
    const all = [...entries.keys()].filter((place) => !differing || entries[place].change !== "unchanged");
    let places = all;
    for (const [place, text] of Object.entries(filters)) {
      if (!text.trim()) continue;
      const meets = filtered(text, this.columns[place].name, column(Number(place)));
      places = places.filter((row) => meets[row]);
    }
    if (sort >= 0) places = sortedPlaces(places, column(sort), descending);
    const chosen = places.slice(offset, offset + limit);
    const window = { columns: this.columns, rows: chosen.map((place) => shown[place]), places: chosen, offset, total: places.length, all: all.length };
    if (!scenario) return window;
    const after = ({ change, cells, rank }) => (change === "unchanged" ? null : { change, cells, ...(rank && { place: rank }) });
    return { ...window, after: chosen.map((place) => after(entries[place])) };
  }
}

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Answers what a saved page holds, and what its circuits say; `refused`: why it has none.
export function heldAnswers(answers, circuits = {}) {
  const evaluators = {};
  const answered = async ({ source, view, params }, key) => {
    if (Object.hasOwn(answers, key)) return answers[key];
    const circuit = circuits[source];
    let why = circuit?.refused ?? "";
    if (circuit?.data) {
      try {
        // The promise is kept: questions that come together make one evaluator.
        evaluators[source] ??= inflated(circuit.data).then((data) => new Evaluator(data));
        const answer = (await evaluators[source]).ask(view, params ?? {});
        if (answer) return { answer };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return { error: { kind: error.kind, message: error.message } };
      }
    }
    return { error: { kind: "unsaved", message: `This saved page does not hold that answer${why && `: ${why}`}. Open the capture or store itself to ask: lipstick explore PATH` } };
  };
  answered.holds = (key) => answers[key]?.answer !== undefined;
  return answered;
}
