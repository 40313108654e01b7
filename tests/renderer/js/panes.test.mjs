// Widths of panes and kinds of lines. Run: node --test tests/renderer/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, kinds } from "../../../pyptx/renderer/code/filters.js";
import { shownRows } from "../../../pyptx/renderer/code/folding.js";
import { widths } from "../../../pyptx/renderer/code/splitter.js";

test("room that is left over is shared in proportion", () => {
  assert.deepEqual(widths([20, 30], 100), [40, 60]);
});

test("a pane that needs little leaves its room to the others", () => {
  assert.deepEqual(widths([100, 20, 90], 150), [65, 20, 65]);
  assert.deepEqual(widths([100, 100], 100), [50, 50]);
});

test("kinds of PTX and SASS lines", () => {
  const ptx = [".version 8.5", "  .reg .b32 %r<4>;", "  .shared .b8 s[4];", "  .loc 1 2 3", "L0:", "  // note", "  mov.u32 %r0, 1; // why", "  .pragma \"nounroll\";"];
  assert.deepEqual([...kinds("ptx", ptx)], [[0, "directives"], [1, "registers"], [3, "locations"], [4, "labels"], [5, "comments"], [7, "directives"]]);
  assert.deepEqual([...counts(kinds("sass", ["NOP", "@P0 NOP", "EXIT"]))], [["nops", 2]]);
});

test("hidden lines leave folds as they are", () => {
  assert.deepEqual([...shownRows(8, [[2, 4]], new Set([2]), new Set([2, 6]))], [0, 1, 2, 5, 7]);
});
