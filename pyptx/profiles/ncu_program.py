"""NVIDIA's profiler `ncu`: where it is, exports of reports, and runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pyptx.errors import MissingToolError, ToolError

__all__ = ["VARIABLE", "export_page", "find_ncu", "profile_command", "run_ncu"]

VARIABLE = "PYPTX_NCU"
_LIMIT_S = 600.0  # to export a page
_PLACES = ("/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu", "/usr/local/NVIDIA-Nsight-Compute*/ncu")
_SECTIONS = ("SourceCounters", "SpeedOfLight", "WarpStateStats", "MemoryWorkloadAnalysis", "LaunchStats", "Occupancy")


def find_ncu() -> Path:
    """Return the path of `ncu`: that of PYPTX_NCU, else on PATH, else of an installed toolkit.

    Raises:
        MissingToolError: it is not installed, or PYPTX_NCU does not name a file.
    """
    if given := os.environ.get(VARIABLE):
        path = Path(given).expanduser()
        if not path.is_file():
            raise MissingToolError(f"{VARIABLE}={given} does not name a file", hint="set it to the path of ncu")
        return path
    if found := shutil.which("ncu"):
        return Path(found)
    for pattern in _PLACES:
        if paths := sorted(Path("/").glob(pattern.lstrip("/"))):
            return paths[-1]
    raise MissingToolError(
        "ncu, the profiler of NVIDIA Nsight Compute, was not found",
        hint=f"install Nsight Compute, or set {VARIABLE} to the path of ncu; a CSV exported on the machine with the GPU "
        "needs no ncu here: ncu --import run.ncu-rep --page source --csv > run.csv",
    )


def export_page(report: Path, page: str) -> str:
    """Return a page of a report as CSV, written by `ncu --import`.

    Args:
        report: a file that ends in .ncu-rep.
        page: "source" or "raw".
    Raises:
        MissingToolError: ncu is not installed.
        ToolError: ncu refuses the report, or takes too long.
    """
    more = ("--print-source", "sass") if page == "source" else ("--print-units", "base")
    command = [str(find_ncu()), "--import", str(report), "--page", page, "--csv", *more]
    try:
        done = subprocess.run(
            command, capture_output=True, env={**os.environ, "LC_ALL": "C"}, timeout=_LIMIT_S, check=False
        )
    except OSError as error:
        raise ToolError(f"{command[0]} does not start: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"ncu was stopped after {_LIMIT_S:g} s: {' '.join(command)}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise ToolError(
            f"ncu cannot read {report} (exit status {done.returncode}): {said[-1] if said else 'no message'}",
            hint="a newer ncu may be needed; its version must not be below that of the one that wrote the report",
        )
    return done.stdout.decode(errors="replace")


def profile_command(kernel: str, program: Sequence[str], output: Path) -> list[str]:
    """Return the command that profiles one launch of a kernel in a program.

    Args:
        kernel: name of the entry.
        program: command line of the program.
        output: the report to write, without its suffix.
    Raises:
        MissingToolError: ncu is not installed.
    """
    sections = [word for section in _SECTIONS for word in ("--section", section)]
    return [
        str(find_ncu()),
        *sections,
        *("--kernel-name-base", "function", "--kernel-name", kernel, "--launch-count", "1"),
        *("--import-source", "yes", "--target-processes", "all", "--force-overwrite", "--export", str(output)),
        *program,
    ]


def run_ncu(command: Sequence[str], output: Path) -> Path:
    """Run a command of `profile_command`; return the report it wrote. Its output goes to the terminal.

    Raises:
        ToolError: ncu fails, or profiles nothing: there is no GPU, or the kernel is not launched.
    """
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise ToolError(f"{command[0]} does not start: {error}") from error
    report = output.with_name(output.name + ".ncu-rep")
    if status:
        raise ToolError(
            f"ncu ended with exit status {status}",
            hint="ERR_NVGPUCTRPERM: profiling needs permission, see developer.nvidia.com/ERR_NVGPUCTRPERM",
        )
    if not report.is_file():
        raise ToolError(
            "ncu profiled no launch of the kernel",
            hint="profiling needs a GPU; on a machine without one the kernel runs on the simulator, which ncu does not see",
        )
    return report
