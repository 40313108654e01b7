"""Persistent store of tuning results and kernel versions: an SQLite file in the cache folder.

Processes may share it. Texts and machine code are stored compressed under their content hash, so that a version does not
depend on the cache of cubins. A damaged file is renamed, never overwritten. If the folder cannot be written, results are
kept in memory until the process ends, with one warning.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sqlite3
import threading
import time
import warnings
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from pyptx import cache
from pyptx.cache import load_json, make_private

__all__ = ["MAX_BYTES", "Store", "default_store", "get_blob", "load_json", "put_blob", "warn_damaged"]

MAX_BYTES = 256 << 20
FILE = "pyptx.sqlite"

T = TypeVar("T")

# One migration per version of the schema; user_version is the number of applied migrations. Never edit one.
_STEPS = (
    """
CREATE TABLE blobs (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY, kernel TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL,
    first REAL NOT NULL, last REAL NOT NULL, about TEXT NOT NULL, source TEXT NOT NULL, files TEXT NOT NULL,
    places TEXT NOT NULL, ptx TEXT NOT NULL, cubin TEXT NOT NULL, cell TEXT,
    UNIQUE (kernel, number), UNIQUE (kernel, key));
CREATE TABLE labels (
    kernel TEXT NOT NULL, label TEXT NOT NULL, version INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    PRIMARY KEY (kernel, label));
""",
    """
CREATE TABLE studies (
    key TEXT PRIMARY KEY, problem TEXT NOT NULL, place TEXT NOT NULL, last REAL NOT NULL, about TEXT NOT NULL);
CREATE INDEX studies_of_problem ON studies (problem);
CREATE TABLE trials (
    study TEXT NOT NULL REFERENCES studies (key) ON DELETE CASCADE, config TEXT NOT NULL, state TEXT NOT NULL,
    seconds REAL, at REAL NOT NULL, about TEXT NOT NULL, PRIMARY KEY (study, config));
