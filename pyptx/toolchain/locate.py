"""Where NVIDIA's tools are: a variable when it is set, else the wheels from PyPI.

A CUDA toolkit that happens to be on PATH is used only when told, so that a kernel gives the same machine code on
every machine with the same wheels. The wheels unpack into `nvidia/<package>/bin` and `lib` (13.x: `nvidia/cu13`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from pyptx._value import value
from pyptx.errors import MissingToolError, ToolError

__all__ = ["TOOLS", "Tool", "find", "installed_elsewhere", "version_of"]


@value
class Tool:
    """One of NVIDIA's programs or libraries.

    Attributes:
        name: what NVIDIA calls it.
        package: the package on PyPI that brings it.
        variable: environment variable that names another one.
        patterns: where it lies in a folder of the `nvidia` package.
        purpose: what pyptx needs it for.
    """

    name: str
    package: str
    variable: str
    patterns: tuple[str, ...]
    purpose: str

    @property
    def is_library(self) -> bool:
        return self.name == "nvJitLink"


def _program(name: str, package: str, purpose: str) -> Tool:
    return Tool(name, package, f"PYPTX_{name.upper()}", (f"bin/{name}", f"bin/{name}.exe"), purpose)


TOOLS = {tool.name: tool for tool in (
    _program("ptxas", "nvidia-cuda-nvcc", "assembles PTX"),
    _program("nvdisasm", "nvidia-cuda-nvdisasm", "prints machine code"),
    _program("cuobjdump", "nvidia-cuda-cuobjdump", "takes PTX and cubins out of fat binaries"),
    Tool("nvJitLink", "nvidia-nvjitlink", "PYPTX_NVJITLINK",
         ("lib/libnvJitLink.so.*", "bin/nvJitLink_*.dll", "bin/*/nvJitLink_*.dll"), "checks PTX without a subprocess"))}


def find(name: str) -> Path:
    """The tool's path.

    Args:
        name: "ptxas" | "nvdisasm" | "cuobjdump" | "nvJitLink".
    Raises:
        MissingToolError: it is in no wheel, or its variable names no file.
    """
    tool = TOOLS[name]
    if told := os.environ.get(tool.variable):
        path = Path(told).expanduser()
        if not path.is_file():
            raise MissingToolError(f"{tool.variable}={told} names no file; it should be the path of {name} from a CUDA "
                                   f"toolkit, or unset to use the one from `pip install {tool.package}`")
        return path
    path = _in_wheels(name)
    if path is None:
        elsewhere = None if tool.is_library else next(_elsewhere(name), None)
        raise MissingToolError(
            f"{name} from the CUDA toolkit was not found; it {tool.purpose}",
            hint=f"pip install {tool.package}, or set {tool.variable} to the path of {name} of an installed toolkit"
                 + (f", such as {tool.variable}={elsewhere}" if elsewhere else ""))
    return path


@lru_cache
def _in_wheels(name: str) -> Path | None:
    return max(_candidates(TOOLS[name]), key=_release, default=None)


def _candidates(tool: Tool) -> Iterator[Path]:
    from importlib.util import find_spec

    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for pattern in tool.patterns:
            yield from Path(folder).glob("*/" + pattern)


def _elsewhere(name: str) -> Iterator[str]:
    """A program of toolkits on this machine: on PATH, and where NVIDIA's installers put it."""
    import shutil

    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    found = shutil.which(name), shutil.which(name, path=os.path.join(home, "bin"))
    yield from dict.fromkeys(filter(None, found))


def installed_elsewhere(name: str) -> list[tuple[str, str]]:
    """Path and version of a program in toolkits on this machine, which is used only when told."""
    found = []
    for path in _elsewhere(name):
        try:
            found.append((path, _version(Path(path), Path(path).stat().st_mtime_ns)))
        except (OSError, ToolError):                    # it does not run: no help
            continue
    return found


def _release(path: Path) -> tuple[int, ...]:
    """Numbers in the names of folder and file, so that cu13 comes before cu12: the wheels of a newer CUDA win."""
    return tuple(map(int, re.findall(r"\d+", path.parents[1].name + " " + path.name)))


@lru_cache
def _version(path: Path, modified_ns: int) -> str:
    """What the program says about itself ("13.5.37"); a file that was replaced is asked again."""
    import subprocess  # costs milliseconds that `import pyptx` does not have

    try:
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolError(f"{path} does not run: {error}") from error
    release = re.search(r"\bV(\d+(?:\.\d+)+)", shown)
    if release is None:
        raise ToolError(f"{path} --version names no version: {shown.strip()!r}")
    return release[1]


def version_of(name: str) -> str:
    """The version of a program, such as "13.5.37"; asked once for each file.

    Raises:
        MissingToolError, ToolError: there is none, or it does not run.
    """
    path = find(name)
    return _version(path, path.stat().st_mtime_ns)
