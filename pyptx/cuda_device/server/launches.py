"""Kernel launches."""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from pyptx.check.locations import text_lines
from pyptx.cuda_device.server.errors import DriverError, code
from pyptx.cuda_device.server.events import Event, record
from pyptx.cuda_device.server.footprints import NOTHING, joined, ranges_of_bits
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.kernel_attributes import NON_PORTABLE, dynamic_limit, required_cluster, resident_ctas
from pyptx.cuda_device.server.kernel_time import kernel_seconds
from pyptx.cuda_device.server.modules import Kernel
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import sms_of, stream_of, submit
from pyptx.cuda_device.server.textures import objects_segment
from pyptx.errors import LaunchError, SimulationError
from pyptx.nvrtc.mangling import local_names, qualified_name
from pyptx.sim.core.engine import encoded_program
from pyptx.sim.core.launch_arguments import CoreLaunch, ProfileArrays
from pyptx.sim.core.parallel import run_launch
from pyptx.sim.counters import Counters
from pyptx.sim.memory.address_space import CONST_WINDOW, GRID_WORKSPACE, Buffer, Segment
from pyptx.sim.memory.host_functions import Heap
from pyptx.sim.plan import Plan
from pyptx.sim.sanitizer import AccessFinding
from pyptx.sim.simulation import count_products

__all__ = ["KernelLaunch", "LaunchConfig", "decode_attributes"]

_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16
_ATTRIBUTE = struct.Struct("<i4x64s")
_EVENT_ATTRIBUTES = (7, 12)  # PROGRAMMATIC_EVENT, LAUNCH_COMPLETION_EVENT
_COOPERATIVE, _CLUSTER = 2, 4
_SHARED_UNIT = 16  # bytes of shared memory: compilers read aligned vectors whose last elements they do not use
_KNOWN_ATTRIBUTES = range(18)
_ADDRESS = re.compile(r" bytes at 0x([0-9a-f]+)")

# status of a fault of a kernel, by the kind of the simulator's error
_FAULTS = {
    "bounds": "ILLEGAL_ADDRESS",
    "read_only": "ILLEGAL_ADDRESS",
    "alignment": "MISALIGNED_ADDRESS",
    "host": "ASSERT",
    "jump": "INVALID_PC",
    "function": "INVALID_PC",
    "call_depth": "HARDWARE_STACK_ERROR",
    "deadlock": "LAUNCH_TIMEOUT",
}


