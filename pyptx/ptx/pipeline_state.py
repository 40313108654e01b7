"""Stage and phase counters of a multistage pipeline: `ptx.pipeline(n_stages)`."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import pred, u32

__all__ = ["PipelineState", "pipeline"]


@dataclass(eq=False, slots=True)
class PipelineState:
    """Position in a ring of buffers.

    Attributes:
        n_stages: buffers in the ring.
        cursor: u32 register, the next stage; n_stages before it wraps.
        phase: u32 register, the mbarrier parity; flips at every wrap.
    """

    n_stages: int
    cursor: Reg
    phase: Reg

    def advance(self) -> tuple[Reg, Reg]:
        """Return the current stage (0..n_stages-1, a new register) and its mbarrier phase, and advance."""
        wraps, flip, stage = reg.scalar(pred), reg.scalar(u32), reg.scalar(u32)
        emit("setp", "eq.u32", wraps, self.cursor, self.n_stages)
        emit("selp", "u32", flip, 1, 0, wraps)
        emit("xor", "b32", self.phase, self.phase, flip)
        emit("selp", "u32", stage, 0, self.cursor, wraps)
        emit("add", "s32", self.cursor, stage, 1)
        return stage, self.phase


class OneStage(PipelineState):
    """Position in a ring of one buffer: the stage is always 0, and the phase alternates, so that it is all that is kept."""

    __slots__ = ()

    @classmethod
    def begin(cls) -> OneStage:
        """Return the position before the first use."""
        return cls(1, reg.scalar(u32, 0), reg.scalar(u32, 1))

    def advance(self) -> tuple[Reg, Reg]:
        """Return stage 0 and its mbarrier phase, and advance."""
        emit("xor", "b32", self.phase, self.phase, 1)
        return reg.scalar(u32, 0), self.phase


def pipeline(n_stages: int, *, cursor: Reg | None = None, phase: Reg | None = None) -> PipelineState:
    """Return the position in a ring of buffers.

    Args:
        n_stages: buffers in the ring.
        cursor, phase: u32 registers to continue from; default: new ones set to 0.
    Raises:
        ShapeError: `n_stages` is not a positive int.
    """
    if not isinstance(n_stages, int) or n_stages < 1:
        raise ShapeError(f"n_stages={n_stages!r}; expected a positive int", at=user_place())
    return PipelineState(
        n_stages,
        cursor if cursor is not None else reg.scalar(u32, 0),
        phase if phase is not None else reg.scalar(u32, 0),
    )
