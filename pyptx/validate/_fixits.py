"""Fix-its: the most likely single change that turns a mnemonic into a valid one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from pyptx import isa
from pyptx._frozen import frozen
from pyptx.isa import _match, _types
from pyptx.validate._operand_matching import expected_items, operand_counts

__all__ = ["FixIt", "by_similarity", "extended_mnemonic", "find_fixit", "replacements"]

# Scores of dropping a modifier of the opcode, dropping an unknown one, swapping two; and the lowest score of a fix-it.
_SURPLUS, _UNKNOWN, _SWAPPED, _THRESHOLD = 0.75, 0.4, 0.9, 0.55
_DIGITS = re.compile(r"\d+")


@frozen
class FixIt:
    """A change of the modifier at index `at`: it is dropped or replaced.

    Attributes:
        words: the modifiers after the change.
        form: the form of the new mnemonic.
    """

    at: int
    words: tuple[str, ...]
    form: isa.Form
    dropped: bool = False


@lru_cache(maxsize=16384)
def similarity(one: str, other: str) -> float:
    """Return the similarity of two modifiers, 0 to 1; highest when they differ only in a number."""
    if _DIGITS.sub("#", one) == _DIGITS.sub("#", other):
        apart = sum(abs(int(a) - int(b)) for a, b in zip(_DIGITS.findall(one), _DIGITS.findall(other), strict=True))
        return 0.9 + 0.09 / (1 + apart)
    return SequenceMatcher(None, one, other).ratio()


def by_similarity(wrong: str, words: Iterable[str]) -> list[str]:
    """Sort modifiers by decreasing similarity to `wrong`."""
    return sorted(words, key=lambda word: -similarity(wrong, word))


def find_fixit(op: isa.Op, words: tuple[str, ...], suspect: int, known: frozenset[str]) -> FixIt | None:
    """Return the most likely single change that makes the mnemonic valid; None if none is likely.

    Args:
        suspect: index of the first modifier that cannot follow those before it.
        known: all modifiers of the opcode.
    """
    best, most = None, _THRESHOLD
    for score, change in _changes(op, words, suspect, known):
        if score > most:
            matches = _match.forms_of(op, change.words)
            if matches:
                best, most = FixIt(change.at, change.words, matches[0].form, change.dropped), score
    return best


@frozen
class _Change:
    """The modifiers after a change at one index."""

    at: int
    words: tuple[str, ...]
    dropped: bool = False


def _changes(
    op: isa.Op, words: tuple[str, ...], suspect: int, known: frozenset[str]
) -> Iterator[tuple[float, _Change]]:
    for at, word in enumerate(words):
        before, after = words[:at], words[at + 1 :]
        if word not in _types.TYPE_WORDS:
            yield _SURPLUS if word in known else _UNKNOWN, _Change(at, before + after, True)
        if after and after[0] != word and not {word, after[0]} <= _types.TYPE_WORDS:
            yield _SWAPPED, _Change(at, (*before, after[0], word, *after[1:]))
        weight = 1.0 if at == suspect else 0.9
        for other in known - set(words):
            if (word in _types.TYPE_WORDS) == (other in _types.TYPE_WORDS):
                yield weight * _substitution(word, other), _Change(at, (*before, other, *after))


def _substitution(word: str, other: str) -> float:
    """Score the substitution of a modifier; a type is only replaced by bits of its width, as in loads of .bf16."""
    if word in _types.TYPE_WORDS:
        return 0.95 if other == f".b{_types.WIDTHS.get(word[1:], 0)}" else 0.0
    return similarity(word, other)


def replacements(op: isa.Op, words: tuple[str, ...], at: int, known: frozenset[str]) -> list[str]:
    """Return the modifiers that make the mnemonic valid in place of the one at `at`, the most similar first."""
    return by_similarity(
        words[at],
        sorted(other for other in known - {words[at]} if _match.forms_of(op, (*words[:at], other, *words[at + 1 :]))),
    )


def extended_mnemonic(op: isa.Op, words: tuple[str, ...], count: int, known: frozenset[str]) -> str | None:
    """Return the mnemonic with one more modifier that takes `count` operands, `shfl.sync.bfly.b32`; None without one."""
    for at in range(len(words) + 1):
        for word in sorted(known - set(words)):
            new = (*words[:at], word, *words[at:])
            if any(count in operand_counts(expected_items(match)) for match in _match.forms_of(op, new)):
                return op.opcode + "".join(new)
    return None
