"""Matrix instructions of a warp: which function does which; ldmatrix, stmatrix, movmatrix, wmma loads and stores."""

from __future__ import annotations

from pyptx.sim import tensor as act
from pyptx.sim.reference import mma
from pyptx.sim.reference.state import ALL, Fault, lanes_of

__all__ = ["run"]


def run(runner, action, mask: int) -> None:
    """Execute for all lanes.

    Raises:
        Fault: some are missing.
    """
    if mask != ALL:
        raise Fault("warp", lanes_of(mask)[0], mask)
    match action:
        case act.Mma():
            mma.run(runner, action)
        case _:
            raise NotImplementedError(type(action).__name__)
