// What is seen as files: pictures as SVG and PNG, tables as CSV and Parquet, questions as Python.

import { h, button, replace } from "./dom.js";

export function offer(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "text-decoration"];

// A copy of a picture that carries its styles with it.
export function standalone(svg, box = null) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, number) => {
    const styles = getComputedStyle(element);
    for (const name of DRAWN) to[number].setAttribute(name, styles.getPropertyValue(name));
    to[number].removeAttribute("class");
    to[number].removeAttribute("tabindex");
  });
  const view = box ?? svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  copy.setAttribute("width", view.width);
  copy.setAttribute("height", view.height);
  return new XMLSerializer().serializeToString(copy);
}

async function asPng(text, background) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(2, 8000 / Math.max(image.width, image.height, 1));
  const canvas = h("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
  const context = canvas.getContext("2d");
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

export function pictureButtons(find, name, box = () => null) {
  const background = () => getComputedStyle(find().closest(".lipstick-explorer")).backgroundColor;
  return h(
    "span",
    { class: "exports" },
    button("SVG", () => offer(new Blob([standalone(find(), box())], { type: "image/svg+xml" }), `${name}.svg`), {
      "aria-label": "Save as SVG",
    }),
    button("PNG", async () => offer(await asPng(standalone(find(), box()), background()), `${name}.png`), {
      "aria-label": "Save as PNG",
    }),
  );
}

function csv(columns, rows) {
  // Spreadsheets compute what begins so, unless it is a number.
  const safe = (text) => (/^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d[\d,]*)?(\.\d+)?([eE][+-]?\d+)?( %)?$/.test(text) ? `'${text}` : text);
  const quoted = (text) => (text === null ? "" : /[",\r\n]/.test(text) ? `"${safe(text).replaceAll('"', '""')}"` : safe(text));
  return [columns.map((column) => column.name), ...rows].map((row) => row.map(quoted).join(",")).join("\n");
}

export function tableButtons(asker, question, name) {
  const failed = h("span", { class: "bad", role: "status" });
  async function save(format) {
    replace(failed);
    const query = { ...question(), format };
    try {
      if (asker.exported) {
        offer(await asker.exported(query), `${name}.${format}`);
      } else {
        const answer = await asker.ask(query.source, query.view, query.params);
        offer(new Blob([csv(answer.columns, answer.rows)], { type: "text/csv" }), `${name}.csv`);
      }
    } catch (error) {
      replace(failed, error.message);
    }
  }
  return h(
    "span",
    { class: "exports" },
    button("CSV", () => save("csv"), { "aria-label": "Save as CSV" }),
    asker.exported && button("Parquet", () => save("parquet"), { "aria-label": "Save as Parquet" }),
    failed,
  );
}

export function pythonButton(text) {
  const label = h("span", null, "Copy as Python");
  const shown = h("pre", { class: "code", tabindex: "0", role: "region", "aria-label": "The question in Python" }, text);
  const details = h("details", { class: "python" }, h("summary", null, "Python"), shown);
  const copy = button(label, async () => {
    try {
      await navigator.clipboard.writeText(text);
      replace(label, "Copied");
    } catch {
      details.open = true;
      const range = document.createRange();
      range.selectNodeContents(shown);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      replace(label, "Selected: copy it");
    }
    setTimeout(() => replace(label, "Copy as Python"), 1800);
  });
  copy.classList.add("copy-python");
  return h("div", { class: "python-line" }, copy, details);
}
