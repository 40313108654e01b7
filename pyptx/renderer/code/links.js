// Links between Python, an IR, PTX and SASS: pure functions over the data of a linked view. Rows count from 0, -1 means none.

export const PANES = ["python", "ir", "ptx", "sass"];
export const NAMES = { python: "Python", ptx: "PTX", sass: "SASS" };
const NO_IR = { text: [], stack: [], place: [], ptx_place: [] };
const CUDA_FILE = /\.(cu|cuh|cpp|cc|h|hpp|inc)$/;

/** The name of a pane, by the language of its source: CUDA C++ by its file, or in a cell by a kernel. */
export function paneName(data, pane) {
  if (pane === "ir") return data.ir.name;
  const { sections, text } = data.python;
  const cuda = pane === "python" && sections.length > 0
    && (sections.every(section => CUDA_FILE.test(section.file)) || text.some(line => /^\s*(template.*|extern "C" |static )?__global__ /.test(line)));
  return cuda ? "CUDA C++" : NAMES[pane];
}
export const KIN = 1;             // the same Python line, or a caller or callee of it
export const EXACT = 2;           // this line, its generated code, its source

/**
 * Both directions of every link. `ptxOf[p]`: PTX rows emitted by Python row p; `belowOf[p]`: emitted by helpers it calls;
 * `irOf[p]`, `irBelowOf[p]`: the same of the IR; `ptxAt`, `irAt`: rows by source location.
 */
export function linkIndex(data) {
  const ir = data.ir ?? NO_IR;
  const stackOf = row => (data.ptx.stack[row] >= 0 ? data.stacks[data.ptx.stack[row]] : []);
  const ptxOf = data.python.text.map(() => []);
  const belowOf = data.python.text.map(() => []);
  data.ptx.text.forEach((_, row) => stackOf(row).forEach((python, depth) => (depth ? belowOf : ptxOf)[python].push(row)));
  const sassOf = data.ptx.text.map(() => []);
  data.sass.ptx.forEach((ptx, row) => { if (ptx >= 0) sassOf[ptx].push(row); });
  const irStackOf = row => (ir.stack[row] >= 0 ? data.stacks[ir.stack[row]] : []);
  const irOf = data.python.text.map(() => []), irBelowOf = data.python.text.map(() => []);
  ir.text.forEach((_, row) => irStackOf(row).forEach((python, depth) => (depth ? irBelowOf : irOf)[python].push(row)));
  return { stackOf, ptxOf, belowOf, sassOf, ptxOfSass: data.sass.ptx, irStackOf, irOf, irBelowOf,
           placeOf: { ir: ir.place, ptx: ir.ptx_place }, irAt: byPlace(ir.place), ptxAt: byPlace(ir.ptx_place),
           panes: PANES.filter(name => data[name]),
           sizes: { python: data.python.text.length, ir: ir.text.length, ptx: data.ptx.text.length, sass: data.sass.text.length } };
}

/** The rows of each source location. */
function byPlace(places) {
  const found = new Map();
  places.forEach((place, row) => { if (place >= 0) found.set(place, [...(found.get(place) ?? []), row]); });
  return found;
}

