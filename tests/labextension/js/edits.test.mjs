import assert from "node:assert/strict";
import { test } from "node:test";

import { replacement } from "../../../lab_extension/src/logic/edits.js";

const BEFORE = "@kernel\ndef k(a, *, BM=64, BN=64):\n    pass", AFTER = "@kernel\ndef k(a, *, BM=128, BN=64):\n    pass";
const apply = (source, { start, end, text }) => source.slice(0, start) + text + source.slice(end);

test("the smallest range of the cell is replaced", () => {
  const sources = ["import pyptx", `%%ptxkernel\nx = 1\n${BEFORE}\n`], found = replacement(sources, BEFORE, AFTER);
  assert.equal(found.cell, 1);
  assert.equal(apply(sources[1], found), `%%ptxkernel\nx = 1\n${AFTER}\n`);
  assert.ok(found.end - found.start <= 2);
});

test("insertions and deletions of repeated text are exact", () => {
  for (const [before, after] of [["aaaa", "aaa"], ["aaa", "aaaa"], ["abab", "ab"], ["x", "x"]])
    assert.equal(apply(`<${before}>`, replacement([`<${before}>`], before, after)), `<${after}>`);
});

test("of several cells it is the last one above the view", () => {
  assert.equal(replacement([BEFORE, BEFORE, "sweep", BEFORE], BEFORE, AFTER, 2).cell, 1);
  assert.equal(replacement(["sweep", BEFORE], BEFORE, AFTER, 0).cell, 1);
});

test("a cell that was edited is left alone", () => {
  assert.match(replacement(["def k(a): pass"], BEFORE, AFTER).error, /Run its cell again/);
});
