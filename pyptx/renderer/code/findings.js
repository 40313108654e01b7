// Findings of the last check: marks of the lines that take part, and a list whose items go to them. Rows count from 0.

import { h } from "../dom.js";

const RANKS = ["note", "warning", "error"];
const SIGNS = { error: "✖", warning: "▲", note: "ℹ" };

/** Marked rows of each pane: {python, ptx, sass}, Map row -> {severity, text}; the worst finding of a row. */
export function findingMarks(data, index) {
  const marks = { python: new Map(), ptx: new Map(), sass: new Map() };
  const mark = (pane, row, severity, text) => {
    const known = marks[pane].get(row);
    if (known && RANKS.indexOf(known.severity) >= RANKS.indexOf(severity)) { if (!known.text.includes(text)) known.text += `\n${text}`; return; }
    marks[pane].set(row, { severity, text: known ? `${text}\n${known.text}` : text });
  };
  for (const { severity, rule, message, rows, roles } of data.check?.findings ?? []) {
    rows.forEach((row, at) => {
      const text = `${severity}: ${rule}: ${roles[at]}\n${message}`;
      mark("ptx", row, severity, text);
      index.sassOf[row].forEach(sass => mark("sass", sass, severity, text));
      index.stackOf(row).slice(0, 1).forEach(python => mark("python", python, severity, text));
    });
  }
  return marks;
}

/** The verdict and its findings; null without a check. `show(pane, row)` goes to a line. */
export function verdict(data, show) {
  const { check } = data;
  if (!check?.headline) return null;
  const found = check.findings.some(({ severity }) => severity !== "note"), said = check.headline.split(": ").slice(1).join(": ");
  const title = h("summary", {}, h(`b.pyptx-f-${found ? "error" : "good"}`, {}, `${found ? SIGNS.error : "✔"} check: `), said);
  if (!check.findings.length) return h("p.pyptx-checked", {}, h("b.pyptx-f-good", {}, "✔ check: "), said);
  return h("details.pyptx-checked", { open: found || null }, title, h("ul", {}, ...check.findings.map(one => h("li", {},
    h(`b.pyptx-f-${one.severity}`, {}, `${SIGNS[one.severity]} ${one.rule} `),
    ...one.rows.map((row, at) => h("button.pyptx-button", { type: "button", title: data.ptx.text[row].trim(), onclick: () => show(...place(data, row)) }, `${one.roles[at]} · ${label(data, row)}`)),
    h("span", {}, ` ${one.message}`), one.fix ? h("small", {}, ` hint: ${one.fix}`) : null))));
}

/** The Python line of a PTX row where there is one, else the PTX row: [pane, row]. */
function place(data, row) {
  const stack = data.ptx.stack[row];
  return stack >= 0 && data.panes.includes("python") ? ["python", data.stacks[stack][0]] : ["ptx", row];
}

function label(data, row) {
  const [pane, at] = place(data, row);
  return pane === "python" ? `line ${data.python.line[at]}` : `PTX ${at + 1}`;
}
