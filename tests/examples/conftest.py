"""Load an example, and run its kernel in adversarial schedules."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.fixture(scope="session")
def example():
    """From the path of an example, "hopper/gemm", to its module."""
    return lambda path: import_module(f"examples.{path.replace('/', '.')}")
