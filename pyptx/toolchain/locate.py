"""Location of NVIDIA's tools: an environment variable if set, else the wheels from PyPI, else the packages of a conda environment.

A CUDA toolkit on PATH is used only on request, so a kernel has the same machine code on all machines with the same
wheels. The wheels unpack into `nvidia/<package>/bin` and `lib` (13.x: `nvidia/cu13`).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from pyptx._frozen import frozen
from pyptx.errors import MissingToolError, ToolError

__all__ = ["TOOLS", "Tool", "find", "installed_elsewhere", "remember_version", "version_of"]


@frozen
class Tool:
    """One of NVIDIA's programs or libraries.

    Attributes:
        name: NVIDIA's name.
        package: the package on PyPI that contains it.
        variable: environment variable with the path of another copy.
        patterns: its locations in a folder of the `nvidia` package.
        purpose: its purpose in pyptx, as a predicate: "assembles PTX".
        optional: True if pyptx does not install it: the extra `tools` does.
    """

    name: str
    package: str
    variable: str
    patterns: tuple[str, ...]
    purpose: str
    optional: bool = False

    @property
    def is_library(self) -> bool:
        """True for a library, False for a program."""
        return self.name == "nvJitLink"

    @property
    def installation(self) -> str:
        """The command that installs it."""
        return "pip install 'pyptx-workbench[tools]'" if self.optional else f"pip install {self.package}"


def _program(name: str, package: str, purpose: str, *, optional: bool = False) -> Tool:
    return Tool(name, package, f"PYPTX_{name.upper()}", (f"bin/{name}", f"bin/{name}.exe"), purpose, optional)


TOOLS = {
    tool.name: tool
    for tool in (
        _program("ptxas", "nvidia-cuda-nvcc", "assembles PTX"),
        _program("nvlink", "nvidia-cuda-nvcc", "links relocatable machine code"),
        _program("nvdisasm", "nvidia-cuda-nvdisasm", "prints machine code"),
        _program("cuobjdump", "nvidia-cuda-cuobjdump", "extracts PTX and cubins from fat binaries", optional=True),
        Tool(
            "nvJitLink",
            "nvidia-nvjitlink",
            "PYPTX_NVJITLINK",
            ("lib/libnvJitLink.so.*", "bin/nvJitLink_*.dll", "bin/*/nvJitLink_*.dll"),
            "checks PTX without a subprocess",
            optional=True,
        ),
    )
}


def find(name: str) -> Path:
    """Return the path of a tool.

    Args:
        name: "ptxas" | "nvlink" | "nvdisasm" | "cuobjdump" | "nvJitLink".
    Raises:
        MissingToolError: the tool is not installed, or its variable does not name a file.
    """
    tool = TOOLS[name]
    if given := os.environ.get(tool.variable):
        path = Path(given).expanduser()
        if not path.is_file():
            raise MissingToolError(
                f"{tool.variable}={given} does not name a file",
                hint=f"set it to the path of {name} from a CUDA toolkit, or unset it to use the one from "
                f"`{tool.installation}`",
            )
        return path
    path = _installed(name)
    if path is None:
        elsewhere = None if tool.is_library else next(_elsewhere(name), None)
        raise MissingToolError(
            f"{name} from the CUDA toolkit was not found; it {tool.purpose}",
            hint=f"{tool.installation}, or set {tool.variable} to the path of {name} of an installed toolkit"
            + (f", such as {tool.variable}={elsewhere}" if elsewhere else ""),
        )
    return path


@lru_cache
def _installed(name: str) -> Path | None:
    wheels = max(_candidates(TOOLS[name]), key=_release, default=None)
    return wheels or next(_in_conda(TOOLS[name]), None)


def _candidates(tool: Tool) -> Iterator[Path]:
    from importlib.util import find_spec

    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for pattern in tool.patterns:
            yield from Path(folder).glob("*/" + pattern)


def _in_conda(tool: Tool) -> Iterator[Path]:
    """Yield paths of a tool among the packages of the conda environment of this Python."""
    prefix = Path(sys.prefix)
    if (prefix / "conda-meta").is_dir():
        for folder in (prefix, prefix / "Library"):  # Linux; Windows
            for pattern in tool.patterns:
                yield from folder.glob(pattern)


def _elsewhere(name: str) -> Iterator[str]:
    """Yield paths of a program in installed toolkits: on PATH and at the default location."""
    import shutil

    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    found = shutil.which(name), shutil.which(name, path=os.path.join(home, "bin"))
    yield from dict.fromkeys(filter(None, found))


def installed_elsewhere(name: str) -> list[tuple[str, str]]:
    """Return path and version of a program in each installed toolkit; these are used only on request."""
    found = []
    for path in _elsewhere(name):
        try:
            found.append((path, _version(Path(path), Path(path).stat().st_mtime_ns)))
        except (OSError, ToolError):  # it does not run
            continue
    return found


def _release(path: Path) -> tuple[int, ...]:
    """Return the numbers in the names of folder and file as a sort key: wheels of a newer CUDA take precedence."""
    return tuple(map(int, re.findall(r"\d+", path.parents[1].name + " " + path.name)))


_versions: dict[tuple[Path, int], str] = {}  # by path and modification time


def remember_version(name: str, path: str, modified_ns: int, version: str) -> bool:
    """Accept the version that an earlier process asked a program for; return True if this is the program in use.

    Args:
        path, modified_ns: of the program at that time.
    Raises:
        MissingToolError: the program is not installed.
    """
    found = find(name)
    if str(found) != path or found.stat().st_mtime_ns != modified_ns:
        return False
    _versions[found, modified_ns] = version
    return True


def _version(path: Path, modified_ns: int) -> str:
    """Return the version a program reports ("13.5.37"), cached by modification time."""
    if (path, modified_ns) not in _versions:
        _versions[path, modified_ns] = _ask_version(path)
    return _versions[path, modified_ns]


def _ask_version(path: Path) -> str:
    import subprocess  # imported late to keep `import pyptx` fast

    try:
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolError(f"{path} does not run: {error}") from error
    release = re.search(r"\bV(\d+(?:\.\d+)+)", shown)
    if release is None:
        raise ToolError(f"{path} --version reports no version: {shown.strip()!r}")
    return release[1]


def version_of(name: str) -> str:
    """Return the version of a program, such as "13.5.37"; cached.

    Raises:
        MissingToolError, ToolError: the program is not installed, or does not run.
    """
    path = find(name)
    return _version(path, path.stat().st_mtime_ns)
