"""Environment variables that pyptx reads: the one list that the documentation, `pyptx doctor` and a test share.

Each variable is read where it is used. `tests/test_environment_variables.py` compares this list with the sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from pyptx._frozen import frozen

__all__ = ["VARIABLES", "Variable", "unknown_variables"]


@frozen
class Variable:
    """An environment variable.

    Attributes:
        name: its name.
        values: its values, for people.
        default: the behavior without it.
        effect: its effect.
        group: "launches", "cache", "tools", "programs" or "build".
    """

    name: str
    values: str
    default: str
    effect: str
    group: str


def _tool(name: str, kind: str = "program") -> Variable:
    effect = f"use another {name} than that of the wheel"
    return Variable(f"PYPTX_{name.upper()}", f"path of a {kind}", "the installed wheel", effect, "tools")


VARIABLES = (
    Variable(
        "PYPTX_BACKEND",
        "`sim`, `cuda`, `ssh://user@host`, `dask://scheduler:8786`",
        "the device of the arrays",
        "select the backend of all launches, as `pyptx.use` does; read once, on import",
        "launches",
    ),
    Variable(
        "PYPTX_CHECK",
        "`1`",
        "faults are reported by a later call",
        "synchronize after each launch on a GPU, so that a fault names its kernel; read once, on import",
        "launches",
    ),
    Variable(
        "PYPTX_SSH",
        "a command, such as `ssh -F config`",
        "`ssh`",
        "connect to other machines with this command",
        "launches",
    ),
    Variable(
        "PYPTX_TRITON",
        "a target, such as `sm_90a`",
        "Triton is left alone",
        "run all Triton kernels of the process on the simulator",
        "launches",
    ),
    Variable(
        "PYPTX_CACHE_DIR",
        "a folder",
        "the user's cache folder",
        "keep assembled kernels, recorded versions and results of sweeps here",
        "cache",
    ),
    Variable(
        "PYPTX_LEDGER",
        "a file, such as `perf/ledger.sqlite`",
        "`ledger.sqlite` in the cache folder",
        "keep measured times here",
        "cache",
    ),
    Variable(
        "PYPTX_TRACE_CACHE",
        "`0`, `1`",
        "`1`",
        "with `0`, trace every kernel in each process, as for kernels whose Python is not deterministic",
        "cache",
    ),
    Variable(
        "PYPTX_CACHE_BYTES",
        "a size: `500M`, `2G`",
        "1 GiB",
        "limit the size of the cache; the entries unused for longest are deleted first",
        "cache",
    ),
    _tool("ptxas"),
    _tool("nvlink"),
    _tool("nvdisasm"),
    _tool("cuobjdump"),
    _tool("nvJitLink", "library"),
    Variable(
        "PYPTX_NCU",
        "path of a program",
        "`ncu` on `PATH`, or of an installed CUDA toolkit",
        "profile with this `ncu`, and read reports with it",
        "tools",
    ),
    Variable(
        "PYPTX_DEVICE_SOCKET",
        "a path",
        "set by `pyptx exec` and `pyptx.device`",
        "connect a program's CUDA driver to the simulated device",
        "programs",
    ),
    Variable(
        "PYPTX_DEVICE_GPU",
        "a GPU, such as `h200`",
        "set by `pyptx exec` and `pyptx.device`",
        "name the simulated GPU of the program",
        "programs",
    ),
    Variable(
        "PYPTX_CALL_SITES",
        "`1`",
        "set by `pyptx exec --check`",
        "send the return address of each driver call to the simulated device, which reports its source line",
        "programs",
    ),
    Variable(
        "PYPTX_BUILD_CORE",
        "`0`, `1`",
        "`1`",
        "with `0`, build the package without the simulator core; simulations are then about a thousand times slower",
        "build",
    ),
    Variable(
        "PYPTX_WHEEL",
        "a platform tag, such as `manylinux_2_17_aarch64`",
        "this machine",
        "build a wheel for another platform",
        "build",
    ),
)


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables of an environment that start with PYPTX_ but are not known, each with the nearest known name."""
    known = [variable.name for variable in VARIABLES]
    unknown = sorted(name for name in environment if name.startswith("PYPTX_") and name not in known)
    return {name: next(iter(get_close_matches(name, known, 1)), None) for name in unknown}
