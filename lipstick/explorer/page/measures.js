// What a row's annotation says in numbers: the parts of its inputs, and how probable the row is.

import { h, replace, button, many } from "./dom.js";
import { Latest } from "./state.js";
import { bars } from "./charts.js";
import { tokenChip } from "./terms.js";
import { pictureButtons, pythonButton } from "./exporting.js";
import { load } from "./loading.js";
import { Picture } from "./picture.js";

const SECONDS = [2, 5, 20];
const [USUAL, FEW] = [5, 24];

// What values are typed like, where they are not numbers.
const EXAMPLES = { truth: "false", level: "SECRET", interval: "3..7" };

const MEASURES = { shapley: "Shapley value", responsibility: "responsibility" };

// A question that takes as long as somebody allows, of some choices, and can be withdrawn.
// `ask(seconds, signal)`; no seconds are the usual ones.
export function budgeted(ask, render, { onfailed, usual = USUAL, choices = SECONDS } = {}) {
  const latest = new Latest();
  const place = h("div", { class: "lazy" });
  const spent = h("span", { class: "note", role: "status" });
  let ticking = null;
  const ended = (text) => {
    clearInterval(ticking);
    cancel.hidden = true;
    replace(spent, text);
  };
  const run = () => {
    const begun = performance.now();
    const passed = () => `${((performance.now() - begun) / 1000).toFixed(1)} s`;
    ended("");
    ticking = setInterval(() => {
      cancel.hidden = false;
      replace(spent, passed());
    }, 300);
    const asked = async (signal) => {
      try {
        return await ask(Number(seconds.value) === usual ? undefined : Number(seconds.value), signal);
      } catch (error) {
        if (!signal.aborted) onfailed?.();
        throw error;
      } finally {
        if (!signal.aborted) ended(passed());
      }
    };
    load(place, latest, asked, render);
  };
  const stop = () => {
    latest.stop();
    clearInterval(ticking);
  };
  const cancel = button("Cancel", () => {
    stop();
    place.removeAttribute("aria-busy");
    place.classList.remove("waiting");
    replace(place);
    ended("cancelled");
  }, { class: "plain small", hidden: true });
  const seconds = h("select", { "aria-label": "Seconds that the answer may take", onchange: run }, choices.map((each) => h("option", { value: String(each), selected: each === usual }, `${each} s`)));
  const controls = h("div", { class: "controls" }, h("label", null, "in at most ", seconds), spent, cancel);
  return { run, stop, place, controls };
}

// A part of the panel that asks when it is unfolded. `again`: it is unfolded from the start.
function unfolding({ title, note, again, ontoggle }, run, ...content) {
  const details = h("details", { class: "panel-section" }, h("summary", null, h("h3", null, title, h("span", { class: "note" }, note))), content);
  let asked = false;
  details.addEventListener("toggle", () => {
    ontoggle?.(details.open);
    if (details.open && !asked) run();
    asked ||= details.open;
  });
  details.open = Boolean(again);
  return details;
}

// What each input has to do with a row's being there.
export function sharesOf(why, folding) {
  const measure = h("select", { "aria-label": "Measure", onchange: () => question.run() }, Object.entries(MEASURES).map(([value, name]) => h("option", { value }, name)));
  const ask = (seconds, signal) => why.ask("shares", { row: why.row, seconds, measure: measure.value === "shapley" ? undefined : measure.value }, signal);
  const question = budgeted(ask, (answer) => shares(answer, measure.value, why.app.colors));
  question.controls.prepend(measure);
  return unfolding({ title: "Shares", note: "how much each input has to do with it", ...folding }, question.run, question.controls, question.place);
}

function shares(answer, measure, colors) {
  if (!answer.tokens) return h("p", { class: "note" }, "The row is there whatever its inputs are.");
  const part = (value) => (measure === "shapley" ? `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %` : String(Number(value.toFixed(3))));
  const text = ({ value, error }) => (!error ? part(value) : measure === "shapley" ? `${part(value)} ± ${part(error)}` : `${part(value)} to ${part(value + error)}`);
  const items = answer.shares.slice(0, FEW).map((share) => ({ label: `${share.relation}:${share.text}`, value: share.value, text: text(share) }));
  const left = answer.shares.slice(FEW);
  const others = left.length + answer.rest[0];
  const sum = left.reduce((total, share) => total + share.value, answer.rest[1]);
  if (others && measure === "shapley") items.push({ label: `${others.toLocaleString("en")} others`, value: sum, text: part(sum), kind: "rest" });
  const chart = bars(items, { label: `${MEASURES[measure]} of the inputs` });
  const explained = measure === "shapley" ? "What an input adds on average, over all orders in which inputs come." : "1 / (1 + k): the row depends on the input alone once k others are gone.";
  return [
    h("p", { class: "note" }, explained, answer.aside && ` ${answer.aside}`),
    h("div", { class: "chart-box" }, chart, pictureButtons(() => chart, measure)),
    others > 0 && measure !== "shapley" && h("p", { class: "note" }, `${others.toLocaleString("en")} others have less or as much.`),
    answer.witnesses && witnesses(answer.witnesses, colors),
    pythonButton(answer.python),
  ];
}

function witnesses({ why, count, complete, sets }, colors) {
  const number = complete ? many(count, "minimal set") : `at least ${many(count, "minimal set")}`;
  return [
    h("p", { class: "note" }, why ?? `${number} of inputs ${count === 1 ? "suffices" : "suffice"}:`),
    sets.slice(0, 6).map((set) => h("div", { class: "chips witness" }, set.map((token) => tokenChip(token, { colors })))),
  ];
}

