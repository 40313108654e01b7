"""Tensors as arguments of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from pyptx.errors import LaunchError
from pyptx.torch_support import operator
from pyptx.torch_support.dtypes import torch_dtype

__all__ = ["ARRAYS"]

_WITHOUT_NUMPY = {torch.bfloat16: torch.int16, torch.float8_e4m3fn: torch.uint8, torch.float8_e5m2: torch.uint8}


class TorchArrays:
    """Tensors on the CPU and on CUDA devices."""

    package = "torch"

    def dtype_name(self, array: torch.Tensor) -> str:
        return str(array.dtype).removeprefix("torch.")

    def check(self, array: Any, what: str) -> None:
        if not isinstance(array, torch.Tensor) or array.layout is not torch.strided:
            raise LaunchError(f"{what} is a {getattr(array, 'layout', type(array).__name__)} tensor; pass x.to_dense()")
        if not array.is_contiguous():
            raise LaunchError(f"{what} is not contiguous (shape {tuple(array.shape)}, strides {array.stride()}); pass "
                              "x.contiguous()")
        if array.is_conj() or array.is_neg():
            raise LaunchError(f"{what} is a lazy conjugate or negation; pass x.resolve_conj().resolve_neg()")

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[torch.Tensor]) -> torch.Tensor:
        """A new tensor on the device of the first input; on the CPU filled with 0xFF bytes (NaN, -1), so that what a
        kernel forgets to write shows.
        """
        device = like[0].device if like else torch.device("cpu")
        tensor = torch.empty(shape, dtype=torch_dtype(dtype_name), device=device)
        if device.type == "cpu":
            tensor.view(-1).view(torch.uint8).fill_(0xFF)
        return tensor

    def device(self, array: torch.Tensor) -> str:
        return str(array.device)

    def address(self, array: torch.Tensor) -> int:
        return array.data_ptr()

    def stream(self, array: torch.Tensor) -> int:
        return torch.cuda.current_stream(array.device).cuda_stream

    def host(self, array: torch.Tensor) -> Any:
        tensor = array.detach()
        tensor = tensor.view(_WITHOUT_NUMPY.get(tensor.dtype, tensor.dtype))
        return tensor.cpu().numpy()

    def write_back(self, array: torch.Tensor, host: Any) -> None:
        tensor = array.detach()
        tensor.view(_WITHOUT_NUMPY.get(tensor.dtype, tensor.dtype)).copy_(torch.from_numpy(host))

    def defers(self, inputs: Sequence[torch.Tensor]) -> bool:
        """Whether somebody looks on: autograd, a mode, a subclass of tensors."""
        if any(type(x) is not torch.Tensor and type(x) is not torch.nn.Parameter for x in inputs):
            return True
        return torch.is_grad_enabled() and any(x.requires_grad for x in inputs)

    def call(self, kernel: int, inputs: Sequence[torch.Tensor], out: Any, params: Mapping[str, Any]) -> Any:
        return operator.call(kernel, inputs, out, params)


ARRAYS = TorchArrays()
