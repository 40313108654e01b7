"""Atomic operations, stores of parts of sectors, predicated accesses and f64 conversions: counts and modeled times."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.constants import find_constants
from pyptx.analysis.model.estimate import _occupancy, estimate
from pyptx.analysis.model.launch_model import LaunchModel
from pyptx.analysis.model.pipes import pipe_use
from pyptx.analysis.model.prediction import Repetition
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import work_of
from pyptx.parser import parse
from pyptx.sim import ClusterProfiler, load

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 to)
{{
    .reg .b64 %to, %at;
    .reg .b32 %r<9>;
    .reg .pred %p<4>;
    .shared .align 16 .b8 bins[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    ld.param.u64 %to, [to];
    {body}
    ret;
}}
"""
AT = "{lanes} mul.wide.u32 %at, %r3, 4; add.s64 %at, %to, %at; {access}"
ADD = "red.global.add.u32 [%at], 1;"
SAME = "shr.u32 %r3, %r1, 31;"  # 0, which ptxas does not know
OWN = "and.b32 %r3, %r1, 31;"
PAIRS = "shr.u32 %r3, %r1, 1; and.b32 %r3, %r3, 15;"
SPREAD = "mul.lo.u32 %r3, %r2, 256; add.u32 %r3, %r3, %r1;"


def profiled(body: str, block: int = 32):
    return ClusterProfiler(load(parse(KERNEL.format(body=body))), 1, block, [np.zeros(4096, np.uint32)]).run(range(1))


def modeled(body: str, on: str = "A100", ctas: int = 4096, words: int = 1):
    entry = pyptx.load(KERNEL.format(body=body))["kernel"]
    return estimate(entry, np.zeros(256 * words * ctas, np.uint32), grid=(ctas,), block=(256,), device=on)


@pytest.mark.parametrize(("lanes", "turns"), [(SAME, (1, 31)), (OWN, (4, 0)), (PAIRS, (2, 2))])
def test_atomic_operations_take_turns_by_sector_and_by_word(lanes, turns):
    assert profiled(AT.format(lanes=lanes, access=ADD)).atomic_turns.sum(axis=0).tolist() == list(turns)


def test_atomic_operations_on_one_word_take_a_cycle_each():
    warps, on = 4096 * 8, "A100"
    same, own = (modeled(AT.format(lanes=lanes, access=ADD), on) for lanes in (SAME, OWN))
    assert same.bound == own.bound == "atomics" and "atomic operations in one slice of L2" in same.summary
    assert same.terms["atomics"] * same.clock_hz == pytest.approx(32 * warps, rel=0.02)
    assert own.terms["atomics"] * own.clock_hz == pytest.approx(4 * 1.3 * warps, rel=0.02)


def test_words_of_each_cta_do_not_wait_for_those_of_others():
    spread = modeled(AT.format(lanes=SPREAD, access=ADD))
    assert spread.terms["atomics"] < 1e-6 and spread.bound != "atomics"


def test_values_that_ptxas_adds_up_are_one_operation():
    """ptxas knows that all lanes have one address, and one lane adds for the warp."""
    elected = modeled("red.global.add.u32 [%to], 1;")
    assert elected.terms["atomics"] * elected.clock_hz == pytest.approx(1.3 * 4096 * 8, rel=0.02)


def test_lanes_that_name_one_word_of_shared_memory_wait_except_for_counts():
    body = SAME + "shl.b32 %r3, %r3, 2; mov.u32 %r4, bins; add.u32 %r3, %r3, %r4; red.shared.add.u32 [%r3], {value};"
    own = body.replace(SAME, OWN)
    assert [profiled(text.format(value=1)).atomic_passes.max() for text in (body, own)] == [32, 1]
    added, apart, counted = (modeled(text.format(value=value)) for text, value in ((body, 3), (own, 3), (body, 1)))
    assert added.terms["shared"] > 20 * apart.terms["shared"]
    assert counted.terms["shared"] == pytest.approx(apart.terms["shared"])


def test_a_line_that_is_written_in_part_occupies_l2_like_a_whole_one():
    store = "st.global.u32 [%at], %r1;"
    lanes = (
        OWN,
        *(f"shl.b32 %r3, %r1, {bits};" for bits in (3, 4, 5)),
    )  # a lane in each sector of a line, in two, in one
    assert [profiled(AT.format(lanes=each, access=store)).masked_sectors.sum() for each in lanes] == [0, 0, 32, 96]
    apart = "shl.b32 %r3, %r1, 5; mad.lo.u32 %r3, %r2, 8192, %r3; and.b32 %r3, %r3, 0xfffff;"
    part, whole = (modeled(AT.format(lanes=lanes, access=store)) for lanes in (apart, SPREAD))
    assert part.terms["l2"] == pytest.approx(32 * whole.terms["l2"])
    limited = modeled(AT.format(lanes=apart, access=store), "L4")
    assert limited.bound == "l2" and limited.clock_hz == gpu("L4").clock_hz, "what is not written takes no energy"


