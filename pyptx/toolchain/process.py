"""Runs the tools, with a time limit and in a folder of their own."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from pyptx.errors import ToolError
from pyptx.toolchain.locate import find

__all__ = ["TIME_LIMIT_S", "Ran", "run_tool", "run_tools", "workspace"]

TIME_LIMIT_S = 600.0


class Ran(NamedTuple):
    status: int
    output: str
    log: str


def workspace() -> AbstractContextManager[str]:
    """A folder only this user can read, gone after the `with`."""
    import tempfile  # costs milliseconds that `import pyptx` does not have

    return tempfile.TemporaryDirectory(prefix="pyptx-", ignore_cleanup_errors=True)


def run_tool(name: str, *arguments: str, folder: Path, limit_s: float = TIME_LIMIT_S) -> Ran:
    """Run a tool in `folder`; its status, what it printed and its log, in English.

    Raises:
        MissingToolError: there is no such tool.
        ToolError: it does not start, or did not end in time and was stopped.
    """
    return run_tools(name, arguments, folder=folder, limit_s=limit_s)[0]


def run_tools(name: str, *commands: tuple[str, ...], folder: Path, limit_s: float = TIME_LIMIT_S,
              patience_s: float | None = None) -> list[Ran]:
    """Run a tool several times at once, one for each tuple of arguments; see `run_tool`.

    With `patience_s`, the runs after the first may be given up: one that takes that much longer than the first is
    stopped, and comes back with what it printed until then, status -9 and a log that says so.
    """
    import subprocess
    import time

    path = find(name).absolute()
    deadline, results = time.monotonic() + limit_s, []
    running: list[subprocess.Popen[bytes]] = []
    try:
        for number, arguments in enumerate(commands):
            with open(folder / f"{number}.out", "wb") as out:
                running.append(subprocess.Popen([path, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                                stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}))
        for number, process in enumerate(running):
            left = max(0.0, deadline - time.monotonic())
            try:
                # The end of a pipe tells at once that a process is done; waiting with a time limit would poll.
                log = process.communicate(timeout=left)[1]
            except subprocess.TimeoutExpired:
                if patience_s is None or not number:
                    raise ToolError(f"{name} was stopped after {limit_s:g} s: {name} "
                                    f"{' '.join(commands[number])}") from None
                process.kill()
                log = process.communicate()[1] + f"it was stopped after {patience_s:g} s".encode()
            results.append(Ran(process.returncode, (folder / f"{number}.out").read_text("utf-8", "replace"),
                               log.decode(errors="replace")))
            if patience_s is not None and not number:
                deadline = min(deadline, time.monotonic() + patience_s)
        return results
    except OSError as error:
        raise ToolError(f"{path} does not start: {error}") from error
    finally:
        for process in running:                 # on a time limit, an error or an interrupt
            if process.returncode is None:
                process.kill()
                process.communicate()
