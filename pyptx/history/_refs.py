"""References to versions: `rms_norm@3`, `rms_norm@-1`, `rms_norm@baseline`, `rms_norm`, `baseline`, `1f3a9c02`."""

from __future__ import annotations

import re
import sqlite3
from difflib import get_close_matches

from pyptx.history._version import VersionError

__all__ = ["check_label", "find", "known"]

_LABEL = re.compile(r"[A-Za-z_][\w.-]*")
_KEY = re.compile(r"[0-9a-f]{4,32}")
_MOST = 8                                               # names listed in an error


def find(connection: sqlite3.Connection, ref: str, kernel: str | None = None) -> sqlite3.Row:
    """The row of the version that `ref` names.

    Args:
        ref: KERNEL@NUMBER (as listed; -1 is the newest), KERNEL@LABEL, KERNEL (the newest), LABEL, or the first digits
            (4 at least) of a key.
        kernel: what `@NUMBER` and `@LABEL` belong to, and labels are looked up in first.
    Raises:
        VersionError: no version is called so, or several are.
    """
    connection.row_factory = sqlite3.Row
    name, at, which = ref.partition("@")
    if at:
        name = name or kernel or ""
        if not name:
            raise VersionError(f"{ref!r}: which kernel? Write NAME{ref}", hint=_kernels(connection))
        return _of_kernel(connection, ref, name, which)
    if kernel and (row := _labelled(connection, kernel, ref)):
        return row
    if rows := _versions(connection, ref):
        return rows[-1]
    rows = connection.execute("SELECT v.* FROM labels l JOIN versions v ON v.id = l.version WHERE l.label = ?",
                              (ref,)).fetchall()
    if not rows and _KEY.fullmatch(ref):
        rows = connection.execute("SELECT * FROM versions WHERE key LIKE ? ORDER BY id", (ref + "%",)).fetchall()
    if len(rows) == 1:
        return rows[0]
    if rows:
        raise VersionError(f"{ref!r} names {len(rows)} versions: {_some([_ref(row) for row in rows])}")
    raise VersionError(f"no version is called {ref!r}", hint=_near(connection, ref) or _kernels(connection))


def check_label(connection: sqlite3.Connection, label: str) -> None:
    """Refuse labels that a reference could not name.

    Raises:
        VersionError
    """
    if not _LABEL.fullmatch(label):
        raise VersionError(f"{label!r} is no label; expected letters, digits, '_', '.', '-', a letter first")
    if _versions(connection, label):
        raise VersionError(f"{label!r} is no label: a kernel is called so")


def known(connection: sqlite3.Connection) -> list[str]:
    """Every kernel, then every version and label of each, as references."""
    kernels = connection.execute("SELECT DISTINCT kernel FROM versions ORDER BY kernel").fetchall()
    versions = connection.execute("SELECT kernel, number FROM versions ORDER BY kernel, number").fetchall()
    labels = connection.execute("SELECT DISTINCT label FROM labels ORDER BY label").fetchall()
    return [*(row[0] for row in kernels), *(f"{row[0]}@{row[1]}" for row in versions), *(row[0] for row in labels)]


def _of_kernel(connection: sqlite3.Connection, ref: str, kernel: str, which: str) -> sqlite3.Row:
    rows = _versions(connection, kernel)
    if not rows:
        raise VersionError(f"{ref!r}: no version of {kernel!r} is kept",
                           hint=_near(connection, kernel) or _kernels(connection))
    if re.fullmatch(r"-?\d+", which):
        number = int(which)
        if number < 0:
            row = rows[number] if -number <= len(rows) else None
        else:
            row = next((row for row in rows if row["number"] == number), None)
    else:
        row = _labelled(connection, kernel, which)
    if row is None:
        labels = [label for label, in connection.execute("SELECT label FROM labels WHERE kernel = ? ORDER BY label",
                                                         (kernel,))]
        raise VersionError(f"{kernel} has no version {ref!r}; it has {_some([_ref(row) for row in rows])}"
                           + (f", labels {_some(labels)}" if labels else " and no labels"))
    return row


def _versions(connection: sqlite3.Connection, kernel: str) -> list[sqlite3.Row]:
    return connection.execute("SELECT * FROM versions WHERE kernel = ? ORDER BY number", (kernel,)).fetchall()


def _labelled(connection: sqlite3.Connection, kernel: str, label: str) -> sqlite3.Row | None:
    return connection.execute("SELECT v.* FROM labels l JOIN versions v ON v.id = l.version "
                              "WHERE l.kernel = ? AND l.label = ?", (kernel, label)).fetchone()


def _kernels(connection: sqlite3.Connection) -> str:
    rows = connection.execute("SELECT kernel, min(number), max(number), count(*) FROM versions GROUP BY kernel "
                              "ORDER BY max(last) DESC").fetchall()
    if not rows:
        return "no versions are kept yet"
    parts = [f"{kernel}@{low}" + (f" to @{high}" if count > 1 else "") for kernel, low, high, count in rows]
    return f"there are {_some(parts)}"


def _near(connection: sqlite3.Connection, ref: str) -> str:
    close = get_close_matches(ref, known(connection), 3)
    return f"did you mean {' or '.join(close)}?" if close else ""


def _ref(row: sqlite3.Row) -> str:
    return f"{row['kernel']}@{row['number']}"


def _some(names: list[str]) -> str:
    """The names; of many, the first two and the last ones."""
    shown = names if len(names) <= _MOST else [*names[:2], "...", *names[2 - _MOST:]]
    return ", ".join(shown)
