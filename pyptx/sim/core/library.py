"""Find, load and test the compiled core."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import util
from pathlib import Path
from types import ModuleType

from pyptx.errors import BackendError

__all__ = ["core", "operations", "problem"]

HERE = Path(__file__).parent
LIBRARIES = HERE  # the folder of the compiled libraries

_P, _U32, _U64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64

# Result and arguments of the functions of the core. The first argument of most is the context.
_FUNCTIONS = {
    "core_op_name": (ctypes.c_char_p, _U32),
    "core_open": (_P, _P),
    "core_reopen": (None, _P, _P),
    "core_bytes": (_U64, _P),
    "core_run": (_U32, _P, _U64),
    "core_close": (None, _P),
    "core_status": (_U32, _P),
    "core_resume": (None, _P),
    "core_fault": (None, _P, _P),
    "core_cluster": (_U32, _P, _U32, _P),
    "core_group": (_U32, _P, _U32, _U32, _U32, _P),
    "core_host_call": (None, _P, _P),
    "core_lane_memory": (_P, _P, _U32, _U64, _U64),
    "core_mark_uninitialized": (None, _P, _U64),
    "core_unwritten": (_U64, _P, _U64, _P),
    "core_finding": (_U32, _P, _U32, _P),
    "core_is_race_free": (_U32, _P),
    "core_debug_cta": (_U32, _P, _U32, _P),
    "core_debug_warp": (_U32, _P, _U32, _U32, _P),
    "core_debug_group": (_U32, _P, _U32, _U32, _U32, _P),
    "core_debug_barrier": (_U32, _P, _U32, _U32, _P),
    "core_debug_async": (_U32, _P, _U32, _U32, _P),
    "core_debug_watch": (None, _P, _U64),
    "core_debug_checkpoint": (_P, _P),
    "core_debug_bytes": (_U64, _P),
    "core_debug_restore": (_U32, _P, _P),
    "core_debug_discard": (None, _P),
}


@cache
def _build() -> ModuleType:
    """The build script, loaded by path as the build hook does."""
    spec = util.spec_from_file_location("pyptx_build_core", HERE / "build_core.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _load() -> tuple[ctypes.CDLL | None, str | None]:
    build = _build()
    targets = build.host_targets()
    if not targets:
        return None, "no build of the core runs on this machine"
    paths = {target: LIBRARIES / build.library_name(target) for target in targets}
    found = {target: path for target, path in paths.items() if path.exists()}
    if not found:
        return None, (
            f"the compiled core is missing from {LIBRARIES}; wheels of pyptx contain it; in a source tree run "
            f"python {HERE / 'build_core.py'}"
        )
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
        return None, (
            f"it was built from different sources ({built[:8]}, here {sources[:8]}); run python {HERE / 'build_core.py'}"
        )
    wrong = library.core_self_test()
    if wrong:
        return None, f"its self-test failed (check {wrong}): floating-point arithmetic is not exact here"
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library, None


def _cpu_is_v3(path: Path) -> bool:
    """Ask the v2 build beside it; without one, the operating system."""
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
    """The reason the core cannot be used; None if it can."""
    return _load()[1]


def core() -> ctypes.CDLL:
    """Return the loaded library.

    Raises:
        BackendError: the core is unavailable; the message is that of `problem`.
    """
    library, reason = _load()
    if library is None:
        raise BackendError(reason or "the compiled core is missing")
    return library


@cache
def operations() -> dict[str, int]:
    """Code of each operation of the core by name."""
    library, names = core(), {}
    while (name := library.core_op_name(len(names))) is not None:
        names[name.decode()] = len(names)
    return names
