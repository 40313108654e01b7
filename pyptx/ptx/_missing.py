"""What `ptx` says of a name that it does not have: instructions without a wrapper are under `ptx.inst`."""

from __future__ import annotations

import sys
from difflib import get_close_matches

from pyptx import isa
from pyptx.isa.spelling import ptx_word, python_word

__all__ = ["missing"]


def missing(name: str) -> object:
    """The `__getattr__` of pyptx.ptx.

    Raises:
        AttributeError: always; it says where the instruction of that name is, or which name is near.
    """
    words = [word for word in name.split("_") if word]
    if ptx_word(name) in isa.OPS:
        hint = f"; every instruction is under ptx.inst: ptx.inst.{name}"
    elif words and words[0] in isa.OPS:
        hint = f"; every instruction is under ptx.inst: ptx.inst.{'.'.join(map(python_word, words))}"
    else:
        near = get_close_matches(name, sys.modules["pyptx.ptx"].__all__, 1)
        hint = f"; did you mean ptx.{near[0]}?" if near else "; instructions are under ptx.inst"
    raise AttributeError(f"pyptx.ptx has no {name!r}{hint}")
