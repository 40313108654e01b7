"""Stored versions of kernels."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

from pyptx._loc import SourceLocation
from pyptx.compiled import Compiled
from pyptx.errors import Diagnostic, PtxError
from pyptx.history import _places, _table
from pyptx.parser import parse
from pyptx.store import Store, get_blob, load_json
from pyptx.toolchain import Resources
from pyptx.views import LinkedView

__all__ = ["Version", "VersionError", "Versions"]


class VersionError(PtxError, LookupError):
    """A reference names no version, or several; or the stored data of a version is damaged."""


@dataclass(frozen=True, eq=False, repr=False)
class Version:
    """A recorded compilation of a kernel. Two are equal if kernel and key are.

    Attributes:
        kernel, number: "rms_norm", 3; together `ref` is "rms_norm@3".
        key: hash of functions, parameters, PTX and cubin, 32 hexadecimal digits.
        labels: its labels.
        first, last: times of the first and the last compilation.
        target, options, lineinfo, tool: as in Compiled.
        params: template parameters and sizes it was compiled for; values that JSON cannot express as their repr.
        resources: resource usage of each entry.
        instructions: number of machine instructions; None if unknown.
        block: threads of a block; None if unknown.
        dynamic_shared_bytes: dynamic shared memory of a launch, in bytes.
        counters: of the last simulated launch: {"issues": warp instructions for each PTX line, -1 for lines without an
            instruction}; empty if it was not launched.
        cell, notebook: the cell that compiled it last, "Cell In[3]" and "norms.ipynb"; None if unknown.
    """

    kernel: str
    number: int
    key: str
    labels: tuple[str, ...]
    first: datetime
    last: datetime
    target: str
    options: tuple[str, ...]
    lineinfo: bool
    tool: str
    params: Mapping[str, Any]
    resources: Mapping[str, Resources]
    instructions: int | None
    block: tuple[int, ...] | None
    dynamic_shared_bytes: int
    counters: Mapping[str, Sequence[int]]
    cell: str | None
    notebook: str | None
    _about: Mapping[str, Any] = field(repr=False)
    _blobs: Mapping[str, str | None] = field(repr=False)
    _store: Store = field(repr=False)

    @property
    def ref(self) -> str:
        """Reference for commands: kernel@number."""
        return f"{self.kernel}@{self.number}"

    @property
    def used(self) -> Resources:
        """Resources of the entry with the name of the kernel, or of the first entry."""
        return self.resources.get(self.kernel) or next(iter(self.resources.values()))

    @property
    def source(self) -> str:
        """The Python functions it was traced from, the kernel first."""
        return self._text("source")

    @property
    def files(self) -> dict[str, str]:
        """The text of the cells and files of these functions, by display name."""
        with _readable(self.ref, "files", self._store):
            return dict(load_json(self._blob("files")))

    @property
    def cell_source(self) -> str | None:
        """The text of the notebook cell that compiled it last, with its magic; None if it was not compiled by a cell."""
        return self._text("cell") if self._blobs["cell"] else None

    @property
    def ptx(self) -> str:
        """The PTX text."""
        return self._text("ptx")

    @property
    def cubin(self) -> bytes:
        """The cubin."""
        return self._blob("cubin")

    def compiled(self) -> Compiled:
        """Restore the compiled code with its Python lines; nothing is assembled.

        Raises:
            VersionError: the stored data is damaged.
        """
        ptx, about = self.ptx, self._about
        with _readable(self.ref, "data", self._store):
            packed, files = load_json(self._blob("places")), load_json(self._blob("files"))
            places = _places.unpack(packed, files, self.ref)
            return Compiled(
                module=parse(ptx),
                ptx=ptx,
                places=places,
                cubin=self.cubin,
                resources=dict(self.resources),
                target=self.target,
                options=self.options,
                lineinfo=self.lineinfo,
                name=self.kernel,
                key=about["compiled_key"],
                tool=self.tool,
                warnings=tuple(_warning(row, places) for row in about["warnings"]),
            )

    def view(self, **options: Any) -> LinkedView:
        """Return the linked view; options as for `pyptx.views.linked`."""
        return self.compiled().view(
            **{
                "title": self.ref,
                "block": self.block,
                "counters": self.counters or None,
                "dynamic_shared_bytes": self.dynamic_shared_bytes,
                **options,
            }
        )

    def _text(self, part: str) -> str:
        with _readable(self.ref, part, self._store):
            return self._blob(part).decode()

    def _blob(self, part: str) -> bytes:
        name = self._blobs[part]
        data = None if name is None else self._store.read(lambda connection: get_blob(connection, name))
        if data is None:
            raise VersionError(
                f"{self.ref}: its {part} is damaged or missing in {self._store.path}",
                hint="compile the kernel again, or delete that file to start over",
            )
        return data

    def __eq__(self, other: object) -> bool:
        return (self.kernel, self.key) == (other.kernel, other.key) if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.kernel, self.key))

    def __repr__(self) -> str:
        labels = f" ({', '.join(self.labels)})" if self.labels else ""
        return f"<Version {self.ref}{labels} for {self.target}, {self.last:%Y-%m-%d %H:%M}, key {self.key[:10]}>"


class Versions(Sequence[Version]):
    """Versions, oldest first within each kernel, displayed as a table."""

    def __init__(self, versions: Sequence[Version]):
        self._versions = tuple(versions)

    @overload
    def __getitem__(self, index: int) -> Version: ...
    @overload
    def __getitem__(self, index: slice) -> Versions: ...
    def __getitem__(self, index):
        found = self._versions[index]
        return Versions(found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self._versions)

    def text(self) -> str:
        """Return the versions as a text table."""
        return _table.text(_table.rows(self))

    def html(self) -> str:
        """Return the versions as an HTML table."""
        return _table.html(_table.rows(self))

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __repr__(self) -> str:
        return self.text()


@contextmanager
def _readable(ref: str, part: str, store: Store) -> Iterator[None]:
    """Turn the errors of reading damaged data into a VersionError."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OSError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, VersionError):
            raise
        reason = f"{type(error).__name__}: {error}"
        raise VersionError(
            f"{ref}: its {part} is damaged in {store.path} ({reason:.200})",
            hint="compile the kernel again, or delete that file to start over",
        ) from None