/** Rows linked with one row: for each pane a sorted list of exact and of kin rows. */
export function related(index, pane, row) {
  const exact = { python: new Set(), ir: new Set(), ptx: new Set(), sass: new Set() };
  const kin = { python: new Set(), ir: new Set(), ptx: new Set(), sass: new Set() };
  const addIr = (level, rows) => rows?.forEach(other => level.ir.add(other));
  const add = (level, ptxRows) => ptxRows.forEach(ptx => {
    level.ptx.add(ptx);
    index.sassOf[ptx].forEach(sass => level.sass.add(sass));
  });
  exact[pane].add(row);
  if (pane === "python") {
    add(exact, index.ptxOf[row]);
    add(exact, index.belowOf[row]);
    addIr(exact, index.irOf[row]);
    addIr(exact, index.irBelowOf[row]);
    index.ptxOf[row].forEach(ptx => index.stackOf(ptx).slice(1).forEach(caller => kin.python.add(caller)));
    index.belowOf[row].forEach(ptx => {
      const stack = index.stackOf(ptx);
      stack.slice(0, stack.indexOf(row)).forEach(callee => kin.python.add(callee));
    });
  } else if (pane === "ir") {
    const [python, ...callers] = index.irStackOf(row);
    add(exact, index.ptxAt.get(index.placeOf.ir[row]) ?? []);
    addIr(kin, index.irAt.get(index.placeOf.ir[row]));
    if (python !== undefined) {
      exact.python.add(python);
      callers.forEach(caller => kin.python.add(caller));
      add(kin, index.ptxOf[python]);
      addIr(kin, index.irOf[python]);
    }
  } else {
    const ptx = pane === "ptx" ? row : index.ptxOfSass[row];
    if (ptx >= 0) {
      if (pane === "ptx") add(exact, [ptx]); else exact.ptx.add(ptx);
      const [python, ...callers] = index.stackOf(ptx);
      addIr(exact, index.irAt.get(index.placeOf.ptx[ptx]));
      if (pane === "sass") index.sassOf[ptx].forEach(sass => kin.sass.add(sass));
      if (python !== undefined) {
        exact.python.add(python);
        callers.forEach(caller => kin.python.add(caller));
        add(kin, index.ptxOf[python]);
        addIr(kin, index.irOf[python]);
      }
    }
  }
  const sorted = sets => Object.fromEntries(index.panes.map(name => [name, [...sets[name]].sort((a, b) => a - b)]));
  const result = { pane, row, exact: sorted(exact), kin: sorted(kin), level: {} };
  for (const name of index.panes) {
    const level = result.level[name] = new Uint8Array(index.sizes[name]);
    result.kin[name].forEach(other => { level[other] = KIN; });
    result.exact[name].forEach(other => { level[other] = EXACT; });
  }
  return result;
}

/** The number of each row's Python line, in order of appearance; -1 for none. */
export function colors(data, index) {
  const python = new Int32Array(index.sizes.python).fill(-1);
  let next = 0;
  index.ptxOf.forEach((own, row) => { if (own.length || index.belowOf[row].length || index.irOf[row].length || index.irBelowOf[row].length) python[row] = next++; });
  const ptx = Int32Array.from(data.ptx.text, (_, row) => python[index.stackOf(row)[0]] ?? -1);
  const sass = Int32Array.from(data.sass.ptx, row => (row >= 0 ? ptx[row] : -1));
  const ir = Int32Array.from(index.placeOf.ir, (_, row) => python[index.irStackOf(row)[0]] ?? -1);
  return { python, ir, ptx, sass };
}

/** Runs of neighboring rows: [[first, last], ...]. */
export function blocks(rows) {
  const runs = [];
  for (const row of rows) {
    if (runs.length && row <= runs.at(-1)[1] + 1) runs.at(-1)[1] = row; else runs.push([row, row]);
  }
  return runs;
}

/** First row of the next (direction 1) or previous (-1) run, wrapping around; -1 for none. */
export function nextBlock(runs, row, direction) {
  if (!runs.length) return -1;
  const found = direction > 0 ? runs.find(([first]) => first > row)
                              : runs.findLast(([, last]) => last < row);
  return (found ?? (direction > 0 ? runs[0] : runs.at(-1)))[0];
}

/** Rows to draw: [first, end) of the visible ones and `spare` more on either side. */
export function visibleRange(top, height, rowHeight, count, spare = 3) {
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  return [Math.min(first, count), Math.min(count, Math.ceil((top + height) / rowHeight) + spare)];
}

/** The scroll position that shows one of `rows`, at a third of the height; null if one is visible. */
export function revealTop(rows, top, height, rowHeight, margin = 0) {
  if (!rows.length) return null;
  const seen = row => row * rowHeight >= top && (row + 1) * rowHeight <= top + height - margin;
  return rows.some(seen) ? null : Math.max(0, rows[0] * rowHeight - Math.max(0, height / 3));
}

