"""Mutations of valid statements."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from pyptx import isa
from pyptx.isa import Form, _types

__all__ = ["mutations"]

NUMBERS = ("0", "1", "-1", "2", "3", "7", "16", "32", "255", "4096", "0x10", "1.5", "0f3F800000")


def words_of(op: isa.Op) -> list[str]:
    """Return all modifiers of an op."""
    found = {w.text for f in op.forms for w in f.words if not w.slot}
    found |= {f".{w.before}{c}{w.after}" for f in op.forms for w in f.words if w.slot for c in f.slots[w.slot].choices}
    return sorted(found)


def mutations(text: str, form: Form, rng: random.Random, count: int) -> Iterator[str]:
    """Yield `count` mutations of a statement: a modifier or an operand dropped, added, replaced or moved."""
    mnemonic, _, rest = text.rstrip(";").partition(" ")
    opcode, *words = mnemonic.split(".")
    known = words_of(isa.OPS[opcode]) or [".f32"]
    makers = [
        _drop_word,
        _add_word,
        _replace_word,
        _swap_words,
        _other_register,
        _number,
        _drop_operand,
        _double_operand,
    ]
    for _ in range(count):
        maker = rng.choice(makers)
        new_words, new_rest = maker(list(words), rest, known, rng)
        yield ".".join([opcode, *new_words]) + " " + new_rest + ";"


def _drop_word(words, rest, known, rng):
    if words:
        del words[rng.randrange(len(words))]
    return words, rest


def _add_word(words, rest, known, rng):
    words.insert(rng.randrange(len(words) + 1), rng.choice(known)[1:])
    return words, rest


def _replace_word(words, rest, known, rng):
    if words:
        words[rng.randrange(len(words))] = rng.choice(known)[1:]
    return words, rest


def _swap_words(words, rest, known, rng):
    if len(words) > 1:
        at = rng.randrange(len(words) - 1)
        words[at], words[at + 1] = words[at + 1], words[at]
    return words, rest


_REGISTER = re.compile(r"%([a-z]+\d*(?:x2)?)_(\d+)")


def _other_register(words, rest, known, rng):
    found = [
        m for m in _REGISTER.finditer(rest) if rest[m.start() - 1 : m.start()] != "["
    ]  # the base of an address is not replaced
    if found:
        one = rng.choice(found)
        kind = rng.choice(sorted(_types.DECLARABLE))
        rest = f"{rest[: one.start()]}%{kind}_{one[2]}{rest[one.end() :]}"
    return words, rest


def _number(words, rest, known, rng):
    found = [m for m in re.finditer(r"%[a-z]+\d*(?:x2)?_\d+|(?<![\w%.])\d+(?![\w.])", rest)]
    if found:
        one = rng.choice(found)
        rest = rest[: one.start()] + rng.choice(NUMBERS) + rest[one.end() :]
    return words, rest


def _operands(rest: str) -> list[str]:
    from oracle.nodes import _split

    return _split(rest)


def _drop_operand(words, rest, known, rng):
    parts = _operands(rest)
    if parts:
        del parts[rng.randrange(len(parts))]
    return words, ", ".join(parts)


def _double_operand(words, rest, known, rng):
    parts = _operands(rest)
    if parts:
        parts.insert(rng.randrange(len(parts)), rng.choice(parts))
    return words, ", ".join(parts)
