"""PTX that somebody else wrote: load it, look at it, compile it, launch it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pyptx import validate
from pyptx.compiled import Compiled
from pyptx.emitter import emit_lines
from pyptx.errors import Diagnostic, LaunchError
from pyptx.ir.nodes import Function, Module, Param
from pyptx.kernel.variant import Variant, device_arrays, roofline
from pyptx.parser import parse
from pyptx.runtime import LaunchPlan, LaunchResult, dim3, options, runtime_for
from pyptx.runtime.adopted import adopted

__all__ = ["Entry", "Program", "load"]


def load(source: str | bytes | os.PathLike, *, name: str | None = None) -> Program:
    """Read PTX.

    Args:
        source: a path (os.PathLike, or text without a newline), or PTX text (text with one, or bytes).
        name: what to call it; the file's name unless told.
    Raises:
        ParseError: the text is not PTX; `pyptx.check_ptx` finds all of what is wrong with it.
        OSError: the file cannot be read.
    Examples:
        >>> program = pyptx.load('''
        ... .version 8.5
        ... .target sm_90a
        ... .address_size 64
        ... .visible .entry fill(.param .u64 out) {
        ...     .reg .b64 %rd<3>;
        ...     .reg .b32 %r<2>;
        ...     ld.param.u64 %rd0, [out];
        ...     mov.u32 %r0, %tid.x;
        ...     mul.wide.u32 %rd1, %r0, 4;
        ...     add.u64 %rd2, %rd0, %rd1;
        ...     st.global.u32 [%rd2], %r0;
        ...     ret;
        ... }''', name="fill.ptx")
        >>> list(program.entries)
        ['fill']
        >>> out = np.zeros(4, np.uint32)
        >>> result = program["fill"].launch(1, 4, out)
        >>> out
        array([0, 1, 2, 3], dtype=uint32)
    """
    if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source):
        path = Path(source)
        return Program(parse(path.read_bytes()), name or path.name)
    return Program(parse(source), name or "<ptx>")


class Program:
    """A module read from PTX text; `program["name"]` is one of its entries."""

    def __init__(self, module: Module, name: str):
        self.module, self.name = module, name

    def __repr__(self) -> str:
        return f"<pyptx program {self.name}: {', '.join(self.entries) or 'no entries'}>"

    @cached_property
    def text(self) -> str:
        """The module as PTX text."""
        return self._emitted.text

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the kernels, in order of text."""
        return tuple(f.name for f in self.module.entries)

    def __getitem__(self, name: str) -> Entry:
        try:
            return self._entries[name]
        except KeyError:
            raise KeyError(f"{self.name} has no entry {name!r}; expected one of "
                           f"{', '.join(self.entries) or 'none: it holds no .entry'}") from None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def check_ptx(self, target: str | None = None) -> list[Diagnostic]:
        """Everything the table refuses in the module, with the lines of the text; empty when ptxas would take it."""
        return [*self.module.diagnostics, *validate.check(self.module, target)]

    def compile(self, **arguments: Any) -> Compiled:
        """Assemble all of it; arguments as for Entry.compile.

        Raises:
            LaunchError: there is no entry to compile.
        """
        if not self._entries:
            raise LaunchError(f"{self.name} holds no .entry, so there is nothing to compile")
        return next(iter(self)).compile(**arguments)

    @cached_property
    def _emitted(self):
        return emit_lines(self.module)

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {f.name: Entry(Variant(self.module, f, self._emitted)) for f in self.module.entries}


