// Folding: which rows of a pane are shown when basic blocks are closed. Pure; rows count from 0.

/** Basic blocks of two rows or more: [[first, last], ...]. `code(row)` says which rows hold code; a block ends before one that does not. */
export function foldable(starts, count, code = () => true) {
  const found = [];
  (starts ?? []).forEach((first, at) => {
    let end = starts[at + 1] ?? count;
    while (end > first && !code(end - 1)) end -= 1;
    if (end - first > 1) found.push([first, end - 1]);
  });
  return found;
}

/** The block that holds a row, or null. */
export function blockAt(blocks, row) {
  let low = 0, high = blocks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1, [first, last] = blocks[middle];
    if (row < first) high = middle - 1; else if (row > last) low = middle + 1; else return blocks[middle];
  }
  return null;
}

/** Rows that are shown when the blocks that begin at `closed` are folded to their first row; null: all. */
export function shownRows(count, blocks, closed) {
  if (!closed.size) return null;
  const rows = [];
  let row = 0;
  for (const [first, last] of blocks) {
    if (!closed.has(first)) continue;
    while (row <= first) rows.push(row++);
    row = last + 1;
  }
  while (row < count) rows.push(row++);
  return Int32Array.from(rows);
}

/** Place of a row among those shown; of a hidden one, the place of the fold that holds it. */
export function placeOf(order, row) {
  if (!order) return row;
  let low = 0, high = order.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (order[middle] <= row) low = middle; else high = middle - 1;
  }
  return low;
}

/** The loops beside a row, from outside in: "│┌" in the body of one loop where another begins. At most `most` are told apart. */
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
