"""The table of breakpoints and watchpoints of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pyptx.debug.breakpoints.watchpoints import Watchpoint
from pyptx.debug.errors import DebugError
from pyptx.debug.expressions import Expression
from pyptx.debug.inspect.launch import CTA
from pyptx.debug.source_lines import SourceLines
from pyptx.sim.core.debug_state import WatchedRange

__all__ = ["Breakpoint", "Breakpoints"]


@dataclass(eq=False)
class Breakpoint:
    """A breakpoint at a location, or a watchpoint on bytes.

    Attributes:
        place: the location as the user wrote it; `text`: in canonical form.
        instructions: instructions to stop before; empty for a watchpoint.
        spots: bytes whose change stops the run; empty for a breakpoint.
        condition: stop only if this expression is true for an active lane.
        warp, cta: stop only in this warp or CTA.
        temporary: removed at its first hit.
        steps: the steps of its hits; going back removes those that are ahead again.
        describe: text for a change of spot k, from its bytes before and after.
    """

    id: int
    place: str
    text: str
    instructions: tuple[int, ...] = ()
    spots: tuple[WatchedRange, ...] = ()
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
        """Number of hits so far."""
        return len(self.steps)

    @property
    def watches(self) -> bool:
        """True for a watchpoint."""
        return bool(self.spots)

    @property
    def expression(self) -> Expression | None:
        """The parsed condition."""
        if self.condition is None:
            return None
        if self._expression is None or self._expression.text != self.condition:
            self._expression = Expression(self.condition)
        return self._expression

    def __repr__(self) -> str:
        parts = [f"{'watchpoint' if self.watches else 'breakpoint'} {self.id} {self.text}"]
        parts += [f"if {self.condition}"] if self.condition else []
        parts += [f"in warp {self.warp}"] if self.warp is not None else []
        parts += [f"in CTA {self.cta}"] if self.cta is not None else []
        parts += [f"{self.hits} hit{'s' if self.hits > 1 else ''}"] if self.hits else []
        return ", ".join(parts) + ("" if self.enabled else ", disabled")


class Breakpoints:
    """The breakpoints and watchpoints of a session, in order of creation.

    Args:
        resolve_watchpoint: returns the bytes that a location names.
        cta_number: returns the linear index of a CTA given as an index or as coordinates.
        changed: called after each change of the table.
    """

    def __init__(
        self,
        lines: SourceLines,
        resolve_watchpoint: Callable[[str], Watchpoint],
        cta_number: Callable[[CTA], int | None],
        changed: Callable[[], None],
    ):
        self._lines, self._changed = lines, changed
        self._resolve_watchpoint, self._cta_number = resolve_watchpoint, cta_number
        self._all: dict[int, Breakpoint] = {}
        self._created = 0

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, number: int) -> Breakpoint:
        if number not in self._all:
            known = ", ".join(map(str, self._all)) or "none"
            raise DebugError(f"no breakpoint {number}; breakpoints: {known}")
        return self._all[number]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "no breakpoints"

    def add(
        self,
        place: str,
        condition: str | None = None,
        *,
        warp: int | None = None,
        cta: CTA = None,
        temporary: bool = False,
    ) -> Breakpoint:
        """Stop before the first instruction at a location.

        Args:
            place: "gemm.py:12", "12", "ptx:40", a label, "op:wgmma.mma_async".
            condition: a Python expression over the kernel's names, registers (%r4), lane, tid, warp, cta, step, and the
                arguments; stop only if it is true for an active lane.
            warp, cta: stop only there; a CTA is a linear index, or its coordinates in the grid.
        Raises:
            DebugError: the location or the condition is invalid.
        """
        instructions, text = self._lines.find(str(place))
        return self._append(
            Breakpoint(
                0,
                str(place),
                text,
                tuple(instructions),
                condition=condition or None,
                warp=warp,
                cta=self._cta_number(cta),
                temporary=temporary,
            )
        )

    def watch(self, place: str, condition: str | None = None) -> Breakpoint:
        """Stop after each instruction, or asynchronous operation, that changes some bytes.

        Args:
            place: a register or name ("%r3", "acc", "acc[2]") of the focused warp; "shared:0x440" or "shared:0x440:16"
                (an address in the focused CTA, and a number of bytes); "global:0x7000...:4"; an element of an argument
                or an allocation, "out[3, 4]".
            condition: as for `add`; evaluated for the warp that runs next.
        Raises:
            DebugError: the location or the condition is invalid.
        """
        found = self._resolve_watchpoint(place)
        return self._append(
            Breakpoint(0, place, found.text, spots=found.spots, condition=condition or None, describe=found.describe)
        )

    def _append(self, made: Breakpoint) -> Breakpoint:
        _ = made.expression  # raises if the condition is invalid
        self._created += 1
        made.id = self._created
        self._all[made.id] = made
        self._changed()
        return made

    def remove(self, number: int) -> None:
        """Delete one.

        Raises:
            DebugError: there is no such breakpoint.
        """
        del self._all[self[number].id]
        self._changed()

    def clear(self) -> None:
        """Delete all."""
        self._all.clear()
        self._changed()

    def enable(self, number: int, on: bool = True) -> None:
        """Enable or disable one."""
        self[number].enabled = bool(on)
        self._changed()

    def condition(self, number: int, condition: str | None) -> None:
        """Set the condition of one, or remove it (None).

        Raises:
            DebugError: the condition is not a valid expression.
        """
        found = self[number]
        if condition:
            Expression(condition)
        found.condition = condition or None
        self._changed()

    def instructions(self) -> set[int]:
        """Return the instructions at which the run has to stop."""
        return {i for found in self if found.enabled for i in found.instructions}

    def spots(self) -> list[tuple[Breakpoint, int]]:
        """Return the watched bytes: each watchpoint with the index of its spot."""
        return [(found, k) for found in self if found.enabled for k in range(len(found.spots))]

    def at(self, instruction: int, cta: int, warp: int) -> list[Breakpoint]:
        """Return the breakpoints that apply to a warp at an instruction; their conditions are not evaluated."""
        return [
            b
            for b in self
            if b.enabled and instruction in b.instructions and b.warp in (None, warp) and b.cta in (None, cta)
        ]

    def forget_after(self, step: int) -> None:
        """Remove hits at or after a step, after going back."""
        for found in self:
            while found.steps and found.steps[-1] >= step:
                found.steps.pop()
