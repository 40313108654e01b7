"""Data that an observed run records besides the counters."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import sim
from pyptx.errors import SimulationError
from pyptx.parser import parse

HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"


def observer(
    body: str, args: list, *, params: str = ".param .u64 x", grid=1, block=32, **options
) -> sim.ClusterProfiler:
    text = f"{HEAD}.visible .entry k({params})\n{{\n{body}\nret;\n}}\n"
    return sim.ClusterProfiler(sim.load(parse(text)), grid, block, args, **options)


def bits(marks: np.ndarray) -> list[int]:
    return np.flatnonzero(np.unpackbits(marks, bitorder="little")).tolist()


REGISTERS = """.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<9>;
ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;"""


def test_bytes_that_were_read_and_written_are_marked_one_by_one():
    x = np.zeros(1024, np.uint8)
    seen = observer(
        f"""{REGISTERS}
        cvt.u64.u32 %rd2, %r1; mad.lo.u64 %rd3, %rd2, 8, %rd1;
        setp.lt.u32 %p1, %r1, 2;
        @%p1 ld.global.u16 %r3, [%rd3+4];
        @%p1 st.global.u8 [%rd3+513], %r1;""",
        [x],
    ).run(range(1))
    assert bits(seen.read["x"]) == [4, 5, 12, 13]
    assert bits(seen.written["x"]) == [513, 521]


@pytest.mark.parametrize("first, size", [(0, 1), (3, 5), (5, 11), (8, 16), (7, 1), (1, 70), (64, 64), (63, 2)])
def test_runs_of_bytes_are_marked_from_their_first_to_their_last(first, size):
    """A bulk copy takes multiples of 16; runs that end anywhere come from vectors at odd places."""
    x = np.zeros(256, np.uint8)
    body = "\n".join(f"ld.global.u8 %r3, [%rd1+{first + k}];" for k in range(size))
    assert bits(observer(f"{REGISTERS}{body}", [x]).run(range(1)).read["x"]) == list(range(first, first + size))


def test_copies_in_the_background_mark_what_they_take():
    x = np.zeros(4096, np.uint8)
    seen = observer(
        f"""{REGISTERS}
        .shared .align 128 .b8 buffer[1024]; .shared .b64 bar;
        mov.u32 %r4, bar; mov.u32 %r5, buffer;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra END;
        mbarrier.init.shared.b64 [%r4], 1;
        mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r4], 512;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1+64], 512, [%r4];
        WAIT: mbarrier.try_wait.shared.b64 %p2, [%r4], %rd4;
        @!%p2 bra WAIT;
        cp.async.bulk.global.shared::cta.bulk_group [%rd1+2048], [%r5], 256;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
        END:""",
        [x],
    ).run(range(1))
    assert bits(seen.read["x"]) == list(range(64, 576))
    assert bits(seen.written["x"]) == list(range(2048, 2304))
    assert {len(own) for own in seen.barriers} == {0, 1}
    assert not seen.free


def test_each_warp_has_its_own_counts():
    loop = """setp.ge.u32 %p1, %r1, 32; @%p1 bra END;
        mov.u32 %r3, 0;
        LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5; @%p2 bra LOOP;
        END:"""
    watch = observer(f"{REGISTERS}{loop}", [np.zeros(4, np.uint8)], block=96)
    seen = watch.run(range(1))
    adds = next(k for k, i in enumerate(watch.program.instructions) if i.opcode == "add")
    assert seen.issues[:, adds].tolist() == [5, 0, 0]
    assert seen.counters.issues[adds] == 5
    assert (seen.issues[:, 0] == 1).all()


def test_clusters_run_one_by_one():
    x = np.zeros(64, np.uint8)
    watch = observer(
        f"{REGISTERS} cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], %r1;", [x], grid=8
    )
    assert [bits(watch.run(range(k, k + 1)).written["x"]) for k in (5, 2)] == [[5], [2]]
    assert bits(watch.run(range(2, 6)).written["x"]) == [2, 3, 4, 5]
    assert watch.buffers == {"x": 64}


def test_barriers_are_told_apart_by_warp():
    watch = observer(
        f"""{REGISTERS} shr.u32 %r3, %r1, 5; add.u32 %r3, %r3, 3;
        bar.sync %r3, 32; bar.sync 0;""",
        [np.zeros(4, np.uint8)],
        block=64,
    )
    seen = watch.run(range(1))
    first, second = (k for k, i in enumerate(watch.program.instructions) if i.opcode == "bar")
    assert seen.named[:, first].tolist() == [1 << 3, 1 << 4]
    assert seen.named[:, second].tolist() == [1, 1]


def test_waits_for_the_phase_before_the_first_are_free():
    watch = observer(
        f"""{REGISTERS} .shared .b64 bar; mov.u32 %r4, bar;
        mbarrier.init.shared.b64 [%r4], 1;
        ROOM: mbarrier.try_wait.parity.shared.b64 %p1, [%r4], 1; @!%p1 bra ROOM;
        mbarrier.arrive.shared.b64 %rd4, [%r4];
        DATA: mbarrier.try_wait.parity.shared.b64 %p1, [%r4], 0; @!%p1 bra DATA;""",
        [np.zeros(4, np.uint8)],
        block=1,
    )
    seen = watch.run(range(1))
    waits = [k for k, i in enumerate(watch.program.instructions) if "try_wait" in i.mnemonic]
    assert seen.free == {waits[0]}
    assert all(len(seen.barriers[k]) == 1 for k in waits)


def test_a_wait_for_a_later_phase_is_not_free():
    """As in an unrolled loop: the second phase has parity 1, as the one before the first."""
    watch = observer(
        f"""{REGISTERS} .shared .b64 bar; mov.u32 %r4, bar;
        mbarrier.init.shared.b64 [%r4], 1;
        mbarrier.arrive.shared.b64 %rd4, [%r4];
        FIRST: mbarrier.try_wait.parity.shared.b64 %p1, [%r4], 0; @!%p1 bra FIRST;
        mbarrier.arrive.shared.b64 %rd4, [%r4];
        SECOND: mbarrier.try_wait.parity.shared.b64 %p1, [%r4], 1; @!%p1 bra SECOND;""",
        [np.zeros(4, np.uint8)],
        block=1,
    )
    assert not watch.run(range(1)).free


def test_products_are_counted_and_not_computed():
    body = """.reg .b32 %a<4>; .reg .b32 %b<2>; .reg .f32 %c<4>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [x];
        mov.b32 %a0, 0x3c003c00; mov.b32 %a1, %a0; mov.b32 %a2, %a0; mov.b32 %a3, %a0; mov.b32 %b0, %a0;
        mov.b32 %b1, %a0; mov.f32 %c0, 0f3f800000; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
            {%c0, %c1, %c2, %c3};
        st.global.f32 [%rd1], %c0;"""
    for cores, value in (("none", 0.0), ("fast", 17.0)):
        x = np.full(1, 5, np.float32)
        seen = observer(body, [x], tensor_cores=cores).run(range(1))
        assert x[0] == value and seen.counters.tensor_flops.sum() == 2 * 16 * 8 * 16


def test_faults_are_those_of_a_launch():
    with pytest.raises(SimulationError, match="past the end of x"):
        observer(f"{REGISTERS} ld.global.u32 %r3, [%rd1+64];", [np.zeros(64, np.uint8)]).run(range(1))
