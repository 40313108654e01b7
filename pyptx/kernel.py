"""The `@kernel` decorator and `Kernel`; defined in `pyptx.workbench.kernel`."""

from pyptx.workbench.kernel import Kernel, TensorSpec, TmaDescriptorHandle, kernel

__all__ = ["Kernel", "TensorSpec", "TmaDescriptorHandle", "kernel"]
