"""Content-addressed cache of assembled kernels, shared by processes.

Each entry consists of `<hash>.ptx`, `<hash>.cubin` and `<hash>.json`. The last is written last and contains the hashes
of the others, so that a partial or damaged entry is a miss. `<hash>.sass` is a disassembly, `<hash>.trace` the record of a
trace (`pyptx.jit.traces`); both start with the hash of the rest. Files are written atomically and never unpickled; the least
recently used entries are evicted when the folder exceeds its limit. A folder that cannot be used causes one warning.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyptx.errors import InputError, OptionError

__all__ = [
    "CacheEntry",
    "CacheKey",
    "CubinCache",
    "DEFAULT_CACHE_DIR",
    "MAX_BYTES",
    "get_global_cache",
    "load_json",
    "make_private",
    "set_global_cache",
]

DEFAULT_CACHE_DIR: Path  # computed on access, by __getattr__
MAX_BYTES = 1 << 30
_FORMAT = 1
_RECORDS = {".sass": ("format", "tool", "columns"), ".trace": ("format", "trace")}  # suffix -> fields
_IN_MEMORY = 512  # entries
_SURVEY_EVERY = 64  # writes between two scans of the folder
_STALE_S = 3600  # a temporary file this old belongs to a dead process
_OURS = re.compile(r"([0-9a-f]{32})\.(ptx|cubin|json|sass|trace)|\.[0-9a-f]{32}\.\w+\.\d+-\d+\.tmp")


def _cache_dir() -> Path:
    """Return PYPTX_CACHE_DIR, else the platform's cache folder."""
    if text := os.environ.get("PYPTX_CACHE_DIR"):
        return Path(text).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("pyptx", appauthor=False)


def make_private(folder: Path) -> None:
    """Create a folder of pyptx that only its owner can use; tighten the default cache folder of an older version.

    Raises:
        OSError: it cannot be created.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.environ.get("PYPTX_CACHE_DIR") or folder != _cache_dir():
        return  # the user's folder: its permissions are the user's
    try:
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError:
        pass  # it belongs to another user


def load_json(data: str | bytes) -> Any:
    """Parse JSON of a file that may be damaged.

    Raises:
        ValueError, InputError: it is not UTF-8, not JSON, or nested too deeply.
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise InputError("JSON is nested too deeply") from None


def _max_bytes() -> int:
    """Return the limit from PYPTX_CACHE_BYTES, for example "500M" or "2G", else MAX_BYTES.

    Raises:
        OptionError: the variable is not a size.
    """
    text = os.environ.get("PYPTX_CACHE_BYTES", "").strip()
    if not text:
        return MAX_BYTES
    number = re.fullmatch(r"(\d+)\s*([kmgt]?)(i?b)?", text, re.IGNORECASE)
    if number is None:
        raise OptionError(
            f"PYPTX_CACHE_BYTES={text}: expected a number of bytes, optionally with a suffix K, M, G or T"
        )
    return int(number[1]) << 10 * " kmgt".index(number[2].lower() or " ")


def __getattr__(name: str) -> Any:
    if name == "DEFAULT_CACHE_DIR":
        return _cache_dir()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True)