// How probable a row is, of independent inputs.
export function probabilityOf(why, folding) {
  const values = new Values(why, "number", () => question.run(), "Probability of the rows of", "1");
  const ask = (seconds, signal) => why.ask("probability", { row: why.row, seconds, values: values.given }, signal);
  const question = budgeted(ask, ({ probability, error, confidence, aside, python }) => [
    h("p", { class: "sentence" }, `The row is there with probability ${Number(probability.toPrecision(4))}${error ? ` ± ${Number(error.toPrecision(2))}` : ""}.`),
    (error > 0 || aside) && h("p", { class: "note" }, error > 0 && `Estimated from random worlds, with ${100 * confidence} % confidence. `, aside),
    pythonButton(python),
  ]);
  const run = () => {
    values.show();
    question.run();
  };
  return unfolding({ title: "Probability", note: "of the row, from those of its inputs", ...folding }, run, values.element, question.controls, question.place);
}

// The circuit of a row's annotation: its gates, from its inputs to the row.
export function circuitOf(why, folding) {
  const crumbs = h("ol", { class: "crumbs" });
  let part = [];
  why.picture?.stop();
  const picture = new Picture({
    label: "Circuit of the annotation",
    onopen: (focus) => open(focus.part),
    onpick: ({ relation, text }) => why.pick(why.derivation, { relation, text }),
    onup: () => open(part.slice(0, -1)),
  });
  why.picture = picture;
  const canvas = h("div", { class: "circuit" }, picture.element);
  const note = h("p", { class: "note" });
  const ask = (seconds, signal) => why.ask("circuit", { row: why.row, seconds, part: part.length ? part : undefined }, signal);
  const question = budgeted(ask, (answer) => {
    const { boxes, shown, total, aside } = answer;
    for (const box of boxes) if (box.relation && why.struck(box)) box.marks = { gone: [1, 1] };
    replace(crumbs, answer.crumbs.map(({ label, focus }, at) => h("li", null, button(label, () => open(focus.part), { class: "more", "aria-current": at === answer.crumbs.length - 1 ? "true" : null }))));
    replace(note, shown < total ? `The ${shown.toLocaleString("en")} gates nearest to the row, of ${total.toLocaleString("en")}: a gate opens its part. ` : `${many(total, "gate")}. `, aside);
    queueMicrotask(() => {
      picture.draw(answer);
      if (shown <= FEW) picture.fit(true);
    });
    return [crumbs, canvas, note, pictureButtons(() => picture.svg, "circuit")];
  });
  const open = (way) => {
    part = way;
    question.run();
  };
  return unfolding({ title: "Circuit", note: "the annotation as gates", ...folding }, question.run, question.controls, question.place);
}

// The annotation of a row in a semiring.
export function evaluationOf(why) {
  const place = h("div", { class: "lazy" });
  const latest = new Latest();
  const menu = h("select", { "aria-label": "Semiring", onchange: () => change() }, why.about.semirings.map((choice) => h("option", { value: choice.id }, `${choice.name}: ${choice.says}`)));
  const valued = h("div");
  let values = null;
  const run = () => {
    const params = { semiring: menu.value, row: undefined, offset: 0, limit: 1, at: why.row, values: values.given };
    load(place, latest, (signal) => why.ask("evaluate", params, signal), (answer) => {
      const [only] = answer.values;
      return [h("output", { class: only.refused ? "bad" : "evaluated" }, only.refused ?? only.text ?? "NULL"), pythonButton(answer.python)];
    });
  };
  const change = () => {
    const sort = why.about.semirings.find((choice) => choice.id === menu.value).values;
    values = new Values(why, sort, run, "Value of tokens of", "default");
    replace(valued, values.element);
    if (sort) values.show();
    run();
  };
  return unfolding({ title: "Evaluate", note: "in a semiring" }, change, h("div", { class: "controls" }, menu), valued, place);
}

// What the tokens of each relation are valued: as usual, by one value, or by one of its columns.
class Values {
  constructor(why, sort, onchange, label, usual) {
    Object.assign(this, { why, sort, onchange, label, usual });
    this.chosen = new Map();
    this.element = h("div", { class: "controls" });
  }

  // By relation a text or a column; undefined: none has another value.
  get given() {
    const given = [...this.chosen].map(([name, value]) => [name, value()]).filter(([, value]) => value);
    return given.length ? Object.fromEntries(given) : undefined;
  }

  async show() {
    let columns = {};
    try {
      columns = (await this.why.ask("numbers", {})).columns;
    } catch {
      // Without them there are numbers, still.
    }
    replace(this.element, this.why.about.relations.filter((relation) => relation.key.length).map((relation) => this.of(relation.name, columns[relation.name] ?? [])));
  }

  of(name, columns) {
    const { sort, label, onchange } = this;
    const one = h("input", { type: "text", size: 8, placeholder: EXAMPLES[sort] ?? "", hidden: true, oninput: onchange, "aria-label": `${label} ${name}` });
    const choice = h(
      "select",
      {
        "aria-label": `What values tokens of ${name}`,
        onchange: () => {
          // The focus stays: who chooses by keys passes this choice on the way to another.
          one.hidden = choice.value !== "=";
          onchange();
        },
      },
      h("option", { value: "" }, this.usual),
      h("option", { value: "=" }, sort in EXAMPLES ? `one ${sort}` : "a number"),
      sort in EXAMPLES ? [] : columns.map((column) => h("option", { value: `:${column}` }, column)),
    );
    this.chosen.set(name, () => (choice.value.startsWith(":") ? { column: choice.value.slice(1) } : choice.value && one.value.trim()));
    return h("div", { class: "valued" }, h("span", { class: "note" }, name), choice, one);
  }
}
