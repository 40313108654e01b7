"""Resources of a device, CUdevResource, and their division: SMs, of which a green context has some, and work queues.

A resource of SMs has a bit for each SM, in the padding of the structure, so that parts are disjoint. Any SMs count as
scheduled together: how a GPU's SMs are grouped into processing clusters is not modeled.
Source: CUDA Driver API, "Green Contexts".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyptx.cuda_device.server.errors import DriverError

__all__ = [
    "CONFIG",
    "QUEUE",
    "RESOURCE_BYTES",
    "SM",
    "GroupRequest",
    "QueueConfig",
    "Queues",
    "Resource",
    "Sms",
    "all_sms",
    "pack",
    "split",
    "split_by_count",
    "unpack",
]

SM, CONFIG, QUEUE = 1, 1000, 10000  # CUdevResourceType
RESOURCE_BYTES = 144
_HEADER, _SM, _CONFIG, _QUEUE = struct.Struct("<i4xQI4x32s"), struct.Struct("<5I"), struct.Struct("<iIi"), "<Q"
_UNION = 96  # offset of the members of the types
_IGNORE_COSCHEDULING, _LARGEST_CLUSTER = 1, 2  # CUdevSmResourceSplitByCount_flags
_BACKFILL = 1  # CUdevSmResourceGroup_flags
_TPC = 2  # SMs that are always together
_CLUSTER_ALIGNMENT, _MOST_COSCHEDULED, _MOST_CTAS = 8, 32, 16  # from compute capability 9.0 on
_SMALLEST_OF_8 = 4  # smallest part of a GPU of compute capability 8.x


@dataclass(frozen=True)
class Sms:
    """Some SMs.

    Attributes:
        mask: a bit for each SM.
        smallest: SMs of the smallest part.
        alignment: SMs that are scheduled together; 1 to divide no further.
        split: number of the division that made it; 0 for the SMs of a device or a context.
        is_remainder: True for what a division left.
    """

    mask: int
    smallest: int
    alignment: int
    split: int = 0
    is_remainder: bool = False
    flags: int = 0

    @property
    def count(self) -> int:
        return self.mask.bit_count()

    def take(self, count: int) -> int:
        """Return a mask of the first SMs."""
        found, left = 0, self.mask
        for _ in range(count):
            lowest = left & -left
            found, left = found | lowest, left ^ lowest
        return found


@dataclass(frozen=True)
class QueueConfig:
    """Configuration of work queues: how many streams run at a time, and whom they are shared with."""

    limit: int
    scope: int = 0


@dataclass(frozen=True)
class Queues:
    """The work queues of a context."""

    context: int


@dataclass(frozen=True)
class GroupRequest:
    """A group of `cuDevSmResourceSplit`: CU_DEV_SM_RESOURCE_GROUP_PARAMS; 0 for the default."""

    count: int
    coscheduled: int
    preferred: int
    flags: int


Resource = Sms | QueueConfig | Queues


def all_sms(count: int, capability: int) -> Sms:
    """Return the SMs of a device, of a compute capability such as 90."""
    if capability >= 90:
        return Sms((1 << count) - 1, _CLUSTER_ALIGNMENT, _CLUSTER_ALIGNMENT)
    return Sms((1 << count) - 1, _SMALLEST_OF_8 if capability >= 80 else _TPC, _TPC)


# as structures


def pack(resource: Resource | None) -> bytes:
    """Return the CUdevResource of a resource; None is CU_DEV_RESOURCE_TYPE_INVALID."""
    data = bytearray(RESOURCE_BYTES)
    match resource:
        case Sms(mask, smallest, alignment, number, is_remainder, flags):
            _HEADER.pack_into(data, 0, SM, number, is_remainder, mask.to_bytes(32, "little"))
            _SM.pack_into(data, _UNION, resource.count, smallest, alignment, flags, 0)
        case QueueConfig(limit, scope):
            _HEADER.pack_into(data, 0, CONFIG, 0, 0, b"")
            _CONFIG.pack_into(data, _UNION, 0, limit, scope)
        case Queues(context):
            _HEADER.pack_into(data, 0, QUEUE, 0, 0, b"")
            struct.pack_into(_QUEUE, data, _UNION, context)
    return bytes(data)


def unpack(data: bytes) -> Resource:
    """Return the resource of a CUdevResource.

    Raises:
        DriverError: it is none that a call returned.
    """
    kind, number, is_remainder, mask = _HEADER.unpack_from(data)
    if kind == SM:
        count, smallest, alignment, flags, _ = _SM.unpack_from(data, _UNION)
        found = Sms(int.from_bytes(mask, "little"), smallest, alignment, number, bool(is_remainder), flags)
        if not count or found.count != count:
            raise DriverError(
                "INVALID_VALUE",
                f"a resource of {count} SMs was written by the program\n"
                "hint: resources come from cuDeviceGetDevResource, cuCtxGetDevResource and cuDevSmResourceSplit",
            )
        return found
    if kind == CONFIG:
        device, limit, scope = _CONFIG.unpack_from(data, _UNION)
        if device or scope not in (0, 1):
            raise DriverError("INVALID_VALUE", f"work queues of device {device} with sharing scope {scope}")
        return QueueConfig(limit, scope)
    if kind == QUEUE:
        return Queues(struct.unpack_from(_QUEUE, data, _UNION)[0])
    raise DriverError("INVALID_RESOURCE_TYPE", f"resource type {kind} is unknown, or the resource is invalid")


# division


def split_by_count(whole: Sms, groups: int | None, flags: int, least: int, number: int) -> tuple[list[Sms], Sms | None]:
    """Divide SMs into equal groups: cuDevSmResourceSplitByCount.

    Args:
        groups: most groups; None for as many as there are.
        least: SMs that a group has at least; rounded up to the alignment.
        number: of this division.
    Returns:
        The groups, and what is left; None if nothing is.
    Raises:
        DriverError: the arguments are invalid.
    """
    if flags & ~(_IGNORE_COSCHEDULING | _LARGEST_CLUSTER):
        raise DriverError("INVALID_VALUE", f"cuDevSmResourceSplitByCount: unknown flags 0x{flags:x}")
    if least > whole.count:
        raise DriverError("INVALID_VALUE", f"cuDevSmResourceSplitByCount: {least} of {whole.count} SMs")
    _refuse_parts(whole, whole.split != 0)
    smallest, alignment = whole.smallest, whole.alignment
    if flags & _IGNORE_COSCHEDULING:
        smallest = alignment = min(_TPC, alignment)
    elif flags & _LARGEST_CLUSTER and alignment >= _CLUSTER_ALIGNMENT:
        smallest = alignment = _MOST_CTAS
    size = max(smallest, -(-least // alignment) * alignment)
    made, left = [], whole
    for _ in range(whole.count // size if groups is None else min(groups, whole.count // size)):
        made.append(Sms(left.take(size), smallest, alignment, number))
        left = replace(left, mask=left.mask & ~made[-1].mask)
    if groups and not made:
        raise DriverError(
            "INVALID_RESOURCE_CONFIGURATION",
            f"cuDevSmResourceSplitByCount: groups have {size} SMs, and the resource {whole.count}",
        )
    return made, _remainder(left, number)


def split(
    whole: Sms, requests: Sequence[GroupRequest], number: int, capability: int
) -> tuple[list[Sms | None], Sms | None]:
    """Divide SMs into the groups that are asked for: cuDevSmResourceSplit.

    Args:
        number: of this division.
        capability: compute capability of the device, such as 90.
    Returns:
        The groups, None where no SMs are left for one, and what is left; None if nothing is.
    Raises:
        DriverError: a request is invalid, or cannot be met.
    """
    _refuse_parts(whole, whole.split != 0 and not whole.is_remainder)
    default, most = (_CLUSTER_ALIGNMENT, _MOST_COSCHEDULED) if capability >= 90 else (_TPC, _TPC)
    made: list[Sms | None] = []
    left = whole
    for place, request in enumerate(requests):
        unit = request.coscheduled or default
        size = _size(f"group {place}", request, left.count, unit, most)
        taken = Sms(left.take(size), unit, unit, number, flags=request.flags) if size else None
        made.append(taken)
        left = replace(left, mask=left.mask & ~(taken.mask if taken else 0))
    return made, _remainder(left, number)


def _size(what: str, request: GroupRequest, left: int, unit: int, most: int) -> int:
    """Return the number of SMs of a group, of which `unit` are scheduled together."""
    if request.flags & ~_BACKFILL:
        problem = f"{what}: flags 0x{request.flags:x} choose a locality domain; the device has none"
        raise DriverError("INVALID_RESOURCE_CONFIGURATION", problem)
    if unit % _TPC or unit > most or request.preferred % unit:
        problem = (
            f"{what}: {unit} SMs scheduled together, {request.preferred} preferred; multiples of {_TPC} up to {most}"
        )
        raise DriverError("INVALID_VALUE", problem)
    step = _TPC if request.flags & _BACKFILL else unit
    if request.count % step:
        raise DriverError("INVALID_VALUE", f"{what}: {request.count} SMs; expected a multiple of {step}")
    size = request.count or left // step * step
    if size > left or 0 < size < unit:
        problem = f"{what}: {size} SMs, {unit} of them scheduled together, of {left} that are left"
        raise DriverError("INVALID_RESOURCE_CONFIGURATION", problem)
    return size


def _refuse_parts(whole: Sms, is_part: bool) -> None:
    if is_part:
        raise DriverError(
            "INVALID_RESOURCE_CONFIGURATION",
            "a part cannot be divided again\nhint: make a green context of it and divide the resource of that",
        )


def _remainder(left: Sms, number: int) -> Sms | None:
    unit = _TPC if left.count % _TPC == 0 else 1
    return Sms(left.mask, unit, unit, number, True) if left.count else None
