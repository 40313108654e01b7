"""Time and disk space of the two commands of the README, each in a fresh virtual environment.

    python tests/benchmarks/installation.py [1|2] [--install-only]

The commands are the lines of the README's first block. They run on a copy of the tracked files, with pip's own cache, and
nothing else: no GPU, no compiler. Megabytes are those that the environment has grown by, of an installation also those of
NVIDIA's packages. `--install-only` leaves out what follows `&&`.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
REMOVED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYPTX_CACHE_DIR", "PYPTX_BACKEND", "PYTHONDONTWRITEBYTECODE")


def commands() -> list[str]:
    block = re.search(r"^```\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert block, "the README has no first block"
    return block[1].splitlines()


def copy_checkout(folder: Path) -> None:
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder)  # tracked files of this repository


def megabytes(folder: Path) -> float:
    files = (Path(base) / name for base, _, names in os.walk(folder) for name in names)
    return sum(path.lstat().st_size for path in files) / 1e6


def nvidia_megabytes(venv: Path) -> float:
    """Return the size of NVIDIA's packages in an environment."""
    return sum(megabytes(folder) for folder in venv.glob("lib/python*/site-packages/nvidia*"))


def measure(command: str) -> list[tuple[str, float, float, float]]:
    """Run the parts of a command; return each with its seconds, and the megabytes of the environment and of NVIDIA's packages
    that it added."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_checkout(folder / "checkout")
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        environment = {key: value for key, value in os.environ.items() if key not in REMOVED}
        environment["PATH"] = f"{folder / 'venv' / 'bin'}{os.pathsep}{environment['PATH']}"
        found = []
        for part in command.split(" && "):
            venv = folder / "venv"
            before, tools, start = megabytes(venv), nvidia_megabytes(venv), time.monotonic()
            subprocess.run(part, shell=True, cwd=folder / "checkout", env=environment, check=True, stdout=sys.stderr)
            seconds = time.monotonic() - start
            found.append((part, seconds, megabytes(venv) - before, nvidia_megabytes(venv) - tools))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("which", nargs="*", type=int, choices=(1, 2), help="default: both commands")
    parser.add_argument("--install-only", action="store_true")
    arguments = parser.parse_args()
    for number in arguments.which or (1, 2):
        command = commands()[number - 1]
        for part, seconds, size, tools in measure(command.partition(" && ")[0] if arguments.install_only else command):
            of_these = f" {tools:7.0f} MB of NVIDIA's" if tools else ""
            print(f"{part:32} {seconds:7.0f} s {size:7.0f} MB{of_these}", flush=True)


if __name__ == "__main__":
    main()
