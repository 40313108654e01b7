"""Why no form of the table is an instruction, and what would do."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache

from pyptx import isa
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import VectorOperand, operand_text
from pyptx.isa import Match, Operand, _match, _types
from pyptx.validate._align import counts_of, fit, items_of
from pyptx.validate._problem import Problem, either_of, range_words
from pyptx.validate._repair import Repair, by_likeness, completing, longer, repair

__all__ = ["no_form"]

_MANY = 6                               # elements of a vector that are worth printing
_POINTERS = ("b64", "u64", "s64", "b32", "u32", "s32")


def no_form(opcode: str, words: tuple[str, ...], tokens: tuple, matches: tuple[Match, ...]) -> Problem:
    """The problem of an instruction that fits no form."""
    op = isa.OPS.get(opcode)
    if op is None:
        near = get_close_matches(opcode, isa.OPS, 3)
        return Problem("unknown instruction" + (f"; did you mean {either_of(near)}?" if near else ""))
    if not matches:
        return _mnemonic_problem(op, words)
    return _operand_problem(op, words, matches, tokens)


def _mnemonic_problem(op: isa.Op, words: tuple[str, ...]) -> Problem:
    bound = 0
    while bound < len(words) and _match.viable(op, words[:bound + 1]):
        bound += 1
    suspect = min(bound, len(words) - 1)
    change = repair(op, words, suspect, _known(op)) if words else None
    hint = _nearest(op, words) if change is None else _spelled(change)
    if bound == len(words):
        drop = f" (or drop '{words[change.at]}')" if change is not None and change.dropped else ""
        return Problem(f"not finished; expected {either_of(_match.missing(op, words))}{drop}", _nearest(op, words))
    if change is not None and change.dropped and words.count(words[change.at]) > 1:
        return Problem(f"'{words[change.at]}' stands twice", hint)
    if change is not None and not change.dropped and change.at != bound and change.words[change.at] not in words:
        wrong = words[change.at]
        return Problem(f"'{wrong}' does not go with '{''.join(words[:change.at] + words[change.at + 1:])}'; expected "
                       f"{either_of(completing(op, words, change.at, _known(op)))}", hint)
    before, wrong = words[bound - 1] if bound else op.opcode, words[bound]
    expected = [word for word in _match.following(op, words[:bound]) if word != wrong]
    if len(expected) > 12:
        expected = by_likeness(wrong, expected)
    message = f"'{wrong}' cannot follow '{before}'; expected {either_of(expected)}" if expected else \
        f"'{wrong}' cannot follow '{before}'; nothing can"
    if change is not None and change.dropped:
        message += f" (or drop '{words[change.at]}')"
    elif change is not None:
        near = change.words[bound] if change.at == bound else op.opcode + "".join(change.words)
        message += f" (did you mean '{near}'?)"
    return Problem(message, hint)


@cache
def _known(op: isa.Op) -> frozenset[str]:
    """Every word of the op's mnemonics."""
    return frozenset(f".{w.before}{c}{w.after}" if w.slot else w.text for form in op.forms for w in form.words
                     for c in (form.slots[w.slot].choices if w.slot else ("",)))


def _spelled(change: Repair) -> str:
    types = [word for word in change.words if word in _types.TYPE_WORDS]
    return f"{f'for {types[-1]} the' if types else 'the nearest'} form is {change.form.syntax}"


def _nearest(op: isa.Op, words: tuple[str, ...]) -> str | None:
    """The form that knows most of the words; of equals the one for the last type."""
    types = [word for word in words if word in _types.TYPE_WORDS]
    best, score = None, (-1,)
    for form in op.forms:
        spellings = [{f".{w.before}{c}{w.after}" for c in form.slots[w.slot].choices} if w.slot else {w.text}
                     for w in form.words]
        known = set().union(*spellings)
        hits = sum(word in known for word in words)
        missing = sum(not w.optional and spelled.isdisjoint(words)
                      for w, spelled in zip(form.words, spellings, strict=True))
        this = (bool(types) and types[-1] in known, hits, -missing)
        if this > score:
            best, score = form, this
    if best is None:
        return None
    return f"for {types[-1]} the form is {best.syntax}" if types and score[0] else f"the nearest form is {best.syntax}"


