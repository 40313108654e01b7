// What stands in the margin of a %%ptxkernel cell: for each line its machine instructions and live registers.

/**
 * @typedef {{kind: string, title: string, python: {sections: {file: string, start: number, count: number}[], text: string[], line: number[], sass: number[], live: number[]}}} Linked
 * @typedef {{line: number, text: string, sass: number, live: number, views: {view: number, row: number, title: string, sass: number, live: number}[]}} Mark
 */

/** Whether a section was written in the cell of this execution count. @param {string} file @param {number | null} count */
const isOwn = (file, count) => file === "notebook cell" || (count !== null && file === `Cell In[${count}]`);

/**
 * Marks of a cell, by line (from 1) of its source, from the linked views among its outputs.
 * @param {Linked[]} views in order; others than linked ones are skipped
 * @param {number | null} count the execution count of the cell
 * @returns {Mark[]}
 */
export function marks(views, count) {
  /** @type {Map<number, Mark>} */
  const found = new Map();
  views.forEach((data, view) => {
    if (data?.kind !== "linked") return;
    const { python } = data;
    for (const { file, start, count: rows } of python.sections) {
      if (!isOwn(file, count)) continue;
      for (let row = start; row < start + rows; row += 1) {
        const line = python.line[row], sass = python.sass[row];
        if (!sass) continue;
        const mark = found.get(line) ?? { line, text: python.text[row], sass: 0, live: 0, views: [] };
        mark.sass += sass;
        mark.live = Math.max(mark.live, python.live[row]);
        mark.views.push({ view, row, title: data.title, sass, live: python.live[row] });
        found.set(line, mark);
      }
    }
  });
  return [...found.values()].sort((a, b) => a.line - b.line);
}

/** Lines of the kernels as they were compiled, by line of the source; what staleness is judged by. @param {Linked[]} views @param {number | null} count */
export function compiledLines(views, count) {
  /** @type {Map<number, string>} */
  const lines = new Map();
  for (const data of views) {
    if (data?.kind !== "linked") continue;
    for (const { file, start, count: rows } of data.python.sections) {
      if (isOwn(file, count)) for (let row = start; row < start + rows; row += 1) lines.set(data.python.line[row], data.python.text[row]);
    }
  }
  return lines;
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
