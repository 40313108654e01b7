"""Error messages for instructions that match no form, with a suggested fix."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache

from pyptx import isa
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import VectorOperand, operand_text
from pyptx.isa import Match, Operand, _match, _types
from pyptx.isa._syntax import Part
from pyptx.validate._fixits import FixIt, by_similarity, extended_mnemonic, find_fixit, replacements
from pyptx.validate._messages import Problem, alternatives_text, range_text
from pyptx.validate._operand_kinds import Kind
from pyptx.validate._operand_matching import expected_items, match_part, operand_counts

__all__ = ["mnemonic_problem", "no_matching_form"]

_MAX_ELEMENTS = 6  # longer vectors are abbreviated
_POINTERS = ("b64", "u64", "s64", "b32", "u32", "s32")


def no_matching_form(
    opcode: str, words: tuple[str, ...], kinds: tuple[Kind, ...], matches: tuple[Match, ...]
) -> Problem:
    """Return the problem of an instruction that matches no form.

    Args:
        matches: the forms that match the mnemonic.
    """
    if len(words) > _match.MAX_MODIFIERS:
        return Problem(f"has {len(words):,} modifiers; an instruction has at most {_match.MAX_MODIFIERS}")
    op = isa.op_of(opcode)
    if op is None:
        near = get_close_matches(opcode, isa.OPS, 3)
        return Problem("unknown instruction" + (f"; did you mean {alternatives_text(near)}?" if near else ""))
    if not matches:
        return _mnemonic_problem(op, words)
    return _operand_problem(op, words, matches, kinds)


def mnemonic_problem(opcode: str, words: tuple[str, ...]) -> Problem | None:
    """Return the problem of a mnemonic that no instruction has, whatever its operands; None for a valid one."""
    matches = isa.match(opcode, words) if len(words) <= _match.MAX_MODIFIERS else ()
    return None if matches else no_matching_form(opcode, words, (), ())


def _mnemonic_problem(op: isa.Op, words: tuple[str, ...]) -> Problem:
    bound = 0
    while bound < len(words) and _match.viable(op, words[: bound + 1]):
        bound += 1
    suspect = min(bound, len(words) - 1)
    change = find_fixit(op, words, suspect, _known(op)) if words else None
    hint = _nearest(op, words) if change is None else _spelled(change)
    if bound == len(words):
        drop = f" (or drop '{words[change.at]}')" if change is not None and change.dropped else ""
        return Problem(
            f"incomplete mnemonic; expected {alternatives_text(_match.missing(op, words))}{drop}", _nearest(op, words)
        )
    if change is not None and change.dropped and words.count(words[change.at]) > 1:
        return Problem(f"'{words[change.at]}' is repeated", hint)
    if change is not None and not change.dropped and change.at != bound and change.words[change.at] not in words:
        wrong = words[change.at]
        return Problem(
            f"'{wrong}' cannot be combined with '{''.join(words[: change.at] + words[change.at + 1 :])}'; expected "
            f"{alternatives_text(replacements(op, words, change.at, _known(op)))}",
            hint,
        )
    before, wrong = words[bound - 1] if bound else op.opcode, words[bound]
    expected = [word for word in _match.following(op, words[:bound]) if word != wrong]
    if len(expected) > 12:
        expected = by_similarity(wrong, expected)
    message = (
        f"'{wrong}' cannot follow '{before}'; expected {alternatives_text(expected)}"
        if expected
        else f"'{wrong}' cannot follow '{before}'; no modifier can"
    )
    if change is not None and change.dropped:
        message += f" (or drop '{words[change.at]}')"
    elif change is not None:
        near = change.words[bound] if change.at == bound else op.opcode + "".join(change.words)
        message += f" (did you mean '{near}'?)"
    return Problem(message, hint)


@cache
def _known(op: isa.Op) -> frozenset[str]:
    """Return every modifier of the opcode, with its dot."""
    return frozenset(
        f".{w.before}{c}{w.after}" if w.slot else w.text
        for form in op.forms
        for w in form.words
        for c in (form.slots[w.slot].choices if w.slot else ("",))
    )


def _spelled(change: FixIt) -> str:
    types = [word for word in change.words if word in _types.TYPE_WORDS]
    return f"{f'for {types[-1]} the' if types else 'the nearest'} form is {change.form.syntax}"


def _nearest(op: isa.Op, words: tuple[str, ...]) -> str | None:
    """Return a hint with the form that has the last type and most of the modifiers."""
    types = [word for word in words if word in _types.TYPE_WORDS]
    best, score = None, (False, -1, 0)
    for form in op.forms:
        spellings = [
            {f".{w.before}{c}{w.after}" for c in form.slots[w.slot].choices} if w.slot else {w.text} for w in form.words
        ]
        known = set[str]().union(*spellings)
        hits = sum(word in known for word in words)
        missing = sum(
            not w.optional and spelled.isdisjoint(words) for w, spelled in zip(form.words, spellings, strict=True)
        )
        this = (bool(types) and types[-1] in known, hits, -missing)
        if this > score:
            best, score = form, this
    if best is None:
        return None
    return f"for {types[-1]} the form is {best.syntax}" if types and score[0] else f"the nearest form is {best.syntax}"


def _operand_problem(
    op: isa.Op, words: tuple[str, ...], matches: tuple[Match, ...], kinds: tuple[Kind, ...]
) -> Problem:
    counts = sorted({n for match in matches for n in operand_counts(expected_items(match))})
    syntax = " or ".join(dict.fromkeys(match.form.syntax for match in matches))
    if len(kinds) not in counts:
        wanted = alternatives_text(map(str, counts)).replace("'", "")
        plural = "" if counts == [1] else "s"
        hint = f"the form is {syntax}"
        if other := extended_mnemonic(op, words, len(kinds), _known(op)):
            hint += f"; {other} takes {len(kinds)}"
        return Problem(f"takes {wanted} operand{plural}, not {len(kinds)}", hint)
    usable = [match for match in matches if len(kinds) in operand_counts(expected_items(match))]
    for match in usable:
        at = _first_misfit(match, kinds)
        if at is not None:
            wanted = " or ".join(dict.fromkeys(_item_text(m, at) for m in usable))
            fix = ""
            if wanted.startswith("an address") and kinds[at] in _POINTERS:
                fix = "; write it in brackets, in Python ptx.addr(register)"
            elif kinds[at] == "%" and "register" in wanted:
                fix = "; read a special register with mov, in Python reg.from_(register, dtype)"
            return Problem(
                f"{{operand}} cannot be operand {at + 1}; expected {wanted}{fix}",
                f"the form is {syntax}",
                _text_of(at),
            )
    return Problem("the operands match no form", f"the form is {syntax}")


def _text_of(at: int) -> Callable[[Instruction], str]:
    def text(instruction: Instruction) -> str:
        operand = instruction.operands[at]
        if isinstance(operand, VectorOperand) and len(operand.elements) > _MAX_ELEMENTS:
            first, last = operand_text(operand.elements[0]), operand_text(operand.elements[-1])
            return f"a vector of {len(operand.elements)}, {{{first}, ..., {last}}},"
        return operand_text(operand)

    return text


def _first_misfit(match: Match, kinds: tuple[Kind, ...]) -> int | None:
    items = expected_items(match)
    if len(items) != len(kinds):
        optional = [i for i, item in enumerate(items) if item.optional and not item.condition]
        for i in reversed(optional[: len(items) - len(kinds)]):
            del items[i]
    for at, (item, given) in enumerate(zip(items, kinds, strict=False)):
        if match_part(item.part, given, (at,), match.form, match.choices) is None:
            return at
    return None


def _item_text(match: Match, at: int) -> str:
    items = expected_items(match)
    return _part_text(items[min(at, len(items) - 1)].part, match)


def _part_text(part: Part, match: Match) -> str:
    if part.kind == "vector":
        if not part.count:
            return "{" + ", ".join(p.name for p in part.parts) + "}"
        operand = match.form.operands[part.parts[0].name]
        return f"a vector of {match.form.count(operand, match.choices)} .{match.form.type_of(operand, match.choices)}"
    if part.kind == "address":
        return "an address [" + ", ".join(p.name or _part_text(p, match) for p in part.parts) + "]" + part.suffix
    if part.kind == "pair":
        return _part_text(part.parts[0], match) + " | " + _part_text(part.parts[1], match)
    if part.kind == "list":
        return "a parenthesized list"
    if part.kind == "literal":
        return f"'{part.name}'"
    return _operand_text(match.form.operands[part.name], match)


_KIND_TEXT = {"label": "a label", "symbol": "a variable", "function": "a function", "special": "a special register"}


def _operand_text(operand: Operand, match: Match) -> str:
    """Describe an operand of a form, as in "a .f32 register or number"."""
    if operand.kind in _KIND_TEXT:
        return _KIND_TEXT[operand.kind]
    if operand.kind == "imm":
        if operand.values == "float":
            return "a float"
        return "a number" + (f", {range_text(operand.values)}" if operand.values else "")
    type_name = match.form.type_of(operand, match.choices)
    words = "a predicate" if type_name == "pred" else f"a .{type_name} register"
    if operand.imm and type_name != "pred" and _types.takes_number(type_name):
        words += " or number"
    if not operand.bare:
        words += f" with a selector such as '.{operand.selectors[-1]}'"
    return words