def _operand_problem(op: isa.Op, words: tuple[str, ...], matches: tuple[Match, ...], tokens: tuple) -> Problem:
    counts = sorted({n for match in matches for n in counts_of(items_of(match))})
    syntax = " or ".join(dict.fromkeys(match.form.syntax for match in matches))
    if len(tokens) not in counts:
        wanted = either_of(map(str, counts)).replace("'", "")
        plural = "" if counts == [1] else "s"
        hint = f"the form is {syntax}"
        if other := longer(op, words, len(tokens), _known(op)):
            hint += f"; {other} takes {len(tokens)}"
        return Problem(f"takes {wanted} operand{plural}, not {len(tokens)}", hint)
    usable = [match for match in matches if len(tokens) in counts_of(items_of(match))]
    for match in usable:
        at = _first_misfit(match, tokens)
        if at is not None:
            wanted = " or ".join(dict.fromkeys(_item_words(m, at) for m in usable))
            how = _HOW["["] if wanted.startswith("an address") and tokens[at] in _POINTERS else \
                _HOW["%"] if tokens[at] == "%" and "register" in wanted else ""
            return Problem(f"{{operand}} cannot be operand {at + 1}; expected {wanted}{how}", f"the form is {syntax}",
                           _operand_at(at))
    return Problem("the operands fit no form", f"the form is {syntax}")


_HOW = {"[": "; write it in brackets, in Python ptx.addr(register)",
        "%": "; a special register is read with mov, in Python reg.from_(register, dtype)"}


def _operand_at(at: int) -> Callable[[Instruction], str]:
    def text(instruction: Instruction) -> str:
        operand = instruction.operands[at]
        elements = getattr(operand, "elements", ())
        if isinstance(operand, VectorOperand) and len(elements) > _MANY:
            return f"a vector of {len(elements)}, {{{operand_text(elements[0])}, ..., {operand_text(elements[-1])}}},"
        return operand_text(operand)
    return text


def _first_misfit(match: Match, tokens: tuple) -> int | None:
    items = items_of(match)
    if len(items) != len(tokens):
        optional = [i for i, item in enumerate(items) if item.optional and not item.condition]
        for i in reversed(optional[:len(items) - len(tokens)]):
            del items[i]
    for at, (item, tok) in enumerate(zip(items, tokens, strict=False)):
        if fit(item.part, tok, (at,), match.form, match.choices) is None:
            return at
    return None


def _item_words(match: Match, at: int) -> str:
    items = items_of(match)
    return _part_words(items[min(at, len(items) - 1)].part, match)


def _part_words(part, match: Match) -> str:
    if part.kind == "vector":
        if not part.count:
            return "{" + ", ".join(p.name for p in part.parts) + "}"
        operand = match.form.operands[part.parts[0].name]
        return f"a vector of {match.form.count(operand, match.choices)} .{match.form.type_of(operand, match.choices)}"
    if part.kind == "address":
        return "an address [" + ", ".join(p.name or _part_words(p, match) for p in part.parts) + "]" + part.suffix
    if part.kind == "pair":
        return _part_words(part.parts[0], match) + " | " + _part_words(part.parts[1], match)
    if part.kind == "list":
        return "a parenthesised list"
    if part.kind == "literal":
        return f"'{part.name}'"
    return _operand_words(match.form.operands[part.name], match)


_KIND_WORDS = {"label": "a label", "symbol": "a variable", "function": "a function", "special": "a special register"}


def _operand_words(operand: Operand, match: Match) -> str:
    """What an operand of this form is: "a .f32 register or number"."""
    if operand.kind in _KIND_WORDS:
        return _KIND_WORDS[operand.kind]
    if operand.kind == "imm":
        if operand.values == "float":
            return "a float"
        return "a number" + (f", {range_words(operand.values)}" if operand.values else "")
    type_name = match.form.type_of(operand, match.choices)
    words = "a predicate" if type_name == "pred" else f"a .{type_name} register"
    if operand.imm and type_name != "pred" and _types.takes_number(type_name):
        words += " or number"
    if not operand.bare:
        words += f" with a selector such as '.{operand.selectors[-1]}'"
    return words
