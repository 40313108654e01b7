"""`@kernel`: a Python function traced to PTX, compiled and launched, and the variant of it that runs."""

from pyptx.kernel.decorator import Kernel, TensorSpec, TmaDescriptorHandle, kernel

__all__ = ["Kernel", "TensorSpec", "TmaDescriptorHandle", "kernel"]
