"""`pyptx lab`: JupyterLab on notebooks of the user's own."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pyptx
from pyptx.cli.kernels import CommandError, about

__all__ = ["add", "copy_notebooks", "install_hint", "notebook_folder", "package_environment", "run"]


def add(subparsers) -> None:
    summary = "open JupyterLab on the notebooks"
    command = subparsers.add_parser("lab", **about(
        summary, "pyptx lab", "pyptx lab my-kernels --port 9000 --no-browser",
        more="Copies them to a folder of your own and opens JupyterLab there. Files that are there already are left as "
             "they are. Further arguments go to JupyterLab."))
    command.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=Path("pyptx-notebooks"),
                         help="default: %(default)s")
    command.set_defaults(run=run, passes_arguments_on=True)


def run(arguments: argparse.Namespace) -> int:
    if find_spec("jupyterlab") is None:
        raise CommandError("JupyterLab is not installed", hint=install_hint())
    folder = arguments.folder.resolve()
    for name in copy_notebooks(folder):
        print(f"wrote {folder / name}", flush=True)
    return become([sys.executable, "-m", "jupyterlab", *arguments.rest], folder, package_environment())


def become(command: list[str], folder: Path, environment: dict[str, str]) -> int:
    """Run a command in `folder` in place of this process, so that a signal sent here ends it too; its exit status."""
    if os.name == "posix":
        os.chdir(folder)
        sys.stdout.flush()
        os.execve(command[0], command, environment)
    return subprocess.call(command, cwd=folder, env=environment)


def install_hint() -> str:
    return "in a checkout of pyptx: pip install '.[lab]'"


def notebook_folder() -> Path:
    """Where the notebooks lie: inside the installed package, or beside it in a checkout."""
    package = Path(pyptx.__file__).parent
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if any(folder.glob("*.ipynb")):
            return folder
    raise CommandError(f"pyptx in {package} has come without its notebooks")


def copy_notebooks(folder: Path) -> list[str]:
    """Copy each notebook that `folder` does not hold yet; the names of the new ones."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [path for path in sorted(notebook_folder().glob("*.ipynb")) if not (folder / path.name).exists()]
    for path in missing:
        shutil.copyfile(path, folder / path.name)
    return [path.name for path in missing]


def package_environment() -> dict[str, str]:
    """Environment in which a Python started from here, a notebook's kernel too, finds this very pyptx.

    An installed pyptx is found anyway; one that is run from a checkout is put on PYTHONPATH.
    """
    parent = str(Path(pyptx.__file__).parents[1])
    if parent in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        return dict(os.environ)
    paths = [parent, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
