"""The version of a kernel's source: its git commit, and the recorded version of its machine code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyptx import history
from pyptx.analysis.work.call import Call
from pyptx.assembly import Assembly
from pyptx.jit import JitKernel
from pyptx.ledger.git import origin_of_file
from pyptx.ledger.measurement import Measurement, Origin

__all__ = ["measurement_of", "origin_of"]


def measurement_of(kernel: Any, call: Call, **fields: Any) -> Measurement:
    """Return a measurement of a call, with its kernel, arguments, parameters and origin.

    Args:
        kernel: the kernel or entry.
        call: its call.
        fields: the other fields of Measurement: kind, method, source, gpu, seconds, low, high, ...
    """
    return Measurement(
        **{
            "kernel": call.name,
            "problem": call.problem,
            "params": dict(call.specialization.params),
            "origin": origin_of(kernel, call.compiled()),
            **fields,
        }
    )


def origin_of(kernel: Any, compiled: Assembly | None = None) -> Origin:
    """Return the origin of a kernel.

    Args:
        kernel: a kernel, whose file is in a repository; for other objects, and for cells of notebooks, the repository of the
            working directory counts.
        compiled: its machine code, for the version that the history has of it.
    """
    file = Path(kernel.declaration.function.__code__.co_filename) if isinstance(kernel, JitKernel) else None
    commit, dirty, name = origin_of_file(file if file is not None and file.is_file() else None)
    version = history.version_of(compiled) if compiled is not None and isinstance(kernel, JitKernel) else None
    return Origin(commit, dirty, version.ref if version else "", name)