def test_loads_of_sectors_that_the_warp_has_read_do_not_wait():
    """Words of a sector are read in eight iterations, or in one."""
    body = """
    mov.u32 %r3, 0;
    mov.u32 %r5, 0;
LOOP:
    mad.wide.u32 %at, %r3, {stride}, %to;
    ld.global.u32 %r4, [%at];
    add.u32 %r5, %r5, %r4;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 256;
    @%p1 bra LOOP;
    st.global.u32 [%to], %r5;
"""
    assert [profiled(body.format(stride=stride)).fresh_loads[:, 0].sum() for stride in (4, 32)] == [32, 256]
    near, far = (modeled(body.format(stride=stride), ctas=108).terms["pipeline"] for stride in (4, 32))
    assert far > 1.5 * near


def test_sectors_that_other_warps_have_requested_wait_in_l1():
    """Eight warps read one line, each its own, or each its own twice: the second load of a warp hits.

    Four words for each lane are four lines, which L1 looks up together.
    """
    load = "mul.wide.u32 %at, %r3, 4; add.s64 %at, %to, %at; ld.global.u32 %r4, [%at]; st.global.u32 [%to], %r4;"
    wide = load.replace("%r3, 4;", "%r3, 16;").replace("ld.global.u32 %r4", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}")
    bodies = {"one": OWN + load, "wide": OWN + wide, "own": SPREAD + load, "twice": SPREAD + load + load}
    pending = {}
    for name, body in bodies.items():
        call = bind_call(
            pyptx.load(KERNEL.format(body=body))["kernel"], np.zeros(4096, np.uint32), grid=(1,), block=(256,)
        )
        work, on = work_of(call), gpu("A100")
        model = LaunchModel(call.compiled(), call.plan, work, on, _occupancy(call.compiled(), call.plan, on))
        pending[name] = model.builder.l1_pending[work.sample.totals.global_requests > 0].sum()
    assert [pending["one"], pending["wide"]] == pytest.approx([7 / 8] * 2)  # of the sectors, a warp requests an eighth
    assert pending["own"] == pending["twice"] == 0


def test_a_predicated_access_occupies_shared_memory_when_a_lane_is_active():
    """Half of the iterations have no active lane; ptxas predicates the short branch."""
    body = """
    mov.u32 %r5, bins;
    mov.u32 %r3, %ntid.x;
LOOP:
    and.b32 %r4, %r3, 1;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra NEXT;
    ld.shared.u32 %r6, [%r5];
    add.u32 %r6, %r6, %r3;
    st.shared.u32 [%r5], %r6;
NEXT:
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p2, %r3, 0;
    bar.sync 0;
    @%p2 bra LOOP;
"""
    found = modeled(body)
    assert not [note for note in found.notes if note.startswith("LDS")]


def test_repeated_launches_find_their_data_in_l2_as_far_as_it_fits():
    """An RMS norm of 67 MB on RTX 5090 is published at 1,434 GB/s after L2 was overwritten, and at 5,019 repeated."""
    body = (
        "mov.u32 %r4, %ntid.x; mad.lo.u32 %r3, %r2, %r4, %r1; {copies} st.global.v4.u32 [%at], {{%r4, %r5, %r6, %r7}};"
    )
    load = "mul.wide.u32 %at, %r3, 16; add.s64 %at, %to, %at; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%at];"
    small, large = (modeled(body.format(copies=load), "H200", ctas, 4) for ctas in (1 << 12, 1 << 16))
    assert small.repeated_seconds is not None and small.repeated_seconds < 0.8 * small.seconds
    assert large.repeated_seconds == large.seconds
    assert "repeated on data in L2" in str(small) and "repeated" not in str(large)
    assert pickle.loads(pickle.dumps(small.repetition)).seconds == small.repeated_seconds


def test_the_duration_of_repeated_launches_is_modeled_once_when_it_is_asked_for():
    asked = []
    repetition = Repetition(lambda: asked.append(1) or 2.0)
    assert asked == []
    assert repetition.seconds == repetition.seconds == 2.0 and asked == [1]


def test_conversions_of_f64_have_its_rate_where_that_is_low():
    for name, cycles in (("T4", 16), ("RTX 3090", 16), ("A100", 2), ("H200", 2)):
        on = gpu(name)
        constants = find_constants(on.name, on.target)
        assert pipe_use("F2F.F64.F32", on, constants).cycles == cycles
        assert pipe_use("F2F.F16.F32", on, constants).cycles == 2
