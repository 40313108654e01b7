// Findings of checks at the lines of a cell, from the reports among the outputs of a notebook.

/**
 * @typedef {{role: string, where: string, file: string | null, line: number | null, source: string, ptx_line: number}} Place
 * @typedef {{rule: string, severity: string, message: string, places: Place[]}} Finding
 * @typedef {{kind: string, title: string, findings: Finding[]}} Report
 * @typedef {{line: number, severity: string, texts: string[]}} Marked
 */

const RANKS = ["note", "warning", "error"];

/**
 * Marked lines (from 1) of a cell. Of several reports of a kernel the last one counts; a line that was changed since is left out,
 * one that was moved is found by its text.
 * @param {Report[]} reports in order @param {number | null} count the execution count of the cell @param {string} source
 * @returns {Marked[]}
 */
export function markedLines(reports, count, source) {
  const newest = new Map(reports.filter(({ kind }) => kind === "report").map(report => [report.title, report]));
  const lines = source.split("\n").map(line => line.trim());
  /** @type {Map<number, Marked>} */
  const found = new Map();
  for (const { findings } of newest.values()) {
    for (const { rule, severity, message, places } of findings) {
      for (const { role, file, line, source: text } of places) {
        if (line === null || count === null || file !== `Cell In[${count}]`) continue;
        const at = lines[line - 1] === text.trim() ? line : lines.indexOf(text.trim()) + 1;
        if (!at) continue;
        const mark = found.get(at) ?? { line: at, severity, texts: [] };
        if (RANKS.indexOf(severity) > RANKS.indexOf(mark.severity)) mark.severity = severity;
        mark.texts.push(`${severity}: ${rule}: ${role}\n${message}`);
        found.set(at, mark);
      }
    }
  }
  return [...found.values()].sort((a, b) => a.line - b.line);
}

/** The execution count in the name of a cell, "Cell In[3]"; null for other files. @param {string | null} file */
export function cellCount(file) {
  const found = /^Cell In\[(\d+)\]$/.exec(file ?? "");
  return found ? Number(found[1]) : null;
}
