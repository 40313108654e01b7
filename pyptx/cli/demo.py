"""`pyptx demo`: execute the first notebook, say what its kernels cost, keep their linked views."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from pyptx.cli.kernels import CommandError
from pyptx.cli.lab import install_hint, notebook_folder, package_environment

__all__ = ["add", "run"]

NOTEBOOK = "01-first-kernel.ipynb"
VIEW = "application/vnd.pyptx.view+json"
TIME_LIMIT_S = 300                                      # of one cell
ROWS = {                                                # of the table: what the notebook calls it -> how it is shown
    "SASS instructions": str,
    "registers": str,
    "bytes spilled": str,
    "bytes of shared memory": str,
    "occupancy": "{:.0%}".format,
    "largest difference from NumPy": "{:.1e}".format,
    "million warp-instructions/s": "{:.0f}".format,
}


def add(subparsers) -> None:
    summary = "execute the first notebook and keep its linked views"
    command = subparsers.add_parser(
        "demo", help=summary, description="Execute the first notebook for real: write two kernels, assemble and "
        "disassemble them, run them on the CPU simulator, compare with NumPy. Prints what they cost and writes the "
        "executed notebook and a standalone page for each kernel that links its Python, PTX and SASS.")
    command.add_argument("-o", "--output", metavar="FOLDER", type=Path, default=Path("pyptx-demo"),
                         help="where to write; default: %(default)s")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    missing = [name for name in ("nbclient", "ipykernel") if find_spec(name) is None]
    if missing:
        raise CommandError(f"the demo executes a notebook; not installed: {', '.join(missing)}", hint=install_hint())
    from pyptx.cli.screen import console, table

    start, folder = time.perf_counter(), arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    notebook, results = execute(notebook_folder() / NOTEBOOK, folder)
    pages = write_pages(notebook, folder)
    table(["", *(result["kernel"] for result in results)],
          ([name, *(show(result[name]) for result in results)] for name, show in ROWS.items()))
    console.print(f"Python | PTX | SASS: {', '.join(map(str, pages))}", markup=False, soft_wrap=True)
    console.print(f"executed notebook:   {folder / NOTEBOOK}", markup=False, soft_wrap=True)
    console.print(f"took {time.perf_counter() - start:.1f} s; `pyptx lab` opens the notebooks", markup=False)
    return 0


def execute(source: Path, folder: Path):
    """Execute a notebook in `folder` and save it there, whether or not it fails.

    Returns:
        The executed notebook, and the value of its variable `results`.
    Raises:
        CommandError: a cell failed; the message holds its traceback.
    """
    import nbformat
    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpecManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    from pyptx.cli.screen import progress

    notebook = nbformat.read(source, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    question = nbformat.v4.new_code_cell("import json; print(json.dumps(results))")
    notebook.cells.append(question)
    # No folder of kernel specs is searched: the notebook runs in this Python, whatever else the user has installed.
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    titles = cell_titles(notebook.cells)
    with progress(len(cells)) as step:
        def begun(cell, cell_index: int) -> None:
            if cell.cell_type == "code" and cell is not question:
                step(titles[cell_index])

        client = NotebookClient(notebook, km=manager, timeout=TIME_LIMIT_S, on_cell_start=begun,
                                extra_arguments=["--log-level=ERROR"],          # no remark about loopback TCP
                                resources={"metadata": {"path": str(folder)}})
        try:
            client.execute(env=package_environment() | {"PYDEVD_DISABLE_FILE_VALIDATION": "1"})
        except CellExecutionError as error:
            text = str(error) if sys.stderr.isatty() else re.sub(r"\x1b\[[\d;]*m", "", str(error))
            raise CommandError(f"a cell failed; the notebook is kept as {folder / source.name}\n{text}") from None
        finally:
            notebook.cells.remove(question)
            nbformat.write(notebook, folder / source.name)
    return notebook, json.loads("".join(output.text for output in question.outputs))


def cell_titles(cells) -> list[str]:
    """For every cell the heading it stands under."""
    titles, current = [], ""
    for cell in cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            current = cell.source.partition("\n")[0].lstrip("# ")
        titles.append(current)
    return titles


def write_pages(notebook, folder: Path) -> list[Path]:
    """Write the last linked view of every kernel in the notebook as a page of its own; their paths."""
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
