"""Suggestions for attributes that `pyptx.ptx` does not have."""

from __future__ import annotations

import sys

from pyptx import isa
from pyptx.isa.identifiers import from_identifier, to_identifier

__all__ = ["unknown_attribute"]


def unknown_attribute(name: str) -> object:
    """Refuse an attribute that `pyptx.ptx` does not have: the module's `__getattr__`.

    Raises:
        AttributeError: always; the message names the instruction under `ptx.inst`, or the nearest spelling.
    """
    words = [word for word in name.split("_") if word]
    if from_identifier(name) in isa.OPS:
        hint = f"; every instruction is under ptx.inst: ptx.inst.{name}"
    elif words and words[0] in isa.OPS:
        hint = f"; every instruction is under ptx.inst: ptx.inst.{'.'.join(map(to_identifier, words))}"
    else:
        from difflib import get_close_matches  # imported late to keep `import pyptx` fast

        near = get_close_matches(name, sys.modules["pyptx.ptx"].__all__, 1)
        hint = f"; did you mean ptx.{near[0]}?" if near else "; instructions are under ptx.inst"
    raise AttributeError(f"pyptx.ptx has no {name!r}{hint}")