/** Matches of a search: {rows, ranges: row -> [[start, end], ...]}, or {error} for an invalid regular expression. */
export function search(lines, query, asRegex = false) {
  const ranges = new Map();
  if (!query) return { rows: [], ranges };
  let pattern;
  try {
    pattern = new RegExp(asRegex ? query : query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  } catch (error) {
    return { rows: [], ranges, error: error.message };
  }
  lines.forEach((line, row) => {
    const found = [...line.matchAll(pattern)].filter(match => match[0]).map(match => [match.index, match.index + match[0].length]);
    if (found.length) ranges.set(row, found);
  });
  return { rows: [...ranges.keys()], ranges };
}

/** Row numbers as text: "31-36, 40". */
export function rowsText(rows, number = row => row + 1, most = 6) {
  const runs = blocks(rows).map(([first, last]) => (first === last ? `${number(first)}` : `${number(first)}–${number(last)}`));
  return runs.length > most ? `${runs.slice(0, most).join(", ")} and ${runs.length - most} more` : runs.join(", ");
}

/** The links of a row as one sentence, for the status bar and screen readers. */
export function sentence(data, links) {
  const address = row => data.sass.address[row].toString(16).padStart(4, "0");
  const line = row => data.python.line[row];
  const parts = [];
  const name = { python: "Python line", ir: data.ir?.name, ptx: "PTX", sass: "SASS" };
  const rows = { python: list => list.map(line).join(", "), ir: list => rowsText(list), ptx: list => rowsText(list), sass: list => rowsText(list, address) };
  for (const pane of Object.keys(links.exact)) {
    const list = links.exact[pane];
    if (list.length) parts.push(`${name[pane]} ${rows[pane](list)}${list.length > 1 ? ` (${list.length})` : ""}`);
  }
  let text = parts.join("  →  ");
  if (links.pane === "sass" && data.sass.ptx[links.row] < 0) text += "  ·  added by ptxas";
  else if (!links.exact.python.length) text += "  ·  no Python line";
  const callers = links.pane === "python" ? [] : links.kin.python;
  if (callers.length) text += `  ·  called from ${callers.length > 1 ? "lines" : "line"} ${callers.map(line).join(", ")}`;
  const live = links.exact.sass.reduce((most, row) => Math.max(most, data.sass.live[row]), 0);
  if (live) text += `  ·  ${live} live register${live === 1 ? "" : "s"}${links.exact.sass.length > 1 ? " at most" : ""}`;
  return text;
}

/** Call stacks of a helper's line, as Python rows, innermost first; none for lines of the kernel. */
export function callStacks(data, index, pane, row) {
  const ptx = pane === "sass" ? data.sass.ptx[row] : row;
  if (pane !== "python") {
    const stack = pane === "ir" ? index.irStackOf(row) : ptx >= 0 ? index.stackOf(ptx) : [];
    return stack.length > 1 ? [stack] : [];
  }
  const found = new Map();
  for (const written of [...index.ptxOf[row], ...index.belowOf[row]]) {
    const stack = index.stackOf(written), at = stack.indexOf(row);
    if (at + 1 < stack.length) found.set(stack.slice(at).join(), stack.slice(at));
  }
  return [...found.values()];
}

/** The control fields of a machine instruction as text: "issues after barrier 0; then 5 cycles; sets barrier 2 when written". */
export function control({ sass }, row) {
  const waits = [0, 1, 2, 3, 4, 5].filter(bit => sass.wait[row] >> bit & 1), parts = [];
  if (waits.length) parts.push(`waits for barrier${waits.length > 1 ? "s" : ""} ${waits.join(", ")}`);
  parts.push(`next instruction after ${sass.stall[row]} cycle${sass.stall[row] === 1 ? "" : "s"} at the earliest`);
  if (sass.write_barrier[row] >= 0) parts.push(`sets barrier ${sass.write_barrier[row]} until the result is written`);
  if (sass.read_barrier[row] >= 0) parts.push(`sets barrier ${sass.read_barrier[row]} until the operands are read`);
  if (sass.reuse[row]) parts.push("keeps an operand for reuse");
  if (sass.spill?.[row]) parts.push(`spills ${sass.spill[row]} bytes`);
  return parts.join("; ");
}
