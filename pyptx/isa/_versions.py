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
    for later, least, groups in _entries(opcode):
        if later > than and operands >= least and not any(group.isdisjoint(modifiers) for group in groups):
            return True
    return False


@cache
def _entries(opcode: str) -> tuple[tuple[tuple[int, int], int, tuple[frozenset[str], ...]], ...]:
    """Return version, least number of operands and groups of modifiers of the entries of an opcode.

    An instruction has at least one modifier of each group.
    """
    lines = [line.split() for line in NEWER.get(opcode, ())]
    return tuple(
        [
            (version(later), int(operands), tuple([frozenset(group.split("|")) for group in groups]))
            for later, operands, *groups in lines
        ]
    )
