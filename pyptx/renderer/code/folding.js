// Folding of basic blocks: the rows of a pane that are shown. Pure; rows count from 0.

/** Basic blocks of at least two rows: [[first, last], ...]. A block ends before the first row for which `code(row)` is false. */
export function foldable(starts, count, code = () => true) {
  const found = [];
  (starts ?? []).forEach((first, at) => {
    let end = starts[at + 1] ?? count;
    while (end > first && !code(end - 1)) end -= 1;
    if (end - first > 1) found.push([first, end - 1]);
  });
  return found;
}

/** The block that contains a row, or null. */
export function blockAt(blocks, row) {
  let low = 0, high = blocks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1, [first, last] = blocks[middle];
    if (row < first) high = middle - 1; else if (row > last) low = middle + 1; else return blocks[middle];
  }
  return null;
}

/** Rows shown when the blocks that begin at `closed` are folded to their first row and the rows `left` out are hidden; null for all. */
export function shownRows(count, blocks, closed, left = new Set()) {
  if (!closed.size && !left.size) return null;
  const rows = [];
  let row = 0;
  const until = end => { for (; row < end; row += 1) if (!left.has(row)) rows.push(row); };
  for (const [first, last] of blocks) {
    if (!closed.has(first)) continue;
    until(first);
    rows.push(first);
    row = last + 1;
  }
  until(count);
  return Int32Array.from(rows);
}

/** Position of a row among those shown; for a hidden row, of the one before it. */
export function placeOf(order, row) {
  if (!order) return row;
  let low = 0, high = order.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (order[middle] <= row) low = middle; else high = middle - 1;
  }
  return low;
}

/** Loop marks beside a row, outermost first: "│┌" in the body of one loop where another begins; at most `most` levels. */
export function loopMarks(loops, most = 4) {
  const begins = new Map(), ends = new Map(), count = (map, row) => map.set(row, (map.get(row) ?? 0) + 1);
  for (const [first, last] of loops ?? []) { count(begins, first); count(ends, last); }
  return (row, depth) => {
    if (!depth) return "";
    const opens = begins.get(row) ?? 0, closes = ends.get(row) ?? 0;
    let text = "";
    for (let level = 1; level <= Math.min(depth, most); level += 1) {
      const open = level > depth - opens, close = level > depth - closes;
      text += open && close ? "↻" : open ? "┌" : close ? "└" : "│";
    }
    return text;
  };
}
