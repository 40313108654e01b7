"""Constants that both sides of a connection share."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pyptx._loc import PACKAGE_DIR

__all__ = ["DEVICE_REQUESTS", "PROTOCOL", "PING_S", "REPORTS", "REQUESTS", "SILENT_S", "WORKER", "build"]

PROTOCOL = 3
PING_S, SILENT_S = 20.0, 120.0  # the near side says that often that it is there; the far side ends after that silence
WORKER = "pyptx.remote.worker"  # the module that the processes of the far side run
# Methods of `worker.RemoteWorker` that another machine may call; of its GPU, with "on_gpu".
REQUESTS = (
    *("arrays", "simulate", "problem", "model", "gpu", "on_gpu", "device", "status", "launch", "read", "write"),
    *("functions", "function_outputs", "function_times", "function_note"),
)
REPORTS = ("waiting", "printed")  # messages about a request before its answer
DEVICE_REQUESTS = ("about", "arrays", "check", "conditions", "mode", "sample")


@cache
def build() -> str:
    """Return a hash of the Python sources of this pyptx, which differs between commits of one version."""
    found = hashlib.sha256()
    for path in sorted(Path(PACKAGE_DIR).rglob("*.py")):
        found.update(path.relative_to(PACKAGE_DIR).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]
