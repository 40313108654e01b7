"""The PTX instruction set as one table. Everything that knows instructions reads it here.

    OPS["add"].forms                      the syntax lines and their cells
    match("add", (".rn", ".f32"))         the forms a mnemonic is
    complete("add", (".rn",))             what may follow
    hover("add.rn.f32")                   syntax, summary and needs as text
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from pyptx.isa import means, registers, targets
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
    """
    op = OPS.get(opcode)
    return forms_of(op, tuple(modifiers)) if op is not None else ()


def complete(opcode: str, modifiers: tuple[str, ...] = ()) -> list[str]:
    """What may follow a mnemonic, as words with dots, in the order of the manual."""
    op = OPS.get(opcode)
    return list(following(op, tuple(modifiers))) if op is not None else []


@lru_cache(maxsize=1024)
def hover(mnemonic: str) -> str:
    """Syntax lines, summary and needs of a mnemonic, finished or not; "" for an unknown opcode word."""
    opcode, *words = mnemonic.split(".")
    op = OPS.get(opcode)
    if op is None:
        return ""
    words = tuple("." + word for word in words)
    forms = [m.form for m in forms_of(op, words)]
    if not forms:
        known = [form for form in op.forms if form.op.name == mnemonic or form.op.name.startswith(mnemonic + ".")]
        forms = known or list(op.forms)
    rows = dict.fromkeys(form.op for form in forms)
    lines = [f"{mnemonic}: {' '.join(dict.fromkeys(row.summary for row in rows))}"]
    for form in forms[:12]:
        need = " | ".join(filter(None, (n.text for n in form.needs)))
        parts = (form.syntax, f"[{need}]" if need else "", form.means)
        lines.append("    " + "    ".join(filter(None, parts)))
    if len(forms) > 12:
        lines.append(f"    ... and {len(forms) - 12} more forms")
    lines.append("PTX ISA: " + ", ".join(dict.fromkeys(f"#{row.section}" for row in rows)))
    return "\n".join(lines)
