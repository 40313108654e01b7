"""Compiled modules: tree, PTX text, machine code, and the map between their lines, which all views share."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pyptx._loc import SourceLocation
from pyptx.cache import CacheEntry, CacheKey, get_global_cache
from pyptx.errors import AssembleError, CompileError, Diagnostic, InputError
from pyptx.ir.nodes import Module
from pyptx.toolchain.cubin import assemble, assemble_linked, assembler, check_options
from pyptx.toolchain.nvlink import linker
from pyptx.toolchain.ptxas_log import Resources

if TYPE_CHECKING:
    from pyptx.toolchain import SassLine

__all__ = ["Assembly", "LineMap", "MachineCode", "Owner", "cached_machine_code", "compile_module"]


@dataclass(frozen=True, slots=True)
class Owner:
    """Origin of a machine instruction; `place` is the Python that wrote its PTX line, None if it has none."""

    ptx_line: int | None
    place: SourceLocation | None
    added_by_ptxas: bool


class LineMap:
    """Map between Python, PTX and SASS lines, exact in both steps: recorded by the tracer and by the assembler.

    Args:
        places: the Python place of each PTX line, None for lines without one; index 0 is line 1.
        sass: the machine code, or a function that returns it, called on first use.
    """

    places: tuple[SourceLocation | None, ...]

    def __init__(
        self, places: Sequence[SourceLocation | None], sass: Sequence[SassLine] | Callable[[], Sequence[SassLine]]
    ):
        self.places = tuple(places)
        self._sass = sass

    def python_of_ptx(self, line: int) -> SourceLocation | None:
        """Return the Python place that wrote a PTX line (1-based)."""
        return self.places[line - 1] if 0 < line <= len(self.places) else None

    def ptx_of_sass(self, index: int) -> int | None:
        """Return the PTX line of a machine instruction (index into `Assembly.sass`)."""
        return self.sass[index].ptx_line

    def sass_of_ptx(self, line: int) -> tuple[int, ...]:
        """Return the indices of the machine instructions that a PTX line (1-based) compiled to."""
        return self._by_line.get(line, ())

    def owner(self, index: int) -> Owner:
        """Return the origin of a machine instruction."""
        line = self.sass[index]
        return Owner(line.ptx_line, self.python_of_ptx(line.ptx_line or 0), line.added_by_ptxas)

    @cached_property
    def sass(self) -> tuple[SassLine, ...]:
        """The machine instructions, disassembled on first use."""
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
class Assembly:
    """A module assembled for one target. Two are equal if their keys are.

    Attributes:
        module: the tree.
        ptx: the text that was assembled, line for line.
        places: the Python place of each line.
        cubin: the machine code, an ELF file.
        resources: resource usage of each entry.
        target: "sm_90a".
        options: options of ptxas.
        lineinfo: whether the text holds `.loc` for debuggers.
        name: of the kernel.
        key: hash of everything that determines the cubin, 32 hexadecimal digits.
        tool: the assembler, "ptxas 13.5.37".
        warnings: advisories of the assembler, with places.
        params: sizes and template values that a kernel was traced with; empty for other code.
    """

    module: Module
    ptx: str
    places: tuple[SourceLocation | None, ...] = field(repr=False)
    cubin: bytes
    resources: dict[str, Resources]
    target: str
    options: tuple[str, ...]
    lineinfo: bool
    name: str
    key: str
    tool: str
    warnings: tuple[Diagnostic, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def version(self) -> tuple[int, int]:
        """PTX version of the text."""
        return self.module.version.major, self.module.version.minor

    @cached_property
    def sass(self) -> tuple[SassLine, ...]:
        """The machine code, disassembled on first use and cached on disk.

        Raises:
            MissingToolError, ToolError: nvdisasm is missing, or rejects the cubin.
        """
        return _sass_of(self.cubin)

    @cached_property
    def lines(self) -> LineMap:
        """Map between Python, PTX and SASS lines."""
        return LineMap(self.places, lambda: self.sass)

    def summary(self, entry: str | None = None) -> dict[str, Any]:
        """Return the resource usage of an entry as plain values: registers per thread, bytes, machine instructions.

        Args:
            entry: its name; optional when there is only one.
        Raises:
            ValueError: there are several entries, or no entry of that name.
        """
        names = list(self.resources)
        if entry is None and len(names) == 1:
            entry = names[0]
        if entry not in self.resources:
            raise InputError(
                f"no entry {entry!r}; the entries are {', '.join(names)}"
                if entry
                else f"which entry? {self.name} has {', '.join(names) or 'none'}"
            )
        used = self.resources[entry]
        return {
            "entry": entry,
            "target": self.target,
            "registers": used.registers,
            "spill_bytes": used.spill_stores + used.spill_loads,
            "shared_bytes": used.shared_bytes,
            "stack_bytes": used.stack_bytes,
            "barriers": used.barriers,
            "instructions": sum(line.entry == entry for line in self.sass),
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to a file in the format of its suffix: .cubin, .ptx, .sass (a listing) or .json (all but the tree).

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
                raise InputError(
                    f"{path}: {other or 'no suffix'!r} is not a known format; expected .cubin, .ptx, .sass or .json"
                )
        path.write_bytes(data)
        return path

    def as_dict(self) -> dict[str, Any]:
        """Return plain values: names, texts, resources, machine code as columns, the place of each PTX line."""
        from pyptx.toolchain.sass import to_columns  # late, as in `_sass_of`

        return {
            "name": self.name,
            "target": self.target,
            "version": list(self.version),
            "options": list(self.options),
            "lineinfo": self.lineinfo,
            "key": self.key,
            "tool": self.tool,
            "ptx": self.ptx,
            "cubin_sha256": hashlib.sha256(self.cubin).hexdigest(),
            "resources": {entry: asdict(used) for entry, used in self.resources.items()},
            "warnings": [{"message": d.message, "line": d.line} for d in self.warnings],
            "places": [place and place.as_dict() for place in self.places],
            "sass": to_columns(self.sass),
        }

    def listing(self, *, control: bool = False) -> str:
        """Return the machine code as text, entry by entry, one instruction per line with its address.

        Args:
            control: add live registers, the PTX line, and the stall cycles and barriers of the encoding.
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
        return self.key == other.key if isinstance(other, Assembly) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        uses = "; ".join(
            f"{entry}: {_words(used)}" if len(self.resources) > 1 else _words(used)
            for entry, used in self.resources.items()
        )
        count = len(self.warnings)
        warned = f"; {count} warning{'' if count == 1 else 's'}, see .warnings" if count else ""
        return f"<{type(self).__name__} {self.name} for {self.target}: {uses or 'no entry'}{warned}>"


