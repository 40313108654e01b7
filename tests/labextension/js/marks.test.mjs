import assert from "node:assert/strict";
import test from "node:test";

import { compiledLines, isStale, marks, placed } from "../../../lab_extension/src/logic/marks.js";

const view = (title, sass, file = "Cell In[3]") => ({
  kind: "linked", title,
  python: { sections: [{ file, start: 0, count: 3 }], text: ["def k():", "    a", "    b"], line: [4, 5, 6], sass, live: [2, 5, 9] },
  ptx: { text: [".version 8.0", "add;", "ret;"], sass, live: [2, 5, 9] } });
const SOURCE = "%%ptxkernel\n\n\ndef k():\n    a\n    b\n";

test("lines with machine code get a mark; several views of a cell are added up", () => {
  const found = marks([view("k", [1, 0, 7]), { kind: "diff" }, view("j", [0, 0, 2])], 3, SOURCE);
  assert.deepEqual(found.map(({ line, sass, live }) => [line, sass, live]), [[4, 1, 2], [6, 9, 9]]);
  assert.deepEqual(found[1].views.map(({ view, row, title }) => [view, row, title]), [[0, 2, "k"], [2, 2, "j"]]);
});

test("lines of other cells and of files are not marked", () => {
  assert.deepEqual(marks([view("k", [1, 1, 1], "Cell In[2]"), view("k", [1, 1, 1], "kernels.py")], 3, SOURCE), []);
  assert.deepEqual(marks([view("k", [1, 1, 1])], null, SOURCE), []);
});

test("a cell is stale when a line of its kernel is another", () => {
  const compiled = compiledLines([view("k", [1, 1, 1])], 3, SOURCE);
  assert.equal(isStale(compiled, SOURCE), false);
  assert.equal(isStale(compiled, SOURCE + "# below"), false);
  assert.equal(isStale(compiled, SOURCE.replace("    a", "    c")), true);
  assert.equal(isStale(compiled, "# above\n" + SOURCE), true);
});

test("stale marks follow their lines; the mark of a changed line goes", () => {
  const views = [view("k", [1, 2, 3])], found = marks(views, 3, SOURCE), compiled = compiledLines(views, 3, SOURCE);
  const at = source => placed(found, compiled, source).map(({ line, stale }) => [line, stale]);
  assert.deepEqual(at(SOURCE), [[4, false], [5, false], [6, false]]);
  assert.deepEqual(at("\n\n" + SOURCE), [[6, true], [7, true], [8, true]]);
  assert.deepEqual(at(SOURCE.replace("    a", "    c")), [[4, true], [6, true]]);
  assert.deepEqual(at(""), []);
});

test("lines of a %%ptx cell are those of its PTX; another target of the magic makes none of them stale", () => {
  const source = "%%ptx --arch sm_80\n.version 7.0\nadd;\nret;\n", views = [view("k", [0, 3, 1], "k.cu")];
  const found = marks(views, 3, source);
  assert.deepEqual(found.map(({ line, text, views: [{ pane, row }] }) => [line, text, pane, row]), [[3, "add;", "ptx", 1], [4, "ret;", "ptx", 2]]);
  assert.equal(isStale(compiledLines(views, 3, source), source), false);
  assert.equal(isStale(compiledLines(views, 3, source), source.replace("add", "sub")), true);
});
