"""The arguments of a launch on the C core: its arrays, and the structure that points to them."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np

from pyptx.sim import abi, abi_structures
from pyptx.sim.core.contexts import Repeatable
from pyptx.sim.core.encoding.encoder import Encoded
from pyptx.sim.memory.address_space import (
    CONST_WINDOW,
    FUNCTION_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_START,
    SHARED_WINDOW,
    Buffer,
    Segment,
)
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.sanitizer import AccessFinding, access_flags
from pyptx.sim.special_registers import value as special_value

__all__ = ["CoreLaunch", "ProfileArrays", "address_of"]

SANITIZER_BYTES = 1 << 30  # limit of each of the sanitizer's tables

_special_rows: WeakKeyDictionary[Program, tuple[object, np.ndarray]] = WeakKeyDictionary()  # of the newest sizes


def address_of(array: np.ndarray) -> int:
    """Host address of the first byte of an array."""
    if array.dtype.names is not None:
        return array.ctypes.data  # the array interface would describe each field
    return array.__array_interface__["data"][0]


@dataclass(frozen=True, eq=False)
class ProfileArrays:
    """Arrays that a profiled run of some clusters fills.

    Attributes:
        clusters: numbers of the clusters in the grid.
        issues: executions by (warp of the cluster, instruction).
        barriers: by (warp of the cluster, instruction): bits of the CTA barriers it used.
        links: by (instruction, k): mbarriers it worked on, as shared-memory addresses; 0 in unused places.
        lines, bank_passes: by instruction: 128-byte lines of accesses to global memory, and their passes over banks beyond
            the minimum, as for shared memory.
        wide_passes: by (instruction, width): passes over shared memory of its accesses if each lane accessed 8, or 16, bytes
            at its address.
        fresh_loads: by (instruction, kind): its loads from global memory of a sector that the warp has not read recently, and
            those sectors; other sectors, and the lines of the warp's loads since it has read those.
        recent: by warp of the cluster: the sectors that it has read recently, each with the count of lines at which it read it,
            and that count.
        masked_sectors: by instruction: sectors that its stores to global memory do not write, of lines of
            128 bytes with a sector that they write in part.
        atomic_turns: by (block of ATOMIC_BLOCK bytes of global memory, modulo ATOMIC_BLOCKS; kind): sectors of atomic
            accesses, and lanes beyond the first that name the word that most of a sector's lanes name.
        atomic_passes: by instruction: passes over the banks of shared memory of atomic accesses, one for each lane of a bank.
        read_segments: by instruction: bits of the segments that it loads from, in the order of their addresses; the last one
            stands for all further ones.
        read, written, returned: by the `id` of a buffer, one bit for each byte touched, lowest first; `returned` are those
            read that were written before they were read.
    """

    clusters: range
    issues: np.ndarray
    barriers: np.ndarray
    links: np.ndarray
    lines: np.ndarray
    bank_passes: np.ndarray
    wide_passes: np.ndarray
    fresh_loads: np.ndarray
    recent: np.ndarray
    masked_sectors: np.ndarray
    atomic_turns: np.ndarray
    atomic_passes: np.ndarray
    read_segments: np.ndarray
    read: dict[int, np.ndarray]
    written: dict[int, np.ndarray]
    returned: dict[int, np.ndarray]

    @classmethod
    def of(cls, program: Program, plan: Plan, segments: list[Segment], clusters: range) -> ProfileArrays:
        """Zeroed arrays for these clusters."""
        count = len(program.instructions)
        sizes = {id(s.buffer): -(-s.size // 64) * 8 for s in segments if s.space == "global"}
        return cls(
            clusters,
            np.zeros((plan.cluster_size * plan.warps, count), np.uint64),
            np.zeros((plan.cluster_size * plan.warps, count), np.uint16),
            np.zeros((count, abi.Limit.OBSERVED_LINKS), np.uint32),
            np.zeros(count, np.uint64),
            np.zeros(count, np.uint64),
            np.zeros((count, 2), np.uint64),
            np.zeros((count, 4), np.uint64),
            np.zeros((plan.cluster_size * plan.warps, abi.Limit.RECENT_SECTORS + 1), np.uint64),
            np.zeros(count, np.uint64),
            np.zeros((abi.Limit.ATOMIC_BLOCKS, 2), np.uint64),
            np.zeros(count, np.uint64),
            np.zeros(count, np.uint64),
            *({key: np.zeros(size, np.uint8) for key, size in sizes.items()} for _ in range(3)),
        )

    def arguments(self, ordered: list[Segment]) -> dict[str, np.ndarray]:
        """The arrays by their names in `abi_structures.Launch`, for segments in the order of their addresses."""
        marks = [[found.get(id(s.buffer)) for found in (self.read, self.written, self.returned)] for s in ordered]
        # the core writes the last column: not zero once a byte of the segment was written
        table = np.array(
            [[*(0 if bits is None else address_of(bits) for bits in row), 0] for row in marks] or [(0,) * 4], np.uint64
        )
        return {
            "warp_issues": self.issues,
            "barriers": self.barriers,
            "links": self.links,
            "lines": self.lines,
            "bank_passes": self.bank_passes,
            "wide_passes": self.wide_passes,
            "fresh_loads": self.fresh_loads,
            "recent": self.recent,
            "masked_sectors": self.masked_sectors,
            "atomic_turns": self.atomic_turns,
            "atomic_passes": self.atomic_passes,
            "read_segments": self.read_segments,
            "marks": table,
        }


class CoreLaunch:
    """A launch as the core takes it, shared by all its workers.

    Attributes:
        arrays: the arrays that `arguments` points to.
        state: the number of the next cluster, and the segments, of which `arguments` has the addresses.
        arguments: what `core_open` is given, except for the counters of a worker.
        segments: the segments by their addresses, as the core has them.
        repeatable: what keeps contexts for runs that differ in their arrays only, or None.
        findings: list that receives the findings of the sanitizer; None: it does not run.
        uninitialized: indices in `segments` of arrays without contents until the kernel writes them.
        stop: set to make all workers return early.
        race_free: set at the end if the sanitizer found every two conflicting accesses ordered.
    """

    code: Encoded
    plan: Plan
    program: Program
    stop: bool
    race_free: bool = False
    repeatable: Repeatable | None = None
    uninitialized: list[int]
    arrays: dict[str, np.ndarray]
    state: ctypes.Array[ctypes.c_uint64]
    arguments: abi_structures.Launch
    _rebound: tuple[list[Segment], Sequence[np.ndarray | None]]

    def __init__(
        self,
        program: Program,
        code: Encoded,
        plan: Plan,
        params: bytes,
        segments: list[Segment],
        profile: ProfileArrays | None = None,
        findings: list[AccessFinding] | None = None,
        debug: np.ndarray | None = None,
        uninitialized: Collection[np.ndarray] = (),
        synchronizations: np.ndarray | None = None,
    ):
        self.findings = findings
        self.program, self.code, self.plan, self.stop = program, code, plan, False
        ordered = self.segments = sorted(segments, key=lambda s: s.address)
        hosts = {address_of(array) for array in uninitialized if array.size}
        self.uninitialized = [k for k, s in enumerate(ordered) if s.space == "global" and s.buffer.host in hosts]
        specials = _warp_specials(program, code, plan)
        rows = [(s.address, s.size, s.buffer.host, s.buffer.read_only) for s in ordered] or [(0, 0, 0, 0)]
        self.state = (ctypes.c_uint64 * (1 + 4 * len(rows)))(
            0 if profile is None else profile.clusters.start, *chain.from_iterable(rows)
        )
        start = ctypes.addressof(self.state)
        ops = _operations(code, plan)
        self.arrays = {
            "ops": ops if debug is None and findings is None else ops.copy(),  # watched ones get handlers of their own
            "pool": code.pool,
            "param": np.frombuffer(params or b"\0", np.uint8),
            "initial": _initial_values(program, code, plan),
            "consts": _constants(code, params),
            "warp_specials": specials,
            "shared_addresses": np.array(code.shared_addresses or [0], np.uint32),
        }
        if profile is not None:
            self.arrays |= profile.arguments(ordered)
        if findings is not None:
            self.arrays["sanitizer"] = access_flags(program)
        if debug is not None:
            self.arrays["debug"] = debug
        if synchronizations is not None:
            self.arrays["synchronizations"] = synchronizations
        self.arguments = abi_structures.Launch(
            **{name: address_of(array) for name, array in self.arrays.items()},
            next_cluster=start,
            segments=start + 8,
            nops=len(code.ops),
            npool=len(code.pool),
            nsegments=len(ordered),
            ninstr=len(program.instructions),
            ninitial=3 * len(program.undefined),
            nshared=len(code.shared_addresses),
            const_bytes=len(code.constants),
            warp_special_bytes=specials.shape[1] * 128,
            param_bytes=len(params),
            local_bytes=-(-program.symbols.local_bytes // 16) * 16,
            reg_bytes=code.reg_bytes,
            smem_start=SHARED_START,
            smem_bytes=plan.shared_bytes,
            shared_window=SHARED_WINDOW,
            local_window=LOCAL_WINDOW,
            const_window=CONST_WINDOW,
            param_window=PARAM_WINDOW,
            function_window=FUNCTION_WINDOW,
            max_steps=plan.max_steps,
            cta_quantum=plan.cta_quantum,
            warp_quantum=plan.warp_quantum,
            max_resident=plan.resident,
            last_cluster=plan.clusters if profile is None else profile.clusters.stop,
            yields=plan.yields,
            tensor_cores=abi.TENSOR_CORES.index(plan.tensor_cores),
            schedule=abi.SCHEDULES.index(plan.schedule),
            seed=plan.seed,
            maxnreg=program.maxnreg,
            sanitizer_bytes=SANITIZER_BYTES,
            grid=plan.grid,
            block=plan.block,
            cluster=plan.cluster,
            initial_threads=plan.initial_register_threads,
        )

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments of a launch that `rebind` returned."""
        before, arrays = self._rebound
        return [
            s if array is None else Segment(s.address, Buffer(array, s.buffer.name))
            for s, array in zip(before, arrays, strict=True)
        ]

    def rebind(
        self, arrays: Sequence[np.ndarray | None], hosts: Sequence[int], params: bytes | None = None
    ) -> CoreLaunch:
        """Return the same launch over other arrays of the same sizes.

        Args:
            arrays: one for each segment of `segments`; None keeps the segment.
            hosts: their host addresses; of a segment that is kept, any number.
            params: the new parameter block; None keeps it.
        """
        launch = object.__new__(CoreLaunch)
        launch.__dict__.update(self.__dict__)
        del launch.__dict__["segments"]
        launch._rebound = self.segments, arrays
        launch.state = state = type(self.state).from_buffer_copy(self.state)
        for k, (array, host) in enumerate(zip(arrays, hosts, strict=True)):
            if array is not None:
                state[4 * k + 3] = host
        launch.arguments = arguments = abi_structures.Launch.from_buffer_copy(self.arguments)
        arguments.next_cluster = start = ctypes.addressof(state)
        arguments.segments = start + 8
        if params is not None:
            block, consts = np.frombuffer(params or b"\0", np.uint8), _constants(self.code, params)
            launch.arrays = self.arrays | {"param": block, "consts": consts}
            arguments.param, arguments.consts = address_of(block), address_of(consts)
            launch.repeatable = None
        return launch


