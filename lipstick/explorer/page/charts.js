// Charts, as SVG: bars of what a value is made of, and of how it would change.

import { s, rounded } from "./dom.js";

const WIDTH = 400;
const LINE = 24;

function shortened(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 10)}…${text.slice(-9)}`;
}

// Bars from a common line, the largest first; `kind` of a bar colours it.
export function bars(items, { label, format = (bar) => bar.text ?? rounded(bar.value), onpick, names = 150 }) {
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
    const pick = onpick && item.pick;
    return s(
      "g",
      {
        class: `bar ${item.kind ?? ""}${pick ? " pickable" : ""}`,
        role: pick ? "button" : null,
        tabindex: pick ? "0" : null,
        "aria-label": pick ? `${item.label}: ${format(item)}` : null,
        onclick: pick ? () => onpick(item) : null,
        onkeydown: pick
          ? (event) => {
              if (event.key === "Enter" || event.key === " ") {
                event.preventDefault();
                onpick(item);
              }
            }
          : null,
      },
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
      role: onpick ? "group" : "img",
      "aria-label": label,
    },
    low < 0 && s("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: items.length * LINE }),
    rows,
  );
}

// A tornado: from the value as it is to what it would be without each input.
export function tornado(items, { label, value, names = 120 }) {
  const left = names;
  const room = WIDTH - left - 96;
  const changes = items.map((item) => item.change ?? 0);
  const low = Math.min(0, ...changes);
  const high = Math.max(0, ...changes);
  const span = high - low || 1;
  const x = (change) => left + ((change - low) / span) * room;
  const top = 22;
  return s(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${WIDTH} ${items.length * LINE + top + 6}`,
      role: "img",
      "aria-label": label,
    },
    s("text", { class: "bar-name", x: x(0), y: 13, "text-anchor": "middle" }, value === null ? "" : `now ${rounded(value)}`),
    s("line", { class: "axis", x1: x(0), x2: x(0), y1: top - 4, y2: items.length * LINE + top }),
    items.map((item, number) => {
      const y = top + number * LINE;
      const change = item.change ?? 0;
      const from = Math.min(x(0), x(change));
      const kind = item.gone ? "gone" : change < 0 ? "less" : change > 0 ? "more" : "same";
      const text = item.gone ? "row gone" : change === 0 ? "no change" : `${change > 0 ? "+" : "−"}${rounded(Math.abs(change))}`;
      return s(
        "g",
        { class: `bar ${kind}` },
        s("title", null, `without ${item.label}: ${item.gone ? "the row is gone" : (item.new ?? "NULL")}`),
        s("text", { class: "bar-name", x: left - 10, y: y + 13, "text-anchor": "end" }, shortened(item.label, Math.floor(left / 7))),
        s("rect", { class: "bar-fill", x: from, y, width: Math.max(1.5, Math.abs(x(change) - x(0))), height: LINE - 8, rx: 2 }),
        s("text", { class: "bar-value", x: Math.max(x(0), x(change)) + 8, y: y + 13 }, text),
      );
    }),
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
