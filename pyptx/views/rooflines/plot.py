"""A roofline drawn with matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyptx.errors import MissingToolError
from pyptx.views.rooflines.layout import FONT, chart_layout
from pyptx.views.rooflines.svg import COLORS, subtitle, x_title
from pyptx.views.rooflines.units import power, quantity

try:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter
except ImportError as error:
    raise MissingToolError(
        "matplotlib is not installed; .svg and .html files do not need it",
        hint="pip install 'pyptx-workbench[plot]'",
    ) from error

if TYPE_CHECKING:
    from pyptx.views.rooflines.roofline import Roofline

__all__ = ["plot", "save"]

PIXELS = 1.3  # of the layout, for each point of print
_INK, _SOFT, _TENSOR, _CORE, _CEILING = "#1b222c", "#5b6675", "#0b62b0", "#9a5b00", "#a3260a"


def plot(view: Roofline, ax: Any = None) -> Any:
    """Draw a Roofline into the axes `ax`, or into a new pyplot figure; return the axes."""
    if ax is None:
        import matplotlib.pyplot as pyplot

        _, ax = pyplot.subplots(figsize=(9.6, 5.6), layout="constrained")
    box = ax.get_window_extent()
    points = PIXELS * 72 / ax.figure.dpi  # labels are laid out in their final pixel size
    drawn = chart_layout(view, 0, 0, box.width * points, box.height * points)
    frame = drawn.frame
    ax.set(xscale="log", yscale="log", xlim=frame.x, ylim=frame.y, xlabel=x_title(view), ylabel=view.unit)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value, "")))
    ax.grid(which="major", color="#e3e7ec", zorder=0)
    ax.set_title(view.title, loc="left", fontweight="bold", pad=18)
    ax.text(0, 1.012, subtitle(view), transform=ax.transAxes, fontsize=FONT / PIXELS, color=_SOFT)

    def data(x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high) = frame.x, frame.y
        return left * (right / left) ** (x / frame.width), low * (high / low) ** (1 - y / frame.height)

    for line in drawn.lines + drawn.leaders:
        (x1, y1), (x2, y2) = data(line.x1, line.y1), data(line.x2, line.y2)
        style = ":" if "ceiling" in line.kind else "--" if "other" in line.kind else "-"
        width = 0.8 if line.kind == "leader" else 1.1 if style != "-" else 1.7
        ax.plot([x1, x2], [y1, y2], style, color=_color(line.kind), lw=width, zorder=2)
    for label in drawn.labels:
        name = label.kind == "name"
        ax.text(
            *data(label.x, label.y),
            label.text,
            ha={"start": "left", "end": "right"}[label.anchor],
            va="baseline",
            rotation=-label.turn,
            rotation_mode="anchor",
            fontsize=FONT / PIXELS,
            color=_color(label.kind),
            fontweight="bold" if name else "normal",
            zorder=5 if name else 3,
            clip_on=True,
        )
    for marker in drawn.markers:
        color = COLORS[marker.color % len(COLORS)]
        x, y = data(marker.x, marker.y)
        if marker.low is not None and marker.high is not None:
            low, high = data(0, marker.low)[1], data(0, marker.high)[1]
            ax.errorbar([x], [y], yerr=[[y - low], [high - y]], color=color, capsize=3, zorder=4)
        ax.plot([x], [y], "o", ms=8, mew=1.8, mec=color, mfc=color if marker.solid else "white", zorder=4)
    for kind, face in (("measured", _SOFT), ("modeled", "white")):
        if any(point.kind == kind for point in view.points):
            ax.plot([], [], "o", mec=_SOFT, mfc=face, mew=1.8, ms=7, ls="none", label=kind)
    if view.points:
        ax.legend(loc="lower right", frameon=False, fontsize=FONT / PIXELS)
    return ax


def _color(kind: str) -> str:
    if "ceiling" in kind:
        return _CEILING
    if "tensor" in kind:
        return _TENSOR
    if "core" in kind:
        return _CORE
    return _SOFT if "other" in kind or kind == "leader" else _INK


def save(view: Roofline, path: Path) -> None:
    """Write the chart as an image, without a display."""
    figure = Figure(figsize=(9.6, 5.6), layout="constrained", dpi=150)
    axes = figure.add_subplot()
    figure.draw_without_rendering()  # computes the size of the axes
    plot(view, axes)
    figure.savefig(path)
