"""CUDA C++ kernels in the styles people use, each with a launch and its result in NumPy."""

from support.cuda_kernels.cases import CASES, Case, Launch, program_of

__all__ = ["CASES", "Case", "Launch", "program_of"]
