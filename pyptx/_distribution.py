"""Detection of the unrelated project `pyptx` on PyPI, which installs a package of the same name into the same folder."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

__all__ = ["warn_of_other_project"]


def other_project(folder: Path) -> str | None:
    """Return the version of the other project if it is installed in `folder`."""
    try:
        names = os.listdir(folder)
    except OSError:  # a package in a zip file
        return None
    found = (name for name in names if name.startswith("pyptx-") and name.endswith(".dist-info"))
    return next((name.removeprefix("pyptx-").removesuffix(".dist-info") for name in found), None)


def warn_of_other_project(folder: Path = Path(__file__).parents[1]) -> None:
    """Warn when the files of both projects are mixed in one folder."""
    if version := other_project(folder):
        warnings.warn(
            f"the unrelated project pyptx {version} is installed in {folder}, where its files replace files of "
            "pyptx-workbench\nhint: pip uninstall pyptx, then pip install --force-reinstall --no-deps pyptx-workbench",
            RuntimeWarning,
            stacklevel=3,
        )
