"""Every form of the table with a meaning, over its modifiers and types, gives the same bits on both engines."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from oracle.examples import Example, _tied, mnemonic, statement
from oracle.reader import instruction, type_of
from sim.both import run_both
from sim.text import entry
from sim.text import statement as parse

from pyptx import ir, isa, sim
from pyptx.errors import SimulationError

FORMS = [form for op in isa.OPS.values() for form in op.forms if form.means and op.opcode != "mov"]
LANES = 64
SPECIAL = {16: (0, 0x8000, 1, 0x7FFF, 0xFFFF, 0x3C00, 0x7C00, 0xFC00, 0x7E00, 0x03FF, 0x3F80, 0x7F80, 0x0080, 0x7BFF),
           32: (0, 1 << 31, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
                0x00800000,
                0x007FFFFF, 0x80000001, 0x7F7FFFFF, 31, 32, 33, 0x4F000000, 0x3F7FFFFF, 0x477FE000, 0x43E00000),
           64: (0, 1 << 63, 1, (1 << 63) - 1, (1 << 64) - 1, 0x3FF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48,
                1 << 52, (1 << 52) - 1,
                0x7FEF << 48, 63, 64, 65, 0x43E0 << 48, 0x7FF0000000000001, 0xC1E0000000200000)}


def _values(rng: random.Random, width: int) -> list[int]:
    """Bit patterns that are likely to meet an edge: specials, small numbers, random bits, floats of middle size."""
    near = {16: (10, 15), 32: (23, 127), 64: (52, 1023)}.get(width, (3, 7))
    def one():
        kind = rng.randrange(5)
        if kind == 0 and width in SPECIAL:
            return rng.choice(SPECIAL[width])
        if kind == 1:
            return rng.randrange(64)
        if kind == 2:
            return -rng.randrange(64) & ((1 << width) - 1)
        if kind == 3:
            return (rng.randrange(2) << (width - 1) | (near[1] + rng.randrange(-20,
                20)) << near[0] | rng.getrandbits(near[0])) & ((1 << width) - 1)
        return rng.getrandbits(width)
    return [one() for _ in range(LANES)]


def _examples(form, rng: random.Random, most: int):
    """Choices of the form, all of them when they are few."""
    seen = set()
    for _ in range(4 * most):
        choices = {name: rng.choice([*slot.choices, *([None] if slot.optional else [])]) for name,
                   slot in form.slots.items()}
        choices = _tied(form, choices)
        optional = frozenset(n for n, o in form.operands.items() if o.optional and not o.condition and rng.randrange(2))
        key = mnemonic(form, choices), optional
        if key not in seen:
            seen.add(key)
            yield statement(Example(form, choices, optional))
        if len(seen) >= most:
            return


def _width(type_name: str) -> int:
    return 1 if type_name == "pred" else 32 if type_name == "f16x2" else int(re.search(r"\d+", type_name)[0])


def _program(statements: list[str], rng: random.Random):
    """Each statement on registers loaded from `in`, all of which are stored to `out` afterwards."""
    names = sorted({n for s in statements for n in re.findall(r"%[a-z]\w*_\d+", s)})
    body = [parse(f".reg .{type_of(n)} {n}") for n in names]
    body += map(parse, (".reg .b64 %in", ".reg .b64 %out", ".reg .b32 %w", ".reg .b64 %at", "ld.param.u64 %in, [in]",
                        "ld.param.u64 %out, [out]", "mov.u32 %w, %tid.x", "mul.wide.u32 %at, %w, 8",
                        "add.u64 %in, %in, %at",
                        "add.u64 %out, %out, %at"))
    columns = []
    for text in statements:
        used = sorted(set(re.findall(r"%[a-z]\w*_\d+", text)))
        places = range(len(columns), len(columns) + len(used))
        for name, place in zip(used, places, strict=True):
            width = _width(type_of(name))
            columns.append(_values(rng, max(width, 8)))
            if width == 1:
                body += map(parse, (f"ld.global.u32 %w, [%in+{place * 8 * LANES}]", "and.b32 %w, %w, 1",
                                    f"setp.ne.u32 {name}, %w, 0"))
            else:
                body.append(parse(f"ld.global.b{width} {name}, [%in+{place * 8 * LANES}]"))
        body.append(instruction(text))
        for name, place in zip(used, places, strict=True):
            width = _width(type_of(name))
            if width == 1:
                body += map(parse, (f"selp.u32 %w, 1, 0, {name}", f"st.global.u32 [%out+{place * 8 * LANES}], %w"))
            else:
                body.append(parse(f"st.global.b{width} [%out+{place * 8 * LANES}], {name}"))
    body.append(ir.Instruction("ret"))
    module = entry("", "u64 in, u64 out")
    function = module.functions[0]
    function = ir.Function(True, function.name, function.params, body=tuple(body))
    return ir.Module(module.version, module.target, module.address_size, (function,)), np.array(columns, np.uint64)


def _simulated(text: str) -> bool:
    module, _ = _program([text], random.Random(0))
    try:
        sim.load(module)
    except SimulationError as error:
        assert "is not simulated" in str(error), error
        return False
    return True


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.syntax)
def test_a_form_gives_the_same_bits_on_both_engines(form):
    rng = random.Random(form.syntax)
    statements = [s for s in _examples(form, rng, 24) if "%" in s and "b128" not in s]
    simulated = [s for s in statements if _simulated(s)]
    if not simulated:
        assert re.search(r"\.(rs|oob|pzo|scaled|ue8m0x2|s2f6x2|ue5m3x2|[us][24])\b|x4\b|f32x2\b.*f32x2|\.f32x2\.",
                         " ".join(statements)), statements[0]
        return
    module, columns = _program(simulated, rng)
    out = np.zeros_like(columns)
    run_both(module, 1, LANES, (columns, out))
