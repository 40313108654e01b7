import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";

import { inflate } from "../../../pyptx/renderer/inflate.js";
import { unpacked } from "../../../pyptx/renderer/packed.js";

const random = seed => () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;

function samples() {
  const next = random(7), words = ["IMAD.WIDE.U32", "LDG.E", " R", ", ", "0x10", "\n"];
  const code = Array.from({ length: 60_000 }, () => words[Math.floor(next() * 6)] + Math.floor(next() * 256)).join("");
  return [Buffer.alloc(0), Buffer.from("a"), Buffer.from("ab".repeat(70_000)), Buffer.from(code),
          Buffer.from(Array.from({ length: 80_000 }, () => Math.floor(next() * 256)))];
}

test("what zlib deflates is inflated, in stored, fixed and dynamic blocks", () => {
  const settings = [{ level: 0 }, { level: 1 }, { level: 9 }, { strategy: constants.Z_FIXED }, { strategy: constants.Z_HUFFMAN_ONLY }, { strategy: constants.Z_RLE }];
  for (const sample of samples()) for (const setting of settings) assert.deepEqual(Buffer.from(inflate(deflateRawSync(sample, setting))), sample);
});

test("damaged data is an error, never an endless loop", () => {
  const whole = deflateRawSync(samples()[3]);
  assert.throws(() => inflate(whole.subarray(0, 2000)), /damaged/);
  assert.throws(() => inflate(Buffer.from([0xff, 0xff, 0xff])));
});

test("differences of columns are summed, other values are kept", () => {
  const packed = deflateRawSync(Buffer.from(JSON.stringify({ a: { delta: [5, -1, 1] }, b: [[1, "x"], { delta: [1, 1] }], c: "é", d: null }))).toString("base64");
  assert.deepEqual(unpacked({ kind: "linked", packed }), { a: [5, 4, 5], b: [[1, "x"], [1, 2]], c: "é", d: null });
  const plain = { kind: "linked" };
  assert.equal(unpacked(plain), plain);
});
