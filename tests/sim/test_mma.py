"""mma.sync: every form on both engines, compared with a matrix product in the manual's fragment layout."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracle.examples import examples, supporting_target
from oracle.nodes import instruction
from sim.engines import run_both
from sim.matrices import SIZE, bits_of, place_a, place_b, place_c, random_matrix, values_of
from sim.text import entry
from sim.text import statement as parse
from support.groups import check_each

from pyptx import ir, isa, sim
from pyptx.errors import SimulationError

FORMS = isa.OPS["mma"].forms
LANES = range(32)
_TYPES = frozenset(SIZE) | {"ue8m0", "ue4m3"}


class Case:
    """One statement: its sizes and formats, and the registers of its operands."""

    def __init__(self, example, selector: int | None = None):
        self.text, self.target = example.text, supporting_target(example)
        words = self.text.split()[0].split(".")
        self.words = set(words)
        self.m, self.n, self.k = map(int, re.search(r"\.m(\d+)n(\d+)k(\d+)\.", self.text).groups())
        dense = bool(self.words & {"kind::mxf4", "kind::mxf4nvf4"})
        types = ["fp4" if dense and w == "e2m1" else w for w in words if w in _TYPES]
        self.d, self.a, self.b, self.c = types[:4]
        self.scale_type = types[4] if len(types) > 4 else ""
        self.sparse = "sp" in self.words or "sp::ordered_metadata" in self.words
        self.quad = (self.m, self.n, self.k) == (8, 8, 4) and self.a == "f16"
        self.layouts = [w for w in words if w in ("row", "col")]
        vectors = re.findall(r"\{([^}]*)\}", self.text)
        # the examples reuse registers; give every operand its own
        self.registers, pieces = {}, []
        rest = self.text.split(None, 1)[1].rstrip(";")
        for name, vector in zip("dabc", vectors, strict=False):
            wide = "b64" if self.d == "f64" else "b32"
            names = [f"%{wide}_{name}{i}" for i in range(len(vector.split(",")))]
            self.registers[name] = names
            pieces.append("{" + ", ".join(names) + "}")
        tail = re.sub(r"^(\s*\{[^}]*\},?){4}", "", rest).strip()
        self.selector, self.scales = 0, None
        if self.sparse:
            self.selector = int(re.search(r", (\d+)", tail)[1]) if selector is None else selector
            pieces += ["%b32_e", str(self.selector)]
        if self.scale_type:
            self.blocks = next(
                (int(w[-2]) for w in words if w.startswith("scale_vec")), 1 if self.m and "mxf8" in self.text else 2
            )
            self.scales = {"a": (0, 1), "b": (0, 2)} if self.blocks == 4 else {"a": (2, 1), "b": (0, 3)}
            for side, (byte, thread) in self.scales.items():
                pieces += [f"%b32_s{side}", f"{{{byte}, {thread}}}"]
        self.statement = f"{self.text.split()[0]} {', '.join(pieces)};"


def _pack(columns: list, bits: int) -> np.ndarray:
    """Codes [element][lane] into registers [register][lane]."""
    codes, per = np.array(columns, np.uint64), max(1, 32 // bits)
    found = np.zeros((len(codes) // per, 32), np.uint64)
    for i, row in enumerate(codes):
        found[i // per] |= row << np.uint64(bits * (i % per) % 64)
    return found


def _unpack(rows: np.ndarray, bits: int) -> np.ndarray:
    per = max(1, 32 // bits)
    return np.array(
        [
            rows[i // per] >> np.uint64(bits * (i % per) % 64) & np.uint64((1 << bits) - 1)
            for i in range(len(rows) * per)
        ]
    )


def _elements(case: Case, name: str) -> int:
    return len(case.registers[name]) * max(1, 32 // SIZE[getattr(case, name)])


def quad_place(operand: str, lane: int, i: int, layout: str, wide: bool) -> tuple[int, int]:
    """m8n8k4 of f16, the manual's formulas of each operand."""
    high = 4 if lane >= 16 else 0
    if operand == "a":
        return (lane % 4 + high, i) if layout == "row" else (i % 4 + high, lane % 4)
    if operand == "b":
        return (lane % 4, i + high) if layout == "row" else (i, lane % 4 + high)
    if wide:
        return (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i % 2)
    return lane % 4 + high, i


