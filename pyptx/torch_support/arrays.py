"""torch tensors as kernel arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch._C import _functorch as functorch  # pyright: ignore[reportAttributeAccessIssue, reportPrivateImportUsage] - not public - a compiled module
from torch.autograd import forward_ad

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.runtime.arrays import Record
from pyptx.torch_support import operator
from pyptx.torch_support.dtypes import torch_dtype

__all__ = ["ARRAYS", "WITHOUT_NUMPY"]

# Types that NumPy does not have, and those that tensors are viewed as.
WITHOUT_NUMPY = {torch.bfloat16: torch.int16, torch.float8_e4m3fn: torch.uint8, torch.float8_e5m2: torch.uint8}


_profiler_enabled = torch.autograd._profiler_enabled  # pyright: ignore[reportAttributeAccessIssue, reportPrivateImportUsage] - not public
_PLAIN, _STRIDED = {torch.Tensor, torch.nn.Parameter}, torch.strided
_transformed = functorch.is_functorch_wrapped_tensor  # wrapped by vmap, grad, ... of torch.func
# As in the code torch.compile generates; the public API first builds a Stream object, which costs as much as a launch.
_stream_of = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
    lambda index: torch.cuda.current_stream(index).cuda_stream
)


class TorchArrays:
    """Operations on tensors on the CPU and on CUDA devices."""

    package = "torch"

    def dtype_name(self, array: torch.Tensor) -> str:
        return str(array.dtype).removeprefix("torch.")

    def check(self, array: Any, what: str) -> None:
        if not isinstance(array, torch.Tensor) or array.layout is not torch.strided:
            raise ArgumentTypeError(
                f"{what} is a {getattr(array, 'layout', type(array).__name__)} tensor; pass x.to_dense()"
            )
        if not array.is_contiguous() and not _transformed(array):  # the operator copies slices of a batch
            raise ArgumentValueError(
                f"{what} is not contiguous (shape {tuple(array.shape)}, strides {array.stride()}); pass x.contiguous()"
            )
        if array.is_conj() or array.is_neg():
            raise ArgumentValueError(f"{what} is a lazy conjugate or negation; pass x.resolve_conj().resolve_neg()")

    def empty(
        self, shape: tuple[int, ...], dtype_name: str, like: Sequence[torch.Tensor], zeroed: bool = False
    ) -> torch.Tensor:
        """Allocate a tensor on the device of the first input.

        Unless zeroed, a tensor on the CPU is filled with 0xFF bytes (NaN, -1) to expose elements a kernel does not write.
        """
        tensor = _empty(shape, dtype_name, like)
        if zeroed:
            tensor.view(-1).view(torch.uint8).zero_()
        elif not tensor.is_cuda:
            tensor.view(-1).view(torch.uint8).numpy().fill(0xFF)  # torch would wake its threads, for milliseconds
        return tensor

    def device(self, array: torch.Tensor) -> str:
        return str(array.device)

    def address(self, array: torch.Tensor) -> int:
        return array.data_ptr()

    def owner(self, array: torch.Tensor) -> torch.UntypedStorage:
        if array.is_meta or _transformed(array) or array.__class__ not in _PLAIN:
            raise ArgumentTypeError(
                f"a {type(array).__name__} on {array.device} has no memory of its own while it is traced or transformed",
                hint="take its address outside of torch.compile and torch.func",
            )
        return array.untyped_storage()

    def extent(self, owner: torch.UntypedStorage) -> tuple[int, int]:
        return owner.data_ptr(), owner.nbytes()

    def stream(self, array: torch.Tensor) -> int:
        return _stream_of(array.device.index)

    def host(self, array: torch.Tensor) -> Any:
        tensor = array.detach()
        tensor = tensor.view(WITHOUT_NUMPY.get(tensor.dtype, tensor.dtype))
        return tensor.cpu().numpy()

    def write_back(self, array: torch.Tensor, host: Any) -> None:
        tensor = array.detach()
        tensor.view(WITHOUT_NUMPY.get(tensor.dtype, tensor.dtype)).copy_(torch.from_numpy(host))

    def writeable(self, array: torch.Tensor) -> bool:
        return True

    def recorder(self, inputs: Sequence[torch.Tensor]) -> Record | None:
        """Return the custom operator under autograd, a transform, a mode, a tracer, a profiler or for a subclass; else None."""
        if any(map(operator.has_tangent, inputs)):
            return operator.refuse_tangents
        if _observed() or any(x.__class__ not in _PLAIN or x.is_meta or _transformed(x) for x in inputs):
            return operator.call
        return operator.call if torch.is_grad_enabled() and any(x.requires_grad for x in inputs) else None

    def kind(self, array: torch.Tensor) -> Hashable | None:
        return _kind(array) if array.is_cuda else None


def _observed() -> bool:
    """Return True if a mode, a torch.func transform, a tracer or the profiler must see the call as an operator."""
    return bool(
        torch._C._len_torch_dispatch_stack()
        or torch._C._len_torch_function_stack()
        or functorch.peek_interpreter_stack() is not None
        or torch._C._get_tracing_state() is not None
        or _profiler_enabled()
    )


def _empty(shape: tuple[int, ...], dtype_name: str, like: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.empty(shape, dtype=torch_dtype(dtype_name), device=like[0].device if like else "cpu")


def _kind(array: torch.Tensor) -> Hashable | None:
    """Return dtype, shape and device of a plain dense tensor without autograd or transforms; else None."""
    if (
        array.__class__ not in _PLAIN
        or array.layout is not _STRIDED
        or (array.requires_grad and torch.is_grad_enabled())
        or not array.is_contiguous()
        or array.is_conj()
        or array.is_neg()
        or _transformed(array)
        or forward_ad._current_level >= 0
        or _observed()
    ):
        return None
    return array.dtype, array.shape, array.device


ARRAYS = TorchArrays()
