"""Execute the notebooks and keep what they show in them, as readers see them on the web.

    python tests/support/render_notebooks.py [NAME ...]         # names may be cut short: 02, 05-tma

Live views stay in: they need no kernel. Widget state, times and counters of the run do not,
nor the text form of what is also there as HTML.
"""

from __future__ import annotations

import json
import sys
import tempfile
from copy import deepcopy
from pathlib import Path

import nbformat

from pyptx.cli.notebooks import execute
from pyptx.views import MIME

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
                data = output.get("data", {})
                data.pop("application/vnd.jupyter.widget-view+json", None)
                view = data.get(MIME, {})
                if view.get("packed", " ") in data.get("text/html", ""):  # the data is there once, in the HTML
                    data[MIME] = {name: value for name, value in view.items() if name != "packed"} | {"embedded": True}
                if "text/html" in data or "image/svg+xml" in data:  # which every reader on the web shows
                    data.pop("text/plain", None)
    lines = nbformat.v4.rwbase.split_lines(deepcopy(notebook))
    for cell, whole in zip(lines.cells, notebook.cells, strict=True):  # outputs are not read as lines: one string each
        cell.update({"outputs": whole.outputs} if cell.cell_type == "code" else {})
    path.write_text(json.dumps(lines, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    wanted = sys.argv[1:] or [""]
    for path in sorted(FOLDER.glob("*.ipynb")):
        if path.name.startswith(tuple(wanted)):
            render(path)


if __name__ == "__main__":
    main()
