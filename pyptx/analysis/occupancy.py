"""Occupancy: resident blocks of a kernel on one SM, and the limiting resources.

Source: the rules of NVIDIA's `cuda_occupancy.h`, which the tests compile and compare with. Shared memory assumes the
largest carve-out and, over 48 KiB, the opt-in attribute.
"""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.errors import ShapeError
from pyptx.isa import targets

__all__ = ["Occupancy", "occupancy"]

WARP = 32


@frozen
class Occupancy:
    """Resident blocks and warps of a kernel on an SM.

    Attributes:
        target: the target, "sm_90a".
        threads: threads per block.
        blocks: resident blocks per SM; 0: the kernel cannot be launched.
        warps: resident warps per SM.
        max_warps: maximum number of warps per SM.
        limits: blocks that each resource alone permits: "registers", "shared memory", "warps", "blocks"; without
            resources that the kernel does not use.
        limiters: the resources that permit no more than `blocks`.
        registers_per_block, shared_bytes_per_block: allocation per block, rounded as by the hardware.
        why: the limit as a sentence.
    """

    target: str
    threads: int
    blocks: int
    warps: int
    max_warps: int
    limits: dict[str, int]
    limiters: tuple[str, ...]
    registers_per_block: int
    shared_bytes_per_block: int
    why: str

    @property
    def limiter(self) -> str:
        """The first of `limiters`."""
        return self.limiters[0]

    @property
    def fraction(self) -> float:
        """Resident warps relative to the maximum, 0..1."""
        return self.warps / self.max_warps

    def __str__(self) -> str:
        return f"{self.fraction:.0%} ({self.warps} of {self.max_warps} warps, {self.blocks} blocks): {self.why}"


def occupancy(
    target: str, *, threads: int, registers: int, shared_bytes: int = 0, dynamic_shared_bytes: int = 0
) -> Occupancy:
    """Return the occupancy of a kernel.

    Args:
        target: "sm_75" .. "sm_121a".
        threads: threads of a block, 1 or more.
        registers: registers per thread (`Resources.registers`).
        shared_bytes: static shared memory per block (`Resources.shared_bytes`).
        dynamic_shared_bytes: dynamic shared memory per block.
    Raises:
        ShapeError: a number out of range.
        ValueError: an unknown target, or one older than sm_70.
    Examples:
        >>> found = occupancy("sm_90a", threads=256, registers=64)
        >>> found.blocks, found.why
        (4, 'limited by registers: 64 a thread, 16384 a block of 65536 on an SM')
    """
    for name, value, least in (
        ("threads", threads, 1),
        ("registers", registers, 0),
        ("shared_bytes", shared_bytes, 0),
        ("dynamic_shared_bytes", dynamic_shared_bytes, 0),
    ):
        if value < least:
            raise ShapeError(f"{name} is {value}; expected at least {least}")
    has = targets.parse(target).limits
    warps = -(-threads // WARP)
    limits: dict[str, int] = {}
    reasons: dict[str, str] = {}

    per_warp = _round_up(registers * WARP, has.regs_unit)
    if registers:
        limits["registers"], reasons["registers"] = _by_registers(has, registers, per_warp, warps)
    shared = _round_up(shared_bytes + dynamic_shared_bytes + has.smem_reserved, has.smem_unit)
    if shared:
        limits["shared memory"], reasons["shared memory"] = _by_shared(has, shared)
    if threads > has.threads_per_cta:
        limits["warps"] = 0
        reasons["warps"] = f"a block of {threads} threads; the limit is {has.threads_per_cta}"
    else:
        limits["warps"] = has.warps_per_sm // warps
        reasons["warps"] = f"{warps} warps a block, {has.warps_per_sm} on an SM"
    limits["blocks"] = has.ctas_per_sm
    reasons["blocks"] = f"{has.ctas_per_sm} blocks on an SM"

    blocks = min(limits.values())
    binding = tuple(name for name, allowed in limits.items() if allowed == blocks)
    why = f"limited by {' and '.join(binding)}: {'; '.join(reasons[name] for name in binding)}"
    return Occupancy(
        target, threads, blocks, blocks * warps, has.warps_per_sm, limits, binding, per_warp * warps, shared, why
    )


def _by_registers(has: targets.Limits, registers: int, per_warp: int, warps: int) -> tuple[int, str]:
    if registers > has.regs_per_thread:
        return 0, f"{registers} a thread; the limit is {has.regs_per_thread}"
    checked = per_warp * _round_up(warps, has.warp_unit)  # checked as if all sub-cores were filled equally
    if checked > has.regs_per_cta:
        return 0, f"{registers} a thread, {checked} for a block of {warps} warps; the limit is {has.regs_per_cta}"
    warps_that_fit = has.regs_per_sm // has.warp_unit // per_warp * has.warp_unit
    return warps_that_fit // warps, f"{registers} a thread, {per_warp * warps} a block of {has.regs_per_sm} on an SM"


def _by_shared(has: targets.Limits, shared: int) -> tuple[int, str]:
    system = f" ({has.smem_reserved} B of them the system's)" if has.smem_reserved else ""
    most = has.smem_per_cta + has.smem_reserved
    if shared > most:
        return 0, f"{shared} B a block{system}; the limit is {most} B"
    return has.smem_per_sm // shared, f"{shared} B a block{system}, {has.smem_per_sm} B on an SM"


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
