"""A mnemonic that one change makes a form: the change a mistake most likely needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from pyptx import isa
from pyptx._value import value
from pyptx.isa import _match, _types
from pyptx.validate._align import counts_of, items_of

__all__ = ["Repair", "by_likeness", "completing", "longer", "repair"]

_SURPLUS, _STRANGE, _SWAPPED, _LEAST = 0.75, 0.4, 0.9, 0.55
_DIGITS = re.compile(r"\d+")


@value
class Repair:
    """What is changed: the word at `at` is dropped, or another stands there.

    Attributes:
        words: the mnemonic afterwards.    form: what it is then.
    """

    at: int
    words: tuple[str, ...]
    form: isa.Form
    dropped: bool = False


def likeness(one: str, other: str) -> float:
    """How much two words look alike, 0 to 1: most where only numbers differ, by little."""
    if _DIGITS.sub("#", one) == _DIGITS.sub("#", other):
        apart = sum(abs(int(a) - int(b)) for a, b in zip(_DIGITS.findall(one), _DIGITS.findall(other), strict=True))
        return 0.9 + 0.09 / (1 + apart)
    return SequenceMatcher(None, one, other).ratio()


def by_likeness(wrong: str, words: Iterable[str]) -> list[str]:
    """The words, those that look most like the wrong one first."""
    return sorted(words, key=lambda word: -likeness(wrong, word))


def repair(op: isa.Op, words: tuple[str, ...], suspect: int, known: frozenset[str]) -> Repair | None:
    """The likeliest single change that makes the mnemonic a form; None when there is none that is likely.

    Args:
        suspect: the word that is wrong when the mnemonic is read from the left.    known: every word of the op.
    """
    best, most = None, _LEAST
    for score, change in _changes(op, words, suspect, known):
        if score > most:
            matches = _match.forms_of(op, change.words)
            if matches:
                best, most = Repair(change.at, change.words, matches[0].form, change.dropped), score
    return best


@value
class _Change:
    at: int
    words: tuple[str, ...]
    dropped: bool = False


def _changes(op: isa.Op, words: tuple[str, ...], suspect: int,
             known: frozenset[str]) -> Iterator[tuple[float, _Change]]:
    for at, word in enumerate(words):
        before, after = words[:at], words[at + 1:]
        if word not in _types.TYPE_WORDS:
            yield _SURPLUS if word in known else _STRANGE, _Change(at, before + after, True)
        if after and after[0] != word and not {word, after[0]} <= _types.TYPE_WORDS:
            yield _SWAPPED, _Change(at, (*before, after[0], word, *after[1:]))
        weight = 1.0 if at == suspect else 0.9
        for other in known - set(words):
            if (word in _types.TYPE_WORDS) == (other in _types.TYPE_WORDS):
                yield weight * _alike(word, other), _Change(at, (*before, other, *after))


def _alike(word: str, other: str) -> float:
    """Of types only those of bits stand for others of their size: loads and stores of .bf16 are spelled .b16."""
    if word in _types.TYPE_WORDS:
        return 0.95 if other == f".b{_types.WIDTHS.get(word[1:], 0)}" else 0.0
    return likeness(word, other)


def completing(op: isa.Op, words: tuple[str, ...], at: int, known: frozenset[str]) -> list[str]:
    """The words that make the mnemonic a form in place of the one at `at`, those that look like it first."""
    return by_likeness(words[at], sorted(other for other in known - {words[at]} if _match.forms_of(
        op, (*words[:at], other, *words[at + 1:]))))


def longer(op: isa.Op, words: tuple[str, ...], count: int, known: frozenset[str]) -> str | None:
    """The mnemonic with one word more that takes this many operands, such as `shfl.sync.bfly.b32`; None without one."""
    for at in range(len(words) + 1):
        for word in sorted(known - set(words)):
            new = (*words[:at], word, *words[at:])
            if any(count in counts_of(items_of(match)) for match in _match.forms_of(op, new)):
                return op.opcode + "".join(new)
    return None
