"""tcgen05.mma: every form of the table on both engines, held against a product of NumPy; this file lays operands out.

Formulas of the PTX ISA: "Data Path Layout Organization", "Shared Memory Layout and Swizzling", "Packing formats",
"Block Scaling", "Sparsity selector", "Zero-Column Mask Descriptor".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from oracle.examples import examples
from sim.matrices import bits_of, random_matrix, values_of
from sim.schedules import SCHEDULES
from sim.tensor_memory import Machine, descriptor, idesc

from pyptx import isa, sim
from pyptx.errors import SimulationError

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "fp4": 4}            # others 8
K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
TYPES = {"f16": [("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f16", "f16", "f16")],
         "tf32": [("tf32", "tf32", "f32")],
         "f8f6f4": [("e4m3", "e5m2", "f32"), ("e2m1", "e3m2", "f32"), ("e2m3", "e4m3", "f16")],
         "i8": [("s8", "u8", "s32"), ("u8", "s8", "s32")],
         "mxf8f6f4": [("e5m2", "e4m3", "f32"), ("e3m2", "e2m1", "f32")],
         "mxf4": [("fp4", "fp4", "f32")], "mxf4nvf4": [("fp4", "fp4", "f32")]}
CODES = {"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5, "u8": 0, "s8": 1,
         "fp4": 1}
RESULTS = {"f16": 0, "f32": 1, "s32": 2}
D, A, META, SCALE_A, SCALE_B, COLUMNS = 0, 64, 96, 100, 112, 128         # columns


@dataclass(frozen=True)
class Case:
    """A form with its types and sizes. `vector`: scales of a row; `half`: D begins at lane 16."""

    mnemonic: str
    kind: str
    group: int
    types: tuple[str, str, str]
    m: int
    n: int
    in_tmem: bool = False
    sparse: bool = False
    ws: bool = False
    ashift: bool = False
    mask: bool = False
    scaled: bool = False                                        # scale-input-d
    zero: bool = False
    vector: int = 0
    ue4m3: bool = False
    majors: tuple[bool, bool] = (False, False)
    chunks: tuple[int, int] = (1, 1)
    negate: tuple[bool, bool] = (False, False)
    half: int = 0
    keep: bool = True

    @property
    def k(self) -> int:
        return K[self.kind] << self.sparse

    @property
    def stored(self) -> int:
        return K[self.kind]

    @property
    def rows(self) -> int:
        """Of a CTA."""
        return self.m // self.group

    @property
    def groups(self) -> int:
        return 1 if self.is_half else 128 // self.rows

    @property
    def is_half(self) -> bool:
        return self.rows == 64 and (self.sparse if self.group == 2 else not self.ws)

    def lane(self, row: int, part: int) -> int:
        """Layouts A to G."""
        if self.is_half:
            return 16 * self.half + row % 16 + 32 * (row // 16)
        return row + 128 // self.groups * part

    def __str__(self) -> str:
        return (f"{self.mnemonic.removeprefix('tcgen05.')} {'-'.join(self.types)} {self.m}x{self.n}"
                f"{' tmem' * self.in_tmem}{' mask' * self.mask}{' scaled' * self.scaled}{' zero' * self.zero}")


# operands in shared memory --------------------------------------------------------------------------------------------

def image(codes: np.ndarray, type_name: str, kind: str, chunks: int, mn: bool) -> tuple[bytes, int, int, bool]:
    """Codes [row][k] as bytes from an address that 1024 divides, both byte offsets, and whether atoms have 32 bytes."""
    rows, columns = codes.shape
    bits = BITS.get(type_name, 8)
    padded = type_name in ("e2m1", "e3m2", "e2m3") and not kind.startswith("mxf4")
    per, wide = 128 // bits, mn and type_name == "tf32"
    chunks = 8 if wide else chunks
    lines = np.zeros((rows, columns // per, 16), np.uint8) if not mn else np.zeros((columns, rows // per, 16), np.uint8)
    table = codes.T if mn else codes
    for line in range(table.shape[0]):
        for chunk in range(table.shape[1] // per):
            some, number = table[line, per * chunk:per * chunk + per], 0
            width = {"e2m1": 4, "e3m2": 6, "e2m3": 6}[type_name] if padded else bits
            for i, code in enumerate(some):
                number |= (int(code) >> (2 if padded and type_name == "e2m1" else 0)) << width * i
            lines[line, chunk] = np.frombuffer(number.to_bytes(16, "little"), np.uint8)
    atom = 4 if wide else 8
    width = 16 * chunks
    groups = -(-lines.shape[1] // chunks)                       # atoms along the contiguous direction
    if not mn:
        stride, leading = 8 * width, 8 * width * (rows // 8)
    elif chunks == 1:
        leading, stride = 128, 128 * (columns // 8)             # along k, along the rows
    else:
        stride, leading = atom * width, atom * width * (columns // atom)
    memory = np.zeros(max(1024, atom * width * (lines.shape[0] // atom) * groups), np.uint8)
    for line in range(lines.shape[0]):
        for chunk in range(lines.shape[1]):
            if mn and chunks == 1:
                at = line % 8 * 16 + line // 8 * leading + chunk * stride
            else:
                at = line % atom * width + line // atom * stride + chunk % chunks * 16 + chunk // chunks * leading
            at ^= (at >> 7 & 3) << 5 if wide else (at >> 7 & chunks - 1) << 4
            memory[at:at + 16] = lines[line, chunk]
    return memory.tobytes(), leading, stride, wide


def sparse_left(rng, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """What is stored of A, and the four bits of each chunk."""
    span = {"tf32": 2, "fp4": 8}.get(case.types[0], 4)
    stored = random_matrix(rng, case.m, case.k // 2, case.types[0])
    if span == 2:
        return stored, rng.choice([0b0100, 0b1110], (case.m, case.k // 2))
    return stored, rng.choice([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], (case.m, case.k // span))


def dense_left(case: Case, stored: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """A with its zeros: of two columns one (tf32), of four or of four pairs two."""
    dense, span = np.zeros((case.m, case.k)), case.k // codes.shape[1]
    for row in range(case.m):
        for chunk, code in enumerate(codes[row]):
            if span == 2:
                dense[row, 2 * chunk + (code == 0b1110)] = stored[row, chunk]
                continue
            each = span // 4
            for i, place in enumerate((code & 3, code >> 2)):
                to, source = span * chunk + each * place, span // 2 * chunk + each * i
                dense[row, to:to + each] = stored[row, source:source + each]
    return dense


def put_metadata(cells: np.ndarray, case: Case, codes: np.ndarray, selector: int) -> None:
    """Four bits of each chunk of each row of each CTA, in all parts of the lanes."""
    for row in range(case.m):
        for part in range(case.groups):
            lane, cta = case.lane(row % case.rows, part), row // case.rows
            for chunk, code in enumerate(codes[row]):
                if case.kind in ("f16", "tf32"):                # halves of k in lanes 8 apart, rows 8 apart in a word
                    at = lane // 16 * 16 + lane % 8 + 8 * (chunk // 4), META + selector
                    shift = 16 * (lane // 8 % 2) + 4 * (chunk % 4)
                else:
                    at, shift = (lane, META + chunk // 8), 4 * (chunk % 8)
                word = int(cells[cta][at]) & ~(15 << shift)
                cells[cta][at] = word | int(code) << shift


def scales_of(rng, case: Case, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and codes [row][scale]: powers of two, or small e4m3."""
    if case.ue4m3:
        values = rng.choice([0.5, 1.0, 1.5, 2.0], (rows, case.vector))
        return values, bits_of(values, "e4m3")
    exponents = rng.integers(-1, 2, (rows, case.vector))
    return 2.0 ** exponents, (exponents + 127).astype(np.uint64)


