"""What the panel of kernels shows: kept versions, and what the running notebook has, as plain values for JSON.

The panel asks the server for the versions (`kernels`), so that it has an answer while the kernel is busy, restarts or
is not there; it asks the running kernel, if pyptx is loaded there, for what only that knows (`Session`).
"""

from __future__ import annotations

from math import prod
from typing import Any

from pyptx import history
from pyptx.analysis import occupancy
from pyptx.errors import PtxError
from pyptx.history import Version
from pyptx.jupyter.magics import notebook_name
from pyptx.jupyter.starting import cells
from pyptx.kernel import Kernel
from pyptx.program import Entry
from pyptx.runtime import BACKENDS
from pyptx.runtime.device import detect_arch

__all__ = ["Session", "describe", "device", "kernels"]


def kernels(notebook: str | None = None) -> list[dict[str, Any]]:
    """Kernels with their versions, the newest first; with a notebook's file name only those written in it."""
    found: dict[str, list[Version]] = {}
    for version in history.versions():
        if notebook is None or version.notebook == notebook:
            found.setdefault(version.kernel, []).append(version)
    listed = [{"name": name, "versions": [describe(version) for version in sorted(versions, key=_last, reverse=True)]}
              for name, versions in found.items()]
    return sorted(listed, key=lambda kernel: kernel["versions"][0]["last"], reverse=True)


def describe(version: Version) -> dict[str, Any]:
    """One version; bytes for memory, seconds since 1970 for time, None for what is not known."""
    used = version.used
    return {"ref": version.ref, "number": version.number, "labels": list(version.labels), "target": version.target,
            "params": {name: str(value) for name, value in version.params.items()}, "options": list(version.options),
            "registers": used.registers, "spills": used.spill_stores + used.spill_loads,
            "shared": used.shared_bytes + version.dynamic_shared_bytes, "instructions": version.instructions,
            "occupancy": _occupancy(version), "cell": version.cell, "notebook": version.notebook,
            "last": version.last.timestamp()}


def device() -> dict[str, str | None]:
    """Where kernels run: {"backend": "cuda", "arch": "sm_90a"}, or {"backend": "sim", "arch": None}."""
    if "cuda" in BACKENDS:
        try:
            return {"backend": "cuda", "arch": detect_arch()}
        except RuntimeError:                            # no GPU answers
            pass
    return {"backend": "sim", "arch": None}


class Session:
    """What the running kernel knows: the kernels and entries in its namespace, and where they run."""

    def __init__(self, shell):
        names = {name: value for name, value in shell.user_ns.items()
                 if isinstance(value, Kernel | Entry) and not name.startswith("_")}
        notebook = notebook_name(shell)
        kept = [version for version in history.versions() if version.notebook == notebook]
        self.data = {"device": device(), "notebook": notebook,
                     "kernels": [{"name": value.name, "variable": name,
                                  "arch": value.arch if isinstance(value, Kernel) else None,
                                  "cells": self._cells(value, name, kept)}
                                 for name, value in names.items()]}

    @staticmethod
    def _cells(value: Kernel | Entry, name: str, kept: list[Version]) -> dict[str, str]:
        if not isinstance(value, Kernel):
            return {}
        return cells(value, name, [version for version in kept if version.kernel == value.name])

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return {"application/json": self.data, "text/plain": repr(self.data)}


def _last(version: Version) -> float:
    return version.last.timestamp()


def _occupancy(version: Version) -> dict[str, Any] | None:
    if version.block is None:
        return None
    used = version.used
    try:
        fits = occupancy(version.target, threads=prod(version.block), registers=used.registers,
                         shared_bytes=used.shared_bytes, dynamic_shared_bytes=version.dynamic_shared_bytes)
    except PtxError as error:                           # a block or a target for which there is no occupancy
        return {"percent": None, "why": error.message}
    return {"percent": round(100 * fits.fraction), "why": fits.why}
