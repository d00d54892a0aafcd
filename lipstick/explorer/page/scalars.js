// Values of a saved page, and scalars of them: steps that rewriter/interpret/steps.py writes, evaluated as Spark does.

import { COMPARED, exact, order, orderOfDoubles, orderOfExact, orderOfTexts } from "./conditions.js";

export const LARGEST = 10n ** 38n;

// What only Spark or the explorer can compute; it is refused where an answer needs it.
export class Unknown {
  constructor(what) {
    this.what = what;
  }
}

export const TOO_LARGE = new Unknown("a number that is too large for a page");

// A double as Python writes it.
function doubleText(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const [digits, power] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  if (Object.is(value, -0)) return "-0.0";
  const text = Math.abs(value) < 1e-6 ? value.toFixed(20).replace(/0+$/, "") : String(value);
  return text.includes(".") ? text : `${text}.0`;
}

export function exactText({ n, s }, scale) {
  const scaled = scale >= s ? n * 10n ** BigInt(scale - s) : n / 10n ** BigInt(s - scale);
  if (scaled * 10n ** BigInt(Math.max(0, s - scale)) !== n * 10n ** BigInt(Math.max(0, scale - s))) return TOO_LARGE;
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${scaled < 0n ? "-" : ""}${digits.slice(0, point)}${scale ? `.${digits.slice(point)}` : ""}`;
}

// A value as the cell of a column.
export function cellText(value, { sort, scale }) {
  if (value instanceof Unknown || value === null) return value;
  if (sort === "double" || sort === "float") {
    const double = typeof value === "number" ? value : Number(value.n === undefined ? NaN : exactText(value, value.s));
    return doubleText(sort === "float" ? Math.fround(double) : double);
  }
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") return value;
  if (value.n !== undefined && (sort === "int" || sort === "decimal")) return exactText(value, sort === "int" ? 0 : scale);
  return value.v ?? new Unknown("a value of another type");
}

// A plain value: NULL, a truth value, a number in digits or as a double, a text, or another one.
export function plainValue(value) {
  if (value === null || typeof value !== "object") return value;
  if ("e" in value) return exact(value.e);
  if ("d" in value) return Number(value.d);
  return value;
}

// Whether a comparison of two values holds: NULL is equal to nothing, or to NULL by <=>.
export function compared(op, left, right) {
  if (left instanceof Unknown) return left;
  if (right instanceof Unknown) return right;
  if (left === null || right === null) return op === "<=>" && left === right;
  const sort = (value) => (typeof value !== "object" ? typeof value : value.n !== undefined ? "exact" : value.k);
  const kind = sort(left);
  if (kind !== sort(right) || kind === "other" || Number.isNaN(left) || Number.isNaN(right)) return new Unknown("a comparison of values of different types");
  const holds = COMPARED[op === "<=>" ? "=" : op];
  if (kind === "exact") return holds(orderOfExact(left, right));
  if (kind === "number" || kind === "boolean") return holds(order(left, right));
  return holds(orderOfTexts(left.v ?? left, right.v ?? right));
}

// -- numbers --------------------------------------------------------------------------------------

const tenTo = (power) => 10n ** BigInt(power);

// A quotient of integers, rounded half away from zero.
function halfUp(top, below) {
  const size = (value) => (value < 0n ? -value : value);
  const half = (2n * size(top) + size(below)) / (2n * size(below));
  return top < 0n === below < 0n ? half : -half;
}

// A quotient of exact numbers with some digits after the point.
export function quotient(a, b, scale) {
  const shift = scale + b.s - a.s;
  return { n: halfUp(a.n * tenTo(Math.max(0, shift)), b.n * tenTo(Math.max(0, -shift))), s: scale };
}

export const rescaled = (value, scale) => quotient(value, { n: 1n, s: 0 }, scale);

function double(value) {
  return typeof value === "number" ? value : Number(exactText(value, value.s));
}

// A number as a value of a kind; an integer is what is before the point.
export function converted(value, { sort, scale, bits, digits }) {
  if (value === null || value instanceof Unknown) return value;
  if (sort === "double") return double(value);
  if (sort === "float") return Math.fround(double(value));
  if (sort === "text" && typeof value !== "string") return typeof value === "boolean" ? String(value) : exactText(value, 0);
  if (sort !== "int" && sort !== "decimal") return value;
  if (value.n === undefined) return new Unknown("a value of another type");
  const whole = sort === "int" ? { n: value.n / tenTo(value.s), s: 0 } : rescaled(value, scale);
  const least = sort === "int" ? -(2n ** BigInt(bits - 1)) : 1n - tenTo(digits);
  const most = sort === "int" ? -least - 1n : -least;
  return whole.n < least || whole.n > most ? TOO_LARGE : whole;
}

// The digits of a double's shortest text.
function digitsOf(value) {
  const [digits, power] = value.toExponential().split("e");
  const { n, s } = exact(digits);
  const scale = s - Number(power);
  return scale < 0 ? { n: n * tenTo(-scale), s: 0 } : { n, s: scale };
}

const FAILS = new Unknown("a division by zero");
const DIVISION_SCALE = 39; // Spark divides decimals to so many digits, and rounds then

export const ON_EXACT = {
  "+": (a, b) => aligned(a, b, (x, y) => x + y),
  "-": (a, b) => aligned(a, b, (x, y) => x - y),
  "*": (a, b) => ({ n: a.n * b.n, s: a.s + b.s }),
  "/": (a, b) => (b.n === 0n ? FAILS : quotient(a, b, DIVISION_SCALE)),
  "%": (a, b) => (b.n === 0n ? FAILS : { n: a.n % b.n, s: 0 }),
  div: (a, b) => (b.n === 0n ? FAILS : { n: a.n / b.n, s: 0 }),
  neg: (a) => ({ n: -a.n, s: a.s }),
  abs: (a) => ({ n: a.n < 0n ? -a.n : a.n, s: a.s }),
  round: (a) => a,
  floor: (a) => ({ n: floorOf(a.n, tenTo(a.s)), s: 0 }),
  ceil: (a) => ({ n: -floorOf(-a.n, tenTo(a.s)), s: 0 }),
};

const ON_DOUBLES = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (b === 0 ? FAILS : a / b),
  neg: (a) => -a,
  abs: (a) => Math.abs(a),
  sqrt: (a) => Math.sqrt(a),
  round(a, digits = { n: 0n }) {
    if (!Number.isFinite(a)) return a;
    const places = Number(digits.n);
    const rounded = places >= 0 ? rescaled(digitsOf(a), places) : { n: halfUp(digitsOf(a).n, tenTo(digitsOf(a).s - places)) * tenTo(-places), s: 0 };
    return double(rounded) + 0;
  },
};

function aligned(a, b, operation) {
  const scale = Math.max(a.s, b.s);
  return { n: operation(rescaled(a, scale).n, rescaled(b, scale).n), s: scale };
}

function floorOf(top, below) {
  return top / below - (top % below !== 0n && top < 0n !== below < 0n ? 1n : 0n);
}

const floating = ({ sort }) => sort === "double" || sort === "float";

function numeric(operation, kind, values) {
  const name = operation === "ceiling" ? "ceil" : operation;
  if (floating(kind)) {
    const digits = name === "round" ? values.slice(1) : [];
    const operands = (digits.length ? values.slice(0, 1) : values).map((value) => converted(value, kind));
    const result = ON_DOUBLES[name](...operands, ...digits);
    return result instanceof Unknown ? result : converted(result, kind);
  }
  if ((name === "floor" || name === "ceil") && typeof values[0] === "number") {
    const whole = Math[name](values[0]);
    return Math.abs(values[0]) < 2 ** 53 ? { n: BigInt(whole), s: 0 } : TOO_LARGE;
  }
  if (values.some((value) => value.n === undefined)) return new Unknown("a value of another type");
  const result = ON_EXACT[name](...values);
  if (result instanceof Unknown) return result;
  return converted(result, kind);
}

// -- scalars --------------------------------------------------------------------------------------

// The order of two values of one kind, NaN the largest; undefined where they have none.
export function orderOfValues(a, b) {
  if (typeof a === "number" && typeof b === "number") return orderOfDoubles(a, b);
  if (a.n !== undefined && b.n !== undefined) return orderOfExact(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return order(a, b);
  const [left, right] = [a, b].map((value) => (value.k === "other" ? undefined : (value.v ?? value)));
  return typeof left === "string" && typeof right === "string" && a.k === b.k ? orderOfTexts(left, right) : undefined;
}

function comparison(op, kind, left, right) {
  const [a, b] = [left, right].map((value) => (floating(kind) ? converted(value, kind) : value));
  for (const value of [a, b]) if (value instanceof Unknown) return value;
  if (a === null || b === null) return op === "<=>" ? a === b : null;
  const found = orderOfValues(a, b);
  return found === undefined ? new Unknown("a comparison of values of different types") : COMPARED[op === "<=>" ? "=" : op](found);
}

// Three-valued logic: one part that is absorbing decides, whatever the others are.
function connected(parts, absorbing) {
  const values = parts();
  if (values.includes(absorbing)) return absorbing;
  const unknown = values.find((value) => value instanceof Unknown);
  return unknown ?? (values.includes(null) ? null : !absorbing);
}

// The value of a scalar; `operand(place)`: what it reads.
export function scalar(step, operand) {
  const [operation, kind, ...parts] = step;
  const value = (part) => scalar(part, operand);
  switch (operation) {
    case "column":
      return converted(operand(parts[0]), kind);
    case "plain":
      return converted(plainValue(parts[0]), kind);
    case "as":
      return converted(value(parts[0]), kind);
    case "and":
    case "or":
      return connected(() => parts.map(value), operation === "or");
    case "not": {
      const truth = value(parts[0]);
      return typeof truth === "boolean" ? !truth : truth;
    }
    case "is": {
      const found = value(parts[0]);
      return found instanceof Unknown ? found : found === parts[1];
    }
    case "case": {
      const [tests, values, other] = parts;
      for (let place = 0; place < tests.length; place += 1) {
        const truth = value(tests[place]);
        if (truth instanceof Unknown) return truth;
        if (truth) return converted(value(values[place]), kind);
      }
      return converted(value(other), kind);
    }
    case "first": {
      let found = null;
      for (let place = 0; place < parts.length && found === null; place += 1) found = value(parts[place]);
      return converted(found, kind);
    }
    case "greatest":
    case "least": {
      let best = null;
      for (const each of parts.map(value)) {
        if (each instanceof Unknown) return each;
        if (each === null) continue;
        const better = best === null || comparison(operation === "least" ? "<" : ">", kind, each, best);
        if (better instanceof Unknown) return better;
        if (better) best = each;
      }
      return converted(best, kind);
    }
    default: {
      const values = parts.map(value);
      if (operation in COMPARED || operation === "<=>") return comparison(operation, kind, ...values);
      const unknown = values.find((each) => each instanceof Unknown);
      return unknown ?? (values.includes(null) ? null : numeric(operation, kind, values));
    }
  }
}

// -- aggregates ------------------------------------------------------------------------------------

// Sums of the values beside annotations: exact numbers and doubles as integers of one unit.
export class Scalar {
  constructor({ monoid, sort, scale, unit, quotient, values }) {
    Object.assign(this, { monoid, sort, scale, unit, quotient });
    this.adds = monoid === "SUM" || monoid === "AVG";
    this.values = this.adds ? values.map(BigInt) : values.map(plainValue);
    this.least = monoid === "MIN";
  }

  // The value of a sum of so many values.
  finished(count, total) {
    if (this.monoid === "COUNT") return { n: BigInt(count), s: 0 };
    if (count === 0) return null;
    if (!this.adds) return this.values[total];
    if (this.sort === "double") {
      const sum = Number(total) * 2 ** this.unit;
      if (!Number.isFinite(sum)) return TOO_LARGE;
      return this.monoid === "AVG" ? sum / count : sum;
    }
    if (this.monoid === "SUM") {
      const most = this.sort === "int" ? 2n ** 63n : LARGEST;
      return total < most && total > -most ? { n: total, s: this.scale } : TOO_LARGE;
    }
    if (this.quotient === null) return Number(exactText({ n: total, s: this.scale }, this.scale)) / count;
    return quotient({ n: total, s: this.scale }, { n: BigInt(count), s: 0 }, this.quotient);
  }
}
