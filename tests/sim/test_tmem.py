"""Tensor memory: allocation, loads and stores in every shape, copies, shifts; and messages for faults."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.schedules import SCHEDULES
from sim.tensor_memory import Machine, descriptor
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

LANE = np.arange(32)
RNG = np.random.default_rng(5)
CELLS = RNG.integers(0, 1 << 32, (128, 128), dtype=np.uint32)


def places(shape: str, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Lane and column of register q of each thread, as the figures of "Data Movement Shape" have them."""
    match shape:
        case "32x32b":  # a thread has a lane, a register a column
            return LANE, np.full(32, q)
        case "16x64b":  # a quad has two columns of lanes g and g + 8
            return LANE // 4 + 8 * (LANE % 2), 2 * q + LANE // 2 % 2
        case "16x128b":  # a quad has a lane's four columns, then those 8 below
            return LANE // 4 + 8 * (q % 2), 4 * (q // 2) + LANE % 4
        case "16x256b":  # a quad has eight columns of a lane, two a thread
            return LANE // 4 + 8 * (q // 2 % 2), 8 * (q // 4) + 2 * (LANE % 4) + q % 2
    return LANE % 16, np.full(32, q)


def warp_program(body: str, params: str = "u64 cells, u64 out", target: str = "sm_100a") -> sim.Program:
    """Four warps with CELLS in columns 0 to 127 of 256; %a: the address of the warp's lanes, %o: where a thread's
    results go, 512 bytes after each other.
    """
    quads = [", ".join(f"%v{i + j}" for j in range(4)) for i in range(0, 128, 4)]
    every = ", ".join(f"%v{i}" for i in range(128))
    lines = [
        ".shared .align 8 .b8 slot[8]",
        ".reg .b32 %v<129>",
        ".reg .b32 %a",
        ".reg .b32 %t<4>",
        ".reg .b64 %g",
        ".reg .b64 %o",
        ".reg .pred %q",
        "ld.param.u64 %g, [cells]",
        "ld.param.u64 %o, [out]",
        "mov.u32 %t0, %tid.x",
        "mad.wide.u32 %g, %t0, 512, %g",
        "mad.wide.u32 %o, %t0, 4, %o",
        "shr.u32 %t1, %t0, 5",
        "setp.eq.u32 %q, %t1, 0",
        "@%q tcgen05.alloc.cta_group::1.sync.aligned.b32 [slot], 256",
    ]
    if "tcgen05.alloc" in body:
        lines.pop()
    else:
        lines[-1] = lines[-1].replace("aligned.b32", "aligned.shared::cta.b32")
        lines += ["bar.sync 0", "ld.shared.b32 %t2, [slot]", "shl.b32 %a, %t1, 21", "add.u32 %a, %a, %t2"]
        lines += [f"ld.global.v4.b32 {{{quad}}}, [%g+{16 * k}]" for k, quad in enumerate(quads)]
        lines += [f"tcgen05.st.sync.aligned.32x32b.x128.b32 [%a], {{{every}}}", "tcgen05.wait::st.sync.aligned"]
    lines += body.splitlines()
    if "dealloc" not in body:
        lines += ["bar.sync 0", "@%q tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t2, 256"]
    return sim.load(entry("\n".join(line for line in (*lines, "ret") if line.strip()), params, target=target))


LIMITS = {"32x32b": 128, "16x64b": 128, "16x128b": 64, "16x256b": 32, "16x32bx2": 128}


def variants(shape: str, columns: int) -> list[tuple[int, bool]]:
    """What of a shape fits into so many columns: the number in its name, and whether it packs."""
    width = {"32x32b": 1, "16x64b": 2, "16x128b": 4, "16x256b": 8, "16x32bx2": 1}[shape]
    return [
        (num, packed)
        for num in (1, 2, 4, 8, 16, 32, 64, 128)
        for packed in (False, True)
        if num <= LIMITS[shape] and width * num << packed <= columns
    ]


def registers_of(shape: str, num: int) -> int:
    return num * {"16x128b": 2, "16x256b": 4}.get(shape, 1)


