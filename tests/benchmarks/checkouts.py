"""Measurements in fresh processes: this checkout alternately with that of a commit, with compiled modules."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ROOT", "checkouts", "compiled_once"]

ROOT = Path(__file__).parents[2]


@contextmanager
def checkouts(commit: str | None) -> Iterator[dict[str, Path]]:
    """Yield the checkouts to measure by the heading of their column; a temporary worktree for a commit."""
    if commit is None:
        yield {"now": ROOT}
        return
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "before"
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "-q", "--detach", str(other), commit], check=True)
        try:
            yield {commit: other, "now": ROOT}
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(other)], check=True)


def compiled_once() -> dict[str, str]:
    """Return the environment of a process whose compiled modules are kept for the next, as Python does unless told otherwise."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
