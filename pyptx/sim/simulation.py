"""Launches: run a program over a grid with one of the engines."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pyptx.errors import ArgumentValueError, BackendError
from pyptx.launch_config import choice, describe, integer
from pyptx.sim.core import library
from pyptx.sim.core import parallel as core
from pyptx.sim.counters import Counters
from pyptx.sim.memory.address_space import CONST_WINDOW, GRID_WORKSPACE, Buffer, Segment
from pyptx.sim.memory.arguments import pack
from pyptx.sim.memory.host_functions import Heap
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.progress import Progress
from pyptx.sim.sanitizer import AccessFinding

__all__ = ["Result", "count_products", "launch", "memory_of"]


@dataclass(frozen=True)
class Result:
    """Outcome of a launch.

    Attributes:
        counters: per-instruction counters.
        seconds: wall time.
        engine: "core" or "reference".
        findings: findings of the sanitizer; empty without `sanitize`.
        race_free: the sanitizer found every two conflicting accesses ordered. False also if there may be unordered ones
            that it does not report, such as writes of equal values.
    """

    counters: Counters
    seconds: float
    engine: str
    findings: tuple[AccessFinding, ...] = ()
    race_free: bool = False


def launch(
    program: Program,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[object],
    *,
    cluster: int | Sequence[int] = (1, 1, 1),
    smem_bytes: int = 0,
    engine: str = "auto",
    seed: int = 0,
    threads: int | None = None,
    max_steps: int | None = None,
    tensor_cores: str = "fast",
    schedule: str = "eager",
    land_eagerly: Collection[int] = (),
    sanitize: bool = False,
    findings: list[AccessFinding] | None = None,
    reachable: Sequence[np.ndarray] = (),
    uninitialized: Collection[np.ndarray] = (),
    synchronizations: np.ndarray | None = None,
    initial_registers: Mapping[int, int] = MappingProxyType({}),
    initial_register_threads: range | None = None,
    keep_variables: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Run `program` on the CPU; arrays among `args` are read and written in place.

    A launch that takes more than a second reports its progress in a terminal and in a notebook; Ctrl-C stops it.

    Args:
        program: a program of `sim.load`.
        grid, block, cluster: sizes in CTAs, threads and CTAs: an int or up to three of them.
        args: one per parameter: NumPy arrays or Buffers for pointers, numbers, bytes for parameters passed by value.
        smem_bytes: bytes of dynamic shared memory.
        engine: "core" (C), "reference" (Python), or "auto": the core where it can be loaded.
        seed: seed of the random schedule; a launch is deterministic for a given seed.
        threads: OS threads that share the CTAs (core only). None: all cores for a long launch whose CTAs do not depend on
            each other through atomics, ordered accesses or printf, else 1; the results and counters are equal.
        max_steps: limit on executed warp instructions; None is no limit.
        tensor_cores: "fast" rounds to nearest after each product added; "hw" reproduces the hardware bit for bit;
            "none" counts products without computing them.
        schedule: when asynchronous operations complete: "eager" at issue, "late" when a thread waits for them (until
            then their destination holds 0xFF bytes), "random" at a random time between, with warps in random order.
        land_eagerly: numbers of instructions whose asynchronous operations complete at issue in every schedule.
        sanitize: check every access for races, missing fences and missing waits (core only).
        findings: list that receives the findings of the sanitizer, also when the launch raises.
        reachable: arrays that the kernel reaches only through addresses in memory, which `pyptx.pointer` returned.
        uninitialized: arrays among `args` whose contents are undefined until the kernel writes them (sanitizer).
        synchronizations: one uint64, to which a hash of how the threads synchronized is added: in which phase of an
            mbarrier or barrier each arrival counted and each wait ended (core only).
        initial_registers: initial 32-bit word, in each lane, of registers that may be read before they are written, by
            register number (for a predicate: one bit per lane); 0 for all others (core only).
        initial_register_threads: linear thread indices in the grid that `initial_registers` applies to; None is all.
        keep_variables: run on a copy of the module's global variables, so that they keep their values.
        progress: called now and then with the clusters started and their total, in place of the report; what it raises
            stops the launch.
    Raises:
        LaunchError: an argument or a size is invalid.
        SimulationError: the program trapped, deadlocked or exceeded `max_steps`.
    """
    plan = Plan.of(
        program,
        grid,
        block,
        cluster,
        smem_bytes,
        max_steps,
        tensor_cores=tensor_cores,
        schedule=schedule,
        seed=seed,
        land_eagerly=land_eagerly,
        initial_registers=initial_registers,
        initial_register_threads=initial_register_threads,
    )
    variables = program.symbols.copied_buffers() if keep_variables else program.symbols.global_buffers
    block_of_params, segments = memory_of(program, args, variables, reachable)
    chosen = _engine(engine)
    threads = None if threads is None else integer(threads, "threads", 1)
    if not isinstance(sanitize, bool | np.bool_):
        raise ArgumentValueError(f"sanitize={describe(sanitize)}; expected True or False")
    findings = [] if findings is None and sanitize else findings
    if findings is not None and chosen != "core":
        raise BackendError("sanitize=True needs the simulator's C core; engine='reference' has no sanitizer")
    if initial_registers and chosen != "core":
        raise BackendError("initial_registers= needs the simulator's C core; engine='reference' starts registers at 0")
    started, shown, race_free = time.perf_counter(), Progress(program.entry.name), False
    try:
        if chosen == "core":
            run = core.prepare(
                program,
                plan,
                block_of_params,
                segments,
                threads,
                findings=findings,
                uninitialized=uninitialized,
                synchronizations=synchronizations,
            )
            counters = core.run_launch(run, threads, progress or shown)
            race_free = run.race_free
        else:
            from pyptx.sim.reference import engine as reference  # imported on first use: many modules, rarely needed

            counters = reference.run(program, plan, block_of_params, segments, progress or shown)
    finally:
        shown.end()
    count_products(program, counters)
    return Result(counters, time.perf_counter() - started, chosen, tuple(findings or ()), race_free)


