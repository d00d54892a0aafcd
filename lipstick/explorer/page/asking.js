// Questions: to a server, to a notebook's kernel, or to the answers that a saved page holds.

export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value && typeof value === "object") {
    const keys = Object.keys(value)
      .filter((key) => value[key] !== undefined && value[key] !== null)
      .sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

export class Refused extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

const KEPT = 200;

export class Asker {
  constructor(send) {
    this.send = send;
    this.kept = new Map();
    this.times = [];
  }

  // `fresh`: the answer may have become another since it was given last.
  ask(source, view, params = {}, signal = undefined, fresh = false) {
    return this.answer({ source, view, params }, signal, fresh);
  }

  // Whether there is an answer, as far as that is known before it is asked for.
  holds() {
    return true;
  }

  // Asks all sources at once; `first` is answered before the others.
  askEverywhere(view, params, signal) {
    return this.answer({ everywhere: true, view, params }, signal);
  }

  async answer(question, signal, fresh = false) {
    const key = canonical(question);
    if (!fresh && this.kept.has(key)) return this.kept.get(key);
    const started = performance.now();
    const reply = await this.send(question, key, signal);
    if (signal?.aborted) throw new DOMException("withdrawn", "AbortError");
    this.times.push({ view: question.view, milliseconds: performance.now() - started });
    if (reply.error) throw new Refused(reply.error.kind, reply.error.message);
    // What a busy source left unknown is asked again.
    if (reply.answer.unanswered?.some((each) => each.slow)) return reply.answer;
    this.kept.set(key, reply.answer);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    return reply.answer;
  }
}

export function serverAsker(token) {
  const asker = new Asker(async (question, _key, signal) => {
    let response;
    try {
      response = await fetch("/ask", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Lipstick-Token": token },
        body: JSON.stringify(question),
        signal,
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused("offline", "The server does not answer: it was stopped, or is out of reach.");
    }
    return response.json();
  });
  asker.exported = async (question) => {
    const response = await fetch("/export", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Lipstick-Token": token },
      body: JSON.stringify(question),
    });
    if (!response.ok) throw new Refused("refused", (await response.json()).error.message);
    return response.blob();
  };
  return asker;
}

// `answers(question, key)` are those of a saved page; `still`: none ever becomes another.
export function savedAsker(answers) {
  const asker = new Asker(answers);
  asker.still = true;
  asker.holds = (source, view, params = {}) => answers.holds(canonical({ source, view, params }));
  return asker;
}

export function widgetAsker(model) {
  const waiting = new Map();
  let last = 0;
  model.on("msg:custom", (message) => {
    const done = waiting.get(message.id);
    waiting.delete(message.id);
    if (done) done(JSON.parse(message.text));
  });
  return new Asker(
    (question, _key, signal) =>
      new Promise((resolve, reject) => {
        last += 1;
        const id = last;
        waiting.set(id, resolve);
        signal?.addEventListener("abort", () => {
          waiting.delete(id);
          reject(new DOMException("withdrawn", "AbortError"));
        });
        model.send({ id, question });
      }),
  );
}
