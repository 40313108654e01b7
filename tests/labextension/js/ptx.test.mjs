import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { complete, hover, nextWords } from "../../../lab_extension/src/logic/ptx.js";

const isa = JSON.parse(readFileSync(new URL("../../../pyptx/isa/isa.json", import.meta.url), "utf8"));
const labels = (line, column = line.length) => complete(isa, line, column)?.offers.map(offer => offer.label) ?? [];

test("an opcode is completed from the table, with what it does", () => {
  const found = complete(isa, "  mbar", 6);
  assert.deepEqual(found.offers.map(offer => offer.label), ["mbarrier"]);
  assert.equal(found.from, 2);
  assert.ok(found.offers[0].detail.length > 5);
});

test("a predicate, a label and a brace may stand before the opcode", () => {
  for (const line of ["@%p1 ad", "@!%p1 ad", "L1: ad", "{ ad", "mov.u32 %r1, 0; ad"]) assert.ok(labels(line).includes("add"), line);
});

test("only modifiers that may follow are offered, in the order of the forms", () => {
  assert.ok(labels("add.").includes(".rn") && labels("add.").includes(".f32"));
  assert.deepEqual(labels("add.rn.ftz.sat."), [".f32"].concat(labels("add.rn.ftz.sat.").filter(label => label !== ".f32")));
  assert.ok(!labels("add.rn.ftz.").includes(".f64"));
  assert.ok(labels("wgmma.").includes(".mma_async"));
  assert.ok(labels("wgmma.mma_async.sync.aligned.").some(label => /^\.m64n\d+k\d+$/.test(label)));
  assert.ok(labels("cp.async.bulk.te").includes(".tensor"));
});

test("a choice with :: is one word", () => {
  assert.ok(labels("ld.shared::c").includes(".shared::cta"));
  assert.equal(complete(isa, "ld.shared::c", 12).from, 2);
});

test("special registers, types and directives are completed", () => {
  assert.ok(labels("mov.u32 %r1, %ctai").includes("%ctaid"));
  assert.ok(labels("  .reg .").includes(".pred"));
  assert.ok(labels(".ver").includes(".version"));
});

test("nothing is offered in comments, for operands and for opcodes that do not exist", () => {
  assert.deepEqual(labels("// ad"), []);
  assert.deepEqual(labels("/* ad"), []);
  assert.deepEqual(labels("mov.u32 ad"), []);
  assert.equal(nextWords(isa, "constructor", []).size, 0);
});

test("hovering an instruction shows the forms its modifiers can mean", () => {
  const help = hover(isa, "  @%p add.rn.f64 %fd1, %fd2, %fd3;", 8);
  assert.equal(help.title, "add");
  assert.deepEqual(help.code, ["add{.rnd}.f64  d, a, b"]);
  assert.deepEqual([help.from, help.to], [6, 16]);
});

test("hovering a special register or a directive says what it is; a name says nothing", () => {
  assert.match(hover(isa, "mov.u32 %r1, %tid.x;", 14).lines[0], /thread index/);
  assert.match(hover(isa, ".reg .b32 %r<4>;", 1).lines[0], /registers/);
  assert.equal(hover(isa, "mov.u32 %r1, add;", 14), null);
  assert.equal(hover(isa, "// add.f32", 4), null);
});

test("every mnemonic of the table can be typed word by word", () => {
  for (const [opcode, op] of Object.entries(isa.opcodes)) {
    op.syntax.forEach((syntax, number) => {
      const typed = [];
      for (const word of syntax.split("  ")[0].replace(/\{[^}]*\}/g, "").split(".").slice(1)) {
        const slot = /<(\w+)>/.exec(word)?.[1] ?? word;
        const choice = op.choices[number][slot]?.split(" ")[0] ?? `.${word}`;
        assert.ok(nextWords(isa, opcode, typed).has(choice), `${syntax}: ${choice} after ${typed.join("")}`);
        typed.push(choice);
      }
    });
  }
});
