// Several kernels side by side: a column for each, and for each number a small chart over the columns.

import { h } from "../dom.js";

/** A number with its unit: "40", "1.5 KiB", "37.5 %", "12.3 µs", "?". */
export function numberText({ unit }, value) {
  if (value === null || value === undefined) return "?";
  const plain = Number(value.toPrecision(4));
  if (unit === "B") return value < 1024 ? `${plain} B` : `${Number((value / 1024).toPrecision(4))} KiB`;
  if (unit === "s") return value < 1e-3 ? `${Number((value * 1e6).toPrecision(4))} µs` : `${Number((value * 1e3).toPrecision(4))} ms`;
  return `${Number.isInteger(value) ? value : plain} ${unit}`.trim();
}

/** The change from the baseline: {text, tone: -1 worse, 0, 1 better}; null if there is none or it is unknown. */
export function change(measure, column, baseline) {
  const value = measure.values[column], base = measure.values[baseline];
  if (column === baseline || value === null || base === null || value === base) return null;
  const sign = value > base ? "+" : "−", size = Math.abs(value - base);
  const text = measure.unit === "%" ? `${sign}${Number(size.toPrecision(3))} points` : base ? `${sign}${Number((100 * size / base).toPrecision(3))} %` : `${sign}${numberText(measure, size)}`;
  return { text, tone: measure.good * Math.sign(value - base) };
}

/** Columns with the best value; empty if none is better than another. */
export function best({ good, values }) {
  const known = values.filter(value => value !== null);
  if (!good || new Set(known).size < 2) return [];
  const top = good > 0 ? Math.max(...known) : Math.min(...known);
  return values.flatMap((value, column) => (value === top ? [column] : []));
}

/** Draw `data` (kind "comparison") into `element`. A column's button makes it the baseline. Returns {destroy()}. */
export function mount(element, data, options = {}) {
  if (data.kind !== "comparison" || data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; this renderer supports comparison, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); } };
  }
  const root = h(`section.pyptx-comparison${options.fill ? ".pyptx-fill" : ""}`, { "aria-label": `Comparison: ${data.title}` });
  const draw = (baseline, focus = false) => {
    root.replaceChildren(...content(data, baseline, draw));
    if (focus) root.querySelector("[aria-pressed=true]").focus();
  };
  draw(data.baseline);
  element.append(root);
  return { destroy: () => root.remove() };
}

function content(data, baseline, draw) {
  const shown = data.measures.filter(one => one.kind === "use" || new Set(one.values).size > 1);
  const head = ({ title, target }, column) => h("th", { scope: "col" }, h("button.pyptx-baseline", { type: "button", "aria-pressed": String(column === baseline),
    title: column === baseline ? "Changes refer to this column" : "Compare with this column", onclick: () => draw(column, true) }, title),
    title.includes(target) ? null : h("span.pyptx-target", {}, target));
  const cell = (measure, column, top, winners) => {
    const value = measure.values[column], delta = change(measure, column, baseline);
    const made = h(`td${winners.includes(column) ? ".pyptx-best" : ""}`, {}, h("b", {}, value === null && data.columns[column].problem ? "–" : numberText(measure, value)),
      winners.includes(column) ? h("span.pyptx-winner", { title: "best", "aria-label": "best" }, " ★") : null,
      delta ? h(`small.pyptx-tone${delta.tone < 0 ? ".pyptx-worse" : delta.tone > 0 ? ".pyptx-better" : ""}`, {}, ` ${delta.text}`) : null);
    const bar = h("div.pyptx-measure", { "aria-hidden": "true" });
    bar.style.width = `${Math.round(100 * Math.max(0, value ?? 0) / top)}%`;
    made.append(bar);
    return made;
  };
  const row = measure => {
    const top = Math.max(...measure.values.map(value => value ?? 0)) || 1, winners = best(measure);
    return h(`tr.pyptx-of-${measure.kind}`, {}, h("th", { scope: "row" }, measure.label), ...data.columns.map((_, column) => cell(measure, column, top, winners)));
  };
  const problems = data.columns.filter(column => column.problem);
  return [h("header", {}, h("b", {}, data.title), h("span.pyptx-soft", {}, ` ${data.columns.length} compared, changes from ${data.columns[baseline].title}`)),
          h("div.pyptx-scroll", { tabindex: 0, role: "group", "aria-label": "Table" }, h("table", { style: `min-width: ${120 + 118 * data.columns.length}px` }, h("thead", {}, h("tr", {}, h("td"), ...data.columns.map(head))),
            h("tbody", {}, ...shown.map(row)))),
          problems.length ? h("ul.pyptx-problems", {}, ...problems.map(({ title, problem }) => h("li", {}, h("b", {}, title), `: ${problem}`))) : null].filter(Boolean);
}
