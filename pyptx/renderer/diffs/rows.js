// Rows of the diff view. Pure.

export const WORDS = ["identical", "renamed", "rescheduled", "different"];
export const MARKS = ["", "≈", "↕", "!"];
export const LEVELS = { sass: "SASS", ptx: "PTX", python: "Python" };
export const DIFFERENT = 3;

/**
 * The items to draw: {row} or {fold: [first, end], kind}. Identical rows further than `context` from any other
 * are folded, and rows of classes not in `shown` (a Set). `open`: first rows of unfolded items.
 */
export function items(kinds, shown, open, context = 3) {
  const near = new Uint8Array(kinds.length);
  kinds.forEach((kind, row) => {
    if (kind && shown.has(kind)) near.fill(1, Math.max(0, row - context), Math.min(kinds.length, row + context + 1));
  });
  const visible = row => (kinds[row] ? shown.has(kinds[row]) : near[row] && shown.has(0));
  const found = [];
  for (let row = 0; row < kinds.length;) {
    if (visible(row)) { found.push({ row }); row += 1; continue; }
    let end = row;
    while (end < kinds.length && !visible(end) && kinds[end] === kinds[row]) end += 1;
    if (open.has(row) || (end - row < 3 && shown.has(kinds[row]))) for (; row < end; row += 1) found.push({ row });
    else found.push({ fold: [row, end], kind: kinds[row] });
    row = end;
  }
  return found;
}

/** Index of the first item of the next (direction 1) or previous run of items whose row `wanted(row)`; -1: none. */
export function nextRun(list, at, direction, wanted) {
  const is = index => list[index]?.row !== undefined && wanted(list[index].row);
  const starts = list.map((_, index) => index).filter(index => is(index) && !is(index - 1));
  if (!starts.length) return -1;
  if (direction > 0) return starts.find(index => index > at) ?? starts[0];
  let first = at;
  while (is(first) && is(first - 1)) first -= 1;
  return starts.findLast(index => index < first) ?? starts.at(-1);
}

/** The data with another level shown first: its rows, hunks and verdict. `levels`: all levels. */
export function atLevel(data, level) {
  const levels = [data.level, ...Object.keys(data.others ?? {})];
  return { ...data, ...(level === data.level ? {} : data.others[level]), level, levels };
}

/** Python row that caused a line of a side, -1: none. */
export function pythonRow(view, level, line) {
  if (level === "python") return line;
  const ptx = level === "sass" ? view.sass.ptx[line] : line;
  const stack = ptx >= 0 ? view.ptx.stack[ptx] : -1;
  return stack >= 0 ? view.stacks[stack][0] : -1;
}

/** The file of a Python row. */
export const fileOf = (view, row) => view.python.sections.find(({ start, count }) => row >= start && row < start + count)?.file ?? "";

/** Ranges [start, end) of the words of `one` that differ from `other`: by position, or by alignment if the counts differ. */
export function changedWords(one, other) {
  const split = text => [...text.matchAll(/[\w.$%]+|[^\w\s]/g)];
  const a = split(one), b = split(other);
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head][0] === b[head][0]) head += 1;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail)[0] === b.at(-1 - tail)[0]) tail += 1;
  const middle = a.slice(head, a.length - tail), others = b.slice(head, b.length - tail);
  const kept = a.length === b.length ? middle.map((word, at) => word[0] === others[at][0]) : common(middle.map(word => word[0]), others.map(word => word[0]));
  return middle.filter((_, at) => !kept[at]).map(word => [word.index, word.index + word[0].length]);
}

/** The words of `a` in a longest common subsequence with `b`. */
function common(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  }
  const kept = a.map(() => false);
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) { kept[i] = true; i += 1; j += 1; }
    else if (table[i + 1][j] >= table[i][j + 1]) i += 1;
    else j += 1;
  }
  return kept;
}

const size = (value, unit) => (unit === "B" ? (value < 1024 ? `${value} B` : `${Number((value / 1024).toPrecision(4))} KiB`)
                                            : `${Number(value.toPrecision(6))}${unit ? ` ${unit}` : ""}`);

/** {label, left, right, delta, tone} of a fact [label, left, right, unit, good, kind]; tone 1: better, -1: worse. */
export function factText([label, left, right, unit, good]) {
  const known = left !== null && right !== null;
  const change = known ? right - left : 0;
  return { label, left: left === null ? "?" : size(left, unit), right: right === null ? "?" : size(right, unit),
           delta: change ? `${change > 0 ? "+" : "−"}${size(Math.abs(change), unit).replace(" %", " points")}` : "", tone: Math.sign(change) * good };
}
