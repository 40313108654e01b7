// Highlighting: the pieces of a line, and that no character is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { marked, stringStates, tokens } from "../../../pyptx/renderer/code/tokens.js";

const kinds = (language, line, state) => tokens(language, line, state).filter(([kind]) => kind).map(([kind, text]) => `${kind}:${text}`);

test("ptx", () => {
  assert.deepEqual(kinds("ptx", "\t@!%p1 bra $L_2; // out"), ["p:@!%p1", "o:bra", "c:// out"]);
  assert.deepEqual(kinds("ptx", "\tfma.rn.f32 %f3, %f0, 0f3F800000, -2.5;"), ["o:fma", "m:.rn", "m:.f32", "r:%f3", "r:%f0", "n:0f3F800000", "n:2.5"]);
  assert.deepEqual(kinds("ptx", "mov.u32 %r1, %ctaid.x;"), ["o:mov", "m:.u32", "r:%r1", "x:%ctaid.x"]);
  assert.deepEqual(kinds("ptx", "$L_2:"), ["l:$L_2"]);
  assert.deepEqual(kinds("ptx", ".visible .entry k("), ["d:.visible", "m:.entry"]);
  assert.deepEqual(kinds("ptx", "cp.async.bulk.shared::cluster.global [%r1], [%rd2], 16, [%r3];").slice(0, 5),
                   ["o:cp", "m:.async", "m:.bulk", "m:.shared", "m:::cluster"]);
});

test("mlir", () => {
  const line = "    %acc_7:2 = scf.for %k = %c0 to %c4 -> (tensor<256xf32, #blocked>)  : i32 {";
  assert.deepEqual(kinds("ir", line), ["r:%acc_7:2", "o:scf.for", "r:%k", "r:%c0", "r:%c4", "k:tensor", "x:#blocked", "k:i32"]);
  assert.deepEqual(kinds("ir", "    ^bb0(%s_14: f32):"), ["l:^bb0", "r:%s_14", "k:f32"]);
  assert.deepEqual(kinds("ir", "    tt.store %1, %3 : !tt.ptr<f32>"), ["o:tt.store", "r:%1", "r:%3", "x:!tt.ptr", "k:f32"]);
});

test("sass", () => {
  assert.deepEqual(kinds("sass", "@!P0 LDG.E.128 R4, desc[UR8][R12.64+0x800]"),
                   ["p:@!P0", "o:LDG", "m:.E", "m:.128", "r:R4", "r:UR8", "r:R12", "m:.64", "n:+0x800"]);
  assert.deepEqual(kinds("sass", "S2R R3, SR_TID.X"), ["o:S2R", "r:R3", "x:SR_TID.X"]);
  assert.deepEqual(kinds("sass", "FADD.FTZ R1, -RZ, |R2|"), ["o:FADD", "m:.FTZ", "r:R1", "r:RZ", "r:R2"]);
});

test("python, with strings over several lines", () => {
  assert.deepEqual(kinds("python", "@kernel(arch='sm_90a')  # here"), ["d:@kernel", "s:'sm_90a'", "c:# here"]);
  assert.deepEqual(kinds("python", "for i in range(4):"), ["k:for", "k:in", "o:range", "n:4"]);
  const lines = ['x = """one', "two # no comment", 'three""" + f(1)', "y = '#'"];
  const states = stringStates(lines);
  assert.deepEqual(states, ["", '"""', '"""', ""]);
  assert.deepEqual(kinds("python", lines[1], states[1]), ["s:two # no comment"]);
  assert.deepEqual(kinds("python", lines[2], states[2]), ['s:three"""', "o:f", "n:1"]);
  assert.deepEqual(stringStates(['"""open', "x = 1"], [0, 1]), ["", ""], "a new function starts afresh");
});

test("no character is lost, whatever stands there", () => {
  for (const language of ["python", "ptx", "sass"]) {
    for (const line of ["", " ", "\t", "'", '"""', "@", "%", "0f", "é 漢字 🙂 \\", "a::b", "/* open", "@P", ".L_x", "x'\"\"\"'"]) {
      assert.equal(tokens(language, line).map(([, text]) => text).join(""), line, `${language} ${line}`);
    }
  }
});

test("marks cut pieces and keep their kind", () => {
  assert.deepEqual(marked([["o", "FADD"], ["", " R2, R3"]], [[2, 6]]),
                   [["o", "FA", false], ["o", "DD", true], ["", " R", true], ["", "2, R3", false]]);
});
