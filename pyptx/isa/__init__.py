"""The PTX instruction set as a table, the only list of opcodes in pyptx.

    op_of("add").forms                    forms of an opcode: syntax lines with their cells
    OPCODES                               names of all opcodes
    OPS                                   all opcodes with their forms
    match("add", (".rn", ".f32"))         forms that match a mnemonic
    complete("add", (".rn",))             modifiers that may follow a partial mnemonic
    hover("add.rn.f32")                   syntax, summary and needs as text
"""

from __future__ import annotations

from collections.abc import KeysView
from itertools import chain
from typing import TYPE_CHECKING

from pyptx.isa import registers, semantics, targets
from pyptx.isa._cheaper import Cheaper, cheaper_forms
from pyptx.isa._families_of import FAMILIES_OF
from pyptx.isa._match import Match, following, forms_of
from pyptx.isa._schema import Form, Op, Operand, Slot, TableError, form_needs, satisfied_needs
from pyptx.isa._table import FAMILIES, all_ops, op_of, ops_with

__all__ = ["FAMILIES", "OPCODES", "OPS", "Cheaper", "Form", "Match", "Op", "Operand", "Slot", "TableError", "cheaper", "complete", "form_needs", "hover",
           "match", "op_of", "registers", "satisfied_needs", "semantics", "targets"]

OPCODES: KeysView[str] = FAMILIES_OF.keys()

if TYPE_CHECKING:
    OPS: dict[str, Op]
else:

    def __getattr__(name):
        """Return the whole table: `op_of` imports the families of one opcode only, which tracing a kernel takes."""
        if name != "OPS":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()["OPS"] = all_ops()
        return globals()["OPS"]


def match(opcode: str, modifiers: tuple[str, ...]) -> tuple[Match, ...]:
    """Return the forms that match an opcode with these modifiers (with dots); empty without a match.

    Several forms may share a mnemonic (`cp.async.ca ... , sz` and `..., ignore`); the operands select one of them.

    Examples:
        >>> for found in match("add", (".rn", ".f32")):
        ...     print(found.form.syntax, found.choices)
        add{.rnd}{.ftz}{.sat}.f32  d, a, b {'rnd': 'rn', 'ftz': None, 'sat': None}
    """
    modifiers = tuple(modifiers)
    found = [forms_of(op, modifiers) for op in ops_with(opcode, modifiers)]
    return found[0] if len(found) == 1 else tuple(chain.from_iterable(found))


def cheaper(opcode: str, modifiers: tuple[str, ...]) -> tuple[Cheaper, ...]:
    """Return forms of an instruction with fewer machine instructions, each with what it gives up.

    Examples:
        >>> for found in cheaper("div", (".rn", ".f32")):
        ...     print(found.mnemonic, "-", found.price)
        div.full.f32 - at most 2 ulp off
        div.approx.f32 - at most 2 ulp off, and 0 for divisors above 2^126
    """
    op = op_of(opcode)
    return cheaper_forms(op, tuple(modifiers)) if op is not None else ()


def complete(opcode: str, modifiers: tuple[str, ...] = ()) -> list[str]:
    """Return the modifiers that may follow a partial mnemonic, with dots, in the order of the manual.

    Examples:
        >>> complete("add", (".rn",))[:4]
        ['.ftz', '.sat', '.f32', '.f32x2']
    """
    op = op_of(opcode)
    return list(following(op, tuple(modifiers))) if op is not None else []


def hover(mnemonic: str) -> str:
    """Return the help text of a complete or partial mnemonic; "" for an unknown opcode.

    It contains the summary, syntax lines with choices, types and needs, and the section of the manual.

    Examples:
        >>> print(hover("bar.warp.sync"))
        bar.warp.sync: Wait for lanes of the warp.
            bar.warp.sync  m    [sm_30 and up, PTX ISA 6.0]
                m: .u32
        PTX ISA: #parallel-synchronization-and-communication-instructions-bar-warp-sync
    """
    op = op_of(mnemonic.partition(".")[0])
    if op is None:
        return ""
    from pyptx.isa import _hover  # imported late to keep `import pyptx` fast

    return _hover.hover(op, mnemonic)
