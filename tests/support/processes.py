"""Run Python in its own process, as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyptx

__all__ = ["PACKAGE_PARENT", "python", "variables"]

PACKAGE_PARENT = Path(pyptx.__file__).parents[1]


def python(
    *arguments: str, cwd: Path | None = None, timeout_s: float = 600, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` with the same pyptx as the tests; its output as text, its exit status unchecked."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=variables(env),
        text=True,
        encoding="utf-8",
        capture_output=True,
        timeout=timeout_s,
    )


def variables(more: dict[str, str] | None = None) -> dict[str, str]:
    """The environment in which a new Python imports the same pyptx, and nothing from its working folder."""
    return {
        **os.environ,
        "PYTHONPATH": str(PACKAGE_PARENT),
        "PYTHONSAFEPATH": "1",
        "PYTHONIOENCODING": "utf-8",
        **(more or {}),
    }
