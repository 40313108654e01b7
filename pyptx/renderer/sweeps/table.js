// The points of a sweep as a table that any column sorts.

import { h } from "../dom.js";

const ROWS = 500;                               // shown; the CSV has all

export class Table {
  /** on: as for Maps. */
  constructor(on) {
    this.on = on;
    this.key = "time";
    this.down = false;
    this.element = h("div.pyptx-table", { tabindex: 0, role: "region", "aria-label": "Points of the sweep" });
    this.element.addEventListener("pointerleave", () => on.leave());
    this.element.addEventListener("keydown", event => this.pressed(event));
  }

  paint(sweep, hidden, marks) {
    const columns = sweep.columns();
    if (!columns.some(({ key }) => key === this.key)) this.key = "time";
    const order = sweep.sorted(this.key, this.down, hidden), kept = order.slice(0, ROWS);
    const { scrollTop } = this.element, focused = this.element.contains(document.activeElement) ? document.activeElement.closest("[data-point]")?.dataset.point : null;
    const sort = column => { this.down = this.key === column.key ? !this.down : false; this.key = column.key; this.paint(sweep, hidden, marks); this.element.querySelector(`[data-key="${column.key}"]`)?.focus(); };
    const heading = column => h(`th${column.number ? ".pyptx-number" : ""}`, { scope: "col", "aria-sort": column.key === this.key ? (this.down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", "data-key": column.key, title: `Sort by ${column.title ?? column.label}`, onclick: () => sort(column) },
        column.label || "state", column.key === this.key ? (this.down ? " ▾" : " ▴") : ""));
    const row = point => h(`tr.pyptx-s-${sweep.state(point)}${Object.entries(marks).map(([name, marked]) => (marked === point ? `.pyptx-is-${name}` : "")).join("")}`,
      { "data-point": point, tabindex: -1, "aria-selected": String(point === marks.first || point === marks.second), onclick: event => this.on.point(point, event), onpointerenter: () => this.on.over(point, "") },
      ...columns.map(column => h(`td${column.number ? ".pyptx-number" : ""}`, column.key === "state" ? { title: sweep.state(point) } : {},
        column.key === "state" ? `${point === marks.best ? "★" : ""}${point === marks.choice ? "✓" : ""}${column.text(point)}` : column.text(point))));
    this.element.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...columns.map(heading))), h("tbody", {}, ...kept.map(row))),
      ...order.length > kept.length ? [h("p.pyptx-soft", {}, `${order.length - kept.length} more points; sort or hide states to see others, or save the CSV.`)] : []);
    this.element.scrollTop = scrollTop;
    const reach = this.element.querySelector(`tr[data-point="${focused ?? marks.first}"]`) ?? this.element.querySelector("tbody tr");
    reach?.setAttribute("tabindex", "0");
    if (focused !== null && focused !== undefined) reach?.focus({ preventScroll: true });
  }

  pressed(event) {
    const row = event.target.closest?.("tr[data-point]");
    if (!row) return;
    const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling, Home: row.parentElement.firstElementChild, End: row.parentElement.lastElementChild }[event.key];
    if (event.key === "Enter" || event.key === " ") this.on.point(Number(row.dataset.point), event);
    else if (next) { row.setAttribute("tabindex", "-1"); next.setAttribute("tabindex", "0"); next.focus(); this.on.over(Number(next.dataset.point), ""); }
    else if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