def _where(case: Case, name: str, lane: int, i: int) -> tuple[int, int, int]:
    """Product (0 but for m8n8k4 of f16), row and column of an element."""
    if case.quad:
        layout = case.layouts["ab".index(name)] if name in "ab" else ""
        return (lane % 16 // 4, *quad_place(name, lane, i, layout, getattr(case, name) == "f32"))
    if name == "a":
        return 0, *place_a(lane, i, case.m, SIZE[case.a])
    return 0, *(place_b(lane, i, SIZE[case.b]) if name == "b" else place_c(lane, i, case.m))


def _registers(case: Case, name: str, matrices: np.ndarray) -> np.ndarray:
    type_name = getattr(case, name)
    codes = bits_of(matrices, type_name)
    columns = [[codes[_where(case, name, lane, i)] for lane in LANES] for i in range(_elements(case, name))]
    return _pack(columns, SIZE[type_name])


def sparsify(rng, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A dense A with its pattern of zeros, what of it is stored, and the metadata register of each lane."""
    pairs = SIZE[case.a] == 4
    span = {"tf32": 2}.get(case.a, 8 if pairs else 4)  # columns one pair of indices describes
    dense, chunks = np.zeros((case.m, case.k)), case.k // span
    stored = random_matrix(rng, case.m, case.k // 2, case.a)
    codes = np.zeros((case.m, chunks), np.uint64)
    for row in range(case.m):
        for chunk in range(chunks):
            if case.a == "tf32":
                which = rng.integers(2)
                dense[row, 2 * chunk + which] = stored[row, chunk]
                codes[row, chunk] = (0b0100, 0b1110)[which]
                continue
            first, second = np.sort(rng.permutation(4)[:2])
            codes[row, chunk] = first | second << 2
            width = 2 if pairs else 1
            for k, index in enumerate((first, second)):
                for j in range(width):
                    dense[row, span * chunk + width * index + j] = stored[row, span // 2 * chunk + width * k + j]
    words = np.zeros(32, np.uint64)
    for lane in LANES:
        group, thread = lane // 4, lane % 4
        for bit in range(8):  # eight fields of four bits
            if chunks == 4:  # all of k in the lane the selector names
                row, chunk, mine = group + 8 * (bit >= 4), bit % 4, thread == case.selector
            elif chunks == 8:  # two lanes, half of k each
                row, chunk, mine = group + 8 * (bit >= 4), bit % 4 + 4 * (thread % 2), thread // 2 == case.selector
            else:  # four lanes: row by bit 0, half of k by bit 1
                row, chunk, mine = group + 8 * (thread % 2), bit + 8 * (thread // 2), True
            code = codes[row, chunk] if mine else rng.integers(16)
            words[lane] |= np.uint64(code) << np.uint64(4 * bit)
    return dense, stored, words


def block_scales(rng, case: Case, lines: int, operand: str) -> tuple[np.ndarray, np.ndarray]:
    """Powers of two (and 1.5 of ue4m3) for each row of A or column of B, and the register of each lane."""
    byte, thread = case.scales[operand]
    words = rng.integers(0, 1 << 32, 32, dtype=np.uint64)
    scales = np.zeros((lines, case.blocks))
    for line in range(lines):
        lane = 4 * (line % 8) + (2 * thread + line // 8 if operand == "a" else thread)
        if operand == "a" and case.blocks != 4:
            lane = 4 * (line % 8) + 2 * thread + line // 8
        for q in range(case.blocks):
            code, scales[line, q] = (
                ((126, 0.5), (127, 1.0), (128, 2.0))[rng.integers(3)]
                if case.scale_type == "ue8m0"
                else ((0x30, 0.5), (0x38, 1.0), (0x3C, 1.5))[rng.integers(3)]
            )
            shift = np.uint64(8 * (byte + q))
            words[lane] = words[lane] & ~(np.uint64(255) << shift) | np.uint64(code) << shift
    return scales, words


def run_case(case: Case, rows: dict[str, np.ndarray], **options) -> np.ndarray:
    """Execute the statement on registers `rows` [register][lane] of each operand; the registers of D."""
    wide = case.d == "f64"
    size, kind = (8, "b64") if wide else (4, "b32")
    body = [
        ".reg .b64 %in",
        ".reg .b64 %out",
        ".reg .b32 %w",
        ".reg .b64 %at",
        "ld.param.u64 %in, [in]",
        "ld.param.u64 %out, [out]",
        "mov.u32 %w, %tid.x",
        f"mul.wide.u32 %at, %w, {size}",
        "add.u64 %in, %in, %at",
        "add.u64 %out, %out, %at",
    ]
    names = {
        "a": case.registers["a"],
        "b": case.registers["b"],
        "c": case.registers["c"],
        "e": ["%b32_e"],
        "sa": ["%b32_sa"],
        "sb": ["%b32_sb"],
    }
    columns = []
    declared = [f".reg .{kind} {r}" for r in case.registers["d"]]
    for name, values in rows.items():
        for register, value in zip(names[name], values, strict=True):
            declared.append(f".reg .{kind} {register}")
            body.append(f"ld.global.{kind} {register}, [%in+{len(columns) * 32 * size}]")
            columns.append(value)
    statements = [parse(line) for line in (*declared, *body)] + [instruction(case.statement)]
    statements += [parse(f"st.global.{kind} [%out+{i * 32 * size}], {r}") for i, r in enumerate(case.registers["d"])]
    shell = entry("", "u64 in, u64 out", target=case.target)
    function = ir.Function(True, "test", shell.functions[0].params, body=(*statements, ir.Instruction("ret")))
    module = ir.Module(shell.version, shell.target, shell.address_size, (function,))
    out = np.zeros((len(case.registers["d"]), 32), np.uint64 if wide else np.uint32)
    run_both(module, 1, 32, (np.array(columns).astype(out.dtype), out), **options)
    return out.astype(np.uint64)


def result_of(case: Case, rows: np.ndarray) -> np.ndarray:
    """D [product][row][column] as f64."""
    values = values_of(_unpack(rows, SIZE[case.d]).astype(np.uint64), case.d).reshape(-1, 32)
    found = np.full((4 if case.quad else 1, case.m, case.n), np.nan)
    for i in range(len(values)):
        for lane in LANES:
            found[_where(case, "d", lane, i)] = values[i, lane]
    return found


def expected(case: Case, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The product in f64 (exact for these values), rounded and wrapped as the format asks."""
    if "xor" in case.words:
        product = a @ (1 - b) + (1 - a) @ b
    else:
        product = a @ b
    total = c + product
    if case.d == "s32":
        if "satfinite" in case.words:
            return np.clip(total, -(2.0**31), 2.0**31 - 1)
        return total.astype(np.int64).astype(np.uint32).view(np.int32).astype(np.float64)
    return total


CASES = [Case(e) for form in FORMS for e in examples(form)]
CASES += [
    Case(e, selector)
    for form in FORMS
    for e in examples(form)
    for name, most in (
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 3),
        ("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32", 3),
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16", 1),
        ("mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8", 1),
    )
    if e.text.startswith(name)
    for selector in range(1, most + 1)
]


KINDS = sorted({(case.k, case.a, case.sparse) for case in CASES})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"k{kind[0]}-{kind[1]}{'-sparse' if kind[2] else ''}")
def test_forms_multiply_the_matrices_of_the_manual(kind, tensor_cores):
    chosen = (case for case in CASES if (case.k, case.a, case.sparse) == kind)
    check_each(
        multiplies_as_the_manual, ((f"{case.text} selector {case.selector}", (case, tensor_cores)) for case in chosen)
    )


