"""Execution of tools, with a time limit and in a temporary folder."""

from __future__ import annotations

import math
import os
import signal
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from pyptx.errors import ToolError
from pyptx.toolchain.locate import find

__all__ = ["TIME_LIMIT_S", "ToolResult", "run_tool", "workspace"]

TIME_LIMIT_S = 600.0


class ToolResult(NamedTuple):
    """Exit status, standard output and standard error of a tool."""

    status: int
    output: str
    log: str


def workspace() -> AbstractContextManager[str]:
    """Return a temporary folder that only this user can read, as a context manager."""
    import tempfile  # imported late to keep `import pyptx` fast

    return tempfile.TemporaryDirectory(prefix="pyptx-", ignore_cleanup_errors=True)


def run_tool(name: str, *arguments: str, folder: Path, limit_s: float = TIME_LIMIT_S) -> ToolResult:
    """Run a tool in `folder`, with messages in English.

    Args:
        limit_s: time limit in seconds of CPU time, so that a busy machine does not cause failures. The wall time is
            limited to four times as much; on other systems than Linux to as much.
    Raises:
        MissingToolError: the tool is not installed.
        ToolError: the tool does not start, or exceeded a time limit and was killed.
    """
    import subprocess

    path = find(name).absolute()
    try:
        with open(folder / "0.out", "wb") as out:
            process = subprocess.Popen(
                [path, *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                env={**os.environ, "LC_ALL": "C"},
            )
    except OSError as error:
        raise ToolError(f"{path} does not start: {error}") from error
    stopped = f"{name} was stopped after {limit_s:g} s: {name} {' '.join(arguments)}"
    try:
        limited = _limit_cpu_time(process.pid, limit_s)
        # The end of a pipe tells at once that a process is done; waiting with a time limit would poll.
        log = process.communicate(timeout=4 * limit_s if limited else limit_s)[1]
    except subprocess.TimeoutExpired:
        raise ToolError(stopped) from None
    finally:
        if process.returncode is None:  # on a time limit, an error or an interrupt
            process.kill()
            process.communicate()
    if limited and process.returncode == -signal.SIGXCPU:
        raise ToolError(stopped)
    output = (folder / "0.out").read_text("utf-8", "replace")
    return ToolResult(process.wait(), output, log.decode(errors="replace"))


def _limit_cpu_time(process: int, limit_s: float) -> bool:
    """Limit the CPU time of a process where the system can; return True if it is limited."""
    try:
        from resource import RLIMIT_CPU, prlimit
    except ImportError:
        return False
    seconds = max(1, math.ceil(limit_s))
    try:
        _, most = prlimit(process, RLIMIT_CPU)
        if not 0 <= most < seconds:  # a lower limit of the system stays
            prlimit(process, RLIMIT_CPU, (seconds, most))
    except ProcessLookupError:  # it has ended already
        pass
    except OSError:
        return False
    return True
