import assert from "node:assert/strict";
import test from "node:test";

import { cellCount, markedLines } from "../../../lab_extension/src/logic/findings.js";

const place = values => ({ role: "reads", where: "", file: "Cell In[2]", line: 2, source: "load()", ptx_line: 9, ...values });
const report = (places, values = {}) => ({ kind: "report", title: "k", findings: [{ rule: "data-race", severity: "error", message: "m", places, ...values }] });

test("lines of a cell are marked by its execution count", () => {
  const reports = [report([place({}), place({ line: 3, source: "store()", role: "writes" }), place({ file: "k.py" })])];
  assert.deepEqual(markedLines(reports, 2, "def k():\n  load()\n  store()").map(({ line, severity }) => [line, severity]), [[2, "error"], [3, "error"]]);
  assert.deepEqual(markedLines(reports, 3, "def k():\n  load()\n  store()"), []);
});

test("the last report of a kernel counts", () => {
  assert.deepEqual(markedLines([report([place({})]), { kind: "report", title: "k", findings: [] }], 2, "\nload()"), []);
});

test("a line that moved is found by its text, one that was changed is left out", () => {
  assert.deepEqual(markedLines([report([place({})])], 2, "\n\n\nload()").map(({ line }) => line), [4]);
  assert.deepEqual(markedLines([report([place({})])], 2, "\nload(1)"), []);
});

test("the worst finding of a line decides its sign", () => {
  const findings = [...report([place({})], { severity: "note" }).findings, ...report([place({})]).findings];
  const [mark] = markedLines([{ kind: "report", title: "k", findings }], 2, "\nload()");
  assert.deepEqual([mark.severity, mark.texts.length], ["error", 2]);
});

test("names of cells", () => { assert.deepEqual([cellCount("Cell In[12]"), cellCount("k.py"), cellCount(null)], [12, null, null]); });
