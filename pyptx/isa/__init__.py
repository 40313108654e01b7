"""The PTX instruction set as one table. Everything that knows instructions reads it here.

    OPS["add"].forms                      the syntax lines and their cells
    match("add", (".rn", ".f32"))         the forms a mnemonic is
    complete("add", (".rn",))             what may follow
    hover("add.rn.f32")                   syntax, summary and needs as text
"""

from __future__ import annotations

from importlib import import_module

from pyptx.isa import _hover, means, registers, targets
from pyptx.isa._match import Match, following, forms_of
from pyptx.isa._schema import Form, Op, Operand, Slot, TableError, merged

__all__ = ["FAMILIES", "OPS", "Form", "Match", "Op", "Operand", "Slot", "TableError", "complete", "hover", "match",
           "means",
           "registers", "targets"]

FAMILIES = ("integer", "extended", "float", "half", "mixed", "compare", "logic", "move", "convert", "convert_small",
            "address", "load", "store", "cache", "stack", "atomic", "reduction", "multimem", "warp", "barrier",
            "fence", "mbarrier", "async_copy", "bulk_copy", "bulk_reduce", "tensor_copy", "tensormap", "matrix",
            "mma", "mma_sparse", "wmma", "wgmma", "tcgen05", "tcgen05_mma", "control", "cluster", "fabric", "texture",
            "surface", "video")


def _collect() -> dict[str, Op]:
    rows: dict[str, list[Op]] = {}
    for family in FAMILIES:
        for row in import_module(f"pyptx.isa.{family}").op.ops.values():
            rows.setdefault(row.opcode, []).append(row)
    return {opcode: merged(found) for opcode, found in rows.items()}


OPS: dict[str, Op] = _collect()


def match(opcode: str, modifiers: tuple[str, ...]) -> tuple[Match, ...]:
    """The forms `opcode` with these modifiers is; empty when it is none. Modifiers have their dots.

    Several forms share a mnemonic (`cp.async.ca ... , sz` and `..., ignore`); together with its operands it is one.
    Examples:
        >>> for found in match("add", (".rn", ".f32")):
        ...     print(found.form.syntax, found.choices)
        add{.rnd}{.ftz}{.sat}.f32  d, a, b {'rnd': 'rn', 'ftz': None, 'sat': None}
    """
    op = OPS.get(opcode)
    return forms_of(op, tuple(modifiers)) if op is not None else ()


def complete(opcode: str, modifiers: tuple[str, ...] = ()) -> list[str]:
    """What may follow a mnemonic, as words with dots, in the order of the manual.

    Examples:
        >>> complete("add", (".rn",))[:4]
        ['.ftz', '.sat', '.f32', '.f32x2']
    """
    op = OPS.get(opcode)
    return list(following(op, tuple(modifiers))) if op is not None else []


def hover(mnemonic: str) -> str:
    """Syntax lines with choices, types and needs, summary and manual section of a mnemonic, finished or not.

    "" for an unknown opcode word.
    Examples:
        >>> print(hover("bar.warp.sync"))
        bar.warp.sync: Wait for lanes of the warp.
            bar.warp.sync  m    [sm_30 and up, PTX ISA 6.0]
                m: .u32
        PTX ISA: #parallel-synchronization-and-communication-instructions-bar-warp-sync
    """
    op = OPS.get(mnemonic.partition(".")[0])
    return "" if op is None else _hover.hover(op, mnemonic)
