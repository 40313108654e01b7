import assert from "node:assert/strict";
import test from "node:test";

import { parts } from "../../../lab_extension/src/logic/help.js";

test("paragraphs, code and links of a help text are told apart", () => {
  const text = "add: Add \\_ two\\*\n\n```ptx\nadd.type  d, a, b\n\n    d = a\n```\n\nPTX ISA: [x](https://docs.nvidia.com/a#x), `%tid`";
  assert.deepEqual(parts(text), [
    { pieces: [{ text: "add: Add _ two*" }] },
    { code: "add.type  d, a, b\n\n    d = a" },
    { pieces: [{ text: "PTX ISA: " }, { text: "x", href: "https://docs.nvidia.com/a#x" }, { text: ", " }, { text: "%tid", code: true }] },
  ]);
});

test("a link to another scheme stays text", () => {
  assert.deepEqual(parts("[x](javascript:y)"), [{ pieces: [{ text: "[x](javascript:y)" }] }]);
});
