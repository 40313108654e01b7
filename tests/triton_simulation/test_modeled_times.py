"""Times of Triton's autotuner: modeled, on all cores, and cached by everything that they depend on."""

from __future__ import annotations

import numpy as np
import pytest
import triton
import triton.language as tl

import pyptx.triton
from pyptx.cache import CubinCache
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.triton.modeled_times import _values_digest
from pyptx.workbench.program import Entry

CONFIGS = [triton.Config({"BLOCK": size}, num_warps=warps) for size in (32, 100, 256) for warps in (1, 4)]


def tuned():
    @triton.autotune(CONFIGS, key=["n"])
    @triton.jit
    def negate(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, -tl.load(x + at, at < n), at < n)

    return negate


def test_times_are_computed_once_and_kept(monkeypatch, tmp_path):
    own = CubinCache(tmp_path)
    monkeypatch.setattr("pyptx.triton.modeled_times.get_global_cache", lambda: own)
    kernel, x, estimated = tuned(), np.arange(1000, dtype=np.float32), []
    estimate = Entry.estimate
    monkeypatch.setattr(Entry, "estimate", lambda self, *args: estimated.append(1) or estimate(self, *args))
    for _ in range(2):
        kernel.configs = [config for config in CONFIGS if config.kwargs["BLOCK"] != 100]
        kernel.cache.clear()
        with pyptx.triton.simulate("sm_80"):
            kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, 1000)
        assert len(estimated) == 4
        np.negative(x, out=x)  # as it was, at the same address
    np.testing.assert_array_equal(x, np.arange(1000))


def test_a_configuration_that_does_not_compile_is_reported_as_by_triton():
    x = np.zeros(1000, np.float32)
    with pyptx.triton.simulate("sm_80"), pytest.raises(Exception, match="power of 2"):
        tuned()[(10,)](x, 1000)


def test_a_digest_depends_on_values_alignment_and_aliases():
    x, y = np.arange(64, dtype=np.float32), np.arange(64, dtype=np.float32)
    one = _values_digest([ArrayPointer(x), ArrayPointer(y), 3])
    assert one == _values_digest([ArrayPointer(x), ArrayPointer(y), 3])
    assert one != _values_digest([ArrayPointer(x), ArrayPointer(x), 3])
    assert one != _values_digest([ArrayPointer(x, 4), ArrayPointer(y), 3])
    assert one != _values_digest([ArrayPointer(x), ArrayPointer(y), 4])
    x[5] = 0
    assert one != _values_digest([ArrayPointer(x), ArrayPointer(y), 3])
    assert _values_digest([object()]) is None
