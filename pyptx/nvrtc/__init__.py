"""CUDA C++ to PTX in process with NVRTC: headers, host code, template instantiation, diagnostics, kernel signatures."""

from pyptx.nvrtc.compiler import Compilation, Source, compile_source
from pyptx.nvrtc.diagnostics import CudaError
from pyptx.nvrtc.library import compiler_version

__all__ = ["Compilation", "CudaError", "Source", "compile_source", "compiler_version"]
