"""Triton source lines of PTX: the `.loc` directives as locations in the Python files, for errors, findings and views."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath

from pyptx._loc import SourceLocation, StoredCode
from pyptx.analysis.ptx_rows import statement_rows
from pyptx.ir.nodes import Module
from pyptx.ir.visit import with_places
from pyptx.views.code.source_locations import Location, source_chains

__all__ = ["with_triton_lines"]


def with_triton_lines(module: Module, ptx: str, source_file: str | None = None) -> Module:
    """Return a module whose instructions have the Triton lines that its `.loc` directives name.

    The innermost location is the innermost one outside of Triton's own library.

    Args:
        source_file: the file of the kernel. Triton's cache may return the PTX of an equal kernel in a file of the same
            name in another folder, such as that of a notebook's cell before a restart.
    """
    rows = ptx.removesuffix("\n").split("\n")
    chains, _ = source_chains(ptx)
    shown = [
        tuple((_moved(file, source_file), line, column) for file, line, column in _users(chain)) for chain in chains
    ]
    places = _made(dict.fromkeys(shown))
    return with_places(module, (places[shown[row]] for row in statement_rows(module, rows)))


def _users(chain: tuple[Location, ...]) -> tuple[Location, ...]:
    """Return a chain of calls from its innermost location outside of Triton on; all of it if there is none."""
    start = next((at for at, (file, *_) in enumerate(chain) if not _is_library(file)), 0)
    return chain[start:]


def _moved(file: str, source_file: str | None) -> str:
    return source_file if source_file and PurePath(file).name == PurePath(source_file).name else file


@lru_cache(maxsize=256)
def _is_library(file: str) -> bool:
    return "triton" in PurePath(file).parts[:-1] and "site-packages" in PurePath(file).parts


def _made(chains: Iterable[tuple[Location, ...]]) -> dict[tuple[Location, ...], SourceLocation | None]:
    """Return the source location of each chain; locations in one function share a code object."""
    inside: dict[tuple[str, str, int], dict[tuple[int, int], int]] = {}  # function -> (line, column) -> number
    for file, line, column in dict.fromkeys(at for chain in chains for at in chain):
        own = inside.setdefault(_function(file, line), {})
        own.setdefault((line, column), len(own))
    codes = {
        key: StoredCode(
            key[0], key[1], key[1], key[2], tuple((line, line, max(column - 1, 0), None) for line, column in own)
        )
        for key, own in inside.items()
    }
    made: dict[tuple[Location, ...], SourceLocation | None] = {(): None}
    for chain in chains:
        for depth in reversed(range(len(chain))):
            part, (file, line, column) = chain[depth:], chain[depth]
            if part not in made:
                key = _function(file, line)
                made[part] = SourceLocation(codes[key], 2 * inside[key][line, column], made[chain[depth + 1 :]])
    return made


def _function(file: str, line: int) -> tuple[str, str, int]:
    """Return file, name and first line, with decorators, of the innermost function that contains a line."""
    found = [(first, name) for first, last, name in _functions(file) if first <= line <= last]
    first, name = max(found, default=(line, "<module>"))
    return file, name, first


def _functions(file: str) -> tuple[tuple[int, int, str], ...]:
    return _parsed("".join(linecache.getlines(file)))


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return first line, last line and name of the functions in a Python text; nothing if it is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return tuple(
        (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno or node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )
