"""Grids of labeled cells as SVG, readable on light and dark pages, without a style sheet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

__all__ = ["FILLS", "Cell", "Diagram", "grid", "label"]

# Pastel fills under dark text; Paul Tol's "light" scheme, told apart with any color vision.
FILLS = ("#77aadd", "#ffaabb", "#eedd88", "#bbcc33", "#ee8866", "#99ddff", "#44bb99", "#dddddd")
INK, SOFT = "#1b1f24", "#768390"  # SOFT is readable on white and on black
_FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"


class Cell(NamedTuple):
    """A rectangle in grid units with fill, text, tooltip and an optional mark."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    text: str
    title: str = ""
    marked: bool = False


class Diagram(ABC):
    """A value shown as SVG in notebooks and as text in terminals."""

    @abstractmethod
    def svg(self) -> str:
        """Return the diagram as one SVG element."""

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "image/svg+xml": self.svg()}


def label(x: float, y: float, text: str, anchor: str = "start", size: int = 11) -> str:
    """Return text outside the cells; x and y in pixels."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{SOFT}">{escape(text)}</text>'


def grid(
    cells: Iterable[Cell],
    labels: Iterable[str],
    *,
    width: float,
    height: float,
    left: float,
    top: float,
    unit: tuple[float, float],
    title: str,
) -> str:
    """Return an SVG of `width` x `height` pixels; cells start at (left, top), a grid step is `unit` pixels."""
    across, down = unit
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="{_FONT}">',
        f"<title>{escape(title)}</title>",
    ]
    marked = []
    for cell in cells:
        x, y, w, h = left + cell.x * across, top + cell.y * down, cell.width * across, cell.height * down
        tip = f"<title>{escape(cell.title)}</title>" if cell.title else ""
        parts.append(
            f'<g>{tip}<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{cell.fill}" stroke="#fff" '
            f'stroke-width="1"/><text x="{x + w / 2:g}" y="{y + h / 2 + 3.5:g}" text-anchor="middle" '
            f'font-size="10" fill="{INK}">{escape(cell.text)}</text></g>'
        )
        if cell.marked:
            marked.append(
                f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{w - 2:g}" height="{h - 2:g}" fill="none" '
                f'stroke="{INK}" stroke-width="2.5"/>'
            )
    return "".join((*parts, *marked, *labels, "</svg>"))
