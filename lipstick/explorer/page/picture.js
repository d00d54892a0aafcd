// A picture of boxes and edges, in given places: it is moved, zoomed, and walked through by keys.

import { h, s, replace, button, icon, widest } from "./dom.js";

// What a mark is called, and its sign in the picture, which says without colour what it is.
export const MARKS = { lit: ["lit", "●"], gone: ["gone", "−"], changed: ["changed", "~"], stale: ["stale", "?"] };

const STEP = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

// A smooth line through points: from left to right, or around a turn where two are above one another.
export function smooth(points) {
  const [first, ...rest] = points;
  let path = `M${first[0]} ${first[1]}`;
  let [x, y] = first;
  rest.forEach(([nx, ny], number) => {
    if (nx === x && ny !== y) {
      const out = number === 0 ? 34 : -34;
      path += `C${x + out} ${y} ${x + out} ${ny} ${nx} ${ny}`;
    } else if (nx <= x) {
      path += `L${nx} ${ny}`;
    } else {
      const bend = (nx - x) / 2;
      path += `C${x + bend} ${y} ${nx - bend} ${ny} ${nx} ${ny}`;
    }
    [x, y] = [nx, ny];
  });
  return path;
}

// Units of a picture for a pixel at most: the smallest text, of 13 units, has 11 pixels.
const LEGIBLE = 13 / 11;

