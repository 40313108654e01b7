"""Every notebook is committed with the outputs that readers see on the web, and runs from top to bottom."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from pyptx.cli.notebooks import execute

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
MOST_BYTES = 300_000  # of one; all of them travel in the wheel


def named(path: Path) -> str:
    return path.stem


def read(path: Path):
    import nbformat  # takes seconds, which the workers without these tests save

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_carries_its_outputs(path: Path):
    """Rendered by tests/support/render_notebooks.py: no errors, no widgets that need a kernel, no paths."""
    notebook = read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs and not [o for o in outputs if o.output_type == "error"]
    text = json.dumps(outputs)
    assert "widget-view" not in text and "widgets" not in notebook.metadata
    assert not re.search(r"/(tmp|home|root|work)/", text), "a path of the machine it was rendered on"
    assert path.stat().st_size < MOST_BYTES
    assert "<script" not in text, "views are data and a static form: tests/support/render_notebooks.py --compact"
    lines = (line for output in outputs for line in written(output))
    longest = max(len(line) for line in lines if ";base64," not in line)
    assert longest < 6_000, "a diff of the static form is readable"


def written(output) -> list[str]:
    """The lines of the texts of an output."""
    data = output.get("data", {})
    texts = [output.get("text", ""), *(data.get(kind, "") for kind in ("text/html", "image/svg+xml", "text/plain"))]
    return [line for text in texts for line in text.split("\n")]


def python_of(path: Path) -> ast.Module:
    """The code of a notebook without magics, and without cells that hold something else."""
    cells = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
    return ast.parse(
        "\n".join(
            re.sub(r"^[%!].*$", "", source, flags=re.M)
            for source in cells
            if not source.startswith(("%%writefile", "%%ptx\n", "%%cuda"))
        )
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_cells_are_python_once_the_magics_are_gone(path: Path):
    assert python_of(path).body


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_ends_with_what_to_do_next(path: Path):
    last = read(path).cells[-1]
    assert last.cell_type == "markdown" and re.search(r"^## (Exercise|Next)$", last.source, re.M)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_runs_from_top_to_bottom(path: Path, tmp_path: Path):
    notebook, _ = execute(path, tmp_path)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_needs_what_the_notebook_extra_brings(path: Path):
    """`pip install '.[lab]'` is all that a reader is told, but for the notebook that is about torch and JAX."""
    project = tomllib.loads((path.parents[1] / "pyproject.toml").read_text())["project"]
    brought = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    brought += ["torch", "jax"] if path.stem == "09-torch-jax-script" else []
    brought += ["triton"] if path.stem == "11-a-triton-kernel" else []
    known = {re.split(r"[^\w-]", name)[0].replace("-", "_") for name in brought} | {"pyptx"} | sys.stdlib_module_names
    imported = {
        name.partition(".")[0]
        for node in ast.walk(python_of(path))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= known, imported - known