class Entry:
    """A kernel of a loaded program; compile, view, launch and check are those of `Kernel`."""

    def __init__(self, variant: Variant):
        self._variant = variant

    def __repr__(self) -> str:
        return f"<pyptx entry {self.name}({', '.join(p.name for p in self.params)})>"

    @property
    def name(self) -> str:
        """Name of the entry in the PTX."""
        return self._function.name

    @property
    def params(self) -> tuple[Param, ...]:
        """Parameters of the entry, in order."""
        return self._function.params

    @property
    def last_run(self) -> LaunchResult | None:
        """What the newest launch gave; None before the first."""
        return self._variant.last_run

    @property
    def _function(self) -> Function:
        return self._variant.entry

    def ptx(self) -> str:
        """The text of the program, every entry of it."""
        return self._variant.emitted.text

    def sass(self, *, arch: str | None = None, options: Iterable[str] = ()) -> str:
        """The machine code as text, one instruction a line with its address; arguments as for compile."""
        return self.compile(arch=arch, options=options).listing()

    def compile(self, *, arch: str | None = None, options: Iterable[str] = ()) -> Compiled:
        """Validate and assemble.

        Args:
            arch: another target than the text names.
            options: of ptxas, such as "-O1".
        Raises:
            CompileError: the table or the assembler refused something; all of it, each with its line.
        """
        return self._variant.compile(options, arch=arch)

    def view(self, *, arch: str | None = None, options: Iterable[str] = (),
             block: int | Sequence[int] | None = None) -> Any:
        """The linked PTX | SASS view; arguments as for compile.

        Args:
            block: threads of a CTA, for the occupancy.
        """
        return self._variant.view(self.compile(arch=arch, options=options),
                                  block=dim3(block, "block") if block is not None else self._required_block())

    def _required_block(self):
        values = next((d.values for d in self._function.directives if d.name == "reqntid"), None)
        return dim3([int(v) for v in values], "reqntid") if values else None

    def launch(self, grid: int | Sequence[int], block: int | Sequence[int], *args: Any,
               cluster: int | Sequence[int] | None = None, smem_bytes: int = 0, stream: Any = None,
               backend: str | None = None, **settings: Any) -> LaunchResult:
        """Launch; args in parameter order.

        Args:
            args: arrays (pointers; NumPy arrays are written in place), numbers (converted to the parameter's type and
                range checked), bytes (aggregates), TensorMaps (128 bytes by value, or a pointer to them).
            smem_bytes: dynamic shared memory of a CTA, in bytes.
            settings: of the backend, such as `seed=` or `threads=` of the simulator.
        """
        if stream is not None:
            settings["stream"] = stream
        args = adopted(args)
        runtime = runtime_for(args, backend)
        with runtime.backend.staged(args) as staged:
            return self._variant.launch(runtime, dim3(grid, "grid"), dim3(block, "block"), staged,
                                        cluster=dim3(cluster, "cluster"), smem_bytes=smem_bytes,
                                        outputs=device_arrays(runtime, args, self.name),
                                        settings={**options(), **settings})

    def bind_launch(self, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[Any], *,
                    cluster: int | Sequence[int] | None = None, smem_bytes: int = 0
                    ) -> tuple[Variant, LaunchPlan, list[Any]]:
        """What a launch would launch: what is compiled, its geometry, its arguments."""
        plan = self._variant.plan(dim3(grid, "grid"), dim3(block, "block"), dim3(cluster, "cluster"), smem_bytes)
        return self._variant, plan, list(adopted(args))

    def roofline(self, grid: int | Sequence[int], block: int | Sequence[int], *args: Any, device: Any = None,
                 level: str = "dram", cluster: int | Sequence[int] | None = None, smem_bytes: int = 0) -> Any:
        """Where a launch lies under the roofs of a GPU; args as for launch, the rest as for `Kernel.roofline`."""
        return roofline(self, args, device=device, level=level, grid=grid, block=block, cluster=cluster,
                        smem_bytes=smem_bytes)

    def debug(self, grid: int | Sequence[int], block: int | Sequence[int], *args: Any, schedule: str = "eager",
              seed: int = 0, cluster: int | Sequence[int] | None = None, smem_bytes: int = 0, **settings: Any) -> Any:
        """Launch it on the simulator under the debugger, on copies of the arrays: step, breakpoints, going back.

        Args:
            args, cluster, smem_bytes: as for launch.
            schedule, seed: "eager", "late" or "random": when asynchronous operations land, and by which seed.
            settings: of the simulator: `tensor_cores=`, and `sanitize=True`, with which races, missing fences and waits
                are stops.
        Returns:
            pyptx.debug.Session: .step(), .next(), .resume(), .back(), .breakpoints, .evaluate(text), .document()
        Raises:
            CompileError, LaunchError: it cannot be launched. What it does wrong is a stop of the session.
        """
        args = adopted(args)
        device_arrays(runtime_for(args, "sim"), args, self.name)
        return self._variant.debug(dim3(grid, "grid"), dim3(block, "block"), args, cluster=dim3(cluster, "cluster"),
                                   smem_bytes=smem_bytes, schedule=schedule, seed=seed,
                                   settings={**options(), **settings})

    def check(self, grid: int | Sequence[int], block: int | Sequence[int], *args: Any,
              schedules: Sequence[str] = ("eager", "late"), random: int = 4, seed: int = 0,
              cluster: int | Sequence[int] | None = None, smem_bytes: int = 0, **settings: Any) -> Any:
        """Launch it on the simulator in several schedules, on copies of the arrays, and report what they show.

        Args:
            args, cluster, smem_bytes: as for launch.
            schedules, random, seed: "eager" and "late" and so many random ones, with seeds from `seed` on.
            settings: of the simulator, such as `max_steps=`.
        Returns:
            pyptx.check.Report: .ok, .findings, .text(), .to_json(), .to_sarif(), .raise_if_found()
        Raises:
            CompileError, LaunchError: it cannot be launched. What it does wrong is in the report.
        """
        args = adopted(args)
        device_arrays(runtime_for(args, "sim"), args, self.name)
        return self._variant.check(dim3(grid, "grid"), dim3(block, "block"), args, cluster=dim3(cluster, "cluster"),
                                   smem_bytes=smem_bytes, schedules=schedules, random=random, seed=seed,
                                   settings={**options(), **settings})
