"""`pyptx lab`: open JupyterLab on a copy of the notebooks."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyptx._loc import PACKAGE_DIR
from pyptx.cli.kernels import CommandError, help_options

__all__ = ["add", "copy_notebooks", "install_hint", "notebook_folder", "package_environment", "run"]


def add(subparsers: Any) -> None:
    summary = "open JupyterLab on the notebooks"
    command = subparsers.add_parser(
        "lab",
        **help_options(
            summary,
            "pyptx lab",
            "pyptx lab my-kernels --port 9000 --no-browser",
            more="Copies the notebooks to a folder and opens JupyterLab there. Existing files are not overwritten. Other "
            "arguments are passed to JupyterLab.",
        ),
    )
    command.add_argument(
        "folder", metavar="FOLDER", nargs="?", type=Path, default=Path("pyptx-notebooks"), help="default: %(default)s"
    )
    command.set_defaults(run=run, accepts_other_arguments=True)


def run(arguments: argparse.Namespace) -> int:
    if find_spec("jupyterlab") is None:
        raise CommandError("JupyterLab is not installed", hint=install_hint())
    folder = arguments.folder.resolve()
    for name in copy_notebooks(folder):
        print(f"wrote {folder / name}", flush=True)
    return become([sys.executable, "-m", "jupyterlab", *arguments.rest], folder, package_environment())


def become(command: list[str], folder: Path, environment: dict[str, str]) -> int:
    """Replace this process by a command in `folder`, so that signals reach it; return its exit status elsewhere."""
    if os.name == "posix":
        os.chdir(folder)
        sys.stdout.flush()
        os.execve(command[0], command, environment)
    return subprocess.call(command, cwd=folder, env=environment)


def install_hint() -> str:
    return "in a checkout of pyptx: pip install '.[lab]'"


def notebook_folder() -> Path:
    """Return the folder of the notebooks: inside the installed package, or next to it in a checkout."""
    package = Path(PACKAGE_DIR)
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if any(folder.glob("*.ipynb")):
            return folder
    raise CommandError(f"pyptx in {package} does not include the notebooks")


def copy_notebooks(folder: Path) -> list[str]:
    """Copy each notebook that is not in `folder` yet; return the names of the new ones."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [path for path in sorted(notebook_folder().glob("*.ipynb")) if not (folder / path.name).exists()]
    for path in missing:
        shutil.copyfile(path, folder / path.name)
    return [path.name for path in missing]


def package_environment() -> dict[str, str]:
    """Return an environment in which child processes, including notebook kernels, import this pyptx.

    A checkout is added to PYTHONPATH; an installed package needs nothing.
    """
    parent = str(Path(PACKAGE_DIR).parent)
    if parent in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        return dict(os.environ)
    paths = [parent, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
