"""Triton source lines of PTX: the `.loc` directives as locations in the Python files, for errors, findings and views."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath

from pyptx._loc import SourceLocation
from pyptx.analysis.ptx_rows import statement_rows
from pyptx.ir.nodes import Module
from pyptx.ir.visit import with_places
from pyptx.views.code.source_chains import Chain, Function, Location, chain_places, source_chains

__all__ = ["triton_places", "with_triton_lines"]


def with_triton_lines(module: Module, ptx: str, source_file: str | None = None) -> Module:
    """Return a module whose instructions have the Triton lines that its `.loc` directives name.

    The innermost location is the innermost one outside of Triton's own library.

    Args:
        source_file: the file of the kernel. Triton's cache may return the PTX of an equal kernel in a file of the same
            name in another folder, such as that of a notebook's cell before a restart.
    """
    rows = ptx.removesuffix("\n").split("\n")
    places = triton_places(source_chains(ptx)[0], source_file)
    return with_places(module, (places[row] for row in statement_rows(module, rows)))


def triton_places(chains: Iterable[Chain], source_file: str | None = None) -> tuple[SourceLocation | None, ...]:
    """Return the places of chains of source locations; arguments and inner locations as for `with_triton_lines`."""
    shown = [_shown(chain, source_file) for chain in chains]
    places = chain_places(shown, _function)
    return tuple(places[chain] for chain in shown)


def _shown(chain: Chain, source_file: str | None) -> Chain:
    return tuple((_moved(file, source_file), line, column) for file, line, column in _users(chain))


def _users(chain: Chain) -> Chain:
    """Return a chain of calls from its innermost location outside of Triton on; all of it if there is none."""
    start = next((at for at, (file, *_) in enumerate(chain) if not _is_library(file)), 0)
    return chain[start:]


def _moved(file: str, source_file: str | None) -> str:
    return source_file if source_file and PurePath(file).name == PurePath(source_file).name else file


@lru_cache(maxsize=256)
def _is_library(file: str) -> bool:
    return "triton" in PurePath(file).parts[:-1] and "site-packages" in PurePath(file).parts


def _function(location: Location, chain: Chain) -> Function:
    """Return the innermost Python function that contains a location, from its first line with decorators on."""
    file, line, _ = location
    found = [(first, name) for first, last, name in _functions(file) if first <= line <= last]
    first, name = max(found, default=(line, "<module>"))
    return Function(file, name, name, first, with_columns=True)


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
