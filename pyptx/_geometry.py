"""Sizes of a launch: reading them, and checking them against what hardware and kernel allow."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from pyptx.errors import LaunchError
from pyptx.ir.nodes import Function

__all__ = ["Dim3", "byte_count", "check_geometry", "dim3"]

Dim3 = tuple[int, int, int]

MAX_THREADS, MAX_BLOCK_Z = 1024, 64
MAX_GRID = (2**31 - 1, 65535, 65535)


def dim3(value: int | Sequence[int] | None, what: str) -> Dim3:
    """Three launch dimensions from an int or one to three of them; missing ones are 1.

    Raises:
        LaunchError: not ints, not positive, or more than three.
    """
    if value is None:
        return (1, 1, 1)
    try:
        items = (value,) if hasattr(value, "__index__") else tuple(value)
    except TypeError:
        items = ()                                              # a float, say
    if not 1 <= len(items) <= 3 or not all(hasattr(i, "__index__") for i in items):
        raise LaunchError(f"{what}={value!r}; expected one to three ints")
    sizes = tuple(int(i) for i in items) + (1,) * (3 - len(items))
    if min(sizes) < 1:
        raise LaunchError(f"{what}={value!r}; every dimension must be at least 1")
    return sizes  # type: ignore[return-value]


def byte_count(smem_bytes: int, entry: str) -> int:
    """Bytes of dynamic shared memory that a launch was told.

    Raises:
        LaunchError: not an int, or negative; names the entry.
    """
    if isinstance(smem_bytes, bool) or not hasattr(smem_bytes, "__index__") or smem_bytes < 0:
        raise LaunchError(f"{entry}: smem_bytes={smem_bytes!r}; expected a number of bytes, 0 or more")
    return int(smem_bytes)


def check_geometry(entry: Function, grid: Dim3, block: Dim3, cluster: Dim3) -> None:
    """Raise LaunchError where sizes are beyond the hardware's limits or against the entry's own directives.

    Source: CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA, "Performance-Tuning Directives".
    """
    threads = prod(block)
    if threads > MAX_THREADS or block[2] > MAX_BLOCK_Z:
        raise LaunchError(f"{entry.name}: block {block} has {threads} threads; at most {MAX_THREADS}, "
                          f"and at most {MAX_BLOCK_Z} in z")
    if any(size > most for size, most in zip(grid, MAX_GRID, strict=True)):
        raise LaunchError(f"{entry.name}: grid {grid} is beyond {MAX_GRID}")
    uneven = [axis for axis, g, c in zip("xyz", grid, cluster, strict=True) if g % c]
    if uneven:
        raise LaunchError(f"{entry.name}: grid {grid} is no multiple of cluster {cluster} in {uneven[0]}")
    directives = {d.name: [int(v) for v in d.values] for d in entry.directives if d.name in ("reqntid", "maxntid")}
    if "reqntid" in directives and dim3(directives["reqntid"], "reqntid") != block:
        raise LaunchError(f"{entry.name}: block {block}, but the kernel requires .reqntid "
                          f"{dim3(directives['reqntid'], 'reqntid')}")
    if threads > prod(directives.get("maxntid", [threads])):
        raise LaunchError(f"{entry.name}: block {block} has {threads} threads; the kernel allows "
                          f"{prod(directives['maxntid'])} (.maxntid)")
