"""The CUDA backend, through `cuda.bindings`; it needs the driver but no CUDA toolkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from pyptx.assembly import Assembly
from pyptx.errors import ArgumentTypeError, ArgumentValueError, DeviceError
from pyptx.ir.nodes import Module
from pyptx.runtime import settings
from pyptx.runtime.arrays import Placeholder, Runtime, arrays_of
from pyptx.runtime.cuda.arrays import DeviceArray, DeviceArrays
from pyptx.runtime.cuda.bound_launch import BoundLaunch
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.runtime.cuda.launch import PreparedLaunch, pack, stream_handle
from pyptx.runtime.cuda.program import LoadedKernel, Program
from pyptx.runtime.cuda.tensor_maps import DescriptorPool, Encoder, RelocatedMap
from pyptx.runtime.cuda.textures import TextureObjects
from pyptx.runtime.plan import LaunchPlan, LaunchResult
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["ARRAYS", "BACKEND", "CudaBackend", "DeviceArray"]

_IMAGES = (Texture, Surface)
_OPTIONS = ("stream", "timed", "cooperative", "programmatic", "check", "reachable")


class CudaBackend:
    """Launches kernels on GPUs.

    Args:
        api: the module `cuda.bindings.driver`, or a replacement with the same functions.
    """

    name = "cuda"
    options = frozenset(_OPTIONS)
    loads_machine_code = True

    def __init__(self, api: Any = None):
        self.driver = Driver(api)
        self.encoder, self._descriptors, self.texture_objects = Encoder(self.driver), {}, TextureObjects(self.driver)

    def load(self, module: Module, entry: str, assemble: Callable[[str], Assembly]) -> Program:
        return Program(self.driver, module, entry, assemble)

    def variable(self, program: Program, shared: Mapping[str, Any], name: str) -> DeviceVariable:
        """Return the memory of a variable on the current GPU."""
        return DeviceVariable(self.driver, program, name)

    def launch(
        self, program: Program, plan: LaunchPlan, args: Sequence[Any], options: Mapping[str, Any]
    ) -> LaunchResult:
        """Launch asynchronously.

        Args:
            options: `stream` (default: the current stream of the arrays' package); `timed` (synchronize and measure);
                `cooperative`; `programmatic` (programmatic dependent launch); `check` (synchronize, so that a fault is
                attributed to this launch; PYPTX_CHECK=1 enables it for every launch); `reachable`, arrays that the kernel
                reaches through addresses in memory, which are on the same GPU.
        Raises:
            LaunchError: an argument, a size, an option or the GPU's architecture does not fit; nothing was launched.
            DeviceError: the driver refused the launch, or reports a fault of an earlier one.
        """
        unknown = options.keys() - set(_OPTIONS)
        if unknown:
            raise ArgumentTypeError(
                f"{program.entry}: the cuda backend has no option {', '.join(sorted(unknown))}; its options are "
                f"{', '.join(_OPTIONS)}"
            )
        device, stream, waits = self._where(program, args, options.get("stream"), options.get("reachable", ()))
        check = bool(options.get("check", settings.CHECK))
        kind = bool(options.get("cooperative")), bool(options.get("programmatic"))
        with self.driver.on(device):
            loaded = program.on(device)
            args, surfaces = self.texture_objects.placed(device, stream, args, program.slots, program.entry)
            idle = loaded.free.setdefault((plan.grid, plan.block, plan.cluster, plan.smem_bytes, kind), [])
            try:
                prepared = idle.pop()
            except IndexError:
                loaded.admit(plan)
                prepared = PreparedLaunch(
                    self.driver, loaded, plan, program.slots, cooperative=kind[0], programmatic=kind[1]
                )
            try:
                seconds = self._issue(prepared, program, plan, loaded, args, stream, bool(options.get("timed")), check)
            finally:
                idle.append(prepared)
            self.texture_objects.back(device, stream, surfaces)
            if waits or (check and not self.driver.capturing(stream)):
                self._finish(plan, loaded, stream, check)
        return LaunchResult(self.name, seconds)

    def bind(
        self,
        program: Program,
        plan: LaunchPlan,
        runtime: Runtime,
        placeholders: Sequence[Placeholder],
        values: Sequence[Any],
        maps: Sequence[TensorMap],
        *,
        apart: int,
    ) -> BoundLaunch | None:
        """Return a function that repeats the launch; None for arrays in host memory and for synchronous launches."""
        device = runtime.device or ""
        if settings.CHECK or not device.startswith("cuda:"):
            return None
        device = self.driver.device(int(device.removeprefix("cuda:")))
        with self.driver.on(device):
            loaded = program.on(device)
        places = {slot.name: k for k, slot in enumerate(program.slots[: len(placeholders)])}
        return BoundLaunch(
            self.driver,
            loaded,
            plan,
            program.slots,
            runtime.arrays,
            placeholders,
            values,
            maps,
            aligned=[(places[name], n) for name, n in program.aligned.items() if name in places],
            apart=apart,
            encoder=self.encoder,
            descriptors=self.descriptors(device),
            failure=lambda status: self._failure(status, plan, loaded, False),
        )

    def _issue(
        self,
        prepared: PreparedLaunch,
        program: Program,
        plan: LaunchPlan,
        loaded: LoadedKernel,
        args: Sequence[Any],
        stream: int,
        timed: bool,
        check: bool,
    ) -> float | None:
        descriptors = self.descriptors(loaded.device)
        has_maps = any(isinstance(arg, (TensorMap, RelocatedMap)) for arg in args)
        with descriptors.lock if has_maps else nullcontext():
            pack(
                prepared.block,
                program.slots,
                args,
                program.entry,
                self.encoder.encode,
                lambda data: descriptors.address(data, pinned=self.driver.capturing(stream)),
                program.aligned,
            )
            before = self._event(stream) if timed else None
            status = prepared.launch(stream)
        if status != self.driver.api.CUresult.CUDA_SUCCESS:
            raise self._failure(status, plan, loaded, check)
        return self._seconds(before, stream, plan, loaded, check) if timed else None

    def _event(self, stream: int) -> Any:
        event = self.driver.call("cuEventCreate", 0)
        self.driver.call("cuEventRecord", event, self.driver.api.CUstream(stream))
        return event

    def _seconds(self, before: Any, stream: int, plan: LaunchPlan, loaded: LoadedKernel, check: bool) -> float:
        after = self._event(stream)
        try:
            status = self.driver.api.cuEventSynchronize(after)[0]
            if status != self.driver.api.CUresult.CUDA_SUCCESS:
                raise self._failure(status, plan, loaded, check)
            return self.driver.call("cuEventElapsedTime", before, after) / 1000
        finally:
            self.driver.call("cuEventDestroy", before)
            self.driver.call("cuEventDestroy", after)

    def _finish(self, plan: LaunchPlan, loaded: LoadedKernel, stream: int, check: bool) -> None:
        status = self.driver.api.cuStreamSynchronize(self.driver.api.CUstream(stream))[0]
        if status != self.driver.api.CUresult.CUDA_SUCCESS:
            raise self._failure(status, plan, loaded, check)

    def _failure(self, status: Any, plan: LaunchPlan, loaded: LoadedKernel, check: bool) -> DeviceError:
        cluster = f", cluster {plan.cluster}" if plan.cluster != (1, 1, 1) else ""
        hint = "an earlier launch may be the cause; PYPTX_CHECK=1 synchronizes after each launch to identify it"
        if check:
            hint = (
                f"run the same call on the simulator: {plan.entry.name}.check(...) with the same arguments names "
                "the line, the array and the index"
            )
        return DeviceError(
            f"{plan.entry.name} on {loaded.device}, grid {plan.grid}, block {plan.block}{cluster}, "
            f"{plan.smem_bytes} bytes of dynamic shared memory: {self.driver.error_text(status)}",
            code=int(status),
            hint=hint,
        )

    def descriptors(self, device: Device) -> DescriptorPool:
        """Return the pool of tensor maps in a GPU's memory."""
        return self._descriptors.get(device.ordinal) or self._descriptors.setdefault(
            device.ordinal, DescriptorPool(self.driver, device)
        )

    def _where(
        self, program: Program, args: Sequence[Any], stream: Any, reachable: Sequence[Any] = ()
    ) -> tuple[Device, int, bool]:
        """Return the GPU of the arrays, the stream, and True if the launch must be synchronized."""
        place, first, current, waits = None, None, None, False
        for k, arg in enumerate((*args, *reachable)):
            arrays = None if isinstance(arg, RelocatedMap) else arrays_of(arg)
            if arrays is None:
                continue
            array = arg.source if isinstance(arg, (TensorMap, *_IMAGES)) else arg
            name = program.slots[k].name if k < len(program.slots) else f"argument {k}"
            if k >= len(args):
                name = f"reachable[{k - len(args)}]"
            where = arrays.device(array)
            if isinstance(arg, _IMAGES) and where == "cpu":  # copied to the GPU; a surface is copied back
                waits = True
                continue
            if not where.startswith("cuda:"):
                raise ArgumentValueError(
                    f"{program.entry}: {name} is on {where}; the cuda backend takes arrays on one GPU"
                    + (f", and {first} is on {place}" if place else "")
                )
            if place is None:
                place, first, current = where, name, arrays.stream(array)
            elif where != place:
                raise ArgumentValueError(
                    f"{program.entry}: {name} is on {where}, but {first} is on {place}; all arrays of a launch must be on one GPU"
                )
            waits = waits or isinstance(array, _Copy)
        handle = current or 0 if stream is None else stream_handle(stream)
        return self.driver.device(int(place[5:]) if place else self.driver.current()), handle, waits

    @contextmanager
    def staged(self, args: Sequence[Any]) -> Iterator[list[Any]]:
        """Replace arrays in host memory by copies on a GPU; copy the results back on exit."""
        found = [(arg, None if isinstance(arg, _IMAGES) else arrays_of(arg)) for arg in args]
        sources = [(a.source if isinstance(a, TensorMap) else a, arrays) for a, arrays in found if arrays is not None]
        if any(arrays.device(array) != "cpu" for array, arrays in sources):
            yield list(args)  # `launch` refuses arrays in host memory
            return
        copies: dict[int, tuple[DeviceArray, Any, Any, Any]] = {}
        for array, arrays in sources:
            if id(array) not in copies:
                host = arrays.host(array)
                if arrays.package == "jax":
                    raise ArgumentTypeError("JAX arrays are immutable", hint="call the kernel; it returns new arrays")
                copies[id(array)] = _Copy.of(self.driver, self.driver.current(), host), arrays, array, host
        yield [self._staged(arg, arrays, copies) for arg, arrays in found]
        for copy, arrays, array, host in copies.values():
            if host.flags.writeable:
                copy.get(host)
                arrays.write_back(array, host)

    @staticmethod
    def _staged(arg: Any, arrays: Any, copies: Mapping[int, tuple]) -> Any:
        if arrays is None:
            return arg
        if isinstance(arg, TensorMap):
            return RelocatedMap(arg, copies[id(arg.source)][0].address)
        return copies[id(arg)][0]


class DeviceVariable:
    """Memory of a variable on the current GPU."""

    def __init__(self, driver: Driver, program: Program, name: str):
        self._driver, self._program, self._name = driver, program, name
        self._device = driver.device(driver.current())

    def read(self) -> np.ndarray:
        with self._driver.on(self._device):
            address, size = self._program.variable(self._name, self._device)
            data = np.empty(size, np.uint8)
            self._driver.call("cuCtxSynchronize")
            self._driver.call("cuMemcpyDtoH", data.ctypes.data, address, size, doing=f"reading {self._name}")
        return data

    def write(self, data: np.ndarray) -> None:
        with self._driver.on(self._device):
            address, size = self._program.variable(self._name, self._device)
            self._driver.call("cuCtxSynchronize")
            self._driver.call("cuMemcpyHtoD", address, data.ctypes.data, size, doing=f"writing {self._name}")
            self._driver.call("cuCtxSynchronize")


class _Copy(DeviceArray):
    """A copy on a GPU for one launch."""


BACKEND = CudaBackend()
ARRAYS = DeviceArrays(BACKEND.driver)
