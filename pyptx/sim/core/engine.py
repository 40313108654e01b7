"""Runs an encoded program on the C core, in slices, so that an interrupt comes through."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from pyptx.errors import LaunchError, SimulationError
from pyptx.sim.core.actions import encode
from pyptx.sim.core.encode import Encoded, Flags
from pyptx.sim.core.library import core
from pyptx.sim.counters import Counters
from pyptx.sim.faults import accesses as faults
from pyptx.sim.faults import deadlocks
from pyptx.sim.memory.host import HOST_FUNCTIONS, HostError, heap_among
from pyptx.sim.memory.spaces import (
    CONST_WINDOW,
    FUNCTION_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_START,
    SHARED_WINDOW,
    Buffer,
    Segment,
)
from pyptx.sim.plan import SCHEDULES, TENSOR_CORES, Plan
from pyptx.sim.program.program import Program
from pyptx.sim.special import value as special_value
from pyptx.sim.watch import WORDS, Sighting, sightings, words

__all__ = ["DEADLOCK", "DONE", "FAULT", "HOST", "LINKS", "RUNNING", "STATES", "STEPS", "STOPPED", "Job", "Part", "Seen",
           "encoded", "finish", "run"]

SLICE = 100_000                 # warp-instructions before the first look at signals
SLICE_SECONDS = 0.1             # about, between two looks
WATCH_BYTES = 1 << 30           # of each of the sanitizer's tables
LINKS = 16                      # mbarriers of an instruction that an observed run keeps
RUNNING, DONE, FAULT, DEADLOCK, STEPS, HOST, STOPPED = range(7)
_FAULTS = ("", "bounds", "alignment", "read_only", "trap", "barrier_count", "membermask", "barrier_id", "jump",
           "memory", "space", "warp", "function", "no_mbarrier", "mbarrier_count", "mbarrier_underflow", "tx_range",
           "no_complete", "size", "remote", "rank", "cluster_arrive", "cluster_wait", "registers", "split", "tensor",
           "uniform", "tmem", "warpgroup", "watch", "texture")
_NO_MEMORY = "out of memory for the sanitizer, which keeps half a byte or more for each byte of the arrays"
_SMALLER = "check the kernel with smaller arrays or fewer CTAs"
STATES = ("ready", "barrier", "parked", "free", "waiting")

_POINTERS = """ops pool segments param zeros consts place_sregs
    issues lanes divergent conflicts requests sectors excess waits async_operations tma_bytes tensor_flops next_cta
    shared_addresses warp_issues marks links named watch debug""".split()
_SCALARS = """nops const_bytes place_sreg_bytes nsegments param_bytes smem_start smem_bytes local_bytes reg_bytes
    zero_count shared_window local_window const_window param_window max_steps cta_quantum warp_quantum
    last_cta max_resident yields function_window tensor_hw schedule seed nshared maxnreg ninstr watch_bytes
    npool""".split()


class _Launch(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in _POINTERS] + [(n, ctypes.c_uint64) for n in _SCALARS] + \
        [(n, ctypes.c_uint64 * 3) for n in ("grid", "block", "cluster")] + [("left", ctypes.c_uint64 * 2)]


_encoded: WeakKeyDictionary[Program, Encoded] = WeakKeyDictionary()
_newest: WeakKeyDictionary[Program, tuple[Plan, np.ndarray]] = WeakKeyDictionary()


def encoded(program: Program) -> Encoded:
    """The program's operations, made once."""
    found = _encoded.get(program)
    if found is None:
        found = _encoded[program] = encode(program)
    return found


