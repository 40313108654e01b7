"""A Triton driver whose device is the simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from pyptx.analysis.gpus import gpu
from pyptx.triton.benchmark import modeled_benchmark
from pyptx.triton.compiled_kernel import LoadedPtx
from pyptx.triton.events import Event
from pyptx.triton.launcher import SimulatorLauncher
from pyptx.triton.targets import TritonTarget

__all__ = ["SimulatorDriver", "triton_type_names"]

WARP = 32

_TYPES = {
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
    "i1": "int8_t",
    "u1": "uint8_t",
    "fp16": "double",
    "bf16": "double",
    "fp32": "double",
    "f32": "double",
    "fp64": "double",
    "nvTmaDesc": "CUtensorMap",
}


def triton_type_names(kind: str) -> str:
    """Return the C type of an argument of a Triton type, as Triton's tools ask for it."""
    if kind.startswith("*"):
        return "CUdeviceptr"
    return "CUtensorMap" if kind.startswith("tensordesc") else _TYPES[kind]


class _LazyInt:
    """An integer that is computed when it is used: the registers of a kernel, which only ptxas knows."""

    def __init__(self, value: Callable[[], int]):
        self._value = value

    def __index__(self) -> int:
        return self._value()

    __int__ = __index__

    def __repr__(self) -> str:
        return repr(self._value())

    def __hash__(self) -> int:
        return hash(self._value())


def _forwarded(name: str) -> Callable[..., Any]:
    def method(self: _LazyInt, *others: Any) -> Any:
        return getattr(int(self), name)(*map(_plain, others))

    method.__name__ = name
    return method


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, _LazyInt) else value


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod",
              "eq", "ne", "lt", "le", "gt", "ge", "bool", "float", "neg", "abs"):  # fmt: skip
    setattr(_LazyInt, f"__{_name}__", _forwarded(f"__{_name}__"))


class SimulatorUtils:
    """Properties of the simulated device and loading of kernels, as Triton asks for them."""

    def __init__(self, target: TritonTarget):
        self._target = target

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """Return the limits of the target, and the size and clocks of the usual GPU with it."""
        on = gpu(self._target.name)
        return {
            "max_shared_mem": self._target.shared_bytes,
            "max_num_regs": 65536,
            "multiprocessor_count": on.sms,
            "warpSize": WARP,
            "sm_clock_rate": int(on.clock_hz // 1000),
            "mem_clock_rate": int(on.clock_hz // 1000),
            "mem_bus_width": 4096,
        }

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[Any, ...]:
        """Return module, function, registers, spills and the largest block of a compiled kernel."""
        loaded = LoadedPtx(name, binary.decode())
        return loaded, loaded, _LazyInt(lambda: loaded.registers), _LazyInt(lambda: loaded.spills), 1024

    def unload_module(self, module: LoadedPtx) -> None:
        """Do nothing: the program is freed with its last reference."""

    def set_printf_fifo_size(self, size: int) -> None:
        """Do nothing: the simulator prints at once."""

    def cuOccupancyMaxActiveClusters(self, function: LoadedPtx, clusters: Sequence[int]) -> int:
        """Return the clusters that fit on the device, one CTA on each SM."""
        sizes = list(clusters) if isinstance(clusters, Sequence) else [int(clusters)]
        count = 1
        for size in sizes:
            count *= size
        return max(1, gpu(self._target.name).sms // count)


class DeviceInterface:
    """The interface of torch.cuda that Triton's tools use, for the simulator."""

    Event = Event

    def synchronize(self, device: Any = None) -> None:
        """Do nothing: launches return when they are complete."""

    def current_device(self) -> int:
        return 0

    def set_device(self, device: Any) -> None:
        """Do nothing: there is one device."""

    def current_stream(self, device: Any = None) -> DeviceInterface:
        return self

    cuda_stream = 0

    @contextmanager
    def stream(self, stream: Any):
        yield


class SimulatorDriver(DriverBase):
    """Triton's driver for the simulator.

    Args:
        target: the target that kernels are compiled for.
    """

    def __init__(self, target: TritonTarget):
        super().__init__()
        self.target = target
        self.utils = SimulatorUtils(target)
        self.launcher_cls = SimulatorLauncher

    @classmethod
    def is_active(cls) -> bool:
        """Return False: a session activates this driver, Triton does not find it itself."""
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        return triton_type_names(ty)

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.target.capability, WARP)

    def get_active_torch_device(self) -> Any:
        from pyptx.torch_support.devices import cpu_device

        return cpu_device()

    def get_device_interface(self) -> DeviceInterface:
        return DeviceInterface()

    def get_current_device(self) -> str:
        """Return the device's key in Triton's caches of compiled kernels: one for each target."""
        return f"pyptx {self.target.name}"

    def set_current_device(self, device: Any) -> None:
        """Do nothing: there is one device."""

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return divmod(self.target.capability, 10)

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_benchmarker(self) -> Callable[..., Any]:
        return modeled_benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        from pyptx.torch_support.devices import cpu_bytes

        return cpu_bytes(1)

    def clear_cache(self, cache: Any) -> None:
        """Do nothing: times are modeled with a cold cache."""

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        """Do nothing: the launcher allocates it."""
