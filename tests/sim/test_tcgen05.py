"""tcgen05.mma: every form of the table, and faults, on both engines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sim.schedules import SCHEDULES
from sim.tcgen05_cases import CASES, run_case
from sim.tcgen05_operands import BITS, CODES, COLUMNS, META, RESULTS, SCALE_A, SCALE_B, Case, D
from sim.tensor_memory import Machine, descriptor, idesc

from pyptx import sim
from pyptx.errors import SimulationError

SOME = [pytest.param(case, marks=() if k % 5 == 0 else pytest.mark.slow) for k, case in enumerate(CASES)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", SOME, ids=str)
def test_a_form_multiplies_the_matrices_of_the_manual(case):
    number = CASES.index(case)
    selector = number % 3 if case.sparse and case.kind in ("f16", "tf32") else 0
    ids = {1: (number % 4, (number + 2) % 4), 2: (number % 2 * 2, 2)}.get(case.vector, (0, 0))
    schedule, seed = SCHEDULES[number % len(SCHEDULES)]
    run_case(case, number, selector=selector, ids=ids, schedule=schedule, seed=seed)


# apart from forms -----------------------------------------------------------------------------------------------------

PLAIN = Case("tcgen05.mma.cta_group::1.kind::f16", "f16", 1, ("bf16", "bf16", "f32"), 128, 64)


TURNED = [
    (kind, types, chunks)
    for kind, types in (("f16", ("f16", "f16", "f32")), ("f8f6f4", ("e4m3", "e5m2", "f32")))
    for chunks in (1, 2, 4, 8)
] + [("tf32", ("tf32", "tf32", "f32"), 8)]  # of tf32 only with atoms of 32 bytes


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "types", "chunks"), TURNED, ids=str)
def test_swizzles_of_mn_major_operands(kind, types, chunks):
    n = 128 if BITS.get(types[1], 8) == 8 else 64  # a row of the widest swizzle
    run_case(
        replace(
            PLAIN,
            mnemonic=f"tcgen05.mma.cta_group::1.kind::{kind}",
            kind=kind,
            types=types,
            n=n,
            majors=(True, True),
            chunks=(chunks, chunks),
        ),
        chunks,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
@pytest.mark.parametrize(
    "name",
    [
        "kind::f16",
        "kind::f8f6f4",
        "kind::mxf8f6f4.block_scale",
        "kind::mxf4.block_scale",
        "kind::mxf4nvf4.block_scale.scale_vec::4X",
    ],
)
def test_both_ways_of_adding_agree_where_sums_are_exact(name, tensor_cores):
    case = next(c for c in CASES if f"mma.cta_group::1.{name}" in c.mnemonic and not c.in_tmem and not c.scaled)
    run_case(case, 7, tensor_cores=tensor_cores)


@pytest.mark.parametrize(
    ("change", "fields", "message"),
    [
        ({"m": 96}, {}, "M = 96, N = 64, which its kind does not support"),
        ({"n": 264}, {}, "which its kind does not support"),
        ({}, {"a": 2}, "whose types its kind does not support"),
        ({}, {"d": 2}, "whose types its kind does not support"),
        ({}, {"sparse": 1}, "contradicts the instruction"),
        ({}, {"selector": 1}, "only sparse f16 and tf32 have a selector"),
        ({}, {"saturate": 1}, "bits that its kind reserves"),
    ],
)
def test_a_wrong_instruction_descriptor_is_told(change, fields, message):
    fields = {"m": 128, "n": 64, "a": 1, "b": 1} | change | fields
    code = (
        f"mov.b32 %r0, 0\nmov.b32 %r1, {idesc(**fields)}\nsetp.eq.u32 %p0, 0, 1\n"
        f"{PLAIN.mnemonic} [%r0], %d, %d, %r1, %p0"
    )
    told(Machine(np.zeros(2048), np.zeros((128, 64)), code, d=descriptor(0, 128, 256)), message)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (descriptor(0, 128, 256) & ~(7 << 46), "without the 0b001"),
        (descriptor(0, 128, 256) | 3 << 61, "whose layout"),
        (descriptor(0, 128, 256, atom32=True), "whose layout"),
        (descriptor(0, 128, 256) | 1 << 52, "absolute leading address"),
        (descriptor(2000, 128, 256), "outside"),
    ],
)
def test_a_wrong_matrix_descriptor_is_told(word, message):
    code = (
        f"mov.b32 %r0, 0\nmov.b32 %r1, {idesc(128, 64, a=1, b=1)}\nsetp.eq.u32 %p0, 0, 1\n"
        f"{PLAIN.mnemonic} [%r0], %d, %d, %r1, %p0"
    )
    told(Machine(np.zeros(2048), np.zeros((128, 64)), code, d=word), message)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
@pytest.mark.parametrize(
    "name",
    [
        "mma.cta_group::1.kind::f16",
        "mma.cta_group::2.kind::tf32",
        "mma.cta_group::1.kind::f8f6f4",
        "mma.sp.cta_group::2.kind::f16",
        "mma.ws.cta_group::1.kind::i8",
        "mma.cta_group::1.kind::mxf8f6f4.block_scale",
        "mma.cta_group::2.kind::mxf4.block_scale",
        "mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X",
    ],
)
def test_arbitrary_bits_are_the_same_on_both_engines(name, tensor_cores):
    """NaN, infinities, subnormals, sums that round; run_both compares every bit."""
    case = next(c for c in CASES if c.mnemonic.startswith(f"tcgen05.{name}") and not c.in_tmem)
    rng = np.random.default_rng(len(name))
    images = rng.integers(0, 256, (case.group, 32768), dtype=np.uint8)
    cells = rng.integers(0, 1 << 32, (case.group, 128, COLUMNS), dtype=np.uint32)
    cells[:, :, D : D + 64] = rng.standard_normal((case.group, 128, 64)).astype(np.float32).view(np.uint32)
    cells[:, ::7, D : D + 64 : 5] |= 0x7F800000
    word = idesc(
        case.m,
        case.n,
        a=CODES[case.types[0]],
        b=CODES[case.types[1]],
        d=0 if case.vector else RESULTS[case.types[2]],
        sparse=case.sparse,
        scale_type=bool(case.vector),
    )
    tail = ("[%r2], " if case.sparse else "") + "%r5, " + ("[%r3], [%r4], " if case.vector else "") + "%p0"
    code = "\n".join(
        [
            f"mov.b32 %r0, {D}",
            f"mov.b32 %r2, {META}",
            f"mov.b32 %r3, {SCALE_A}",
            f"mov.b32 %r4, {SCALE_B}",
            f"mov.b32 %r5, {word}",
            "setp.eq.u32 %p0, 1, 1",
            *[f"{case.mnemonic} [%r0], %da, %db, {tail}"] * 3,
        ]
    )
    machine = Machine(
        images if case.group == 2 else images[0],
        cells if case.group == 2 else cells[0],
        code,
        group=case.group,
        da=descriptor(0, 128, 256),
        db=descriptor(16384, 128, 256),
    )
    machine.run(tensor_cores=tensor_cores, schedule="random", seed=3)


def test_without_waiting_the_late_schedule_reads_what_was_poisoned():
    code = (
        f"mov.b32 %r0, 0\nmov.b32 %r1, {idesc(128, 32, a=1, b=1)}\nsetp.eq.u32 %p0, 0, 1\n"
        f"{PLAIN.mnemonic} [%r0], %d, %d, %r1, %p0"
    )
    machine = Machine(np.zeros(8192), np.ones((128, 32)), code, d=descriptor(0, 128, 256))
    assert (machine.run(schedule="late") == 0).all()
    machine.waits = False
    assert (machine.run(schedule="late")[:32] == 0xFFFFFFFF).all()  # the warp of the thread that started it


def told(machine: Machine, message: str) -> None:
    """Both engines tell it alike."""
    errors = []
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match=message) as error:
            args = machine.images[0], machine.cells.copy(), *machine.values.values()
            sim.launch(machine.program(), 1, 128, args, engine=engine)
        errors.append(str(error.value))
    assert errors[0] == errors[1] and "tcgen05.mma" in errors[0]
