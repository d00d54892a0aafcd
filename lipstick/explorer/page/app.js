// The explorer: which source is shown, and what stands around it.

import { h, replace, button, icon } from "./dom.js";
import { Refused, savedAsker, serverAsker, widgetAsker } from "./asking.js";
import { heldAnswers } from "./evaluator.js";
import { offer } from "./exporting.js";
import { Latest, Place } from "./state.js";
import { replaceKeeping, trouble } from "./loading.js";
import { View } from "./view.js";
import { CaptureView } from "./capture.js";
import { GraphView } from "./graph.js";
import { ScriptView } from "./script.js";
import { FederationView } from "./federation.js";
import { StreamView } from "./stream.js";
import { ReductionView } from "./reduction.js";
import { RowCard, Search } from "./search.js";
import { SORTS, StartPage } from "./start.js";

// What cannot be opened: its first question is answered by the reason.
class FaultView extends View {
  constructor(app, source) {
    super(app, source, "fault");
    this.begin("about");
  }
}

const VIEWS = { fault: FaultView, capture: CaptureView, graph: GraphView, script: ScriptView, federation: FederationView, stream: StreamView, reduction: ReductionView };
const KEYS = [
  ["↑ ↓ ← →", "move in tables and pictures"],
  ["Enter", "opens a row, a number, a box"],
  ["Shift Enter", "adds a number to compare, as Shift click"],
  ["Backspace", "goes back up in a graph"],
  ["Escape", "closes the value, then the row"],
  ["/", "searches in all sources"],
  ["u", "undoes the last step, as Ctrl Z"],
  ["+ -", "zoom a picture"],
  ["?", "shows these"],
];

export class App {
  constructor(root, asker, { address }) {
    this.root = root;
    this.asker = asker;
    this.place = new Place(address);
    this.latest = new Latest();
    this.main = h("main", { class: "main" });
    this.nav = h("nav", { class: "sources", "aria-label": "What is explored" });
    this.theme = button(icon("sun"), () => this.turn(), { class: "plain icon-button", "aria-label": "Dark or light", title: "Dark or light" });
    const save = address && asker.exported && button(icon("save"), () => this.save(save), { class: "plain icon-button", "aria-label": "Save this view as a page", title: "Save this view as a page, which answers all that was looked at" });
    const copyLink = address && button(icon("link"), () => this.copyLink(copyLink), { class: "plain icon-button", "aria-label": "Copy a link to this view", title: "Copy a link to this view" });
    this.search = new Search(this);
    this.card = new RowCard(this);
    // All sources, where there are several.
    this.home = button([mark(), "lipstick"], () => this.place.leave({}), { class: "wordmark", disabled: true, title: "All sources" });
    replace(
      root,
      h("header", { class: "top" }, h("h1", null, this.home), this.nav, h("span", { class: "spacer" }), asker.still ? null : this.search.element, save, copyLink, this.theme),
      h("div", { class: "middle" }, this.main, this.card.element),
      h("div", { class: "toast", role: "status", "aria-live": "polite" }),
    );
    let theme = null;
    try {
      theme = address ? localStorage.getItem("lipstick-theme") : null;
    } catch {
      // Pages from files may keep nothing.
    }
    if (theme) root.dataset.theme = theme;
    this.place.listen(() => this.show());
    // On a page of its own keys work wherever the focus is, also where it is nowhere.
    (address ? document : root).addEventListener("keydown", (event) => this.key(event));
    this.start();
  }

  async start() {
    try {
      this.sources = (await this.asker.ask(0, "sources")).sources;
      this.home.disabled = this.sources.length < 2;
      this.show();
    } catch (error) {
      replace(this.main, trouble(error, () => this.start()));
    }
  }

  show() {
    // Where nothing is chosen of several sources, these are listed.
    const choosing = this.sources.length > 1 && Object.keys(this.place.values).length === 0;
    const number = choosing ? -1 : Math.min(this.place.whole("s", 0), this.sources.length - 1);
    this.card.show();
    replaceKeeping(
      this.nav,
      this.sources.map((source, place) =>
        button([h("span", { class: `sort ${source.kind}` }, SORTS[source.kind]), source.name], () => this.place.leave({ s: place }), {
          class: `source${place === number ? " on" : ""}`,
          "aria-current": place === number ? "true" : null,
          "data-keep": `source ${place}`,
        }),
      ),
    );
    this.nav.querySelector(".on")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (number !== this.number) {
      this.number = number;
      this.view?.stop();
      if (choosing) {
        if (this.place.address) document.title = "lipstick";
        this.view = new StartPage(this);
        replace(this.main, this.view.element);
        return;
      }
      const source = this.sources[number];
      const View = VIEWS[source.kind];
      if (this.place.address) document.title = `${source.name} · lipstick`;
      if (!View) {
        replace(this.main, trouble(new Refused("refused", `This page does not know what a ${source.kind} is.`)));
        return;
      }
      this.view = new View(this, number);
      replace(this.main, this.view.element);
    } else {
      this.view?.show();
    }
  }

