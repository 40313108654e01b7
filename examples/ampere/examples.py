"""The package `examples`, for scripts of this folder that are started by their path: what a script imports, Python
looks for beside it."""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[1])]
