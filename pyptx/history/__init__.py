"""History: recorded versions of kernels, which can be listed, labeled and restored, also after a restart.

A `%%ptxkernel` cell records what it compiles; scripts and plain cells call `keep(compiled)`. A version is new if its
Python functions, parameters, target, options, PTX or machine code differ from all earlier versions of the kernel;
otherwise the date of the existing version is updated. The size of the history is bounded: the oldest versions are
removed first, except labeled ones and the newest of each kernel.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pyptx.assembly import Assembly
from pyptx.compiled import Compiled
from pyptx.errors import OperandError, ToolError
from pyptx.history import _places, _refs
from pyptx.history._version import Version, VersionError, Versions, load
from pyptx.store import default_store, get_blob, load_json, put_blob, used_bytes, warn_damaged

__all__ = [
    "Version",
    "VersionError",
    "Versions",
    "keep",
    "name",
    "refs",
    "restore",
    "version",
    "version_of",
    "versions",
]

_BLOBS = ("source", "files", "places", "ptx", "cubin", "cell")


def versions(name: str | None = None) -> Versions:
    """Return the versions of a kernel, oldest first; without a name those of all kernels.

    Raises:
        VersionError: the history has no version of the kernel.
    """
    store = default_store()

    def ask(connection: sqlite3.Connection) -> list[Version]:
        if name is not None:
            _refs.find(connection, f"{name}@-1")
        connection.row_factory = sqlite3.Row
        rows = connection.execute(
            "SELECT * FROM versions WHERE ?1 IS NULL OR kernel = ?1 ORDER BY kernel, number", (name,)
        ).fetchall()
        return list(_intact(connection, rows))

    return Versions(store.read(ask))


def version(ref: str | Version, *, kernel: str | None = None) -> Version:
    """Return the version that a reference names.

    Args:
        ref: KERNEL@NUMBER ("rms_norm@3"; -1 is the newest), KERNEL@LABEL, KERNEL (the newest), LABEL, or the first
            digits (4 at least) of a key.
        kernel: the kernel of a reference without one, such as "@-1".
    Raises:
        VersionError: the reference names no version, or several; the message lists the existing ones.
    """
    return default_store().read(lambda connection: _load(connection, _refs.find(connection, _text(ref), kernel)))


def version_of(compiled: Assembly) -> Version | None:
    """Return the newest version of the kernel traced from the same functions, of any sizes; None if there is none."""
    source = "\n".join(_places.functions(compiled.places))

    def ask(connection: sqlite3.Connection) -> Version | None:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM versions WHERE kernel = ? ORDER BY number DESC", (compiled.name,))
        found = (row for row in rows.fetchall() if get_blob(connection, row["source"]) == source.encode())
        return next(_intact(connection, found), None)

    return default_store().read(ask) if source else None


def name(ref: str | Version, label: str) -> Version:
    """Label a version. A label of another version of the kernel moves to this one.

    Raises:
        VersionError: no such version, or the label is ambiguous with other references.
    """

    def change(connection: sqlite3.Connection) -> Version:
        row = _refs.find(connection, _text(ref))
        _refs.check_label(connection, label)
        connection.execute("INSERT OR REPLACE INTO labels VALUES (?, ?, ?)", (row["kernel"], label, row["id"]))
        return _load(connection, row)

    return default_store().write(change)


def restore(ref: str | Version) -> Compiled:
    """Return the compiled code of a version, to view, compare or save it. Nothing is traced or assembled.

    Raises:
        VersionError: no such version, or its stored data is damaged.
    """
    return version(ref).compiled()


def refs() -> list[str]:
    """Return all valid references: kernels, their versions, labels."""
    return default_store().read(_refs.known)


def keep(
    compiled: Assembly,
    *,
    params: Mapping[str, Any] | None = None,
    block: Sequence[int] | None = None,
    dynamic_shared_bytes: int = 0,
    issues: Sequence[int] | None = None,
    cell: str | None = None,
    cell_source: str | None = None,
    notebook: str | None = None,
    file_name: Callable[[str], str | None] = lambda file: None,
) -> Version:
    """Record compiled code as a version of its kernel.

    Args:
        params: template parameters and sizes it was compiled for.
        block, dynamic_shared_bytes: launch configuration, for the occupancy.
        issues: warp instructions that a simulated launch issued for each line of the PTX text.
        cell, cell_source, notebook: the cell with the kernel: "Cell In[3]", its text, and "norms.ipynb".
        file_name: returns the display name of a source file; None: its own name.
    Returns:
        The new version, or the identical existing one with its date updated.
    """
    plain = {key: _plain(value) for key, value in (params or {}).items()}
    source = "\n".join(_places.functions(compiled.places))
    parts = {
        "source": source.encode(),
        "ptx": compiled.ptx.encode(),
        "cubin": compiled.cubin,
        "files": _json(_places.sources(compiled.places, file_name)),
        "places": _json(_places.pack(compiled.places)),
    }
    key = hashlib.sha256(
        _json([compiled.name, source, plain, compiled.key, hashlib.sha256(compiled.cubin).hexdigest()])
    ).hexdigest()[:32]
    about = {
        "compiled_key": compiled.key,
        "target": compiled.target,
        "options": list(compiled.options),
        "lineinfo": compiled.lineinfo,
        "tool": compiled.tool,
        "params": plain,
        "resources": {entry: asdict(used) for entry, used in compiled.resources.items()},
        "warnings": [[d.message, d.line, d.hint] for d in compiled.warnings],
        "instructions": _instructions(compiled),
        "block": block and [*map(int, block)],
        "dynamic_shared_bytes": dynamic_shared_bytes,
        "issues": issues and [*map(int, issues)],
        "cell": cell,
        "notebook": notebook,
    }
    store, now = default_store(), time.time()

    def change(connection: sqlite3.Connection) -> Version:
        connection.row_factory = sqlite3.Row
        text = put_blob(connection, cell_source.encode()) if cell_source is not None else None
        row = connection.execute("SELECT * FROM versions WHERE kernel = ? AND key = ?", (compiled.name, key)).fetchone()
        if row and all(get_blob(connection, row[part]) is not None for part in parts):
            names = {part: row[part] for part in parts} | {"cell": text}
        else:
            names = {part: put_blob(connection, data) for part, data in parts.items()} | {"cell": text}
        if row:
            again = _stored_about(connection, row) or about
            again |= {"cell": cell, "notebook": notebook}
            again |= {"issues": about["issues"]} if issues is not None else {}
            connection.execute(
                f"UPDATE versions SET last = ?, about = ?, {' = ?, '.join(_BLOBS)} = ? WHERE id = ?",
                (now, json.dumps(again), *(names[part] for part in _BLOBS), row["id"]),
            )
            return _row(connection, row["id"])
        number = connection.execute(
            "SELECT coalesce(max(number), 0) + 1 FROM versions WHERE kernel = ?", (compiled.name,)
        ).fetchone()[0]
        added = connection.execute(
            f"INSERT INTO versions (kernel, number, key, first, last, about, {', '.join(_BLOBS)}) "
            f"VALUES (?, ?, ?, ?, ?, ?{', ?' * len(_BLOBS)})",
            (compiled.name, number, key, now, now, json.dumps(about), *(names[part] for part in _BLOBS)),
        ).lastrowid
        _make_room(connection, store.max_bytes)
        assert added is not None, "an INSERT has a row id"
        return _row(connection, added)

    return store.write(change)


def _make_room(connection: sqlite3.Connection, max_bytes: int) -> None:
    """Delete unreferenced blobs and, above `max_bytes`, the oldest versions until three quarters of it are used."""
    named = " UNION ".join(f"SELECT {part} FROM versions WHERE {part} IS NOT NULL" for part in _BLOBS)
    limit = max_bytes
    while True:
        connection.execute(f"DELETE FROM blobs WHERE hash NOT IN ({named})")
        used = used_bytes(connection)
        if used <= limit:
            return
        limit = max_bytes * 3 // 4
        old = connection.execute(
            "SELECT id FROM versions v WHERE id NOT IN (SELECT version FROM labels) AND number < "
            "(SELECT max(number) FROM versions WHERE kernel = v.kernel) ORDER BY last"
        ).fetchall()
        if not old:
            return
        connection.executemany("DELETE FROM versions WHERE id = ?", [(row[0],) for row in old[: -(-len(old) // 8)]])


def _intact(connection: sqlite3.Connection, rows: Iterable[sqlite3.Row]) -> Iterator[Version]:
    """Yield the versions in rows; damaged ones cause a warning."""
    for row in rows:
        try:
            yield _load(connection, row)
        except VersionError as error:
            warn_damaged("a version", error)


def _stored_about(connection: sqlite3.Connection, row: sqlite3.Row) -> dict[str, Any] | None:
    """Return the description in a row; None if it is damaged."""
    try:
        _load(connection, row)
    except VersionError:
        return None
    return load_json(row["about"])


def _row(connection: sqlite3.Connection, number: int) -> Version:
    return _load(connection, connection.execute("SELECT * FROM versions WHERE id = ?", (number,)).fetchone())


def _load(connection: sqlite3.Connection, row: sqlite3.Row) -> Version:
    labels = connection.execute("SELECT label FROM labels WHERE version = ? ORDER BY label", (row["id"],))
    return load(row, [label[0] for label in labels], default_store())


def _text(ref: str | Version) -> str:
    if isinstance(ref, Version):
        return ref.ref
    if not isinstance(ref, str):
        raise OperandError(f"a version is named by text such as 'rms_norm@3', not by {type(ref).__name__}")
    return ref


def _instructions(compiled: Assembly) -> int | None:
    try:
        return len(compiled.sass)
    except ToolError:  # without nvdisasm the version is recorded without the count
        return None


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else repr(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
