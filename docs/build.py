"""Write the documentation of this version beside those of other versions:  python docs/build.py FOLDER [--online]

FOLDER/VERSION/ holds the HTML, FOLDER/versions.json the list that the sidebar shows, newest first, and FOLDER/index.html leads to
the newest. Run it for each release into the same folder.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from pyptx import __version__  # noqa: E402


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--online", action="store_true", help="link names of Python, NumPy, torch and JAX")
    arguments = parser.parse_args()
    target = arguments.folder / __version__
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(HERE), str(target)]
    if status := subprocess.run(
        [*command, *(["-t", "online"] if arguments.online else [])], cwd=HERE.parent
    ).returncode:
        return status
    versions = sorted((path.parent.name for path in arguments.folder.glob("*/index.html")), key=numbers, reverse=True)
    (arguments.folder / "versions.json").write_text(json.dumps(versions) + "\n", encoding="utf-8")
    page = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={versions[0]}/">'
    (arguments.folder / "index.html").write_text(page + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
