// Answers on their way into a place: what is there meanwhile, and what went wrong.

import { h, replace, button } from "./dom.js";

// Load into a place, saying so when it takes a moment, and what went wrong when it does.
export async function load(place, latest, ask, render) {
  const signal = latest.start();
  const slow = setTimeout(() => {
    if (!place.childElementCount) replace(place, skeleton());
    place.setAttribute("aria-busy", "true");
    place.classList.add("waiting");
  }, 140);
  try {
    const answer = await ask(signal);
    if (!signal.aborted) replaceKeeping(place, render(answer));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!error.kind) console.error(error);
    replace(place, trouble(error, () => load(place, latest, ask, render)));
  } finally {
    clearTimeout(slow);
    if (!signal.aborted) {
      place.removeAttribute("aria-busy");
      place.classList.remove("waiting");
    }
  }
}

let lost = null;

// Replace what is in a place, and leave the focus where it was, as soon as that is there again.
export function replaceKeeping(place, content) {
  const active = document.activeElement;
  if (place.contains(active)) lost = active.dataset.keep ?? null;
  else if (active && active !== document.body) lost = null;
  replace(place, content);
  if (!lost) return;
  const again = [...place.querySelectorAll("[data-keep]")].find((element) => element.dataset.keep === lost);
  again?.focus();
  if (again) lost = null;
}

function skeleton() {
  return h("div", { class: "skeleton", role: "status" }, h("span", { class: "out-of-sight" }, "Loading"), h("i"), h("i"), h("i"));
}

const HEADINGS = {
  slow: "This takes too long",
  refused: "This cannot be answered",
  failed: "Something went wrong",
  offline: "Not connected",
  unsaved: "Not in this page",
};

export function trouble(error, again) {
  const [first, ...rest] = error.message.split("\n");
  return h(
    "div",
    { class: `trouble ${error.kind ?? "failed"}`, role: "status" },
    h("strong", null, HEADINGS[error.kind] ?? HEADINGS.failed),
    h("p", null, first),
    rest.length > 0 && h("p", { class: "hint" }, rest.join(" ")),
    again && error.kind !== "refused" && error.kind !== "unsaved" && button("Try again", again),
  );
}

export function section(title, note, ...content) {
  return h("section", { class: "panel-section" }, h("h3", null, title, note && h("span", { class: "note" }, note)), content);
}