def _operations(code: Encoded, plan: Plan) -> np.ndarray:
    """The operations, with those flagged whose asynchronous operations complete at issue."""
    if not plan.land_eagerly:
        return code.ops
    ops = code.ops.copy()
    ops["flags"][np.isin(ops["instr"], list(plan.land_eagerly))] |= abi.OpFlag.LAND_EAGERLY
    return ops


def _initial_values(program: Program, code: Encoded, plan: Plan) -> np.ndarray:
    """(offset, bytes, word) of each register that may be read before it is written."""
    rows = np.zeros((len(program.undefined), 3), np.uint32)
    rows[:, :2] = code.initial[: 2 * len(rows)].reshape(-1, 2)
    words = dict(plan.initial_registers)
    rows[:, 2] = [
        words.get(index, 0) & (1 << min(program.symbols.registers[index].width, 32)) - 1
        if program.symbols.registers[index].width > 1
        else words.get(index, 0)
        for index in sorted(program.undefined)
    ]
    return rows


def _constants(code: Encoded, params: bytes) -> np.ndarray:
    """Segment 1 with the parameters of this launch in their rows."""
    if not code.param_rows:
        return code.constants
    constants = code.constants.copy()
    for place, offset, size, signed, width in code.param_rows:
        value = int.from_bytes(params[offset : offset + size], "little", signed=signed) & ((1 << 8 * width) - 1)
        row = max(width, 4)
        constants[place : place + 32 * row] = np.frombuffer(value.to_bytes(row, "little") * 32, np.uint8)
    return constants


def _warp_specials(program: Program, code: Encoded, plan: Plan) -> np.ndarray:
    """Rows of segment 3 for each warp of a CTA, cached for the newest sizes of a launch of the program."""
    newest = _special_rows.get(program)
    sizes = plan.grid, plan.block, plan.cluster, plan.dynamic_bytes, plan.shared_bytes, plan.explicit_cluster
    if newest is None or newest[0] != sizes:
        rows = np.zeros((plan.warps, max(1, len(code.warp_specials)), 32), np.uint32)
        for w in range(plan.warps):
            for k, name in enumerate(code.warp_specials):
                values = special_value(name, plan, w)
                assert values is not None, f"{name} is not the same in every CTA"
                rows[w, k] = values
        newest = _special_rows[program] = sizes, rows
    return newest[1]
