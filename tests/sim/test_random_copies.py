"""Random programs of asynchronous operations, races and mistakes included: both engines do the same in every schedule,
down to the error they end with.
"""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError
from pyptx.sim.core import engine

LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
PEER = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
ADD = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"
OUT = "cp.async.bulk.global.shared::cta.bulk_group"
SUM = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"

# {x}: a place of this thread in shared memory, {g}: in global memory, {s} and {t}: places of all threads; {b}: an
# mbarrier, {rb}: the same one in the next CTA, {rt}: a place there; {p}: a guard, {n}: a small number.
KINDS = [
    "cp.async.ca.shared.global [{x}], [{g}], 16",
    "@{p} cp.async.cg.shared.global [{x}], [{g}], 16, %r3",
    "cp.async.ca.shared.global [{x}], [{g}], 4; cp.async.commit_group",
    "cp.async.commit_group",
    "@{p} cp.async.commit_group",
    "cp.async.wait_group {n}",
    "cp.async.wait_all",
    "@{p} cp.async.mbarrier.arrive.noinc.shared.b64 [{b}]",
    "cp.async.mbarrier.arrive.shared.b64 [{b}]",
    "@%lead mbarrier.arrive.expect_tx.shared::cta.b64 _, [{b}], 64; @%lead " + LOAD + " [{s}], [%a], 64, [{b}]",
    "@%lead mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{b}], 64; @%lead " + LOAD + " [{t}], [%a], 64, [{b}]",
    "mbarrier.arrive.shared::cta.b64 %rd9, [{b}]",
    "@{p} mbarrier.arrive.shared::cta.b64 %rd9, [{b}], {n1}",
    "@{p} mbarrier.arrive_drop.shared::cta.b64 _, [{b}]",
    "mbarrier.test_wait.parity.shared::cta.b64 %w, [{b}], {bit}; @%w xor.b32 %r2, %r2, {n1}",
    "mbarrier.test_wait.shared::cta.b64 %w, [{b}], %rd9; @%w add.u32 %r2, %r2, {n1}",
    "mbarrier.try_wait.parity.shared::cta.b64 %w, [{b}], {bit}",
    "@%lead " + OUT + " [%o], [{s}], 64; @%lead cp.async.bulk.commit_group",
    "@%lead " + SUM + " [%o+64], [{t}], 64",
    "@%lead cp.async.bulk.commit_group",
    "@%lead cp.async.bulk.wait_group {n}",
    "@%lead cp.async.bulk.wait_group.read {n}",
    "@%lead mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [{rb}], 32; @%lead "
    + PEER
    + " [{rt}], [{s}], 32, [{rb}]",
    "@%lead mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [{rb}], 32; @%lead "
    + ADD
    + " [{rt}], [{s}], 32, [{rb}]",
    "@%lead mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [{rb}], 8; "
    "@%lead st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [{rt}], {{%r1, %r2}}, [{rb}]",
    "@{p} mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{rb}]",
    "ld.shared.u32 %r4, [{x}]; xor.b32 %r2, %r2, %r4",
    "st.shared.u32 [{x}], %r2",
    "ld.shared.u32 %r2, [{s}]",
    "st.shared::cluster.u32 [{rt}], %r2",
    "ld.shared::cluster.u32 %r4, [{rt}+4]; add.u32 %r2, %r2, %r4",
    "atom.shared::cluster.add.u32 %r4, [{rt}], 3",
    "bar.sync 0",
    "ld.global.u32 %r4, [%o]; xor.b32 %r2, %r2, %r4",
    "barrier.cluster.arrive; barrier.cluster.wait",
]


@st.composite
def _statements(draw):
    lines = []
    for _ in range(draw(st.integers(2, 14))):
        b, place = draw(st.integers(0, 1)), 64 * draw(st.integers(0, 7))
        text = draw(st.sampled_from(KINDS)).format(
            x=f"%x+{16 * draw(st.integers(0, 3))}",
            g=f"%g+{16 * draw(st.integers(0, 1))}",
            s=f"%shared+{place}",
            t=f"%shared+{512 + place}",
            b=f"%bar+{8 * b}",
            rb=f"%rbar+{8 * b}",
            rt=f"%remote+{place}",
            p=draw(st.sampled_from(("%p1", "!%p1", "%p2"))),
            n=draw(st.integers(0, 2)),
            n1=draw(st.integers(1, 5)),
            bit=draw(st.integers(0, 1)),
        )
        lines += text.split("; ")
    return lines


