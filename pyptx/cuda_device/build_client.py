"""Compile libcuda.so.1, the client library of the simulated device, with the `ziglang` package; Linux only.

With it libcudart.so.13 is built (runtime/), which programs of the runtime API load.

Standard library only, loaded by path from the build hook, like pyptx/sim/core/build_core.py.
"""

from __future__ import annotations

import hashlib
import sys
from importlib import util
from pathlib import Path
from typing import Any

__all__ = ["LIBRARY", "build_client", "build_libraries", "host_target", "source_hash"]

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
LIBRARY = Path("lib", "libcuda.so.1")  # in the package; the file name is the one that programs load

# platform tag of a wheel -> the compiler's name; others have no such programs, or need another C library
TARGETS = {"manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17", "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17"}
FLAGS = (
    "-std=gnu11 -O2 -shared -fPIC -fvisibility=hidden -fno-sanitize=all -fno-strict-aliasing -pthread "
    "-Wall -Wno-unused-function -g0 -s -Wl,-soname,libcuda.so.1"
).split()


def host_target() -> str | None:
    """Return the compiler's name of this machine; None if the library cannot run here."""
    return TARGETS.get(_build_core().host_wheel() or "")


def _build_core() -> Any:
    return _load("../sim/core/build_core")


def source_hash() -> str:
    """Return the hash of everything that the library is made of, compiled into it to detect a stale one."""
    digest = hashlib.sha256()
    for path in sorted([*SOURCES.glob("*.[ch]"), *(HERE / f"{name}.py" for name in ("stubs", "error_codes"))]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(_load("entry_points").TABLE.read_bytes())
    return digest.hexdigest()[:16]


def build_client(out_dir: Path, target: str) -> Path:
    """Compile the library into `out_dir`/lib and return its path.

    Args:
        target: the compiler's name of the machine, of `TARGETS`.
    Raises:
        RuntimeError: the `ziglang` package is missing or the compilation failed; the message has the compiler's output.
    """
    import tempfile

    output = out_dir / LIBRARY
    output.parent.mkdir(parents=True, exist_ok=True)
    table, codes, stubs = _load("entry_points"), _load("error_codes"), _load("stubs")
    with tempfile.TemporaryDirectory(prefix="pyptx-stubs-") as generated:
        text = stubs.c_source(table.entry_points(), table.SCALARS, codes.CODES)
        Path(generated, "stubs.inc").write_text(text, encoding="utf-8")
        identities = [
            f'-DTABLE_IDENTITY="{table.identity()}"',
            f'-DSOURCE_HASH="{source_hash()}"',
            f"-DDRIVER_VERSION={table.DRIVER_VERSION}",
        ]
        arguments = ["-target", target, *FLAGS, *identities, f"-I{generated}", f"-I{SOURCES}"]
        arguments += [str(SOURCES / "libcuda.c"), "-o", str(output)]
        _build_core().zig_cc(arguments, "libcuda.so.1 of the simulated device")
    return output


def build_libraries(out_dir: Path, platform: str | None = None) -> list[Path]:
    """Compile libcuda.so.1 and libcudart.so.13 into `out_dir`/lib; return their paths, none where they cannot run.

    Args:
        platform: platform tag of a wheel; default: that of this machine.
    Raises:
        RuntimeError: as `build_client`.
    """
    target = host_target() if platform is None else TARGETS.get(platform)
    if target is None:
        return []
    client = build_client(out_dir, target)
    return [client, _load("runtime/build_runtime").build_runtime(out_dir, target, client, _build_core().zig_cc)]


def _load(name: str) -> Any:
    """Return a module of this folder, without importing the package it lies in."""
    spec = util.spec_from_file_location(f"pyptx_client_{name.replace('/', '_')}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    print(*build_libraries(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE), sep="\n")
