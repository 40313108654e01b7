"""Tables of versions, as text and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from html import escape

__all__ = ["COLUMNS", "html", "rows", "text"]

COLUMNS = (
    "version",
    "labels",
    "compiled",
    "where",
    "target",
    "parameters",
    "options",
    "registers",
    "spills",
    "shared",
    "SASS",
    "machine code",
    "key",
)
_NUMBERS = {"registers", "spills", "shared", "SASS"}
_INK = "color:var(--jp-content-font-color1,#1b1f24);background:var(--jp-layout-color1,#fff)"
_HEAD = "color:var(--jp-content-font-color1,#1b1f24);background:var(--jp-layout-color2,#f0f2f5)"


EMPTY = "no versions are recorded yet; a %%ptxkernel cell or pyptx.history.keep(compiled) records one"


def rows(versions: Iterable) -> list[tuple[str, ...]]:
    """Return the cells of each version, in the order of COLUMNS; sizes are in bytes, SASS in instructions."""
    seen: dict[tuple[str, str], str] = {}  # (kernel, cubin) -> the version that had it first
    found = []
    for version in versions:
        used, code = version.used, (version.kernel, version._blobs["cubin"])
        same = seen.setdefault(code, version.ref)
        found.append(
            (
                version.ref,
                ", ".join(version.labels),
                _time(version.last),
                ", ".join(filter(None, (version.notebook, version.cell))),
                version.target,
                " ".join(f"{name}={value}" for name, value in version.params.items()),
                " ".join(version.options),
                str(used.registers),
                str(used.spill_stores + used.spill_loads),
                str(used.shared_bytes + version.dynamic_shared_bytes),
                "" if version.instructions is None else str(version.instructions),
                "" if same == version.ref else f"as {same}",
                version.key[:10],
            )
        )
    return found


def text(table: Sequence[tuple[str, ...]]) -> str:
    """Return the table as aligned text, without empty columns."""
    if not table:
        return EMPTY
    shown = _shown(table)
    widths = [max(len(COLUMNS[i]), *(len(row[i]) for row in table)) for i in shown]

    def line(row: Sequence[str]) -> str:
        cells = (
            row[i].rjust(width) if COLUMNS[i] in _NUMBERS else row[i].ljust(width)
            for i, width in zip(shown, widths, strict=True)
        )
        return "  ".join(cells).rstrip()

    return "\n".join([line(COLUMNS), *map(line, table)])


def html(table: Sequence[tuple[str, ...]]) -> str:
    """Return the table as HTML with inline styles only, which works on GitHub, nbviewer and in dark themes."""
    if not table:
        return f'<div style="{_INK}">{escape(EMPTY)}</div>'
    shown = _shown(table)

    def cells(row: Sequence[str], tag: str, style: str) -> str:
        return "".join(
            f'<{tag} style="{style};padding:2px 8px;white-space:nowrap;text-align:'
            f'{"right" if COLUMNS[i] in _NUMBERS else "left"}">{escape(row[i])}</{tag}>'
            for i in shown
        )

    body = "".join(f"<tr>{cells(row, 'td', _INK)}</tr>" for row in table)
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse;{_INK}"><thead><tr>'
        f"{cells(COLUMNS, 'th', _HEAD)}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _shown(table: Sequence[tuple[str, ...]]) -> list[int]:
    return [i for i in range(len(COLUMNS)) if any(row[i] for row in table)]


def _time(when) -> str:
    return f"{when:%H:%M:%S}" if when.date() == date.today() else f"{when:%Y-%m-%d %H:%M}"