HEAD = """
.reg .b32 %r<8>; .reg .b32 %x; .reg .b32 %shared; .reg .b32 %bar; .reg .b32 %rbar; .reg .b32 %remote; .reg .b64 %rd<12>
.reg .b64 %g; .reg .b64 %a; .reg .b64 %o; .reg .b64 %out; .reg .pred %p<4>; .reg .pred %lead; .reg .pred %w
.reg .b32 %c<6>
.shared .align 128 .b8 memory[2048]; .shared .align 8 .b64 bars[2]
ld.param.u64 %a, [a]; ld.param.u64 %o, [o]; ld.param.u64 %out, [out]
mov.u32 %r1, %tid.x; mov.u32 %shared, memory; mov.u32 %bar, bars; shl.b32 %c1, %r1, 4; add.u32 %x, %shared, %c1
and.b32 %c1, %c1, 1023; cvt.u64.u32 %g, %c1; add.u64 %g, %g, %a; and.b32 %r3, %r1, 15; mul.lo.u32 %r2, %r1, 0x9E3779B1
and.b32 %c2, %r1, 31; setp.eq.u32 %lead, %c2, 0; setp.lt.u32 %p1, %c2, 7; and.b32 %c2, %r1, 1; setp.eq.u32 %p2, %c2, 1
mov.u32 %c3, %cluster_ctarank; xor.b32 %c3, %c3, 1; mov.u32 %c4, %cluster_nctarank; sub.u32 %c4, %c4, 1
and.b32 %c3, %c3, %c4; mapa.shared::cluster.u32 %rbar, %bar, %c3; mapa.shared::cluster.u32 %remote, %shared, %c3
mov.u64 %rd9, 0; setp.eq.u32 %p3, %r1, 0
@%p3 mbarrier.init.shared::cta.b64 [%bar], 1000; @%p3 mbarrier.init.shared::cta.b64 [%bar+8], 64
barrier.cluster.arrive; barrier.cluster.wait"""
TAIL = """
mov.u32 %c1, %ctaid.x; mov.u32 %c2, %ntid.x; mad.lo.u32 %c1, %c1, %c2, %r1; mul.wide.u32 %rd1, %c1, 4
add.u64 %out, %out, %rd1; st.global.u32 [%out], %r2; ret"""


def _outcome(program, engine: str, **options):
    """The arrays and counters, or the error, of a run."""
    a = np.arange(512, dtype=np.uint32) * np.uint32(0x01010101)
    o, out = np.zeros(64, np.uint32), np.zeros(128, np.uint32)
    try:
        result = sim.launch(program, 2, 64, (a, o, out), engine=engine, max_steps=20_000, **options)
    except SimulationError as error:
        return str(error)
    return [x.tobytes() for x in (a, o, out)], result.counters


def _same(lines: list[str], cluster: int, seed: int) -> None:
    program = sim.load(entry("\n".join([HEAD, *lines, TAIL]), "u64 a, u64 o, u64 out"))
    for schedule in ("eager", "late", "random"):
        core, reference = (
            _outcome(program, engine, schedule=schedule, seed=seed, cluster=cluster) for engine in ("core", "reference")
        )
        assert core == reference, schedule


@settings(max_examples=25, deadline=None, derandomize=True)
@given(_statements(), st.sampled_from((1, 2)), st.integers(0, 1 << 64))
def test_a_random_program_does_the_same_on_both_engines(lines, cluster, seed):
    _same(lines, cluster, seed)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(_statements(), st.integers(0, 1 << 64))
def test_looking_at_signals_often_changes_nothing(lines, seed):
    with mock.patch.object(engine, "SLICE", 40), mock.patch.object(engine, "_budget", lambda *_: 40):
        _same(lines, 2, seed)