def multiplies_as_the_manual(case: Case, tensor_cores: str) -> None:
    rng = np.random.default_rng(len(case.text))
    batch = 4 if case.quad else 1
    a, b, c = (
        np.stack([random_matrix(rng, *size, t) for _ in range(batch)])
        for size, t in (((case.m, case.k), case.a), ((case.k, case.n), case.b), ((case.m, case.n), case.c))
    )
    if case.c == "f16":
        c = np.round(c)
    rows = {}
    stored = a
    if case.sparse:
        dense, kept, words = sparsify(rng, case)
        a, stored, rows["e"] = dense[None], kept[None], words[None]
    rows |= {"a": _registers(case, "a", stored), "b": _registers(case, "b", b), "c": _registers(case, "c", c)}
    scaled_a, scaled_b = a, b
    if case.scale_type:
        sa, rows["sa"] = block_scales(rng, case, case.m, "a")
        sb, rows["sb"] = block_scales(rng, case, case.n, "b")
        rows["sa"], rows["sb"] = rows["sa"][None], rows["sb"][None]
        per = case.k // case.blocks
        scaled_a = a * np.repeat(sa, per, axis=1)
        scaled_b = b * np.repeat(sb, per, axis=1).T
    d = result_of(case, run_case(case, rows, tensor_cores=tensor_cores))
    np.testing.assert_array_equal(d, expected(case, scaled_a, scaled_b, c))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", [Case(next(iter(examples(form)))) for form in FORMS], ids=lambda c: c.text.split()[0])
