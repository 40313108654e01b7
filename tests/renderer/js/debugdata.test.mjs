import assert from "node:assert/strict";
import test from "node:test";

import { brief, codeOf, countLanes, laneOn, numeric, partOf, placeOfRow, places, pythonRow, queued, registersShown, shades, spansShown, spread, stackAt, ticks, turned, warpName, warpsShown, zoomed }
  from "../../../pyptx/renderer/debugger/data.js";
import { readAs, shapeOf } from "../../../pyptx/renderer/debugger/picker.js";

/** Kernel of two lines in k.py from line 5 on, which calls a helper in h.py; five lines of PTX. */
const sources = { python: [{ file: "a/k.py", first: 5, lines: ["def k():", "  f()"] }, { file: "h.py", first: 5, lines: ["def f():", "  x()"] }],
                  ptx: [".version 8.5", "mov", "add", "sub", "ret"], line_of_ptx: [null, 6, 6, 6, 6], file_of_ptx: [null, 0, 1, 1, 0],
                  stack_of_ptx: [[], [[0, 6]], [[1, 6], [0, 6]], [[1, 6], [0, 6]], [[0, 6]]] };
const code = codeOf(sources);
const warp = (number, ptx, state = "ready", cta = [0, 0, 0]) => ({ cta, warp: number, state, ptx, line: 6, active: -1, steps: 1 });
const state = (extra = {}) => ({ grid: [1, 1, 1], focus: { cta: [0, 0, 0], warp: 0, lane: 0 }, place: { ptx: 3, line: 6, file: "h.py", stack: [] }, warps: [warp(0, 3), warp(1, 2), warp(2, 2), warp(3, 5, "exited")], breakpoints: [], ...extra });

test("sources become panes with a heading for each file, linked by call stacks", () => {
  assert.deepEqual(code.python.line, [0, 5, 6, 0, 5, 6]);
  assert.deepEqual(code.python.sections.map(({ start, count }) => [start, count]), [[1, 2], [4, 2]]);
  assert.deepEqual([1, 2, 3, 4, 5].map(line => stackAt(code, line)), [[], [2], [5, 2], [5, 2], [2]]);
  const plain = codeOf({ ...sources, stack_of_ptx: undefined });
  assert.deepEqual([2, 3].map(line => stackAt(plain, line)), [[2], [5]]);
  assert.deepEqual(codeOf({ python: [], ptx: ["ret"], line_of_ptx: [null] }).ptx.stack, [-1]);
});

test("a line of Python is found by its file or the last part of it", () => {
  assert.equal(pythonRow(code, "a/k.py", 6), 2);
  assert.equal(pythonRow(code, "/tmp/h.py", 6), 5);
  assert.equal(pythonRow(code, "other.py", 6), -1);
  assert.equal(pythonRow(code, "h.py", 60), -1);
  assert.equal(pythonRow(code, "h.py", null), -1);
});

test("warps and breakpoints stand at their rows, the callers of the place are known", () => {
  const points = [{ id: 1, text: "h.py:6", file: "h.py", line: 6, ptx: [3, 4], enabled: true }, { id: 2, text: "ptx:5", ptx: [5], enabled: true }];
  const found = places(code, state({ breakpoints: points }));
  assert.deepEqual(found.here, { python: 5, ptx: 2 });
  assert.deepEqual([...found.callers], [2]);
  assert.deepEqual([...found.others.ptx].map(([row, warps]) => [row, warps.map(one => one.warp)]), [[1, [1, 2]]]);
  assert.deepEqual([...found.others.python.keys()], [2]);
  assert.deepEqual([...found.points.ptx.keys()], [2, 3, 4]);
  assert.deepEqual([...found.points.python.keys()], [5]);
  assert.deepEqual([placeOfRow(code, "ptx", 4), placeOfRow(code, "python", 5), placeOfRow(code, "python", 3)], ["ptx:5", "h.py:6", null]);
});

test("the focused warp is always listed, with its CTA when there are several", () => {
  const many = state({ grid: [4, 2, 1], focus: { cta: [3, 1, 0], warp: 1, lane: 0 }, warps: Array.from({ length: 16 }, (_, at) => warp(at % 2, 1, at % 2 ? "ready" : "waiting", [at >> 2, at >> 1 & 1, 0])) });
  const { shown, left } = warpsShown(many, "", 4);
  assert.deepEqual([shown.length, left, warpName(many, shown[1]), warpName(many, shown[1], true)], [4, 12, "CTA 3,1 warp 1", "3,1·w1"]);
  assert.equal(warpsShown(many, "waiting").shown.length, 8);
  assert.equal(warpName(state(), warp(2, 1)), "warp 2");
});

test("lanes of a mask, also of a negative one", () => {
  assert.deepEqual([countLanes(-1), countLanes(5), laneOn(-1, 31), laneOn(4, 1)], [32, 2, true, false]);
});

