"""Run clusters of a launch on the C core, in slices so that an interrupt is noticed."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from pyptx.errors import SimulationError
from pyptx.sim import abi, abi_structures
from pyptx.sim.abi import Status
from pyptx.sim.actions import HostCall
from pyptx.sim.core.encoding.actions import encode
from pyptx.sim.core.encoding.encoder import Encoded
from pyptx.sim.core.launch_arguments import CoreLaunch, address_of
from pyptx.sim.core.library import core
from pyptx.sim.counters import Counters
from pyptx.sim.faults import deadlocks
from pyptx.sim.faults import messages as faults
from pyptx.sim.memory.address_space import Segment
from pyptx.sim.memory.host_functions import HOST_FUNCTIONS, HostError, heap_among
from pyptx.sim.plan import Plan
from pyptx.sim.program.per_program import per_program
from pyptx.sim.program.program import Program
from pyptx.sim.sanitizer import AccessFinding, access_findings

__all__ = ["Worker", "encoded_program", "findings_of", "group_of"]

SLICE = 100_000  # warp-instructions before the first check for signals
SLICE_SECONDS = 0.1  # about, between two checks
_OUT_OF_MEMORY = "out of memory for the sanitizer, which keeps half a byte or more for each byte of the arrays"
_SMALLER = "check the kernel with smaller arrays or fewer CTAs"


@per_program
def encoded_program(program: Program) -> Encoded:
    """The program's operations, cached."""
    return encode(program)


class Worker:
    """One thread of a launch: runs cluster after cluster, taken from the counter that all workers share.

    Clusters are taken in order. When one fails, all before it have been taken: the other workers finish theirs and take
    no more, and the failure of the first CTA is the one reported, as with one thread.
    """

    launch: CoreLaunch
    plan: Plan
    program: Program
    counters: Counters
    arguments: abi_structures.Launch

    def __init__(self, launch: CoreLaunch):
        self.failed: tuple[int, SimulationError] | None = None
        self.progress: Callable[[int, int], None] | None = None
        self.launch, self.program, self.plan = launch, launch.program, launch.plan
        self.counters = Counters.zeros(len(launch.program.instructions))
        self.arguments = arguments = abi_structures.Launch.from_buffer_copy(launch.arguments)
        row, pitch = address_of(self.counters.issues), self.counters.issues.nbytes
        (
            arguments.issues,
            arguments.lanes,
            arguments.divergent,
            arguments.conflicts,
            arguments.requests,
            arguments.sectors,
            arguments.excess,
            arguments.waits,
            arguments.async_operations,
            arguments.tma_bytes,
            arguments.tensor_flops,
        ) = (row + k * pitch for k in range(11))  # rows are empty for an entry without instructions

    def run(self) -> None:
        """Run until no cluster is left, or one fails (then `failed` holds its CTA and the error)."""
        library, launch = core(), self.launch
        repeatable, status = launch.repeatable, Status.RUNNING
        if context := repeatable and repeatable.take():
            library.core_reopen(context, ctypes.byref(self.arguments))
        else:
            context = library.core_open(ctypes.byref(self.arguments))
        if not context:
            if launch.findings is not None:
                raise SimulationError(_OUT_OF_MEMORY, hint=_SMALLER)
            raise SimulationError("out of memory for the simulated registers")
        for k in launch.uninitialized if launch.findings is not None else ():
            library.core_mark_uninitialized(context, k)
        try:
            budget, started = SLICE, time.perf_counter()
            while (status := library.core_run(context, budget)) in (Status.RUNNING, Status.HOST_CALL):
                if launch.stop:
                    return
                if self.progress is not None:
                    self.progress(launch.state[0], self.plan.clusters)
                now = time.perf_counter()
                budget = _budget(budget, now - started)
                started = now
                if status == Status.HOST_CALL:
                    self.call_host(library, context)
                    library.core_resume(context)
            if status != Status.DONE:
                self.failed = self.error(library, context, status)
                launch.state[0] = self.plan.ctas
            self._collect_findings(library, context, status)
        except KeyboardInterrupt as pressed:
            pressed.add_note(deadlocks.progress_report(self.program, self.plan, *self.waiting(library, context)))
            raise
        finally:
            if repeatable and status == Status.DONE:
                repeatable.keep(context)
            else:
                library.core_close(context)

    def _collect_findings(self, library: ctypes.CDLL, context: int, status: int) -> None:
        launch = self.launch
        if launch.findings is None:
            return
        launch.race_free = status == Status.DONE and bool(library.core_is_race_free(context))
        rows = findings_of(library, context)
        reserved = self.program.symbols.reserved  # cleared by the system
        launch.findings += [
            s
            for s in access_findings(rows, self.plan.warps, self.plan.index_of, launch.segments)
            if reserved is None or s.rule != "uninitialized" or s.space != "shared" or s.address < reserved
        ]
        first = ctypes.c_uint64()
        for k in launch.uninitialized if status == Status.DONE else ():
            if count := library.core_unwritten(context, k, ctypes.byref(first)):
                launch.findings.append(AccessFinding.unwritten(launch.segments[k], first.value, count))

    def call_host(self, library: ctypes.CDLL, context: int) -> None:
        """Execute a driver function for the lanes that call it."""
        library.core_host_call(context, ctypes.byref(call := abi_structures.HostCall()))
        launch = self.launch
        op = launch.code.ops[call.op]
        action = self.program.actions[int(op["instr"])]
        assert isinstance(action, HostCall), "the core stops for nothing else"

        def row(place: int, width: int):
            cells = ctypes.c_uint64 * 32 if width == 64 else ctypes.c_uint32 * 32
            if place & 3 == 0:
                return cells.from_address(call.registers + place)
            return cells.from_buffer_copy(launch.arrays["consts"].data, place & ~3)

        heap = heap_among(launch.segments)
        columns = [row(int(place), 64) for place in launch.code.pool[op["aux"] : op["aux"] + op["imm"]]]
        for lane in (i for i in range(32) if call.lanes >> i & 1):
            try:
                result = HOST_FUNCTIONS[action.name](_Lane(library, context, lane, heap), [c[lane] for c in columns])
            except HostError as error:
                library.core_fault(context, ctypes.byref(fault := abi_structures.FaultInfo()))
                where = faults.Where(self.program, self.plan, fault.cta, fault.warp, lane)
                raise faults.fault("host", where, int(op["instr"]), 0, 0, launch.segments, str(error)) from None
            if action.data is not None:
                row(int(op["d"]), action.data.width)[lane] = result & (1 << action.data.width) - 1

    def error(self, library: ctypes.CDLL, context: int, status: int) -> tuple[int, SimulationError]:
        """The CTA that failed, and its error."""
        library.core_fault(context, ctypes.byref(fault := abi_structures.FaultInfo()))
        ops = self.launch.code.ops
        instruction = int(ops[fault.op]["instr"]) if fault.op < len(ops) else 0
        where = faults.Where(self.program, self.plan, fault.cta, fault.warp, fault.lane)
        if status == Status.FAULT:
            kind = abi.FAULTS[fault.kind]
            if kind == "memory":
                return fault.cta, SimulationError("out of memory for the simulated CTAs")
            if kind == "sanitizer":
                return fault.cta, SimulationError(_OUT_OF_MEMORY, hint=_SMALLER)
            segments = self.launch.segments
            assert instruction is not None, "a fault is raised by an operation"
            return fault.cta, faults.fault(kind, where, instruction, fault.address, fault.extra, segments)
        ctas, waiting = self.waiting(library, context)
        if status == Status.DEADLOCK:
            return fault.cta, deadlocks.deadlock(self.program, self.plan, ctas, waiting)
        return fault.cta, deadlocks.too_long(self.program, self.plan, fault.cta, waiting)

    def waiting(self, library: ctypes.CDLL, context: int) -> tuple[list[int], list[deadlocks.Group]]:
        """The CTAs of the cluster that runs, and the groups of lanes of their warps."""
        ctas, groups, number = [], [], ctypes.c_uint64()
        for rank in range(library.core_cluster(context, 0, ctypes.byref(number))):
            library.core_cluster(context, rank, ctypes.byref(number))
            ctas.append(number.value)
            for w in range(self.plan.warps):
                for g in range(32):
                    if library.core_group(context, rank, w, g, ctypes.byref(info := abi_structures.GroupInfo())):
                        instruction = int(self.launch.code.ops[info.op]["instr"])
                        groups.append(group_of(number.value, w, instruction, info))
        return ctas, groups


