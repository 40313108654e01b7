import assert from "node:assert/strict";
import test from "node:test";

import { bodyOf, isCuda, mimeOf, ptxOf, targetOf } from "../../../lab_extension/src/logic/cells.js";
import { squiggles } from "../../../lab_extension/src/logic/diagnostics.js";

test("only %%ptx cells are PTX", () => {
  assert.equal(mimeOf("%%ptx --arch sm_80\n.version 8.0"), "text/x-ptx");
  assert.equal(mimeOf("%%cuda -D TILE=32\n__global__ void k() {}"), "text/x-cuda");
  assert.equal(bodyOf("%%cuda\n"), null);
  for (const source of ["%%ptxkernel\nx = 1", "x = 1", "# %%ptx\n", "%ptx"]) assert.equal(mimeOf(source), null);
});

test("CUDA C++ is checked in cells and .cu files, not in headers", () => {
  assert.ok(isCuda("%%cuda\nint x;", "a.ipynb") && isCuda("int x;", "k.cu"));
  assert.ok(!isCuda("int x;", "k.cuh") && !isCuda("int x;", "a.ipynb") && !isCuda("int x;", null));
});

test("the magic line becomes an empty line, so that numbers stay", () => {
  assert.equal(ptxOf("%%ptx\n.version 8.0\n"), "\n.version 8.0\n");
  assert.equal(ptxOf("\n%%ptx\nret;"), "\n\nret;");
  assert.equal(ptxOf(".version 8.0"), ".version 8.0");
  assert.equal(bodyOf("\n%%ptx\nret;"), 2);
  assert.equal(bodyOf("ret;"), null);
});

test("--arch of the magic is the target", () => {
  assert.equal(targetOf("%%ptx --arch sm_100a\n"), "sm_100a");
  assert.equal(targetOf("%%ptx --arch=sm_80\n"), "sm_80");
  assert.equal(targetOf("%%ptx\n// --arch sm_80"), null);
});

test("findings become ranges of the text", () => {
  const text = ".version 8.0\n  add.f33 %f1;\n\nret";
  const at = finding => squiggles(text, [{ severity: "error", message: "m", hint: null, column: null, end_column: null, ...finding }])[0];
  const words = range => text.slice(range.from, range.to);
  assert.equal(words(at({ line: 2, column: 5, end_column: 9 })), ".f33");
  assert.equal(words(at({ line: 2 })), "add.f33 %f1;");
  assert.equal(words(at({ line: null })), ".version 8.0");
  assert.equal(words(at({ line: 99 })), "ret");
  assert.equal(words(at({ line: 4, column: 9, end_column: 9 })), "t");
  assert.equal(at({ line: 2, hint: "try .f32" }).message, "m\ntry .f32");
  const empty = squiggles("", [{ severity: "warning", message: "m", line: 1, column: null, end_column: null, hint: null }])[0];
  assert.deepEqual([empty.from, empty.to, empty.severity], [0, 0, "warning"]);
});
