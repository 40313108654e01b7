"""`pyptx demo`: execute the first notebook, print the cost of its kernels, and write their linked views."""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyptx.cli.kernels import CommandError, help_options
from pyptx.cli.lab import install_hint, notebook_folder
from pyptx.cli.notebooks import execute

__all__ = ["add", "run"]

NOTEBOOK = "01-first-kernel.ipynb"
VIEW = "application/vnd.pyptx.view+json"
ROWS = {  # of the table: name in the notebook's results -> format
    "SASS instructions": str,
    "registers": str,
    "bytes spilled": str,
    "bytes of shared memory": str,
    "occupancy": "{:.0%}".format,
    "largest difference from NumPy": "{:.1e}".format,
    "million warp-instructions/s": "{:.0f}".format,
}


def add(subparsers: Any) -> None:
    summary = "execute the first notebook and write its linked views"
    command = subparsers.add_parser(
        "demo",
        **help_options(
            summary,
            "pyptx demo",
            "pyptx demo -o first",
            more="Three kernels are assembled, disassembled, run on the CPU simulator, and compared with NumPy. Prints their cost "
            "and writes the executed notebook and a standalone page for each kernel that links its Python, PTX, and SASS.",
        ),
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        default=Path("pyptx-demo"),
        help="output folder; default: %(default)s",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    missing = [name for name in ("nbclient", "ipykernel") if find_spec(name) is None]
    if missing:
        raise CommandError(f"the demo executes a notebook; not installed: {', '.join(missing)}", hint=install_hint())
    from pyptx.cli.terminal import console, table

    start, folder = time.perf_counter(), arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    notebook, results = execute(notebook_folder() / NOTEBOOK, folder, ask="results")
    pages = write_pages(notebook, folder)
    table(
        ["", *(result["kernel"] for result in results)],
        ([name, *(show(result[name]) for result in results)] for name, show in ROWS.items()),
    )
    console.print(f"Python | PTX | SASS: {', '.join(map(str, pages))}", markup=False, soft_wrap=True)
    console.print(f"executed notebook:   {folder / NOTEBOOK}", markup=False, soft_wrap=True)
    console.print(f"took {time.perf_counter() - start:.1f} s; `pyptx lab` opens the notebooks", markup=False)
    return 0


def write_pages(notebook, folder: Path) -> list[Path]:
    """Write the last linked view of every kernel in the notebook as a standalone page; return the paths."""
    from pyptx.views import LinkedView

    views = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if data := output.get("data", {}).get(VIEW):
                views[data["title"]] = LinkedView.from_json(data)
    pages = []
    for title, view in views.items():
        path = folder / f"{title}.html"
        path.write_text(view.page(), encoding="utf-8")
        pages.append(path)
    return pages
