"""Execute the notebooks and keep what they show in them, as readers see them on the web.

    python tests/support/render_notebooks.py [NAME ...]         # names may be cut short: 02, 05-tma

Live views stay in: they need no kernel. Widget state, times and counters of the run do not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat

from pyptx.cli.notebooks import execute

FOLDER = Path(__file__).parents[2] / "notebooks"


def render(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        notebook, _ = execute(path, Path(folder))
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"cell-{number}", {}
        if cell.cell_type == "code":
            for output in cell.outputs:
                output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    nbformat.write(notebook, path)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    wanted = sys.argv[1:] or [""]
    for path in sorted(FOLDER.glob("*.ipynb")):
        if path.name.startswith(tuple(wanted)):
            render(path)


if __name__ == "__main__":
    main()
