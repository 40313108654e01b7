import assert from "node:assert/strict";
import test from "node:test";

import { atLevel, changedWords, factText, fileOf, items, nextRun, pythonRow } from "../../../pyptx/renderer/diffs/rows.js";

const ALL = new Set([0, 1, 2, 3]);
const short = list => list.map(({ row, fold }) => (fold ? `${fold[0]}-${fold[1]}` : row)).join(" ");

test("identical rows far from a change are folded", () => {
  const kinds = [0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0];
  assert.equal(short(items(kinds, ALL, new Set(), 2)), "0-4 4 5 6 7 8 9-13");
  assert.equal(short(items(kinds, ALL, new Set([9]), 2)), "0-4 4 5 6 7 8 9 10 11 12");
});

test("nothing is folded that would save no room", () => {
  assert.equal(short(items([3, 0, 0, 0, 3], ALL, new Set(), 1)), "0 1 2 3 4");
  assert.equal(short(items([3], ALL, new Set())), "0");
  assert.equal(short(items([], ALL, new Set())), "");
});

test("classes that are not shown are folded, and do not keep their surroundings open", () => {
  assert.equal(short(items([1, 1, 3, 1], new Set([0, 2, 3]), new Set())), "0-2 2 3-4");
  assert.equal(short(items([0, 0, 0, 1, 0, 0, 0], new Set([0, 2, 3]), new Set(), 3)), "0-3 3-4 4-7");
});

test("every row stands in exactly one item", () => {
  let seed = 7;
  const random = n => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 50; round += 1) {
    const kinds = Array.from({ length: random(60) }, () => (random(3) ? 0 : random(4)));
    const rows = items(kinds, new Set([0, 3, random(4)]), new Set(), random(4))
      .flatMap(({ row, fold }) => (fold ? Array.from({ length: fold[1] - fold[0] }, (_, n) => fold[0] + n) : [row]));
    assert.deepEqual(rows, kinds.map((_, row) => row));
  }
});

test("the next run goes round, and from within a run to another one", () => {
  const list = [0, 1, 2, 3, 4, 5].map(row => ({ row })), wanted = row => [1, 2, 4].includes(row);
  assert.equal(nextRun(list, -1, 1, wanted), 1);
  assert.equal(nextRun(list, 1, 1, wanted), 4);
  assert.equal(nextRun(list, 4, 1, wanted), 1);
  assert.equal(nextRun(list, 4, -1, wanted), 1);
  assert.equal(nextRun(list, 2, -1, wanted), 4);
  assert.equal(nextRun(list, 0, 1, () => false), -1);
});

test("the words that differ are marked", () => {
  const text = (one, other) => changedWords(one, other).map(([a, b]) => one.slice(a, b));
  assert.deepEqual(text("FFMA R4, R5, R6", "FFMA R4, R7, R6"), ["R5"]);
  assert.deepEqual(text("FADD R1, R2", "FMUL R1, R3"), ["FADD", "R2"]);
  assert.deepEqual(text("EXIT", "EXIT"), []);
  assert.deepEqual(text("FMUL R7, R2, 2", "FFMA R7, R2, 2, R2"), ["FMUL"]);
  assert.deepEqual(text("FFMA R7, R2, 2, R2", "FMUL R7, R2, 2"), ["FFMA", ",", "R2"]);
  assert.deepEqual(text("IADD3 R5, R3", "IADD3 R5, PT, R3"), []);
  assert.deepEqual(text("IADD3 R5, PT, R3", "IADD3 R5, R3"), ["PT", ","]);
});

test("facts say how much they changed and whether that is good", () => {
  assert.deepEqual(factText(["registers", 40, 32, "", -1, "use"]), { label: "registers", left: "40", right: "32", delta: "−8", tone: 1 });
  assert.equal(factText(["shared memory", 512, 2048, "B", -1, "use"]).right, "2 KiB");
  assert.equal(factText(["occupancy", 50, 37.5, "%", 1, "use"]).tone, -1);
  assert.deepEqual(factText(["occupancy", null, 37.5, "%", 1, "use"]), { label: "occupancy", left: "?", right: "37.5 %", delta: "", tone: 0 });
});

test("a line is led back to its Python line", () => {
  const view = { sass: { ptx: [1, -1] }, ptx: { stack: [-1, 0] }, stacks: [[3, 0]],
                 python: { sections: [{ start: 0, count: 2, file: "a.py" }, { start: 3, count: 2, file: "b.py" }] } };
  assert.equal(pythonRow(view, "sass", 0), 3);
  assert.equal(pythonRow(view, "sass", 1), -1);
  assert.equal(pythonRow(view, "ptx", 0), -1);
  assert.equal(pythonRow(view, "python", 2), 2);
  assert.equal(fileOf(view, 3), "b.py");
  assert.equal(fileOf(view, 2), "");
});

test("a diff with another level in front has its rows, and all levels", () => {
  const data = { level: "sass", verdict: "a", rows: 1, hunks: 2, others: { ptx: { verdict: "b", rows: 3, hunks: 4 } } };
  assert.deepEqual(atLevel(data, "sass").levels, ["sass", "ptx"]);
  const other = atLevel(data, "ptx");
  assert.deepEqual([other.level, other.verdict, other.rows, other.hunks, other.levels], ["ptx", "b", 3, 4, ["sass", "ptx"]]);
  assert.deepEqual(atLevel({ level: "sass" }, "sass").levels, ["sass"]);
});
