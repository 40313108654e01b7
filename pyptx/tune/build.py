"""Assembling of configurations, and the checks that a configuration can be launched."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from pyptx.analysis.occupancy import Occupancy, occupancy
from pyptx.assembly import Assembly
from pyptx.errors import CompileError, LaunchError, MissingToolError, PtxError, ShapeError, SharedMemoryError, ToolError
from pyptx.toolchain import Resources
from pyptx.toolchain.elf import sections
from pyptx.tune.problem import ConfigLaunch, Problem

__all__ = ["BuiltConfig", "InfeasibleError", "build_config", "code_hash"]

_CODE = (".text.", ".nv.constant", ".nv.global", ".nv.shared", ".nv.local")


@dataclass(frozen=True, eq=False)
class BuiltConfig:
    """A configuration that can be launched.

    Attributes:
        compiled: its machine code.
        launch: its launch.
        resources: registers, spills and shared memory of the entry.
        occupancy: resident blocks and warps.
        cubin_hash: hash of instructions and constants, independent of the PTX text.
        identity: hash of machine code and launch; configurations with equal ones are duplicates.
        seconds: time of tracing and assembling.
    """

    compiled: Assembly
    launch: ConfigLaunch
    resources: Resources
    occupancy: Occupancy
    cubin_hash: str
    identity: str
    seconds: float


class InfeasibleError(PtxError, ValueError):
    """A configuration cannot be launched.

    Attributes:
        fault: "python" (the kernel's code), "table", "ptxas", "launch" (sizes, TMA rules), "spills", "occupancy",
            or the exceeded resource: "shared memory", "registers", "warps".
        reason: explanation.
        resources: what the entry uses, if it was assembled.
    """

    fault: str
    reason: str
    resources: Resources | None

    def __init__(self, fault: str, reason: str, *, resources: Resources | None = None):
        super().__init__(reason)
        self.fault, self.reason, self.resources = fault, reason, resources


def build_config(
    problem: Problem,
    config: Mapping[str, Any],
    *,
    target: str | None = None,
    options: Iterable[str] = (),
    spills: bool = False,
) -> BuiltConfig:
    """Trace, validate and assemble a configuration, and check it against the limits of the GPU.

    Args:
        problem: the kernel with its arguments.
        config: values of the template parameters.
        target: target to assemble for; None: the kernel's own.
        options: ptxas options.
        spills: accept spilled registers.
    Raises:
        InfeasibleError: the configuration cannot be launched, or spills.
        MissingToolError: there is no assembler, so no configuration can be built.
    """
    started = time.perf_counter()
    launch = _launch(problem, config)
    try:
        compiled = launch.specialization.compile(tuple(options), arch=target)
    except MissingToolError:
        raise
    except CompileError as error:
        raise InfeasibleError("ptxas" if error.message else "table", _first_diagnostic(error)) from error
    except ToolError as error:  # ptxas crashed, or exceeded its time limit
        raise InfeasibleError("ptxas", error.message) from error
    used = compiled.resources[launch.specialization.entry.name]
    fits = _check_occupancy(compiled.target, launch, used)
    spilled = used.spill_stores + used.spill_loads
    if spilled and not spills:
        raise InfeasibleError(
            "spills", f"{spilled} bytes of registers spilled to memory; spills=True accepts spills", resources=used
        )
    name = code_hash(compiled.cubin)
    return BuiltConfig(compiled, launch, used, fits, name, f"{name}-{launch.identity()}", time.perf_counter() - started)


def code_hash(cubin: bytes) -> str:
    """Return the hash of a cubin's code, constants and reserved memory, without debug information; 32 hexadecimal digits."""
    digest = hashlib.sha256()
    for section in sections(cubin):
        if section.name.startswith(_CODE):
            digest.update(f"{section.name}\0{section.size}\0".encode() + section.data)
    return digest.hexdigest()[:32]


def _launch(problem: Problem, config: Mapping[str, Any]) -> ConfigLaunch:
    try:
        return problem.launch(config, empty=True)
    except SharedMemoryError as error:
        raise InfeasibleError("shared memory", error.message.partition("\n")[0]) from error
    except (LaunchError, ShapeError) as error:
        raise InfeasibleError("launch", _location(error, problem) + error.message) from error
    except PtxError as error:
        raise InfeasibleError("python", str(error)) from error
    except Exception as error:  # whatever the kernel's Python raises refuses the configuration
        text = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise InfeasibleError("python", _location(error, problem) + text) from error


def _location(error: Exception, problem: Problem) -> str:
    """Return the line of the kernel's function that raised, as `gemm.py:41: `; empty for a ValueError, a check of its own."""
    if isinstance(error, ValueError):
        return ""
    code = problem.kernel.declaration.function.__code__
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == code.co_filename]
    return f"{code.co_filename.rpartition('/')[2]}:{lines[-1]}: " if lines else ""


def _check_occupancy(target: str, launch: ConfigLaunch, used: Resources) -> Occupancy:
    fits = occupancy(
        target,
        threads=prod(launch.plan.block),
        registers=used.registers,
        shared_bytes=used.shared_bytes,
        dynamic_shared_bytes=launch.plan.smem_bytes,
    )
    if not fits.blocks:
        raise InfeasibleError(fits.limiter, fits.why.replace("limited by ", "exceeds ", 1), resources=used)
    return fits


def _first_diagnostic(error: CompileError) -> str:
    first = error.diagnostics[0]
    more = len(error.diagnostics) - 1
    where = f"{first.place.file.rpartition('/')[2]}:{first.place.line}: " if first.place else ""
    text = f"{where}{first.message}"
    return f"ptxas: {text}" * bool(error.message) + text * (not error.message) + (f" (and {more} more)" if more else "")
