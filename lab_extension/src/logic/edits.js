// Edits of cells that a view requests, such as new defaults of a kernel.

/**
 * The minimal replacement that turns `before` into `after` in the one cell that contains `before`: {cell, start, end, text}, offsets in
 * the cell's source; or {error}. The cell that comes last before `limit` wins where several contain it.
 * @param {string[]} sources of all cells @param {string} before @param {string} after @param {number} limit index of the cell that asks
 */
export function replacement(sources, before, after, limit = sources.length) {
  const found = sources.flatMap((source, index) => (before && source.includes(before) ? [index] : []));
  if (!found.length) return { error: "No cell contains the kernel as it ran. Run its cell again, then the sweep." };
  const cell = found.filter(index => index <= limit).at(-1) ?? found[0], offset = sources[cell].indexOf(before);
  let head = 0, tail = 0;
  const least = Math.min(before.length, after.length);
  while (head < least && before[head] === after[head]) head += 1;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return { cell, start: offset + head, end: offset + before.length - tail, text: after.slice(head, after.length - tail) };
}