def registers(count: int, first: int = 0) -> str:
    return "{" + ", ".join(f"%v{first + i}" for i in range(count)) + "}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", LIMITS)
def test_loads_give_the_cells_of_the_figures(shape):
    body, first, split = [], 0, 5
    tail = f", {split}" if shape == "16x32bx2" else ""
    for num, packed in variants(shape, 120):
        count, upper = registers_of(shape, num), 16 if shape != "32x32b" and num % 4 == 0 else 0
        body += [
            f"add.u32 %t3, %a, {upper << 16}",
            f"tcgen05.ld.sync.aligned.{shape}.x{num}{'.pack::16b' if packed else ''}.b32 "
            f"{registers(count)}, [%t3]{tail}",
            "tcgen05.wait::ld.sync.aligned",
        ]
        body += [f"st.global.b32 [%o+{512 * (first + i)}], %v{i}" for i in range(count)]
        first += count
    out = np.zeros((first, 128), np.uint32)
    schedule, seed = SCHEDULES[list(LIMITS).index(shape) % len(SCHEDULES)]
    run_both(warp_program("\n".join(body)), 1, 128, (CELLS, out), schedule=schedule, seed=seed)
    first = 0
    for num, packed in variants(shape, 120):
        upper = 16 if shape != "32x32b" and num % 4 == 0 else 0  # the upper 16 lanes of the warp
        for q in range(registers_of(shape, num)):
            lane, column = places(shape, q)
            column = (2 * column if packed else column) + (split * (LANE >= 16) if shape == "16x32bx2" else 0)
            for warp in range(4):
                rows = 32 * warp + upper + lane
                want = CELLS[rows, column]
                if packed:
                    want = want & 0xFFFF | CELLS[rows, column + 1] << 16
                np.testing.assert_array_equal(out[first, 32 * warp : 32 * warp + 32], want)
            first += 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", LIMITS)
def test_stores_put_registers_where_loads_find_them(shape):
    split, some = 31, variants(shape, 32)
    tail = f"{split}, " if shape == "16x32bx2" else ""
    body = ["mov.b32 %v128, -1"]
    for k, (num, packed) in enumerate(some):
        body += [
            f"tcgen05.st.sync.aligned.32x32b.x64.b32 [%a+128], {{{', '.join(['%v128'] * 64)}}}",
            "tcgen05.wait::st.sync.aligned",
            f"tcgen05.st.sync.aligned.{shape}.x{num}{'.unpack::16b' if packed else ''}.b32 [%a+128], "
            f"{tail}{registers(registers_of(shape, num))}",
            "tcgen05.wait::st.sync.aligned",
            f"tcgen05.ld.sync.aligned.32x32b.x64.b32 {registers(64, 64)}, [%a+128]",
            "tcgen05.wait::ld.sync.aligned",
        ]
        body += [f"st.global.b32 [%o+{512 * (64 * k + i)}], %v{64 + i}" for i in range(64)]
    out = np.zeros((len(some), 64, 128), np.uint32)
    schedule, seed = SCHEDULES[list(LIMITS).index(shape) % len(SCHEDULES)]
    run_both(warp_program("\n".join(body)), 1, 128, (CELLS, out), schedule=schedule, seed=seed)
    for k, (num, packed) in enumerate(some):
        want = np.full((128, 64), 0xFFFFFFFF, np.uint32)
        for q in range(registers_of(shape, num)):
            lane, column = places(shape, q)
            column = (2 * column if packed else column) + (split * (LANE >= 16) if shape == "16x32bx2" else 0)
            for warp in range(4):
                value = CELLS[32 * warp + LANE, q]
                want[32 * warp + lane, column] = value & 0xFFFF if packed else value
                if packed:
                    want[32 * warp + lane, column + 1] = value >> 16
        np.testing.assert_array_equal(out[k].T, want)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "words",
    ["min.f32", "max.f32", "max.abs.f32", "min.NaN.f32", "max.abs.NaN.f32", "min.s32", "max.s32", "min.u32", "max.u32"],
)
@pytest.mark.parametrize("shape", ["32x32b", "16x32bx2"])
def test_loads_that_reduce(shape, words):
    operation, *flags, type_name = words.split(".")
    tail = ", 16" if shape == "16x32bx2" else ""
    kind = "f32" if type_name == "f32" else "b32"
    body = [
        f".reg .{kind} %f<9>",
        *(f"mov.b32 %f{i}, %v{i}" for i in range(9)),
        f"tcgen05.ld.red.sync.aligned.{shape}.x8.{words} {registers(8).replace('v', 'f')}, %f8, [%a]{tail}",
        "tcgen05.wait::ld.sync.aligned",
        *(f"st.global.b32 [%o+{512 * i}], %f{i}" for i in range(9)),
    ]
    cells = CELLS.copy()
    cells[:, ::5] = 0x7FC00000  # NaN
    out = np.zeros((9, 128), np.uint32)
    run_both(warp_program("\n".join(body), target="sm_103a"), 1, 128, (cells, out), schedule="late")
    view = {"f32": np.float32, "s32": np.int32, "u32": np.uint32}[type_name]
    values = np.abs(out[:8].view(np.float32)).view(np.uint32) if "abs" in flags else out[:8]
    values = values.view(view)
    dropped = type_name == "f32" and "NaN" not in flags
    keep = {"min": np.fmin if dropped else np.minimum, "max": np.fmax if dropped else np.maximum}
    np.testing.assert_array_equal(out[8].view(view), keep[operation].reduce(values, axis=0))


