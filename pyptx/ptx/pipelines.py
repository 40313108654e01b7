"""The stage counter of a ring of buffers: `ptx.pipeline(n_stages)`."""

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
    """A position in a ring: `cursor` counts 1..n_stages after each step, `phase` flips at every wrap; both u32."""

    n_stages: int
    cursor: Reg
    phase: Reg

    def advance(self) -> tuple[Reg, Reg]:
        """The stage to use now (0..n_stages-1, a new register) and its mbarrier phase, and step on."""
        wraps, flip, stage = reg.scalar(pred), reg.scalar(u32), reg.scalar(u32)
        emit("setp", "eq.u32", wraps, self.cursor, self.n_stages)
        emit("selp", "u32", flip, 1, 0, wraps)
        emit("xor", "b32", self.phase, self.phase, flip)
        emit("selp", "u32", stage, 0, self.cursor, wraps)
        emit("add", "s32", self.cursor, stage, 1)
        return stage, self.phase


def pipeline(n_stages: int, *, cursor: Reg | None = None, phase: Reg | None = None) -> PipelineState:
    """A ring of `n_stages` buffers.

    Args:
        cursor, phase: u32 registers to go on from; new ones set to 0 unless given.
    """
    if not isinstance(n_stages, int) or n_stages < 1:
        raise ShapeError(f"n_stages={n_stages!r}; expected a positive int", at=user_place())
    return PipelineState(n_stages, cursor if cursor is not None else reg.scalar(u32, 0),
                         phase if phase is not None else reg.scalar(u32, 0))
