"""Execute the notebooks and keep what they show in them, as readers see them on the web.

    python tests/support/render_notebooks.py [NAME ...]         # names may be cut short: 02, 05-tma
    python tests/support/render_notebooks.py --compact [NAME]   # execute nothing, only store the outputs compactly

A view is stored as its data, which JupyterLab shows interactively without a kernel, and as its static form, which GitHub and
others show. The renderer is not stored: JupyterLab has it. HTML and SVG are stored line by line, so that a diff shows what
changed. Widget state, times and counters of the run are dropped, and the text form of what is also there as HTML.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import MutableMapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat

from pyptx.cli.notebooks import execute
from pyptx.views import MIME

FOLDER = Path(__file__).parents[2] / "notebooks"
_DATA = re.compile(r"<script>\(window\.pyptxViews [^']*'([^']*)'\]\);</script>")  # of an embedded view
_SCRIPT = re.compile(r"<script>.*?</script>", re.DOTALL)
_ELEMENT = re.compile(r"(?<=>)(?=<(?:div|details|table|tr|rect|text|path|line|polyline|circle|g|style|title)[ >])")


def render(path: Path, execution: bool = True) -> None:
    start = time.monotonic()
    if execution:
        with tempfile.TemporaryDirectory() as folder:
            notebook, _ = execute(path, Path(folder))
    else:
        notebook = nbformat.read(path, as_version=4)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"cell-{number}", {}
        for output in cell.get("outputs", ()):
            compact(output.get("data", {}))
    lines = nbformat.v4.rwbase.split_lines(deepcopy(notebook))
    path.write_text(json.dumps(lines, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {time.monotonic() - start:.0f} s")


def compact(data: MutableMapping[str, Any]) -> None:
    """Store one output compactly, in place."""
    data.pop("application/vnd.jupyter.widget-view+json", None)
    html = data.get("text/html", "")
    if found := _DATA.search(html):
        view = {name: value for name, value in data[MIME].items() if name != "embedded"}
        data[MIME] = view | {"packed": found[1]}
        data["text/html"] = _SCRIPT.sub("", html)
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            data[kind] = _ELEMENT.sub("\n", data[kind])
            data.pop("text/plain", None)  # every reader on the web shows the other


def main() -> None:
    arguments = sys.argv[1:]
    execution = "--compact" not in arguments
    wanted = [argument for argument in arguments if argument != "--compact"] or [""]
    for path in sorted(FOLDER.glob("*.ipynb")):
        if path.name.startswith(tuple(wanted)):
            render(path, execution)


if __name__ == "__main__":
    main()
