"""Loading an example, and running its kernel as the adversary would."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def example():
    """From the path of an example, "hopper/gemm", to its module; each is loaded once."""
    loaded: dict[str, ModuleType] = {}

    def load(path: str) -> ModuleType:
        if path not in loaded:
            folder = str((EXAMPLES / path).parent)
            if folder not in sys.path:                  # as for a script: its neighbours are there to import
                sys.path.append(folder)
            spec = importlib.util.spec_from_file_location(f"example_{path.replace('/', '_')}", EXAMPLES / f"{path}.py")
            loaded[path] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(loaded[path])
        return loaded[path]
    return load
