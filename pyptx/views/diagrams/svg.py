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
    return f"<text x='{x:g}' y='{y:g}' text-anchor='{anchor}' font-size='{size}' fill='{SOFT}'>{escape(text)}</text>"


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
    shapes: dict[str, list[str]] = {}  # by fill, in order of their first appearance
    marked, texts = [], []
    for cell in cells:
        edges = left + cell.x * across, top + cell.y * down, cell.width * across, cell.height * down
        x, y, w, h = (round(edge, 1) for edge in edges)
        tip = f"><title>{escape(cell.title)}</title></path>" if cell.title else "/>"
        shapes.setdefault(cell.fill, []).append(f"<path d='M{x:g} {y:g}h{w:g}v{h:g}h{-w:g}z'{tip}")
        if cell.text:
            texts.append(f"<text x='{x + w / 2:g}' y='{y + h / 2:g}'>{escape(cell.text)}</text>")
        if cell.marked:
            marked.append(f"<path d='M{x + 1:g} {y + 1:g}h{w - 2:g}v{h - 2:g}h{2 - w:g}z'/>")
    return "".join(
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{width:g}' height='{height:g}' "
            f"viewBox='0 0 {width:g} {height:g}' font-family='{_FONT}'><title>{escape(title)}</title>",
            *(f"<g fill='{fill}' stroke='#fff'>{''.join(paths)}</g>" for fill, paths in shapes.items()),
            f"<g transform='translate(0 3.5)' text-anchor='middle' font-size='10' pointer-events='none' fill='{INK}'>{''.join(texts)}</g>",
            f"<g fill='none' pointer-events='none' stroke='{INK}' stroke-width='2.5'>{''.join(marked)}</g>",
            *labels,
            "</svg>",
        )
    )
