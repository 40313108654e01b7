"""What may be compared: kernels, versions of the history, files and texts, each with what is known of its launches."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyptx import history
from pyptx.compiled import Compiled, compile_module
from pyptx.kernel import Kernel
from pyptx.parser import parse
from pyptx.program import Entry, Program, load
from pyptx.views.code.cubins import load_cubin

__all__ = ["Operand", "compiled_of", "operand_of"]


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison.

    Attributes:
        block: threads of a block, when known.
        dynamic_shared_bytes: shared memory that a launch adds.
        counters: of a launch, for each PTX line; empty when nothing was counted.
    """

    compiled: Compiled
    block: tuple[int, ...] | None = None
    dynamic_shared_bytes: int = 0
    counters: Mapping[str, Sequence[int]] | None = None


def compiled_of(reference: Any) -> Compiled:
    """What a reference stands for, ready to be compared; references and errors as of `operand_of`."""
    return operand_of(reference).compiled


def operand_of(reference: Any) -> Operand:
    """What a reference stands for, and what is known of its launches.

    Args:
        reference: a Compiled; a Kernel, or an Entry or Program that was loaded, which is compiled with its defaults; a
            path to a .ptx file, which is assembled for the target it names, or to a .cubin file, which is taken as it
            is; PTX text; a version of the history, or its name such as "rms_norm@3" or a label.
    Raises:
        ValueError: a path of another kind, or PTX without a target.
        VersionError: no version is called so.
        TypeError: anything else.
        OSError, ParseError, CompileError, ToolError: the file cannot be read, or is refused.
    """
    if isinstance(reference, Operand):
        return reference
    if isinstance(reference, Compiled):
        return Operand(reference)
    if isinstance(reference, Kernel):
        variant = reference.variant()
        return Operand(variant.compile(), reference.block_of(variant), reference.smem)
    if isinstance(reference, Entry | Program):
        return Operand(reference.compile())
    if isinstance(reference, str) and "\n" in reference:
        return Operand(replace(load(reference).compile(), name="PTX text"))
    if isinstance(reference, str) and ("@" in reference or not Path(reference).suffix):
        reference = history.version(reference)
    if isinstance(reference, history.Version):
        return Operand(replace(reference.compiled(), name=reference.ref), reference.block,
                       reference.dynamic_shared_bytes, reference.counters)
    if isinstance(reference, str | os.PathLike):
        return Operand(_from_file(Path(reference)))
    raise TypeError(f"cannot compare {type(reference).__name__}; expected a Compiled, a kernel, an entry, a path to a "
                    ".ptx or .cubin file, PTX text or the name of a version")


def _from_file(path: Path) -> Compiled:
    if path.suffix == ".cubin":
        return load_cubin(path)
    if path.suffix != ".ptx":
        raise ValueError(f"{path}: expected a file that ends in .ptx or .cubin")
    source = path.read_text(encoding="utf-8")
    module = parse(source)
    places = (None,) * len(source.split("\n"))
    return compile_module(module, source, places, target=module.target.targets[0], name=path.stem)
