"""Kernels on torch tensors: eager calls, torch.compile, autograd. Imported on the first call with a tensor."""

from pyptx.torch_support.autograd import differentiable_kernel
from pyptx.torch_support.operator import extract_input_shapes

__all__ = ["differentiable_kernel", "extract_input_shapes"]
