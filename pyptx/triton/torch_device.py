"""The simulated GPU as torch describes it, for code that asks torch for a device."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from pyptx.analysis.gpus import gpu
from pyptx.errors import BackendError
from pyptx.isa import targets
from pyptx.triton.events import Event
from pyptx.triton.targets import TritonTarget

__all__ = ["TorchDevice"]


class TorchDevice:
    """torch.cuda as a GPU of the target, whose tensors are on the CPU.

    Args:
        target: of the session.
    Raises:
        BackendError: torch is not installed.
    """

    def __init__(self, target: TritonTarget):
        if find_spec("torch") is None:
            raise BackendError("torch_cuda=True needs torch", hint="pip install torch")
        self._target = target
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Let torch report the GPU."""
        from pyptx.torch_support.simulated_cuda import SimulatedCuda

        simulated = SimulatedCuda(_properties(self._target), Event)
        simulated.install()
        self._undo.append(simulated.remove)

    def remove(self) -> None:
        """Undo `install`."""
        while self._undo:
            self._undo.pop()()


def _properties(target: TritonTarget) -> dict[str, Any]:
    on, limits = gpu(target.name), targets.parse(target.name).limits
    major, minor = divmod(target.capability, 10)
    return {
        "name": f"NVIDIA {on.name} (simulated)",
        "major": major,
        "minor": minor,
        "multi_processor_count": on.sms,
        "total_memory": 64 << 30,
        "warp_size": 32,
        "shared_memory_per_block": 48 << 10,
        "shared_memory_per_block_optin": limits.smem_per_cta,
        "shared_memory_per_multiprocessor": limits.smem_per_sm,
        "regs_per_multiprocessor": limits.regs_per_sm,
        "max_threads_per_multi_processor": 32 * limits.warps_per_sm,
        "L2_cache_size": 50 << 20,
        "is_integrated": 0,
        "gcnArchName": "",
    }
