"""Accesses of the host that fault in the client: to memory of the device, or to memory that work still uses."""

from __future__ import annotations

import sys

from pyptx.cuda_device.server.device_memory import HOST_KINDS, PAGE, READ_WRITE
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__: list[str] = []

_VERBS = ("reads", "writes", "accesses")


@handles("pyptxHostAccess")
def host_access(session: Session, address: int, kind: int) -> int:
    """Return 1 if the access may continue, 0 if it ends the program."""
    found = session.memory.find(address)
    if found is not None and found.kind in HOST_KINDS:
        if session.order is not None:
            session.order.guards.touched(address, kind, session.sites)
        else:
            session.memory.protect(address // PAGE * PAGE, PAGE, READ_WRITE)
        return 1
    diagnosis = (
        f"host code {_VERBS[kind]} 0x{address:x}, an address of the device: {session.memory.describe(address)}\n"
        "hint: copy it (cudaMemcpy), or allocate memory that the host may access (cudaMallocManaged, cudaMallocHost)"
    )
    if session.checks is not None:
        session.checks.accessed(diagnosis, session.process, session.sites)
    else:
        sys.stdout.flush()
        print(f"pyptx: {diagnosis}", file=sys.stderr, flush=True)
    return 0
