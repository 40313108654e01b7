"""The state of a simulated device for one client process."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from pyptx.analysis.gpus import Gpu
from pyptx.cuda_device.server.call_sites import remember
from pyptx.cuda_device.server.checking import LaunchChecks
from pyptx.cuda_device.server.connection import Connection
from pyptx.cuda_device.server.context_state import Context, GreenContext
from pyptx.cuda_device.server.device_memory import PAGE, Allocation, DeviceMemory
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import Capture
from pyptx.cuda_device.server.leaks import KINDS, Left
from pyptx.cuda_device.server.modeled_time import ModeledTimes
from pyptx.cuda_device.server.object_places import ObjectPlaces
from pyptx.cuda_device.server.ordering import ProgramOrder
from pyptx.cuda_device.server.stream_order import Conflict
from pyptx.cuda_device.server.tracing import Trace
from pyptx.cuda_device.server.work_queue import Work, WorkQueue
from pyptx.sim.memory.address_space import Buffer, Segment

__all__ = ["Context", "GreenContext", "Options", "Session"]

T = TypeVar("T")
FIRST_HANDLE = 0x1000_0000  # those of the default streams are lower
HEAP = 0x2F00_0000_0000  # address of the heap of malloc in kernels


@dataclass(frozen=True)
class Options:
    """Options of launches.

    Attributes:
        schedule: schedule of asynchronous operations, as for `sim.launch`; with "late", work of streams runs late, too.
        check: run the sanitizer on every launch.
        folder: private folder of the running `pyptx exec`.
        trace: write a trace of calls and work into it.
    """

    schedule: str = "eager"
    check: bool = False
    folder: Path = Path()
    trace: bool = False


class Session:
    """Everything that the client's calls refer to.

    Attributes:
        gpu: the simulated GPU.
        context: handle of the calling thread's context, during a call; 0 without one; of a green one, the primary context.
        green: the calling thread's green context, during a call; None without one.
        green_contexts: all of them, by the number by which they are made current.
        thread: number of the calling thread, during a call.
        sites: return addresses of the call, as in `Request`.
        process: number of the client's process.
        primary: the primary context; None before it is retained.
        retained: references to the primary context.
        runs_kernel: True while a kernel runs.
        trace: None without `pyptx exec --trace`.
        checks: findings of the launches; None unless they are checked.
        work: the work of streams.
        times: modeled times of kernels.
        order: the order of the work of streams; None unless launches are checked.
    """

    connection: Connection

    def __init__(self, gpu: Gpu, options: Options, memory: DeviceMemory):
        self.gpu, self.options, self.memory = gpu, options, memory
        self.checks = LaunchChecks(options.schedule) if options.check else None
        self.order = ProgramOrder(self, self._conflict) if options.check else None
        if options.check:
            memory.sites = self._remembered_sites
        self._makers: dict[int, tuple[int, ...]] = {}  # by handle: return addresses of the calls that made objects
        memory.protect = lambda address, size, access: self.connection.protect(self.thread, address, size, access)
        self.registered_pages: dict[
            int, tuple[int, int]
        ] = {}  # by page: its place in the memory, and its registrations
        self.registered_places: dict[int, int] = {}  # by address of registered memory: its first page in the memory
        self.engines: dict[str, float] = {}  # modeled time at which what one operation has at a time is free
        self.work = WorkQueue(options.schedule == "late", self._perform)
        self.context = self.thread = 0
        self.green: GreenContext | None = None
        self.green_contexts: dict[int, GreenContext] = {}
        self.sites: tuple[int, ...] = ()
        self.process = 0
        self.primary: Context | None = None
        self.primary_flags = self.retained = 0
        self.trace = Trace(gpu.name) if options.trace else None
        self.times = ModeledTimes(gpu, memory, wanted=options.trace)
        self.registered: dict[int, int] = {}  # memory of the host that is registered: address and bytes
        self.runs_kernel = False
        self.admitted: dict[Any, int] = {}  # launches whose sizes were checked, with the bytes of their arguments
        self.current_pool = 0  # handle of the pool that cuMemAllocAsync uses; 0: the default one
        self._handles = count(FIRST_HANDLE, 16)
        self._objects: dict[int, Any] = {}
        self.prepared: dict[Any, tuple[int, Any]] = {}  # launches by kernel and sizes, with the version of the memory
        self.captures: list[Capture] = []  # that have not ended
        self.images = ObjectPlaces()
        self._kept: Allocation | None = None
        self._heap: Segment | None = None
        self._capture_modes: dict[int, int] = {}  # by thread

    def _conflict(self, found: Conflict) -> None:
        assert self.checks is not None, "the order of work is known where launches are checked"
        self.checks.conflict(found, self.memory.describe, self.process)

    # contexts

    def get_context(self, handle: int) -> Context:
        """Return a context; for a green one, the primary context.

        Raises:
            DriverError: it does not exist.
        """
        green = self.green_contexts.get(handle)
        found = self._objects.get(handle if green is None else green.primary)
        if not isinstance(found, Context):
            what = f"0x{handle:x} is not a context, or it was destroyed" if handle else ""  # programs ask for one
            raise DriverError("INVALID_CONTEXT", what)
        return found

    def destroy_context(self, context: Context) -> None:
        """Remove a context and all that was made in it."""
        del self._objects[context.handle]
        for handle, thing in list(self._objects.items()):
            if getattr(thing, "context", None) == context.handle:
                del self._objects[handle]
        for allocation in self.memory.allocations:
            if allocation.context == context.handle:
                self.memory.free(allocation.address)

    def enter(self, handle: int) -> None:
        """Make a context that of the call."""
        self.green = self.green_contexts.get(handle)
        self.context = handle if self.green is None else self.green.primary

    def synchronize(self) -> None:
        """Wait for all work of the device, and for its output."""
        self.work.complete_all()
        sys.stdout.flush()

    def _perform(self, work: Work, start: float) -> float:
        """Carry out work in the context of its call."""
        before = self.context, self.sites
        self.context, self.sites = work.call
        try:
            return work.carry_out(start)
        except DriverError:
            if isinstance(context := self._objects.get(self.context), Context) and context.error:
                self.work.discard()
            raise
        finally:
            self.context, self.sites = before

    def default_stream(self, handle: int, make: Callable[[], T]) -> T:
        """Return the default stream of a handle, which `make` creates on first use."""
        return self._objects.setdefault(handle, make())

    def exchange_capture_mode(self, mode: int) -> int:
        """Set the capture mode of the calling thread and return the one before."""
        before = self._capture_modes.get(self.thread, 0)
        self._capture_modes[self.thread] = mode
        return before

    def capture_mode(self) -> int:
        """Return the capture mode of the calling thread."""
        return self._capture_modes.get(self.thread, 0)

    # handles

    def add(self, thing: Any, handle: int | None = None) -> int:
        """Return a new handle of an object."""
        number = self.new_handle() if handle is None else handle
        self._objects[number] = thing
        if self.checks is not None and type(thing).__name__ in KINDS:
            self._makers[number] = self._remembered_sites()
        return number

    def new_handle(self) -> int:
        """Return a number that no other handle has."""
        return next(self._handles)

    def get(self, handle: int, kind: type[T]) -> T:
        """Return the object of a handle.

        Raises:
            DriverError: it is not a handle of such an object; with the code `kind.missing`, else INVALID_HANDLE.
        """
        found = self._objects.get(handle)
        if not isinstance(found, kind):
            words = re.sub("(?<!^)(?=[A-Z])", " ", kind.__name__).lower()
            what = f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
            state = "a null pointer" if not handle else f"0x{handle:x}, which is not the handle of {what}"
            raise DriverError(getattr(kind, "missing", "INVALID_HANDLE"), f"{what} was expected, but got {state}")
        return found

    def remove(self, handle: int, kind: type[T]) -> T:
        """Remove an object and return it.

        Raises:
            DriverError: as for `get`.
        """
        found = self.get(handle, kind)
        del self._objects[handle]
        return found

    def discard(self, handle: int) -> None:
        """Remove an object, if it is still there."""
        self._objects.pop(handle, None)

    def left(self) -> Left:
        """Return the memory and the objects that the client made, and did not free or destroy."""
        found: list[tuple[str, int | None, tuple[int, ...]]] = [
            ("allocation", a.size, a.sites)
            for a in self.memory.allocations
            if a.context and a.kind != "array" and not a.kind.endswith("variable")
        ]
        for handle, thing in self._objects.items():
            kind = KINDS.get(type(thing).__name__)
            if kind is not None and handle >= FIRST_HANDLE and not getattr(thing, "is_owned", False):
                found.append((kind, None, self._makers.get(handle, ())))
        return found

    def _remembered_sites(self) -> tuple[int, ...]:
        remember(self.process, self.sites)
        return self.sites

    def all(self, kind: type[T]) -> list[tuple[int, T]]:
        """Return all objects of a kind, with their handles."""
        return [(handle, thing) for handle, thing in self._objects.items() if isinstance(thing, kind)]

    def heap(self, make: Callable[[], Buffer]) -> Segment:
        """Return the heap of malloc in kernels, which lives as long as the process."""
        if self._heap is None:
            self._heap = Segment(HEAP, make())
        return self._heap

    # the client's files and memory

    def path(self, name: bytes) -> Path:
        """Return the path of a file that the client names, which may be relative to its working directory."""
        return Path(f"/proc/{self.process}/cwd", os.fsdecode(name))

    def kept_memory(self, size: int) -> Allocation:
        """Return zeroed memory for what a call returns a pointer to; it is valid until the next such call."""
        if self._kept is not None:
            self.memory.free(self._kept.address)
        self._kept = self.memory.allocate(max(1, size), 0, "host", name="results of a call")
        return self._kept

    def read(self, address: int, size: int) -> bytes:
        """Read the client's memory, which may be the device's.

        Raises:
            DriverError: the address is a null pointer, or the bytes are not accessible.
        """
        if size:
            self._refuse_invalid(address, size)
        return self.connection.read(self.thread, address, size)

    def _refuse_invalid(self, address: int, size: int) -> None:
        if address < PAGE:
            what = hex(address) if address else "null"
            raise DriverError("INVALID_VALUE", f"a pointer among the arguments is {what}")
        if self.memory.contains(address):
            self.memory.require(address, size, "a pointer among the arguments")

    def write(self, address: int, data: bytes) -> None:
        """Write into the client's memory.

        Raises:
            DriverError: the address is a null pointer, or the bytes are not accessible.
        """
        self._refuse_invalid(address, len(data))
        self.connection.write(self.thread, address, data)

    def call_log(self, function: int, data: int, level: int, text: bytes) -> None:
        """Have the calling thread call a function for log messages."""
        before = self.thread, self.context, self.green, self.sites
        self.connection.call_log(self.thread, function, data, level, text)
        self.thread, self.context, self.green, self.sites = before

    def call_host(self, function: int, data: int, stream: int | None = None) -> None:
        """Have the calling thread call a host function."""
        before = self.thread, self.context, self.green, self.sites
        self.connection.call_host(self.thread, function, data, stream)
        self.thread, self.context, self.green, self.sites = before
