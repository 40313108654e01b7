// Searching all panes of a linked view: hits are counted, marked, and walked through.

import { h } from "./dom.js";
import { NAMES, search } from "./links.js";

export class Finder {
  constructor(view) {
    this.view = view;
    this.found = null;
    this.query = h("input.pyptx-search", { type: "search", placeholder: "Search  /", "aria-label": "Search all panes", spellcheck: "false",
                                           oninput: () => this.search(), onkeydown: event => this.key(event) });
    this.regex = h("input", { type: "checkbox", onchange: () => this.search() });
    this.hits = h("span.pyptx-hits", { role: "status" });
    this.elements = [this.query, h("label.pyptx-check", { title: "Search with a regular expression" }, this.regex, ".*"), this.hits];
  }

  begin() {
    this.query.focus();
    this.query.select();
  }

  search() {
    const found = {}, { value } = this.query;
    let error;
    this.view.each(pane => { found[pane.name] = search(pane.lines, value, this.regex.checked); error ??= found[pane.name].error; });
    this.found = found;
    this.view.each(pane => pane.show(found[pane.name]));
    this.query.setAttribute("aria-invalid", String(!!error));
    this.hits.textContent = error ? `not a regular expression: ${error}` : !value ? ""
      : Object.entries(found).map(([name, { rows }]) => `${NAMES[name]} ${rows.length}`).join(" · ");
  }

  key(event) {
    if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      this.query.value = "";
      this.search();
      this.view.panes[this.view.focus].list.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The next hit: in the pane with the focus, and round through the others. */
  next(direction) {
    const { open, pinned } = this.view;
    const hits = open.flatMap(name => (this.found?.[name]?.rows ?? []).map(row => [name, row]));
    if (!hits.length) return;
    const rank = ([name, row]) => open.indexOf(name) * 1e9 + row, here = pinned ? rank([pinned.pane, pinned.row]) : -1;
    const next = direction > 0 ? hits.find(hit => rank(hit) > here) ?? hits[0] : hits.findLast(hit => rank(hit) < here) ?? hits.at(-1);
    this.view.pin(...next, { reveal: true, own: true });
  }
}
