"""Cheaper forms of an instruction: the cells `cheaper` of the table, applied to a mnemonic.

A cell is "slot -> word: price", which replaces the choice of a slot, or "-> word: price", which adds an optional word;
several are separated by " | ". The price says what is given up.
"""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.isa._match import forms_of
from pyptx.isa._schema import Op

__all__ = ["Cheaper", "cheaper_forms"]


@frozen
class Cheaper:
    """A cheaper form of an instruction: its mnemonic, and what it gives up."""

    mnemonic: str
    price: str


def cheaper_forms(op: Op, modifiers: tuple[str, ...]) -> tuple[Cheaper, ...]:
    """Return the cheaper forms of an instruction with these modifiers (with dots), as the table lists them."""
    found: dict[str, Cheaper] = {}
    for match in forms_of(op, modifiers):
        for rule in filter(None, match.form.cheaper.split(" | ")):
            change, _, price = rule.partition(": ")
            slot, _, word = (part.strip() for part in change.partition("->"))
            for other in _changed(modifiers, match.choices.get(slot) if slot else None, f".{word}"):
                if other != modifiers and forms_of(op, other):
                    mnemonic = op.opcode + "".join(other)
                    found.setdefault(mnemonic, Cheaper(mnemonic, price))
                    break
    return tuple(found.values())


def _changed(modifiers: tuple[str, ...], choice: str | None, word: str) -> list[tuple[str, ...]]:
    """Return the modifiers with a choice replaced by a word, or with the word added at each place."""
    if choice is not None:
        return [tuple(word if one == f".{choice}" else one for one in modifiers)]
    if word in modifiers:
        return []
    return [(*modifiers[:at], word, *modifiers[at:]) for at in range(len(modifiers) - 1, -1, -1)]
