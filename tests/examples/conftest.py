"""Load an example, and run its kernel in adversarial schedules."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def example():
    """From the path of an example, "hopper/gemm", to its module."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return lambda path: import_module(f"examples.{path.replace('/', '.')}")
