// Window functions of a saved page over the rows that are there, as the engine in memory has them.

import { LARGEST, TOO_LARGE, Unknown, converted, exactText, orderOfValues, quotient } from "./scalars.js";

export const normal = (value) => (value === null ? "null" : typeof value === "number" ? `${value + 0}` : value.n !== undefined ? exactText(value, Math.max(value.s, 40)) : JSON.stringify(value));

// The values of the rows of a window function; a row is its copies, then its operands.
export function windowValues(call, all) {
  const rows = all.map((row, place) => ({ row: row.slice(1), copies: row[0], place })).filter(({ copies }) => copies !== 0);
  const unknown = rows.flatMap(({ row, copies }) => [copies, ...row]).find((value) => value instanceof Unknown);
  if (unknown) return unknown;
  if (rows.some(({ copies }) => copies > 1)) return new Unknown("a window function over copies of a row");
  const partitions = new Map();
  for (const each of rows) {
    const key = call.partition.map((place) => normal(each.row[place])).join("\u0000");
    if (!partitions.has(key)) partitions.set(key, []);
    partitions.get(key).push(each);
  }
  const values = Array(all.length).fill(null);
  try {
    for (const partition of partitions.values()) {
      partition.sort((a, b) => orderOfRows(call, a, b) || a.place - b.place);
      const found = VALUES[call.function](call, peers(call, partition));
      partition.forEach(({ place }, at) => {
        values[place] = converted(found[at], call.kind);
      });
    }
  } catch (error) {
    if (error instanceof Unknown) return error;
    throw error;
  }
  return values;
}

function orderOfRows({ order }, a, b) {
  for (const [place, descending, nullsFirst] of order) {
    const [x, y] = [a.row[place], b.row[place]];
    let found = 0;
    if (x === null || y === null) found = x === y ? 0 : (x === null) === nullsFirst ? -1 : 1;
    else {
      found = orderOfValues(x, y);
      if (found === undefined) throw new Unknown("an order of values of different types");
      if (descending) found = -found;
    }
    if (found) return found;
  }
  return 0;
}

// Rows with the first and the last of the rows that they are equal to.
function peers(call, rows) {
  let first = 0;
  rows.forEach((row, at) => {
    if (at && orderOfRows(call, rows[at - 1], row)) first = at;
    row.first = first;
  });
  for (let at = rows.length - 1; at >= 0; at -= 1) rows[at].last = rows[at + 1]?.first === rows[at].first ? rows[at + 1].last : at;
  return rows;
}

const integer = (number) => ({ n: BigInt(number), s: 0 });

// The values of the frame of each row: of rows, or of the rows up to its peers.
function frames({ frame }, rows) {
  const inside = (at) => Math.max(0, Math.min(rows.length, at));
  return rows.map(({ first, last }, at) => {
    const start = frame.start === null ? 0 : frame.rows ? inside(at + frame.start) : first;
    const end = frame.end === null ? rows.length : frame.rows ? inside(at + frame.end + 1) : last + 1;
    return rows.slice(start, Math.max(start, end)).map(({ row }) => row);
  });
}

function sumOf(call, values) {
  if (!values.length) return null;
  if (values.some((value) => value.n === undefined)) throw new Unknown("a sum of doubles in a window");
  const scale = Math.max(...values.map((value) => value.s));
  const sum = values.reduce((left, right) => left + quotient(right, integer(1), scale).n, 0n);
  const most = call.kind.sort === "int" || call.argument === "int" ? 2n ** 63n : LARGEST;
  if (sum >= most || sum <= -most) throw TOO_LARGE;
  return { n: sum, s: scale };
}

export function extremeOf(values, least) {
  let best = null;
  for (const value of values) {
    const found = best === null ? -1 : orderOfValues(value, best);
    if (found === undefined) throw new Unknown("a comparison of values of different types");
    if (best === null || (least ? found < 0 : found > 0)) best = value;
  }
  return best;
}

const notNull = (rows, place) => rows.map((row) => row[place]).filter((value) => value !== null);
const overFrames = (value) => (call, rows) => frames(call, rows).map((frame) => value(call, call.operand === null ? frame : notNull(frame, call.operand), frame));

function shifted(sign) {
  return (call, rows) =>
    rows.map((row, at) => {
      const other = rows[at + sign * call.distance];
      return other ? other.row[0] : call.otherwise === null ? null : row.row[call.otherwise];
    });
}

const VALUES = {
  row_number: (_, rows) => rows.map((_, at) => integer(at + 1)),
  rank: (_, rows) => rows.map(({ first }) => integer(first + 1)),
  dense_rank(_, rows) {
    const starts = [...new Set(rows.map(({ first }) => first))];
    return rows.map(({ first }) => integer(starts.indexOf(first) + 1));
  },
  percent_rank: (_, rows) => rows.map(({ first }) => (rows.length > 1 ? first / (rows.length - 1) : 0)),
  cume_dist: (_, rows) => rows.map(({ last }) => (last + 1) / rows.length),
  lag: shifted(-1),
  lead: shifted(1),
  first_value: overFrames((_, values, frame) => (frame.length ? frame[0][0] : null)),
  last_value: overFrames((_, values, frame) => (frame.length ? frame.at(-1)[0] : null)),
  count: overFrames((_, values) => integer(values.length)),
  sum: overFrames(sumOf),
  min: overFrames((_, values) => extremeOf(values, true)),
  max: overFrames((_, values) => extremeOf(values, false)),
  avg: overFrames((call, values) => {
    const sum = sumOf(call, values);
    if (sum === null) return null;
    if (call.kind.sort === "decimal") return quotient(sum, integer(values.length), call.kind.scale);
    return Number(exactText(sum, sum.s)) / values.length;
  }),
};
