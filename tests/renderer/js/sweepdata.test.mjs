import assert from "node:assert/strict";
import test from "node:test";

import { Sweep, digits, duration, rateText, timeText } from "../../../pyptx/renderer/sweeps/data.js";

const STATES = ["queued", "compiling", "compiled", "refused", "modeled", "measured", "wrong", "failed", "duplicate"].map(name => [name, name[0], name]);
const none = count => Array(count).fill(null);

/** A x B: the place (1, 1) is a hole, (0, 1) refused, (1, 0) the best. */
const data = (extra = {}) => ({
  kind: "sweep", version: 1, title: "k", target: "sm_90a", device: "model", states: STATES,
  parameters: [{ name: "A", values: [1, 2] }, { name: "B", values: [64, 128] }],
  points: { config: [[0, 0], [0, 1], [1, 0]], state: [4, 3, 4], reason: ["", 'too much, "really"', ""], seconds: [2e-6, null, 1e-6], low: none(3), high: none(3),
            kind: ["modeled", "", "modeled"], bound: ["", "", "memory"], registers: [32, null, 40], spill_bytes: none(3), shared_bytes: none(3), occupancy: [0.5, null, 1], confidence: ["low", null, "normal"], rate: none(3), twin: [-1, -1, -1] },
  holes: [[[1, 1], "A * B <= 128"]], progress: { done: 3, total: 3, seconds_left: null, state: "finished" }, best: 2, choice: -1, notes: [], ...extra });

test("numbers have three digits", () => {
  assert.deepEqual([1.2345, 12.345, 123.45, 999.7, 1234].map(digits), ["1.23", "12.3", "123", "1000", "1234"]);
  assert.deepEqual([1.5e-9, 9.999e-7, 2.5e-5, 3].map(seconds => timeText(seconds)), ["1.50 ns", "1.00 µs", "25.0 µs", "3.00 s"]);
  assert.deepEqual([0.1, 89, 200].map(duration), ["1 s", "89 s", "3 min"]);
});

test("points, refusals and holes stand at their places", () => {
  const sweep = new Sweep(data()), [map] = sweep.maps({ across: 1, down: 0, panels: -1 }, [null, null]);
  assert.deepEqual(map.rows.map(row => row.cells.map(({ point, reason }) => [point, reason])), [[[0, ""], [1, ""]], [[2, ""], [-1, "A * B <= 128"]]]);
});

test("of several points the fastest that runs speaks", () => {
  const sweep = new Sweep(data()), maps = sweep.maps({ across: 0, down: -1, panels: -1 }, [null, null]);
  assert.deepEqual(maps[0].rows[0].cells.map(({ point }) => point), [0, 2]);
  assert.equal(sweep.speaker([1]), 1, "a refused one, where there is no other");
  assert.equal(sweep.speaker([]), -1);
});

test("what may run is counted for each value", () => {
  const sweep = new Sweep(data());
  assert.deepEqual(sweep.feasible(0, [null, null]), [[1, 2], [1, 2]]);
  assert.deepEqual(sweep.feasible(1, [null, null]), [[2, 2], [0, 2]]);
  assert.deepEqual(sweep.feasible(1, [1, null]), [[1, 1], [0, 1]]);
});

test("a scale goes from the best to the worst, whichever is more", () => {
  const sweep = new Sweep(data()), time = sweep.scale("time"), occupancy = sweep.scale("occupancy");
  assert.deepEqual([time.best, time.worst, [0, 1, 2].map(time.share)], [1e-6, 2e-6, [1, null, 0]]);
  assert.deepEqual([occupancy.best, occupancy.worst, occupancy.share(2)], [1, 0.5, 0]);
  assert.deepEqual(sweep.metrics(), ["time", "registers", "occupancy"]);
});

test("sorting leaves points without a value to the end", () => {
  const sweep = new Sweep(data());
  assert.deepEqual(sweep.sorted("time", false), [2, 0, 1]);
  assert.deepEqual(sweep.sorted("time", true), [0, 2, 1]);
  assert.deepEqual(sweep.sorted("p1", true, new Set(["refused"])), [0, 2]);
});

test("the longest axes are laid out first, short ones as maps, the rest is chosen", () => {
  const axes = (...counts) => new Sweep(data({ parameters: counts.map((count, at) => ({ name: `P${at}`, values: Array.from({ length: count }, (_, value) => value) })),
                                               points: Object.fromEntries(Object.keys(data().points).map(name => [name, []])), holes: [], best: -1 })).layout();
  assert.deepEqual(axes(3, 4, 2, 3), { across: 1, down: 0, panels: 3 });
  assert.deepEqual(axes(5, 1), { across: 0, down: -1, panels: -1 });
  assert.deepEqual(axes(20, 30, 10), { across: 1, down: 0, panels: -1 });
  assert.deepEqual(axes(1), { across: 0, down: -1, panels: -1 });
});

test("the CSV quotes what has commas and quotes", () => {
  const [head, , refused] = new Sweep(data()).csv().split("\n");
  assert.ok(head.startsWith("A,B,state,reason,seconds"));
  assert.ok(refused.startsWith('1,128,refused,"too much, ""really""",,'));
});

test("a point in a sentence", () => {
  const sweep = new Sweep(data());
  assert.equal(sweep.sentence(2), "A 2, B 64: modeled 1.00 µs, the best");
  assert.equal(sweep.sentence(1), 'A 1, B 128: refused; too much, "really"');
});

test("rates have a unit that suits them", () => {
  assert.deepEqual([6.4e14, 2.5e9, 9.4e5].map(rate => rateText(rate)), ["640 TFLOP/s", "2.50 GFLOP/s", "0.940 MFLOP/s"]);
  const sweep = new Sweep(data({ points: { ...data().points, rate: [1e9, null, 2e9] } }));
  assert.equal(sweep.columns().find(({ key }) => key === "rate").label, "GFLOP/s");
});
