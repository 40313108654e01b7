"""Why the table refuses an instruction, and what would do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from pyptx import isa
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import operand_text
from pyptx.isa import Form, Match, Operand, _match, _types

__all__ = ["Problem", "either_of", "no_form", "range_words", "type_problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal. `where` finds the text of the operand it is about."""

    message: str                                            # may hold {operand}
    hint: str | None = None
    where: Callable[[Instruction], str] | None = None

    def text(self, instruction: Instruction) -> str:
        operand = self.where(instruction) if self.where else ""
        return f"{instruction.mnemonic}: {self.message.replace('{operand}', operand)}"


def either_of(words: Iterable[str], limit: int = 12) -> str:
    """ "'.a', '.b' or '.c'"."""
    words = list(words)
    shown = [f"'{w}'" for w in words[:limit]]
    if len(words) > limit:
        return ", ".join(shown) + f" or one of {len(words) - limit} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1] if shown else "nothing"


def range_words(allowed: str) -> str:
    """ "0..15" as "0 to 15", "*16" as "a multiple of 16"."""
    span, _, multiple = allowed.partition("*")
    words = []
    if ".." in span:
        words.append("{} to {}".format(*span.split("..")))
    elif span:
        words.append(" or ".join(span.split("/")))
    if multiple:
        words.append(f"a multiple of {multiple}")
    return ", ".join(words)


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
    expected = [word for word in _match.following(op, words[:bound])]
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
    counts = sorted({n for match in matches for n in _counts(match)})
    syntax = " or ".join(dict.fromkeys(match.form.syntax for match in matches))
    if len(tokens) not in counts:
        wanted = either_of(map(str, counts)).replace("'", "")
        plural = "" if counts == [1] else "s"
        return Problem(f"takes {wanted} operand{plural}, not {len(tokens)}", f"the form is {syntax}")
    usable = [match for match in matches if len(tokens) in _counts(match)]
    for match in usable:
        at = _first_misfit(match, tokens)
        if at is not None:
            wanted = " or ".join(dict.fromkeys(_item_words(m, at, tokens) for m in usable))
            return Problem(f"{{operand}} cannot be operand {at + 1}; expected {wanted}", f"the form is {syntax}",
                           _operand_at(at))
    return Problem("the operands fit no form", f"the form is {syntax}")


def _operand_at(at: int) -> Callable[[Instruction], str]:
    def text(instruction: Instruction) -> str:
        return operand_text(instruction.operands[at])
    return text


def _active(match: Match) -> list:
    present = {"." + word for word in match.choices.values() if word} | {w.text for w in match.form.words}
    return [item for item in match.form.items if not item.condition or (item.condition in present and
            _is_present(match, item.condition))]


def _is_present(match: Match, condition: str) -> bool:
    literal = any(w.text == condition and not w.optional and w.slot is None for w in match.form.words)
    return literal or condition[1:] in match.choices.values()


def _counts(match: Match) -> range:
    items = _active(match)
    required = sum(1 for item in items if not item.optional or item.condition)
    return range(required, len(items) + 1)


def _first_misfit(match: Match, tokens: tuple) -> int | None:
    from pyptx.validate._bind import _fit
    items = _active(match)
    if len(items) != len(tokens):
        optional = [i for i, item in enumerate(items) if item.optional and not item.condition]
        for i in reversed(optional[:len(items) - len(tokens)]):
            del items[i]
    for at, (item, tok) in enumerate(zip(items, tokens, strict=False)):
        if _fit(item.part, tok, (at,), match.form, match.choices) is None:
            return at
    return None


def _item_words(match: Match, at: int, tokens: tuple) -> str:
    items = _active(match)
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
    return operand_words(match.form.operands[part.name], match)


_KIND_WORDS = {"label": "a label", "symbol": "a variable", "function": "a function", "special": "a special register"}


def operand_words(operand: Operand, match: Match) -> str:
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


# types ------------------------------------------------------------------------------------------------------------

_FLOAT_TYPES = frozenset({"f16", "f32", "f64", "bf16", "tf32", "f16x2", "bf16x2", "f32x2"})
_ADDRESS_64, _ADDRESS_32 = frozenset({"b64", "u64", "s64"}), frozenset({"b32", "u32", "s32"})
_ADDRESS_SMALL = frozenset({"b16", "u16", "s16", "b8", "u8", "s8"})         # ptxas takes them, zero-extended


_UNDECLARED = "register {operand} is not declared"
_DECLARE = "declare it in this scope or one around it: reg.scalar(dtype) in Python, .reg in PTX text"


def type_problem(match: Match, leaves: tuple) -> Problem | None:
    """What is wrong with the types of operands that are of the right kind; None when nothing is."""
    form = match.form
    for leaf in leaves:
        operand = form.operands[leaf.name]
        untyped = operand.kind == "vector" and any(tok.__class__ is str and tok[0] == "b" for tok in leaf.tokens)
        for n, tok in enumerate(leaf.tokens):
            problem = _leaf_problem(match, operand, tok, untyped)
            if problem is None and n and operand.kind == "vector":
                problem = _mixed_problem(operand, leaf.tokens[:n], tok)
            if problem is not None:
                hint = _DECLARE if problem is _UNDECLARED else f"the form is {form.syntax}"
                return Problem(problem, hint, _leaf_text(leaf.path, n, len(leaf.tokens)))
    return None


