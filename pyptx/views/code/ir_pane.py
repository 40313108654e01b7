"""The pane of a compiler's IR in a linked view, between source and PTX."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyptx._frozen import frozen
from pyptx._loc import SourceLocation
from pyptx.views.code.panes import IrPane

__all__ = ["IrLines", "ir_pane"]


@frozen
class IrLines:
    """An IR that a compiler made of the source on the way to PTX.

    Attributes:
        name: of the IR, "TTGIR".
        text: its lines.
        places: the source location of each line.
    """

    name: str
    text: tuple[str, ...]
    places: tuple[SourceLocation | None, ...]


def ir_pane(
    ir: IrLines, ptx_places: Sequence[SourceLocation | None], stack_of: Callable[[SourceLocation | None], int]
) -> IrPane:
    """Return the pane: its lines are linked with the PTX lines of the same source location, columns and callers included.

    Args:
        ptx_places: of the PTX lines.
        stack_of: the index of a place's Python rows in `LinkedView.stacks`, -1 for none.
    """
    numbers: dict[tuple[tuple[str, int, int | None], ...], int] = {}

    def number(place: SourceLocation | None) -> int:
        if place is None:
            return -1
        whole = tuple((here.file, here.line, here.position.column) for here in place.stack)
        return numbers.setdefault(whole, len(numbers))

    return IrPane(
        ir.name,
        ir.text,
        tuple(map(stack_of, ir.places)),
        tuple(map(number, ir.places)),
        tuple(map(number, ptx_places)),
    )