def count_products(program: Program, counters: Counters) -> None:
    """Add the tensor core operations of warp-level instructions to the counters."""
    if program.multiplies:
        np.add(counters.tensor_flops, counters.lanes // 32 * program.tensor_flops, out=counters.tensor_flops)


def memory_of(
    program: Program, args: Sequence[object], variables: Sequence[Buffer], reachable: Sequence[np.ndarray] = ()
) -> tuple[bytes, list[Segment]]:
    """Return the parameter block, and all global and constant memory.

    Args:
        variables: memory of the global variables of the module, in order.
        reachable: as for `launch`.
    Raises:
        LaunchError: an argument is invalid.
    """
    names = program.symbols
    own = [*variables, *([Heap()] if program.allocates else [])]
    named = [Buffer(array, f"reachable[{k}]") for k, array in enumerate(reachable)]
    block, segments = pack(program.entry.name, names.params, args, own, named)
    if names.const_bytes:
        constants = Buffer(np.frombuffer(bytes(names.const_bytes), np.uint8), "constant memory", read_only=True)
        segments.append(Segment(CONST_WINDOW, constants, "const"))
    if "%envreg1" in program.specials:  # grid.sync() of cooperative groups: size and barrier
        workspace = Buffer(np.array([8, 0], np.uint32), "grid workspace")
        segments.append(Segment(GRID_WORKSPACE, workspace))
    return block, segments


def _engine(name: str) -> str:
    choice(name, "engine", ("auto", "core", "reference"))
    if name == "reference":
        return name
    problem = library.problem()
    if problem is None:
        return "core"
    if name == "core":
        raise BackendError(f"the C core of the simulator is unavailable: {problem}")
    warnings.warn(
        f"the simulator uses its slow Python engine, about 1000 times slower than the C core: {problem}",
        RuntimeWarning,
        stacklevel=3,
    )
    return "reference"
