"""A kernel assembled: tree, text, machine code, and how their lines belong together. All views share this value."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from pyptx._loc import Place
from pyptx.cache import CacheEntry, CacheKey, get_global_cache
from pyptx.errors import AssembleError, CompileError, Diagnostic
from pyptx.ir.nodes import Module
from pyptx.toolchain import Resources, SassLine, assemble, assembler, disassemble
from pyptx.toolchain.cubin import check_options
from pyptx.toolchain.locate import version_of
from pyptx.toolchain.sass import from_columns, to_columns

__all__ = ["Compiled", "LineMap", "Owner", "compile_module"]


@dataclass(frozen=True, slots=True)
class Owner:
    """Where a machine instruction comes from. `place` is the Python that wrote the PTX line, None where nobody did."""

    ptx_line: int | None
    place: Place | None
    added_by_ptxas: bool


class LineMap:
    """Python <-> PTX <-> SASS, exact in both steps: the tracer's places, and the assembler's line of each instruction.

    Args:
        places: the Python place of each PTX line, None for lines nobody wrote; index 0 is line 1.
        sass: the machine code, or a function that gives it, called when first needed.
    """

    def __init__(self, places: Sequence[Place | None], sass: Sequence[SassLine] | Callable[[], Sequence[SassLine]]):
        self.places = tuple(places)
        self._sass = sass

    def python_of_ptx(self, line: int) -> Place | None:
        """The place that wrote a PTX line (1-based)."""
        return self.places[line - 1] if 0 < line <= len(self.places) else None

    def ptx_of_sass(self, index: int) -> int | None:
        """The PTX line of a machine instruction (index into `Compiled.sass`)."""
        return self.sass[index].ptx_line

    def sass_of_ptx(self, line: int) -> tuple[int, ...]:
        """Indices of the machine instructions that a PTX line (1-based) became."""
        return self._by_line.get(line, ())

    def owner(self, index: int) -> Owner:
        """Who is answerable for a machine instruction."""
        line = self.sass[index]
        return Owner(line.ptx_line, self.python_of_ptx(line.ptx_line or 0), line.added_by_ptxas)

    @cached_property
    def sass(self) -> tuple[SassLine, ...]:
        """The instructions of the machine code, disassembled when they are first asked for."""
        return tuple(self._sass() if callable(self._sass) else self._sass)

    @cached_property
    def _by_line(self) -> dict[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {}
        for index, line in enumerate(self.sass):
            if line.ptx_line is not None:
                found.setdefault(line.ptx_line, []).append(index)
        return {line: tuple(indices) for line, indices in found.items()}

    def __repr__(self) -> str:
        return f"<LineMap of {len(self.places)} PTX lines>"


@dataclass(frozen=True, eq=False, repr=False)
class Compiled:
    """A module assembled for one target. Equal when the key is.

    Attributes:
        module: the tree.
        ptx: the text that was assembled, line for line.
        places: the Python place of each of its lines.
        cubin: the machine code, an ELF file.
        resources: what each entry uses.
        target: "sm_90a".
        options: options given to ptxas.
        lineinfo: whether the text holds `.loc` for debuggers.
        name: of the kernel.
        key: hash of all that decides about the cubin, 32 hexadecimal digits.
        tool: the assembler, "ptxas 13.5.37".
        warnings: advisories of the assembler, with places.
    """

    module: Module
    ptx: str
    places: tuple[Place | None, ...] = field(repr=False)
    cubin: bytes
    resources: dict[str, Resources]
    target: str
    options: tuple[str, ...]
    lineinfo: bool
    name: str
    key: str
    tool: str
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def version(self) -> tuple[int, int]:
        """PTX version of the text."""
        return self.module.version.major, self.module.version.minor

    @cached_property
    def sass(self) -> tuple[SassLine, ...]:
        """The machine code, disassembled when first asked for and kept on disk.

        Raises:
            MissingToolError, ToolError: nvdisasm is not there, or refuses the cubin.
        """
        return _sass_of(self.cubin)

    @cached_property
    def lines(self) -> LineMap:
        """How Python, PTX and SASS lines belong together."""
        return LineMap(self.places, lambda: self.sass)

    def summary(self, entry: str | None = None) -> dict[str, Any]:
        """What an entry uses, as plain values: registers a thread, bytes, machine instructions.

        Args:
            entry: its name; may be left out when there is one.
        Raises:
            ValueError: there are several, or none is called so.
        """
        names = list(self.resources)
        if entry is None and len(names) == 1:
            entry = names[0]
        if entry not in self.resources:
            raise ValueError(f"no entry {entry!r}; the entries are {', '.join(names)}" if entry else
                             f"which entry? {self.name} has {', '.join(names) or 'none'}")
        used = self.resources[entry]
        return {"entry": entry, "target": self.target, "registers": used.registers,
                "spill_bytes": used.spill_stores + used.spill_loads, "shared_bytes": used.shared_bytes,
                "stack_bytes": used.stack_bytes, "barriers": used.barriers,
                "instructions": sum(line.entry == entry for line in self.sass)}

    def view(self, **options: Any) -> Any:
        """The linked Python | PTX | SASS view (`pyptx.views.code.linked`)."""
        return import_module("pyptx.views").linked(self, **options)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, as the suffix says: .cubin, .ptx, .sass (a listing) or .json (everything but the tree).

        Raises:
            ValueError: another suffix; nothing is written.
        """
        path = Path(path)
        match path.suffix:
            case ".cubin":
                data = self.cubin
            case ".ptx":
                data = self.ptx.encode()
            case ".sass":
                data = self.listing(control=True).encode()
            case ".json":
                data = json.dumps(self.as_dict(), indent=1).encode()
            case other:
                raise ValueError(f"{path}: {other or 'no suffix'!r} names no format; "
                                 "expected .cubin, .ptx, .sass or .json")
        path.write_bytes(data)
        return path

    def as_dict(self) -> dict[str, Any]:
        """Plain values: names, texts, resources, machine code as columns, the place of each PTX line."""
        return {"name": self.name, "target": self.target, "version": list(self.version), "options": list(self.options),
                "lineinfo": self.lineinfo, "key": self.key, "tool": self.tool, "ptx": self.ptx,
                "cubin_sha256": hashlib.sha256(self.cubin).hexdigest(),
                "resources": {entry: asdict(used) for entry, used in self.resources.items()},
                "warnings": [{"message": d.message, "line": d.line} for d in self.warnings],
                "places": [place and place.as_dict() for place in self.places], "sass": to_columns(self.sass)}

    def listing(self, *, control: bool = False) -> str:
        """The machine code as text, entry by entry, one instruction a line with its address.

        Args:
            control: add live registers, the PTX line, and what the encoding says of stalls and barriers.
        """
        rows, entry = [f"// {self.name} for {self.target}, {self.tool}"], None
        rows += [f"// warning{f' at PTX line {d.line}' if d.line else ''}: {d.message}" for d in self.warnings]
        for line in self.sass:
            if line.entry != entry:
                entry = line.entry
                rows += ["", f"{entry}:" + (f"  // {_words(self.resources[entry])}" if entry in self.resources else "")]
            row = f"    /*{line.address:04x}*/  {line.text};"
            if control:
                origin = "ptxas" if line.added_by_ptxas else f"PTX {line.ptx_line}"
                live = f"{line.live.gpr:3} live" if line.live else ""
                row = f"{row:76} // {live:9} {origin:9} {line.control}"
            rows.append(row)
        return "\n".join(rows) + "\n"

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Compiled) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        uses = "; ".join(f"{entry}: {_words(used)}" if len(self.resources) > 1 else _words(used)
                         for entry, used in self.resources.items())
        count = len(self.warnings)
        warned = f"; {count} warning{'' if count == 1 else 's'}, see .warnings" if count else ""
        return f"<Compiled {self.name} for {self.target}: {uses or 'no entry'}{warned}>"


