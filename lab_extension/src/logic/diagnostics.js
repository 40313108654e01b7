// Findings of check_ptx as ranges of a text.

/**
 * @typedef {{severity: string, message: string, line: number | null, column: number | null, end_column: number | null, hint: string | null}} Finding
 * @typedef {{from: number, to: number, severity: "error" | "warning", message: string, source: string}} Squiggle
 */

/** Findings (lines from 1, columns from 0) as offsets into `text`; one without a line marks the first line that is not empty. @param {string} text @param {Finding[]} findings @returns {Squiggle[]} */
export function squiggles(text, findings) {
  const lines = text.split("\n"), starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const first = Math.max(0, lines.findIndex(line => line.trim()));
  return findings.map(({ severity, message, line, column, end_column, hint }) => {
    const row = Math.min(lines.length - 1, line === null ? first : Math.max(0, line - 1));
    const content = lines[row], indent = content.length - content.trimStart().length;
    let start = Math.min(column ?? indent, content.length), end = Math.min(end_column ?? content.trimEnd().length, content.length);
    if (end <= start) [start, end] = start < content.length ? [start, start + 1] : [Math.max(0, content.length - 1), content.length];
    return { from: starts[row] + start, to: starts[row] + end, severity: severity === "error" ? /** @type {const} */ ("error") : /** @type {const} */ ("warning"),
             message: hint ? `${message}\n${hint}` : message, source: "pyptx" };
  });
}
