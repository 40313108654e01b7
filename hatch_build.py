"""Build hook: compiles the simulator core and the CUDA client library into the wheel, adds the notebooks, sets the wheel's tag.

The core is compiled with `ziglang` from PyPI, so that no machine needs a compiler of its own.
`PYPTX_BUILD_CORE=0` builds a pure-Python wheel instead; the simulator then runs its reference interpreter.
`PYPTX_WHEEL=manylinux_2_17_aarch64` builds the wheel of another platform, one of `WHEELS` in build_core.py.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CORE = Path("pyptx", "sim", "core")
CLIENT = Path("pyptx", "cuda_device")  # libcuda.so.1 of the simulated CUDA device
ZIGLANG = "ziglang>=0.13"
SWITCH = "PYPTX_BUILD_CORE"
PLATFORM = "PYPTX_WHEEL"


class CoreBuildHook(BuildHookInterface):
    """Runs for the wheel and for editable installs; a source distribution carries the C sources as they are."""

    def dependencies(self) -> list[str]:
        if self.target_name != "wheel" or not core_wanted():
            return []
        wheel_platform(load(Path(self.root) / CORE / "build_core.py"), editable=False)  # refused before the download
        return [ZIGLANG]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        root, editable = Path(self.root), version == "editable"
        if not editable:
            build_data["force_include"][str(root / "notebooks")] = "pyptx/notebooks"
        if not core_wanted():
            self.app.display_warning(f"{SWITCH}=0: building pyptx without its simulator core; simulations will be slow")
            return
        self.scratch = tempfile.TemporaryDirectory(prefix="pyptx-core-")
        target = root / CORE if editable else Path(self.scratch.name)
        script = load(root / CORE / "build_core.py")
        platform = wheel_platform(script, editable)
        for library in build(script, platform, target):
            if not editable:
                build_data["force_include"][str(library)] = (CORE / library.relative_to(target)).as_posix()
        clients = load(root / CLIENT / "build_client.py")
        for library in clients.build_libraries(root / CLIENT if editable else target / "client", platform):
            if not editable:
                build_data["force_include"][str(library)] = (CLIENT / "lib" / library.name).as_posix()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if scratch := getattr(self, "scratch", None):
            scratch.cleanup()


def core_wanted() -> bool:
    """Whether the core is to be compiled: yes, unless PYPTX_BUILD_CORE is 0."""
    value = os.environ.get(SWITCH, "1")
    if value not in ("0", "1"):
        raise ValueError(f"{SWITCH}={value!r}; expected 0 (a pure-Python wheel) or 1 (the default)")
    return value == "1"


def wheel_platform(script: ModuleType, editable: bool) -> str:
    """The platform tag of the wheel: that of this machine, unless PYPTX_WHEEL names another.

    Raises:
        RuntimeError: no core can be compiled for it; the message says how to build without one.
    """
    wanted = None if editable else os.environ.get(PLATFORM)
    platform = wanted or script.host_wheel()
    if platform in script.WHEELS:
        return platform
    what = f"{PLATFORM}={wanted!r}" if wanted else f"this machine, {sysconfig.get_platform()}"
    raise RuntimeError(
        f"no simulator core for {what}; expected {', '.join(script.WHEELS)}\n"
        f"{SWITCH}=0 builds pyptx without it; simulations are then slow"
    )


def build(script: ModuleType, platform: str, target: Path) -> list[Path]:
    """Compile the core for a platform into `target`; the libraries' paths.

    Raises:
        RuntimeError: the compiler failed; the message says how to build without it.
    """
    try:
        return list(script.build_core(target, script.WHEELS[platform]))
    except Exception as error:
        raise RuntimeError(
            f"cannot compile the simulator core: {error}\n{SWITCH}=0 builds pyptx without it; simulations are then slow"
        ) from error


def load(path: Path) -> ModuleType:
    """The module at `path`, without importing the package it lies in (its dependencies are not installed here)."""
    spec = importlib.util.spec_from_file_location("pyptx_build_core", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