def findings_of(library: ctypes.CDLL, context: int, first: int = 0) -> list[abi_structures.FindingInfo]:
    """The findings of the sanitizer so far, from number `first` on."""
    rows: list[abi_structures.FindingInfo] = []
    while library.core_finding(context, first + len(rows), ctypes.byref(row := abi_structures.FindingInfo())):
        rows.append(row)
    return rows


def group_of(cta: int, warp: int, instruction: int, info: abi_structures.GroupInfo) -> deadlocks.Group:
    """A group of lanes of a warp as the messages about deadlocks take it."""
    return deadlocks.Group(
        cta,
        warp,
        info.lanes,
        instruction,
        abi.GROUP_STATES[info.state],
        info.barrier,
        info.arrived,
        info.expected,
        info.live,
        info.address,
        info.word,
        info.phase,
        info.missing,
        info.registers,
        info.free,
    )


def _budget(last: int, seconds: float) -> int:
    """Warp-instructions until the next check for signals, given the time of the last slice."""
    return int(min(max(last * SLICE_SECONDS / max(seconds, 1e-6), last / 8, 100), last * 8, 1 << 40))


class _Lane:
    """The memory of a lane of the warp that runs."""

    def __init__(self, library: ctypes.CDLL, context: int, number: int, heap: Segment | None):
        self.library, self.context, self.number, self.heap = library, context, number, heap

    def read(self, address: int, size: int) -> bytes | None:
        place = self.library.core_lane_memory(self.context, self.number, address & (1 << 64) - 1, size)
        return ctypes.string_at(place, size) if place else None