def compile_module(module: Module, text: str, places: Sequence[Place | None], *, target: str,
                   options: Iterable[str] = (), lineinfo: bool = False, name: str) -> Compiled:
    """Assemble a module's text, or take the cubin from the cache.

    Args:
        module, text, places: the tree, its text, and the Python place of each line of the text.
        target: "sm_90a".
        options: of ptxas, e.g. "-O1", "--maxrregcount=128".
        lineinfo: whether the text holds `.loc` directives; they are assembled as they stand.
        name: of the kernel.
    Raises:
        CompileError: ptxas refused it; each diagnostic at its Python line, in ptxas' words.
        MissingToolError, ToolError: ptxas is not there, breaks or takes too long.
    """
    places = tuple(places)
    try:
        options = check_options(options)
        key = _key(text, target, options, lineinfo)
        entry = _entry(key, text, target, options)
    except AssembleError as error:
        placed = [_place(diagnostic, text, places) for diagnostic in error.diagnostics]
        raise CompileError(placed, summary=error.message) from None
    kept = entry.metadata
    warnings = tuple(_place(Diagnostic("warning", message, line), text, places) for message, line in kept["warnings"])
    return Compiled(module=module, ptx=text, places=places, cubin=entry.cubin_bytes,
                    resources={name: Resources(**used) for name, used in kept["resources"].items()}, target=target,
                    options=options, lineinfo=lineinfo, name=name, key=key.hash(), tool=kept["tool"], warnings=warnings)


