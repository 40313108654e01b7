"""GPUs as a backend, through `cuda.bindings`: no CUDA toolkit, only the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from pyptx.compiled import Compiled
from pyptx.errors import DeviceError, LaunchError
from pyptx.ir.nodes import Module
from pyptx.runtime import settings
from pyptx.runtime.arrays import Runtime, StandIn, arrays_of
from pyptx.runtime.cuda.arrays import DeviceArray, DeviceArrays
from pyptx.runtime.cuda.bound import BoundLaunch
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.runtime.cuda.launching import Prepared, pack, stream_handle
from pyptx.runtime.cuda.maps import Blobs, Encoder, Placed
from pyptx.runtime.cuda.program import Loaded, Program
from pyptx.runtime.cuda.textures import Images
from pyptx.runtime.plan import LaunchPlan, LaunchResult
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["ARRAYS", "BACKEND", "Cuda", "DeviceArray"]

_IMAGES = (Texture, Surface)
_OPTIONS = ("stream", "timed", "cooperative", "programmatic", "check")


class Cuda:
    """Runs plans on GPUs.

    Args:
        api: the module `cuda.bindings.driver`, or what stands for it.
    """

    name = "cuda"

    def __init__(self, api: Any = None):
        self.driver = Driver(api)
        self.encoder, self._blobs, self.images = Encoder(self.driver), {}, Images(self.driver)

    def load(self, module: Module, entry: str, assemble: Callable[[str], Compiled]) -> Program:
        return Program(self.driver, module, entry, assemble)

    def launch(self, program: Program, plan: LaunchPlan, args: Sequence[Any],
               options: Mapping[str, Any]) -> LaunchResult:
        """Launch; the GPU may still be at it when this returns.

        Args:
            options: `stream`, instead of the current one of the arrays' package; `timed`, which waits and measures;
                `cooperative`; `programmatic` (the kernel may start before the one ahead of it has ended); `check`,
                which waits for the kernel, so that its fault is told here (PYPTX_CHECK=1 does it for every launch).
        Raises:
            LaunchError: an argument, a size or an option is wrong, or the chip is; nothing was launched.
            DeviceError: the driver refused the launch, or reports the fault of an earlier one.
        """
        unknown = options.keys() - set(_OPTIONS)
        if unknown:
            raise LaunchError(f"{program.entry}: the cuda backend has no option {', '.join(sorted(unknown))}; it has "
                              f"{', '.join(_OPTIONS)}")
        device, stream, waits = self._where(program, args, options.get("stream"))
        check = bool(options.get("check", settings.CHECK))
        kind = bool(options.get("cooperative")), bool(options.get("programmatic"))
        with self.driver.on(device):
            loaded = program.on(device)
            args, surfaces = self.images.placed(device, stream, args, program.slots, program.entry)
            idle = loaded.free.setdefault((plan.grid, plan.block, plan.cluster, plan.smem_bytes, kind), [])
            try:
                prepared = idle.pop()
            except IndexError:
                loaded.admit(plan)
                prepared = Prepared(self.driver, loaded, plan, program.slots, cooperative=kind[0], programmatic=kind[1])
            try:
                seconds = self._issue(prepared, program, plan, loaded, args, stream, bool(options.get("timed")), check)
            finally:
                idle.append(prepared)
            self.images.back(device, stream, surfaces)
            if waits or (check and not self.driver.capturing(stream)):
                self._finish(plan, loaded, stream, check)
        return LaunchResult(self.name, seconds)

    def bind(self, program: Program, plan: LaunchPlan, runtime: Runtime, stand_ins: Sequence[StandIn],
             values: Sequence[Any], maps: Sequence[TensorMap], *, apart: int) -> BoundLaunch | None:
        """What launches the plan again; None for arrays in host memory, and where launches are waited for."""
        if settings.CHECK or not (runtime.device or "").startswith("cuda:"):
            return None
        device = self.driver.device(int(runtime.device[5:]))
        with self.driver.on(device):
            loaded = program.on(device)
        places = {slot.name: k for k, slot in enumerate(program.slots[:len(stand_ins)])}
        return BoundLaunch(self.driver, loaded, plan, program.slots, runtime.arrays, stand_ins, values, maps,
                           aligned=[(places[name], n) for name, n in program.aligned.items() if name in places],
                           apart=apart, encoder=self.encoder, blobs=self.blobs(device),
                           failure=lambda status: self._failure(status, plan, loaded, False))

    def _issue(self, prepared: Prepared, program: Program, plan: LaunchPlan, loaded: Loaded, args: Sequence[Any],
               stream: int, timed: bool, check: bool) -> float | None:
        blobs = self.blobs(loaded.device)
        has_maps = any(isinstance(arg, (TensorMap, Placed)) for arg in args)
        with blobs.lock if has_maps else nullcontext():
            pack(prepared.block, program.slots, args, program.entry, self.encoder.encode,
                 lambda data: blobs.address(data, pinned=self.driver.capturing(stream)), program.aligned)
            before = self._event(stream) if timed else None
            status = prepared.launch(stream)
        if status != self.driver.api.CUresult.CUDA_SUCCESS:
            raise self._failure(status, plan, loaded, check)
        return self._seconds(before, stream, plan, loaded, check) if timed else None

    def _event(self, stream: int) -> Any:
        event = self.driver.call("cuEventCreate", 0)
        self.driver.call("cuEventRecord", event, self.driver.api.CUstream(stream))
        return event

    def _seconds(self, before: Any, stream: int, plan: LaunchPlan, loaded: Loaded, check: bool) -> float:
        after = self._event(stream)
        try:
            status = self.driver.api.cuEventSynchronize(after)[0]
            if status != self.driver.api.CUresult.CUDA_SUCCESS:
                raise self._failure(status, plan, loaded, check)
            return self.driver.call("cuEventElapsedTime", before, after) / 1000
        finally:
            self.driver.call("cuEventDestroy", before)
            self.driver.call("cuEventDestroy", after)

    def _finish(self, plan: LaunchPlan, loaded: Loaded, stream: int, check: bool) -> None:
        status = self.driver.api.cuStreamSynchronize(self.driver.api.CUstream(stream))[0]
        if status != self.driver.api.CUresult.CUDA_SUCCESS:
            raise self._failure(status, plan, loaded, check)

    def _failure(self, status: Any, plan: LaunchPlan, loaded: Loaded, check: bool) -> DeviceError:
        cluster = f", cluster {plan.cluster}" if plan.cluster != (1, 1, 1) else ""
        hint = "an earlier launch may be the cause; PYPTX_CHECK=1 waits for each launch and says which it was"
        if check:
            hint = (f"run the same call on the simulator: {plan.entry.name}.check(...) with the same arguments names "
                    "the line, the array and the index")
        return DeviceError(f"{plan.entry.name} on {loaded.device}, grid {plan.grid}, block {plan.block}{cluster}, "
                           f"{plan.smem_bytes} bytes of dynamic shared memory: {self.driver.words(status)}",
                           code=int(status), hint=hint)

    def blobs(self, device: Device) -> Blobs:
        """The tensor maps in a GPU's memory."""
        return self._blobs.get(device.ordinal) or self._blobs.setdefault(device.ordinal, Blobs(self.driver, device))

    def _where(self, program: Program, args: Sequence[Any], stream: Any) -> tuple[Device, int, bool]:
        """The GPU that the arrays are on, the stream, and whether the launch is to be waited for."""
        place, first, current, waits = None, None, None, False
        for k, arg in enumerate(args):
            arrays = None if isinstance(arg, Placed) else arrays_of(arg)
            if arrays is None:
                continue
            array = arg.source if isinstance(arg, (TensorMap, *_IMAGES)) else arg
            name = program.slots[k].name if k < len(program.slots) else f"argument {k}"
            where = arrays.device(array)
            if isinstance(arg, _IMAGES) and where == "cpu":                 # copied to the GPU, and a surface back
                waits = True
                continue
            if not where.startswith("cuda:"):
                raise LaunchError(f"{program.entry}: {name} is on {where}; the cuda backend takes arrays on one GPU"
                                  + (f", and {first} is on {place}" if place else ""))
            if place is None:
                place, first, current = where, name, arrays.stream(array)
            elif where != place:
                raise LaunchError(f"{program.entry}: {name} is on {where}, {first} on {place}; the arrays of a launch "
                                  "are on one GPU")
            waits = waits or isinstance(array, _Copy)
        handle = current or 0 if stream is None else stream_handle(stream)
        return self.driver.device(int(place[5:]) if place else self.driver.current()), handle, waits

    @contextmanager
    def staged(self, args: Sequence[Any]) -> Iterator[list[Any]]:
        """Arguments with copies on a GPU for arrays in host memory, copied back at the end."""
        found = [(arg, None if isinstance(arg, _IMAGES) else arrays_of(arg)) for arg in args]
        sources = [(a.source if isinstance(a, TensorMap) else a, arrays) for a, arrays in found if arrays is not None]
        if any(arrays.device(array) != "cpu" for array, arrays in sources):
            yield list(args)                                                # what is in host memory `launch` refuses
            return
        copies: dict[int, tuple[_Copy, Any, Any, Any]] = {}
        for array, arrays in sources:
            if id(array) not in copies:
                host = arrays.host(array)
                if arrays.package == "jax":
                    raise LaunchError("JAX arrays cannot be written to; call the kernel, which gives new arrays")
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
            return Placed(arg, copies[id(arg.source)][0].address)
        return copies[id(arg)][0]


class _Copy(DeviceArray):
    """On a GPU for one launch only."""


BACKEND = Cuda()
ARRAYS = DeviceArrays(BACKEND.driver)
