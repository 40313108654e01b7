import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { hoverPython } from "../../../lab_extension/src/logic/python.js";

const isa = JSON.parse(readFileSync(new URL("../../../pyptx/isa/isa.json", import.meta.url), "utf8"));

test("an instruction of a Python line is explained with the forms that it may be", () => {
  const line = "    ptx.inst.ld.global_.v4.f32(values, ptx.addr(at))";
  const found = hoverPython(isa, line, line.indexOf("global_"));
  assert.equal(found.title, "ld.global.v4.f32");
  assert.equal(line.slice(found.from, found.to), "ptx.inst.ld.global_.v4.f32");
  assert.ok(found.lines[0].length > 3 && found.code.some(form => form.startsWith("ld")));
});

test("other places and unknown opcodes have no help", () => {
  assert.equal(hoverPython(isa, "x = ptx.addr(at)", 6), null);
  assert.equal(hoverPython(isa, "ptx.inst.nothing.f32(x)", 12), null);
  assert.equal(hoverPython(isa, "ptx.inst.add.f32(d, a, b)", 20), null);
});