@dataclass(frozen=True)
class LaunchConfig:
    """Sizes of a launch, in CTAs, threads, CTAs and bytes."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    cooperative: bool = False


@dataclass(eq=False)
class KernelLaunch:
    """A launch with its arguments, packed as in the parameter block."""

    kernel: Kernel
    config: LaunchConfig
    params: bytes
    attributes: dict[int, bytes] = field(default_factory=dict)  # of cuLaunchKernelEx
    counters: Counters | None = field(default=None, repr=False)
    modeled: float | None = None  # seconds, of the last run
    used: tuple[np.ndarray, np.ndarray] = field(default=(NOTHING, NOTHING), repr=False)  # of the last run
    kind = 0

    @property
    def name(self) -> str:
        """Name of the kernel in the source."""
        return qualified_name(self.kernel.name)

    @property
    def label(self) -> str:
        return f"{self.name} {self.config.grid} x {self.config.block}"

    def with_attributes(self, session: Session, attributes: Mapping[int, bytes]) -> KernelLaunch:
        """Return the launch with other attributes.

        Raises:
            DriverError: they are unknown, or do not fit the launch.
        """
        data = b"".join(_ATTRIBUTE.pack(number, value) for number, value in attributes.items())
        cluster, cooperative, _ = decode_attributes(session, data)
        config = replace(
            self.config,
            cluster=cluster if _CLUSTER in attributes else self.config.cluster,
            cooperative=cooperative if _COOPERATIVE in attributes else self.config.cooperative,
        )
        made = KernelLaunch(self.kernel, config, self.params, dict(attributes))
        made.check(session)
        return made

    def check(self, session: Session, sms: int | None = None) -> None:
        """Raise DriverError where the driver refuses the launch, on a number of SMs; default: all."""
        sms = sms or session.gpu.sms
        key = self.kernel.handle, self.config, sms
        end = session.admitted.get(key)
        if end is None:
            end = session.admitted[key] = self._admit(session, sms)
        if len(self.params) < end:
            raise DriverError("INVALID_VALUE", f"{self.name}: {len(self.params)} bytes of arguments; it takes {end}")
        self.params = self.params[:end]

    def _admit(self, session: Session, sms: int) -> int:
        """Check the sizes and return the bytes of the arguments."""
        name, config = self.name, self.config
        if 0 in config.grid or 0 in config.block:
            raise DriverError("INVALID_VALUE", f"{name}: grid {config.grid} and block {config.block}; a size is 0")
        if config.shared_bytes > dynamic_limit(self.kernel):
            raise DriverError(
                "INVALID_VALUE",
                f"{name}: {config.shared_bytes} bytes of dynamic shared memory; at most {dynamic_limit(self.kernel)}\n"
                "hint: opt in to more with cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)",
            )
        if config.cooperative:
            room = resident_ctas(self.kernel, prod(config.block), config.shared_bytes) * sms
            if prod(config.grid) > room:
                raise DriverError(
                    "COOPERATIVE_LAUNCH_TOO_LARGE",
                    f"{name}: a cooperative launch of {prod(config.grid)} CTAs; {sms} SMs hold {room} at a time\n"
                    "hint: cuOccupancyMaxActiveBlocksPerMultiprocessor tells the number for each SM",
                )
        most = _LARGEST_CLUSTER if self.kernel.settings.get(NON_PORTABLE) else _PORTABLE_CLUSTER
        if prod(config.cluster) > most:
            raise DriverError(
                "INVALID_CLUSTER_SIZE",
                f"{name}: a cluster of {prod(config.cluster)} CTAs; at most {most}\n"
                "hint: up to 16 need cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)",
            )
        cluster = config.cluster if prod(config.cluster) > 1 else required_cluster(self.kernel) or (1, 1, 1)
        if any(ctas % size for ctas, size in zip(config.grid, cluster, strict=True)):
            raise DriverError(
                "INVALID_CLUSTER_SIZE", f"{name}: grid {config.grid} is not a multiple of the cluster {cluster}"
            )
        self.plan(session)
        params = self.kernel.program.symbols.params
        return params[-1].offset + params[-1].size if params else 0

    def plan(self, session: Session) -> Plan:
        """Return the checked plan of the launch.

        Raises:
            DriverError: a size does not fit the kernel or the GPU.
        """
        config, program = self.config, self.kernel.program
        try:
            plan = Plan.of(
                program,
                config.grid,
                config.block,
                config.cluster,
                config.shared_bytes,
                schedule=session.options.schedule,
            )
            return replace(plan, shared_bytes=-(-plan.shared_bytes // _SHARED_UNIT) * _SHARED_UNIT)
        except LaunchError as error:
            raise DriverError("INVALID_VALUE", str(error).replace(self.kernel.name, self.name)) from error

    def run(self, session: Session) -> None:
        """Run the kernel.

        Raises:
            DriverError: it faults; the context keeps the error.
        """
        session.runs_kernel = True
        try:
            if session.times.wanted:
                self.modeled = session.times.seconds(
                    self, self.plan(session), list(_own_segments(session, self.kernel))
                )
            self.counters = _run(session, self)
        except SimulationError as error:
            name = _FAULTS.get(error.kind or "", "LAUNCH_FAILED")
            if session.context:
                session.get_context(session.context).error = code(name)
            raise DriverError(
                name, f"kernel {qualified_name(self.kernel.name)} failed: {_explained(session, error)}"
            ) from error
        finally:
            session.runs_kernel = False
        if self.kernel.program.calls_host:
            sys.stdout.flush()
        count_products(self.kernel.program, self.counters)

    def footprint(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranges of bytes that it read, and that it wrote, where they were recorded."""
        return self.used

    def engine(self, session: Session) -> str | None:
        """Return the SMs if the kernel uses all of them: such kernels run one after the other."""
        return "SMs" if prod(self.config.grid) >= session.gpu.sms else None

    def seconds(self, session: Session) -> float:
        if self.modeled is not None:
            return self.modeled
        return 0.0 if self.counters is None else kernel_seconds(self.counters, self.config.grid, session.gpu)


def _explained(session: Session, error: SimulationError) -> str:
    """Return the text of a fault; where it names an address of the device, with what is or was there."""
    address = _ADDRESS.search(error.message)
    if error.kind == "bounds" and address is not None and session.memory.contains(int(address[1], 16)):
        error.hint = session.memory.describe(int(address[1], 16))
    return local_names(str(error))


def _run(session: Session, wanted: KernelLaunch) -> Counters:
    if session.checks is None:
        return run_launch(_prepared(session, wanted))
    module = wanted.kernel.module
    return session.checks.run(
        wanted.kernel.program,
        lambda: text_lines(module.tree, module.text),
        lambda found: _watched(session, wanted, found),
    )


def _watched(session: Session, wanted: KernelLaunch, found: list[AccessFinding]) -> Counters:
    """Run a launch under the sanitizer, and record the bytes that it uses where other work may use them."""
    wanted.used = NOTHING, NOTHING
    if session.order is None or not session.order.wants_footprints:
        return run_launch(_core_launch(session, wanted, found))
    plan, allocations = wanted.plan(session), session.memory.allocations
    shared = [a.segment for a in allocations if a.kind != "array"]
    marks = ProfileArrays.of(wanted.kernel.program, plan, shared, range(plan.clusters))
    counters = run_launch(_core_launch(session, wanted, found, marks), 1)
    counters.issues[:] = marks.issues.sum(axis=0)
    wanted.used = _ranges(shared, marks.read), _ranges(shared, marks.written)
    return counters


