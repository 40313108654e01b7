// One side of a diff: a pane of the linked view with the rows of both sides.

import { columnsOf, numberWidth } from "../code/columns.js";
import { LEVELS, MARKS, WORDS, changedWords, pythonRow } from "./rows.js";
import { h } from "../dom.js";
import { Pane } from "../code/pane.js";
import { marked, tokens } from "../code/tokens.js";

const COLORS = [-1, 5, 1, 6];        // of linked.css, by class
const ALL = 1500;                     // up to this many rows, all are drawn

/** A pane that marks differing words. */
class DiffPane extends Pane {
  constructor(side, change, options) {
    super(options);
    this.side = side;
    this.change = change;
    this.element.classList.add(`pyptx-${side}`);
    this.list.dataset.pane = side;
  }

  code(row) {
    const ranges = this.found.ranges.get(row), changed = ranges ? null : this.change(this.side, row);
    if (!changed?.length) return super.code(row);
    const code = h("span.pyptx-code");
    for (const [kind, text, hit] of marked(tokens(this.name, this.lines[row]), changed)) {
      code.append(kind || hit ? h(`${hit ? "b" : "span"}${kind ? `.pyptx-t${kind}` : ""}${hit ? ".pyptx-changed" : ""}`, {}, text) : text);
    }
    return code;
  }

  row(row) {
    const element = super.row(row);
    if (!this.headings?.has(row)) element.classList.add(`pyptx-k${this.kindOf(row)}`);
    return element;
  }
}

/** The pane of a side of a `DiffView`. */
export function diffPane(diff, side) {
  const { level, data } = diff, view = data[side], lines = diff.sides[side];
  const line = item => (diff.items[item].fold ? -1 : lines[diff.items[item].row]);
  const own = diff.items.map((_, item) => line(item));
  const targets = level === "sass" ? own.map(one => (one < 0 || view.sass.target[one] < 0 ? -1 : diff.at.get(diff.where[side].get(view.sass.target[one])) ?? -1)) : [];
  const all = columnsOf(view), wanted = { sass: ["live", "stall", "write", "read", "wait"], ptx: ["sass"], python: ["sass", "live"] }[level];
  const columns = all[level].filter(({ key }) => wanted.includes(key) && (diff.width > 1500 || ["live", "stall", "sass"].includes(key)))
    .map(column => ({ ...column, shown: true, value: item => (own[item] < 0 ? "" : column.value(own[item])), share: null }));
  if (level !== "python") columns.unshift({ key: "py", label: "Py", title: "Python line that caused it", width: 4, shown: true, value: item => pythonLine(diff, side, own[item]) });
  if (side === "right") columns.unshift({ key: "class", label: "class", title: "Class of the row", width: 14, shown: true, value: item => word(diff, item) });
  const headings = new Map(diff.items.flatMap((item, index) => (item.fold ? [[index, `▸ ${item.fold[1] - item.fold[0]} ${WORDS[item.kind]} rows`]] : [])));
  const file = [...new Set(view.python.sections.map(section => section.file))].join(", ");
  const pane = new DiffPane(side, (of, item) => changed(diff, of, item), {
    name: level, title: `${view.title} · ${view.target} · ${LEVELS[level]} ${view[level].text.length}${file ? ` · ${file}` : ""}`,
    data: { python: { sections: [] }, [level]: { text: own.map(one => (one < 0 ? "" : view[level].text[one])), target: targets, sections: [] }, help: view.help },
    columns, number: item => (own[item] < 0 || (level === "python" && !view.python.line[own[item]]) ? "" : all.number[level](own[item])), numberWidth: numberWidth(view)[level],
    color: diff.items.map(item => (item.fold ? -1 : COLORS[diff.kinds[item.row]])), headings, full: diff.items.length <= ALL,
    on: { hover: item => diff.say(side, item), leave: () => diff.say(), pick: (item, event) => diff.click(side, item, event) } });
  pane.kindOf = item => diff.kinds[diff.items[item].row];
  pane.list.addEventListener("focus", () => { diff.focus = side; });
  return pane;
}

/** The number of the Python line that caused a line of a side, as text. */
function pythonLine(diff, side, line) {
  const row = line < 0 ? -1 : pythonRow(diff.data[side], diff.level, line);
  return row < 0 ? "" : String(diff.data[side].python.line[row]);
}

/** The class of a row as text. */
function word(diff, item) {
  if (diff.items[item].fold) return "";
  const { row } = diff.items[item], { partner, control } = diff.data.rows, kind = diff.kinds[row];
  if (kind === 2) {
    const other = diff.where[diff.sides.left[row] >= 0 ? "right" : "left"].get(partner[row]);
    return `${MARKS[2]} moved ${other > row ? "down" : "up"}`;
  }
  return kind === 1 && diff.data.rows.why[row] ? `${MARKS[1]} respelled` : kind ? `${MARKS[kind]} ${WORDS[kind]}` : control[row] ? "scheduling" : "";
}

/** Ranges of differing words in a row with lines on both sides. */
function changed(diff, side, item) {
  const { row } = diff.items[item], { a, b } = diff.data.rows;
  if (row === undefined || !diff.kinds[row] || a[row] < 0 || b[row] < 0) return null;
  const left = diff.data.left[diff.level].text[a[row]], right = diff.data.right[diff.level].text[b[row]];
  return side === "left" ? changedWords(left, right) : changedWords(right, left);
}
