"""Late work of a program that makes no calls, which runs after a while, and what a program leaves undone at its end."""

from __future__ import annotations

import sys

from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__ = ["never_waited_for"]


@handles("pyptxProgress")
def progress(session: Session) -> None:
    """Run late work; src/progress.c calls it after some seconds without calls."""
    if session.work.pending:
        print(
            f"pyptx: the program made no calls for seconds; {_pieces(session.work.pending)}, for which it has not "
            "waited, run now",
            file=sys.stderr,
            flush=True,
        )
        session.synchronize()


@handles("pyptxUnread")
def unread(session: Session, count: int) -> None:
    """Report launches whose errors the program has not read when it ends."""
    if session.checks is not None:
        session.checks.unread(count)


def never_waited_for(session: Session) -> None:
    """Say what did not run, at the end of the program."""
    if session.work.pending:
        print(
            f"pyptx: the program ended without waiting for {_pieces(session.work.pending)}, which did not run\n"
            "hint: wait for the device before the end (cudaDeviceSynchronize)",
            file=sys.stderr,
            flush=True,
        )


def _pieces(count: int) -> str:
    return f"{count} piece{'s' * (count != 1)} of work"
