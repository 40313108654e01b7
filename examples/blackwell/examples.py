"""Package shim: lets scripts of this folder that are run by path import `examples`."""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[1])]
