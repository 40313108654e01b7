"""The far side's store of binary parts, by SHA-256: in memory, and in the cache folder for later connections."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

from pyptx import cache
from pyptx.remote.codec import digest
from pyptx.remote.framing import Bytes

__all__ = ["LEAST_KEPT", "ON_DISK", "PartStore", "files", "folder"]

LEAST_KEPT = 1 << 14  # bytes of a part from which on it is also kept on disk
IN_MEMORY = 1 << 30  # bytes
ON_DISK = 8 << 30


def folder() -> Path:
    """Return the folder of the parts on this machine."""
    return cache.DEFAULT_CACHE_DIR / "remote"


class PartStore:
    """Binary parts by digest. Least recently used parts are evicted.

    Args:
        folder: where large parts are kept; a folder that cannot be written is not used.
    """

    def __init__(self, folder: Path, *, in_memory: int = IN_MEMORY, on_disk: int = ON_DISK):
        self.folder, self._in_memory, self._on_disk = folder, in_memory, on_disk
        self._parts: OrderedDict[str, Bytes] = OrderedDict()
        self._bytes, self._written, self._lock = 0, 0, threading.Lock()

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the digests of parts that are not here."""
        return [name for name in names if name not in self._parts and not self._path(name).is_file()]

    def get(self, name: str) -> Bytes | None:
        """Return a part; None if it is not here."""
        with self._lock:
            if name in self._parts:
                self._parts.move_to_end(name)
                return self._parts[name]
        path = self._path(name)
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        if digest(data) != name:  # damaged
            path.unlink(missing_ok=True)
            return None
        self._remember(name, data)
        return data

    def put(self, data: Bytes, *, keep: bool = True) -> str:
        """Add a part; return its digest.

        Args:
            keep: also on disk, if it is large.
        """
        name = digest(data)
        if name in self._parts:
            return name
        if keep and len(data) >= LEAST_KEPT:
            self._write(name, data)
        self._remember(name, data)
        return name

    def _remember(self, name: str, data: Bytes) -> None:
        with self._lock:
            if name not in self._parts:
                self._bytes += len(data)
            self._parts[name] = data
            while self._bytes > self._in_memory and len(self._parts) > 1:
                self._bytes -= len(self._parts.popitem(last=False)[1])

    def _write(self, name: str, data: Bytes) -> None:
        path = self._path(name)
        try:
            cache.make_private(self.folder.parent)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                file.write(data)
            os.replace(file.name, path)
        except OSError:  # full or read-only: the part is sent again by the next connection
            return
        self._written += len(data)
        if self._written > self._on_disk // 8:
            self._evict()

    def _evict(self) -> None:
        self._written, total = 0, 0
        found = sorted(((stat.st_mtime, stat.st_size, path) for path, stat in files(self.folder)), reverse=True)
        for _, size, path in found:
            total += size
            if total > self._on_disk:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name


def files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Return the files of a store; those that another process removes meanwhile are left out."""
    found = []
    for path in folder.glob("??/*"):
        try:
            found.append((path, path.stat()))
        except OSError:
            continue
    return found
