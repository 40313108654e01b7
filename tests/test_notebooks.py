"""Every notebook is committed without outputs and runs from top to bottom."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest

from pyptx.cli.demo import execute

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_is_committed_without_outputs(path: Path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_cells_are_python_once_the_magics_are_gone(path: Path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            ast.parse(re.sub(r"^%.*$", "", cell.source, flags=re.M))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_runs_from_top_to_bottom(path: Path, tmp_path: Path):
    notebook, results = execute(path, tmp_path)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert results
