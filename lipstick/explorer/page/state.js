// Where one is: a few values that are the end of the address, so that a link leads back here.

export function isMapping(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export class Place {
  // `address`: whether it is written to the location; a widget keeps it to itself.
  constructor(address) {
    this.address = address;
    this.values = {};
    this.before = [];
    this.listeners = [];
    if (address) {
      this.values = Place.read(location.hash);
      window.addEventListener("hashchange", () => {
        this.values = Place.read(location.hash);
        this.tell();
      });
    }
  }

  static read(text) {
    const values = {};
    for (const [key, value] of new URLSearchParams(text.replace(/^#/, ""))) {
      try {
        values[key] = JSON.parse(value);
      } catch {
        values[key] = value;
      }
    }
    return values;
  }

  static write(values) {
    const parts = new URLSearchParams();
    for (const [key, value] of Object.entries(values)) {
      if (value !== undefined && value !== null && value !== "") parts.set(key, JSON.stringify(value));
    }
    return `#${parts}`;
  }

  get(name, otherwise = undefined) {
    const value = Object.hasOwn(this.values, name) ? this.values[name] : undefined;
    return value === undefined || value === null ? otherwise : value;
  }

  // Addresses are typed by anybody: what is not of the kind that is wanted is not there.
  whole(name, otherwise = undefined) {
    const value = this.get(name);
    return Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
  }

  text(name, otherwise = undefined) {
    const value = this.get(name);
    return typeof value === "string" ? value : otherwise;
  }

  mapping(name, otherwise = undefined) {
    const value = this.get(name);
    return isMapping(value) ? value : otherwise;
  }

  list(name, otherwise = undefined) {
    const value = this.get(name);
    return Array.isArray(value) ? value : otherwise;
  }

  // Go somewhere: values that are not named stay. `quiet` replaces the entry in the history.
  go(values, quiet = false) {
    if (!quiet) this.before.push(this.values);
    this.values = { ...this.values, ...values };
    if (this.address) {
      const hash = Place.write(this.values);
      if (hash !== location.hash) history[quiet ? "replaceState" : "pushState"](null, "", hash);
    }
    this.tell();
  }

  // Go back a step; whether there was one.
  undo() {
    const values = this.before.pop();
    if (!values) return false;
    this.values = {};
    this.go(values);
    this.before.pop();
    return true;
  }

  // Go to another source: nothing stays.
  leave(values) {
    this.before.push(this.values);
    this.values = {};
    this.go(values);
    this.before.pop();
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners) listener();
  }
}

// One thing that is loaded at a time: what is not wanted any more is withdrawn.
export class Latest {
  constructor() {
    this.controller = null;
  }

  start() {
    this.controller?.abort();
    this.controller = new AbortController();
    return this.controller.signal;
  }

  stop() {
    this.controller?.abort();
  }
}