def _ranges(segments: Sequence[Segment], marks: Mapping[int, np.ndarray]) -> np.ndarray:
    return joined(ranges_of_bits(segment.address, marks[id(segment.buffer)]) for segment in segments)


def _core_launch(
    session: Session,
    wanted: KernelLaunch,
    findings: list[AccessFinding] | None = None,
    marks: ProfileArrays | None = None,
) -> CoreLaunch:
    program = wanted.kernel.program
    segments = [*(a.segment for a in session.memory.allocations), *_own_segments(session, wanted.kernel)]
    code, plan = encoded_program(program), wanted.plan(session)
    return CoreLaunch(program, code, plan, wanted.params, segments, marks, findings)


def _prepared(session: Session, wanted: KernelLaunch) -> CoreLaunch:
    """Return the launch as the simulator's core takes it; what does not depend on the arguments is prepared once."""
    key = wanted.kernel.handle, wanted.config
    known = session.prepared.get(key)
    if known is None or known[0] != session.memory.version:
        launch = _core_launch(session, wanted)
        if not _repeatable(wanted.kernel):
            return launch
        session.prepared[key] = session.memory.version, _as_it_is(launch)  # not yet run
        return launch
    return _as_it_is(known[1], wanted.params)


def _as_it_is(launch: CoreLaunch, params: bytes | None = None) -> CoreLaunch:
    count = len(launch.segments)
    return launch.rebind([None] * count, [0] * count, params)


def _repeatable(kernel: Kernel) -> bool:
    """Return True if nothing of a launch but the arguments changes from one to the next."""
    symbols, constants = kernel.program.symbols, kernel.module.constants
    own_constants = len(symbols.const_bytes) > (constants.size if constants is not None else 0)
    return not own_constants and "%envreg1" not in kernel.program.specials


def _own_segments(session: Session, kernel: Kernel) -> Iterator[Segment]:
    """Yield constant memory, the heap of malloc, and the counters of cooperative groups, where a kernel uses them."""
    program, module = kernel.program, kernel.module
    if data := program.symbols.const_bytes:
        shared = module.constants.bytes if module.constants is not None else np.empty(0, np.uint8)
        own = np.frombuffer(data, np.uint8)[len(shared) :]
        whole = np.concatenate([shared, own]) if len(own) else shared
        yield Segment(CONST_WINDOW, Buffer(whole, "constant memory", read_only=True), "const")
    if program.allocates:
        yield session.heap(Heap)
    if "%envreg1" in program.specials:
        yield Segment(GRID_WORKSPACE, Buffer(np.array([8, 0], np.uint32), "grid workspace"))
    if (objects := objects_segment(session)) is not None:
        yield objects


def decode_attributes(session: Session, data: bytes) -> tuple[tuple[int, int, int], bool, list[int]]:
    """Decode the attributes of cuLaunchKernelEx: the cluster, True for a cooperative launch, and events to record.

    Raises:
        DriverError: an attribute is unknown.
    """
    cluster, cooperative, events = (1, 1, 1), False, []
    for number, value in _ATTRIBUTE.iter_unpack(data):
        if number == _CLUSTER:
            cluster = struct.unpack_from("<3I", value)
        elif number == _COOPERATIVE:
            cooperative = value[0] != 0
        elif number in _EVENT_ATTRIBUTES:
            events.append(int.from_bytes(value[:8], "little"))
        elif number not in _KNOWN_ATTRIBUTES:
            raise DriverError("INVALID_VALUE", f"launch attribute {number} is unknown")
    return cluster, cooperative, events


@handles("pyptxLaunch")
def launch(
    session: Session,
    handle: int,
    gx: int,
    gy: int,
    gz: int,
    bx: int,
    by: int,
    bz: int,
    shared_bytes: int,
    stream: int,
    cooperative: int,
    attributes: bytes | None,
    attribute_bytes: int,
    params: bytes | None,
    params_bytes: int,
) -> None:
    cluster, events = (1, 1, 1), []
    if attributes:
        cluster, also, events = decode_attributes(session, attributes)
        cooperative = cooperative or also
    config = LaunchConfig((gx, gy, gz), (bx, by, bz), cluster, shared_bytes, bool(cooperative))
    wanted = KernelLaunch(session.get(handle, Kernel), config, params or b"")
    if attributes:
        wanted.attributes = dict(_ATTRIBUTE.iter_unpack(attributes))
    wanted.check(session, sms_of(session, stream))
    submit(session, stream, wanted)
    for event in events:
        record(session, session.get(event, Event), stream_of(session, stream))
