"""Cells of CUDA C++ under `%%cuda`: compiled with NVRTC, shown, and optionally launched, checked or debugged."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from pyptx.errors import PtxError
from pyptx.jupyter.cells import Cell, call_with
from pyptx.jupyter.errors import attach_traceback
from pyptx.jupyter.kernel_runs import CompiledKernel
from pyptx.launch_config import LaunchConfig, dim3
from pyptx.nvrtc import CudaError, Source
from pyptx.workbench.cuda_program import DEFAULT_ARCH, CudaEntry, CudaProgram, CudaSource, cuda
from pyptx.workbench.tools import check_of

__all__ = ["CALL", "Call", "Ran", "bind_entries", "compile_cuda_cell", "compiled_entries", "parse_call", "run_call"]

CALL = re.compile(r"\s*(?P<name>[A-Za-z_][\w:]*(?:<[^()]*>)?)\s*\((?P<arguments>.*)\)\s*", re.S)


class Call(NamedTuple):
    """A call in an option of the magic: an entry, and its arguments as text."""

    entry: CudaEntry
    arguments: str


@dataclass(frozen=True, slots=True)
class Ran:
    """Launch of an entry: threads of a block, dynamic shared memory in bytes, counters."""

    block: tuple[int, ...] | None = None
    smem_bytes: int = 0
    counters: Any = None


def compile_cuda_cell(
    shell: InteractiveShell,
    cell: Cell,
    *,
    arch: str | None,
    options: tuple[str, ...],
    defines: Mapping[str, Any],
    include: tuple[str, ...],
    name: str | None,
) -> CudaProgram:
    """Compile a cell; its lines are those of the notebook.

    Raises:
        CudaError: the compiler refused it; each finding is at its line of the cell.
    """
    __tracebackhide__ = True
    digest = hashlib.sha256(cell.source.encode()).hexdigest()[:12]
    source = CudaSource(Source(cell.source, f"/{digest}/cell.cu", Path.cwd()), cell.file, cell.name(shell))
    try:
        return cuda(
            source,
            options=options,
            defines=defines,
            include=include,
            name=name or cell.name(shell),
            arch=arch or DEFAULT_ARCH,
        )
    except CudaError as error:
        attach_traceback(shell, error, f"the CUDA C++ of {cell.name(shell)}" + (f" for {arch}" if arch else ""))
        raise


def bind_entries(shell: InteractiveShell, program: CudaProgram, name: str | None) -> None:
    """Bind the kernels of a cell by their names without namespaces, and the program by `name`."""
    for entry in program:
        if entry.name.isidentifier():
            shell.user_ns[entry.name] = entry
    if name:
        shell.user_ns[name] = program


def parse_call(program: CudaProgram, text: str, option: str) -> Call:
    """Return the entry and the arguments of a call such as "scale<float, 4>(2, 32, x, n)".

    Raises:
        UsageError: it is not a call of a kernel of the program.
    """
    found = CALL.fullmatch(text)
    names = ", ".join(program.entries) or "templates, such as scale<float>"
    if found is None:
        raise UsageError(f'{option} {text}: expected a call such as "add(GRID, BLOCK, x, n)"; kernels: {names}')
    try:
        name = found["name"]
        entry = program[name] if option == "--debug" else program.isolated(name)  # which has no debug information
        return Call(entry, found["arguments"])
    except PtxError as error:
        raise UsageError(f"{option} {text}: {error.message or error}") from None


def run_call(shell: InteractiveShell, call: Call, method: str, option: str) -> tuple[Any, Ran]:
    """Call a method of an entry with values of the notebook; return its result, and what is known of the launch."""
    __tracebackhide__ = True
    bound: Callable[..., Any] = getattr(call.entry, method)
    launches: dict[str, Any] = {}

    def recorded(*args: Any, **settings: Any) -> Any:
        given = args[0] if args and isinstance(args[0], LaunchConfig) else None
        block = given.block if given else settings.get("block", args[1] if len(args) > 1 else None)
        smem = given.smem_bytes if given else settings.get("smem_bytes", 0)
        launches.update(block=dim3(block, "block") if block is not None else None, smem=smem)
        return bound(*args, **settings)

    recorded.__qualname__ = f"{call.entry.name}.{method}"
    line = f"{call.entry.name}({call.arguments})"
    result = call_with(shell, recorded, call.arguments, line, f"{option} {line}")
    counters = call.entry.counters() if method == "launch" else None
    return result, Ran(launches.get("block"), launches.get("smem", 0), counters)


def compiled_entries(
    program: CudaProgram, wanted: str | None, ran: Mapping[str, Ran], options: tuple[str, ...]
) -> list[CompiledKernel]:
    """Compile the kernels to show, each by itself: `wanted`, else all, with the launches among them.

    Args:
        ran: launches by name of the entry.
    Raises:
        UsageError: the cell defines no kernel, or none of that name.
    """
    names = [wanted] if wanted else list(dict.fromkeys([*program.entries, *ran]))
    if not names:
        raise UsageError(
            "%%cuda: the cell defines no kernel; name the arguments of a template with --entry, as in "
            '--entry "scale<float>"'
        )
    try:
        entries = [program.isolated(name) for name in names]
    except PtxError as error:
        raise UsageError(f"--entry {wanted}: {error.message or error}") from None
    made = []
    for entry in entries:
        launch = ran.get(entry.name, Ran())
        compiled = entry.compile(options=options)
        check = check_of(entry._specialization, compiled)
        made.append(CompiledKernel(compiled, {}, launch.block, launch.smem_bytes, launch.counters, check=check))
    return made