class MachineCode(NamedTuple):
    """The part of an `Assembly` that a launch needs."""

    cubin: bytes
    target: str
    tool: str


def cached_machine_code(text_hash: str, target: str) -> MachineCode | None:
    """Return the cached machine code of a text that is assembled without options; None if the cache does not have it.

    Args:
        text_hash: SHA-256 of the text, hexadecimal.
    """
    entry = get_global_cache().get(_key(text_hash, target, (), False, False, ()))
    if entry is None or not entry.cubin_bytes or not _is_complete(entry.metadata):
        return None
    if _hash(entry.ptx_source) != text_hash:
        return None
    return MachineCode(entry.cubin_bytes, target, entry.metadata["tool"])


A = TypeVar("A", bound=Assembly)


def compile_module(
    module: Module,
    text: str,
    places: Sequence[SourceLocation | None],
    *,
    target: str,
    options: Iterable[str] = (),
    lineinfo: bool = False,
    name: str,
    artifact: type[A] = Assembly,
    relocatable: bool = False,
    objects: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
) -> A:
    """Assemble the text of a module, or take the cubin from the cache.

    Args:
        module, text, places: the tree, its text, and the Python place of each line of the text.
        target: "sm_90a".
        options: of ptxas, e.g. "-O1", "--maxrregcount=128".
        lineinfo: the text contains `.loc` directives, which are assembled as written.
        name: of the kernel.
        artifact: the class to return.
        relocatable: assemble for linking: functions may be undefined, and the cubin cannot be launched.
        objects: texts to be assembled and linked in place of `text`, with the same lines; see `pyptx.linker`.
        params: sizes and template values of a kernel, kept in the result.
    Raises:
        CompileError: ptxas reports errors; each diagnostic with its Python line.
        MissingToolError, ToolError: ptxas is missing, crashes or times out.
    """
    places = tuple(places)
    try:
        options = check_options(options)
        key = _key(_hash(text), target, options, lineinfo, relocatable, objects)
        entry = _entry(key, text, target, options, relocatable, objects)
    except AssembleError as error:
        placed = [_place(diagnostic, text, places) for diagnostic in error.diagnostics]
        raise CompileError(placed, summary=error.message) from None
    assert entry.cubin_bytes is not None, "compiled entries have a cubin"
    metadata = entry.metadata
    warnings = tuple(
        _place(Diagnostic("warning", message, line), text, places) for message, line in metadata["warnings"]
    )
    return artifact(
        module=module,
        ptx=text,
        places=places,
        cubin=entry.cubin_bytes,
        resources={name: Resources(**used) for name, used in metadata["resources"].items()},
        target=target,
        options=options,
        lineinfo=lineinfo,
        name=name,
        key=key.hash(),
        tool=metadata["tool"],
        warnings=warnings,
        params=dict(params or {}),
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _key(
    text_hash: str, target: str, options: tuple[str, ...], lineinfo: bool, relocatable: bool, objects: Sequence[str]
) -> CacheKey:
    parameters: dict[str, Any] = {"options": options, "lineinfo": lineinfo, "tool": assembler()}
    if relocatable:
        parameters["relocatable"] = True
    if objects:
        parameters |= {"linker": linker(), "objects": [_hash(part) for part in objects]}
    return CacheKey(
        "ptx:" + text_hash,
        parameters,
        (),
        target,
    )


def _entry(
    key: CacheKey, text: str, target: str, options: tuple[str, ...], relocatable: bool, objects: Sequence[str]
) -> CacheEntry:
    cache = get_global_cache()
    entry = cache.get(key)
    if entry is None or entry.ptx_source != text or not entry.cubin_bytes or not _is_complete(entry.metadata):
        if objects:
            cubin = assemble_linked(objects, target=target, options=options)
        else:
            cubin = assemble(text, target=target, options=options, relocatable=relocatable)
        entry = CacheEntry(
            key,
            text,
            cubin.data,
            {
                "target": target,
                "tool": cubin.tool,
                "options": list(options),
                "resources": {name: asdict(used) for name, used in cubin.resources.items()},
                "warnings": [[warning.message, warning.line] for warning in cubin.warnings],
            },
        )
        cache.put(entry)
    return entry


def _is_complete(metadata: Mapping[str, Any]) -> bool:
    """Return whether cached metadata has everything that `compile_module` reads from it."""
    try:
        for used in metadata["resources"].values():
            Resources(**used)
        return isinstance(metadata["tool"], str) and all(len(warning) == 2 for warning in metadata["warnings"])
    except (KeyError, TypeError, AttributeError):
        return False


def _sass_of(cubin: bytes) -> tuple[SassLine, ...]:
    from pyptx.toolchain.locate import version_of  # late: a launch disassembles nothing
    from pyptx.toolchain.sass import from_columns, to_columns
    from pyptx.toolchain.sass_liveness import ANALYSIS_VERSION

    name, cache = hashlib.sha256(cubin).hexdigest()[:32], get_global_cache()
    tool = f"nvdisasm {version_of('nvdisasm')}, analysis {ANALYSIS_VERSION}"
    kept = cache.get_sass(name, tool)
    if kept is not None:
        try:
            return from_columns(kept)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            pass  # written by another version of pyptx: disassemble again
    from pyptx.toolchain.nvdisasm import disassemble  # late: mostly, the disassembly is cached

    lines = disassemble(cubin)
    cache.put_sass(name, tool, to_columns(lines))
    return lines


def _place(diagnostic: Diagnostic, text: str, places: tuple[SourceLocation | None, ...]) -> Diagnostic:
    """Attach the Python place of its PTX line to a diagnostic; without a line, that of the function it names."""
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
