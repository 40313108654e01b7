"""Help text of a mnemonic, for help(), IPython's `?` and editors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pyptx.isa._form import Form, Operand
from pyptx.isa._match import forms_of, partial_forms
from pyptx.isa._schema import Op

__all__ = ["hover"]

_MAX_FORMS, _MAX_CHOICES = 12, 14
_KINDS = {
    "label": "label",
    "symbol": "name of a variable",
    "function": "function",
    "special": "special register",
    "list": "list",
}


@lru_cache(maxsize=1024)
def hover(op: Op, mnemonic: str) -> str:
    """Return the summary, each form that starts with the mnemonic, and the section of the manual.

    A form is shown with its syntax line, needs and semantics; below it the choices of its slots and the types of its
    operands.
    """
    words = tuple("." + word for word in mnemonic.split(".")[1:])
    forms = [match.form for match in forms_of(op, words)] or list(partial_forms(op, words)) or list(op.forms)
    rows = dict.fromkeys(form.op for form in forms)
    lines = [f"{mnemonic}: {' '.join(dict.fromkeys(row.summary for row in rows))}"]
    for form in forms[:_MAX_FORMS]:
        lines.append("    " + "    ".join(filter(None, (form.syntax, _needs(form), form.semantics))))
        lines += [f"        {detail}" for detail in _details(form)]
    if len(forms) > _MAX_FORMS:
        lines.append(f"    ... and {len(forms) - _MAX_FORMS} more forms; spell more of the mnemonic to see them")
    lines.append("PTX ISA: " + ", ".join(dict.fromkeys(f"#{row.section}" for row in rows)))
    return "\n".join(lines)


def _needs(form: Form) -> str:
    text = " or ".join(filter(None, (_needs_text(n.text) for n in form.needs)))
    return f"[{text}]" if text else ""


def _needs_text(text: str) -> str:
    """Format "sm_90 ptx_78" as "sm_90 and up, PTX ISA 7.8"."""
    words = []
    for word in text.removeprefix("=").split():
        if word.startswith("ptx_"):
            words.append(f"PTX ISA {word[4:-1]}.{word[-1]}")
        elif word.startswith("sm_"):
            words.append(word.replace("..", " to sm_") if ".." in word else f"{word} and up")
        else:
            words.append(f"sm_{word.removesuffix('*')}{' and its family' if word[-1] == '*' else ''}")
    return ", ".join(words)


def _details(form: Form) -> Iterator[str]:
    """Yield the choices of the slots and the types of the operands."""
    slots: list[str] = []
    for word in form.words:
        if word.slot is not None and word.slot not in slots:
            slots.append(word.slot)
            choices = form.slots[word.slot].choices
            dot = "" if word.before or word.after else "."
            shown = [dot + choice for choice in choices]
            if len(shown) > _MAX_CHOICES:
                shown = [*shown[: _MAX_CHOICES - 2], "...", shown[-1]]
            yield f"{word.slot}: {' '.join(shown)}"
    operands: dict[str, list[str]] = {}
    for operand in form.operands.values():
        operands.setdefault(_operand_text(operand), []).append(operand.name)
    known = [f"{', '.join(names)}: {what}" for what, names in operands.items() if what]
    if known:
        yield ";  ".join(known)


def _operand_text(operand: Operand) -> str:
    if operand.kind in _KINDS:
        return _KINDS[operand.kind]
    if operand.kind == "address":
        return "address" if operand.type == "addr" else "32-bit address"
    values = f" in {operand.values}" if operand.values not in ("", "float") else ""
    if operand.kind == "imm":
        return "float" if operand.values == "float" else "number" + values.replace(" in *", ", a multiple of ")
    type_name = operand.type
    dotted = "predicate" if type_name == "pred" else f".{type_name}"
    number = " or number" if operand.imm and values else ""
    selector = "" if operand.bare else " with a selector"
    return dotted + number + values.replace(" in *", ", a multiple of ") + selector