def _kind(register_type: str) -> str:
    return {"u": "int", "s": "int", "b": ""}.get(register_type[0], register_type)


def _mixed_problem(operand: Operand, before: tuple, tok) -> str | None:
    """Elements of a vector must be registers of one width, and of one kind: b goes with every other."""
    if tok.__class__ is tuple or tok not in _types.DECLARABLE:
        return None
    for other in before:
        if other.__class__ is tuple or other not in _types.DECLARABLE:
            continue
        kinds = {_kind(other), _kind(tok)} - {""}
        if _types.DECLARABLE[other] != _types.DECLARABLE[tok] or len(kinds) > 1:
            return f"a vector holds registers of one type; {{operand}} is .{tok}, another of {operand.name} is .{other}"
    return None


def _leaf_text(path: tuple, n: int, count: int) -> Callable[[Instruction], str]:
    def text(instruction: Instruction) -> str:
        from pyptx.validate._bind import _follow
        operand = _follow(instruction.operands, path)
        if count > 1 or type(operand).__name__ == "VectorOperand":
            elements = getattr(operand, "elements", (operand,))
            operand = elements[n] if n < len(elements) else operand
        if hasattr(operand, "base"):
            return operand.base
        return operand_text(operand)
    return text


def _leaf_problem(match: Match, operand: Operand, tok, untyped: bool) -> str | None:
    """`untyped`: the register is in a vector with bN registers, which make ptxas take the whole vector as bits."""
    while tok.__class__ is tuple:
        if tok[0] in ("(", "["):
            return None
        tok = tok[1]
    if tok == "name":
        return None
    if tok == "?":
        return _UNDECLARED
    if operand.kind == "address":
        return _address_problem(match.form, match.choices, operand, tok)
    if operand.kind not in ("register", "vector") or tok in ("_", "%"):
        return None
    type_name = match.form.type_of(operand, match.choices)
    if tok in ("int", "float", "hex"):
        return _number_problem(match, operand, type_name, tok)
    allowed = _types.registers_of(operand.rule_for(type_name), type_name)
    as_bits = untyped and any(t[0] == "b" and _types.DECLARABLE[tok] == _types.DECLARABLE[t] for t in allowed)
    if tok not in allowed and not as_bits:
        wanted = either_of("." + t for t in _ordered(allowed))
        return f"{operand.name} is .{type_name}, which takes {wanted} registers; {{operand}} is .{tok}"
    return None


def _ordered(types: Iterable[str]) -> list[str]:
    return sorted(types, key=lambda t: (_types.DECLARABLE[t], t))


def _number_problem(match: Match, operand: Operand, type_name: str, tok: str) -> str | None:
    if type_name == "pred":
        return None if tok == "int" else "{operand} cannot stand for a predicate; expected 0 or 1"
    if not _types.takes_number(type_name) and not operand.imm_forced and operand.kind != "vector":
        return f"{operand.name} is .{type_name}, for which no number may stand; expected a register"
    if type_name in _FLOAT_TYPES:
        if tok != "int":
            return None
        return f"{{operand}} is an integer, {operand.name} is .{type_name}; write {{operand}}.0"
    if tok == "int":
        return None
    if tok == "hex" and type_name in ("b32", "b64"):
        return None
    return f"{{operand}} is a float, {operand.name} is .{type_name}; expected an integer"


def _address_problem(form: Form, choices: dict, operand: Operand, tok: str) -> str | None:
    if tok == "bad offset":
        return "an address is [register+number]; add registers with add"
    if tok == "name":
        return None
    if tok in ("int", "float", "hex"):
        local = tok == "int" and choices.get("space") == "local"
        return None if local else "{operand} is no address; a number may be one in local memory only"
    wanted = _address_registers(form, choices, operand)
    if tok in wanted:
        return None
    return f"an address takes {either_of('.' + t for t in _ordered(wanted))} registers here; {{operand}} is .{tok}"


_NARROW = ("shared", "local", "const", "param")
_PLAIN = ("load", "store", "atomic", "reduce", "mbarrier", "cache")


def _address_registers(form: Form, choices: dict, operand: Operand) -> frozenset[str]:
    """Registers an address may be in: 64 bits, and 32 where the memory is that small."""
    if operand.type == "addrb32":
        return frozenset({"b32"})
    if operand.type == "addr32":
        return _ADDRESS_32 if form.op.name != "tcgen05.cp" else _ADDRESS_32 | _ADDRESS_64
    if form.effect.startswith(_PLAIN):
        words = (choices.get(w.slot) if w.slot else
                 "" if w.optional and w.text[1:] not in choices.values() else w.text[1:] for w in form.words)
        space = next((word for word in words if word and word.startswith((*_NARROW, "global"))), "")
        if not space.startswith(_NARROW):
            return _ADDRESS_64
    return _ADDRESS_64 | _ADDRESS_32 | _ADDRESS_SMALL
