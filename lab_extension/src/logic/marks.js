// What stands in the margin of a %%ptxkernel or %%ptx cell: for each line its machine instructions and live registers.

import { bodyOf } from "./cells.js";

/**
 * @typedef {{file: string, start: number, count: number}} Section
 * @typedef {{kind: string, title: string, stacks?: number[][], python: Columns & {sections: Section[], line: number[]},
 *            ptx: Columns & {stack?: number[]}, sass?: {ptx: number[], modeled?: number[], stalls?: string[]}}} Linked
 * @typedef {{text: string[], sass: number[], live: number[], issues?: number[], modeled?: number[]}} Columns
 * @typedef {{view: number, pane: "python" | "ptx", row: number, title: string, sass: number, live: number, issues: number, modeled: number, stalls: string}} Origin
 * @typedef {{line: number, text: string, sass: number, live: number, issues: number, modeled: number, views: Origin[]}} Mark
 * @typedef {{line: number, text: string, row: number, pane: "python" | "ptx"}} Row
 */

/**
 * The rows of a view that were written in the cell, with their lines in it (from 1): Python rows of its sections, or in a
 * %%ptx cell the PTX. Of the PTX header only .address_size: the target and the version may have been chosen by the magic.
 * @param {Linked} data @param {number | null} count the execution count of the cell @param {string} source
 * @returns {Row[]}
 */
function rowsOf(data, count, source) {
  if (data?.kind !== "linked") return [];
  const above = bodyOf(source);
  if (above !== null) {
    return data.ptx.text.map((text, row) => ({ line: above + row + 1, text, row, pane: /** @type {const} */ ("ptx") }))
      .filter(({ text }) => !/^\s*\.(?:version|target)\b/.test(text));
  }
  const { python } = data;
  return python.sections.filter(({ file }) => file === "notebook cell" || (count !== null && file === `Cell In[${count}]`))
    .flatMap(({ start, count: rows }) => Array.from({ length: rows }, (_, i) => start + i))
    .map(row => ({ line: python.line[row], text: python.text[row], row, pane: /** @type {const} */ ("python") }));
}

/**
 * Marks of a cell, by line of its source, from the linked views among its outputs; other views are skipped.
 * @param {Linked[]} views in order @param {number | null} count the execution count of the cell @param {string} source
 * @returns {Mark[]}
 */
export function marks(views, count, source) {
  /** @type {Map<number, Mark>} */
  const found = new Map();
  views.forEach((data, view) => {
    for (const { line, text, row, pane } of rowsOf(data, count, source)) {
      const sass = data[pane].sass[row], live = data[pane].live[row];
      if (!sass) continue;
      const issues = data[pane].issues?.[row] ?? 0, modeled = data[pane].modeled?.[row] ?? 0;
      const mark = found.get(line) ?? { line, text, sass: 0, live: 0, issues: 0, modeled: 0, views: [] };
      mark.sass += sass;
      mark.live = Math.max(mark.live, live);
      mark.issues += issues;
      mark.modeled = Math.max(mark.modeled, modeled);
      mark.views.push({ view, pane, row, title: data.title, sass, live, issues, modeled, stalls: modeled ? stallsOf(data, pane, row) : "" });
      found.set(line, mark);
    }
  });
  return [...found.values()].sort((a, b) => a.line - b.line);
}

/** The reasons of stalls of the machine instruction of a line that takes the most modeled time; "" where none is known. @param {Linked} data @param {"python" | "ptx"} pane @param {number} row */
export function stallsOf(data, pane, row) {
  const { sass, ptx, stacks = [] } = data;
  if (!sass?.stalls?.length) return "";
  let most = 0, text = "";
  sass.ptx.forEach((owner, at) => {
    const mine = owner >= 0 && (pane === "ptx" ? owner === row : stacks[ptx.stack?.[owner] ?? -1]?.includes(row)), time = sass.modeled?.[at] ?? 0;
    if (mine && time > most && sass.stalls?.[at]) { most = time; text = sass.stalls[at]; }
  });
  return text;
}

/** The third number of a line's mark: its share of the modeled time, else the instructions it issued; "" where neither is known. @param {Mark} mark */
export function costText({ modeled, issues }) {
  if (modeled) return `${Math.round(modeled / 1e4)}%`;
  return issues >= 1e6 ? `${Math.round(issues / 1e6)}M` : issues >= 1e4 ? `${Math.round(issues / 1e3)}k` : issues ? String(issues) : "";
}

/** Lines of the cell as they were compiled, by line of the source; what staleness is judged by. @param {Linked[]} views @param {number | null} count @param {string} source */
export function compiledLines(views, count, source) {
  return new Map(views.flatMap(data => rowsOf(data, count, source).map(({ line, text }) => /** @type {const} */ ([line, text]))));
}

/** Whether the text no longer is what was compiled. @param {Map<number, string>} compiled @param {string} source */
export function isStale(compiled, source) {
  const lines = source.split("\n");
  for (const [line, text] of compiled) if ((lines[line - 1] ?? "").trimEnd() !== text.trimEnd()) return true;
  return false;
}

/**
 * Where the marks stand in an edited text: each by the text of its line, in order, so that lines put in above do not
 * take them away; `stale` for one whose line was changed (it is left out) or where anything else of the kernel was.
 * @param {Mark[]} marks @param {Map<number, string>} compiled @param {string} source
 * @returns {{mark: Mark, line: number, stale: boolean}[]}
 */
export function placed(marks, compiled, source) {
  const stale = isStale(compiled, source);
  if (!stale) return marks.map(mark => ({ mark, line: mark.line, stale }));
  const lines = source.split("\n").map(line => line.trimEnd()), found = [];
  let from = 0;
  for (const mark of marks) {
    const text = mark.text.trimEnd();
    const same = lines[mark.line - 1] === text && mark.line - 1 >= from ? mark.line - 1 : lines.indexOf(text, from);
    if (same < 0) continue;
    found.push({ mark, line: same + 1, stale });
    from = same + 1;
  }
  return found;
}
