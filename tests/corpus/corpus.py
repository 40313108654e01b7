"""Location and manifest of the corpus, for the scripts that write it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pyptx.parser import parse

__all__ = ["FOLDER", "MANIFEST", "PTX", "manifest", "without_paths", "write"]

FOLDER = Path(__file__).parent
PTX = FOLDER / "ptx"
MANIFEST = FOLDER / "manifest.json"

_FILE = re.compile(r'(\.file\s+\d+\s+")[^"]*/')


def manifest() -> dict[str, dict]:
    """What is known of each file of the corpus, by its path below ptx/."""
    return json.loads(MANIFEST.read_text()) if MANIFEST.exists() else {}


def without_paths(text: str) -> str:
    """The text without the folders of the machine it was written on."""
    return _FILE.sub(r"\1", text)


def write(file: str, text: str, *, source: str, generator: str, options: list[str] = ()) -> dict:
    """Write one file below ptx/ and its row of the manifest.

    Args:
        source: what it was made from, a path below this folder or of the repository.
        generator: the compiler and its version.
        options: how it was told to compile.
    """
    path = PTX / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    module = parse(text)
    row = {
        "file": file,
        "source": source,
        "generator": generator,
        "options": list(options),
        "target": ", ".join(module.target.targets),
        "entries": [f.name for f in module.entries],
    }
    rows = {**manifest(), file: row}
    lines = ",\n".join(
        f" {json.dumps(name)}: {json.dumps({k: v for k, v in row.items() if k != 'file'})}"
        for name, row in sorted(rows.items())
    )
    MANIFEST.write_text("{\n" + lines + "\n}\n")
    return row
