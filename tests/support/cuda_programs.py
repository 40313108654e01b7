"""The environment of programs under `pyptx exec`: the same pyptx as the tests, and the modules of the folder programs."""

from __future__ import annotations

import os
from pathlib import Path

from support.processes import PACKAGE_PARENT, variables

__all__ = ["PROGRAMS", "environment"]

PROGRAMS = Path(__file__).parents[1] / "cuda_device" / "programs"


def environment() -> dict[str, str]:
    """Return the environment, with the variables that the test has set."""
    return variables({"PYTHONPATH": f"{PACKAGE_PARENT}{os.pathsep}{PROGRAMS}"})
