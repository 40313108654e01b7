"""The git commit of a file, and the commits between two."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["commits_between", "origin_of_file"]

_LIMIT_S = 5.0
_MOST_LISTED = 5


def origin_of_file(path: Path | None) -> tuple[str, bool, str]:
    """Return commit, True if the repository has changes, and the file's name in it; ("", False, "") outside of one.

    Args:
        path: a file; None: the working directory.
    """
    folder = Path.cwd() if path is None else path.resolve().parent
    if not folder.is_dir():
        return "", False, ""
    found = _git(folder, "rev-parse", "HEAD", "--show-toplevel").splitlines()
    if len(found) != 2:
        return "", False, ""
    commit, top = found
    dirty = bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
    name = "" if path is None else Path(os.path.relpath(path.resolve(), Path(top).resolve())).as_posix()
    return commit, dirty, name


def commits_between(before: str, after: str, file: str = "") -> list[str]:
    """Return the commits after `before` up to `after` in the repository of the working directory, as "hash subject".

    At most five; empty if the commits are not in the repository.

    Args:
        file: only commits that change this file; if there are none, all commits.
    """
    top = _git(Path.cwd(), "rev-parse", "--show-toplevel")
    if not top or not all(part and part.isalnum() for part in (before, after)):
        return []
    span = ("log", "--format=%h %s", f"-{_MOST_LISTED}", f"{before}..{after}")
    found = _git(Path(top), *span, "--", file) if file else ""
    return (found or _git(Path(top), *span)).splitlines()


def _git(folder: Path, *arguments: str) -> str:
    """Return the output of git; "" if it is missing, fails or takes too long."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
