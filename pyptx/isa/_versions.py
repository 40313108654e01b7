"""Instructions that may need a later `.version` than kernels have by default, found without reading a form."""

from __future__ import annotations

from functools import cache

from pyptx.isa._newer_forms import NEWER
from pyptx.isa.targets import DEFAULT_PTX, version

__all__ = ["may_need_later"]


def may_need_later(opcode: str, modifiers: tuple[str, ...], than: tuple[int, int]) -> bool:
    """Return False if no form of a mnemonic needs a later version than this one, on any target and with any operands.

    True is a possibility only: the choices, the target and the operands decide.
    """
    if than < DEFAULT_PTX:
        return True
    for later, groups in _entries(opcode):
        if later > than and not any(group.isdisjoint(modifiers) for group in groups):
            return True
    return False


@cache
def _entries(opcode: str) -> tuple[tuple[tuple[int, int], tuple[frozenset[str], ...]], ...]:
    """Return version and groups of modifiers of the entries of an opcode; a group is a set of which one is present."""
    lines = [line.split() for line in NEWER.get(opcode, ())]
    return tuple(
        [(version(later), tuple([frozenset(group.split("|")) for group in groups])) for later, *groups in lines]
    )
