import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { ptxTokenizer, sassTokenizer } from "../../../lab_extension/src/logic/tokens.js";

const isa = JSON.parse(readFileSync(new URL("../../../pyptx/isa/isa.json", import.meta.url), "utf8"));

/** As much of CodeMirror's StringStream as the tokenizers use. */
class Stream {
  constructor(text) { this.text = text; this.at = 0; }
  sol() { return this.at === 0; }
  peek() { return this.text[this.at]; }
  next() { return this.text[this.at++]; }
  skipToEnd() { this.at = this.text.length; }
  eatSpace() { const from = this.at; while (/\s/.test(this.text[this.at] ?? "")) this.at += 1; return this.at > from; }
  match(pattern) { const found = pattern.exec(this.text.slice(this.at)); if (found) this.at += found[0].length; return found; }
}

/** [kind, text] of the words of some lines, blanks left out. */
function words(tokenizer, text) {
  const state = tokenizer.startState(), found = [];
  for (const line of text.split("\n")) {
    const stream = new Stream(line);
    while (stream.at < line.length) {
      const from = stream.at, kind = tokenizer.token(stream, state);
      assert.ok(stream.at > from, `no progress at ${JSON.stringify(line.slice(from))}`);
      if (kind) found.push([kind, line.slice(from, stream.at)]);
    }
  }
  return found;
}
const ptx = text => words(ptxTokenizer(isa), text);
const kinds = (list, ...texts) => texts.map(text => list.find(([, word]) => word === text)?.[0]);

test("opcodes, modifiers, types, registers, special registers, labels, predicates, numbers and comments are told apart", () => {
  const found = ptx("L1: @!%p1 ld.global.nc.f32 %f1, [%rd1+16]; // load\nmov.u32 %r1, %tid.x; mov.f32 %f2, 0f3F800000;");
  assert.deepEqual(kinds(found, "L1", "@!%p1", "ld", ".global", ".f32", "%f1", "16", "// load", "%tid", "0f3F800000"),
                   ["labelName", "meta", "keyword", "attributeName", "atom", "variableName", "number", "comment", "variableName.standard", "number"]);
});

test("a word is an opcode only where one may stand", () => {
  const found = ptx("call (add), sub, (x);");
  assert.deepEqual(kinds(found, "call", "add", "sub"), ["keyword", "name", "name"]);
  assert.deepEqual(kinds(ptx("constructor x;"), "constructor"), ["name"]);
});

test("directives, choices with ::, names with dots in them", () => {
  const found = ptx(".visible .entry k(.param .u64 a) {\n.reg .b32 %r<3>;\nst.shared::cta.u32 [%r1], 1;");
  assert.deepEqual(kinds(found, ".visible", ".entry", ".reg", ".b32", ".shared::cta"), ["definitionKeyword", "definitionKeyword", "definitionKeyword", "atom", "attributeName"]);
});

test("a comment runs over lines; the magic of a cell is none of the PTX", () => {
  assert.deepEqual(ptx("/* a\nadd.f32\nb */ ret;").map(([kind]) => kind), ["comment", "comment", "comment", "keyword", "punctuation"]);
  assert.deepEqual(ptx("%%ptx --arch sm_80"), [["meta", "%%ptx --arch sm_80"]]);
});

test("SASS as nvdisasm prints it", () => {
  const found = words(sassTokenizer, "        /*0040*/    @!P0 LDG.E.64 R2, desc[UR4][R2.64+0x10] ;  /* 0x000 */\n.L_x_1:\n S2R R0, SR_TID.X ;");
  assert.deepEqual(kinds(found, "/*0040*/", "@!P0", "LDG", ".E", "desc", "UR4", "+0x10", ".L_x_1:", "SR_TID.X"),
                   ["number", "meta", "keyword", "attributeName", "variableName.standard", "variableName", "number", "labelName", "variableName.standard"]);
});
