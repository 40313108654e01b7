import assert from "node:assert/strict";
import test from "node:test";

import { editOf, expanded, mnemonicOf } from "../../../pyptx/renderer/code/expansion.js";

const data = {
  python: { text: ["def k():", "  ptx.inst.div.rn.f32(z, x, y)", "  c = a / b"], sections: [{ start: 0, count: 3 }] },
  ptx: { text: ["{", "  div.rn.f32 %f1, %f2, %f3;", "  div.rn.f32 %f4, %f5, %f6;"], stack: [-1, 0, 1] }, stacks: [[1], [2]],
};

test("a mnemonic is found behind a predicate", () => {
  assert.deepEqual(["  @!%p1 div.rn.f32 %f1, %f2;", "ret;", "$L1:", "{"].map(mnemonicOf), ["div.rn.f32", "ret", "", ""]);
});

test("an edit spans the function up to its line, and replaces the mnemonic there", () => {
  const edit = editOf(data, 1, "div.rn.f32", "div.full.f32");
  assert.deepEqual(edit, { before: "def k():\n  ptx.inst.div.rn.f32(z, x, y)", after: "def k():\n  ptx.inst.div.full.f32(z, x, y)" });
});

test("an operator is not edited, PTX without Python is", () => {
  assert.equal(editOf(data, 2, "div.rn.f32", "div.full.f32"), null);
  const plain = { ...data, ptx: { ...data.ptx, stack: [-1, -1, -1] } };
  assert.ok(editOf(plain, 1, "div.rn.f32", "div.full.f32").after.endsWith("div.full.f32 %f1, %f2, %f3;"));
});

test("lines without machine code are left out", () => {
  const index = { ptxOf: [[0, 1]], belowOf: [[2]], sassOf: [[], [4, 5], [6]], ptxOfSass: [] };
  assert.deepEqual(expanded(index, "python", 0), [[1, [4, 5]], [2, [6]]]);
  assert.deepEqual(expanded(index, "ptx", 0), []);
});
