"""Checkouts that a benchmark measures alternately in one run: this one, and that of a commit."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ROOT", "checkouts"]

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
