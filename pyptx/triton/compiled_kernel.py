"""Kernels that Triton compiled: their PTX as a loaded program, with launches in Triton's order of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from pyptx.errors import ArgumentTypeError, BackendError
from pyptx.launch_config import LaunchConfig
from pyptx.parser import parse
from pyptx.triton.arguments import entry_arguments, parameters, scratch
from pyptx.triton.memory import LaunchMemory
from pyptx.triton.source_lines import with_triton_lines
from pyptx.workbench.program import Entry, Program

__all__ = ["CompiledKernel", "LoadedPtx"]

_SCRATCH_FILL = 0xFF  # the memory of an allocator is uninitialized: NaN, -1


class LoadedPtx:
    """The PTX of a compiled kernel as a program, which is parsed on first use.

    Attributes:
        source_file: the file of the kernel's Python function, if its launcher knows it.
    """

    def __init__(self, name: str, ptx: str):
        self.name, self.ptx = name, ptx
        self.source_file: str | None = None

    @cached_property
    def program(self) -> Program:
        """The program; its instructions have the Triton lines as locations."""
        return Program(with_triton_lines(parse(self.ptx), self.ptx, self.source_file), f"{self.name}.ptx")

    @cached_property
    def entry(self) -> Entry:
        """The kernel."""
        return self.program[self.name]

    @cached_property
    def registers(self) -> int:
        """Registers of a thread; assembled on first use."""
        return self.entry.compile().resources[self.name].registers

    @cached_property
    def spills(self) -> int:
        """Bytes of spilled registers, as Triton counts them: in units of four bytes."""
        used = self.entry.compile().resources[self.name]
        return (used.spill_stores + used.spill_loads) // 4


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """The part of a kernel compiled by Triton that its launches need.

    Attributes:
        name: of the kernel.
        signature: Triton types by parameter.
        metadata: Triton's metadata.
        params: constants and compilation options to show.
    """

    name: str
    signature: Mapping[str, Any]
    metadata: Any
    params: Mapping[str, Any]

    @cached_property
    def _parameters(self) -> list:
        return parameters(self.signature)

    def bind(self, loaded: LoadedPtx, grid: Sequence[int], args: Sequence[Any]) -> tuple[LaunchConfig, list[Any]]:
        """Return the launch configuration and the arguments of the entry.

        Args:
            grid: three sizes, in programs of the kernel.
            args: all arguments of the kernel in order, constants included.
        Raises:
            LaunchError: an argument does not fit.
        """
        metadata, programs = self.metadata, prod(grid)
        maps = getattr(metadata, "tensordesc_meta", None) or ()
        values = entry_arguments(self._parameters, args, maps, LaunchMemory())
        ctas = programs * metadata.num_ctas
        values.append(scratch(ctas * metadata.global_scratch_size, _SCRATCH_FILL))
        values.append(scratch(ctas * metadata.profile_scratch_size, 0))
        entry = loaded.entry
        entry._specialization.params = self.params
        if len(values) != len(entry.params):
            raise BackendError(
                f"{self.name}: Triton compiled it with {len(entry.params)} parameters; its signature has {len(values)}, "
                "the scratch pointers included",
                hint="compile it without instrumentation, which adds parameters",
            )
        config = LaunchConfig(
            (grid[0] * metadata.num_ctas, *grid[1:]),
            entry_block(entry),
            (metadata.num_ctas, 1, 1) if metadata.num_ctas > 1 else None,
            smem_bytes=metadata.shared,
        )
        return config, values


def entry_block(entry: Entry) -> tuple[int, ...]:
    """Return the threads of a CTA, which also counts the warps of a warp-specialized kernel."""
    directives = {d.name: d.values for d in entry._function.directives}
    found = directives.get("reqntid") or directives.get("maxntid")
    if not found:
        raise ArgumentTypeError(f"the PTX of {entry.name} has no .reqntid, so its block is unknown")
    return tuple(int(value) for value in found)