def put_scales(cells: np.ndarray, case: Case, codes: np.ndarray, column: int, first: int, *, left: bool) -> None:
    """In each of the four datapaths: row r in lane r % 32, column r / 32; of B the rows its columns of D need."""
    width = case.n // case.groups
    for cta in range(case.group):
        for path in range(4):
            part = path // (4 // case.groups)
            first_row, count = (cta * case.rows, case.rows) if left else (part * width, width)
            own = codes[first_row:first_row + count]
            for row, some in enumerate(own):
                for i, code in enumerate(some):
                    at, shift = (32 * path + row % 32, column + row // 32), 8 * (first + i)
                    cells[cta][at] = int(cells[cta][at]) & ~(255 << shift) | int(code) << shift


# a case ---------------------------------------------------------------------------------------------------------------

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
    for row in range(case.m):
        for j in range(case.n):
            part, cta = j // (case.n // case.groups), row // case.rows
            value = int(bits_of(c[row:row + 1, j:j + 1], td)[0, 0])
            at = case.lane(row % case.rows, part), D + j % (case.n // case.groups)
            cells[cta][at] = value | (int(cells[cta][at]) & 0xFFFF0000 if td == "f16" else 0)
    left_a, left_b = bits_of(stored, ta), bits_of(b, tb)
    images, half = [], case.n // group
    for cta in range(group):
        own = left_a[cta * case.rows:][:case.rows]
        memory, lead_a, stride_a, wide_a = image(own, ta, case.kind, case.chunks[0], case.majors[0])
        own = left_b.T[cta * half:][:half]
        second, lead_b, stride_b, wide_b = image(own, tb, case.kind, case.chunks[1], case.majors[1])
        start = len(memory)
        images.append(np.frombuffer((memory + second).ljust(-(-(start + len(second)) // 2048) * 2048, b"\0"), np.uint8))
    if case.in_tmem:
        per = 32 // BITS.get(ta, 8)
        words = sum(left_a[:, i::per] << np.uint64(32 // per * i) for i in range(per))
        for row in range(case.m):
            for part in range(case.groups):
                lane = case.lane(row % case.rows, part)
                cells[row // case.rows][lane, A:A + words.shape[1]] = words[row]
        if case.ashift:                                         # each lane but the last of a warp's gets the next one
            rows = np.arange(case.m)
            stored = stored[np.where(rows % 32 == 31, rows, rows + 1)]
    a = dense_left(case, stored, codes) if case.sparse else stored
    fields = {"sparse": case.sparse, "mn_a": case.majors[0], "mn_b": case.majors[1], "selector": selector,
              "negate_a": case.negate[0], "negate_b": case.negate[1]}
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
    text = [f"mov.b32 %r0, {base + D}", f"mov.b32 %r1, {base + A}", f"mov.b32 %r2, {base + META}",
            f"mov.b32 %r3, {SCALE_A}", f"mov.b32 %r4, {SCALE_B}", f"mov.b32 %r5, {word}",
            f"setp.eq.u32 %p0, {int(case.keep)}, 1", f"mov.b64 %rd0, {zero}",
            *(f"mov.b32 %r{6 + i}, {v}" for i, v in enumerate(masks))]
    operands = ["[%r0]", "[%r1]" if case.in_tmem else "%da", "%db", *(["[%r2]"] if case.sparse else []), "%r5"]
    operands += ["[%r3]", "[%r4]"] if case.vector else []
    operands += ["{" + ", ".join(f"%r{6 + i}" for i in range(4 * group)) + "}"] if case.mask else []
    operands += ["%p0"] + (["3"] if case.scaled else []) + (["%rd0"] if case.zero else [])
    text.append(f"{case.mnemonic} {', '.join(operands)}")
    machine = Machine(images if group == 2 else images[0], cells if group == 2 else cells[0], "\n".join(text),
                      group=group, da=descriptor(0, lead_a, stride_a, case.chunks[0], atom32=wide_a),
                      db=descriptor(start, lead_b, stride_b, case.chunks[1], atom32=wide_b))
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
        mask += runs[starts[q]:starts[q] + part]
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
                words = after[cta, lane, D:D + width].astype(np.uint64)
                if case.types[2] == "f16":
                    words &= np.uint64(0xFFFF)
                line = want[cta * case.rows + row, part * width:part * width + width]
                if case.types[2] == "s32":
                    line = line.astype(np.int64).astype(np.uint32).view(np.int32).astype(np.float64)
                np.testing.assert_array_equal(values_of(words, case.types[2]), line)
                left[cta, lane, D:D + width] = after[cta, lane, D:D + width]
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
    tail = operands[next(i for i, o in enumerate(operands) if "%p" in o or o.startswith("!")) + 1:]
    case = Case(mnemonic, kind, group, types, m, n, operands[1].startswith("["), sparse, ws, "ashift" in mnemonic,
                "{}" in operands, bool(tail) and not ws, bool(tail) and ws, vector)
    eight = types[1] in ("e4m3", "e5m2", "u8", "s8")
    turned = [kind in ("f16", "tf32", "i8") or types[side] in ("e4m3", "e5m2") for side in (0, 1)]
    major_a = turned[0] and not case.in_tmem and number % 2 == 1
    major_b = turned[1] and not vector and number % 3 == 1 and not (eight and n % (16 * group)) and n // group >= 32
    chunks = (1, 2, 4, 8)[number % 4]
    if not major_a and not major_b and chunks > 2:
        chunks = 2                                              # K is 32 bytes
    a_chunks, b_chunks = chunks, chunks
    if major_a and case.rows * BITS.get(types[0], 8) // 128 % chunks:
        a_chunks = 1
    if major_b and n // group * BITS.get(types[1], 8) // 128 % chunks:
        b_chunks = 1
    return replace(case, majors=(major_a, major_b),
                   chunks=(a_chunks if major_a else min(chunks, 2), b_chunks if major_b else min(chunks, 2)),
                   half=number % 2 if case.is_half else 0, keep=number % 5 != 0,
                   ue4m3=kind == "mxf4nvf4" and vector == 4 and number % 2 == 0,
                   negate=(number % 2 == 1 and kind != "i8", number % 3 == 1 and kind != "i8"))


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
SOME = [pytest.param(case, marks=() if k % 5 == 0 else pytest.mark.slow) for k, case in enumerate(CASES)]


@pytest.mark.parametrize("case", SOME, ids=str)
def test_a_form_multiplies_the_matrices_of_the_manual(case):
    number = CASES.index(case)
    selector = number % 3 if case.sparse and case.kind in ("f16", "tf32") else 0
    ids = {1: (number % 4, (number + 2) % 4), 2: (number % 2 * 2, 2)}.get(case.vector, (0, 0))
    schedule, seed = SCHEDULES[number % len(SCHEDULES)]
    run_case(case, number, selector=selector, ids=ids, schedule=schedule, seed=seed)


# apart from forms -----------------------------------------------------------------------------------------------------

PLAIN = Case("tcgen05.mma.cta_group::1.kind::f16", "f16", 1, ("bf16", "bf16", "f32"), 128, 64)


TURNED = [(kind, types, chunks) for kind, types in (("f16", ("f16", "f16", "f32")), ("f8f6f4", ("e4m3", "e5m2", "f32")))
          for chunks in (1, 2, 4, 8)] + [("tf32", ("tf32", "tf32", "f32"), 8)]     # of tf32 only with atoms of 32 bytes


@pytest.mark.parametrize(("kind", "types", "chunks"), TURNED, ids=str)
def test_swizzles_of_mn_major_operands(kind, types, chunks):
    n = 128 if BITS.get(types[1], 8) == 8 else 64               # a row of the widest swizzle
    run_case(replace(PLAIN, mnemonic=f"tcgen05.mma.cta_group::1.kind::{kind}", kind=kind, types=types, n=n,
                     majors=(True, True), chunks=(chunks, chunks)), chunks)


@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
@pytest.mark.parametrize("name", ["kind::f16", "kind::f8f6f4", "kind::mxf8f6f4.block_scale", "kind::mxf4.block_scale",
                                  "kind::mxf4nvf4.block_scale.scale_vec::4X"])
def test_both_ways_of_adding_agree_where_sums_are_exact(name, tensor_cores):
    case = next(c for c in CASES if f"mma.cta_group::1.{name}" in c.mnemonic and not c.in_tmem and not c.scaled)
    run_case(case, 7, tensor_cores=tensor_cores)


@pytest.mark.parametrize(("change", "fields", "message"), [
    ({"m": 96}, {}, "M = 96, N = 64, which its kind does not have"),
    ({"n": 264}, {}, "which its kind does not have"),
    ({}, {"a": 2}, "whose types do not go with its kind"),
    ({}, {"d": 2}, "whose types do not go with its kind"),
    ({}, {"sparse": 1}, "contradicts the instruction"),
    ({}, {"selector": 1}, "only sparse f16 and tf32 have one"),
    ({}, {"saturate": 1}, "bits are set that its kind reserves"),
])
def test_a_wrong_instruction_descriptor_is_told(change, fields, message):
    fields = {"m": 128, "n": 64, "a": 1, "b": 1} | change | fields
    code = (f"mov.b32 %r0, 0\nmov.b32 %r1, {idesc(**fields)}\nsetp.eq.u32 %p0, 0, 1\n"
            f"{PLAIN.mnemonic} [%r0], %d, %d, %r1, %p0")
    told(Machine(np.zeros(2048), np.zeros((128, 64)), code, d=descriptor(0, 128, 256)), message)


@pytest.mark.parametrize(("word", "message"), [
    (descriptor(0, 128, 256) & ~(7 << 46), "without the 0b001"),
    (descriptor(0, 128, 256) | 3 << 61, "whose layout"),
    (descriptor(0, 128, 256, atom32=True), "whose layout"),
    (descriptor(0, 128, 256) | 1 << 52, "absolute leading address"),
    (descriptor(2000, 128, 256), "outside"),
])
def test_a_wrong_matrix_descriptor_is_told(word, message):
    code = (f"mov.b32 %r0, 0\nmov.b32 %r1, {idesc(128, 64, a=1, b=1)}\nsetp.eq.u32 %p0, 0, 1\n"
            f"{PLAIN.mnemonic} [%r0], %d, %d, %r1, %p0")
    told(Machine(np.zeros(2048), np.zeros((128, 64)), code, d=word), message)


@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
@pytest.mark.parametrize("name", ["mma.cta_group::1.kind::f16", "mma.cta_group::2.kind::tf32",
                                  "mma.cta_group::1.kind::f8f6f4",
                                  "mma.sp.cta_group::2.kind::f16", "mma.ws.cta_group::1.kind::i8",
                                  "mma.cta_group::1.kind::mxf8f6f4.block_scale",
                                  "mma.cta_group::2.kind::mxf4.block_scale",
                                  "mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X"])
def test_arbitrary_bits_are_the_same_on_both_engines(name, tensor_cores):
    """NaN, infinities, subnormals, sums that round; run_both compares every bit."""
    case = next(c for c in CASES if c.mnemonic.startswith(f"tcgen05.{name}") and not c.in_tmem)
    rng = np.random.default_rng(len(name))
    images = rng.integers(0, 256, (case.group, 32768), dtype=np.uint8)
    cells = rng.integers(0, 1 << 32, (case.group, 128, COLUMNS), dtype=np.uint32)
    cells[:, :, D:D + 64] = rng.standard_normal((case.group, 128, 64)).astype(np.float32).view(np.uint32)
    cells[:, ::7, D:D + 64:5] |= 0x7F800000
    word = idesc(case.m, case.n, a=CODES[case.types[0]], b=CODES[case.types[1]],
                 d=0 if case.vector else RESULTS[case.types[2]], sparse=case.sparse, scale_type=bool(case.vector))
    tail = ("[%r2], " if case.sparse else "") + "%r5, " + ("[%r3], [%r4], " if case.vector else "") + "%p0"
    code = "\n".join([f"mov.b32 %r0, {D}", f"mov.b32 %r2, {META}", f"mov.b32 %r3, {SCALE_A}", f"mov.b32 %r4, {SCALE_B}",
                      f"mov.b32 %r5, {word}", "setp.eq.u32 %p0, 1, 1",
                      *[f"{case.mnemonic} [%r0], %da, %db, {tail}"] * 3])
    machine = Machine(images if case.group == 2 else images[0], cells if case.group == 2 else cells[0], code,
                      group=case.group, da=descriptor(0, 128, 256), db=descriptor(16384, 128, 256))
    machine.run(tensor_cores=tensor_cores, schedule="random", seed=3)


def test_without_waiting_the_late_schedule_reads_what_was_poisoned():
    code = (f"mov.b32 %r0, 0\nmov.b32 %r1, {idesc(128, 32, a=1, b=1)}\nsetp.eq.u32 %p0, 0, 1\n"
            f"{PLAIN.mnemonic} [%r0], %d, %d, %r1, %p0")
    machine = Machine(np.zeros(8192), np.ones((128, 32)), code, d=descriptor(0, 128, 256))
    assert (machine.run(schedule="late") == 0).all()
    machine.waits = False
    assert (machine.run(schedule="late")[:32] == 0xFFFFFFFF).all()      # the warp of the thread that started it


def told(machine: Machine, message: str) -> None:
    """Both engines tell it alike."""
    errors = []
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match=message) as error:
            args = machine.images[0], machine.cells.copy(), *machine.values.values()
            sim.launch(machine.program(), 1, 128, args, engine=engine)
        errors.append(str(error.value))
    assert errors[0] == errors[1] and "tcgen05.mma" in errors[0]
