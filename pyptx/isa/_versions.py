"""Instructions that may need a later `.version` than kernels have by default, found without reading a form."""

from __future__ import annotations

from functools import cache, lru_cache

from pyptx.isa._newer_forms import NEWER
from pyptx.isa.targets import DEFAULT_PTX, version

__all__ = ["may_need_later"]


@lru_cache(maxsize=4096)
def may_need_later(opcode: str, modifiers: tuple[str, ...], operands: int, than: tuple[int, int]) -> bool:
    """Return False if no form of an instruction needs a later version than this one, on any target.

    True is a possibility only: the choices of the form, the target and the operands decide.

    Args:
        operands: their number.
    """
    if than < DEFAULT_PTX:
        return True
    words = frozenset(modifiers)
    for later, least, most, groups in _entries(opcode):
        if later > than and operands >= least and len(words) <= most and not any(map(words.isdisjoint, groups)):
            return True
    return False


@cache
def _entries(opcode: str) -> tuple[tuple[tuple[int, int], int, int, tuple[frozenset[str], ...]], ...]:
    """Return the entries of an opcode: version, least number of operands, greatest number of different modifiers, and groups of
    modifiers, of which an instruction has at least one each.
    """
    lines = [line.split() for line in NEWER.get(opcode, ())]
    return tuple(
        [
            (version(later), int(operands), int(most), tuple([frozenset(group.split("|")) for group in groups]))
            for later, operands, most, *groups in lines
        ]
    )
