"""Benchmarks: kernels timed against each other and against other callables, with intervals and a rank test.

Times of a GPU are measured; without one they are those of the performance model, and say so.
"""

from pyptx.benchmarking.result import Benchmark, BenchmarkRow
from pyptx.benchmarking.runner import benchmark

__all__ = ["Benchmark", "BenchmarkRow", "benchmark"]
