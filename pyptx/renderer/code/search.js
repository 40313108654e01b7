// Search in all panes of a view: counts, marks and visits matches.

import { h } from "../dom.js";
import { paneName, search } from "./links.js";

/** Matches in a linked view: pane after pane, the current one is pinned. */
const linkedView = view => {
  const rank = (name, row) => view.open.indexOf(name) * 1e9 + row;
  return {
    label: "Search all panes", nameOf: pane => paneName(view.data, pane.name), rank: (pane, row) => rank(pane.name, row),
    here: () => (view.pinned ? rank(view.pinned.pane, view.pinned.row) : -1),
    go: (pane, row) => view.pin(pane.name, row, { reveal: true, own: true }), back: () => view.panes[view.focus].list.focus() };
};

export class Search {
  /**
   * view: {each(call) of panes that are shown}, and {open, panes, focus, pinned, pin()} of the linked view, or its equivalent
   * `own`: {label, nameOf(pane), rank(pane, row): order of matches, here(): rank of the current line or -1,
   * go(pane, row), back(): focus the panes}.
   */
  constructor(view, own = linkedView(view)) {
    this.view = { ...own, each: call => view.each(call) };
    this.found = new Map();                                         // pane -> its hits
    this.query = h("input.pyptx-search", { type: "search", placeholder: "Search (/)", "aria-label": own.label, spellcheck: "false",
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
    const { value } = this.query;
    let error;
    this.found.clear();
    this.view.each(pane => {
      const found = search(pane.lines, value, this.regex.checked);
      error ??= found.error;
      this.found.set(pane, found);
      pane.show(found);
    });
    this.query.setAttribute("aria-invalid", String(!!error));
    this.hits.textContent = error ? error : !value ? ""
      : [...this.found].map(([pane, { rows }]) => `${this.view.nameOf(pane)} ${rows.length}`).join(" · ");
  }

  key(event) {
    if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      this.query.value = "";
      this.search();
      this.view.back();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Go to the next match in the order of the view, wrapping around. */
  next(direction) {
    const hits = [], here = this.view.here();
    this.view.each(pane => (this.found.get(pane)?.rows ?? []).forEach(row => hits.push({ pane, row, rank: this.view.rank(pane, row) })));
    if (!hits.length) return;
    hits.sort((one, other) => one.rank - other.rank);
    const { pane, row } = direction > 0 ? hits.find(({ rank }) => rank > here) ?? hits[0] : hits.findLast(({ rank }) => rank < here) ?? hits.at(-1);
    this.view.go(pane, row);
  }
}
