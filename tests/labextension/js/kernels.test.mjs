import assert from "node:assert/strict";
import test from "node:test";

import { changes, configuration, rows, size, where } from "../../../lab_extension/src/logic/kernels.js";

const version = values => ({ ref: "k@1", number: 1, labels: [], target: "sm_90a", params: {}, options: [], registers: 10, spills: 0, shared: 0,
                             instructions: 20, occupancy: null, cell: null, notebook: null, last: 0, ...values });

test("kernels of the running session come first, those never compiled among them", () => {
  const kept = [{ name: "old", versions: [version({})] }, { name: "k", versions: [version({ target: "sm_80" })] }];
  const session = { device: { backend: "sim", arch: null }, notebook: "n.ipynb", kernels: [{ name: "k", variable: "k", arch: "sm_90a" }, { name: "new", variable: "new", arch: "sm_100a" }] };
  assert.deepEqual(rows(kept, session).map(({ name, live, arch }) => [name, live, arch]),
                   [["k", true, "sm_80"], ["new", true, "sm_100a"], ["old", false, "sm_90a"]]);
  assert.deepEqual(rows(kept, null).map(({ name, live }) => [name, live]), [["old", false], ["k", false]]);
});

test("what changed is signed, and left out where nothing did or is known", () => {
  assert.deepEqual(changes(version({ registers: 14, spills: 8, instructions: null }), version({})), { registers: 4, spills: 8 });
  assert.deepEqual(changes(version({}), undefined), {});
});

test("sizes, configurations and places in words", () => {
  assert.equal(size(1000), "1000 B");
  assert.equal(size(49152), "48 KiB");
  assert.equal(configuration(version({ params: { N: "4", M: "8" }, options: ["-O1"] })), "N=4 M=8 -O1");
  assert.deepEqual(where({ device: { backend: "cuda", arch: "sm_90a" }, notebook: null, kernels: [] }), { simulated: false, arch: "sm_90a" });
  assert.equal(where(null), null);
});
