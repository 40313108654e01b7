// Hot spots: the lines of a pane ranked by a metric, as a menu and for keyboard navigation.

import { h } from "../dom.js";
import { menu } from "./toolbar.js";

const MOST = 12;
const WORDS = {
  modeled: "modeled time", samples: "measured samples", issues: "SASS instructions issued", sass: "SASS instructions", live: "live registers", spill: "bytes spilled", ptx: "PTX lines",
  shared_conflicts: "bank conflicts", global_excess: "excess sectors", branches_divergent: "divergent branches",
};

/** Metrics of the lines of a pane, [[key, column]] in order of importance; the Python pane if it has lines, else PTX. */
export function measures({ python, ptx }) {
  const pane = python.text.length ? "python" : "ptx", data = pane === "python" ? python : ptx;
  const { issues: executed, ...counters } = data.counters ?? {};
  const found = { modeled: data.modeled, samples: data.profile?.samples, issues: data.issues?.length ? data.issues : executed, sass: data.sass, live: data.live, spill: data.spill, ...counters };
  return { pane, columns: Object.entries(found).filter(([name, column]) => WORDS[name] && column?.some(number => number > 0)) };
}

/** Rows ranked by a number, largest first; ties in order. */
export function ranked(column) {
  return column.map((number, row) => [row, number]).filter(([, number]) => number > 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([row]) => row);
}

/** The metric in each pane, as shares 0..1 of its largest value; counters of PTX lines also at their SASS. Panes without it are left out. */
export function shades({ python, ptx, sass }, key) {
  const own = pane => (pane[key]?.length ? pane[key] : pane.profile?.[key] ?? pane.counters?.[key]), counted = ptx.counters?.[key];
  const columns = { python: own(python), ptx: own(ptx), sass: own(sass) ?? (counted && sass.ptx.map(row => (row < 0 ? 0 : counted[row]))) };
  return Object.fromEntries(Object.entries(columns).filter(([, column]) => column?.length).map(([name, column]) => {
    const most = column.reduce((top, number) => Math.max(top, number), 1);
    return [name, Float32Array.from(column, number => Math.max(0, number) / most)];
  }));
}

export class Hotspots {
  /** `view`: the linked view; `view.show(pane, row)` goes to a line, `view.shade(shades)` shades the lines. */
  constructor(view) {
    Object.assign(this, { view }, measures(view.data));
    this.key = this.columns[0]?.[0];
    this.list = h("ol.pyptx-costs");
    const chooser = this.chooser = h("select", { "aria-label": "Rank lines by", onchange: () => { this.key = chooser.value; this.paint(); this.shade(); } },
                      ...this.columns.map(([key]) => h("option", { value: key }, WORDS[key])));
    this.shading = h("input", { type: "checkbox", onchange: () => this.shade() });
    this.shading.checked = this.key === "modeled";
    this.element = this.columns.length
      ? menu("Hot spots", [h("label", {}, "Rank by ", chooser), h("label", {}, this.shading, " Shade the lines of all panes"), this.list]) : null;
    this.element?.addEventListener("toggle", () => this.paint());
  }

  /** Choose a metric, and whether lines are shaded by it. */
  set(key, on) {
    if (!this.columns.some(([name]) => name === key)) return;
    this.key = this.chooser.value = key;
    this.shading.checked = on;
    this.shade();
  }

  /** Shade the lines by the metric, or not at all. */
  shade() { this.view.shade(this.shading.checked ? shades(this.view.data, this.key) : {}); }

  text(number) { return this.key === "modeled" ? `${(number / 1e4).toFixed(1)} %` : String(number); }

  get column() { return this.columns.find(([key]) => key === this.key)[1]; }

  /** Show the ranking; a line's number includes the helpers that it calls. */
  paint() {
    if (!this.element.open) return;
    const { column, view, pane } = this, rows = ranked(column).slice(0, MOST), top = column[rows[0]] || 1;
    this.list.replaceChildren(...rows.map(row => {
      const number = pane === "python" ? view.data.python.line[row] : row + 1;
      const item = h("button.pyptx-cost", { type: "button", onclick: () => { this.element.open = false; view.show(pane, row); } },
                     h("b", {}, this.text(column[row])), h("span", {}, `${number}`), h("code", {}, view.data[pane].text[row].trim()));
      item.style.setProperty("--f", `${100 * column[row] / top}%`);
      return h("li", {}, item);
    }));
  }

  /** Go to the next line of the ranking (direction 1) or the previous one (-1), starting with the first. */
  walk(direction) {
    if (!this.columns.length) return;
    const { view, pane, column } = this, rows = ranked(column), at = view.pinned?.pane === pane ? rows.indexOf(view.pinned.row) : -1;
    const next = at < 0 ? (direction > 0 ? 0 : rows.length - 1) : (at + direction + rows.length) % rows.length;
    view.show(pane, rows[next]);
    view.statusBar.add(`${next + 1} of ${rows.length} by ${WORDS[this.key]}: ${this.text(column[rows[next]])}`);
  }
}
