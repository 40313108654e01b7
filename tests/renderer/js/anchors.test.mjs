// Names of lines in the address of a page: pure functions.

import assert from "node:assert/strict";
import test from "node:test";

import { nameOf, rowOf } from "../../../pyptx/renderer/code/anchors.js";

const data = { python: { line: [7, 8, 0, 7, 7] }, ptx: { text: ["", "", ""] }, sass: { address: [0, 0xf0, 0] } };

test("every line has a name that leads back to it", () => {
  for (const [pane, rows] of [["python", 5], ["ptx", 3], ["sass", 3]]) {
    for (let row = 0; row < rows; row += 1) assert.deepEqual(rowOf(data, nameOf(data, pane, row)), [pane, row]);
  }
  assert.equal(nameOf(data, "python", 4), "python-7-3");
  assert.equal(nameOf(data, "sass", 1), "sass-00f0");
});

test("other names are of no line", () => {
  for (const name of ["", "ptx-0", "ptx-4", "python-99", "sass-00a0", "sass-xyz", "python-7-9", "view"]) assert.equal(rowOf(data, name), null);
});
