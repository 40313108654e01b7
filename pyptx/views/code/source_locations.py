"""Source locations of PTX from a compiler: `.file` and `.loc`, or the line table of a cubin, as places of its lines."""

from __future__ import annotations

import linecache
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pyptx._loc import SourceLocation
from pyptx.assembly import Assembly
from pyptx.toolchain.line_table import source_lines
from pyptx.views.code.python_sources import FOREIGN, foreign_name, with_gaps
from pyptx.views.code.source_chains import (
    MAX_DEPTH,
    Chain,
    Function,
    Location,
    chain_places,
    source_chains,
    source_files,
)

__all__ = ["source_places", "with_line_table", "with_sources"]

MAX_FILE_BYTES = 4 << 20  # larger source files are not read
MAX_TOTAL_BYTES = 16 << 20  # of all source files of a module

A = TypeVar("A", bound=Assembly)


def with_sources(compiled: Assembly, roots: Sequence[Path] | None = None) -> Assembly:
    """Add places from the `.loc` directives of its text to a module whose lines have none, and read their source lines.

    A module can name any path in `.file`. Only regular files below one of the `roots` and of limited size are read,
    and only the lines that `.loc` refers to, with short gaps between them, are kept.

    Args:
        roots: folders of source files; default: the working directory; empty: no file is read.
    """
    if any(compiled.places):
        return compiled
    files = source_files(compiled.ptx)
    places = source_places(compiled.ptx)
    if not any(places):
        return compiled
    return _located(compiled, places, files.values(), roots)


def with_line_table(compiled: A, roots: Sequence[Path] | None = None) -> A:
    """Add places from the line table of a cubin to the lines of its embedded PTX, and read their source lines.

    A PTX line gets the place of its first machine instruction. Files and `roots` are as for `with_sources`.
    """
    table = source_lines(compiled.cubin)
    chains: list[Chain] = [()] * len(compiled.places)
    functions: dict[Chain, str] = {}
    for line in compiled.sass if table else ():
        chain = tuple((foreign_name(file), number, 1) for file, number in table.get((line.entry, line.address), ()))
        if line.ptx_line is not None and not line.added_by_ptxas and not chains[line.ptx_line - 1]:
            chains[line.ptx_line - 1] = chain[:MAX_DEPTH]
            functions.setdefault(chain[:MAX_DEPTH], line.entry)
    if not any(chains):
        return compiled
    files = {file for chain in table.values() for file, _ in chain}
    return _located(compiled, _places(chains, functions), files, roots)


def _located(
    compiled: A, places: tuple[SourceLocation | None, ...], files: Iterable[str], roots: Sequence[Path] | None
) -> A:
    lines: dict[str, set[int]] = {}
    for place in set(filter(None, places)):
        for here in place.stack:
            lines.setdefault(here.file, set()).add(here.line)
    _load(files, lines, (Path.cwd(),) if roots is None else roots)
    return replace(compiled, places=places)


def _load(files: Iterable[str], lines: Mapping[str, Iterable[int]], roots: Sequence[Path]) -> None:
    """Put the lines of each file into linecache under its foreign name, or nothing where the file may not be read."""
    budget = MAX_TOTAL_BYTES
    for path in dict.fromkeys(files):
        name = foreign_name(path)
        linecache.cache.pop(name, None)
        text = _read(path, roots, min(budget, MAX_FILE_BYTES)) if name in lines else None
        if text is None:
            continue
        budget -= len(text)
        source = text.decode(errors="replace").split("\n")
        shown: list[str] = []
        for number in with_gaps(lines[name]):
            if number > len(source):
                break
            shown += ["\n"] * (number - 1 - len(shown))
            shown.append(f"{source[number - 1].rstrip()}\n")
        linecache.cache[name] = (len(text), None, shown, name)


def _read(path: str, roots: Sequence[Path], limit: int) -> bytes | None:
    """Return the content of a regular file of at most `limit` bytes below one of the roots; None for any other path."""
    try:
        for root in map(os.path.realpath, roots):
            real = os.path.realpath(os.path.join(root, path))
            if os.path.commonpath((root, real)) == root:
                break
        else:
            return None
        if not stat.S_ISREG(os.stat(real).st_mode):
            return None
        descriptor = os.open(
            real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
        )  # a FIFO put there meanwhile must not block
        with open(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            return file.read(limit) if stat.S_ISREG(about.st_mode) and about.st_size <= limit else None
    except (OSError, ValueError):  # ValueError: a NUL in the path, or paths on different drives
        return None


def source_places(
    ptx: str,
    name_of: Callable[[str], str] = foreign_name,
    is_hidden: Callable[[str], bool] = lambda file: False,
    function_name: Callable[[str], str] = str,
) -> tuple[SourceLocation | None, ...]:
    """Return the source place of each PTX line, given by the preceding `.loc`, with the callers of inlined functions.

    A `.loc` applies until the next one, or the end of the function.

    Args:
        name_of: the name of a file for `linecache`, by its path in `.file`.
        is_hidden: True for a path whose functions are left out: their instructions belong to the caller.
        function_name: the name shown for a function of the PTX.
    """
    chains, functions = source_chains(ptx)
    shown = [tuple(at for at in chain if not is_hidden(at[0])) or chain for chain in chains]
    named = [tuple((name_of(file), line, column) for file, line, column in chain) for chain in shown]
    return _places(named, dict(zip(named, map(function_name, functions), strict=True)))


def _places(chains: list[Chain], names: Mapping[Chain, str]) -> tuple[SourceLocation | None, ...]:
    """Return the places of chains whose functions are not known: the names are those of functions of the PTX."""

    def function_of(location: Location, chain: Chain) -> Function:
        return Function(location[0], names[chain], FOREIGN)

    places = chain_places(chains, function_of)
    return tuple(places[chain] for chain in chains)