  turn() {
    const dark = this.root.dataset.theme ? this.root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("lipstick-theme", this.root.dataset.theme);
    } catch {
      // Pages from files may keep nothing.
    }
  }

  // One file, to be sent to somebody who has no server: it answers what was looked at.
  async save(control) {
    control.disabled = true;
    this.say("Saving …", 60_000);
    try {
      const questions = [...this.asker.kept.keys()].reverse().map((key) => JSON.parse(key)).filter((question) => question.view !== "search");
      const page = await this.asker.exported({ format: "page", questions, place: location.hash });
      const { says } = JSON.parse((await page.text()).match(/<script[^>]*id="given"[^>]*>([^<]*)</)[1]);
      this.say("");
      this.confirm(says, () => offer(page, `${this.sources[this.number]?.name ?? "lipstick"}.html`));
    } catch (error) {
      this.say(error.message);
    }
    control.disabled = false;
  }

  // What the page that would be saved answers, and what it does not.
  confirm(says, save) {
    const close = () => dialog.close();
    const dialog = h(
      "dialog",
      { class: "help", "aria-label": "What the page answers", onclose: () => dialog.remove() },
      h("h2", null, "Save this view as a page"),
      h("p", null, "The file opens in any browser, without a server. It answers of"),
      h("ul", null, says.map((line) => h("li", null, line))),
      h("p", { class: "controls" }, button("Save", () => (save(), close())), button("Cancel", close)),
    );
    this.root.append(dialog);
    dialog.showModal();
  }

  say(text, milliseconds = 3200) {
    const toast = this.root.querySelector(".toast");
    replace(toast, text);
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => replace(toast), milliseconds);
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("Link copied. Anyone with it can see the data, while this server runs.");
    } catch {
      this.say("The address of this page is the link.");
    }
  }

  key(event) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    const undone = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    let done = false;
    if (event.key === "Escape" && !event.defaultPrevented) {
      if (typing && this.main.contains(event.target)) event.target.blur();
      else if (!this.card.element.hidden) {
        this.place.go({ token: undefined });
        done = true;
      } else done = this.view?.close?.() ?? false;
    } else if (typing || ((event.ctrlKey || event.metaKey || event.altKey) && !undone)) return;
    else if (undone || event.key === "u") done = this.place.undo();
    else if (event.key === "?") done = this.help();
    else if (event.key === "/") {
      const filter = this.asker.still && [...this.main.querySelectorAll(".column-filter")].find((input) => input.offsetParent);
      if (!this.asker.still) this.search.focus();
      else if (filter) filter.focus();
      done = true;
    }
    if (done) event.preventDefault();
  }

  help() {
    const close = () => dialog.close();
    const dialog = h(
      "dialog",
      { class: "help", "aria-label": "Keys", onclose: () => dialog.remove() },
      h("h2", null, "Keys"),
      h("dl", { class: "facts" }, KEYS.map(([keys, does]) => [h("dt", null, keys.split(" ").map((key) => [h("kbd", null, key), " "])), h("dd", null, does)])),
      button("Close", close),
    );
    this.root.append(dialog);
    dialog.showModal();
    return true;
  }
}

function mark() {
  return h("span", { class: "mark-dot", "aria-hidden": "true" });
}

// The page of a server, or a saved one.
export function start(root) {
  const given = JSON.parse(document.getElementById("given").textContent);
  const token = new URLSearchParams(location.search).get("token") ?? "";
  if (given.place && !location.hash) location.hash = given.place;
  const asker = given.mode === "saved" ? savedAsker(heldAnswers(given.answers, given.circuits)) : serverAsker(token);
  const app = new App(root, asker, { address: true });
  window.lipstick = app;
  return app;
}

// The widget of a notebook.
export function renderWidget({ model, el }) {
  const root = h("div", { class: "lipstick-explorer widget" });
  el.append(root);
  const app = new App(root, widgetAsker(model), { address: false });
  return () => app.view?.stop();
}
