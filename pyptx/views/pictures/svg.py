"""Grids of labelled cells as SVG, readable on light and dark pages, also as an image without a style sheet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

__all__ = ["FILLS", "Cell", "Picture", "grid", "label"]

# Pastel fills under dark text; Paul Tol's "light" scheme, told apart with any colour vision.
FILLS = ("#77aadd", "#ffaabb", "#eedd88", "#bbcc33", "#ee8866", "#99ddff", "#44bb99", "#dddddd")
INK, SOFT = "#1b1f24", "#768390"                        # SOFT is readable on white and on black
_FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"


class Cell(NamedTuple):
    """A rectangle in units of the grid: its fill and text, what a pointer over it is told, whether it is marked."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    text: str
    title: str = ""
    marked: bool = False


class Picture(ABC):
    """A value that notebooks show as its SVG, and terminals as its text."""

    @abstractmethod
    def svg(self) -> str:
        """The whole picture."""

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "image/svg+xml": self.svg()}


def label(x: float, y: float, text: str, anchor: str = "start", size: int = 11) -> str:
    """Text outside the cells; x and y in pixels."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{SOFT}">{escape(text)}</text>'


def grid(cells: Iterable[Cell], labels: Iterable[str], *, width: float, height: float, left: float, top: float,
         unit: tuple[float, float], title: str) -> str:
    """An SVG of `width` x `height` pixels; cells are drawn from (left, top), `unit` pixels for a step."""
    across, down = unit
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" height="{height:g}" '
             f'viewBox="0 0 {width:g} {height:g}" font-family="{_FONT}">', f"<title>{escape(title)}</title>"]
    marked = []
    for cell in cells:
        x, y, w, h = left + cell.x * across, top + cell.y * down, cell.width * across, cell.height * down
        tip = f"<title>{escape(cell.title)}</title>" if cell.title else ""
        parts.append(f'<g>{tip}<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{cell.fill}" stroke="#fff" '
                     f'stroke-width="1"/><text x="{x + w / 2:g}" y="{y + h / 2 + 3.5:g}" text-anchor="middle" '
                     f'font-size="10" fill="{INK}">{escape(cell.text)}</text></g>')
        if cell.marked:
            marked.append(f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{w - 2:g}" height="{h - 2:g}" fill="none" '
                          f'stroke="{INK}" stroke-width="2.5"/>')
    return "".join((*parts, *marked, *labels, "</svg>"))
