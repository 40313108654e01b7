// What an instruction needs, who needs it, and what costs most: pure functions.

import assert from "node:assert/strict";
import test from "node:test";

import { ranked, shades } from "../../../pyptx/renderer/code/hotspots.js";
import { paths } from "../../../pyptx/renderer/code/arrows.js";
import { along, dependenceIndex, signs } from "../../../pyptx/renderer/code/dependences.js";

// row 0 S2R (barrier 0), 1 LDC (barrier 1), 2 IMAD of both, waits for both, 3 STG of 1 and 2
const sass = { text: ["", "", "", ""], takes: [[], [], [2, 1], [2, 1]], awaits: [[], [], [2, 1], []] };

test("distances are rows, both ways", () => {
  const needs = dependenceIndex(sass);
  assert.deepEqual(needs(2), { takes: [0, 1], awaits: [0, 1], uses: [3], freed: [], stalled: [1, 0] });
  assert.deepEqual(needs(1), { takes: [], awaits: [], uses: [2, 3], freed: [2], stalled: [] });
});

test("a value carried round a loop comes from below", () => {
  const needs = dependenceIndex({ text: ["", ""], takes: [[-1], [1]], awaits: [] });
  assert.deepEqual(needs(0).takes, [1]);
  assert.deepEqual(needs(1).uses, [0]);
});

test("data of an older pyptx has no needs", () => {
  assert.deepEqual(dependenceIndex({ text: ["", ""] })(1), { takes: [], awaits: [], uses: [], freed: [], stalled: [] });
});

test("a line that is waited for says so, whatever else it gives", () => {
  assert.deepEqual([...signs({ takes: [0, 1], awaits: [0], uses: [3], freed: [4] })].sort(), [[0, "awaits"], [1, "takes"], [3, "uses"], [4, "uses"]]);
});

test("up the flow goes to what is waited for, else to what is near", () => {
  const needs = { takes: [1, 4], awaits: [2], uses: [9, 7], freed: [6] };
  assert.equal(along(needs, 5, -1), 2);
  assert.equal(along({ ...needs, awaits: [] }, 5, -1), 4);
  assert.equal(along(needs, 5, 1), 7);
  assert.equal(along({ takes: [5], awaits: [], uses: [5], freed: [] }, 5, 1), -1);
});

test("the model says what is waited for longest", () => {
  const needs = dependenceIndex({ ...sass, stalled_on: [[], [], [2, 1], []] });
  assert.deepEqual(needs(2).stalled, [0, 1]);
  assert.equal(along(needs(2), 2, -1), 0);
  assert.equal(along(dependenceIndex(sass)(2), 2, -1), 1);
});

test("arrows lead from the producers to the instruction, the longest wait innermost", () => {
  assert.deepEqual(paths(50, [10, 30]), ["M2 10H12V50H4m4 -3l-4 3l4 3", "M2 30H19V50H4m4 -3l-4 3l4 3"]);
  assert.equal(paths(50, [1, 2, 3, 4, 5, 6]).length, 4);
});

test("lines are shaded by shares of the largest value, SASS by the counters of its PTX line", () => {
  const data = { python: { counters: { conflicts: [0, 4] } }, ptx: { live: [2, 1], counters: { conflicts: [4, -1] } }, sass: { ptx: [0, 1, -1], live: [8, 0, -1] } };
  assert.deepEqual(shades(data, "conflicts"), { python: Float32Array.of(0, 1), ptx: Float32Array.of(1, 0), sass: Float32Array.of(1, 0, 0) });
  assert.deepEqual(shades(data, "live"), { ptx: Float32Array.of(1, 0.5), sass: Float32Array.of(1, 0, 0) });
});

test("lines by what they cost", () => {
  assert.deepEqual(ranked([0, 3, 7, 3]), [2, 1, 3]);
});
