"""A roofline as a self-contained SVG with colors for light and dark pages and a tooltip for each line."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pyptx.errors import OptionError
from pyptx.views.rooflines.layout import FONT, Frame, Label, Line, Marker, axis_ticks, chart_layout
from pyptx.views.rooflines.units import power, quantity

if TYPE_CHECKING:
    from pyptx.views.rooflines.roofline import Roofline

__all__ = ["COLORS", "svg"]

COLORS = ("#4477aa", "#ee7733", "#228833", "#aa3377", "#009988", "#ccbb44", "#ee6677", "#66ccee")  # Paul Tol's
_LIGHT = {
    "bg": "#ffffff",
    "ink": "#1b222c",
    "soft": "#5b6675",
    "grid": "#e3e7ec",
    "fine": "#f1f3f6",
    "edge": "#8a94a3",
    "slope": "#1b222c",
    "tensor": "#0b62b0",
    "core": "#9a5b00",
    "ceiling": "#a3260a",
    "shade": "#0b62b00d",
}
_DARK = {
    "bg": "#14171c",
    "ink": "#e3e8ef",
    "soft": "#97a3b3",
    "grid": "#2a313b",
    "fine": "#1d2229",
    "edge": "#6b7685",
    "slope": "#e3e8ef",
    "tensor": "#6cb6ff",
    "core": "#f0b35e",
    "ceiling": "#ff9b80",
    "shade": "#6cb6ff14",
}
_FONT = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif"


def svg(view: Roofline, width: int, height: int, theme: str) -> str:
    """Draw the chart.

    Raises:
        OptionError: the theme is unknown.
    """
    if theme not in ("auto", "light", "dark"):
        raise OptionError(f"theme={theme!r}; expected 'auto', 'light' or 'dark'")
    drawn = chart_layout(view, 74, 62, width - 96, height - 116)
    frame = drawn.frame
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="{_FONT}" font-size="{FONT}">',
        f"<title>{escape(_spoken(view))}</title><style>{_style(theme)}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        f'<text class="title" x="{frame.left:g}" y="24">{escape(view.title)}</text>',
        f'<text class="soft" x="{frame.left:g}" y="42">{escape(subtitle(view))}</text>',
        *_legend(view, frame.left + frame.width),
        *_axes(view, frame),
        f'<polygon class="shade" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in drawn.shade)}"/>',
    ]
    parts += [_line(line) for line in drawn.lines if "other" in line.kind]
    parts += [_line(line) for line in drawn.lines if "other" not in line.kind]
    parts += [_label(label) for label in drawn.labels if not label.kind.startswith("name")]
    parts += [_line(line) for line in drawn.leaders]
    parts += [_marker(marker) for marker in drawn.markers]
    parts += [_label(label) for label in drawn.labels if label.kind.startswith("name")]
    return "".join([*parts, "</svg>\n"])


def subtitle(view: Roofline) -> str:
    """Return "NVIDIA H200 SXM (sm_90a), 132 SMs; dense peaks at 1.98 GHz"."""
    return f"{view.gpu.name} ({view.gpu.target}), {view.gpu.sms} SMs; dense peaks at {_clocks(view.gpu)}"


def _clocks(gpu) -> str:
    clock, tensor = (quantity(hz, "Hz") for hz in (gpu.clock_hz, gpu.tensor_clock_hz))
    return clock if clock == tensor else f"{clock}, tensor {tensor}"


def _spoken(view: Roofline) -> str:
    return f"Roofline of {view.title} on {view.gpu.name}: {len(view.points)} points under {len(view.roofs)} roofs"


def _style(theme: str) -> str:
    def colors(table: dict[str, str]) -> str:
        return ";".join(f"--{name}:{value}" for name, value in table.items())

    first = _DARK if theme == "dark" else _LIGHT
    text = f"svg{{{colors(first)}}}"
    if theme == "auto":
        text += f"@media (prefers-color-scheme:dark){{svg{{{colors(_DARK)}}}}}"
    text += (
        ".page{fill:var(--bg)}text{fill:var(--ink)}.title{font-size:16px;font-weight:600}.soft{fill:var(--soft)}"
        ".grid{stroke:var(--grid)}.fine{stroke:var(--fine)}.edge{stroke:var(--edge);fill:none}"
        ".shade{fill:var(--shade)}path,line{fill:none}line.slope{stroke:var(--slope);stroke-width:2}"
        "line.roof{stroke-width:2}line.tensor{stroke:var(--tensor)}line.core{stroke:var(--core)}"
        "line.ceiling{stroke:var(--ceiling);stroke-width:1.4;stroke-dasharray:2 4}"
        "line.other{stroke-width:1.2;stroke-dasharray:6 4;opacity:.75}line.slope.other{stroke:var(--soft)}"
        "text.tensor{fill:var(--tensor)}text.core{fill:var(--core)}text.ceiling{fill:var(--ceiling)}"
        "text.other{opacity:.85}text.slope.other{fill:var(--soft)}line.leader{stroke:var(--edge)}"
        ".halo{paint-order:stroke;stroke:var(--bg);stroke-width:3.5px;stroke-linejoin:round}"
        ".name{font-weight:600}"
    )
    for number, color in enumerate(COLORS):
        text += f".m{number}{{stroke:{color};stroke-width:2}}.m{number}.solid{{fill:{color}}}"
    return text + ".hollow{fill:var(--bg)}"


def _legend(view: Roofline, right: float) -> list[str]:
    """Draw the legend of filled and hollow markers, if there are any."""
    kinds = [kind for kind in ("measured", "modeled") if any(p.kind == kind for p in view.points)]
    parts, x = [], right
    for kind in reversed(kinds):
        x -= 62
        fill = "solid" if kind == "measured" else "hollow"
        parts.append(
            f'<circle class="m0 {fill}" cx="{x - 9:g}" cy="38" r="4.5"/>'
            f'<text class="soft" x="{x:g}" y="42">{kind}</text>'
        )
        x -= 24
    return parts


def _axes(view: Roofline, frame: Frame) -> list[str]:
    (x_labelled, x_between), (y_labelled, y_between) = axis_ticks(frame)
    bottom, right = frame.top + frame.height, frame.left + frame.width
    parts = []
    for name, xs, ys in (("fine", x_between, y_between), ("grid", x_labelled, y_labelled)):
        lines = [f"M{frame.px(v):.1f} {frame.top:g}V{bottom:g}" for v in xs]
        lines += [f"M{frame.left:g} {frame.py(v):.1f}H{right:g}" for v in ys]
        parts.append(f'<path class="{name}" d="{"".join(lines)}"/>')
    parts.append(
        f'<rect class="edge" x="{frame.left:g}" y="{frame.top:g}" width="{frame.width:g}" height="{frame.height:g}"/>'
    )
    parts += [
        f'<text class="soft" x="{frame.px(v):.1f}" y="{bottom + 17:g}" text-anchor="middle">{power(v)}</text>'
        for v in x_labelled
    ]
    parts += [
        f'<text class="soft" x="{frame.left - 7:g}" y="{frame.py(v) + 4:.1f}" text-anchor="end">'
        f"{quantity(v, '')}</text>"
        for v in y_labelled
    ]
    middle = frame.top + frame.height / 2
    parts.append(
        f'<text x="{frame.left + frame.width / 2:g}" y="{bottom + 38:g}" text-anchor="middle">'
        f'{escape(x_title(view))}</text><text transform="translate(20 {middle:g}) rotate(-90)" '
        f'text-anchor="middle">{view.unit}</text>'
    )
    return parts


def x_title(view: Roofline) -> str:
    return {
        "dram": f"Arithmetic intensity ({view.count} per byte of DRAM)",
        "l2": f"Arithmetic intensity ({view.count} per byte of L2)",
        "shared": f"Arithmetic intensity ({view.count} per byte of shared memory)",
    }[view.level]


def _line(line: Line) -> str:
    tip = f"<title>{escape(line.title)}</title>" if line.title else ""
    return (
        f'<line class="{line.kind}" x1="{line.x1:.1f}" y1="{line.y1:.1f}" x2="{line.x2:.1f}" y2="{line.y2:.1f}">'
        f"{tip}</line>"
    )


def _label(label: Label) -> str:
    turn = f' transform="rotate({label.turn:.1f} {label.x:.1f} {label.y:.1f})"' if label.turn else ""
    anchor = f' text-anchor="{label.anchor}"' if label.anchor != "start" else ""
    return (
        f'<text class="{label.kind} halo" x="{label.x:.1f}" y="{label.y:.1f}"{anchor}{turn}>{escape(label.text)}</text>'
    )


def _marker(marker: Marker) -> str:
    color = f"m{marker.color % len(COLORS)}"
    bar = ""
    if marker.low is not None and marker.high is not None:
        bar = (
            f'<path class="{color}" d="M{marker.x:.1f} {marker.low:.1f}V{marker.high:.1f}'
            f'M{marker.x - 4:.1f} {marker.low:.1f}h8M{marker.x - 4:.1f} {marker.high:.1f}h8"/>'
        )
    return (
        f'<g>{bar}<circle class="{color} {"solid" if marker.solid else "hollow"}" cx="{marker.x:.1f}" '
        f'cy="{marker.y:.1f}" r="5.5"><title>{escape(marker.title)}</title></circle></g>'
    )
