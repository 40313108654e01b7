// Where it costs most: the lines of a pane in the order of a number, as a list to go to and for walking by keys.

import { h } from "../dom.js";
import { menu } from "./toolbar.js";

const MOST = 12;
const WORDS = {
  issues: "warp instructions issued", sass: "SASS instructions", live: "live registers", spill: "bytes spilled", ptx: "PTX lines",
  shared_conflicts: "bank conflicts", global_excess: "sectors too many", branches_divergent: "divergent branches",
};

/** Numbers that a pane has for its lines: [[key, column]], those first that cost most; Python where there is any, else PTX. */
export function measures({ python, ptx }) {
  const pane = python.text.length ? "python" : "ptx", data = pane === "python" ? python : ptx;
  const found = { issues: pane === "python" ? data.issues : data.counters.issues, sass: data.sass, live: data.live, spill: data.spill, ...data.counters };
  return { pane, columns: Object.entries(found).filter(([name, column]) => WORDS[name] && column?.some(number => number > 0)) };
}

/** Rows by their number, the largest first; rows of the same number from above. */
export function ranked(column) {
  return column.map((number, row) => [row, number]).filter(([, number]) => number > 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([row]) => row);
}

export class Costs {
  /** `view`: the linked view; its `show(pane, row)` is called for the line that the reader asks for. */
  constructor(view) {
    Object.assign(this, { view }, measures(view.data));
    this.key = this.columns[0]?.[0];
    this.list = h("ol.pyptx-costs");
    const chooser = h("select", { "aria-label": "Lines by", onchange: () => { this.key = chooser.value; this.paint(); } },
                      ...this.columns.map(([key]) => h("option", { value: key }, WORDS[key])));
    this.element = this.columns.length ? menu("Costs", [h("label", {}, "Lines by ", chooser), this.list]) : null;
    this.element?.addEventListener("toggle", () => this.paint());
  }

  get column() { return this.columns.find(([key]) => key === this.key)[1]; }

  /** What the column sums up to: of lines that call helpers these count again, so the sum of the calls' own lines tells the whole. */
  paint() {
    if (!this.element.open) return;
    const { column, view, pane } = this, rows = ranked(column).slice(0, MOST), top = column[rows[0]] || 1;
    this.list.replaceChildren(...rows.map(row => {
      const number = pane === "python" ? view.data.python.line[row] : row + 1;
      const item = h("button.pyptx-cost", { type: "button", onclick: () => { this.element.open = false; view.show(pane, row); } },
                     h("b", {}, String(column[row])), h("span", {}, `${number}`), h("code", {}, view.data[pane].text[row].trim()));
      item.style.setProperty("--f", `${100 * column[row] / top}%`);
      return h("li", {}, item);
    }));
  }

  /** To the line that costs next to the pinned one: less (direction 1) or more (-1); the first one to begin with. */
  walk(direction) {
    if (!this.columns.length) return;
    const { view, pane, column } = this, rows = ranked(column), at = view.pinned?.pane === pane ? rows.indexOf(view.pinned.row) : -1;
    const next = at < 0 ? (direction > 0 ? 0 : rows.length - 1) : (at + direction + rows.length) % rows.length;
    view.show(pane, rows[next]);
    view.foot.add(`${next + 1} of ${rows.length} by ${WORDS[this.key]}: ${column[rows[next]]}`);
  }
}
