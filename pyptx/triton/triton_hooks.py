"""The changes of a session in Triton: the active driver, the last compilation stage, the conversion of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton
import triton.backends
import triton.knobs
import triton.testing
from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver

from pyptx.triton.benchmark import modeled_benchmark
from pyptx.triton.cpu_tensors import NAME, cpu_backend, forget_backends
from pyptx.triton.driver import SimulatorDriver
from pyptx.triton.host_arrays import wrapped
from pyptx.triton.modeled_times import modeling_in_parallel
from pyptx.triton.targets import TritonTarget

__all__ = ["TritonHooks", "without_assembling"]

_KEY = "pyptx: PTX instead of a cubin"
_BENCHMARKS = ("do_bench", "do_bench_cudagraph")


def without_assembling(before: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a hook for Triton's compilation stages whose result is PTX: the simulator needs no machine code.

    Args:
        before: the hook that was installed before, which is called first.
    """

    def hook(
        backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, capability: Any = None
    ):
        if backend is None:  # asked for a key of the compilation cache
            key, digest = before() if before is not None else ("", "")
            return f"{key}{_KEY}", f"{digest}{_KEY}"
        if before is not None:
            before(backend, stages, options, language, capability)
        stages["cubin"] = lambda ptx, metadata: ptx.encode()
        return None

    return hook


class TritonHooks:
    """The changes of one session, which can be undone.

    Args:
        target: of the session.
        model: calls a function while launches are modeled instead of executed.
    """

    def __init__(self, target: TritonTarget, model: Callable[[Callable[[], Any]], object]):
        self._model = model
        self.driver = SimulatorDriver(target)
        self._undo: list[Callable[[], Any]] = []

    def install(self) -> None:
        """Activate the simulator's driver."""
        previous = driver._active
        driver.set_active(self.driver)
        self._undo.append(lambda: driver.set_active(previous))  # type: ignore[arg-type] - None: found again on next use
        backends: dict[str, Any] = triton.backends.backends
        if NAME not in backends:
            backends[NAME] = cpu_backend(self.driver.target, type(self.driver))
            forget_backends()
            self._undo += [forget_backends, lambda: backends.pop(NAME)]  # from last to first
        runtime: Any = triton.knobs.runtime
        self._replace(runtime, "add_stages_inspection_hook", without_assembling(runtime.add_stages_inspection_hook))
        self._replace(triton.KernelInterface, "__getitem__", _converting(triton.KernelInterface.__getitem__))
        tuner: Any = Autotuner
        self._replace(tuner, "prune_configs", modeling_in_parallel(tuner.prune_configs, self._model))
        for name in _BENCHMARKS:
            self._replace(triton.testing, name, modeled_benchmark)

    def remove(self) -> None:
        """Undo everything."""
        while self._undo:
            self._undo.pop()()

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        previous = getattr(owner, name)
        setattr(owner, name, value)
        self._undo.append(lambda: setattr(owner, name, previous))


def _converting(getitem: Callable[..., Any]) -> Callable[..., Any]:
    """Return `kernel[grid]` whose launches also take NumPy arrays and numbers."""

    def __getitem__(kernel: Any, grid: Any) -> Callable[..., Any]:
        launch = getitem(kernel, grid)
        return lambda *args, **options: launch(
            *map(wrapped, args), **{name: wrapped(value) for name, value in options.items()}
        )

    return __getitem__
