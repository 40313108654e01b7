"""Tensors on a device from arrays in host memory, and torch's current stream."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from pyptx.torch_support.arrays import WITHOUT_NUMPY

__all__ = ["on_stream", "tensor_of"]


def tensor_of(host: Any, dtype_name: str, device: str) -> torch.Tensor:
    """Return a copy of an array as a tensor.

    Args:
        host: the NumPy array; of integers of the same size, or of ml_dtypes, for types that NumPy does not have.
        dtype_name: "float32", "bfloat16".
        device: "cpu", "cuda:0".
    """
    dtype = getattr(torch, dtype_name)
    bits = WITHOUT_NUMPY.get(dtype)
    if bits is None:
        return torch.from_numpy(host.copy()).to(device)
    return torch.from_numpy(host.copy().view(str(bits).removeprefix("torch."))).view(dtype).to(device)


def on_stream(stream: int | None, device: str) -> AbstractContextManager[Any]:
    """Return a context in which torch submits its work to a stream of the driver; None: its usual one."""
    return nullcontext() if stream is None else torch.cuda.stream(torch.cuda.ExternalStream(stream, device=device))
