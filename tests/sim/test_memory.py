"""Loads and stores in every space, width and vector size, and their counters."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

PROLOGUE = """
.reg .b16 %h<8>; .reg .b32 %r<24>; .reg .b64 %rd<24>; .reg .pred %p<4>; .reg .b128 %q<4>
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x
"""


def run(body, values, out, threads=32, declarations="", **options):
    return run_both(
        entry(PROLOGUE + body + "\nret", "u64 in, u64 out", declarations=declarations),
        1,
        threads,
        (values, out),
        **options,
    )


def cost(result, opcode, modifiers=()):
    """Counters of the first instruction with an opcode and modifiers."""
    program = result[1]
    index = next(
        i for i, n in enumerate(program.instructions) if n.opcode == opcode and set(modifiers) <= set(n.modifiers)
    )
    return result[0].counters.row(index)


@pytest.mark.parametrize(
    ("type_", "dtype"),
    [("u8", np.uint8), ("s8", np.int8), ("u16", np.uint16), ("s16", np.int16), ("b32", np.uint32), ("u64", np.uint64)],
)
def test_narrow_loads_are_extended_and_stores_are_cut(type_, dtype):
    size = np.dtype(dtype).itemsize
    values = np.random.default_rng(0).integers(0, 256, 32 * size, np.uint8).view(dtype)
    out, wide = np.zeros(32, dtype), np.zeros(32, np.int64)
    body = f"""
    mul.wide.u32 %rd3, %r1, {size}; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3
    ld.global.{type_} %rd6, [%rd4]; st.global.{type_} [%rd5], %rd6
    ld.param.u64 %rd7, [wide]; mul.wide.u32 %rd8, %r1, 8; add.u64 %rd7, %rd7, %rd8; st.global.u64 [%rd7], %rd6
    """
    run_both(entry(PROLOGUE + body + "\nret", "u64 in, u64 out, u64 wide"), 1, 32, (values, out, wide))
    assert (out == values).all() and (wide.astype(values.dtype) == values).all()
    if dtype != np.uint64:
        assert (wide == values.astype(np.int64)).all()


@pytest.mark.parametrize(
    ("vector", "element"), [("v2", "b32"), ("v4", "b32"), ("v2", "b64"), ("v4", "b16"), ("v2", "b8"), ("v8", "b32")]
)
def test_vectors(vector, element):
    n, bits = int(vector[1]), int(element[1:])
    registers = ", ".join(f"%{'rd' if bits == 64 else 'r'}{8 + k}" for k in range(n))
    values = np.random.default_rng(0).integers(0, 256, 64 * n * bits // 8, np.uint8)
    out = np.zeros_like(values)
    run(
        f"""mul.wide.u32 %rd3, %r1, {n * bits // 8}; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3
    ld.global.{vector}.{element} {{{registers}}}, [%rd1]; st.global.{vector}.{element} [%rd2], {{{registers}}}""",
        values,
        out,
        64,
    )
    assert (out == values).all()


def test_128_bit_registers():
    values = np.arange(64, dtype=np.uint64)
    out = np.zeros_like(values)
    run(
        """mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3
    ld.global.b128 %q1, [%rd1]; mov.b128 {%rd4, %rd5}, %q1; add.u64 %rd5, %rd5, 100; mov.b128 %q2, {%rd5, %rd4}
    st.global.b128 [%rd2], %q2""",
        values,
        out,
    )
    assert (out[::2] == values[1::2] + 100).all() and (out[1::2] == values[::2]).all()


def test_packing_and_unpacking_registers():
    values, out = np.arange(0x11223344, 0x11223344 + 32, dtype=np.uint32), np.zeros(32, np.uint64)
    run(
        """mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4]
    mov.b32 {%h1, %h2}, %r2; mov.b32 %r3, {%h2, %h1}; mov.b64 %rd5, {%r3, %r2}; mov.b64 {%r4, %r5}, %rd5
    mov.b64 {%h3, %h4, %h5, %h6}, %rd5; mov.b64 %rd6, {%h4, %h3, %h6, %h5}
    mul.wide.u32 %rd3, %r1, 8; add.u64 %rd4, %rd2, %rd3; st.global.u64 [%rd4], %rd6""",
        values,
        out,
    )
    low, high = values & 0xFFFF, values >> 16
    words = np.stack([low, high, high, low], 1).astype(np.uint64)
    assert (out == sum(words[:, k] << np.uint64(16 * k) for k in range(4))).all()


def test_local_memory_belongs_to_each_thread():
    out = np.zeros(64, np.uint32)
    run(
        """
    .local .align 8 .b8 stack[64]
    mov.u64 %rd3, stack; cvta.local.u64 %rd4, %rd3; mul.lo.u32 %r2, %r1, 7
    st.u32 [%rd4+8], %r2; bar.sync 0; ld.local.u32 %r3, [stack+8]; ld.local.u32 %r4, [%rd3+8]; add.u32 %r3, %r3, %r4
    mul.wide.u32 %rd5, %r1, 4; add.u64 %rd2, %rd2, %rd5; st.global.u32 [%rd2], %r3""",
        np.zeros(1, np.uint32),
        out,
        64,
    )
    assert (out == 14 * np.arange(64)).all()


def test_constants_and_module_variables():
    out = np.zeros(32, np.uint32)
    program = sim.load(
        entry(
            PROLOGUE
            + """
    and.b32 %r2, %r1, 3; shl.b32 %r2, %r2, 2; mov.u32 %r3, table; add.u32 %r3, %r3, %r2; ld.const.u32 %r4, [%r3]
    mov.u64 %rd3, total; red.global.add.u32 [%rd3], %r4; ld.global.u32 %r5, [total+4]; add.u32 %r4, %r4, %r5
    mul.wide.u32 %rd5, %r1, 4; add.u64 %rd2, %rd2, %rd5; st.global.u32 [%rd2], %r4; ret
    """,
            "u64 in, u64 out",
            declarations=".const .u32 table[4] = {1, 10, 100, 1000}; .global .u32 total[2] = {0, 7}",
        )
    )
    sim.launch(program, 1, 32, (0, out), engine="core")
    assert (out.reshape(8, 4) == [8, 17, 107, 1007]).all()
    assert program.symbols.globals[0].buffer.array.view(np.uint32)[0] == 8 * 1111  # it stays for the next launch


def test_an_address_is_the_same_number_in_every_type_that_takes_it():
    out = np.zeros(3, np.uint32)
    run(
        """
    .shared .align 16 .u32 pad[64]; .shared .align 16 .u32 x[4]
    mov.u32 %r2, x; st.global.b32 [%rd2], %r2; mov.s32 %r2, x+4; st.global.b32 [%rd2+4], %r2
    mov.u16 %h1, x+8; st.global.b16 [%rd2+8], %h1""",
        np.zeros(1, np.uint32),
        out,
        1,
    )
    assert out[0] > 0 and (out == out[0] + 4 * np.arange(3)).all()


def test_generic_addresses_reach_shared_memory_and_parameters():
    out = np.zeros(32, np.uint32)
    run(
        """
    .shared .u32 x[32]
    mov.u32 %r2, x; cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd4, %rd3; mul.wide.u32 %rd5, %r1, 4
    add.u64 %rd4, %rd4, %rd5; st.u32 [%rd4], %r1; bar.sync 0; xor.b64 %rd6, %rd4, 4; ld.u32 %r3, [%rd6]
    isspacep.shared %p1, %rd4; isspacep.global %p2, %rd4; selp.u32 %r4, 100, 0, %p1; selp.u32 %r5, 1000, 0, %p2
    add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u64 %rd2, %rd2, %rd5; st.u32 [%rd2], %r3""",
        np.zeros(1),
        out,
    )
    assert (out == (np.arange(32) ^ 1) + 100).all()


def test_dynamic_shared_memory_lies_behind_the_static():
    out = np.zeros(32, np.uint32)
    program = sim.load(
        entry(
            PROLOGUE
            + """
    .shared .u32 a; .extern .shared .align 16 .b8 dyn[]
    mov.u32 %r2, dyn; shl.b32 %r3, %r1, 2; add.u32 %r3, %r2, %r3; st.shared.u32 [%r3], %r1
    st.shared.u32 [a], %r1; ld.shared.u32 %r4, [%r3]
    mov.u32 %r5, %dynamic_smem_size; add.u32 %r4, %r4, %r5
    mul.wide.u32 %rd5, %r1, 4; add.u64 %rd2, %rd2, %rd5; st.global.u32 [%rd2], %r4; ret""",
            "u64 in, u64 out",
        )
    )
    run_both(program, 1, 32, (0, out), smem_bytes=128)
    assert (out == np.arange(32) + 128).all()


@pytest.mark.parametrize(("stride", "conflicts"), [(4, 0), (8, 1), (16, 3), (128, 31), (132, 0), (0, 0), (64, 15)])
def test_bank_conflicts_of_words(stride, conflicts):
    program = sim.load(
        entry(
            PROLOGUE
            + f"""
    .shared .b8 x[8192]
    mov.u32 %r2, x; mad.lo.u32 %r3, %r1, {stride}, %r2; ld.shared.u32 %r4, [%r3]; ret""",
            "u64 in, u64 out",
        )
    )
    result = run_both(program, 1, 32, (0, 0))
    assert cost((result, program), "ld", (".shared",))["shared_conflicts"] == conflicts


def test_bank_conflicts_of_vectors_count_within_a_phase():
    program = sim.load(
        entry(
            PROLOGUE
            + """
    .shared .align 16 .b8 x[8192]
    mov.u32 %r2, x; mad.lo.u32 %r3, %r1, 16, %r2; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3]
    mad.lo.u32 %r3, %r1, 32, %r2; st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7}; ret""",
            "u64 in, u64 out",
        )
    )
    result = run_both(program, 1, 32, (0, 0))
    assert cost((result, program), "ld", (".shared",))["shared_conflicts"] == 0
    assert cost((result, program), "st", (".shared",))["shared_conflicts"] == 4  # two passes for each quarter


@pytest.mark.parametrize(
    ("stride", "offset", "sectors", "excess"),
    [(4, 0, 4, 0), (4, 4, 5, 1), (8, 0, 8, 4), (32, 0, 32, 28), (0, 0, 1, 0), (128, 0, 32, 28)],
)
def test_sectors_of_a_request(stride, offset, sectors, excess):
    program = sim.load(
        entry(
            PROLOGUE
            + f"""
    mul.wide.u32 %rd3, %r1, {stride}; add.u64 %rd3, %rd3, %rd1; ld.global.u32 %r4, [%rd3+{offset}]; ret""",
            "u64 in, u64 out",
        )
    )
    row = cost((run_both(program, 1, 32, (np.zeros(2048, np.uint32), 0)), program), "ld", (".global",))
    assert (row["global_requests"], row["global_sectors"], row["global_excess"]) == (1, sectors, excess)


def test_parameters_of_every_kind():
    module = entry(
        """
    .reg .b16 %h<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<2>; .reg .f64 %d<3>
    ld.param.u64 %rd1, [out]; ld.param.s16 %r1, [a]; ld.param.u8 %r2, [b]; ld.param.f32 %f1, [c]; ld.param.f64 %d1, [d]
    ld.param.v2.u32 {%r3, %r4}, [blob+8]; cvt.f64.f32 %d2, %f1; add.f64 %d1, %d1, %d2; st.global.f64 [%rd1], %d1
    add.s32 %r1, %r1, %r2; st.global.s32 [%rd1+8], %r1; add.u32 %r3, %r3, %r4; st.global.u32 [%rd1+12], %r3; ret
    """,
        "u64 out, s16 a, u8 b, f32 c, f64 d, b64[2] blob",
    )
    out = np.zeros(2)
    run_both(module, 1, 1, (out, -5, 255, 1.5, np.float64(2.25), np.array([0, 0, 7, 8], np.uint32).tobytes()))
    assert out[0] == 3.75 and tuple(out[1:].view(np.int32)) == (250, 15)


def test_a_vector_may_hold_special_registers():
    module = entry(
        """
        .reg .b64 %out
        .reg .b64 %at
        .reg .b64 %pair
        .reg .b32 %i
        ld.param.u64 %out, [out]
        mov.u32 %i, %tid.x
        mul.wide.u32 %at, %i, 16
        add.u64 %at, %at, %out
        mov.b64 %pair, {%tid.x, %ntid.x}
        st.global.v2.u32 [%at], {%laneid, %i}
        st.global.u64 [%at+8], %pair
        st.shared.v4.u32 [place], {%ctaid.x, %nctaid.x, %warpid, %i}
        ret""",
        "u64 out",
        declarations=".shared .align 16 .b8 place[16]",
    )
    out = np.zeros((40, 4), np.uint32)
    run_both(module, 1, 40, (out,))
    i = np.arange(40)
    assert (out == np.stack([i % 32, i, i, np.full(40, 40)], axis=1)).all()


def test_a_clock_in_a_vector_is_refused_by_name():
    module = entry(
        """
        .reg .b64 %out
        ld.param.u64 %out, [out]
        st.global.v2.u32 [%out], {%clock, %clock}
        ret""",
        "u64 out",
    )
    with pytest.raises(SimulationError, match="%clock among the elements"):
        run_both(module, 1, 1, (np.zeros(2, np.uint32),))


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(
    "far", ["0x8000000000000000", "0xfffffffffffffff0", "0x7ffffffffffffff0", "0x7f00000000000000"]
)
@pytest.mark.parametrize(
    "access",
    ["ld.global.u32 %r2, [%a]", "st.global.u32 [%a], %r1", "ld.u32 %r2, [%a]", "atom.global.add.u32 %r2, [%a], 1"],
)
def test_lanes_at_both_ends_of_the_address_space_are_out_of_bounds(access, far, engine):
    """The distance of two lanes exceeds a signed 64-bit number: no check may wrap."""
    body = f"""
    .reg .b32 %r<3>; .reg .b64 %a; .reg .b64 %far; .reg .pred %p<3>
    ld.param.u64 %a, [out]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; setp.eq.u32 %p2, %r1, 6
    mov.b64 %far, {far}; @%p1 mov.b64 %a, %far; @%p2 add.u64 %a, %a, %far; {access}; {access}; ret
    """
    with pytest.raises(SimulationError, match="outside") as caught:
        sim.launch(sim.load(entry(body, "u64 out")), 1, 32, (np.zeros(64, np.uint32),), engine=engine)
    assert caught.value.kind == "bounds"
