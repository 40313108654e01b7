// The details of one or two selected points of a sweep, and their actions.

import { h } from "../dom.js";
import { rateText, size, timeText } from "./data.js";
import { editBlock } from "./edit.js";

/** [label, value, note] of a point. */
function facts(sweep, at) {
  const { points, data } = sweep, found = [], seconds = points.seconds[at], best = data.best < 0 ? null : points.seconds[data.best];
  if (seconds !== null) {
    const interval = points.low[at] === null ? "" : `${timeText(points.low[at], sweep.unit)} to ${timeText(points.high[at], sweep.unit)}`;
    found.push([points.kind[at] || "time", timeText(seconds, sweep.unit), interval]);
    if (best) found.push(["relative to best", at === data.best ? "best" : `${(seconds / best).toFixed(2)} ×`, ""]);
  }
  if (points.rate[at] !== null) found.push(["rate", rateText(points.rate[at]), ""]);
  if (points.registers[at] !== null) found.push(["registers", String(points.registers[at]), points.spill_bytes[at] ? `${size(points.spill_bytes[at])} spilled` : "no spills"]);
  if (points.shared_bytes[at] !== null) found.push(["shared memory", size(points.shared_bytes[at]), ""]);
  if (points.occupancy[at] !== null) found.push(["occupancy", `${Math.round(100 * points.occupancy[at])} %`, ""]);
  return found;
}

function configuration(sweep, at) {
  return h("dl.pyptx-config", {}, ...Object.entries(sweep.config(at)).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)))));
}

/**
 * The panel beside the maps. shown: {point, reason, first, second, comparing}; act: actions of the buttons, absent ones have
 * no button: {open(point), compare(), use(point), restore(), write(point), edit(point)}. edit: of `point`, as in edit.js.
 */
export function details(sweep, shown, act) {
  const { point, reason, first, second, comparing, edit } = shown;
  if (point < 0) {
    return reason ? [h("h3", {}, "Excluded"), h("p", {}, reason)] : [h("p.pyptx-soft", {}, "Hover over a cell to see its point.")];
  }
  const state = sweep.state(point), [, sign, words] = sweep.data.states.find(([name]) => name === state), { points } = sweep;
  const pinned = first === point, chosen = sweep.data.choice === point, button = (text, title, go, strong) => h(`button.pyptx-button${strong ? ".pyptx-strong" : ""}`, { type: "button", title, onclick: go }, text);
  return [
    h(`h3.pyptx-s-${state}`, {}, h("span.pyptx-sign", {}, sign), ` ${state}`, point === sweep.data.best ? h("span.pyptx-badge", {}, "★ best") : null, chosen ? h("span.pyptx-badge", {}, "✓ in use") : null),
    configuration(sweep, point),
    points.reason[point] ? h("p.pyptx-reason", {}, points.reason[point]) : null,
    points.bound[point] ? h("p.pyptx-bound", {}, points.bound[point]) : null,
    points.seconds[point] === null && !points.reason[point] ? h("p.pyptx-soft", {}, words) : null,
    h("dl.pyptx-facts", {}, ...facts(sweep, point).map(([label, value, note]) => h("div.pyptx-fact", {}, h("dt", {}, label), h("dd", {}, h("b", {}, value), note ? h("small", {}, note) : null)))),
    first < 0 && act.open ? h("p.pyptx-soft", {}, "Click a cell to open its code; Shift-click another one to compare.") : null,
    pinned && act.open ? h("div.pyptx-acts", {},
      act.use && points.seconds[point] !== null && !chosen ? button("Use this one", "Use this configuration in later calls of the kernel", () => act.use(point), true) : null,
      act.restore && chosen ? button("Restore defaults", "Use the kernel's declared defaults in later calls again", () => act.restore()) : null,
      act.write && points.seconds[point] !== null ? button("Write into the cell", "Make this configuration the defaults in the kernel's cell", () => act.write(point)) : null,
      act.edit && points.seconds[point] !== null ? button("Show the edit", "Show how to make this configuration the defaults in the kernel's file", () => act.edit(point)) : null,
      act.compare ? h("button.pyptx-button", { type: "button", "aria-pressed": String(comparing), title: "Select the point to compare with, or Shift-click it", onclick: () => act.compare() }, comparing ? "Select the other point…" : "Compare with…") : null) : null,
    pinned && edit?.point === point ? editBlock(edit) : null,
    second >= 0 && pinned ? h("p.pyptx-soft", {}, `compared with ${sweep.words(second)}`) : null,
  ].filter(Boolean);
}
