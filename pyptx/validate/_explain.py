"""Why no form of the table is an instruction, and what would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from pyptx import isa
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import operand_text
from pyptx.isa import Match, Operand, _match, _types
from pyptx.validate._align import counts_of, fit, items_of
from pyptx.validate._problem import Problem, either_of, range_words

__all__ = ["no_form"]


def no_form(opcode: str, words: tuple[str, ...], tokens: tuple, matches: tuple[Match, ...]) -> Problem:
    """The problem of an instruction that fits no form."""
    op = isa.OPS.get(opcode)
    if op is None:
        near = get_close_matches(opcode, isa.OPS, 3)
        return Problem("unknown instruction" + (f"; did you mean {either_of(near)}?" if near else ""))
    if not matches:
        return _mnemonic_problem(op, words)
    return _operand_problem(matches, tokens)


def _mnemonic_problem(op: isa.Op, words: tuple[str, ...]) -> Problem:
    bound = 0
    while bound < len(words) and _match.viable(op, words[:bound + 1]):
        bound += 1
    if bound == len(words):
        return Problem(f"not finished; expected {either_of(_match.missing(op, words))}", _nearest(op, words))
    expected = list(_match.following(op, words[:bound]))
    before = words[bound - 1] if bound else op.opcode
    wrong = words[bound]
    if wrong in words[:bound]:
        return Problem(f"'{wrong}' stands twice", _nearest(op, words))
    near = _same_bits(wrong, expected) if wrong in _types.TYPE_WORDS else get_close_matches(wrong, expected, 1, 0.75)
    message = f"'{wrong}' cannot follow '{before}'; expected {either_of(expected)}" if expected else \
        f"'{wrong}' cannot follow '{before}'; nothing can"
    return Problem(message + (f" (did you mean '{near[0]}'?)" if near else ""), _nearest(op, words))


def _same_bits(wrong: str, expected: Sequence[str]) -> list[str]:
    """The type of bits that stands for another one of its size: loads and stores of .bf16 are spelled .b16."""
    bits = f".b{_types.WIDTHS.get(wrong[1:], 0)}"
    return [bits] if bits != wrong and bits in expected else []


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


def _operand_problem(matches: tuple[Match, ...], tokens: tuple) -> Problem:
    counts = sorted({n for match in matches for n in counts_of(items_of(match))})
    syntax = " or ".join(dict.fromkeys(match.form.syntax for match in matches))
    if len(tokens) not in counts:
        wanted = either_of(map(str, counts)).replace("'", "")
        plural = "" if counts == [1] else "s"
        return Problem(f"takes {wanted} operand{plural}, not {len(tokens)}", f"the form is {syntax}")
    usable = [match for match in matches if len(tokens) in counts_of(items_of(match))]
    for match in usable:
        at = _first_misfit(match, tokens)
        if at is not None:
            wanted = " or ".join(dict.fromkeys(_item_words(m, at) for m in usable))
            return Problem(f"{{operand}} cannot be operand {at + 1}; expected {wanted}", f"the form is {syntax}",
                           _operand_at(at))
    return Problem("the operands fit no form", f"the form is {syntax}")


def _operand_at(at: int) -> Callable[[Instruction], str]:
    def text(instruction: Instruction) -> str:
        return operand_text(instruction.operands[at])
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
