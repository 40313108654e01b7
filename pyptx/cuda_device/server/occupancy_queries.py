"""Occupancy of kernels."""

from __future__ import annotations

import struct
from math import prod

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.kernel_attributes import NON_PORTABLE, dynamic_limit, resident_ctas
from pyptx.cuda_device.server.launches import decode_attributes
from pyptx.cuda_device.server.modules import Kernel
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import sms_of

__all__: list[str] = []

_CONFIG = struct.Struct("<7I4x2QI4x")
_ATTRIBUTE_BYTES, _NO_CACHING_OVERRIDE = 72, 1


@handles("cuOccupancyMaxActiveBlocksPerMultiprocessor")
def active_blocks(session: Session, handle: int, threads: int, dynamic: int) -> int:
    if threads <= 0:
        raise DriverError("INVALID_VALUE", f"occupancy of CTAs of {threads} threads")
    return resident_ctas(session.get(handle, Kernel), threads, dynamic)


@handles("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
def active_blocks_with_flags(session: Session, handle: int, threads: int, dynamic: int, flags: int) -> int:
    if flags & ~_NO_CACHING_OVERRIDE:
        raise DriverError("INVALID_VALUE", f"occupancy: unknown flags 0x{flags:x}")
    return active_blocks(session, handle, threads, dynamic)


@handles("cuOccupancyAvailableDynamicSMemPerBlock")
def available_shared(session: Session, handle: int, blocks: int, threads: int) -> int:
    kernel, limits = session.get(handle, Kernel), session.gpu.limits
    if blocks <= 0 or threads <= 0 or blocks > resident_ctas(kernel, threads, 0):
        raise DriverError("INVALID_VALUE", f"{kernel.name}: an SM does not hold {blocks} CTAs of {threads} threads")
    per_block = limits.smem_per_sm // max(1, blocks) // limits.smem_unit * limits.smem_unit
    room = per_block - limits.smem_reserved - kernel.program.symbols.shared_bytes
    return max(0, min(room, dynamic_limit(kernel)))


def _config(session: Session, data: bytes) -> tuple[int, int, tuple[int, int, int], int]:
    """Return threads, dynamic shared memory, cluster and SMs of a CUlaunchConfig."""
    *sizes, dynamic, stream, attributes, count = _CONFIG.unpack(data)
    cluster = (1, 1, 1)
    if count:
        cluster, _, _ = decode_attributes(session, session.read(attributes, _ATTRIBUTE_BYTES * count))
    return prod(sizes[3:6]), dynamic, cluster, sms_of(session, stream)


@handles("cuOccupancyMaxPotentialClusterSize")
def potential_cluster(session: Session, handle: int, data: bytes) -> int:
    kernel = session.get(handle, Kernel)
    threads, dynamic, _, _ = _config(session, data)
    if not resident_ctas(kernel, threads, dynamic):
        raise DriverError("INVALID_VALUE", f"{kernel.name}: a CTA of this size does not fit an SM")
    return 16 if kernel.settings.get(NON_PORTABLE) else 8


@handles("cuOccupancyMaxActiveClusters")
def active_clusters(session: Session, handle: int, data: bytes) -> int:
    kernel = session.get(handle, Kernel)
    threads, dynamic, cluster, sms = _config(session, data)
    return resident_ctas(kernel, threads, dynamic) * sms // prod(cluster)
