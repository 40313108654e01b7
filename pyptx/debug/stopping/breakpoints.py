"""Where a session stops: breakpoints at places, and watchpoints on bytes that change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.stopping.expressions import Expression
from pyptx.debug.stopping.lines import Lines
from pyptx.sim.core.stopped import Spot

__all__ = ["Breakpoint", "Breakpoints"]

CTA = int | tuple[int, ...] | None


@dataclass(eq=False)
class Breakpoint:
    """A place, or (with `spots`) bytes to stop at.

    Attributes:
        place: as it was written; `text` is what it was understood as.
        condition: it stops only where this is true for a lane that is there, or for whom a register changed.
        warp, cta: it stops only there.
        hits: how often it stopped the run so far; the newest may be taken back by going back.
        temporary: gone after its first stop.
    """

    id: int
    place: str
    text: str
    instructions: tuple[int, ...] = ()
    spots: tuple[Spot, ...] = ()
    condition: str | None = None
    warp: int | None = None
    cta: int | None = None
    enabled: bool = True
    temporary: bool = False
    steps: list[int] = field(default_factory=list)
    describe: Callable[[int, np.ndarray, np.ndarray], str] | None = None
    _expression: Expression | None = None

    @property
    def hits(self) -> int:
        """How often it has stopped the session."""
        return len(self.steps)

    @property
    def watches(self) -> bool:
        """Whether it is a watchpoint."""
        return bool(self.spots)

    @property
    def expression(self) -> Expression | None:
        """Its condition, read."""
        if self.condition is None:
            return None
        if self._expression is None or self._expression.text != self.condition:
            self._expression = Expression(self.condition)
        return self._expression

    def __repr__(self) -> str:
        parts = [f"{'watchpoint' if self.watches else 'breakpoint'} {self.id} {self.text}"]
        parts += [f"if {self.condition}"] if self.condition else []
        parts += [f"in warp {self.warp}"] if self.warp is not None else []
        parts += [f"of CTA {self.cta}"] if self.cta is not None else []
        parts += [f"stopped {self.hits} times"] if self.hits else []
        return ", ".join(parts) + ("" if self.enabled else ", disabled")


class Breakpoints:
    """The breakpoints and watchpoints of a session, in the order they were made.

    Args:
        changed: called after each change.
        watched: the bytes that a written place means, how it is called, and how a change of spot k reads.
        cta_of: the number in the grid of a CTA given as a number or as its place.
    """

    def __init__(self, lines: Lines, watched: Callable[[str], tuple[Sequence[Spot], str, Callable]],
                 cta_of: Callable[[CTA], int | None], changed: Callable[[], None]):
        self._lines, self._watched, self._cta_of, self._changed = lines, watched, cta_of, changed
        self._all: dict[int, Breakpoint] = {}
        self._made = 0

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, number: int) -> Breakpoint:
        if number not in self._all:
            known = ", ".join(map(str, self._all)) or "none"
            raise DebugError(f"no breakpoint {number}; there are {known}")
        return self._all[number]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "no breakpoints"

    def add(self, place: str, condition: str | None = None, *, warp: int | None = None, cta: CTA = None,
            temporary: bool = False) -> Breakpoint:
        """Stop before the first instruction of a place.

        Args:
            place: "gemm.py:12", "12", "ptx:40", a label, "op:wgmma.mma_async".
            condition: a Python expression over the kernel's names, registers (%r4), lane, tid, warp, cta, step,
                arguments; it stops when that is true for a lane that is there.
            warp, cta: only there; a CTA is a number, or its place in the grid.
        Raises:
            DebugError: the place or the condition means nothing.
        """
        instructions, text = self._lines.find(str(place))
        return self._keep(Breakpoint(0, str(place), text, tuple(instructions), condition=condition or None, warp=warp,
                                     cta=self._cta_of(cta), temporary=temporary))

    def watch(self, place: str, condition: str | None = None) -> Breakpoint:
        """Stop behind each instruction, or asynchronous operation, that changes some bytes.

        Args:
            place: a register or name ("%r3", "acc", "acc[2]") of the focused warp; "shared:0x440" or "shared:0x440:16"
                (an address of the focused CTA, and how many bytes); "global:0x7000...:4"; an element of an argument or
                an allocation, "out[3, 4]".
            condition: as of `add`; of what runs next.
        Raises:
            DebugError: the place or the condition means nothing.
        """
        spots, text, describe = self._watched(place)
        return self._keep(Breakpoint(0, place, text, spots=tuple(spots), condition=condition or None,
                                     describe=describe))

    def _keep(self, made: Breakpoint) -> Breakpoint:
        _ = made.expression                                 # says what is wrong with it
        self._made += 1
        made.id = self._made
        self._all[made.id] = made
        self._changed()
        return made

    def remove(self, number: int) -> None:
        """Forget one.

        Raises:
            DebugError: there is no such breakpoint.
        """
        del self._all[self[number].id]
        self._changed()

    def clear(self) -> None:
        """Forget all."""
        self._all.clear()
        self._changed()

    def enable(self, number: int, on: bool = True) -> None:
        """Let one stop the run again, or not for a while."""
        self[number].enabled = bool(on)
        self._changed()

    def condition(self, number: int, condition: str | None) -> None:
        """Give one another condition; None: it always stops.

        Raises:
            DebugError: it is no expression.
        """
        found = self[number]
        if condition:
            Expression(condition)
        found.condition = condition or None
        self._changed()

    def instructions(self) -> set[int]:
        """Where the run has to stop and look."""
        return {i for found in self if found.enabled for i in found.instructions}

    def spots(self) -> list[tuple[Breakpoint, int]]:
        """Bytes to look at, each with its watchpoint and its number in it."""
        return [(found, k) for found in self if found.enabled for k in range(len(found.spots))]

    def at(self, instruction: int, cta: int, warp: int) -> list[Breakpoint]:
        """Breakpoints that may stop a warp there; their conditions are not asked yet."""
        return [b for b in self if b.enabled and instruction in b.instructions
                and b.warp in (None, warp) and b.cta in (None, cta)]

    def forget_after(self, step: int) -> None:
        """Take stops back that are ahead once more."""
        for found in self:
            while found.steps and found.steps[-1] >= step:
                found.steps.pop()
