// Elements that are made anew only when what they show has changed: a step changes little of what a debugger shows.

export class Kept {
  constructor() { this.made = new Map(); }

  /** The element of a name, made by `make()` when its key is another than the last time. */
  get(name, key, make) {
    const known = this.made.get(name);
    if (known?.key === key) return known.element;
    const element = make();
    this.made.set(name, { key, element });
    return element;
  }
}

/** Make `elements` the children of an element; those that are there already stay untouched. */
export function fill(parent, elements) {
  const wanted = new Set(elements);
  elements.forEach((element, at) => {
    const there = parent.children[at];
    if (there === element) return;
    if (there && !wanted.has(there)) there.replaceWith(element); else parent.insertBefore(element, there ?? null);
  });
  while (parent.children.length > elements.length) parent.lastElementChild.remove();
}