@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
def test_random_bits_give_the_same_on_both_engines(case, tensor_cores):
    """NaN, infinities, subnormals and results that round included."""
    rng = np.random.default_rng(7)
    for scale in (0, 1):
        rows = {}
        for name in ("a", "b", "c", *(["e"] if case.sparse else []), *(["sa", "sb"] if case.scale_type else [])):
            count = len(case.registers[name]) if name in case.registers else 1
            bits = rng.integers(0, 1 << 64, (count, 32), dtype=np.uint64)
            if scale and name in "abc":  # exponents in the middle: sums that round
                type_name = getattr(case, name)
                values = rng.standard_normal((_elements(case, name), 32))
                if type_name in ("f16", "bf16", "f32", "tf32", "f64"):
                    bits = _pack(list(bits_of(values, type_name)), SIZE[type_name])
            rows[name] = bits if case.d == "f64" else bits & np.uint64(0xFFFFFFFF)
        run_case(case, rows, tensor_cores=tensor_cores)


def test_operations_are_counted():
    case = next(c for c in CASES if "m16n8k16.row.col.f32.bf16" in c.text and not c.sparse)
    operands = "{%f0, %f1, %f2, %f3}, {%b0, %b1, %b2, %b3}, {%b4, %b5}, {%f4, %f5, %f6, %f7}"
    module = entry(
        f"""
        .reg .f32 %f<8>; .reg .b32 %b<8>; .reg .pred %p
        setp.eq.u32 %p, 1, 0
        {case.text.split()[0]} {operands}
        @%p {case.text.split()[0]} {operands}
        ret""",
        "u64 x",
        target="sm_80",
    )
    result = run_both(module, 3, 64, (np.zeros(1, np.uint32),))
    assert result.counters.tensor_flops.tolist() == [0, 6 * 2 * 16 * 8 * 16, 0, 0]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_part_of_a_warp_cannot_multiply(engine):
    case = next(c for c in CASES if "m16n8k16.row.col.f32.bf16" in c.text and not c.sparse)
    module = entry(
        f"""
        .reg .b32 %t; .reg .pred %p
        .reg .f32 %f<8>; .reg .b32 %b<8>
        mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 7
        @%p exit
        {case.text.split()[0]} {{%f0, %f1, %f2, %f3}}, {{%b0, %b1, %b2, %b3}}, {{%b4, %b5}}, {{%f4, %f5, %f6, %f7}}
        ret""",
        "u64 x",
        target="sm_80",
    )
    with pytest.raises(SimulationError, match="with lanes 0xffffff80 only"):
        sim.launch(sim.load(module), 1, 32, (np.zeros(1, np.uint32),), engine=engine)
