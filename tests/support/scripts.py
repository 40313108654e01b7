"""Scripts of a folder that import each other by name, loaded as modules."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["gpu_benchmark"]

GPU = Path(__file__).parents[1] / "benchmarks" / "gpu"


def gpu_benchmark(name: str) -> ModuleType:
    """A file of the benchmark on GPUs, under the name by which the others import it."""
    if str(GPU) not in sys.path:
        sys.path.append(str(GPU))
    found = import_module(name)
    if Path(found.__file__).parent != GPU:
        raise ImportError(f"{name} is {found.__file__}, not a file of {GPU}")
    return found
