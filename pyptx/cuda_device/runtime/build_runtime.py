"""Compile libcudart.so.13, the CUDA runtime over the driver API, with the `ziglang` package; Linux only.

Standard library only, loaded by path from the build hook, like `build_client.py`, whose library it is linked with.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import util
from pathlib import Path
from typing import Any

__all__ = ["LIBRARY", "build_runtime"]

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
LIBRARY = Path("lib", "libcudart.so.13")  # in the package, beside libcuda.so.1, which it finds there
FLAGS = (
    "-std=gnu11 -O2 -shared -fPIC -fvisibility=hidden -fno-sanitize=all -fno-strict-aliasing -pthread -Wall -Wextra "
    "-Wno-unused-function -g0 -s -Wl,-soname,libcudart.so.13 -Wl,-z,defs"
).split()
VERSIONS = "libcudart.so.13 { global: cuda*; __cuda*; local: *; };\n"  # programs ask for this version of each symbol


def build_runtime(out_dir: Path, target: str, driver: Path, compile_c: Callable[[Sequence[str], str], None]) -> Path:
    """Compile the library into `out_dir`/lib and return its path.

    Args:
        target: the compiler's name of the machine, from `build_client.host_target`.
        driver: libcuda.so.1 to link with.
        compile_c: `zig_cc` of build_core.py.
    Raises:
        RuntimeError: the `ziglang` package is missing or the compilation failed; the message has the compiler's output.
    """
    output = out_dir / LIBRARY
    output.parent.mkdir(parents=True, exist_ok=True)
    table, errors, stubs = _load("functions"), _load("error_names"), _load("stubs")
    with tempfile.TemporaryDirectory(prefix="pyptx-runtime-") as name:
        generated = Path(name)
        (generated / "stubs.inc").write_text(stubs.c_source(table.runtime_functions(), errors.ERRORS), encoding="utf-8")
        (generated / "versions").write_text(VERSIONS, encoding="utf-8")
        arguments = ["-target", target, *FLAGS, f"-I{generated}", f"-I{SOURCES}"]
        arguments += [f"-Wl,--version-script={generated / 'versions'}", "-Wl,-rpath,$ORIGIN"]
        arguments += [str(SOURCES / "libcudart.c"), str(driver), "-o", str(output)]
        compile_c(arguments, "libcudart.so.13 of the simulated device")
    return output


def _load(name: str) -> Any:
    """Return a module of this folder, without importing the package it lies in."""
    spec = util.spec_from_file_location(f"pyptx_runtime_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