class CacheKey:
    """Everything that a cubin depends on.

    Attributes:
        fn_id: identifier of the program, for example the hash of its text.
        template_kwargs: parameters, as a mapping or pairs in any order.
        input_shapes: shapes of the specialization.
        arch: target.
    """

    fn_id: str
    template_kwargs: Any = ()
    input_shapes: Any = ()
    arch: str = ""

    def hash(self) -> str:
        """Return 32 hexadecimal digits, equal in every process."""
        pairs = self.template_kwargs.items() if isinstance(self.template_kwargs, Mapping) else self.template_kwargs
        parts = [
            self.fn_id,
            sorted((str(name), _text(value)) for name, value in pairs),
            _text(self.input_shapes),
            self.arch,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def __hash__(self) -> int:
        return hash(self.hash())


def _text(value: Any) -> str:
    """Return a canonical text of a value: lists equal tuples, sets and mappings are sorted."""
    match value:
        case Mapping():
            return "{" + ", ".join(sorted(f"{_text(name)}: {_text(item)}" for name, item in value.items())) + "}"
        case list() | tuple():
            return "(" + ", ".join(map(_text, value)) + ")"
        case set() | frozenset():
            return "{" + ", ".join(sorted(map(_text, value))) + "}"
    return repr(value)


@dataclass(frozen=True)
class CacheEntry:
    """A cached program: its text, its cubin, and JSON metadata."""

    key: CacheKey
    ptx_source: str
    cubin_bytes: bytes | None
    metadata: dict[str, Any] = field(default_factory=dict)


class CubinCache:
    """Cache in memory and, unless `enable_disk` is false, in a folder. Safe to share between threads and processes.

    Args:
        cache_dir: the folder; default `DEFAULT_CACHE_DIR`.
        max_bytes: the folder's limit; the least recently used files go when it is exceeded. Default: PYPTX_CACHE_BYTES,
            or 1 GiB.
    """

    def __init__(
        self, cache_dir: str | os.PathLike[str] | None = None, enable_disk: bool = True, *, max_bytes: int | None = None
    ):
        self.cache_dir: Path = Path(cache_dir).expanduser() if cache_dir is not None else _cache_dir()
        self.enable_disk = enable_disk
        self.max_bytes: int = _max_bytes() if max_bytes is None else max_bytes
        self._memory: OrderedDict[str, CacheEntry] = OrderedDict()
        self._lock = threading.RLock()
        self._writes, self._written, self._warned = 0, 0, False

    def get(self, key: CacheKey) -> CacheEntry | None:
        """Return the entry; None if it is missing or damaged."""
        name = key.hash()
        with self._lock:
            if name in self._memory:
                self._memory.move_to_end(name)
                return self._memory[name]
        entry = self._load(key, name) if self.enable_disk else None
        if entry:
            self._remember(name, entry)
        return entry

    def put(self, entry: CacheEntry) -> None:
        """Store the entry, also on disk if possible."""
        name = entry.key.hash()
        self._remember(name, entry)
        if self.enable_disk:
            parts = {"ptx": entry.ptx_source.encode()}
            if entry.cubin_bytes is not None:
                parts["cubin"] = entry.cubin_bytes
            about = {
                "format": _FORMAT,
                "sha256": {part: _digest(data) for part, data in parts.items()},
                "metadata": entry.metadata,
            }
            for part, data in (*parts.items(), ("json", json.dumps(about).encode())):
                self._write(f"{name}.{part}", data)

    def get_sass(self, cubin_hash: str, tool: str) -> dict[str, Any] | None:
        """Return the cached disassembly of a cubin, or None. `cubin_hash`: 32 hexadecimal digits."""
        kept = self._record(cubin_hash, ".sass") if self.enable_disk else None
        return kept["columns"] if kept and (kept["format"], kept["tool"]) == (_FORMAT, tool) else None

    def put_sass(self, cubin_hash: str, tool: str, columns: dict[str, Any]) -> None:
        """Store a disassembly, as columns of plain values, with the version of the tool."""
        if self.enable_disk:
            self._write_record(f"{cubin_hash}.sass", {"format": _FORMAT, "tool": tool, "columns": columns})

    def get_trace(self, name: str) -> dict[str, Any] | None:
        """Return the record of a trace, or None. `name`: 32 hexadecimal digits."""
        kept = self._record(name, ".trace") if self.enable_disk else None
        return kept["trace"] if kept and kept["format"] == _FORMAT and isinstance(kept["trace"], dict) else None

    def put_trace(self, name: str, trace: dict[str, Any]) -> None:
        """Store the record of a trace, plain values."""
        if self.enable_disk:
            self._write_record(f"{name}.trace", {"format": _FORMAT, "trace": trace})

    def traces(self) -> list[dict[str, Any]]:
        """Return the records of all traces on disk, the one used last first."""
        files = sorted(self._files(), key=lambda file: -file[1].st_mtime)
        found = [self.get_trace(path.stem) for path, _ in files if path.suffix == ".trace"]
        return [trace for trace in found if trace is not None]

    def drop_trace(self, name: str) -> None:
        """Delete the record of a trace."""
        if self.enable_disk:
            self._delete([self.cache_dir / f"{name}.trace"])

    def clear(self, *, disk: bool = False) -> None:
        """Clear the memory; with `disk`, also delete the cache's files, but no other files of the folder."""
        with self._lock:
            self._memory.clear()
        if disk:
            self._delete(path for path, _ in self._files())

    def verify(self) -> tuple[int, list[Path]]:
        """Read every entry on disk and delete damaged ones; return the number of entries and the deleted files.

        A part without its entry is deleted when it is an hour old; until then somebody may be writing it.
        """
        files = {path: status for path, status in self._files() if path.suffix != ".tmp"}
        good, bad, owned = 0, [], set()
        for path in files:
            if path.suffix == ".json":
                parts = [path, *(p for p in (path.with_suffix(".ptx"), path.with_suffix(".cubin")) if p in files)]
                if self._parts(path.stem) is not None:
                    good += 1
                    owned.update(parts)
                elif path.exists():  # another process may have cleared it meanwhile
                    bad += parts
            elif path.suffix in _RECORDS:
                if self._record(path.stem, path.suffix) is not None:
                    good += 1
                elif path.exists():
                    bad.append(path)
        stale = time.time() - _STALE_S
        bad += [
            path
            for path, status in files.items()
            if path.suffix in (".ptx", ".cubin") and path not in owned and path not in bad and status.st_mtime < stale
        ]
        self._delete(bad)
        return good, bad

    def disk_bytes(self) -> int:
        """Total size of the cache's files in bytes."""
        return sum(status.st_size for _, status in self._files())

    def __len__(self) -> int:
        return len(self._memory)

    def __contains__(self, key: CacheKey) -> bool:
        return self.get(key) is not None

    def __repr__(self) -> str:
        return f"CubinCache({str(self.cache_dir)!r}, enable_disk={self.enable_disk})"

    # memory -----------------------------------------------------------------------------------------------------------

    def _remember(self, name: str, entry: CacheEntry) -> None:
        with self._lock:
            self._memory[name] = entry
            self._memory.move_to_end(name)
            while len(self._memory) > _IN_MEMORY:
                self._memory.popitem(last=False)

    # disk -------------------------------------------------------------------------------------------------------------

    def _load(self, key: CacheKey, name: str) -> CacheEntry | None:
        found = self._parts(name)
        if found is None:
            return None
        parts, metadata = found
        try:
            return CacheEntry(key, parts["ptx"].decode(), parts.get("cubin"), metadata)
        except UnicodeDecodeError as error:
            self._drop(name, error)
            return None

    def _parts(self, name: str) -> tuple[dict[str, bytes], dict[str, Any]] | None:
        """Return parts and metadata of an entry; None if a part is missing or damaged."""
        about = self._read(f"{name}.json")
        if about is None:
            return None
        try:
            about = load_json(about)
            kind, hashes, metadata = about["format"], dict(about["sha256"]), dict(about["metadata"])
        except (ValueError, KeyError, TypeError) as error:
            self._drop(name, error)
            return None
        if kind != _FORMAT or hashes.keys() not in ({"ptx"}, {"ptx", "cubin"}):
            return None
        parts: dict[str, bytes] = {}
        for part, digest in hashes.items():
            data = self._read(f"{name}.{part}")
            if data is None or _digest(data) != digest:
                return None
            parts[part] = data
        return parts, metadata

    def _record(self, name: str, suffix: str) -> dict[str, Any] | None:
        """Return the plain values of a file that starts with their hash; None if it is missing or damaged."""
        data = self._read(name + suffix)
        digest, _, body = (data or b"").partition(b"\n")
        if not data or digest.decode(errors="replace") != _digest(body):
            return None
        try:
            kept = load_json(body)
            _ = [kept[field] for field in _RECORDS[suffix]]
        except (ValueError, KeyError, TypeError) as error:
            self._drop(name, error, suffix)
            return None
        return kept

    def _write_record(self, name: str, values: dict[str, Any]) -> None:
        body = json.dumps(values, separators=(",", ":")).encode()
        self._write(name, _digest(body).encode() + b"\n" + body)

    def _read(self, name: str) -> bytes | None:
        path = self.cache_dir / name
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._complain(error)
            return None
        try:
            os.utime(path)  # most recently used
        except OSError:
            pass  # a read-only folder, or the file has been deleted
        return data

    def _write(self, name: str, data: bytes) -> None:
        temporary = self.cache_dir / f".{name}.{os.getpid()}-{threading.get_ident()}.tmp"
        try:
            make_private(self.cache_dir)
            temporary.write_bytes(data)
            os.replace(temporary, self.cache_dir / name)
        except OSError as error:
            self._complain(error)
            self._delete([temporary])
            return
        with self._lock:
            self._written += len(data)
            self._writes += 1
            due = self._writes % _SURVEY_EVERY == 1 or self._written > self.max_bytes
        if due:
            self._evict()

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        found = []
        try:
            with os.scandir(self.cache_dir) as entries:
                for entry in entries:
                    if _OURS.fullmatch(entry.name):
                        found.append((Path(entry.path), entry.stat()))
        except FileNotFoundError:
            pass  # no folder yet, or another process deleted the file
        except OSError as error:
            self._complain(error)
        return found

    def _evict(self) -> None:
        """Delete the least recently used files until the cache is at three quarters of its limit."""
        files, now = self._files(), time.time()
        left = [path for path, status in files if path.suffix == ".tmp" and status.st_mtime < now - _STALE_S]
        size = sum(status.st_size for _, status in files)
        if size > self.max_bytes:
            for path, status in sorted(files, key=lambda file: file[1].st_mtime):
                if size <= self.max_bytes * 3 // 4:
                    break
                left.append(path)
                size -= status.st_size
        self._delete(left)
        with self._lock:
            self._written = size

    def _delete(self, paths: Iterable[Path]) -> None:
        for path in paths:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                self._complain(error)

    def _drop(self, name: str, error: Exception, suffix: str = ".json") -> None:
        """Delete a file that is whole but cannot be read, and with it its entry."""
        warnings.warn(
            f"the cache entry {name}{suffix} in {self.cache_dir} is damaged ({error or type(error).__name__}); it was deleted",
            RuntimeWarning,
            stacklevel=6,
        )
        self._delete([self.cache_dir / f"{name}{suffix}"])

    def _complain(self, error: OSError) -> None:
        with self._lock:
            if self._warned:
                return
            self._warned = True
        warnings.warn(
            f"the cache folder {self.cache_dir} cannot be used ({error}); kernels are assembled again in "
            "every process. Set PYPTX_CACHE_DIR to use another folder.",
            RuntimeWarning,
            stacklevel=4,
        )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


_global: CubinCache | None = None
_global_lock = threading.Lock()


def get_global_cache() -> CubinCache:
    """Return the cache that `compile()` uses."""
    global _global
    with _global_lock:
        if _global is None:
            _global = CubinCache()
        return _global


def set_global_cache(cache: CubinCache | None) -> None:
    """Replace the global cache; None restores the default."""
    global _global
    with _global_lock:
        _global = cache
