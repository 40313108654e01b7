"""torch.cuda as a device of the simulator, whose tensors are on the CPU: for code that asks torch for a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.overrides import TorchFunctionMode

__all__ = ["SimulatedCuda"]

_IS_CUDA = torch.Tensor.is_cuda.__get__  # pyright: ignore[reportAttributeAccessIssue]  (a property)


class SimulatedCuda:
    """Makes torch report a GPU, and places on the CPU what is asked for on "cuda", until `remove`.

    Args:
        properties: of the GPU: its name, major, minor, multi_processor_count, total_memory, and the like.
        event: class of its events.
    """

    def __init__(self, properties: Mapping[str, Any], event: type):
        self._functions = _functions(SimpleNamespace(**properties), event)
        self._mode = _OnCpu()
        self._before: dict[str, Any] = {}

    def install(self) -> None:
        """Replace the functions of torch.cuda."""
        for name, function in self._functions.items():
            self._before[name] = getattr(torch.cuda, name)
            setattr(torch.cuda, name, function if isinstance(function, type) else _named(name, function))
        self._backward = BackwardCFunction.apply
        BackwardCFunction.apply = _with_mode(self._backward)
        self._mode.__enter__()

    def remove(self) -> None:
        """Restore the functions of torch.cuda."""
        self._mode.__exit__(None, None, None)
        BackwardCFunction.apply = self._backward
        for name, function in self._before.items():
            setattr(torch.cuda, name, function)
        self._before.clear()


class _OnCpu(TorchFunctionMode):
    """Replaces CUDA devices among the arguments of torch functions by the CPU."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func == _IS_CUDA:
            return True
        if func is torch.Tensor.cuda:
            return args[0]
        options = {name: _host(value) for name, value in (kwargs or {}).items() if name != "pin_memory"}
        return func(*map(_host, args), **options)


def _with_mode(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call of a `Function.backward` with CUDA devices replaced: torch's engine makes it without modes."""

    def apply(self: Any, *args: Any) -> Any:
        with _OnCpu():
            return backward(self, *args)

    return apply


def _host(value: Any) -> Any:
    """Return the CPU for a CUDA device; other values unchanged."""
    if isinstance(value, str):
        return "cpu" if value == "cuda" or value.startswith("cuda:") else value
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of its own for each name: torch.compile keeps tables by function."""

    def call(*args: Any, **options: Any) -> Any:
        return function(*args, **options)

    call.__name__ = name
    return call


class _Stream:
    """The one stream of the device."""

    cuda_stream = stream_id = 0
    device = torch.device("cpu")

    def __init__(self, *_: Any, **__: Any):
        pass

    def synchronize(self) -> None:
        """Do nothing: launches return when they are complete."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: launches return when they are complete."""

    def wait_event(self, event: Any) -> None:
        """Do nothing: launches return when they are complete."""

    def record_event(self, event: Any = None) -> Any:
        return event


def _functions(properties: SimpleNamespace, event: type) -> dict[str, Any]:
    stream = _Stream()

    def nothing(*_: Any, **__: Any) -> None:
        return None

    def no_context(*_: Any, **__: Any) -> AbstractContextManager[None]:
        return nullcontext()

    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda *_, **__: properties.name,
        "get_device_capability": lambda *_, **__: (properties.major, properties.minor),
        "get_device_properties": lambda *_, **__: properties,
        "current_stream": lambda *_, **__: stream,
        "default_stream": lambda *_, **__: stream,
        "synchronize": nothing,
        "set_device": nothing,
        "empty_cache": nothing,
        "manual_seed": lambda seed: torch.default_generator.manual_seed(seed) and None,
        "manual_seed_all": nothing,  # called by torch.manual_seed
        "reset_peak_memory_stats": nothing,
        "max_memory_allocated": lambda *_, **__: 0,
        "memory_allocated": lambda *_, **__: 0,
        "device": no_context,
        "device_of": no_context,
        "stream": no_context,
        "Event": event,
        "Stream": _Stream,
    }
