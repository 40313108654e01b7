"""Data of the JupyterLab panel: recorded versions, and the kernels of the running notebook, as JSON values.

The panel requests the versions (`kernels`) from the server, which answers while the notebook's kernel is busy or absent.
It requests the state of the namespace (`NotebookState`) from the running kernel, if pyptx is loaded there.
"""

from __future__ import annotations

from math import prod
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from pyptx import history
from pyptx.analysis import occupancy
from pyptx.errors import PtxError
from pyptx.history import Version
from pyptx.jupyter.cell_templates import cell_templates
from pyptx.jupyter.magics import notebook_file_name
from pyptx.kernel import Kernel
from pyptx.program import Entry
from pyptx.runtime import BACKENDS
from pyptx.runtime.device import detect_arch

__all__ = ["NotebookState", "describe", "device", "kernels"]


def kernels(notebook: str | None = None) -> list[dict[str, Any]]:
    """Return kernels with their versions, latest first; given a notebook's file name, only the versions it compiled."""
    found: dict[str, list[Version]] = {}
    for version in history.versions():
        if notebook is None or version.notebook == notebook:
            found.setdefault(version.kernel, []).append(version)
    listed = [
        {"name": name, "versions": [describe(version) for version in sorted(versions, key=_last, reverse=True)]}
        for name, versions in found.items()
    ]
    return sorted(listed, key=lambda kernel: kernel["versions"][0]["last"], reverse=True)


def describe(version: Version) -> dict[str, Any]:
    """Return the fields of a version: sizes in bytes, times in seconds since 1970, None if unknown."""
    used = version.used
    return {
        "ref": version.ref,
        "number": version.number,
        "labels": list(version.labels),
        "target": version.target,
        "params": {name: str(value) for name, value in version.params.items()},
        "options": list(version.options),
        "registers": used.registers,
        "spills": used.spill_stores + used.spill_loads,
        "shared": used.shared_bytes + version.dynamic_shared_bytes,
        "instructions": version.instructions,
        "occupancy": _occupancy(version),
        "cell": version.cell,
        "notebook": version.notebook,
        "last": version.last.timestamp(),
    }


def device() -> dict[str, str | None]:
    """Return the default backend: {"backend": "cuda", "arch": "sm_90a"}, or {"backend": "sim", "arch": None}."""
    if "cuda" in BACKENDS:
        try:
            return {"backend": "cuda", "arch": detect_arch()}
        except RuntimeError:  # no usable GPU
            pass
    return {"backend": "sim", "arch": None}


class NotebookState:
    """The kernels and entries in a notebook's namespace, and the backend they run on."""

    def __init__(self, shell: InteractiveShell):
        names = {
            name: value
            for name, value in shell.user_ns.items()
            if isinstance(value, Kernel | Entry) and not name.startswith("_")
        }
        notebook = notebook_file_name(shell)
        kept = [version for version in history.versions() if version.notebook == notebook]
        self.data = {
            "device": device(),
            "notebook": notebook,
            "kernels": [
                {
                    "name": value.name,
                    "variable": name,
                    "arch": value.arch if isinstance(value, Kernel) else None,
                    "cells": self._cells(value, name, kept),
                    "check": _verdict(value),
                }
                for name, value in names.items()
            ],
        }

    @staticmethod
    def _cells(value: Kernel | Entry, name: str, kept: list[Version]) -> dict[str, str]:
        if not isinstance(value, Kernel):
            return {}
        return cell_templates(value, name, [version for version in kept if version.kernel == value.name])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"application/json": self.data, "text/plain": repr(self.data)}


def _verdict(value: Kernel | Entry) -> dict[str, Any] | None:
    """Return the verdict of the last check; None if the kernel was not checked."""
    report = value.last_check
    return None if report is None else {"ok": report.ok, "text": report.headline.partition(": ")[2]}


def _last(version: Version) -> float:
    return version.last.timestamp()


def _occupancy(version: Version) -> dict[str, Any] | None:
    if version.block is None:
        return None
    used = version.used
    try:
        fits = occupancy(
            version.target,
            threads=prod(version.block),
            registers=used.registers,
            shared_bytes=used.shared_bytes,
            dynamic_shared_bytes=version.dynamic_shared_bytes,
        )
    except PtxError as error:  # no occupancy for this block size or target
        return {"percent": None, "why": error.message}
    if not fits.blocks:
        return {"percent": None, "why": f"cannot launch: {fits.why.partition(': ')[2]}"}
    return {"percent": round(100 * fits.fraction), "why": fits.why}
