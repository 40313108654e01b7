// Reuse of DOM elements whose content has not changed: a step changes little of the debugger.

export class ElementCache {
  constructor() { this.made = new Map(); }

  /** The element of a name; created by `make()` if its key has changed. */
  get(name, key, make) {
    const known = this.made.get(name);
    if (known?.key === key) return known.element;
    const element = make();
    this.made.set(name, { key, element });
    return element;
  }
}

/** Replace the children of an element by `elements`; present ones stay untouched. */
export function fill(parent, elements) {
  const wanted = new Set(elements);
  elements.forEach((element, at) => {
    const there = parent.children[at];
    if (there === element) return;
    if (there && !wanted.has(there)) there.replaceWith(element); else parent.insertBefore(element, there ?? null);
  });
  while (parent.children.length > elements.length) parent.lastElementChild.remove();
}
