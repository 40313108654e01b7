// The toolbar of a sweep: map or table, axes, color metric, the other parameters.

import { h } from "../dom.js";
import { METRICS } from "./data.js";

const KEYS = [
  ["← ↑ → ↓", "move between cells and maps"], ["Enter", "open the code of the point"],
  ["Shift Enter", "compare with the open point"], ["b", "go to the best point"], ["u", "use the selected point"], ["t", "switch between map and table"],
  ["Esc", "close the code"]];

/** Draw the buttons and selections of axes and colors. */
export function drawTools(view) {
  const { sweep, kept, actions } = view;
  const tab = (name, text) => h("button.pyptx-button.pyptx-level", { type: "button", "aria-pressed": String(kept.shown === name), "data-shown": name, onclick: () => view.show(name) }, text);
  const select = (label, options, value, change, title) => h("label.pyptx-select", { title }, `${label} `, choice(options, value, change));
  const axes = sweep.parameters.map(({ name, values }, axis) => [axis, name, values.length]).filter(([, , count]) => count > 1).map(([axis, name]) => [axis, name]);
  const role = (label, name, title) => (axes.length > (name === "panels" ? 2 : 1) ? select(label, name === "across" ? axes : [[-1, "–"], ...axes], kept.layout[name], value => view.arrange(name, Number(value)), title) : null);
  view.tools.replaceChildren(...[
    h("span.pyptx-group", { role: "group", "aria-label": "Layout" }, tab("map", "Map"), tab("table", "Table")),
    actions.roofline ? h("button.pyptx-button", { type: "button", title: "All points on the roofline of the device", onclick: () => view.drawer.open("roofline") }, "Roofline") : null,
    sweep.metrics().length > 1 ? select("Color", sweep.metrics().map(name => [name, METRICS[name].label]), kept.metric, value => { kept.metric = value; view.paint(); }, "Metric of colors and numbers") : null,
    role("across", "across", "Parameter of the horizontal axis"), role("down", "down", "Parameter of the vertical axis"), role("maps", "panels", "One map for each value of this parameter"),
    h("span.pyptx-space"),
    h("button.pyptx-button", { type: "button", title: "Save all points as CSV", onclick: () => view.save() }, "CSV"),
    h("details.pyptx-menu", {}, h("summary.pyptx-button", {}, "Keys"), h("div.pyptx-sheet", {}, h("dl.pyptx-keys", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)])))),
  ].filter(Boolean));
}

/** Draw sliders and buttons of parameters without an axis. */
export function drawPickers(view) {
  const { sweep, kept } = view, laid = Object.values(kept.layout);
  const rest = sweep.parameters.map((_, axis) => axis).filter(axis => sweep.parameters[axis].values.length > 1 && !laid.includes(axis));
  const key = JSON.stringify([rest, kept.fixed, sweep.counts()]);
  if (key === view.pickers.dataset.key) return;
  view.pickers.dataset.key = key;
  const focused = view.pickers.contains(document.activeElement) ? document.activeElement.dataset.pick : null;
  view.pickers.replaceChildren(...rest.map(axis => picker(view, axis)));
  if (focused) view.pickers.querySelector(`[data-pick="${focused}"]`)?.focus();
}

function picker(view, axis) {
  const { sweep, kept } = view, { name, values } = sweep.parameters[axis], chosen = kept.fixed[axis];
  const laid = Object.values(kept.layout), feasible = sweep.feasible(axis, kept.fixed.map((one, other) => (laid.includes(other) ? null : one)));
  const take = value => { kept.fixed[axis] = value; view.paint(); };
  const whole = h("button.pyptx-button", { type: "button", "aria-pressed": String(chosen === null), "data-pick": `${axis} best`, title: `Each cell shows the best point over all values of ${name}`, onclick: () => take(null) }, "best");
  if (values.length > 8) {
    const slider = h("input", { type: "range", min: 0, max: values.length - 1, step: 1, "data-pick": `${axis} slider`, "aria-label": name, "aria-valuetext": chosen === null ? "best" : String(values[chosen]), oninput: event => take(Number(event.target.value)) });
    slider.value = chosen ?? 0;
    const said = chosen === null ? "" : `${values[chosen]}, ${feasible[chosen][0]} of ${feasible[chosen][1]} may run`;
    return h("div.pyptx-picker", { role: "group", "aria-label": name }, h("b", {}, name), whole, slider, h("output", {}, said));
  }
  const one = (value, at) => h(`button.pyptx-button${feasible[at][0] ? "" : ".pyptx-none"}`, { type: "button", "aria-pressed": String(chosen === at), "data-pick": `${axis} ${at}`,
    title: `${feasible[at][0]} of ${feasible[at][1]} points with ${name} ${value} may run`, onclick: () => take(at) }, String(value), h("small", {}, ` ${feasible[at][0]}/${feasible[at][1]}`));
  return h("div.pyptx-picker", { role: "group", "aria-label": name }, h("b", {}, name), h("span.pyptx-group", {}, whole, ...values.map(one)));
}

/** Draw the color bar. */
export function drawScale(view) {
  const { sweep, kept } = view, { text, unit, less } = METRICS[kept.metric], { best, worst } = sweep.scale(kept.metric);
  const holds = sweep.points.kind.includes("modeled") ? (sweep.points.kind.includes("measured") ? "○ modeled, ● measured" : "○ modeled, not timed on a GPU") : sweep.points.kind.includes("measured") ? "● measured" : "";
  view.legend.replaceChildren(...(best === null ? [] : [h("span", {}, `${text(best, sweep.unit)} ${unit(sweep.unit)}`), h("span.pyptx-ramp", { role: "img", "aria-label": less ? "from smallest to largest" : "from largest to smallest" }),
    h("span", {}, `${text(worst, sweep.unit)} ${unit(sweep.unit)}`)]), h("span.pyptx-soft", {}, holds), sweep.data.best >= 0 ? h("span.pyptx-soft", {}, "★ best") : "", sweep.data.choice >= 0 ? h("span.pyptx-soft", {}, "✓ in use") : "");
}

function choice(options, value, change) {
  const element = h("select", { onchange: event => change(event.target.value) }, ...options.map(([key, text]) => h("option", { value: key }, text)));
  element.value = String(value);
  return element;
}