def load(row: sqlite3.Row, labels: Sequence[str], store: Store) -> Version:
    """Return the version in a row of the table `versions`.

    Raises:
        VersionError: the row is damaged.
    """
    with _readable(f"{row['kernel']}@{row['number']}", "description", store):
        about = load_json(row["about"])
        return Version(
            kernel=row["kernel"],
            number=row["number"],
            key=row["key"],
            labels=tuple(labels),
            first=datetime.fromtimestamp(row["first"]),
            last=datetime.fromtimestamp(row["last"]),
            target=about["target"],
            options=tuple(about["options"]),
            lineinfo=about["lineinfo"],
            tool=about["tool"],
            params=about["params"],
            instructions=about["instructions"],
            resources={name: Resources(**used) for name, used in about["resources"].items()},
            block=tuple(about["block"]) if about["block"] else None,
            dynamic_shared_bytes=about["dynamic_shared_bytes"],
            counters={"issues": about["issues"]} if about.get("issues") else {},
            cell=about["cell"],
            notebook=about["notebook"],
            _about=about,
            _store=store,
            _blobs={part: row[part] for part in ("source", "files", "places", "ptx", "cubin", "cell")},
        )


def _warning(row: Sequence[Any], places: Sequence[SourceLocation | None]) -> Diagnostic:
    message, line, hint = row
    place = places[line - 1] if line is not None and 0 < line <= len(places) else None
    return Diagnostic("warning", message, line, hint=hint, place=place)
