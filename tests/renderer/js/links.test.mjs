// Pure functions of the renderer: links, colors, blocks, the visible range, search. Run: node --test tests/renderer/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, callStacks, colors, control, linkIndex, paneName, nextBlock, related, revealTop, rowsText, search, sentence, visibleRange }
  from "../../../pyptx/renderer/code/links.js";

// Python rows 0 (kernel, calls the helper twice), 1 (kernel), 2 (helper), 3 (a comment).
// PTX row 0 is a directive; 1 by line 1; 2 and 4 by the helper through line 0; 3 by line 1.
const data = {
  python: { text: ["helper()", "mul()", "add()", "# nothing"], line: [10, 11, 3, 4] },
  ptx: { text: [".version 8.5", "mul", "add", "mul", "add"], stack: [-1, 0, 1, 0, 1] },
  stacks: [[1], [2, 0]],
  sass: { text: ["MOV", "FMUL", "FADD", "FADD", "FMUL", "FADD"], address: [0, 16, 32, 48, 64, 80], ptx: [-1, 1, 2, 4, 3, 2],
          live: [1, 2, 3, 4, 5, -1] },
};
const index = linkIndex(data);

test("a python line is linked with what it wrote, by itself and through helpers", () => {
  assert.deepEqual(related(index, "python", 1).exact, { python: [1], ptx: [1, 3], sass: [1, 4] });
  const caller = related(index, "python", 0);
  assert.deepEqual(caller.exact, { python: [0], ptx: [2, 4], sass: [2, 3, 5] });
  assert.deepEqual(caller.kin.python, [2]);
  assert.deepEqual(related(index, "python", 2).kin.python, [0], "the helper's callers");
});

test("an IR is linked with Python by line and with PTX by source location", () => {
  const ir = { name: "TTGIR", text: ["module {", "mul", "load", "add"], stack: [-1, 0, 0, 1], place: [-1, 0, 2, 1], ptx_place: [-1, 0, 1, 0, 1] };
  const all = { ...data, ir }, linked = linkIndex(all);
  assert.deepEqual(related(linked, "ir", 1).exact, { python: [1], ir: [1], ptx: [1, 3], sass: [1, 4] });
  assert.deepEqual(related(linked, "ir", 2).exact, { python: [1], ir: [2], ptx: [], sass: [] });
  assert.deepEqual(related(linked, "ir", 2).kin, { python: [], ir: [1, 2], ptx: [1, 3], sass: [1, 4] });
  assert.deepEqual(related(linked, "sass", 2).exact.ir, [3]);
  assert.deepEqual(related(linked, "python", 0).exact.ir, [3], "of a helper");
  assert.deepEqual([...colors(all, linked).ir].map(color => color >= 0), [false, true, true, true]);
  assert.match(sentence(all, related(linked, "ir", 1)), /Python line 11  →  TTGIR 2  →  PTX 2, 4/);
  assert.equal(paneName(all, "ir"), "TTGIR");
});

test("a sass row goes up to one ptx row and one python line, its siblings are kin", () => {
  const links = related(index, "sass", 2);
  assert.deepEqual(links.exact, { python: [2], ptx: [2], sass: [2] });
  assert.deepEqual(links.kin.ptx, [2, 4]);
  assert.deepEqual(links.kin.sass, [2, 3, 5]);
  assert.deepEqual(links.kin.python, [0]);
  assert.deepEqual([...links.level.sass], [0, 0, 2, 1, 0, 1]);
});

test("links lead back: whatever a row leads to leads to that row", () => {
  for (const pane of ["ptx", "sass"]) {
    data[pane].text.forEach((_, row) => {
      for (const python of related(index, pane, row).exact.python) assert.ok(related(index, "python", python).exact[pane].includes(row));
      for (const ptx of related(index, pane, row).exact.ptx) assert.ok(related(index, "ptx", ptx).exact[pane].includes(row));
    });
  }
});

test("what ptxas added and directives are linked with nothing", () => {
  assert.deepEqual(related(index, "sass", 0).exact, { python: [], ptx: [], sass: [0] });
  assert.deepEqual(related(index, "ptx", 0).exact, { python: [], ptx: [0], sass: [] });
});

test("rows of one python line share its color; neighbors differ", () => {
  const { python, ptx, sass } = colors(data, index);
  assert.deepEqual([...python], [0, 1, 2, -1]);
  assert.deepEqual([...ptx], [-1, 1, 2, 1, 2]);
  assert.deepEqual([...sass], [-1, 1, 2, 2, 1, 2]);
});