test("registers: Python names first, filters by name, type and change, no more than fit", () => {
  const all = [{ name: "%r0", python: null, type: ".b32", changed: true }, { name: "%f0", python: "acc[0]", type: ".f32", changed: false }, { name: "%f1", python: "acc[1]", type: ".f32", changed: true }];
  const names = options => registersShown(all, options).shown.map(one => one.name);
  assert.deepEqual(names({}), ["%f0", "%f1", "%r0"]);
  assert.deepEqual(names({ changed: true }), ["%f1", "%r0"]);
  assert.deepEqual(names({ filter: "ACC .f32 1" }), ["%f1"]);
  assert.equal(registersShown(all, { most: 2 }).left, 1);
});

test("shades: numbers between least and most, words by their kind, none where there is no value", () => {
  assert.deepEqual(["0x10", "-inf", "true", "(2, 3)", "nan", null].map(numeric), [16, -Infinity, 1, 2, NaN, NaN]);
  assert.deepEqual(shades(["0", "5", "10", null]), [0, 0.5, 1, null]);
  assert.deepEqual(shades(["-inf", "1", "3", "inf", "nan"]), [0, 0, 1, 1, null]);
  assert.deepEqual(shades(["7", "7"]), [0.5, 0.5]);
  assert.deepEqual(shades(["a", "b", "a"]), [0, 1, 0]);
  assert.deepEqual([spread({ lanes: ["3", "3"], uniform: true }), spread({ lanes: ["3", null] }), spread({ lanes: ["9", "10", "-2"] }), spread({ lanes: ["a", "b"] }), spread({ lanes: [null] })],
                   ["all 3", "3 in 1 lanes", "-2 to 10", "2 values", "no value"]);
});

test("long numbers are cut to four digits in cells", () => {
  assert.deepEqual(["-20.6259", "0.0821633", "12.5", "1234567", "-1.5e-10", "123456.789", "0x40000040", "nan", null, "1048576.5"].map(brief),
                   ["-20.63", "0.08216", "12.5", "1234567", "-1.50e-10", "1.23e+5", "0x40000040", "nan", "–", "1.05e+6"]);
});

test("another part of a tile is read as this one", () => {
  assert.deepEqual(readAs("memory", { type: ".bf16", shape: [128, 64], swizzle: "128B" }), { type: "bf16", shape: [128, 64], swizzle: "128B" });
  assert.deepEqual(readAs("memory", { type: "float32", shape: [8, 8], swizzle: null }), {});
  assert.deepEqual(readAs("fragment", { shape: [64, 64] }), {});
  assert.deepEqual(["128 x 64", "8×8", "32", "", "a x b"].map(shapeOf), [[128, 64], [8, 8], [1, 32], null, undefined]);
});

test("the part of a matrix, and where its pager goes", () => {
  assert.deepEqual(partOf({ rows: 70, columns: 10 }, [40, 0], [32, 32]), { rows: [32, 64], columns: [0, 10] });
  const known = { count: 64, offset: 64, whole: 256 };
  assert.deepEqual(turned([0, 32], known, 32, 1, true), { here: 32 });
  assert.deepEqual(turned([32, 64], known, 32, 1, true), { ask: 128 });
  assert.deepEqual(turned([32, 64], known, 32, 1, false), null);
  assert.deepEqual(turned([32, 64], known, 32, -1, true), { here: 0 });
  assert.deepEqual(turned([0, 32], known, 32, -1, true), { ask: 32 });
  assert.deepEqual(turned([0, 32], { count: 32, offset: 0, whole: 32 }, 32, 1, true), null);
});

test("spans of a window; a long run of short ones is drawn once", () => {
  const spans = [{ from: 0, to: 10, kind: "run" }, { from: 10, to: 20, kind: "wait" }, { from: 90, to: null, kind: "run" }];
  assert.deepEqual(spansShown(spans, [0, 100], 95).map(({ left, width }) => [left, Math.round(100 * width)]), [[0, 10], [0.1, 10], [0.9, 5]]);
  assert.deepEqual(spansShown(spans, [12, 90], 95).length, 1);
  const many = Array.from({ length: 100_000 }, (_, at) => ({ from: at * 2, to: at * 2 + 1, kind: "run" }));
  assert.ok(spansShown(many, [0, 200_000], 200_000).length <= 310);
  const mixed = many.map((span, at) => ({ ...span, kind: at % 2 ? "wait" : "run" }));
  assert.ok(spansShown(mixed, [0, 200_000], 200_000).length <= 310);
});

test("the axis has round steps, the window stays within the run", () => {
  assert.deepEqual(ticks([0, 420], 5), [0, 100, 200, 300, 400]);
  assert.deepEqual(ticks([3, 9], 8), [3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(zoomed([0, 400], 300, 0.5, 400), [150, 350]);
  assert.deepEqual(zoomed([150, 350], 300, 4, 400), [0, 400]);
});

test("steps and places of the slider that wait become one command", () => {
  let waiting = queued([], "step", {});
  waiting = queued(waiting, "step", {});
  waiting = queued(waiting, "goto", { step: 3 });
  waiting = queued(waiting, "goto", { step: 9 });
  waiting = queued(waiting, "resume", {});
  assert.deepEqual(waiting, [{ name: "step", values: { n: 2 } }, { name: "goto", values: { step: 9 } }, { name: "resume", values: {} }]);
});