def _key(text: str, target: str, options: tuple[str, ...], lineinfo: bool) -> CacheKey:
    return CacheKey("ptx:" + hashlib.sha256(text.encode()).hexdigest(),
                    {"options": options, "lineinfo": lineinfo, "tool": assembler()}, (), target)


def _entry(key: CacheKey, text: str, target: str, options: tuple[str, ...]) -> CacheEntry:
    cache = get_global_cache()
    entry = cache.get(key)
    if entry is None or entry.ptx_source != text or not entry.cubin_bytes:
        cubin = assemble(text, target=target, options=options)
        entry = CacheEntry(key, text, cubin.data, {
            "target": target, "tool": cubin.tool, "options": list(options),
            "resources": {name: asdict(used) for name, used in cubin.resources.items()},
            "warnings": [[warning.message, warning.line] for warning in cubin.warnings]})
        cache.put(entry)
    return entry


def _sass_of(cubin: bytes) -> tuple[SassLine, ...]:
    name, tool, cache = hashlib.sha256(cubin).hexdigest()[:32], f"nvdisasm {version_of('nvdisasm')}", get_global_cache()
    kept = cache.get_sass(name, tool)
    if kept is not None:
        try:
            return from_columns(kept)
        except (KeyError, TypeError, ValueError):
            pass                                # written by another version of pyptx: made anew
    lines = disassemble(cubin)
    if all(line.live for line in lines):        # what nvdisasm could not tell now, it may tell another time
        cache.put_sass(name, tool, to_columns(lines))
    return lines


def _place(diagnostic: Diagnostic, text: str, places: tuple[Place | None, ...]) -> Diagnostic:
    """The diagnostic at the Python that wrote its PTX line, with that line; a function named is a line named."""
    rows = text.split("\n")
    line = diagnostic.line or _line_of_function(diagnostic.message, rows)
    if line is None or not 0 < line <= len(rows):
        return diagnostic
    place = places[line - 1] if line <= len(places) else None
    hint = diagnostic.hint or f"PTX line {line} reads: {rows[line - 1].strip()}"
    return replace(diagnostic, line=line, place=place, hint=hint)


def _line_of_function(message: str, rows: list[str]) -> int | None:
    for name in re.findall(r"'([\w$]+)'", message):
        for number, row in enumerate(rows, 1):
            if re.search(rf"\.(?:entry|func)\b.*(?<![\w$]){re.escape(name)}(?![\w$])", row):
                return number
    return None


def _words(used: Resources) -> str:
    words = [f"{used.registers} registers", f"{used.shared_bytes} B shared"]
    spilled = used.spill_stores + used.spill_loads
    return ", ".join([*words, f"{spilled} B spilled"] if spilled else words)
