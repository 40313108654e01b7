"""The driver that Triton creates on first use if the environment variable PYPTX_TRITON is set."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from triton.backends.driver import DriverBase

from pyptx._import_hook import when_imported
from pyptx.errors import UnsupportedError

__all__ = ["EnvironmentDriver"]

_REPLACED = "the driver of the simulator takes its place"


def _report_gpu(torch: ModuleType) -> None:
    from pyptx.triton.targets import parse
    from pyptx.triton.torch_device import TorchDevice

    if not getattr(torch.__spec__, "_initializing", False):
        TorchDevice(parse(os.environ["PYPTX_TRITON"])).install()


if os.environ.get("PYPTX_TRITON"):
    when_imported("torch", _report_gpu)
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "pyptx")  # also on a machine with a GPU


class EnvironmentDriver(DriverBase):
    """Activates the simulator and is replaced by its driver."""

    def __new__(cls) -> Any:
        from pyptx.triton.session import activate

        return activate(autotune="first").driver

    @classmethod
    def is_active(cls) -> bool:
        return bool(os.environ.get("PYPTX_TRITON"))

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise UnsupportedError(_REPLACED)

    def get_current_target(self) -> Any:
        raise UnsupportedError(_REPLACED)

    def get_active_torch_device(self) -> Any:
        raise UnsupportedError(_REPLACED)

    def get_benchmarker(self) -> Any:
        raise UnsupportedError(_REPLACED)
