// Where one is: a few values that are the end of the address, so that a link leads back here.

export function isMapping(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export class Place {
  // `address`: whether it is written to the location; a widget keeps it to itself.
  constructor(address) {
    this.address = address;
    this.values = {};
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
    const found = {};
    for (const [key, value] of new URLSearchParams(text.replace(/^#/, ""))) {
      try {
        found[key] = JSON.parse(value);
      } catch {
        found[key] = value;
      }
    }
    return found;
  }

  static write(values) {
    const parts = new URLSearchParams();
    for (const [key, value] of Object.entries(values)) {
      if (value !== undefined && value !== null && value !== "") parts.set(key, JSON.stringify(value));
    }
    return `#${parts}`;
  }

  get(name, otherwise = undefined) {
    const found = Object.hasOwn(this.values, name) ? this.values[name] : undefined;
    return found === undefined || found === null ? otherwise : found;
  }

  // Addresses are typed by anybody: what is not of the kind that is wanted is not there.
  whole(name, otherwise = undefined) {
    const found = this.get(name);
    return Number.isSafeInteger(found) && found >= 0 ? found : otherwise;
  }

  text(name, otherwise = undefined) {
    const found = this.get(name);
    return typeof found === "string" ? found : otherwise;
  }

  mapping(name, otherwise = undefined) {
    const found = this.get(name);
    return isMapping(found) ? found : otherwise;
  }

  list(name, otherwise = undefined) {
    const found = this.get(name);
    return Array.isArray(found) ? found : otherwise;
  }

  // Go somewhere: values that are not named stay. `quiet` replaces the entry in the history.
  go(values, quiet = false) {
    this.values = { ...this.values, ...values };
    if (this.address) {
      const hash = Place.write(this.values);
      if (hash !== location.hash) history[quiet ? "replaceState" : "pushState"](null, "", hash);
    }
    this.tell();
  }

  // Go to another source: nothing stays.
  leave(values) {
    this.values = {};
    this.go(values);
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
