// Charts, as SVG: bars of what a value is made of, and of how it would change.

import { dated, s, rounded } from "./dom.js";

const WIDTH = 400;
const LINE = 24;

function shortened(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 10)}…${text.slice(-9)}`;
}

// Bars from a common line, the largest first; `kind` of a bar colours it.
export function bars(items, { label, format = (bar) => bar.text ?? rounded(bar.value), names = 150 }) {
  const left = names;
  const room = WIDTH - left - 84;
  const values = items.map((item) => item.value ?? 0);
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const span = high - low || 1;
  const x = (value) => left + ((value - low) / span) * room;
  const rows = items.map((item, number) => {
    const y = number * LINE + 4;
    const value = item.value ?? 0;
    const from = Math.min(x(0), x(value));
    const length = Math.max(1.5, Math.abs(x(value) - x(0)));
    return s(
      "g",
      { class: `bar ${item.kind ?? ""}` },
      s("title", null, `${item.label}\n${format(item)}`),
      s("rect", { class: "bar-row", x: 0, y: y - 4, width: WIDTH, height: LINE }),
      s("text", { class: "bar-name", x: left - 10, y: y + 13, "text-anchor": "end" }, shortened(item.label, Math.floor(left / 7))),
      s("rect", { class: "bar-fill", x: from, y: y, width: length, height: LINE - 8, rx: 2 }),
      s("text", { class: "bar-value", x: Math.max(from + length, x(0)) + 8, y: y + 13 }, format(item)),
    );
  });
  return s(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${WIDTH} ${items.length * LINE + 6}`,
      role: "img",
      "aria-label": label,
    },
    low < 0 && s("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: items.length * LINE }),
    rows,
  );
}

// The start and the end of a span on a line: of a year, a month or a day, or of a range of numbers.
function extentOf(label) {
  const range = /^(-?[\d.]+) to (-?[\d.]+)$/.exec(label ?? "");
  if (range) return [Number(range[1]), Number(range[2])];
  const parts = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/.exec(label ?? "");
  if (!parts) return null;
  const [year, month, day] = parts.slice(1).map((part) => part && Number(part));
  const end = day ? [year, month - 1, day + 1] : month ? [year, month, 1] : [year + 1, 0, 1];
  return [Date.UTC(year, (month ?? 1) - 1, day ?? 1), Date.UTC(...end)];
}

// Columns over spans, each where it is on the line; dragging over some picks them.
export function spans(items, { label, onpick, wide = 640 }) {
  const [tall, left, bottom, top] = [190, 6, 24, 16];
  const values = items.map((item) => item.value ?? 0);
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const found = items.map((item) => extentOf(item.label));
  // Where some have no place on a line, NULL say, they stand one after the other.
  const extents = found.every(Boolean) ? found : items.map((_, place) => [place, place + 1]);
  const begin = Math.min(...extents.map(([from]) => from));
  const unit = (wide - 2 * left) / (Math.max(...extents.map(([, to]) => to)) - begin || 1);
  const x = (at) => left + (at - begin) * unit;
  const y = (value) => top + (1 - (value - low) / (high - low || 1)) * (tall - top - bottom);
  let from = null;
  let named = -Infinity;
  const columns = items.map((item, place) => {
    const value = item.value ?? 0;
    const pick = () => onpick(place, place);
    const [start, end] = extents[place].map(x);
    const name = start - named >= 84 && start <= wide - 70;
    if (name) named = start;
    // Narrow columns are pressed where they are nearest.
    const reach = [place ? (x(extents[place - 1][1]) + start) / 2 : start - 4, place + 1 < items.length ? (x(extents[place + 1][0]) + end) / 2 : end + 4];
    return s(
      "g",
      {
        class: "bar pickable",
        role: "button",
        tabindex: "0",
        "aria-label": `${item.label ?? "NULL"}: ${item.text}`,
        onpointerdown: (event) => {
          event.preventDefault();
          from = place;
          mark(place);
        },
        onpointerenter: () => from !== null && mark(place),
        onpointerup: () => {
          if (from !== null) onpick(Math.min(from, place), Math.max(from, place));
          from = null;
        },
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          pick();
        },
      },
      s("title", null, `${item.label ?? "NULL"}\n${item.text}`),
      s("rect", { class: "bar-row", x: reach[0], y: top, width: Math.max(1, reach[1] - reach[0]), height: tall - top - bottom }),
      s("rect", { class: "bar-fill", x: start + Math.min(1, (end - start) / 8), y: Math.min(y(0), y(value)), width: Math.max(2.5, end - start - Math.min(2, (end - start) / 4)), height: Math.max(1, Math.abs(y(value) - y(0))) }),
      name && s("text", { class: "bar-name", x: start, y: tall - 8 }, (item.label ?? "NULL").split(" to ")[0]),
    );
  });
  const mark = (to) => columns.forEach((column, place) => column.classList.toggle("picked", place >= Math.min(from, to) && place <= Math.max(from, to)));
  return s(
    "svg",
    { class: "chart spans", viewBox: `0 0 ${wide} ${tall}`, role: "group", "aria-label": label, onpointerleave: () => (from = null) },
    s("text", { class: "bar-name", x: left, y: 11 }, rounded(high)),
    s("line", { class: "axis", x1: left, x2: wide - left, y1: y(0), y2: y(0) }),
    columns,
  );
}