@dataclass(frozen=True, eq=False)
class Seen:
    """Arrays that an observed run of some clusters fills.

    Attributes:
        clusters: their numbers in the grid.
        issues: executions by (warp of the cluster, instruction).
        named: by (warp of the cluster, instruction): bits of the CTA's barriers that it came to.
        links: by (instruction, place): mbarriers it worked on, as addresses in shared memory; 0 where there are fewer.
        read, written: by the `id` of a buffer, the bits of its bytes that were touched, lowest first.
    """

    clusters: range
    issues: np.ndarray
    named: np.ndarray
    links: np.ndarray
    read: dict[int, np.ndarray]
    written: dict[int, np.ndarray]

    @classmethod
    def of(cls, program: Program, plan: Plan, segments: list[Segment], clusters: range) -> Seen:
        """Empty arrays for these clusters."""
        count = len(program.instructions)
        sizes = {id(s.buffer): -(-s.size // 64) * 8 for s in segments if s.space == "global"}
        return cls(clusters, np.zeros((plan.cluster_size * plan.warps, count), np.uint64),
                   np.zeros((plan.cluster_size * plan.warps, count), np.uint16), np.zeros((count, LINKS), np.uint32),
                   {key: np.zeros(size, np.uint8) for key, size in sizes.items()},
                   {key: np.zeros(size, np.uint8) for key, size in sizes.items()})

    def pointers(self, ordered: list[Segment]) -> dict[str, np.ndarray]:
        """What the core is given, for segments in the order of their addresses."""
        marks = [[found.get(id(s.buffer)) for found in (self.read, self.written)] for s in ordered]
        table = np.array([[0 if bits is None else bits.__array_interface__["data"][0] for bits in both]
                          for both in marks] or [(0, 0)], np.uint64)
        return {"warp_issues": self.issues, "named": self.named, "links": self.links, "marks": table}


def run(program: Program, plan: Plan, params: bytes, segments: list[Segment], threads: int,
        seen: Seen | None = None, found: list[Sighting] | None = None, fresh: Collection[np.ndarray] = (),
        progress: Callable[[int, int], None] | None = None) -> Counters:
    """Run the whole grid; the counters.

    Args:
        seen: run its clusters only, and fill it; `threads` is 1. Issues by instruction are in there alone.
        found: the sanitizer runs and puts there what it finds.
        fresh: arrays that hold nothing until the kernel writes it, for the sanitizer.
        progress: called now and then with the clusters that were started and all there are.
    Raises:
        SimulationError: a fault, a deadlock, or too many steps.
        LaunchError: several threads for a program whose CTAs may depend on each other.
    """
    code = encoded(program)
    if threads > 1 and found is not None:
        raise LaunchError(f"threads={threads}: the sanitizer watches one thread; pass threads=1")
    if threads > 1 and (program.polls or program.reduces or program.calls_host):
        raise LaunchError(f"threads={threads}: {program.entry.name} uses atomics, ordered accesses or printf, whose "
                          "order several threads would not keep; pass threads=1")
    return finish(Job(program, code, plan, params, segments, seen, found, fresh=fresh), threads, progress)


def finish(job: Job, threads: int = 1, progress: Callable[[int, int], None] | None = None) -> Counters:
    """Run a job to its end; the counters. It raises what `run` does."""
    parts = [Part(job) for _ in range(min(threads, job.plan.clusters))]
    parts[0].progress = progress
    if len(parts) == 1:
        parts[0].run()
    else:
        from concurrent.futures import ThreadPoolExecutor  # late: it loads the logging of Python

        with ThreadPoolExecutor(len(parts)) as pool:
            try:
                list(pool.map(Part.run, parts))
            except BaseException:
                job.stop = True
                raise
    failed = [part.failed for part in parts if part.failed]
    if failed:
        raise min(failed, key=lambda cta_and_error: cta_and_error[0])[1]
    total = parts[0].counters
    for part in parts[1:]:
        total += part.counters
    return total


class Job:
    """What the parts of a launch share; `debug` is what the core reads and writes in a debugged one (core/debug.py).

    Attributes:
        stop: set when its parts must not go on.
        ordered: the segments by their addresses, as the core has them.
        launch: what the core is told, but for the counters of a part.
    """

    def __init__(self, program: Program, code: Encoded, plan: Plan, params: bytes, segments: list[Segment],
                 seen: Seen | None = None, found: list[Sighting] | None = None, debug: np.ndarray | None = None,
                 fresh: Collection[np.ndarray] = ()):
        self.found = found
        self.program, self.code, self.plan, self.segments, self.stop = program, code, plan, segments, False
        ordered = self.ordered = sorted(segments, key=lambda s: s.address)
        memory = {array.__array_interface__["data"][0] for array in fresh if array.size}
        self.fresh = [k for k, s in enumerate(ordered) if s.space == "global" and s.buffer.host in memory]
        places = _places(program, code, plan)
        table = np.array([(s.address, s.size, s.buffer.host, s.buffer.read_only) for s in ordered] or [(0, 0, 0, 0)],
                         np.uint64)
        ops = _operations(code, plan)
        self.arrays = {"ops": ops if debug is None else ops.copy(), "pool": code.pool, "segments": table,
                       "param": np.frombuffer(params or b"\0", np.uint8),
                       "zeros": _first_values(program, code, plan), "consts": _constants(code, params),
                       "place_sregs": places,
                       "next_cta": np.full(1, 0 if seen is None else seen.clusters.start, np.uint64),
                       "shared_addresses": np.array(code.shared_addresses or [0], np.uint32)}
        if seen is not None:
            self.arrays |= seen.pointers(ordered)
        if found is not None:
            self.arrays["watch"] = words(program)
        if debug is not None:
            self.arrays["debug"] = debug
        triple = ctypes.c_uint64 * 3
        self.launch = _Launch(
            **{name: _address(array) for name, array in self.arrays.items()},
            nops=len(code.ops), const_bytes=len(code.constants), place_sreg_bytes=places.shape[1] * 128,
            nsegments=len(ordered), param_bytes=len(params), smem_start=SHARED_START, smem_bytes=plan.shared_bytes,
            local_bytes=-(-program.names.local_bytes // 16) * 16, reg_bytes=code.reg_bytes,
            zero_count=3 * len(program.undefined), shared_window=SHARED_WINDOW, local_window=LOCAL_WINDOW,
            const_window=CONST_WINDOW, param_window=PARAM_WINDOW, function_window=FUNCTION_WINDOW,
            max_steps=plan.max_steps, cta_quantum=plan.cta_quantum, warp_quantum=plan.warp_quantum,
            max_resident=plan.resident, yields=plan.yields, tensor_hw=TENSOR_CORES.index(plan.tensor_cores),
            ninstr=len(program.instructions), schedule=SCHEDULES.index(plan.schedule), seed=plan.seed,
            nshared=len(code.shared_addresses), maxnreg=program.maxnreg, watch_bytes=WATCH_BYTES, npool=len(code.pool),
            last_cta=plan.clusters if seen is None else seen.clusters.stop, grid=triple(*plan.grid),
            block=triple(*plan.block), cluster=triple(*plan.cluster),
            left=(ctypes.c_uint64 * 2)(*plan.left_threads))

    def again(self, arrays: Sequence[np.ndarray | None], params: bytes | None = None) -> Job:
        """The same over other memory, of the same sizes.

        Args:
            arrays: for each segment of `ordered`; None: it stays.
            params: the parameter block, where it is another.
        """
        job = object.__new__(Job)
        job.__dict__.update(self.__dict__)
        job.ordered = job.segments = [s if array is None else Segment(s.address, Buffer(array, s.buffer.name))
                                      for s, array in zip(self.ordered, arrays, strict=True)]
        table, next_cta = self.arrays["segments"].copy(), self.arrays["next_cta"].copy()
        hosts = table[:, 2]
        for k, array in enumerate(arrays):
            if array is not None:
                hosts[k] = _address(array)
        job.arrays = {**self.arrays, "segments": table, "next_cta": next_cta}
        job.launch = launch = _Launch.from_buffer_copy(self.launch)
        launch.segments, launch.next_cta = _address(table), _address(next_cta)
        if params is not None:
            block, consts = np.frombuffer(params or b"\0", np.uint8), _constants(self.code, params)
            job.arrays |= {"param": block, "consts": consts}
            launch.param, launch.consts = _address(block), _address(consts)
        return job


class Part:
    """What one thread runs: CTA after CTA, taken from the count of the job.

    CTAs are taken in order, so when one fails all before it have been taken: the others finish those they have and
    take no more, and the failure of the first CTA is the one to report, as with one thread.
    """

    def __init__(self, job: Job):
        self.failed: tuple[int, SimulationError] | None = None
        self.progress: Callable[[int, int], None] | None = None
        self.job, self.program, self.plan = job, job.program, job.plan
        self.counters = Counters.zeros(len(job.program.instructions))
        self.launch = launch = _Launch.from_buffer_copy(job.launch)
        row, pitch = _address(self.counters.issues), self.counters.issues.nbytes
        launch.issues, launch.lanes, launch.divergent, launch.conflicts, launch.requests, launch.sectors, \
            launch.excess, launch.waits, launch.async_operations, launch.tma_bytes, launch.tensor_flops = \
            (row + k * pitch for k in range(11))        # an entry of no instruction has rows of no bytes

    def run(self) -> None:
        library = core()
        context = library.core_open(ctypes.byref(self.launch))
        if not context:
            if self.job.found is not None:
                raise SimulationError(_NO_MEMORY, hint=_SMALLER)
            raise SimulationError("out of memory for the simulated registers")
        for k in self.job.fresh if self.job.found is not None else ():
            library.core_watch_fresh(context, k)
        try:
            budget, started = SLICE, time.perf_counter()
            while (status := library.core_run(context, budget)) in (RUNNING, HOST):
                if self.job.stop:
                    return
                if self.progress is not None:
                    self.progress(int(self.job.arrays["next_cta"][0]), self.plan.clusters)
                now = time.perf_counter()
                budget = _budget(budget, now - started)
                started = now
                if status == HOST:
                    self.call_host(library, context)
                    library.core_resume(context)
            if status != DONE:
                self.failed = self.error(library, context, status)
                self.job.arrays["next_cta"][0] = self.plan.ctas
            self._collect(library, context, status)
        except KeyboardInterrupt as pressed:
            pressed.add_note(deadlocks.standing(self.program, self.plan, *self.waiting(library, context)))
            raise
        finally:
            library.core_close(context)

    def _collect(self, library, context, status: int) -> None:
        if self.job.found is None:
            return
        rows, out = [], (ctypes.c_uint64 * WORDS)()
        while library.core_found(context, len(rows), out):
            rows.append(list(out))
        reserved = self.program.names.reserved                  # which the system has cleared
        self.job.found += [s for s in sightings(rows, self.plan.warps, self.job.ordered) if reserved is None
                           or s.rule != "uninitialised" or s.space != "shared" or s.address < reserved]
        first = ctypes.c_uint64()
        for k in self.job.fresh if status == DONE else ():
            if count := library.core_unwritten(context, k, ctypes.byref(first)):
                self.job.found.append(Sighting.unwritten(self.job.ordered[k], first.value, count))

    def call_host(self, library, context) -> None:
        """Run a function of the driver for the lanes that call it."""
        out = (ctypes.c_uint64 * 2)()
        registers = library.core_host_call(context, out)
        op, mask = self.job.code.ops[out[0]], out[1]
        action = self.program.actions[int(op["instr"])]

        def row(place: int, width: int):
            cells = ctypes.c_uint64 * 32 if width == 64 else ctypes.c_uint32 * 32
            if place & 3 == 0:
                return cells.from_address(registers + place)
            return cells.from_buffer_copy(self.job.arrays["consts"], place & ~3)

        heap = heap_among(self.job.segments)
        columns = [row(int(place), 64) for place in self.job.code.pool[op["aux"]:op["aux"] + op["imm"]]]
        for lane in (i for i in range(32) if mask >> i & 1):
            try:
                result = HOST_FUNCTIONS[action.name](_Lane(library, context, lane, heap), [c[lane] for c in columns])
            except HostError as error:
                library.core_fault(context, fault := (ctypes.c_uint64 * 8)())
                where = faults.Where(self.program, self.plan, fault[5], fault[3], lane)
                raise faults.fault("host", where, int(op["instr"]), 0, 0, self.job.segments, str(error)) from None
            if action.data is not None:
                row(int(op["d"]), action.data.width)[lane] = result & (1 << action.data.width) - 1

    def error(self, library, context, status: int) -> tuple[int, SimulationError]:
        """The CTA that failed, and why."""
        out = (ctypes.c_uint64 * 8)()
        library.core_fault(context, out)
        kind, lane, op, warp, _, cta, address, extra = out
        instruction = int(self.job.code.ops[op]["instr"]) if op < len(self.job.code.ops) else None
        where = faults.Where(self.program, self.plan, cta, warp, lane)
        if status == FAULT:
            if _FAULTS[kind] == "memory":
                return cta, SimulationError("out of memory for the simulated CTAs")
            if _FAULTS[kind] == "watch":
                return cta, SimulationError(_NO_MEMORY, hint=_SMALLER)
            return cta, faults.fault(_FAULTS[kind], where, instruction, address, extra, self.job.segments)
        ctas, waiting = self.waiting(library, context)
        if status == DEADLOCK:
            return cta, deadlocks.deadlock(self.program, self.plan, ctas, waiting)
        return cta, deadlocks.too_long(self.program, self.plan, cta, waiting)

    def waiting(self, library, context) -> tuple[list[int], list[deadlocks.Group]]:
        """The CTAs of the cluster that runs, and where their threads are."""
        ctas, groups, out = [], [], (ctypes.c_uint64 * 13)()
        for rank in range(library.core_cluster(context, 0, out)):
            library.core_cluster(context, rank, out)
            ctas.append(out[0])
            for w in range(self.plan.warps):
                for g in range(32):
                    if library.core_group(context, rank, w, g, out):
                        state, op, mask, *rest = out
                        groups.append(deadlocks.Group(ctas[-1], w, mask, int(self.job.code.ops[op]["instr"]),
                                                      STATES[state], *rest))
        return ctas, groups


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _budget(last: int, seconds: float) -> int:
    """Warp-instructions until the next look at signals, when the last ones took so long."""
    return int(min(max(last * SLICE_SECONDS / max(seconds, 1e-6), last / 8, 100), last * 8, 1 << 40))


class _Lane:
    """The memory of a lane of the warp that runs."""

    def __init__(self, library, context, number: int, heap: Segment | None):
        self.library, self.context, self.number, self.heap = library, context, number, heap

    def read(self, address: int, size: int) -> bytes | None:
        place = self.library.core_lane_memory(self.context, self.number, address & (1 << 64) - 1, size)
        return ctypes.string_at(place, size) if place else None


def _operations(code: Encoded, plan: Plan) -> np.ndarray:
    """The operations, marked where an instruction's asynchronous operations land at once."""
    if not plan.prompt:
        return code.ops
    ops = code.ops.copy()
    ops["flags"][np.isin(ops["instr"], list(plan.prompt))] |= Flags.PROMPT
    return ops


def _first_values(program: Program, code: Encoded, plan: Plan) -> np.ndarray:
    """(offset, bytes, word) of each register that may be read before it is written."""
    rows = np.zeros((len(program.undefined), 3), np.uint32)
    rows[:, :2] = code.zeros[:2 * len(rows)].reshape(-1, 2)
    left = dict(plan.left)
    rows[:, 2] = [left.get(index, 0) & (1 << min(program.names.registers[index].width, 32)) - 1
                  if program.names.registers[index].width > 1 else left.get(index, 0)
                  for index in sorted(program.undefined)]
    return rows


def _constants(code: Encoded, params: bytes) -> np.ndarray:
    """Segment 1 with the parameters of this launch in their rows."""
    if not code.param_rows:
        return code.constants
    constants = code.constants.copy()
    for place, offset, size, signed, width in code.param_rows:
        value = int.from_bytes(params[offset:offset + size], "little", signed=signed) & ((1 << 8 * width) - 1)
        row = max(width, 4)
        constants[place:place + 32 * row] = np.frombuffer(value.to_bytes(row, "little") * 32, np.uint8)
    return constants


def _places(program: Program, code: Encoded, plan: Plan) -> np.ndarray:
    """The rows of the newest plan are kept: launches of a program mostly repeat it."""
    newest = _newest.get(program)
    if newest is None or newest[0] != plan:
        newest = _newest[program] = plan, _place_rows(code, plan)
    return newest[1]


def _place_rows(code: Encoded, plan: Plan) -> np.ndarray:
    rows = np.zeros((plan.warps, max(1, len(code.place_rows)), 32), np.uint32)
    for w in range(plan.warps):
        for k, name in enumerate(code.place_rows):
            rows[w, k] = special_value(name, plan, w)
    return rows