export class Picture {
  // `onopen(focus)` opens what a box leads to, `onpick(box)` is told which one is chosen.
  constructor({ onopen, onpick, onup, label = "Provenance graph" }) {
    this.onopen = onopen;
    this.onpick = onpick;
    this.onup = onup;
    this.svg = s("svg", { class: "picture", role: "group", "aria-label": label, onkeydown: (event) => this.key(event) });
    this.note = h("span", { class: "note" });
    const all = button(icon("fit"), () => this.fit(true), { class: "plain icon-button", "aria-label": "All of the picture", title: "All of the picture (0)" });
    this.element = h("div", { class: "picture-box" }, this.svg, h("div", { class: "fit-line" }, this.note, all));
    this.view = null;
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.grab(event));
    this.observer = new ResizeObserver(() => this.aspect());
    this.observer.observe(this.element);
  }

  stop() {
    this.observer.disconnect();
  }

  // All of it, with some room around, whatever part is seen.
  bounds() {
    return { x: -20, y: -20, width: this.answer.width + 40, height: this.answer.height + 40 };
  }

  draw(answer, keep) {
    const changed = !keep || !this.view;
    this.answer = answer;
    const marked = Boolean(answer.marked);
    const lit = (box) => Object.keys(box.marks ?? {}).length > 0;
    this.boxes = answer.boxes.map((box, number) => this.box(box, number, marked && !lit(box)));
    this.order = answer.boxes.map((_, number) => number).filter((number) => !answer.boxes[number].whole);
    const bright = answer.boxes.map((box) => !marked || lit(box));
    replace(
      this.svg,
      s("defs", null, s("marker", { id: "lx-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, s("path", { class: "arrow", d: "M0 0.800L7 4L0 7.200z" }))),
      answer.boxes.map((box, number) => (box.whole ? this.boxes[number] : null)),
      answer.edges.map((edge) => {
        const on = bright[edge.source] && bright[edge.target];
        const kind = Object.keys(answer.boxes[edge.target].marks ?? {})[0];
        return s(
          "path",
          { class: `edge${marked ? (on ? ` lit is-${kind}` : " dim") : ""}`, d: smooth(edge.points), "marker-end": "url(#lx-arrow)", "stroke-width": edge.count > 1 ? Math.min(1.2 + Math.log10(edge.count) / 3, 3.4) : 1.2 },
          s("title", null, edge.count ? `${edge.count.toLocaleString("en")} edges` : "edges"),
        );
      }),
      answer.boxes.map((box, number) => (box.whole ? null : this.boxes[number])),
    );
    this.active = this.order.includes(this.active) && keep ? this.active : this.order[0];
    const center = answer.boxes.findIndex((box) => box.center);
    const first = marked && changed ? answer.boxes.findIndex((box) => !box.whole && lit(box)) : -1;
    if (center >= 0 || first >= 0) this.active = center >= 0 ? center : first;
    this.rove();
    if (changed) this.fit();
    else this.aspect();
  }

  box(box, number, dim) {
    const [x, y, width, height] = box.at;
    const opens = box.focus !== null;
    const marks = Object.entries(box.marks ?? {});
    const words = marks.map(([kind, [count, total]]) => `${count.toLocaleString("en")} of ${total.toLocaleString("en")} ${kind}`);
    // Badges on the lower edge, or the upper one of a box that others are in, where no text is: the sign of each mark and how many nodes have it.
    const counts = marks.map(([kind, [count, total]]) => `${MARKS[kind][1]}${total > 1 ? ` ${count.toLocaleString("en", { notation: "compact" })}` : ""}`);
    const sizes = counts.map((text) => 14 + 8 * text.length);
    const wide = sizes.reduce((sum, size) => sum + size + 4, -4);
    const badges = marks.map(([kind], place) => {
      const edge = box.whole ? y : y + height;
      const left = x + (box.whole ? width - wide - 14 : (width - wide) / 2) + sizes.slice(0, place).reduce((sum, size) => sum + size + 4, 0);
      return s(
        "g",
        { class: `badge ${kind}` },
        s("rect", { class: `mark ${kind}`, x: left, y: edge - 9, width: sizes[place], height: 18, rx: 9 }),
        s("text", { class: `sign ${kind}`, x: left + sizes[place] / 2, y: edge + 4.5, "text-anchor": "middle" }, counts[place]),
      );
    });
    const title = s("title", null, [box.name, ...box.lines, ...words].join("\n"));
    if (box.whole) {
      return s(
        "g",
        { class: `box whole ${box.kind}` },
        title,
        s("rect", { x, y, width, height, rx: 12 }),
        s("text", { class: "label", x: x + 18, y: y + 25 }, box.label),
        badges,
      );
    }
    const what = box.kind === "bundle" ? "bundle" : box.kind;
    return s(
      "g",
      {
        class: `box ${box.kind}${dim ? " dim" : ""}${box.center ? " center" : ""}${marks.map(([kind]) => ` is-${kind}`).join("")}`,
        role: "button",
        tabindex: "-1",
        "aria-label": [what, box.name, ...box.lines, ...words].join(", "),
        onclick: () => this.choose(number),
        ondblclick: () => opens && this.onopen(box.focus),
        onfocus: () => {
          this.active = number;
        },
      },
      title,
      box.kind === "bundle" && s("rect", { class: "behind", x: x + 4, y: y + 4, width, height, rx: 8 }),
      s("rect", { x, y, width, height, rx: box.kind === "input" || box.kind === "node" ? height / 2 : 8 }),
      this.text("label", "600 13px", box.label, box, 22),
      box.lines.map((line, place) => this.text("line", "13px", line, box, 39 + place * 16)),
      badges,
    );
  }

  // A line of text in the middle of a box, which fonts that are wider do not lead out of it.
  text(kind, size, text, { at: [x, y, width] }, down) {
    const room = width - 16;
    const wide = widest(this.svg, size, [text]) > room;
    return s("text", { class: kind, x: x + width / 2, y: y + down, "text-anchor": "middle", textLength: wide ? room : null, lengthAdjust: wide ? "spacingAndGlyphs" : null }, text);
  }

  choose(number) {
    if (this.moved) return;
    this.active = number;
    this.rove();
    const box = this.answer.boxes[number];
    if (box.kind === "node" && this.onpick) this.onpick(box);
    else if (box.focus) this.onopen(box.focus);
  }

  rove() {
    this.boxes.forEach((element, number) => {
      if (!this.answer.boxes[number].whole) element.setAttribute("tabindex", number === this.active ? "0" : "-1");
    });
  }

  key(event) {
    const box = this.answer?.boxes[this.active];
    if (!box) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (box.kind === "node" && event.key === " ") this.onpick?.(box);
      else if (box.focus) this.onopen(box.focus);
    } else if (event.key === "Backspace" || event.key === "Escape") {
      event.preventDefault();
      this.onup?.();
    } else if (event.key === "+" || event.key === "-") {
      this.zoom(event.key === "+" ? 0.8 : 1.25);
    } else if (event.key === "0") {
      this.fit(true);
    } else if (event.key in STEP) {
      event.preventDefault();
      this.walk(STEP[event.key]);
    }
  }

  // To the nearest box in a direction.
  walk([dx, dy]) {
    const middle = (box) => [box.at[0] + box.at[2] / 2, box.at[1] + box.at[3] / 2];
    const [x, y] = middle(this.answer.boxes[this.active]);
    let best = null;
    let least = Infinity;
    for (const number of this.order) {
      if (number === this.active) continue;
      const [ox, oy] = middle(this.answer.boxes[number]);
      const along = (ox - x) * dx + (oy - y) * dy;
      const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
      if (along > 4 && along + 2.5 * aside < least) {
        least = along + 2.5 * aside;
        best = number;
      }
    }
    if (best === null) return;
    this.active = best;
    this.rove();
    this.boxes[best].focus();
    this.reveal(this.answer.boxes[best]);
  }

  reveal(box) {
    const [x, y, width, height] = box.at;
    const v = this.view;
    if (x < v.x || y < v.y || x + width > v.x + v.width || y + height > v.y + v.height) {
      v.x = x + width / 2 - v.width / 2;
      v.y = y + height / 2 - v.height / 2;
      this.apply();
    }
  }

  // -- what of the plane is seen ------------------------------------------------------------------

  get room() {
    const { width, height } = this.svg.getBoundingClientRect();
    return [Math.max(width, 100), Math.max(height, 100)];
  }

  // Shows the picture, as large as can be read; `whole`: all of it, however small.
  fit(whole = false) {
    const [width, height] = this.room;
    // Edges that turn around reach beyond the boxes.
    const sides = 30;
    const wide = (this.answer?.width ?? 100) + 2 * sides;
    const tall = (this.answer?.height ?? 100) + 72;
    const scale = Math.min(Math.max(wide / width, tall / height, 0.72), whole ? Infinity : LEGIBLE);
    this.view = { width: width * scale, height: height * scale };
    this.view.x = (wide - 2 * sides - this.view.width) / 2;
    this.view.y = (tall - 72 - this.view.height) / 2 + 12;
    const cut = wide > this.view.width + 1 || tall > this.view.height + 1;
    replace(this.note, cut && "part of the picture");
    if (cut) {
      // Where not all of it can be read at once, one begins at what is looked at, else at the start.
      const [x, y, w, h] = this.answer.boxes[this.active].at;
      if (wide > this.view.width) this.view.x = Math.max(-sides, Math.min(x + w / 2 - this.view.width / 2, wide - sides - this.view.width));
      if (tall > this.view.height) this.view.y = Math.max(-24, Math.min(y + h / 2 - this.view.height / 2, tall - 36 - this.view.height));
    }
    this.apply();
  }

  aspect() {
    if (!this.view) return;
    const [width, height] = this.room;
    const middle = this.view.y + this.view.height / 2;
    this.view.height = (this.view.width * height) / width;
    this.view.y = middle - this.view.height / 2;
    this.apply();
  }

  apply() {
    const v = this.view;
    this.svg.setAttribute("viewBox", `${v.x} ${v.y} ${v.width} ${v.height}`);
  }

  zoom(factor, at = null) {
    const v = this.view;
    const [width] = this.room;
    const scale = (v.width * factor) / width;
    if (scale < 0.2 || scale > 30) return;
    const x = at ? v.x + at[0] * v.width : v.x + v.width / 2;
    const y = at ? v.y + at[1] * v.height : v.y + v.height / 2;
    this.view = { x: x - (x - v.x) * factor, y: y - (y - v.y) * factor, width: v.width * factor, height: v.height * factor };
    this.apply();
  }

  wheel(event) {
    event.preventDefault();
    const place = this.svg.getBoundingClientRect();
    const at = [(event.clientX - place.left) / place.width, (event.clientY - place.top) / place.height];
    this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), at);
  }

  grab(event) {
    if (event.button !== 0) return;
    const start = [event.clientX, event.clientY];
    const from = { ...this.view };
    const [width] = this.room;
    this.moved = false;
    const move = (now) => {
      const dx = now.clientX - start[0];
      const dy = now.clientY - start[1];
      if (Math.abs(dx) + Math.abs(dy) > 4) this.moved = true;
      if (!this.moved) return;
      this.svg.classList.add("held");
      const scale = from.width / width;
      this.view = { ...from, x: from.x - dx * scale, y: from.y - dy * scale };
      this.apply();
    };
    const done = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", done);
      this.svg.classList.remove("held");
      setTimeout(() => {
        this.moved = false;
      }, 0);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", done);
  }
}
