"""Run a program over a grid: arguments, engine, result."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from pyptx._geometry import dim3
from pyptx.errors import LaunchError
from pyptx.sim.core import engine as core
from pyptx.sim.core import library
from pyptx.sim.counters import Counters
from pyptx.sim.memory.args import pack
from pyptx.sim.memory.host import Heap
from pyptx.sim.memory.spaces import CONST_WINDOW, GRID_WORKSPACE, Buffer, Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.progress import Progress
from pyptx.sim.watch import Sighting

__all__ = ["Result", "count_products", "launch", "memory_of"]


@dataclass(frozen=True)
class Result:
    """What a launch did: counters per instruction, wall time in seconds, the engine ("core" or "reference"), and what
    the sanitizer found.
    """

    counters: Counters
    seconds: float
    engine: str
    seen: tuple[Sighting, ...] = ()


def launch(program: Program, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[object], *,
           cluster: int | Sequence[int] = (1, 1, 1), smem_bytes: int = 0, engine: str = "auto", seed: int = 0,
           threads: int | None = None, max_steps: int | None = None, tensor_cores: str = "fast",
           schedule: str = "eager", prompt: Collection[int] = (), sanitize: bool = False,
           found: list[Sighting] | None = None, fresh: Collection[np.ndarray] = (),
           left: Mapping[int, int] = MappingProxyType({}), left_threads: range | None = None) -> Result:
    """Run `program` on the CPU; arrays among `args` are read and written in place.

    A launch of more than two seconds says in a terminal and in a notebook how far it is; Ctrl-C stops it at once.

    Args:
        grid, block, cluster: sizes in CTAs, threads, CTAs; int or up to three.
        args: in parameter order: numpy arrays or Buffers for pointers, numbers, bytes for parameters by value.
        smem_bytes: dynamic shared memory.
        engine: "core" (C), "reference" (Python), "auto": the core where it can be loaded.
        schedule: when asynchronous operations take effect: "eager" at once, "late" when somebody waits for them (their
            destination holds 0xFF bytes until then), "random" at some time in between, with warps in random order.
        seed: of the random schedule; the same seed gives the same run.
        threads: OS threads of the core that share the CTAs; None is 1. More than 1 only when CTAs cannot depend on each
            other: no atomics, no ordered accesses of global memory.
        max_steps: warp-instructions after which the run is given up.
        prompt: numbers of instructions whose asynchronous operations land at once in every schedule.
        sanitize: watch every access for races, missing fences and waits; the C core only.
        found: gets what the sanitizer finds, also when the run ends in an error.
        fresh: of the arrays among `args`, those that hold nothing until the kernel writes it, for the sanitizer.
        left: by the number of a register that may be read before it is written, the word it holds at first, in each
            lane (a predicate: of all lanes); 0 unless told. The C core only.
        left_threads: in which threads they do, counted over the grid; None: in all.
        tensor_cores: "fast", with a rounding to nearest for each product added, or "hw", the bits of the hardware.
    Raises:
        LaunchError: an argument or a size is wrong.
        SimulationError: the program did what traps, waits for what never comes, or ran past `max_steps`.
    """
    plan = Plan.of(program, dim3(grid, "grid"), dim3(block, "block"), dim3(cluster, "cluster"), smem_bytes, max_steps,
                   schedule, seed)
    if tensor_cores not in ("fast", "hw"):
        raise LaunchError(f"tensor_cores {tensor_cores!r}; expected 'fast' or 'hw'")
    plan = replace(plan, tensor_cores=tensor_cores, prompt=frozenset(prompt), left=frozenset(left.items()),
                   left_threads=(0, (1 << 64) - 1) if left_threads is None else (left_threads.start, left_threads.stop))
    block_of_params, segments = memory_of(program, args, [v.buffer for v in program.names.globals])
    chosen = _engine(engine)
    if threads is not None and threads < 1:
        raise LaunchError(f"threads is {threads}; pass 1 or more")
    found = [] if found is None and sanitize else found
    if found is not None and chosen != "core":
        raise LaunchError("sanitize=True needs the simulator's C core; engine='reference' has no sanitizer")
    if left and chosen != "core":
        raise LaunchError("left= needs the simulator's C core; with engine='reference' registers begin as zero")
    started, progress = time.perf_counter(), Progress(program.entry.name)
    try:
        if chosen == "core":
            counters = core.run(program, plan, block_of_params, segments, 1 if threads is None else threads,
                                found=found, fresh=fresh, progress=progress)
        else:
            from pyptx.sim.reference import engine as reference  # late: some thirty modules, seldom needed

            counters = reference.run(program, plan, block_of_params, segments, progress)
    finally:
        progress.end()
    count_products(program, counters)
    return Result(counters, time.perf_counter() - started, chosen, tuple(found or ()))


def count_products(program: Program, counters: Counters) -> None:
    """Add to the counters what tensor cores did in the instructions a warp runs by itself."""
    if program.multiplies:
        np.add(counters.tensor_flops, counters.lanes // 32 * program.tensor_flops, out=counters.tensor_flops)


def memory_of(program: Program, args: Sequence[object], variables: Sequence[Buffer]) -> tuple[bytes, list[Segment]]:
    """The parameter block, and all global and constant memory; `variables` are the module's own, in order.

    Raises:
        LaunchError: an argument is wrong.
    """
    names = program.names
    own = [*variables, *([Heap()] if program.allocates else [])]
    block, segments = pack(program.entry.name, names.params, args, own)
    if names.const_bytes:
        constants = Buffer(np.frombuffer(bytes(names.const_bytes), np.uint8), "constant memory", read_only=True)
        segments.append(Segment(CONST_WINDOW, constants, "const"))
    if "%envreg1" in program.specials:                      # grid.sync() of cooperative groups: its size, its barrier
        workspace = Buffer(np.array([8, 0], np.uint32), "the workspace of the grid")
        segments.append(Segment(GRID_WORKSPACE, workspace))
    return block, segments


def _engine(name: str) -> str:
    if name not in ("auto", "core", "reference"):
        raise LaunchError(f"engine {name!r}; expected 'auto', 'core' or 'reference'")
    if name == "reference":
        return name
    problem = library.problem()
    if problem is None:
        return "core"
    if name == "core":
        raise LaunchError(f"the simulator core cannot be used: {problem}")
    warnings.warn(f"the simulator runs on its slow Python engine, about 1000 times slower: {problem}", RuntimeWarning,
                  stacklevel=3)
    return "reference"
