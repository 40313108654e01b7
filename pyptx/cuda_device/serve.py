"""The listener as a process: prints the path of its socket, and ends when its standard input does.

python -m pyptx.cuda_device.serve GPU SCHEDULE
"""

from __future__ import annotations

import os
import sys

from pyptx.analysis.gpus import gpu
from pyptx.cuda_device.listener import Listener
from pyptx.errors import PtxError

__all__ = ["main"]


def main(name: str, schedule: str) -> None:
    """Serve clients; what kernels print goes to standard error, as standard output is the caller's."""
    with Listener(gpu(name), schedule) as listener:
        print(listener.path, flush=True)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        listener.serve_until_ready(sys.stdin.fileno())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except PtxError as error:
        sys.exit(f"pyptx: {error}")