// Events on a line of time up to the one that was made of them; what lies between is shaded.
export function moments(times, until, { label }) {
  const [wide, tall, left] = [360, 64, 12];
  const first = Math.min(...times, until);
  const span = Math.max(...times, until) - first || 1;
  const x = (time) => left + ((time - first) / span) * (wide - 2 * left);
  return s(
    "svg",
    { class: "chart moments", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": label },
    s("rect", { class: "moment-span", x: x(Math.min(...times)), y: 8, width: Math.max(2, x(until) - x(Math.min(...times))), height: 26 }),
    s("line", { class: "axis", x1: left, x2: wide - left, y1: 34, y2: 34 }),
    times.map((time) => s("circle", { class: "moment", cx: x(time), cy: 21, r: 4 }, s("title", null, dated(String(time))))),
    s("line", { class: "moment-end", x1: x(until), x2: x(until), y1: 6, y2: 38 }, s("title", null, dated(String(until)))),
    s("text", { class: "bar-name", x: left, y: 54 }, dated(String(first)).slice(-12)),
    s("text", { class: "bar-name", x: wide - left, y: 54, "text-anchor": "end" }, dated(String(first + span)).slice(-12)),
  );
}

// Lines over time, each named at its end; names that would be upon one another are moved apart.
export function lines(series, { label }) {
  const wide = 640;
  const tall = 190;
  const [left, right, top, bottom] = [8, 150, 12, 22];
  const drawn = series.filter((line) => line.points.length);
  const times = drawn.flatMap((line) => line.points.map(([time]) => time));
  const first = Math.min(...times);
  const span = Math.max(...times) - first || 1;
  const most = Math.max(1, ...drawn.flatMap((line) => line.points.map(([, value]) => value)));
  const x = (time) => left + ((time - first) / span) * (wide - left - right);
  const y = (value) => top + (1 - value / most) * (tall - top - bottom);
  const ends = drawn.map((line) => ({ line, value: line.points.at(-1)[1] })).sort((a, b) => b.value - a.value);
  let above = -Infinity;
  for (const end of ends) {
    end.at = Math.max(y(end.value) + 4, above + 16);
    above = end.at;
  }
  const over = above - (tall - 2);
  if (over > 0) for (const end of ends) end.at -= over;
  return s(
    "svg",
    { class: "chart lines", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `${label}: ${ends.map(({ line, value }) => `${line.name} ${rounded(value)}`).join(", ")}` },
    s("line", { class: "axis", x1: left, x2: wide - right, y1: tall - bottom, y2: tall - bottom }),
    drawn.map((line) => {
      const path = line.points.map(([time, value], number) => `${number ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join("");
      const [time, value] = line.points.at(-1);
      return s("g", { class: `series ${line.kind}` }, s("path", { d: path }), s("circle", { cx: x(time), cy: y(value), r: 3 }));
    }),
    ends.map(({ line, value, at }) => s("text", { class: `series-name ${line.kind}`, x: wide - right + 10, y: at }, `${line.name} ${rounded(value)}`)),
    s("text", { class: "bar-name", x: left, y: tall - 6 }, "first commit"),
    s("text", { class: "bar-name", x: wide - right, y: tall - 6, "text-anchor": "end" }, span < 120 ? `${rounded(Math.round(span * 10) / 10)} s later` : `${Math.round(span / 60)} min later`),
  );
}
