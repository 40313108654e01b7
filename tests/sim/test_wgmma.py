"""wgmma: every form on both engines, with operands laid out in shared memory and registers by formulas of this file."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracle.examples import examples
from oracle.nodes import instruction
from sim.engines import run_both
from sim.matrices import SIZE, bits_of, random_matrix, values_of
from sim.text import entry
from sim.text import statement as parse

from pyptx import ir, isa, sim
from pyptx.errors import SimulationError

FORMS = [f for f in isa.OPS["wgmma"].forms if "mma_async" in f.syntax]
WIDTHS = {1: 0, 2: 3, 4: 2, 8: 1}  # chunks of a swizzled row -> bits 63..62


class Case:
    def __init__(self, text: str):
        self.mnemonic = text.split()[0]
        self.words = self.mnemonic.split(".")
        found = re.search(r"\.m64n(\d+)k(\d+)", text)
        self.n, self.k = int(found[1]), int(found[2])
        self.d, self.a, self.b = [w for w in self.words if w in SIZE]
        self.sparse = "sp" in self.words
        self.in_registers = re.search(r"\}, \{", text) is not None
        tail = re.sub(r"\{[^}]*\}", "", text.split(None, 1)[1])
        self.signs = "f" in self.d  # imm-scale-a, -b
        self.transposes = self.signs and SIZE[self.a] == 16
        self.tail = tail

    def __str__(self) -> str:
        return self.mnemonic + ("-registers" if self.in_registers else "")


def image(codes: np.ndarray, bits: int, chunks: int, major: str) -> tuple[np.ndarray, int, int]:
    """Codes [row][k] as bytes of shared memory from an address that 1024 divides; the two byte offsets.

    The canonical layouts of the manual: 8 rows of 16 * chunks bytes are an atom; K-major atoms follow each other along
    the rows (stride) and along k (leading); MN-major ones along k and along the rows.
    """
    rows, columns = codes.shape
    if bits == 1:  # words of 32 columns
        codes = (codes.reshape(rows, -1, 32) << np.arange(32, dtype=np.uint64)).sum(axis=2).astype(np.uint64)
        bits, columns = 32, columns // 32
    size, width = bits // 8, 16 * chunks
    if major == "k":
        stride, leading = 8 * width, max(rows // 8, 1) * 8 * width
        total = leading * -(-columns * size // width)
    elif chunks == 1:
        leading, stride = 128, 128 * (columns // 8)  # along k, along the rows
        total = stride * (rows * size // 16)
    else:
        stride, leading = 8 * width, 8 * width * (columns // 8)
        total = leading * -(-rows * size // width)
    memory = np.zeros(-(-total // 1024) * 1024, np.uint8)
    row, k = np.indices((rows, columns))
    if major == "k":
        at = row % 8 * width + row // 8 * stride + k * size % width + k * size // width * leading
    elif chunks == 1:
        at = row * size // 16 * stride + k // 8 * leading + k % 8 * 16 + row * size % 16
    else:
        at = row * size // width * leading + k // 8 * stride + k % 8 * width + row * size % width
    at ^= (at >> 7 & chunks - 1) << 4
    for byte in range(size):
        memory[at + byte] = codes.astype(np.uint64) >> np.uint64(8 * byte) & np.uint64(0xFF)
    return memory, leading, stride


def descriptor(address: int, leading: int, stride: int, chunks: int) -> int:
    return address >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | WIDTHS[chunks] << 62


def accumulator_place(thread: int, i: int) -> tuple[int, int]:
    """Row and column of element i of D of a thread of the warpgroup (PTX ISA, wgmma register fragments)."""
    warp, lane = thread // 32, thread % 32
    return 16 * warp + lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2


def left_place(thread: int, i: int, bits: int) -> tuple[int, int]:
    """Row and k of element i of A in registers."""
    per, warp, lane = 32 // bits, thread // 32, thread % 32
    return 16 * warp + lane // 4 + 8 * (i // per % 2), lane % 4 * per + i % per + 4 * per * (i // per // 2)


def sparse_left(rng, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A [64][k] with its zeros, what is stored, and the metadata register of each thread (selector 0)."""
    span = 2 if case.a == "tf32" else 4
    stored, dense = random_matrix(rng, 64, case.k // 2, case.a), np.zeros((64, case.k))
    codes = np.zeros((64, case.k // span), np.uint64)
    for row in range(64):
        for chunk in range(case.k // span):
            if span == 2:
                which = rng.integers(2)
                dense[row, 2 * chunk + which] = stored[row, chunk]
                codes[row, chunk] = (4, 14)[which]
            else:
                places = np.sort(rng.permutation(4)[:2])
                dense[row, 4 * chunk + places] = stored[row, 2 * chunk : 2 * chunk + 2]
                codes[row, chunk] = places[0] | places[1] << 2
    words = np.zeros(128, np.uint64)
    for thread in range(128):
        first, group, t = 16 * (thread // 32), thread % 32 // 4, thread % 4
        for field in range(8):
            if SIZE[case.a] >= 16:  # two lanes of a quad: half of k of rows g and g + 8
                code = codes[first + group + 8 * (field // 4), field % 4 + 4 * (t % 2)] if t < 2 else rng.integers(16)
            else:  # four: row by bit 0, half of k by bit 1
                code = codes[first + group + 8 * (t % 2), field + 8 * (t // 2)]
            words[thread] |= np.uint64(code) << np.uint64(4 * field)
    return dense, stored, words


def run_case(case: Case, a, b, c, *, chunks=(8, 8), majors=("k", "k"), signs=(1, 1), keep=True, words=None, **options):
    """D [64][n] of the statement; `a` and `c` are numbers (of a sparse A what is stored)."""
    per = 32 // SIZE[case.d]
    count = case.n * SIZE[case.d] // 64
    kind = {"f32": "f32", "s32": "s32"}.get(case.d, "b32")
    d = [f"%d{i}" for i in range(count)]
    left, right = bits_of(a, case.a), bits_of(b.T, case.b)
    if not case.in_registers:
        image_a, *offsets_a = image(left, SIZE[case.a], chunks[0], majors[0])
    else:
        image_a, offsets_a = np.zeros(0, np.uint8), [0, 0]
    image_b, *offsets_b = image(right, SIZE[case.b], chunks[1], majors[1])
    memory = np.concatenate([image_a, image_b])
    start = 1024
    descriptors = [descriptor(start, *offsets_a, chunks[0]), descriptor(start + len(image_a), *offsets_b, chunks[1])]
    planes = np.zeros((count + 5, 128), np.uint64)
    codes = bits_of(c, case.d)
    for thread in range(128):
        for i in range(count * per):
            planes[i // per, thread] |= codes[accumulator_place(thread, i)] << np.uint64(SIZE[case.d] * (i % per))
        if case.in_registers:
            each = 32 // SIZE[case.a]
            for i in range(4 * each):
                planes[count + i // each, thread] |= left[left_place(thread, i, SIZE[case.a])] << np.uint64(
                    SIZE[case.a] * (i % each)
                )
    if words is not None:
        planes[count + 4] = words
    operands = ["{" + ", ".join(d) + "}", "{%a0, %a1, %a2, %a3}" if case.in_registers else "%da", "%db"]
    operands += ["%m", "0"] if case.sparse else []
    operands += ["%keep"]
    operands += [str(s) for s in signs] if case.signs else []
    if case.transposes:
        operands += [str(int(m == "mn")) for m in (majors[1:] if case.in_registers else majors)]
    body = [
        f".shared .align 1024 .b8 buffer[{len(memory)}]",
        *(f".reg .{kind} {r}" for r in d),
        ".reg .b32 %a<4>",
        ".reg .b32 %m",
        ".reg .b64 %da",
        ".reg .b64 %db",
        ".reg .pred %keep",
        ".reg .b64 %r<9>",
        ".reg .b32 %t<9>",
        "ld.param.u64 %r0, [planes]",
        "ld.param.u64 %r1, [memory]",
        "ld.param.u64 %r2, [out]",
        "ld.param.u64 %da, [da]",
        "ld.param.u64 %db, [db]",
        "mov.u32 %t0, %tid.x",
        "mul.wide.u32 %r3, %t0, 4",
        "add.u64 %r0, %r0, %r3",
        "add.u64 %r2, %r2, %r3",
        "add.u64 %r1, %r1, %r3",
        "mov.u32 %t1, buffer",
        "shl.b32 %t2, %t0, 2",
        "add.u32 %t1, %t1, %t2",
        f"setp.eq.u32 %keep, {int(keep)}, 1",
    ]
    body += [f"ld.global.b32 {r}, [%r0+{512 * i}]" for i, r in enumerate([*d, *(f"%a{i}" for i in range(4)), "%m"])]
    body += [
        line
        for at in range(0, len(memory), 512)
        for line in (f"ld.global.b32 %t3, [%r1+{at}]", f"st.shared.b32 [%t1+{at}], %t3")
    ]
    body += ["bar.sync 0", "wgmma.fence.sync.aligned"]
    statements = [parse(line) for line in body] + [instruction(f"{case.mnemonic} {', '.join(operands)};")]
    statements += [
        parse(line)
        for line in (
            "wgmma.commit_group.sync.aligned",
            "wgmma.wait_group.sync.aligned 0",
            *(f"st.global.b32 [%r2+{512 * i}], {r}" for i, r in enumerate(d)),
            "ret",
        )
    ]
    shell = entry("", "u64 planes, u64 memory, u64 out, u64 da, u64 db", target="sm_90a")
    function = ir.Function(True, "test", shell.functions[0].params, body=tuple(statements))
    module = ir.Module(shell.version, shell.target, shell.address_size, (function,))
    out = np.zeros((count, 128), np.uint32)
    run_both(module, 1, 128, (planes.astype(np.uint32), memory, out, *descriptors), **options)
    result = np.full((64, case.n), np.nan)
    for thread in range(128):
        for i in range(count * per):
            code = out[i // per, thread] >> SIZE[case.d] * (i % per) & (1 << SIZE[case.d]) - 1
            result[accumulator_place(thread, i)] = values_of(np.array([code]), case.d)[0]
    return result


def expected(case: Case, a, b, c) -> np.ndarray:
    total = c + a @ b
    if case.d != "s32":
        return total
    if "satfinite" in case.words:
        return np.clip(total, -(2.0**31), 2.0**31 - 1)
    return total.astype(np.int64).astype(np.uint32).view(np.int32).astype(np.float64)


def _cases() -> list[Case]:
    found: dict[str, Case] = {}
    for form in FORMS:
        for example in examples(form):
            case = Case(example.text)
            if case.n in (8, 40, 48):
                found.setdefault(str(case), case)
    return list(found.values())


CASES = _cases()


def _matrices(rng, case: Case):
    words, stored = None, None
    if case.sparse:
        a, stored, words = sparse_left(rng, case)
    else:
        a = random_matrix(rng, 64, case.k, case.a)
    b, c = random_matrix(rng, case.k, case.n, case.b), random_matrix(rng, 64, case.n, case.d)
    return a, a if stored is None else stored, b, np.round(c), words


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_form_multiplies_the_matrices_of_the_manual(case):
    rng = np.random.default_rng(len(str(case)) + case.n)
    a, stored, b, c, words = _matrices(rng, case)
    chunks = tuple(int(v) for v in rng.choice([1, 2, 4, 8], 2))
    majors, signs = ("k", "k"), (1, 1)
    if case.transposes:
        majors = tuple(str(m) for m in rng.choice(["k", "mn"], 2))
        if case.n == 40 and chunks[1] > 1:
            majors = majors[0], "k"  # 40 columns are no whole rows of a swizzle
    if case.signs:
        signs = tuple(int(s) for s in rng.choice([1, -1], 2))
    d = run_case(case, stored, b, c, chunks=chunks, majors=majors, signs=signs, words=words)
    np.testing.assert_array_equal(d, expected(case, signs[0] * a, signs[1] * b, c))


@pytest.mark.parametrize("major", ["k", "mn"])
@pytest.mark.parametrize("chunks", [1, 2, 4, 8])
def test_every_swizzle_of_both_majors(chunks, major):
    case = next(c for c in CASES if str(c) == "wgmma.mma_async.sync.m64n8k16.f32.bf16.bf16")
    case = Case(case.mnemonic.replace("n8k", "n64k") + " {%d0}, %da, %db, %keep, 1, 1, 0, 0;")
    rng = np.random.default_rng(chunks)
    a, stored, b, c, _ = _matrices(rng, case)
    d = run_case(case, stored, b, c, chunks=(chunks, chunks), majors=(major, major))
    np.testing.assert_array_equal(d, a @ b + c)


def test_without_scale_d_the_accumulator_is_not_read():
    case = next(c for c in CASES if str(c) == "wgmma.mma_async.sync.m64n8k16.f32.f16.f16")
    a, stored, b, c, _ = _matrices(np.random.default_rng(0), case)
    np.testing.assert_array_equal(run_case(case, stored, b, c * np.nan, keep=False), a @ b)


@pytest.mark.parametrize(
    "name", ["m64n8k16.f32.f16.f16", "m64n8k32.f32.e4m3.e4m3", "m64n8k32.f16.e5m2.e4m3", "m64n8k8.f32.tf32.tf32"]
)
@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
def test_sums_that_round_are_the_same_on_both_engines(name, tensor_cores):
    case = next(c for c in CASES if name in str(c) and not c.in_registers and not c.sparse)
    rng = np.random.default_rng(1)
    _, stored, b, c, _ = _matrices(rng, case)
    run_case(case, stored, b, c * 1.001 if case.d == "f32" else c, tensor_cores=tensor_cores)


CHAIN = """
    .shared .align 1024 .b8 buffer[4096]
    .reg .f32 %d<8>; .reg .b64 %a; .reg .b64 %b; .reg .b64 %o; .reg .b64 %w; .reg .pred %p; .reg .b32 %t; .reg .b32 %s
    .reg .b32 %v
    ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 16; add.u64 %o, %o, %w
    mov.u32 %s, buffer; shl.b32 %t, %t, 4; add.u32 %s, %s, %t; mov.b32 %v, 0x3f803f80
    st.shared.v4.b32 [%s], {%v, %v, %v, %v}; st.shared.v4.b32 [%s+2048], {%v, %v, %v, %v}; bar.sync 0
    mov.f32 %d0, 0.5; mov.f32 %d1, 0.5; mov.f32 %d2, 0.5; mov.f32 %d3, 0.5; setp.eq.u32 %p, 1, 1
    mov.f32 %d4, 0.0; mov.f32 %d5, 0.0; mov.f32 %d6, 0.0; mov.f32 %d7, 0.0
    mov.b64 %a, 0x0000000800080040; mov.b64 %b, 0x0000000800080040
    wgmma.fence.sync.aligned
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1, 0, 0
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1, 0, 0
    wgmma.commit_group.sync.aligned
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d4, %d5, %d6, %d7}, %a, %b, %p, 1, 1, 0, 0
    wgmma.commit_group.sync.aligned
    WAIT
    st.global.v4.f32 [%o], {%d0, %d1, %d4, %d5}
    ret"""


def chain(wait: str, **options) -> np.ndarray:
    """0.5 + 2 * 16 in two registers, 16 in the other two, when `wait` is enough."""
    out = np.zeros((128, 4), np.float32)
    run_both(entry(CHAIN.replace("WAIT", wait), "u64 out", target="sm_90a"), 1, 128, (out,), **options)
    return out


@pytest.mark.parametrize(("schedule", "seed"), [("eager", 0), ("late", 0), ("random", 1), ("random", 2)])
def test_products_of_a_chain_add_up(schedule, seed):
    out = chain("wgmma.wait_group.sync.aligned 0", schedule=schedule, seed=seed)
    assert (out == [32.5, 32.5, 16, 16]).all()


def test_a_missing_wait_shows_late():
    assert (chain("", schedule="eager") == [32.5, 32.5, 16, 16]).all()
    assert np.isnan(chain("", schedule="late")).all()
    out = chain("wgmma.wait_group.sync.aligned 1", schedule="late")
    assert (out[:, :2] == 32.5).all() and np.isnan(out[:, 2:]).all()


def test_late_operands_are_read_when_they_are_used():
    """Shared memory written before the wait, without one, is what the product sees."""
    reuse = (
        "bar.sync 0; mov.b32 %v, 0; st.shared.v4.b32 [%s], {%v, %v, %v, %v}; bar.sync 0; "
        "wgmma.wait_group.sync.aligned 0"
    )
    assert (chain(reuse, schedule="eager") == [32.5, 32.5, 16, 16]).all()
    assert (chain(reuse, schedule="late") == [0.5, 0.5, 0, 0]).all()


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_descriptor_outside_of_shared_memory_is_an_error(engine):
    module = entry(
        """
        .shared .align 1024 .b8 buffer[2048]
        .reg .f32 %d<4>; .reg .b64 %a; .reg .b64 %b; .reg .pred %p
        mov.f32 %d0, 0.0; mov.f32 %d1, 0.0; mov.f32 %d2, 0.0; mov.f32 %d3, 0.0
        mov.b64 %a, 0x4000008000010040; mov.b64 %b, 0x4000008000013000; setp.eq.u32 %p, 1, 1
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1, 0, 0
        ret""",
        "u64 x",
        target="sm_90a",
    )
    with pytest.raises(SimulationError, match="16 bytes at 0x"):
        sim.launch(sim.load(module), 1, 128, (np.zeros(1, np.uint32),), engine=engine)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_lanes_with_different_descriptors_are_an_error(engine):
    module = entry(
        """
        .shared .align 1024 .b8 buffer[4096]
        .reg .f32 %d<4>; .reg .b64 %a; .reg .pred %p; .reg .b32 %t
        mov.u32 %t, %tid.x; cvt.u64.u32 %a, %t; add.u64 %a, %a, 0x4000008000010040; setp.eq.u32 %p, 1, 1
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %a, %p, 1, 1, 0, 0
        ret""",
        "u64 x",
        target="sm_90a",
    )
    with pytest.raises(SimulationError, match="lane 1.* descriptor 0x4000008000010041 where lane 0 has"):
        sim.launch(sim.load(module), 1, 128, (np.zeros(1, np.uint32),), engine=engine)
