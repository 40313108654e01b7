"""Why and where a session stands."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["REASONS", "Focus", "Stop"]

REASONS = ("start", "step", "breakpoint", "watchpoint", "finding", "fault", "deadlock", "exit", "interrupt")


@dataclass(frozen=True, slots=True)
class Focus:
    """What is looked at: a CTA (its number in the grid), a warp of it, a lane of that."""

    cta: int
    warp: int
    lane: int = 0


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a move ended.

    Attributes:
        reason: one of REASONS; "fault" is any error of the kernel but a deadlock, "finding" what the sanitizer found.
        text: what happened, in words.
        step: warp-instructions begun so far, in the whole grid.
        cta, warp: whose turn it is; None when nobody runs.
        file, line, ptx: of the instruction that is next, or failed; None where there is none.
        breakpoint: the number of what stopped it.
    """

    reason: str
    text: str
    step: int
    cta: tuple[int, int, int] | None = None
    warp: int | None = None
    file: str | None = None
    line: int | None = None
    ptx: int | None = None
    instruction: str = ""
    breakpoint: int | None = None

    @property
    def over(self) -> bool:
        """Whether the run cannot go on from here."""
        return self.reason in ("fault", "deadlock", "exit")