""",
)
_BUSY_S = 30  # how long to wait for another process' transaction
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNUSABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
_FREE_PAGES = 256  # free pages that trigger an incremental vacuum


class Store:
    """The database file. It is opened for each transaction, so threads, forks and processes may share it.

    Args:
        path: the file; it and its folder are made when first needed.
        max_bytes: what `used_bytes` should stay under; whoever adds data takes old data away.
        steps: SQL of each version of the schema, applied in order; default: that of tuning results and versions.
    """

    max_bytes: int
    path: Path

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES, steps: tuple[str, ...] = _STEPS):
        self.path, self.max_bytes, self._steps = Path(path), max_bytes, steps
        self._memory: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    def read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of `ask` in a read transaction; it is repeated if the file turns out to be damaged."""
        return self._run(ask, "BEGIN")

    def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in a write transaction, which is rolled back if the function raises."""
        return self._run(change, "BEGIN IMMEDIATE")

    def used_bytes(self) -> int:
        """Total size of the stored texts and cubins in bytes."""
        return self.read(used_bytes)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})" + (" in memory" if self._memory else "")

    # transactions -----------------------------------------------------------------------------------------------------

    def _run(self, function: Callable[[sqlite3.Connection], T], begin: str) -> T:
        for _ in range(3):  # a damaged file is replaced once; another process may race to do so
            if self._memory is not None:
                break
            before = self._identity()
            try:
                with closing(self._open()) as connection:
                    return _transaction(connection, function, begin)
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _DAMAGED:
                    self._set_aside(before, error)
                elif code in _UNUSABLE:
                    self._fall_back(str(error))
                else:
                    raise
            except _DamagedError as error:
                self._set_aside(before, error)
            except _NewerError as error:
                self._fall_back(str(error), copied=False)
            except OSError as error:
                self._fall_back(str(error))
        memory = self._memory or self._fall_back("it is damaged repeatedly")
        with self._lock:
            return _transaction(memory, function, begin)

    def _open(self) -> sqlite3.Connection:
        make_private(self.path.parent)
        connection = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None)
        try:
            _prepare(connection, self._steps)
        except BaseException:
            connection.close()
            raise
        return connection

    # when the file cannot be used -------------------------------------------------------------------------------------

    def _identity(self) -> os.stat_result | None:
        try:
            return self.path.stat()
        except OSError:
            return None

    def _set_aside(self, seen: os.stat_result | None, error: Exception) -> None:
        """Rename the damaged file, unless another process has replaced it since it was `seen`."""
        if seen is None or not self._still(seen):
            return
        aside = self.path.with_name(f"{self.path.name}.damaged-{seen.st_ino:x}-{seen.st_mtime_ns:x}")
        try:
            try:
                os.close(os.open(aside, os.O_CREAT | os.O_EXCL))  # claims the renaming for this process
            except FileExistsError:
                for _ in range(20):
                    if not self._still(seen):
                        return
                    time.sleep(0.1)  # the claiming process died
            for part in ("-wal", "-shm"):  # a stale log would be replayed into the new file
                left = self.path.with_name(self.path.name + part)
                if left.exists():
                    os.replace(left, aside.with_name(aside.name + part))
            os.replace(self.path, aside)
        except OSError as fault:
            self._fall_back(f"{error}, and it cannot be renamed: {fault}")
            return
        warnings.warn(
            f"the store {self.path} is damaged ({error}). It was renamed to {aside.name}; a new store was created.",
            RuntimeWarning,
            stacklevel=5,
        )

    def _still(self, seen: os.stat_result) -> bool:
        now = self._identity()
        return now is not None and (now.st_ino, now.st_dev) == (seen.st_ino, seen.st_dev)

    def _fall_back(self, reason: str, *, copied: bool = True) -> sqlite3.Connection:
        """Continue with an in-memory database that starts with the readable content of the file."""
        with self._lock:
            if self._memory is not None:
                return self._memory
            self._memory = (copied and self._copy()) or _memory()
            _prepare(self._memory, self._steps)
        warnings.warn(
            f"the store {self.path} cannot be used ({reason}); results are kept in memory and lost when this process "
            "ends. Set PYPTX_CACHE_DIR to use another folder.",
            RuntimeWarning,
            stacklevel=5,
        )
        return self._memory

    def _copy(self) -> sqlite3.Connection | None:
        for how in ("mode=ro", "mode=ro&immutable=1"):  # the second needs no log beside the file, and reads none
            memory = _memory()
            try:
                with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?{how}", uri=True)) as file:
                    file.backup(memory)
                return memory
            except sqlite3.DatabaseError:  # not readable in this way
                memory.close()
        return None


class _DamagedError(Exception):
    """The tables of the file are not those of its schema version."""


class _NewerError(Exception):
    """The file has the schema of a newer version of pyptx."""


def _memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection, steps: tuple[str, ...]) -> None:
    """Configure a connection and migrate the schema."""
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_S * 1000}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.text_factory = _decode
    if _schema(connection, steps) == len(steps):
        if _tables(connection) != _expected_tables(steps):
            raise _DamagedError("its tables are not those of a store")
        return
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # effective only before the first table
    for _ in range(100):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except (
            sqlite3.OperationalError
        ) as error:  # two processes create the file at once, which SQLite does not wait for
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(0.05)
    connection.execute("BEGIN IMMEDIATE")
    for number, step in enumerate(steps[_schema(connection, steps) :], _schema(connection, steps) + 1):
        for statement in filter(str.strip, step.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("COMMIT")


def _decode(data: bytes) -> str:
    """Decode text of the file; damaged text is no error here, but does not match or parse later."""
    return data.decode(errors="replace")


def _tables(connection: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    return frozenset((name, " ".join((sql or "").split())) for name, sql in rows)


@functools.cache
def _expected_tables(steps: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in steps:
            connection.executescript(step)
        return _tables(connection)


def _schema(connection: sqlite3.Connection, steps: tuple[str, ...]) -> int:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > len(steps):
        raise _NewerError(f"written by a newer version of pyptx: schema {found}; this version supports {len(steps)}")
    return found


def _transaction(connection: sqlite3.Connection, function: Callable[[sqlite3.Connection], T], begin: str) -> T:
    connection.execute(begin)
    try:
        value = function(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if begin != "BEGIN" and connection.execute("PRAGMA freelist_count").fetchone()[0] > _FREE_PAGES:
        connection.executescript("PRAGMA incremental_vacuum")  # execute() would free a single page
    return value


def put_blob(connection: sqlite3.Connection, data: bytes) -> str:
    """Store data in a `write` transaction; return its content hash."""
    name = hashlib.sha256(data).hexdigest()
    packed = zlib.compress(data)
    connection.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", (name, len(packed), packed))
    return name


def get_blob(connection: sqlite3.Connection, name: str) -> bytes | None:
    """Return the data of a content hash; None if it is missing or damaged."""
    row = connection.execute("SELECT data FROM blobs WHERE hash = ?", (name,)).fetchone()
    if row is None:
        return None
    try:
        data = zlib.decompress(row[0])
    except (zlib.error, TypeError):  # TypeError: not a blob
        return None
    return data if hashlib.sha256(data).hexdigest() == name else None


def warn_damaged(what: str, reason: object) -> None:
    """Warn that a damaged record of the store is ignored."""
    warnings.warn(f"{what} in the store is damaged ({reason}) and is ignored", RuntimeWarning, stacklevel=3)


def used_bytes(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT coalesce(sum(size), 0) FROM blobs").fetchone()[0]


_stores: dict[Path, Store] = {}
_stores_lock = threading.Lock()


def default_store() -> Store:
    """Return the store in the current cache folder."""
    path = cache.DEFAULT_CACHE_DIR / FILE
    with _stores_lock:
        return _stores.setdefault(path, Store(path))