# copies and shifts ----------------------------------------------------------------------------------------------------

COPIES = {
    "128x256b": (128, 2),
    "4x256b": (4, 2),
    "128x128b": (128, 1),
    "64x128b.warpx2::02_13": (64, 1),
    "64x128b.warpx2::01_23": (64, 1),
    "32x128b.warpx4": (32, 1),
}


def copied_lanes(shape: str, row: int) -> list[int]:
    match shape:
        case "4x256b":
            return [32 * row]
        case "64x128b.warpx2::02_13":  # warps 0 and 2 get the first half, 1 and 3 the second
            return [row, row + 64]
        case "64x128b.warpx2::01_23":  # warps 0 and 1 the first, 2 and 3 the second
            return [row % 32 + 64 * (row // 32), row % 32 + 64 * (row // 32) + 32]
        case "32x128b.warpx4":
            return [row + 32 * w for w in range(4)]
    return [row]


def unpacked(chunk: bytes, bits: int) -> np.ndarray:
    number = int.from_bytes(chunk, "little")
    elements = [number >> bits * k & (1 << bits) - 1 for k in range(16)]
    return np.array([e << 2 if bits == 4 else e for e in elements], np.uint8).view(np.uint32)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("expansion", ["", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"])
@pytest.mark.parametrize("shape", COPIES)
def test_copies_from_shared_memory(shape, expansion, group):
    rows, chunks = COPIES[shape]
    images = RNG.integers(0, 256, (group, 8192), dtype=np.uint8)
    cells = RNG.integers(0, 1 << 32, (group, 128, 32), dtype=np.uint32)
    start = 31 << 16 if shape == "4x256b" else 0  # the last lane of each warp
    code = f"mov.b32 %r0, {start + 8}\ntcgen05.cp.cta_group::{group}.{shape}{expansion} [%r0+4], %from"
    stride, leading = 128 * chunks, 128  # 8 rows of each chunk together
    machine = Machine(
        images if group == 2 else images[0],
        cells if group == 2 else cells[0],
        code,
        group=group,
        **{"from": descriptor(0, leading, stride)},
    )
    schedule, seed = SCHEDULES[len(expansion) % len(SCHEDULES)]
    found = machine.run(schedule=schedule, seed=seed).reshape(cells.shape)
    want = cells.copy()
    for cta in range(group):
        for row in range(rows):
            for c in range(chunks):
                at = row % 8 * 16 + row // 8 * stride + c * leading
                data = images[cta, at : at + 16].tobytes()
                words = unpacked(data, int(expansion[8])) if expansion else np.frombuffer(data, np.uint32)
                for lane in copied_lanes(shape, row):
                    want[cta, lane + (start >> 16), 12 + 4 * c : 16 + 4 * c] = words
    np.testing.assert_array_equal(found, want)


def test_a_copy_reads_swizzled_shared_memory():
    image = RNG.integers(0, 256, 16384, dtype=np.uint8)
    cells = np.zeros((128, 32), np.uint32)
    code = "mov.b32 %r0, 0\ntcgen05.cp.cta_group::1.128x256b [%r0], %from"
    found = Machine(image, cells, code, **{"from": descriptor(32, 0, 1024, 8)}).run()
    for row in range(128):
        line = image[128 * row : 128 * row + 128].reshape(8, 16)[np.arange(8) ^ (row % 8)].reshape(-1)
        np.testing.assert_array_equal(found[row, :8], line[32:64].view(np.uint32))


def test_a_shift_moves_the_lanes_of_a_warp_by_one():
    cells = CELLS[:, :32]
    code = f"mov.b32 %r0, {(64 << 16) + 4}\ntcgen05.shift.cta_group::1.down [%r0]"
    found = Machine(np.zeros(2048), cells, code).run()
    want = cells.copy()
    want[64:95, 4:12] = cells[65:96, 4:12]
    np.testing.assert_array_equal(found, want)


# allocation -----------------------------------------------------------------------------------------------------------

ALLOC, FREE = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "tcgen05.dealloc.cta_group::1.sync.aligned.b32"


def test_an_allocation_waits_until_columns_are_free():
    body = f"""
        .reg .b32 %b<4>
        setp.eq.u32 %q, %t1, 0
        @%q {ALLOC} [slot], 512
        bar.sync 0
        ld.shared.b32 %b0, [slot]
        bar.sync 0
        setp.eq.u32 %q, %t1, 1
        @%q {ALLOC} [slot+4], 256
        setp.eq.u32 %q, %t1, 2
        @%q {FREE} %b0, 512
        bar.sync 0
        ld.shared.b32 %b1, [slot+4]
        @%q {ALLOC} [slot], 128
        @%q ld.shared.b32 %b2, [slot]
        @%q st.global.b32 [%o+512], %b2
        @%q {FREE} %b2, 128
        st.global.b32 [%o], %b1
        @%q {FREE} %b1, 256"""
    out = np.full((2, 128), 7, np.uint32)
    for schedule, seed in SCHEDULES:
        result = run_both(warp_program(body), 1, 128, (CELLS, out), schedule=schedule, seed=seed)
        assert (out[0] == 0).all() and (out[1, 64:96] == 256).all()
    assert result.counters.waits.sum() > 0


EXCLUSIVE = ALLOC.replace("alloc.", "alloc.exclusive."), FREE.replace("dealloc.", "dealloc.exclusive.")


def test_an_exclusive_allocation_is_the_only_one():
    take, free = EXCLUSIVE
    body = f"""
        .reg .b32 %b<4>
        setp.eq.u32 %q, %t1, 0
        @%q {ALLOC} [slot], 32
        bar.sync 0
        ld.shared.b32 %b0, [slot]
        bar.sync 0
        setp.eq.u32 %q, %t1, 1
        @%q {take} [slot+4], 96
        @%q mov.b32 %v0, 1
        @%q {free} 0, 96
        setp.eq.u32 %q, %t1, 2
        @%q st.global.b32 [%o], %t1
        @%q {FREE} %b0, 32
        bar.sync 0
        ld.shared.b32 %b1, [slot+4]
        setp.eq.u32 %q, %t1, 3
        @%q {take} [slot], 480
        bar.sync 0
        setp.eq.u32 %q, %t1, 0
        @!%q bra LATER
        {ALLOC} [slot+4], 32
        ld.shared.b32 %b2, [slot+4]
        {FREE} %b2, 32
        LATER:
        setp.eq.u32 %q, %t1, 3
        @%q {free} 0, 480
        st.global.b32 [%o], %b1"""
    out, waits = np.full((1, 128), 7, np.uint32), 0
    for schedule, seed in (*SCHEDULES, ("random", 3), ("random", 4)):
        result = run_both(warp_program(body), 1, 128, (CELLS, out), schedule=schedule, seed=seed)
        assert (out == 0).all()
        waits += int(result.counters.waits.sum())
    assert waits


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"mov.b32 %t3, 48\n@%q {EXCLUSIVE[0]} [slot], %t3\n@%q {EXCLUSIVE[1]} 0, 64", "a multiple of 32, at most 512"),
        (f"@%q {EXCLUSIVE[0]} [slot], 96\n@%q {FREE} 0, 96", "differs in .exclusive"),
        (f"@%q {ALLOC} [slot], 64\n@%q {EXCLUSIVE[1]} 0, 64", "differs in .exclusive"),
        (f"mov.b32 %t3, 48\n@%q {ALLOC} [slot], %t3\n@%q {FREE} 0, 32", "allocates 48 columns"),
        (f"@%q {ALLOC} [slot], 32\n@%q {FREE} 0, 32\n@%q {FREE} 0, 32", "where no allocation starts"),
        (f"@%q {ALLOC} [slot], 64\n@%q {FREE} 0, 32", "frees 32 columns of tensor memory, but 64 are allocated"),
        (f"@%q {ALLOC} [slot], 64\nmov.b32 %t3, 0 // dealloc", "ended without freeing"),
        (
            f"@%q {ALLOC} [slot], 512\n@%q {ALLOC} [slot+4], 32\nmov.b32 %t3, 0 // dealloc",
            "until other warps of the CTA free columns",
        ),
        (
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned\n" + f"@%q {ALLOC} [slot], 64\n@%q {FREE} 0, 64",
            "after its CTA relinquished",
        ),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%a+256]", "accesses 1 columns of tensor memory from lane"),
        (f"tcgen05.ld.sync.aligned.16x256b.x2.b32 {registers(8)}, [%a+241]", "accesses 16 columns"),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%t2]",
            r"this warp can access lanes \d+ to \d+ only",
        ),
        (
            "add.u32 %a, %a, %t0\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%a]",
            "another tensor memory address than lane 0",
        ),
        ("tcgen05.shift.cta_group::2.down [%a]", "has another cta_group than 1"),
        ("add.u32 %a, %a, 65536\ntcgen05.shift.cta_group::1.down [%a]", "it cannot start at that lane"),
    ],
)
def test_what_is_wrong_is_told(body, message):
    program = warp_program(body)
    told = []
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match=message) as error:
            sim.launch(program, 1, 128, (CELLS, np.zeros((4, 128), np.uint32)), engine=engine)
        told.append(str(error.value))
    assert told[0] == told[1] and "tcgen05" in told[0]


def test_a_pair_needs_a_cluster():
    machine = Machine([np.zeros(2048)] * 2, np.zeros((2, 128, 32)), "", group=2)
    with pytest.raises(SimulationError, match="the cluster size is 1"):
        sim.launch(machine.program(), 1, 128, (np.zeros(4096, np.uint8), np.zeros((2, 128, 32), np.uint32)))


def test_without_the_wait_the_late_schedule_loads_garbage():
    wait = "tcgen05.wait::st.sync.aligned"
    body = [
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%a+200], {%v5}",
        wait,
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v6}, [%a+200]",
        "st.global.b32 [%o], %v6",
        "tcgen05.wait::ld.sync.aligned",
    ]
    out = np.zeros((1, 128), np.uint32)
    run_both(warp_program("\n".join(body)), 1, 128, (CELLS, out), schedule="late")
    np.testing.assert_array_equal(out[0], CELLS[:, 5])
    run_both(warp_program("\n".join(line for line in body if line != wait)), 1, 128, (CELLS, out), schedule="late")
    assert (out == 0xFFFFFFFF).all()
