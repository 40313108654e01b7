"""Stops and the focus: where and why a debug session is stopped."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["REASONS", "Focus", "Stop"]

REASONS = ("start", "step", "breakpoint", "watchpoint", "finding", "fault", "deadlock", "exit", "interrupt")


@dataclass(frozen=True, slots=True)
class Focus:
    """The focused CTA (its linear index in the grid), warp, and lane."""

    cta: int
    warp: int
    lane: int = 0

    @property
    def cta_warp(self) -> tuple[int, int]:
        """The focused CTA and warp."""
        return self.cta, self.warp


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a step or another movement.

    Attributes:
        reason: one of REASONS; "fault" is any kernel error except a deadlock, "finding" a finding of the sanitizer.
        text: description of what happened.
        step: warp-instructions started so far, in the whole grid.
        cta, warp: the warp that is about to run; None when no warp can run.
        file, line, ptx: source lines of the instruction that is next, or that failed; None where unknown.
        breakpoint: number of the breakpoint or watchpoint that was hit.
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
        """True when the run cannot continue from here."""
        return self.reason in ("fault", "deadlock", "exit")
