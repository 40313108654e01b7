// What an instruction needs, who needs it, and what costs most: pure functions.

import assert from "node:assert/strict";
import test from "node:test";

import { ranked } from "../../../pyptx/renderer/code/hotspots.js";
import { along, dependenceIndex, signs } from "../../../pyptx/renderer/code/dependences.js";

// row 0 S2R (barrier 0), 1 LDC (barrier 1), 2 IMAD of both, waits for both, 3 STG of 1 and 2
const sass = { text: ["", "", "", ""], takes: [[], [], [2, 1], [2, 1]], awaits: [[], [], [2, 1], []] };

test("distances are rows, both ways", () => {
  const needs = dependenceIndex(sass);
  assert.deepEqual(needs(2), { takes: [0, 1], awaits: [0, 1], uses: [3], freed: [] });
  assert.deepEqual(needs(1), { takes: [], awaits: [], uses: [2, 3], freed: [2] });
});

test("a value carried round a loop comes from below", () => {
  const needs = dependenceIndex({ text: ["", ""], takes: [[-1], [1]], awaits: [] });
  assert.deepEqual(needs(0).takes, [1]);
  assert.deepEqual(needs(1).uses, [0]);
});

test("data of an older pyptx has no needs", () => {
  assert.deepEqual(dependenceIndex({ text: ["", ""] })(1), { takes: [], awaits: [], uses: [], freed: [] });
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

test("lines by what they cost", () => {
  assert.deepEqual(ranked([0, 3, 7, 3]), [2, 1, 3]);
});
