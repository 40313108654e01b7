// Anchors of lines, for the fragment of a page's URL: "python-12", "ir-7", "ptx-31", "sass-00f0". Pure.

/** The anchor of a row; the second of several Python lines with the same number is "python-12-2". */
export function nameOf(data, pane, row) {
  if (pane === "sass") return `sass-${data.sass.address[row].toString(16).padStart(4, "0")}${again(data.sass.address, row)}`;
  return pane === "ptx" || pane === "ir" ? `${pane}-${row + 1}` : `python-${data.python.line[row]}${again(data.python.line, row)}`;
}

/** [pane, row] of an anchor, or null if there is none. */
export function rowOf(data, name) {
  const found = /^(?:(python|ir|ptx)-(\d+)|(sass)-([0-9a-f]+))(?:-(\d+))?$/.exec(name);
  if (!found) return null;
  const pane = found[1] ?? found[3], number = pane === "sass" ? parseInt(found[4], 16) : Number(found[2]);
  if (pane === "ptx" || pane === "ir") return number >= 1 && number <= (data[pane]?.text.length ?? 0) ? [pane, number - 1] : null;
  const column = pane === "sass" ? data.sass.address : data.python.line;
  const rows = column.flatMap((value, row) => (value === number ? [row] : [])), row = rows[(found[5] ?? 1) - 1];
  return row === undefined ? null : [pane, row];
}

function again(column, row) {
  const before = column.slice(0, row).filter(value => value === column[row]).length;
  return before ? `-${before + 1}` : "";
}
