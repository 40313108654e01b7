"""One stored version of a kernel, and many of them as a table."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

from pyptx._loc import Place
from pyptx.compiled import Compiled
from pyptx.errors import Diagnostic, PtxError
from pyptx.history import _places, _table
from pyptx.parser import parse
from pyptx.store import Store, get_blob
from pyptx.toolchain import Resources

__all__ = ["Version", "VersionError", "Versions"]


class VersionError(PtxError, LookupError):
    """A reference that names no version, or several; or a version whose stored parts are damaged."""


@dataclass(frozen=True, eq=False, repr=False)
class Version:
    """A kernel as it was compiled once. Equal when kernel and key are.

    Attributes:
        kernel, number: "rms_norm", 3; `ref` puts them together as "rms_norm@3".
        key: hash of what makes it a version of its own (functions, parameters, PTX, cubin), 32 hexadecimal digits.
        labels: names it was given.
        first, last: when it was compiled for the first and the last time.
        target, options, lineinfo, tool: as in Compiled.
        params: template parameters and sizes it was compiled for; what JSON cannot say stands as its repr.
        resources: what each entry uses.
        instructions: machine instructions; None where they could not be counted.
        block: threads of a block, when known.
        dynamic_shared_bytes: shared memory a launch adds.
        counters: what its newest simulated launch issued: {"issues": warp instructions for each PTX line, -1 where
            there is no instruction}; empty when it was not launched.
        cell, notebook: where it was written last, "Cell In[3]" and "norms.ipynb", when known.
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
        """What names it in commands: kernel@number."""
        return f"{self.kernel}@{self.number}"

    @property
    def used(self) -> Resources:
        """Resources of the entry called as the kernel, or of the first."""
        return self.resources.get(self.kernel) or next(iter(self.resources.values()))

    @property
    def source(self) -> str:
        """The Python functions it was traced from, the kernel first."""
        return self._blob("source").decode()

    @property
    def files(self) -> dict[str, str]:
        """The whole text of the cells and files these functions stood in, by the name shown."""
        return dict(json.loads(self._blob("files")))

    @property
    def cell_source(self) -> str | None:
        """The text of the notebook cell that compiled it last, with its magic; None where it was not a cell."""
        return self._blob("cell").decode() if self._blobs["cell"] else None

    @property
    def ptx(self) -> str:
        """The PTX text it was."""
        return self._blob("ptx").decode()

    @property
    def cubin(self) -> bytes:
        """The machine code it was."""
        return self._blob("cubin")

    def compiled(self) -> Compiled:
        """The Compiled as it was, with its Python lines; nothing is assembled.

        Raises:
            VersionError: what was stored is damaged.
        """
        ptx, about = self.ptx, self._about
        places = _places.unpack(json.loads(self._blob("places")), json.loads(self._blob("files")), self.ref)
        return Compiled(module=parse(ptx), ptx=ptx, places=places, cubin=self.cubin, resources=dict(self.resources),
                        target=self.target, options=self.options, lineinfo=self.lineinfo, name=self.kernel,
                        key=about["compiled_key"], tool=self.tool,
                        warnings=tuple(_warning(row, places) for row in about["warnings"]))

    def view(self, **options: Any) -> Any:
        """The linked view of it; options as of `pyptx.views.code.linked`."""
        return self.compiled().view(**{"title": self.ref, "block": self.block, "counters": self.counters or None,
                                       "dynamic_shared_bytes": self.dynamic_shared_bytes, **options})

    def _blob(self, part: str) -> bytes:
        data = self._store.read(lambda connection: get_blob(connection, self._blobs[part]))
        if data is None:
            raise VersionError(f"{self.ref}: its {part} is damaged or gone from {self._store.path}",
                               hint="compile the kernel again, or delete that file to begin anew")
        return data

    def __eq__(self, other: object) -> bool:
        return (self.kernel, self.key) == (other.kernel, other.key) if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.kernel, self.key))

    def __repr__(self) -> str:
        labels = f" ({', '.join(self.labels)})" if self.labels else ""
        return f"<Version {self.ref}{labels} for {self.target}, {self.last:%Y-%m-%d %H:%M}, key {self.key[:10]}>"


class Versions(Sequence[Version]):
    """Versions, oldest first within each kernel; shown as a table."""

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
        """The versions as a table in text."""
        return _table.text(_table.rows(self))

    def html(self) -> str:
        """Without script or style sheet."""
        return _table.html(_table.rows(self))

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __repr__(self) -> str:
        return self.text()


def load(row: sqlite3.Row, labels: Sequence[str], store: Store) -> Version:
    """The version that a row of the table `versions` holds."""
    about = json.loads(row["about"])
    return Version(
        kernel=row["kernel"], number=row["number"], key=row["key"], labels=tuple(labels),
        first=datetime.fromtimestamp(row["first"]), last=datetime.fromtimestamp(row["last"]),
        target=about["target"], options=tuple(about["options"]), lineinfo=about["lineinfo"], tool=about["tool"],
        params=about["params"], instructions=about["instructions"],
        resources={name: Resources(**used) for name, used in about["resources"].items()},
        block=tuple(about["block"]) if about["block"] else None, dynamic_shared_bytes=about["dynamic_shared_bytes"],
        counters={"issues": about["issues"]} if about.get("issues") else {},
        cell=about["cell"], notebook=about["notebook"], _about=about, _store=store,
        _blobs={part: row[part] for part in ("source", "files", "places", "ptx", "cubin", "cell")})


def _warning(row: Sequence[Any], places: Sequence[Place | None]) -> Diagnostic:
    message, line, hint = row
    place = places[line - 1] if line is not None and 0 < line <= len(places) else None
    return Diagnostic("warning", message, line, hint=hint, place=place)


