"""Decoders: from a bound instruction to an action.

Instructions that only compute values are decoded from the `semantics` cell of the instruction table (`arithmetic`);
each stateful family has a module with its decoders.
"""

from __future__ import annotations

from pyptx.sim.actions import Action
from pyptx.sim.decode import (  # noqa: F401  importing a family registers its decoders
    asynchronous,
    calls,
    control,
    matrix,
    memory,
    move,
    synchronization,
    tcgen05,
    tensor_copies,
    textures,
    video,
)
from pyptx.sim.decode._registry import DECODERS
from pyptx.sim.decode.arithmetic import compute
from pyptx.sim.symbols.operands import Operands

__all__ = ["decode"]


def decode(operands: Operands) -> Action | None:
    """Decode a bound instruction; None if its form is not simulated (`refusals` gives the reason)."""
    decoder = DECODERS.get(operands.instruction.opcode)
    if decoder is not None:
        return decoder(operands)
    return compute(operands) if operands.form.semantics else None
