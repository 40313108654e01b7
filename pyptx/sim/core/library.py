"""Finds, loads and tests the compiled core; says why when there is none."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import util
from pathlib import Path

__all__ = ["core", "operations", "problem"]

HERE = Path(__file__).parent


@cache
def _build():
    """The build helper, loaded by path as the build hook does."""
    spec = util.spec_from_file_location("pyptx_build_core", HERE / "build_core.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _load() -> tuple[ctypes.CDLL | None, str | None]:
    build = _build()
    targets = build.host_targets()
    if not targets:
        return None, "there is no build of the core for this machine"
    paths = {target: HERE / build.library_name(target) for target in targets}
    found = {target: path for target, path in paths.items() if path.exists()}
    if not found:
        return None, (f"the compiled core is missing from {HERE}; a wheel of pyptx has it, in a source tree run "
                      f"python {HERE / 'build_core.py'}")
    reasons = []
    for target, path in found.items():
        library, reason = _open(path, target)
        if library is not None:
            return library, None
        reasons.append(f"{path.name}: {reason}")
    return None, "; ".join(reasons)


def _open(path: Path, target: str) -> tuple[ctypes.CDLL | None, str | None]:
    if target.endswith("-v3") and not _cpu_is_v3(path):
        return None, "this processor has no AVX2 and FMA"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        return None, str(error)
    library.core_identity.restype = ctypes.c_char_p
    built = library.core_identity().decode()
    sources = _build().identity()
    if built != sources:
        return None, (f"it was built from other sources ({built[:8]}, here {sources[:8]}); run python "
                      f"{HERE / 'build_core.py'}")
    wrong = library.core_self_test()
    if wrong:
        return None, f"its self-test failed (check {wrong}): floating-point arithmetic is not exact here"
    library.core_open.restype = ctypes.c_void_p
    library.core_open.argtypes = [ctypes.c_void_p]
    library.core_run.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    library.core_run.restype = ctypes.c_uint32
    library.core_close.argtypes = [ctypes.c_void_p]
    library.core_close.restype = None
    library.core_fault.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.core_fault.restype = None
    library.core_group.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p]
    library.core_group.restype = ctypes.c_uint32
    library.core_cluster.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
    library.core_cluster.restype = ctypes.c_uint32
    library.core_host_call.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.core_host_call.restype = ctypes.c_void_p
    library.core_lane_memory.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64]
    library.core_lane_memory.restype = ctypes.c_void_p
    for name in ("cta", "warp", "group", "barrier", "async"):
        look = getattr(library, f"core_debug_{name}")
        look.restype = ctypes.c_uint32
        look.argtypes = [ctypes.c_void_p, *[ctypes.c_uint32] * {"cta": 1, "group": 3}.get(name, 2), ctypes.c_void_p]
    library.core_debug_spot.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    library.core_debug_spot.restype = None
    library.core_debug_keep.argtypes = [ctypes.c_void_p]
    library.core_debug_keep.restype = ctypes.c_void_p
    library.core_debug_bytes.argtypes = [ctypes.c_void_p]
    library.core_debug_bytes.restype = ctypes.c_uint64
    library.core_debug_restore.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.core_debug_restore.restype = ctypes.c_uint32
    library.core_debug_forget.argtypes = [ctypes.c_void_p]
    library.core_debug_forget.restype = None
    library.core_status.argtypes = [ctypes.c_void_p]
    library.core_status.restype = ctypes.c_uint32
    library.core_found.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
    library.core_found.restype = ctypes.c_uint32
    library.core_watch_fresh.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    library.core_unwritten.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
    library.core_unwritten.restype = ctypes.c_uint64
    library.core_resume.argtypes = [ctypes.c_void_p]
    library.core_resume.restype = None
    library.core_op_name.argtypes = [ctypes.c_uint32]
    library.core_op_name.restype = ctypes.c_char_p
    return library, None


def _cpu_is_v3(path: Path) -> bool:
    """Asked of the plain build beside it; without one, of the operating system."""
    plain = path.with_name(path.name.replace("-v3", "-v2"))
    if plain.exists():
        try:
            return bool(ctypes.CDLL(str(plain)).core_cpu_is_v3())
        except OSError:
            return False
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return all(f" {flag}" in flags for flag in ("avx2", "fma", "bmi2"))


def problem() -> str | None:
    """Why the core cannot be used; None when it can."""
    return _load()[1]


def core() -> ctypes.CDLL:
    """The loaded library.

    Raises:
        RuntimeError: there is none; `problem` says why.
    """
    library, reason = _load()
    if library is None:
        raise RuntimeError(reason)
    return library


@cache
def operations() -> dict[str, int]:
    """Name of each operation of the core -> its code."""
    library, names = core(), {}
    while (name := library.core_op_name(len(names))) is not None:
        names[name.decode()] = len(names)
    return names
