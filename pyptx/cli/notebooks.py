"""Execution of notebooks, in the current Python environment."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyptx.cli.kernels import CommandError
from pyptx.cli.lab import package_environment

__all__ = ["execute"]

TIME_LIMIT_S = 300  # of one cell


def execute(source: Path, folder: Path, ask: str = "None") -> tuple[Any, Any]:
    """Execute a notebook in `folder` and save it there, even if it fails.

    Args:
        ask: an expression to evaluate after the last cell; its value must be serializable as JSON.
    Returns:
        The executed notebook, and the value of `ask`.
    Raises:
        CommandError: a cell failed; the message contains its traceback.
    """
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    from pyptx.cli.terminal import progress

    notebook = nbformat.read(source, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    question = nbformat.v4.new_code_cell(f"import json; print(json.dumps({ask}))")
    notebook.cells.append(question)
    # No kernel specs are searched: the notebook runs in this Python, whatever else is installed.
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    titles = cell_titles(notebook.cells)
    with progress(len(cells)) as step:

        def begun(cell, cell_index: int) -> None:
            if cell.cell_type == "code" and cell is not question:
                step(titles[cell_index])

        client = NotebookClient(
            notebook,
            km=manager,
            timeout=TIME_LIMIT_S,
            on_cell_start=begun,
            extra_arguments=["--log-level=ERROR"],  # silences a warning about loopback TCP
            resources={"metadata": {"path": str(folder)}},
        )
        try:
            client.execute(env=package_environment() | {"PYDEVD_DISABLE_FILE_VALIDATION": "1"})
        except CellExecutionError as error:
            text = str(error) if sys.stderr.isatty() else re.sub(r"\x1b\[[\d;]*m", "", str(error))
            raise CommandError(f"a cell failed; the notebook is saved as {folder / source.name}\n{text}") from None
        finally:
            notebook.cells.remove(question)
            nbformat.write(notebook, folder / source.name)
    return notebook, json.loads("".join(output.text for output in question.outputs))


def cell_titles(cells: Sequence[Any]) -> list[str]:
    """Return the heading above each cell."""
    titles, current = [], ""
    for cell in cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            current = cell.source.partition("\n")[0].lstrip("# ")
        titles.append(current)
    return titles
