// Folding and loops of a pane. Run: node --test tests/renderer/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { blockAt, foldable, loopMarks, placeOf, shownRows } from "../../../pyptx/renderer/code/folding.js";

test("blocks of one line cannot be folded; a block ends with its code", () => {
  assert.deepEqual(foldable([2, 5, 6], 10), [[2, 4], [6, 9]]);
  assert.deepEqual(foldable([2, 5], 10, row => row < 8), [[2, 4], [5, 7]]);
  assert.deepEqual(foldable(undefined, 10), []);
});

test("the block of a line", () => {
  const blocks = [[2, 4], [6, 9]];
  assert.deepEqual([1, 2, 4, 5, 9, 10].map(row => blockAt(blocks, row)?.[0] ?? -1), [-1, 2, 2, -1, 6, -1]);
});

test("a folded block keeps its first line; hidden lines have the place of their fold", () => {
  const blocks = [[2, 4], [6, 9]];
  assert.equal(shownRows(12, blocks, new Set()), null);
  const order = shownRows(12, blocks, new Set([2, 6]));
  assert.deepEqual([...order], [0, 1, 2, 5, 6, 10, 11]);
  assert.deepEqual([0, 2, 3, 4, 5, 8, 11].map(row => placeOf(order, row)), [0, 2, 2, 2, 3, 4, 6]);
  assert.equal(placeOf(null, 7), 7);
});

test("loops are drawn from outside in", () => {
  const marks = loopMarks([[1, 8], [3, 5], [6, 6]]);
  const depth = [0, 1, 1, 2, 2, 2, 2, 1, 1, 0];
  assert.deepEqual(depth.map((deep, row) => marks(row, deep)), ["", "┌", "│", "│┌", "││", "│└", "│↻", "│", "└", ""]);
});

test("two loops may end with the same line", () => {
  const marks = loopMarks([[0, 3], [1, 3]]);
  assert.deepEqual([1, 2, 2, 2].map((deep, row) => marks(row, deep)), ["┌", "│┌", "││", "└└"]);
});
