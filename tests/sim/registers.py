"""Kernels of register-only statements: load the inputs, run each statement once, store every register."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from oracle.examples import Example, _tied, mnemonic, statement
from oracle.nodes import instruction, type_of
from sim.text import entry
from sim.text import statement as parse

from pyptx import ir

__all__ = ["LANES", "Stored", "program_of", "some_examples", "values", "width_of"]

VERSION = ir.Version(9, 0)
LANES = 64
SPECIAL = {
    16: (0, 0x8000, 1, 0x7FFF, 0xFFFF, 0x3C00, 0x7C00, 0xFC00, 0x7E00, 0x03FF, 0x3F80, 0x7F80, 0x0080, 0x7BFF),
    32: (
        0,
        1 << 31,
        1,
        0x7FFFFFFF,
        0xFFFFFFFF,
        0x3F800000,
        0xBF800000,
        0x7F800000,
        0xFF800000,
        0x7FC00000,
        0x00800000,
        0x007FFFFF,
        0x80000001,
        0x7F7FFFFF,
        31,
        32,
        33,
        0x4F000000,
        0x3F7FFFFF,
        0x477FE000,
        0x43E00000,
    ),
    64: (
        0,
        1 << 63,
        1,
        (1 << 63) - 1,
        (1 << 64) - 1,
        0x3FF << 52,
        0x7FF << 52,
        0xFFF << 52,
        0x7FF8 << 48,
        1 << 52,
        (1 << 52) - 1,
        0x7FEF << 48,
        63,
        64,
        65,
        0x43E0 << 48,
        0x7FF0000000000001,
        0xC1E0000000200000,
    ),
}


def values(rng: random.Random, width: int) -> list[int]:
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
            sign, exponent = rng.randrange(2) << (width - 1), near[1] + rng.randrange(-20, 20)
            return (sign | exponent << near[0] | rng.getrandbits(near[0])) & ((1 << width) - 1)
        return rng.getrandbits(width)

    return [one() for _ in range(LANES)]


def some_examples(form, rng: random.Random, most: int):
    """Choices of the form, all of them when they are few."""
    seen = set()
    for _ in range(4 * most):
        choices = {
            name: rng.choice([*slot.choices, *([None] if slot.optional else [])]) for name, slot in form.slots.items()
        }
        choices = _tied(form, choices)
        optional = frozenset(n for n, o in form.operands.items() if o.optional and not o.condition and rng.randrange(2))
        key = mnemonic(form, choices), optional
        if key not in seen:
            seen.add(key)
            yield statement(Example(form, choices, optional))
        if len(seen) >= most:
            return


def width_of(type_name: str) -> int:
    return 1 if type_name == "pred" else 32 if type_name == "f16x2" else int(re.search(r"\d+", type_name)[0])


@dataclass(frozen=True)
class Stored:
    """A register behind a statement: number of the statement, name, width in bits, and its column."""

    statement: int
    name: str
    width: int
    column: int


def program_of(
    statements: Sequence[str],
    rng: random.Random,
    *,
    name: str = "test",
    target: str = "sm_100a",
    version: ir.Version = VERSION,
    column: Callable[[str, str, int], list[int] | None] = lambda *_: None,
) -> tuple[ir.Module, np.ndarray, list[Stored]]:
    """Each statement on registers loaded from `in`, all of which are stored to `out` afterwards.

    Args:
        column: (statement, register, width) -> the values of the lanes; None: `values`.
    Returns:
        the module, columns of LANES values (u64), one for each register of each statement, and what they are of.
    """
    names = sorted({n for s in statements for n in re.findall(r"%[a-z]\w*_\d+", s)})
    body = [parse(f".reg .{type_of(n)} {n}") for n in names]
    body += map(
        parse,
        (
            ".reg .b64 %in",
            ".reg .b64 %out",
            ".reg .b32 %w",
            ".reg .b64 %at",
            "ld.param.u64 %in, [in]",
            "ld.param.u64 %out, [out]",
            "mov.u32 %w, %tid.x",
            "mul.wide.u32 %at, %w, 8",
            "add.u64 %in, %in, %at",
            "add.u64 %out, %out, %at",
        ),
    )
    columns: list[list[int]] = []
    stored: list[Stored] = []
    for number, text in enumerate(statements):
        own = [
            Stored(number, used, width_of(type_of(used)), len(columns) + k)
            for k, used in enumerate(sorted(set(re.findall(r"%[a-z]\w*_\d+", text))))
        ]
        for one in own:
            width = max(one.width, 8)
            columns.append(column(text, one.name, width) or values(rng, width))
            if one.width == 1:
                body += map(
                    parse,
                    (
                        f"ld.global.u32 %w, [%in+{one.column * 8 * LANES}]",
                        "and.b32 %w, %w, 1",
                        f"setp.ne.u32 {one.name}, %w, 0",
                    ),
                )
            else:
                body.append(parse(f"ld.global.b{one.width} {one.name}, [%in+{one.column * 8 * LANES}]"))
        body.append(instruction(text))
        for one in own:
            to = f"[%out+{one.column * 8 * LANES}]"
            if one.width == 1:
                body += map(parse, (f"selp.u32 %w, 1, 0, {one.name}", f"st.global.u32 {to}, %w"))
            else:
                body.append(parse(f"st.global.b{one.width} {to}, {one.name}"))
        stored += own
    body.append(ir.Instruction("ret"))
    shell = entry("", "u64 in, u64 out", target=target)
    function = ir.Function(True, name, shell.functions[0].params, body=tuple(body))
    return ir.Module(version, shell.target, shell.address_size, (function,)), np.array(columns, np.uint64), stored
