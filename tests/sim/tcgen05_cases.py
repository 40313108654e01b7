"""Cases of tcgen05.mma, one for every form of the table, run on both engines and compared with a NumPy product."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from oracle.examples import examples
from sim.matrices import bits_of, random_matrix, values_of
from sim.tcgen05_operands import (
    BITS,
    CODES,
    COLUMNS,
    META,
    RESULTS,
    SCALE_A,
    SCALE_B,
    TYPES,
    A,
    Case,
    D,
    dense_left,
    image,
    put_metadata,
    put_scales,
    scales_of,
    sparse_left,
)
from sim.tensor_memory import Machine, descriptor, idesc

from pyptx import isa


def run_case(case: Case, number: int, *, selector: int = 0, ids: tuple[int, int] = (0, 0), **options) -> None:
    """Multiply small numbers whose sums are exact, and hold tensor memory against a product of NumPy."""
    rng = np.random.default_rng(number)
    (ta, tb, td), group = case.types, case.group
    cells = rng.integers(0, 1 << 32, (group, 128, COLUMNS), dtype=np.uint32)
    if case.sparse:
        stored, codes = sparse_left(rng, case)
        put_metadata(cells, case, codes, selector)
    else:
        stored = random_matrix(rng, case.m, case.k, ta)
    b = random_matrix(rng, case.k, case.n, tb)
    c = np.round(random_matrix(rng, case.m, case.n, td if td != "f16" else "f32"))
    c_bits, width = bits_of(c, td), case.n // case.groups
    for row in range(case.m):
        for part in range(case.groups):
            lane = cells[row // case.rows][case.lane(row % case.rows, part), D : D + width]
            lane &= 0xFFFF0000 if td == "f16" else 0
            lane |= c_bits[row, part * width :][:width].astype(lane.dtype)
    left_a, left_b = bits_of(stored, ta), bits_of(b, tb)
    images, half = [], case.n // group
    for cta in range(group):
        own = left_a[cta * case.rows :][: case.rows]
        memory, lead_a, stride_a, wide_a = image(own, ta, case.kind, case.chunks[0], case.majors[0])
        own = left_b.T[cta * half :][:half]
        second, lead_b, stride_b, wide_b = image(own, tb, case.kind, case.chunks[1], case.majors[1])
        start = len(memory)
        images.append(np.frombuffer((memory + second).ljust(-(-(start + len(second)) // 2048) * 2048, b"\0"), np.uint8))
    if case.in_tmem:
        per = 32 // BITS.get(ta, 8)
        words = sum(left_a[:, i::per] << np.uint64(32 // per * i) for i in range(per))
        for row in range(case.m):
            for part in range(case.groups):
                lane = case.lane(row % case.rows, part)
                cells[row // case.rows][lane, A : A + words.shape[1]] = words[row]
        if case.ashift:  # each lane but the last of a warp's gets the next one
            rows = np.arange(case.m)
            stored = stored[np.where(rows % 32 == 31, rows, rows + 1)]
    a = dense_left(case, stored, codes) if case.sparse else stored
    fields = {
        "sparse": case.sparse,
        "mn_a": case.majors[0],
        "mn_b": case.majors[1],
        "selector": selector,
        "negate_a": case.negate[0],
        "negate_b": case.negate[1],
    }
    scale_a = scale_b = None
    if case.vector:
        fields |= {"scale_type": not case.ue4m3, "id_a": ids[0], "id_b": ids[1]}
        scale_a, codes_a = scales_of(rng, case, case.m)
        scale_b, codes_b = scales_of(rng, case, case.n)
        put_scales(cells, case, codes_a, SCALE_A, ids[0], left=True)
        put_scales(cells, case, codes_b, SCALE_B, ids[1], left=False)
    base = 16 * case.half << 16
    zero = 1 << 39 | 2 << 40 | 3 << 48 | 1 << 32 | 1 << 34 | 1 << 8 | 3 << 24 if case.zero else 0
    word = idesc(case.m, case.n, a=CODES[ta], b=CODES[tb], d=0 if case.vector else RESULTS[td], **fields)
    masks = [int(v) for v in rng.integers(0, 1 << 32, 4 * group)] if case.mask else []
    text = [
        f"mov.b32 %r0, {base + D}",
        f"mov.b32 %r1, {base + A}",
        f"mov.b32 %r2, {base + META}",
        f"mov.b32 %r3, {SCALE_A}",
        f"mov.b32 %r4, {SCALE_B}",
        f"mov.b32 %r5, {word}",
        f"setp.eq.u32 %p0, {int(case.keep)}, 1",
        f"mov.b64 %rd0, {zero}",
        *(f"mov.b32 %r{6 + i}, {v}" for i, v in enumerate(masks)),
    ]
    operands = ["[%r0]", "[%r1]" if case.in_tmem else "%da", "%db", *(["[%r2]"] if case.sparse else []), "%r5"]
    operands += ["[%r3]", "[%r4]"] if case.vector else []
    operands += ["{" + ", ".join(f"%r{6 + i}" for i in range(4 * group)) + "}"] if case.mask else []
    operands += ["%p0"] + (["3"] if case.scaled else []) + (["%rd0"] if case.zero else [])
    text.append(f"{case.mnemonic} {', '.join(operands)}")
    machine = Machine(
        images if group == 2 else images[0],
        cells if group == 2 else cells[0],
        "\n".join(text),
        group=group,
        da=descriptor(0, lead_a, stride_a, case.chunks[0], atom32=wide_a),
        db=descriptor(start, lead_b, stride_b, case.chunks[1], atom32=wide_b),
    )
    found = machine.run(**options).reshape(group, 128, COLUMNS)
    if case.negate[0] != case.negate[1]:
        a = -a
    if case.zero:
        b = b * ~zeroed(case)
    want = expected(case, a, b, c, scale_a, scale_b)
    check(case, cells, found, want, masks)


def zeroed(case: Case) -> np.ndarray:
    """The columns that the descriptor of `run_case` makes zero: runs of 4 used and 3 zeros; example 4 of the manual."""
    part = case.n // case.groups
    starts, zeros_first = [0, 1, 0, 3], [True, False, True, False]
    mask = []
    for q in range(case.groups):
        runs = ([1] * 3 + [0] * 4 if zeros_first[q] else [0] * 4 + [1] * 3) * part
        mask += runs[starts[q] : starts[q] + part]
    return np.array(mask, bool)


def expected(case: Case, a, b, c, scale_a, scale_b) -> np.ndarray:
    if case.vector:
        block = case.k // case.vector
        a, b = a * np.repeat(scale_a, block, axis=1), b * np.repeat(scale_b, block, axis=1).T
    return a @ b + (c * (0.125 if case.scaled else 1.0) if case.keep else 0)


def check(case: Case, before, after, want, masks) -> None:
    """D is what is wanted; lanes that are disabled and all other cells are as they were."""
    left, width = before.copy(), case.n // case.groups
    for cta in range(case.group):
        for part in range(case.groups):
            for row in range(case.rows):
                lane = case.lane(row, part)
                if masks and masks[4 * cta + lane // 32] >> lane % 32 & 1:
                    continue
                words = after[cta, lane, D : D + width].astype(np.uint64)
                if case.types[2] == "f16":
                    words &= np.uint64(0xFFFF)
                line = want[cta * case.rows + row, part * width : part * width + width]
                if case.types[2] == "s32":
                    line = line.astype(np.int64).astype(np.uint32).view(np.int32).astype(np.float64)
                np.testing.assert_array_equal(values_of(words, case.types[2]), line)
                left[cta, lane, D : D + width] = after[cta, lane, D : D + width]
    np.testing.assert_array_equal(after, left)


# every form -----------------------------------------------------------------------------------------------------------

SIM_107 = ("ti16", "decompress", "collector::b::")


def _case(text: str, types: tuple[str, str, str], number: int) -> Case | None:
    mnemonic = text.split()[0]
    kind = re.search(r"kind::(\w+)", mnemonic)[1]
    group, ws, sparse = int(re.search(r"cta_group::(\d)", mnemonic)[1]), ".ws" in mnemonic, ".sp" in mnemonic
    vector = 0
    if "block_scale" in mnemonic:
        vector = 4 if "4X" in mnemonic or "block16" in mnemonic else 1 if kind == "mxf8f6f4" else 2
    whole = vector or "ashift" in mnemonic
    sizes = [(32, 64), (64, 64), (128, 64)] if ws else [(64 * group, 48), (128 * group, 32)]
    if whole:
        sizes = [(128 * group, 32)] + ([(128, 64)] if group == 2 and not sparse else [])
    m, n = sizes[number % len(sizes)]
    operands = re.sub(r"\{[^}]*\}", "{}", text.split(None, 1)[1].rstrip(";")).split(", ")
    tail = operands[next(i for i, o in enumerate(operands) if "%p" in o or o.startswith("!")) + 1 :]
    case = Case(
        mnemonic,
        kind,
        group,
        types,
        m,
        n,
        operands[1].startswith("["),
        sparse,
        ws,
        "ashift" in mnemonic,
        "{}" in operands,
        bool(tail) and not ws,
        bool(tail) and ws,
        vector,
    )
    eight = types[1] in ("e4m3", "e5m2", "u8", "s8")
    turned = [kind in ("f16", "tf32", "i8") or types[side] in ("e4m3", "e5m2") for side in (0, 1)]
    major_a = turned[0] and not case.in_tmem and number % 2 == 1
    major_b = turned[1] and not vector and number % 3 == 1 and not (eight and n % (16 * group)) and n // group >= 32
    chunks = (1, 2, 4, 8)[number % 4]
    if not major_a and not major_b and chunks > 2:
        chunks = 2  # K is 32 bytes
    a_chunks, b_chunks = chunks, chunks
    if major_a and case.rows * BITS.get(types[0], 8) // 128 % chunks:
        a_chunks = 1
    if major_b and n // group * BITS.get(types[1], 8) // 128 % chunks:
        b_chunks = 1
    return replace(
        case,
        majors=(major_a, major_b),
        chunks=(a_chunks if major_a else min(chunks, 2), b_chunks if major_b else min(chunks, 2)),
        half=number % 2 if case.is_half else 0,
        keep=number % 5 != 0,
        ue4m3=kind == "mxf4nvf4" and vector == 4 and number % 2 == 0,
        negate=(number % 2 == 1 and kind != "i8", number % 3 == 1 and kind != "i8"),
    )


def _cases() -> list[Case]:
    found: dict[tuple, Case] = {}
    number = 0
    for form in isa.OPS["tcgen05"].forms:
        if not form.syntax.startswith("tcgen05.mma."):
            continue
        for example in examples(form):
            if any(word in example.text for word in SIM_107):
                continue
            kind = re.search(r"kind::(\w+)", example.text)[1]
            case = _case(example.text, TYPES[kind][number % len(TYPES[kind])], number)
            collector = re.sub(r"\.collector::\w+::\w+", "", case.mnemonic)
            key = (collector, case.in_tmem, case.mask, case.scaled, case.zero)
            if key not in found:
                found[key] = case
                number += 1
    return list(found.values())


CASES = _cases()
