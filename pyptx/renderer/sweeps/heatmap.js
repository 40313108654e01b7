// The heat maps of a sweep: a table for each value of the third parameter; cells with color, sign and number.

import { h } from "../dom.js";
import { METRICS } from "./data.js";

const WHITE_UNTIL = 0.35, DARK_UNTIL = 0.615;    // shares at which a cell's text changes color, in light and dark themes

/** The color of a share, interpolated between fast, mid and slow. */
function shade(cell, share) {
  const half = share < 0.5;
  cell.style.setProperty("--px-from", `var(--px-${half ? "fast" : "mid"})`);
  cell.style.setProperty("--px-to", `var(--px-${half ? "mid" : "slow"})`);
  cell.style.setProperty("--px-part", `${Math.round(200 * (half ? share : share - 0.5))}%`);
  cell.classList.toggle("pyptx-light-ink", share < WHITE_UNTIL);
  cell.classList.toggle("pyptx-dark-ink", share < DARK_UNTIL);
}

/**
 * The maps, rebuilt when the layout changes and repainted when the points do.
 * on: {point(number, event), over(number, reason), leave()}.
 */
export class Maps {
  constructor(on) {
    this.on = on;
    this.focus = null;                          // [map, row, column] of the cell that the Tab key reaches
    this.element = h("div.pyptx-maps");
    this.element.addEventListener("keydown", event => this.key(event));
    this.element.addEventListener("pointerleave", () => on.leave());
  }

  /** Build the tables of {sweep, layout, maps}; maps as returned by Sweep.maps. */
  build(sweep, layout, maps) {
    Object.assign(this, { sweep, layout, maps });
    const { parameters } = sweep, across = parameters[layout.across], down = parameters[layout.down], panels = parameters[layout.panels];
    this.cells = maps.map(map => map.rows.map(row => row.cells.map(() => null)));
    this.element.replaceChildren(...maps.map((map, at) => {
      const corner = h("th.pyptx-corner", { scope: "col" }, down ? h("span", {}, down.name) : "", h("span", {}, `${across?.name ?? ""} →`));
      const head = h("tr", { role: "row" }, corner, ...(across?.values ?? [""]).map(value => h("th", { scope: "col" }, String(value))));
      const rows = map.rows.map((row, y) => h("tr", { role: "row" }, h("th", { scope: "row" }, down ? String(row.value) : ""), ...row.cells.map((_, x) => this.cell(at, y, x))));
      const name = panels ? `${panels.name} ${map.value}` : "";
      return h("table.pyptx-map", { role: "grid", "aria-label": name || "Heat map" }, name ? h("caption", {}, panels.name, " ", h("b", {}, String(map.value))) : null,
               h("thead", {}, head), h("tbody", {}, ...rows));
    }));
    const [map = 0, row = 0, column = 0] = this.focus ?? [];
    this.focus = this.cells[map]?.[row]?.[column] ? [map, row, column] : [0, 0, 0];
    this.reachable();
  }

  cell(map, row, column) {
    const place = [map, row, column];
    const element = this.cells[map][row][column] = h("td.pyptx-cell", { role: "gridcell", tabindex: -1,
      onpointerenter: () => this.over(place), onfocus: () => { this.focus = place; this.reachable(); this.over(place); },
      onclick: event => this.pick(place, event) });
    return element;
  }

  at([map, row, column]) { return this.maps[map].rows[row].cells[column]; }

  over(place) { const { point, reason } = this.at(place); this.on.over(point, reason); }

  pick(place, event) {
    const { point } = this.at(place);
    if (point >= 0) this.on.point(point, event);
  }

  /** Paint the points: marks {best, choice, first, second}, a metric with its scale. */
  paint(maps, metric, marks) {
    this.maps = maps;
    const { sweep } = this, { value, text } = METRICS[metric], scale = sweep.scale(metric);
    maps.forEach((map, m) => map.rows.forEach((row, r) => row.cells.forEach(({ points, point, reason }, c) => {
      const cell = this.cells[m][r][c], state = point < 0 ? "hole" : sweep.state(point);
      const share = point < 0 || ["wrong", "failed"].includes(state) ? null : scale.share(point);
      cell.className = `pyptx-cell pyptx-s-${state}`;
      cell.dataset.point = point;
      if (share !== null) { cell.classList.add("pyptx-shaded"); shade(cell, share); }
      for (const [name, marked] of Object.entries(marks)) cell.classList.toggle(`pyptx-is-${name}`, point >= 0 && marked === point);
      const number = share === null ? (["wrong", "failed"].includes(state) ? state : "") : text(value(sweep.points, point), sweep.unit);
      const sign = point < 0 ? "–" : sweep.sign(point), star = point >= 0 && point === marks.best ? "★" : "", chosen = point >= 0 && point === marks.choice ? "✓" : "";
      const words = [star + chosen, sign, number];
      if (cell.dataset.words !== words.join("|")) {
        cell.dataset.words = words.join("|");
        cell.replaceChildren(...words[0] ? [h("span.pyptx-star", {}, words[0])] : [], h("span.pyptx-sign", { "aria-hidden": "true" }, sign), number);
      }
      const rest = points.length > 1 ? `; best of ${points.length}` : "";
      cell.setAttribute("aria-label", point < 0 ? `excluded: ${reason}` : sweep.sentence(point) + rest);
      cell.setAttribute("aria-selected", String(point >= 0 && (point === marks.first || point === marks.second)));
    })));
  }

  reachable() {
    this.element.querySelector(".pyptx-cell[tabindex='0']")?.setAttribute("tabindex", "-1");
    const [map, row, column] = this.focus;
    this.cells[map]?.[row]?.[column]?.setAttribute("tabindex", "0");
  }

  /** Focus the cell of a point. */
  go(point) {
    this.maps.forEach((map, m) => map.rows.forEach((row, r) => row.cells.forEach((cell, c) => { if (cell.point === point) this.cells[m][r][c].focus(); })));
  }

  key(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const [map, row, column] = this.focus, rows = this.cells[map].length, columns = this.cells[map][row].length;
    let to = null;
    if (step) {
      to = [map, row + step[0], column + step[1]];
      if (to[2] < 0 || to[2] >= columns) {                                  // to the adjacent map
        to = [map + step[1], row, step[1] > 0 ? 0 : columns - 1];
      } else if (to[1] < 0 || to[1] >= rows) to = null;
    } else if (event.key === "Home") to = [map, row, 0];
    else if (event.key === "End") to = [map, row, columns - 1];
    else if (event.key === "Enter" || event.key === " ") { this.pick(this.focus, event); event.preventDefault(); event.stopPropagation(); return; }
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (to && this.cells[to[0]]?.[to[1]]?.[to[2]]) this.cells[to[0]][to[1]][to[2]].focus();
  }
}
