"""The compiled core: which library is loaded, and the message when none can be."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sim.text import entry

from pyptx import sim
from pyptx.errors import BackendError, LaunchError, SimulationError
from pyptx.sim import abi, abi_structures
from pyptx.sim.core import library, parallel
from pyptx.sim.core.encoding.encoder import _OP, OP
from pyptx.texture import FORMATS, GEOMETRIES

PROGRAM = "ret"


def test_the_core_is_there_and_sound():
    assert library.problem() is None
    assert library.core().core_self_test() == 0


def test_operations_are_packed_in_the_layout_that_the_core_reads():
    assert OP.itemsize == _OP.size == 64  # the core's header asserts the same of its structures


def test_textures_number_geometries_and_formats_as_the_core_does():
    """pyptx.texture lies below the simulator, so it cannot read the numbers there."""
    assert {g.code: g.name for g in GEOMETRIES.values()} == dict(enumerate(abi.GEOMETRIES))
    assert tuple(f.name for f in FORMATS) == abi.CHANNEL_FORMATS


def test_constants_of_the_header_are_distinct():
    names = re.findall(r"^(?:enum \{|#define) (\w+) ", library._build().abi_header(), re.MULTILINE)
    assert len(names) == len(set(names)) > 300


def test_fields_of_a_structure_follow_its_declaration():
    launch = abi_structures.Launch(grid=(3, 2, 1), nops=7)
    assert list(launch.grid) == [3, 2, 1] and launch.nops == 7
    assert "u64 grid[3];" in library._build().abi_header()


def test_without_the_core_the_reference_runs_and_says_so(monkeypatch):
    monkeypatch.setattr(library, "problem", lambda: "the compiled core is missing")
    program = sim.load(entry(PROGRAM))
    with pytest.warns(RuntimeWarning, match="uses its slow Python engine, .*: the compiled core is missing"):
        assert sim.launch(program, 1, 32, ()).engine == "reference"
    with pytest.raises(BackendError, match="the C core of the simulator is unavailable: the compiled core is missing"):
        sim.launch(program, 1, 32, (), engine="core")


def test_several_threads_share_the_ctas():
    body = """
    .reg .b32 %r<4>; .reg .b64 %rd<4>
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1; ret
    """
    program = sim.load(entry(body, "u64 out"))
    out, alone = np.zeros(32 * 100, np.uint32), np.zeros(32 * 100, np.uint32)
    shared = sim.launch(program, 100, 32, (out,), engine="core", threads=3)
    assert (out == np.arange(3200)).all()
    assert shared.counters == sim.launch(program, 100, 32, (alone,), engine="core").counters


def test_threads_are_refused_where_the_order_of_ctas_shows():
    body = ".reg .b64 %rd<2>; ld.param.u64 %rd1, [x]; red.global.add.u32 [%rd1], 1; ret"
    program = sim.load(entry(body, "u64 x"))
    with pytest.raises(LaunchError, match="pass threads=1"):
        sim.launch(program, 4, 32, (np.zeros(1, np.uint32),), engine="core", threads=2)


def test_a_long_launch_uses_all_cores_with_equal_results_and_counters(monkeypatch):
    body = """
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2; mov.u32 %r3, 0
    L: add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 2000; @%p bra L
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; add.u32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3; ret
    """
    program, started = sim.load(entry(body, "u64 out")), []
    start = parallel._Others.start
    monkeypatch.setattr(parallel, "cores", lambda: 3)
    monkeypatch.setattr(parallel._Others, "start", lambda self, count: (started.append(count), start(self, count)))
    together, alone = (np.zeros(32 * 100, np.uint32) for _ in range(2))
    shared = sim.launch(program, 100, 32, (together,), engine="core", schedule="random", seed=3)
    assert started[0] == 2
    one = sim.launch(program, 100, 32, (alone,), engine="core", schedule="random", seed=3, threads=1)
    assert shared.counters == one.counters
    np.testing.assert_array_equal(together, np.arange(3200) + 2000)
    np.testing.assert_array_equal(alone, together)


def test_a_fault_in_any_thread_is_that_of_the_first_cta(monkeypatch):
    body = """
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<3>
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r3, 0
    L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 2000; @%p1 bra L
    mul.wide.u32 %rd2, %r1, 1048576; add.u64 %rd1, %rd1, %rd2; setp.ge.u32 %p2, %r1, 60; @%p2 st.global.u32 [%rd1], %r1; ret
    """
    monkeypatch.setattr(parallel, "cores", lambda: 3)
    program, out = sim.load(entry(body, "u64 out")), np.zeros(8, np.uint32)
    messages = []
    for threads in (None, 1):
        with pytest.raises(SimulationError) as raised:
            sim.launch(program, 100, 32, (out,), engine="core", threads=threads)
        messages.append(str(raised.value))
    assert messages[0] == messages[1] and "CTA (60, 0, 0)" in messages[0], messages
