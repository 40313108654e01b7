"""Tensors on a device from arrays in host memory, and the stream and memory that torch uses in a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from pyptx.torch_support.arrays import WITHOUT_NUMPY

__all__ = ["capturing", "on_stream", "tensor_of"]


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


@contextmanager
def capturing(device: str, stream: int | None, keep: list[Any]) -> Iterator[int]:
    """Let torch submit its work to a stream that can be captured, and take memory that nothing else uses.

    Args:
        device: "cuda:0".
        stream: the stream; None: a new one.
        keep: the memory and the stream are added to it, and must live as long as a graph of the work.
    """
    made = torch.cuda.Stream(device) if stream is None else torch.cuda.ExternalStream(stream, device=device)
    pool = torch.cuda.MemPool()
    keep += [made, pool]
    made.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(made), torch.cuda.use_mem_pool(pool):
        yield made.cuda_stream
