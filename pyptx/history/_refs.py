"""References to versions: `rms_norm@3`, `rms_norm@-1`, `rms_norm@baseline`, `rms_norm`, `baseline`, `1f3a9c02`."""

from __future__ import annotations

import re
import sqlite3
from difflib import get_close_matches

from pyptx.history._version import VersionError

__all__ = ["check_label", "find", "known"]

_LABEL = re.compile(r"[A-Za-z_][\w.-]*")
_KEY = re.compile(r"[0-9a-f]{4,32}")
_MAX_LISTED = 8  # names in an error


def find(connection: sqlite3.Connection, ref: str, kernel: str | None = None) -> sqlite3.Row:
    """Return the row of the version that `ref` names.

    Args:
        ref: KERNEL@NUMBER (as listed; -1 is the newest), KERNEL@LABEL, KERNEL (the newest), LABEL, or the first digits
            (4 at least) of a key.
        kernel: the kernel of `@NUMBER` and `@LABEL`, and the first one to search for labels.
    Raises:
        VersionError: the reference names no version, or several.
    """
    connection.row_factory = sqlite3.Row
    name, at, which = ref.partition("@")
    if at:
        name = name or kernel or ""
        if not name:
            raise VersionError(f"{ref!r}: which kernel? Write NAME{ref}", hint=_kernels(connection))
        return _of_kernel(connection, ref, name, which)
    if kernel and (row := _labeled(connection, kernel, ref)):
        return row
    if rows := _versions(connection, ref):
        return rows[-1]
    rows = connection.execute(
        "SELECT v.* FROM labels l JOIN versions v ON v.id = l.version WHERE l.label = ?", (ref,)
    ).fetchall()
    if not rows and _KEY.fullmatch(ref):
        rows = connection.execute("SELECT * FROM versions WHERE key LIKE ? ORDER BY id", (ref + "%",)).fetchall()
    if len(rows) == 1:
        return rows[0]
    if rows:
        raise VersionError(f"{ref!r} names {len(rows)} versions: {_some([_ref(row) for row in rows])}")
    raise VersionError(f"no version is named {ref!r}", hint=_near(connection, ref) or _kernels(connection))


def check_label(connection: sqlite3.Connection, label: str) -> None:
    """Check that a label is usable as a reference.

    Raises:
        VersionError: it is not an identifier, or the name of a kernel.
    """
    if not _LABEL.fullmatch(label):
        raise VersionError(
            f"{label!r} is not a label; expected letters, digits, '_', '.' and '-', starting with a letter"
        )
    if _versions(connection, label):
        raise VersionError(f"{label!r} cannot be a label: it is the name of a kernel")


def known(connection: sqlite3.Connection) -> list[str]:
    """Return all references: kernels, then versions, then labels."""
    kernels = connection.execute("SELECT DISTINCT kernel FROM versions ORDER BY kernel").fetchall()
    versions = connection.execute("SELECT kernel, number FROM versions ORDER BY kernel, number").fetchall()
    labels = connection.execute("SELECT DISTINCT label FROM labels ORDER BY label").fetchall()
    return [*(row[0] for row in kernels), *(f"{row[0]}@{row[1]}" for row in versions), *(row[0] for row in labels)]


def _of_kernel(connection: sqlite3.Connection, ref: str, kernel: str, which: str) -> sqlite3.Row:
    rows = _versions(connection, kernel)
    if not rows:
        raise VersionError(
            f"{ref!r}: {kernel!r} has no recorded version", hint=_near(connection, kernel) or _kernels(connection)
        )
    if re.fullmatch(r"-?\d+", which):
        number = int(which)
        if number < 0:
            row = rows[number] if -number <= len(rows) else None
        else:
            row = next((row for row in rows if row["number"] == number), None)
    else:
        row = _labeled(connection, kernel, which)
    if row is None:
        labels = [
            label
            for (label,) in connection.execute("SELECT label FROM labels WHERE kernel = ? ORDER BY label", (kernel,))
        ]
        raise VersionError(
            f"{kernel} has no version {ref!r}; it has {_some([_ref(row) for row in rows])}"
            + (f", labels {_some(labels)}" if labels else " and no labels")
        )
    return row


def _versions(connection: sqlite3.Connection, kernel: str) -> list[sqlite3.Row]:
    return connection.execute("SELECT * FROM versions WHERE kernel = ? ORDER BY number", (kernel,)).fetchall()


def _labeled(connection: sqlite3.Connection, kernel: str, label: str) -> sqlite3.Row | None:
    return connection.execute(
        "SELECT v.* FROM labels l JOIN versions v ON v.id = l.version WHERE l.kernel = ? AND l.label = ?",
        (kernel, label),
    ).fetchone()


def _kernels(connection: sqlite3.Connection) -> str:
    rows = connection.execute(
        "SELECT kernel, min(number), max(number), count(*) FROM versions GROUP BY kernel ORDER BY max(last) DESC"
    ).fetchall()
    if not rows:
        return "no versions are recorded yet"
    parts = [f"{kernel}@{low}" + (f" to @{high}" if count > 1 else "") for kernel, low, high, count in rows]
    return f"recorded: {_some(parts)}"


def _near(connection: sqlite3.Connection, ref: str) -> str:
    close = get_close_matches(ref, known(connection), 3)
    return f"did you mean {' or '.join(close)}?" if close else ""


def _ref(row: sqlite3.Row) -> str:
    return f"{row['kernel']}@{row['number']}"


def _some(names: list[str]) -> str:
    """Return the names as text; of many, the first two and the last ones."""
    shown = names if len(names) <= _MAX_LISTED else [*names[:2], "...", *names[2 - _MAX_LISTED :]]
    return ", ".join(shown)