test("blocks are runs of neighboring rows; the next one comes round", () => {
  const runs = blocks([2, 3, 4, 9, 11, 12]);
  assert.deepEqual(runs, [[2, 4], [9, 9], [11, 12]]);
  assert.equal(nextBlock(runs, 3, 1), 9);
  assert.equal(nextBlock(runs, 9, -1), 2);
  assert.equal(nextBlock(runs, 12, 1), 2);
  assert.equal(nextBlock(runs, 2, -1), 11);
  assert.equal(nextBlock([], 2, 1), -1);
});

test("only rows in sight are drawn", () => {
  assert.deepEqual(visibleRange(0, 180, 18, 20000, 4), [0, 14]);
  assert.deepEqual(visibleRange(18000, 180, 18, 20000, 4), [996, 1014]);
  assert.deepEqual(visibleRange(359900, 180, 18, 20000, 4), [19990, 20000]);
  assert.deepEqual(visibleRange(0, 180, 18, 0, 4), [0, 0]);
});

test("revealing scrolls only when no linked row is in sight", () => {
  assert.equal(revealTop([5], 0, 180, 18), null);
  assert.equal(revealTop([500, 5], 0, 180, 18), null);
  assert.equal(revealTop([500], 0, 180, 18), 500 * 18 - 60);
  assert.equal(revealTop([1], 900, 180, 18), 0);
  assert.equal(revealTop([], 900, 180, 18), null);
});

test("search finds text as written, or as a regular expression, and says when that is none", () => {
  const lines = ["LDG.E R2, [R4.64]", "FADD R2, R2, R3", "ldg"];
  assert.deepEqual(search(lines, "ldg").rows, [0, 2]);
  assert.deepEqual(search(lines, "[R4").rows, [0]);
  assert.deepEqual(search(lines, "R\\d,", true).ranges.get(1), [[5, 8], [9, 12]]);
  assert.match(search(lines, "(", true).error, /Unterminated group/);
  assert.deepEqual(search(lines, "x*", true).rows, [], "empty matches are none");
  assert.deepEqual(search(lines, "").rows, []);
});

test("the sentence names lines, addresses, callers and registers", () => {
  assert.equal(sentence(data, related(index, "python", 1)), "Python line 11  →  PTX 2, 4 (2)  →  SASS 0010, 0040 (2)  ·  5 live registers at most");
  assert.equal(sentence(data, related(index, "sass", 3)), "Python line 3  →  PTX 5  →  SASS 0030  ·  called from line 10  ·  4 live registers");
  assert.equal(sentence(data, related(index, "sass", 0)), "SASS 0000  ·  added by ptxas  ·  1 live register");
  assert.equal(sentence(data, related(index, "ptx", 0)), "PTX 1  ·  no Python line");
  assert.equal(rowsText([0, 1, 2, 5, 7, 9, 11, 13, 15]), "1–3, 6, 8, 10, 12, 14 and 1 more");
});

test("call stacks: of a helper's line all, of what it wrote the one, of the kernel's own lines none", () => {
  assert.deepEqual(callStacks(data, index, "python", 2), [[2, 0]]);
  assert.deepEqual(callStacks(data, index, "python", 0), []);
  assert.deepEqual(callStacks(data, index, "ptx", 2), [[2, 0]]);
  assert.deepEqual(callStacks(data, index, "sass", 2), [[2, 0]]);
  assert.deepEqual(callStacks(data, index, "sass", 1), []);
  assert.deepEqual(callStacks(data, index, "sass", 0), [], "added by ptxas");
});

test("control fields are said in words", () => {
  const sass = { wait: [0b101, 0], stall: [1, 4], write_barrier: [2, -1], read_barrier: [-1, 0], reuse: [1, 0], spill: [0, 8] };
  assert.equal(control({ sass }, 0), "waits for barriers 0, 2; next instruction after 1 cycle at the earliest; sets barrier 2 until the result is written; keeps an operand for reuse");
  assert.equal(control({ sass }, 1), "next instruction after 4 cycles at the earliest; sets barrier 0 until the operands are read; spills 8 bytes");
});

test("the pane of the source is named by its language", () => {
  const data = (file, line) => ({ python: { sections: [{ file }], text: [line] } });
  assert.equal(paneName(data("gemm.py", "x = 1"), "python"), "Python");
  assert.equal(paneName(data("gemm.cu", "x = 1;"), "python"), "CUDA C++");
  assert.equal(paneName(data("Cell In[3]", "template <int N> __global__ void k() {"), "python"), "CUDA C++");
  assert.equal(paneName(data("gemm.cu", ""), "ptx"), "PTX");
});
