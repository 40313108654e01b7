"""Processes with a time limit whose output goes to a log as it appears. No packages beyond the standard library."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

__all__ = ["Log", "call", "environment", "others"]

ROOT = Path(__file__).resolve().parents[3]


class Log:
    """Prints, and keeps what was printed; processes write into its file themselves."""

    def __init__(self, path: Path):
        self.path, self.file = path, path.open("a", encoding="utf-8")

    def __call__(self, text: str) -> None:
        print(text, flush=True)
        self.file.seek(0, os.SEEK_END)
        self.file.write(text + "\n")
        self.file.flush()

    def since(self, place: int) -> str:
        """What was written from a place of the file on."""
        with self.path.open("rb") as file:
            file.seek(place)
            return file.read().decode("utf-8", errors="replace")


def _ends(process: subprocess.Popen, limit: float, quiet: float, log: Log) -> bool:
    """Wait for a process; False where time is over."""
    begun = told = time.monotonic()
    size = log.path.stat().st_size
    while time.monotonic() < min(begun + limit, told + quiet):
        try:
            process.wait(timeout=min(1.0, limit))
            return True
        except subprocess.TimeoutExpired:
            if (now := log.path.stat().st_size) != size:
                size, told = now, time.monotonic()
    return process.poll() is not None


def _end(process: subprocess.Popen, log: Log) -> None:
    """End a process with what it started."""
    for number, wait in ((signal.SIGTERM, 10), (signal.SIGKILL, 30)):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=wait)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            continue
    if process.poll() is None:  # a driver that hangs holds it; the others go on
        log(f"process {process.pid} cannot be ended")


def environment(cache: str) -> dict[str, str]:
    """Variables of the processes: where the checkout and a cache are, tools of a toolkit where there are no wheels."""
    folders = [str(ROOT), str(ROOT / "tests"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    found = os.environ | {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(folders)),
        "PYTHONUNBUFFERED": "1",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }
    found.setdefault("PYPTX_CACHE_DIR", cache)
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    from pyptx.errors import PtxError
    from pyptx.toolchain.locate import TOOLS, find

    for name, tool in TOOLS.items():
        try:
            find(name)
        except PtxError:
            if not tool.is_library and (own := others(name, found)):
                found[tool.variable] = own[0]
    return found


def others(name: str, env: Mapping[str, str]) -> list[str]:
    """A program of toolkits on this machine, and the one that Triton brings; not the one that is used."""
    folders = [
        *env.get("PATH", "").split(os.pathsep),
        f"{env.get('CUDA_HOME', '/usr/local/cuda')}/bin",
        "/usr/local/cuda/bin",
    ]
    if (triton := find_spec("triton")) is not None:
        folders.append(f"{Path(triton.origin).parent}/backends/nvidia/bin")
    found = dict.fromkeys(filter(None, (shutil.which(name, path=folder) for folder in folders if folder)))
    return [path for path in found if path != env.get(f"PYPTX_{name.upper()}")]


def call(
    command: Sequence[str],
    limit: float,
    log: Log,
    env: Mapping[str, str],
    folder: Path = ROOT,
    quiet: float = float("inf"),
) -> tuple[int | None, str]:
    """Run a command; what it prints goes to the log as it comes.

    Args:
        limit: seconds after which it is ended; quiet: also after so many in which it printed nothing.
    Returns:
        its status, None where it was ended or died by a signal, and its text.
    """
    if limit <= 1:
        return None, "no time"
    start = log.path.stat().st_size
    # A group of its own, to be ended as a whole, but no session: what ends this process from outside finds it.
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdout=log.file,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        ended = _ends(process, limit, quiet, log)
    except BaseException:  # such as SIGTERM's
        _end(process, log)
        raise
    if not ended:
        _end(process, log)
        process.returncode = None
    text = log.since(start)
    print(text[-3000:].rstrip(), flush=True)
    if process.returncode is None:
        log(f"ended after {limit:.0f} s, or {quiet:.0f} s in which it said nothing: {' '.join(command[-4:])[:300]}")
    return (None if process.returncode is None or process.returncode < 0 else process.returncode), text
