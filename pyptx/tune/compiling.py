"""A configuration to machine code, or the reason why it cannot be launched."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from pyptx.analysis.occupancy import Occupancy, occupancy
from pyptx.compiled import Compiled
from pyptx.errors import CompileError, LaunchError, MissingToolError, PtxError, ShapeError, ToolError
from pyptx.toolchain import Resources
from pyptx.toolchain.elf import sections
from pyptx.tune.problem import Launch, Problem

__all__ = ["Built", "Refusal", "build", "hash_of"]

_CODE = (".text.", ".nv.constant", ".nv.global", ".nv.shared", ".nv.local")


@dataclass(frozen=True, eq=False)
class Built:
    """A configuration that can be launched.

    Attributes:
        cubin_hash: of the instructions and constants, whatever the PTX text looked like.
        identity: of machine code and launch together: equal ones run alike.
        seconds: that tracing and assembling took.
    """

    compiled: Compiled
    launch: Launch
    resources: Resources
    occupancy: Occupancy
    cubin_hash: str
    identity: str
    seconds: float


class Refusal(Exception):
    """Why a configuration cannot be launched.

    Attributes:
        fault: "python" (the kernel's own code), "table", "ptxas", "launch" (sizes, TMA rules), "spills", "occupancy",
            or the resource that is exceeded: "shared memory", "registers", "warps".
        reason: in words.
    """

    def __init__(self, fault: str, reason: str, *, resources: Resources | None = None):
        super().__init__(reason)
        self.fault, self.reason, self.resources = fault, reason, resources


def build(problem: Problem, config: Mapping[str, Any], *, target: str | None = None, options: Iterable[str] = (),
          spills: bool = False) -> Built:
    """Trace, validate and assemble a configuration, and hold it against the chip's limits.

    Args:
        target: to assemble for, when it is not the kernel's own.
        options: of ptxas.
        spills: let registers spill.
    Raises:
        Refusal: it cannot be launched, or spills.
        MissingToolError: there is no assembler: no configuration can be built.
    """
    started = time.perf_counter()
    launch = _launch(problem, config)
    try:
        compiled = launch.variant.compile(tuple(options), arch=target)
    except MissingToolError:
        raise
    except CompileError as error:
        raise Refusal("ptxas" if error.message else "table", _words(error)) from error
    except ToolError as error:                          # ptxas broke, or took too long
        raise Refusal("ptxas", error.message) from error
    used = compiled.resources[launch.variant.entry.name]
    fits = _occupancy(compiled.target, launch, used)
    spilled = used.spill_stores + used.spill_loads
    if spilled and not spills:
        raise Refusal("spills", f"{spilled} bytes of registers spilled to memory; spills=True lets it run",
                      resources=used)
    name = hash_of(compiled.cubin)
    return Built(compiled, launch, used, fits, name, f"{name}-{launch.identity()}", time.perf_counter() - started)


def hash_of(cubin: bytes) -> str:
    """32 hexadecimal digits of what a cubin makes a GPU do: its code, constants and reserved memory, no debug lines."""
    summed = hashlib.sha256()
    for section in sections(cubin):
        if section.name.startswith(_CODE):
            summed.update(f"{section.name}\0{section.size}\0".encode() + section.data)
    return summed.hexdigest()[:32]


def _launch(problem: Problem, config: Mapping[str, Any]) -> Launch:
    try:
        return problem.launch(config, empty=True)
    except (LaunchError, ShapeError) as error:
        raise Refusal("launch", _place_of(error, problem) + error.message) from error
    except PtxError as error:
        raise Refusal("python", str(error)) from error
    except Exception as error:                          # the kernel's own Python: whatever it raises is its refusal
        text = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise Refusal("python", _place_of(error, problem) + text) from error


def _place_of(error: Exception, problem: Problem) -> str:
    """`gemm.py:41: `, the line of the kernel's own function that the error came through; empty for a check it made."""
    if isinstance(error, ValueError):
        return ""
    code = problem.kernel.__wrapped__.__code__
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == code.co_filename]
    return f"{code.co_filename.rpartition('/')[2]}:{lines[-1]}: " if lines else ""


def _occupancy(target: str, launch: Launch, used: Resources) -> Occupancy:
    fits = occupancy(target, threads=prod(launch.plan.block), registers=used.registers, shared_bytes=used.shared_bytes,
                     dynamic_shared_bytes=launch.plan.smem_bytes)
    if not fits.blocks:
        raise Refusal(fits.limiter, fits.why.replace("limited by ", "too much: ", 1), resources=used)
    return fits


def _words(error: CompileError) -> str:
    first = error.diagnostics[0]
    more = len(error.diagnostics) - 1
    where = f"{first.place.file.rpartition('/')[2]}:{first.place.line}: " if first.place else ""
    text = f"{where}{first.message}"
    return f"ptxas: {text}" * bool(error.message) + text * (not error.message) + (f" (and {more} more)" if more else "")
