"""Repeated launches take the context of an earlier one: results, counters and errors are those of a launch of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError
from pyptx.sim.core import contexts
from pyptx.sim.prepared_launch import PreparedLaunch

THREADS = 96

# y[k] = the words that the threads of the CTA sent to place k, added up in shared memory (which starts as zeros), or -1 in
# CTAs after the second; a thread whose place is negative reads before the array.
BODY = """.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 sums[384];
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r8, [scale]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 96, %r1; mul.wide.u32 %rd3, %r3, 4; add.u64 %rd4, %rd1, %rd3; ld.global.s32 %r4, [%rd4];
    setp.lt.s32 %p1, %r4, 0; @%p1 mul.wide.s32 %rd3, %r4, 4096; @%p1 add.u64 %rd3, %rd1, %rd3; @%p1 ld.global.u32 %r4, [%rd3];
    mov.u32 %r5, sums; mad.lo.u32 %r6, %r4, 4, %r5; atom.shared.add.u32 %r7, [%r6], %r8; bar.sync 0;
    mad.lo.u32 %r6, %r1, 4, %r5; ld.shared.u32 %r7, [%r6]; mul.wide.u32 %rd3, %r3, 4; add.u64 %rd5, %rd2, %rd3;
    st.global.u32 [%rd5], %r7; ret;"""


def prepared(ctas: int) -> PreparedLaunch:
    program = sim.load(entry(BODY, "u64 x, u64 y, u32 scale"))
    return PreparedLaunch(program, (ctas, 1, 1), (THREADS, 1, 1), (1, 1, 1), 0)


def places(ctas: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, THREADS, ctas * THREADS).astype(np.int32)


def expected(x: np.ndarray, scale: int) -> np.ndarray:
    rows = x.reshape(-1, THREADS)
    return np.concatenate([scale * np.bincount(row, minlength=THREADS) for row in rows]).astype(np.uint32)


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    kept: dict = {}
    monkeypatch.setattr(contexts, "_idle", kept)
    return kept


def test_each_run_is_like_the_first(idle):
    launch = prepared(3)
    for seed, scale in enumerate([1, 1, 1, 7, 7, 1, 1]):
        x, y = places(3, seed), np.empty(3 * THREADS, np.uint32)
        result = launch.run([x, y], [scale])
        np.testing.assert_array_equal(y, expected(x, scale))
        fresh = sim.launch(launch.program, 3, THREADS, [x, y.copy(), scale])
        assert result.counters == fresh.counters
    assert len(idle) == 1


def test_a_fault_leaves_nothing_behind():
    launch = prepared(2)
    x, y = places(2, 0), np.empty(2 * THREADS, np.uint32)
    wrong = x.copy()
    wrong[THREADS + 5] = -3
    for _ in range(3):
        with pytest.raises(SimulationError, match=r"of CTA \(1, 0, 0\)(?s:.)*12288 bytes before x\[192\]"):
            launch.run([wrong, y], [1])
        y[:] = 0
        launch.run([x, y], [1])
        np.testing.assert_array_equal(y, expected(x, 1))


def test_threads_that_launch_at_the_same_time_have_a_context_each():
    launch = prepared(4)

    def run(seed: int) -> bool:
        x, y = places(4, seed), np.empty(4 * THREADS, np.uint32)
        launch.run([x, y], [1])
        return np.array_equal(y, expected(x, 1))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(200)))


def test_idle_contexts_are_closed_when_they_occupy_too_much(idle, monkeypatch):
    launches = [prepared(ctas) for ctas in (1, 2, 3)]
    x = [(places(ctas, ctas), np.empty(ctas * THREADS, np.uint32)) for ctas in (1, 2, 3)]
    for _ in range(2):
        for launch, arrays in zip(launches, x, strict=True):
            launch.run(arrays, [1])
    assert len(idle) == 3
    size = max(size for _, size in idle.values())
    monkeypatch.setattr(contexts, "MOST_BYTES", 2 * size)
    for launch, arrays in zip(launches, x, strict=True):
        launch.run(arrays, [1])
        np.testing.assert_array_equal(arrays[1], expected(arrays[0], 1))
    assert 1 <= len(idle) <= 2
    monkeypatch.setattr(contexts, "MOST_BYTES", 0)
    launches[2].run(x[2], [1])
    assert not idle
