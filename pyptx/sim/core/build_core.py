"""Compile the simulator's C core with the `ziglang` package; standard library only, loaded by path from the build hook.

There is one shared library for each target: x86-64 in two levels (v2 runs everywhere, v3 has AVX2 and FMA) and 64-bit
Arm, for each operating system and C library. Each machine can compile all of them: no system compiler is used. The header
abi.h is generated from pyptx/sim/abi.py and abi_structures.py.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Sequence
from functools import cache
from importlib import util
from pathlib import Path
from typing import Any

__all__ = [
    "SOURCES",
    "TARGETS",
    "WHEELS",
    "abi_header",
    "build_core",
    "host_targets",
    "host_wheel",
    "identity",
    "library_name",
    "sources",
    "zig_cc",
]

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"

# name in the file -> (zig target, zig cpu, suffix)
TARGETS = {
    "linux-x86_64-v3": ("x86_64-linux-gnu.2.17", "x86_64_v3", ".so"),
    "linux-x86_64-v2": ("x86_64-linux-gnu.2.17", "x86_64_v2", ".so"),
    "linux-aarch64": ("aarch64-linux-gnu.2.17", "generic", ".so"),
    "musl-x86_64-v3": ("x86_64-linux-musl", "x86_64_v3", ".so"),
    "musl-x86_64-v2": ("x86_64-linux-musl", "x86_64_v2", ".so"),
    "musl-aarch64": ("aarch64-linux-musl", "generic", ".so"),
    "macos-arm64": ("aarch64-macos.11.0", "apple_m1", ".dylib"),
    "macos-x86_64-v3": ("x86_64-macos.11.0", "x86_64_v3", ".dylib"),
    "macos-x86_64-v2": ("x86_64-macos.11.0", "x86_64_v2", ".dylib"),
    "windows-x86_64-v3": ("x86_64-windows-gnu", "x86_64_v3", ".dll"),
    "windows-x86_64-v2": ("x86_64-windows-gnu", "x86_64_v2", ".dll"),
}

# platform tag of a wheel -> the targets in it, best first
WHEELS = {
    "manylinux_2_17_x86_64": ("linux-x86_64-v3", "linux-x86_64-v2"),
    "manylinux_2_17_aarch64": ("linux-aarch64",),
    "musllinux_1_2_x86_64": ("musl-x86_64-v3", "musl-x86_64-v2"),
    "musllinux_1_2_aarch64": ("musl-aarch64",),
    "macosx_11_0_arm64": ("macos-arm64",),
    "macosx_11_0_x86_64": ("macos-x86_64-v3", "macos-x86_64-v2"),
    "win_amd64": ("windows-x86_64-v3", "windows-x86_64-v2"),
}

FLAGS = [
    "-std=gnu11",
    "-O3",
    "-shared",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fno-sanitize=all",
    "-fomit-frame-pointer",
    "-Wall",
    "-Wno-psabi",
    "-g0",
    "-s",
]
X86_FLAGS = ["-mno-vzeroupper"]  # core_run does it once, at its end


@cache
def abi_header() -> str:
    """The header abi.h, generated from pyptx/sim/abi.py and abi_structures.py."""
    lines = [
        "// Generated from abi.py and abi_structures.py when the core is built.",
        "#ifndef PYPTX_ABI_H",
        "#define PYPTX_ABI_H",
    ]
    lines += [*_load("abi").c_constants(), *_load("abi_structures").c_structures(), "#endif", ""]
    return "\n".join(lines)


def _load(name: str) -> Any:
    spec = util.spec_from_file_location(f"pyptx_{name}", HERE.parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def host_wheel() -> str | None:
    """Return the platform tag of wheels for this machine; None if there are none."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    if platform.system() == "Linux":
        tag = f"{'manylinux_2_17' if _has_glibc() else 'musllinux_1_2'}_{machine}"
    elif platform.system() == "Darwin":
        tag = f"macosx_11_0_{'arm64' if machine == 'aarch64' else machine}"
    else:
        tag = "win_amd64" if (platform.system(), machine) == ("Windows", "x86_64") else ""
    return tag if tag in WHEELS else None


def _has_glibc() -> bool:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (OSError, ValueError):  # musl
        return False


def host_targets() -> list[str]:
    """Targets that run on this machine, best first; empty if there is none."""
    return list(WHEELS.get(host_wheel() or "", ()))


def identity() -> str:
    """Hash of the sources, compiled into the library to detect a stale one."""
    digest = hashlib.sha256(abi_header().encode())
    for path in sorted([*SOURCES.rglob("*.c"), *SOURCES.rglob("*.h")]):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def library_name(target: str) -> str:
    """File name of the library for a target."""
    return f"pyptx_core-{target}{TARGETS[target][2]}"


def sources() -> list[Path]:
    """The C files of the core."""
    return sorted(SOURCES.rglob("*.c"))


def build_core(out_dir: Path, targets: Sequence[str] | None = None) -> list[Path]:
    """Compile the core for each target (default: those of this machine) into `out_dir` and return the files written.

    Raises:
        RuntimeError: the `ziglang` package is missing or a compilation failed; the message holds the compiler's output.
    """
    import tempfile  # late: the simulator needs only the names in this file

    out_dir.mkdir(parents=True, exist_ok=True)
    built = []
    with tempfile.TemporaryDirectory(prefix="pyptx-abi-") as generated:
        Path(generated, "abi.h").write_text(abi_header(), encoding="utf-8")
        for target in host_targets() if targets is None else targets:
            triple, cpu, _ = TARGETS[target]
            output = out_dir / library_name(target)
            arguments = [
                "-target",
                triple,
                f"-mcpu={cpu}",
                *FLAGS,
                *(X86_FLAGS if "x86_64" in triple else ()),
                # by default the path of the output, so that no two builds would be equal
                *([f"-Wl,-install_name,@rpath/{output.name}"] if "macos" in triple else ()),
                f'-DCORE_IDENTITY="{identity()}"',
                f"-I{generated}",
                f"-I{SOURCES}",
                *map(str, sources()),
                "-lm",
                "-o",
                str(output),
            ]
            zig_cc(arguments, f"the simulator core for {target}")
            built.append(output)
    return built


def zig_cc(arguments: Sequence[str], what: str) -> None:
    """Run the C compiler of the `ziglang` package.

    Args:
        what: what is compiled, for the message.
    Raises:
        RuntimeError: `ziglang` is missing or the compilation failed; the message holds the compiler's output.
    """
    import subprocess

    done = subprocess.run([sys.executable, "-m", "ziglang", "cc", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{what} did not compile:\n{done.stderr.strip()}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--wheels"]:
        print(*WHEELS, sep="\n")
        sys.exit()
    for path in build_core(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE, sys.argv[2:] or None):
        print(path)
