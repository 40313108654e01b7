"""Source lines of loaded PTX: the `.loc` directives that nvcc -lineinfo writes, as places of the instructions."""

from __future__ import annotations

from pathlib import PurePath

from pyptx.analysis.ptx_rows import statement_rows
from pyptx.ir.nodes import Module
from pyptx.ir.visit import with_places
from pyptx.nvrtc.mangling import qualified_name
from pyptx.views.code.source_locations import source_places

__all__ = ["with_source_lines"]

_TOOLKIT = ("cccl", "cuda", "cub", "thrust", "cooperative_groups", "crt")  # folders of the toolkit's headers


def with_source_lines(tree: Module, text: str) -> Module:
    """Return a module whose instructions have the source lines that its text names; itself if it names none.

    The innermost line is the innermost one outside of the headers of the CUDA toolkit.
    """
    if ".loc" not in text:
        return tree
    places = source_places(text, str, _is_toolkit, qualified_name)
    return with_places(tree, (places[row] for row in statement_rows(tree, text.removesuffix("\n").split("\n"))))


def _is_toolkit(file: str) -> bool:
    folders = PurePath(file).parts[:-1]
    return "include" in folders and (folders[-1] == "include" or not set(folders).isdisjoint(_TOOLKIT))
