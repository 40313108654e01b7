"""Advice about managed memory, and prefetches: they move nothing, and are remembered for queries.

Source: CUDA Driver API, "Unified Addressing": cuMemAdvise, cuMemPrefetchAsync, cuMemRangeGetAttribute.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pyptx.cuda_device.server.batch_copies import first_places, words_at
from pyptx.cuda_device.server.device_memory import Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import stream_of

__all__: list[str] = []

Location = tuple[int, int]  # CUmemLocationType and number

NOWHERE, DEVICE, HOST, NUMA = range(4)
_LOCATIONS = (DEVICE, HOST, NUMA, 4)
_CPU, _INVALID = -1, -2  # CU_DEVICE_CPU, CU_DEVICE_INVALID
_READ_MOSTLY, _PREFERRED, _ACCESSED_BY, _PREFETCHED = "read mostly", "preferred", "accessed by", "prefetched"
# CUmem_advise: what is remembered, and True if it is set, not unset
_ADVICE = {
    1: (_READ_MOSTLY, True), 2: (_READ_MOSTLY, False), 3: (_PREFERRED, True), 4: (_PREFERRED, False),
    5: (_ACCESSED_BY, True), 6: (_ACCESSED_BY, False),
}  # fmt: skip


def _managed(session: Session, name: str, address: int, size: int) -> Allocation:
    found = session.memory.require(address, size, name)
    if not size or not found.kind.startswith("managed"):
        raise DriverError("INVALID_VALUE", f"{name}: {size:,} bytes at 0x{address:x} are not managed memory")
    return found


def _location(name: str, word: int) -> Location:
    kind, number = struct.unpack("<2i", word.to_bytes(8, "little"))
    if kind not in _LOCATIONS:
        raise DriverError("INVALID_VALUE", f"{name}: location type {kind} is unknown")
    if kind == DEVICE and number:
        raise DriverError("INVALID_DEVICE", f"{name}: device {number} does not exist")
    return kind, number if kind in (DEVICE, NUMA) else 0


def _of_device(name: str, device: int) -> Location:
    if device not in (0, _CPU):
        raise DriverError("INVALID_DEVICE", f"{name}: device {device} does not exist")
    return (HOST, 0) if device == _CPU else (DEVICE, 0)


# what is remembered of ranges


def _remember(session: Session, address: int, size: int, key: str, value: Location | None) -> None:
    found = session.memory.require(address, size, key)
    found.advice.append((address, address + size, key, value))


def _all_have(found: Allocation, start: int, end: int, key: str) -> Location | None:
    """Return the value that all bytes of a range have; None if they differ, or have none."""
    values, left = set(), [(start, end)]
    for first, last, name, value in reversed(found.advice):
        if name != key:
            continue
        rest = []
        for a, b in left:
            if a < last and first < b:
                values.add(value)
                rest += [(x, y) for x, y in ((a, first), (last, b)) if x < y]
            else:
                rest.append((a, b))
        left = rest
    return values.pop() if len(values) == 1 and not left else None


# advice and prefetches


def _advise(session: Session, address: int, size: int, advice: int, where: Location) -> None:
    _managed(session, "cuMemAdvise", address, size)
    if advice not in _ADVICE:
        raise DriverError("INVALID_VALUE", f"cuMemAdvise: advice {advice} is unknown")
    key, is_set = _ADVICE[advice]
    _remember(session, address, size, key, where if is_set else None)


@handles("cuMemAdvise")
def advise_device(session: Session, address: int, size: int, advice: int, device: int) -> None:
    _advise(session, address, size, advice, (DEVICE, 0) if advice in (1, 2, 4) else _of_device("cuMemAdvise", device))


@handles("cuMemAdvise_v2")
def advise(session: Session, address: int, size: int, advice: int, location: int) -> None:
    where = (DEVICE, 0) if advice in (1, 2, 4) else _location("cuMemAdvise", location)  # ignored by the others
    _advise(session, address, size, advice, where)


def _prefetch(session: Session, name: str, address: int, size: int, where: Location) -> None:
    _managed(session, name, address, size)
    _remember(session, address, size, _PREFETCHED, where)


@handles("cuMemPrefetchAsync")
def prefetch_to_device(session: Session, address: int, size: int, device: int, stream: int) -> None:
    stream_of(session, stream)
    _prefetch(session, "cuMemPrefetchAsync", address, size, _of_device("cuMemPrefetchAsync", device))


@handles("cuMemPrefetchAsync_v2")
def prefetch(session: Session, address: int, size: int, location: int, flags: int, stream: int) -> None:
    stream_of(session, stream)
    if flags:
        raise DriverError("INVALID_VALUE", f"cuMemPrefetchAsync: unknown flags 0x{flags:x}")
    _prefetch(session, "cuMemPrefetchAsync", address, size, _location("cuMemPrefetchAsync", location))


def _batch(
    session: Session, name: str, pointers: int, sizes: int, count: int, flags: int, stream: int
) -> list[tuple[int, int]]:
    stream_of(session, stream)
    if not count or flags:
        raise DriverError(
            "INVALID_VALUE", f"{name}: {count} ranges with flags 0x{flags:x}; expected some, without flags"
        )
    ranges = list(zip(words_at(session, pointers, count), words_at(session, sizes, count), strict=True))
    for address, size in ranges:
        _managed(session, name, address, size)
    return ranges


def _prefetch_batch(
    session: Session, name: str, ranges: Sequence[tuple[int, int]], locations: int, indices: int, count: int
) -> None:
    places = words_at(session, indices, count)
    first_places(name, places, len(ranges))
    wanted = [_location(name, word) for word in words_at(session, locations, count)]
    for k, (address, size) in enumerate(ranges):
        _prefetch(session, name, address, size, wanted[sum(place <= k for place in places) - 1])


@handles("cuMemPrefetchBatchAsync")
def prefetch_batch(
    session: Session, pointers: int, sizes: int, count: int, locations: int, indices: int, kinds: int, flags: int,
    stream: int,
) -> None:  # fmt: skip
    ranges = _batch(session, "cuMemPrefetchBatchAsync", pointers, sizes, count, flags, stream)
    _prefetch_batch(session, "cuMemPrefetchBatchAsync", ranges, locations, indices, kinds)


@handles("cuMemDiscardBatchAsync")
def discard_batch(session: Session, pointers: int, sizes: int, count: int, flags: int, stream: int) -> None:
    """Do nothing: discarded bytes are undefined until they are written, and keep their values here."""
    _batch(session, "cuMemDiscardBatchAsync", pointers, sizes, count, flags, stream)


@handles("cuMemDiscardAndPrefetchBatchAsync")
def discard_and_prefetch_batch(
    session: Session, pointers: int, sizes: int, count: int, locations: int, indices: int, kinds: int, flags: int,
    stream: int,
) -> None:  # fmt: skip
    ranges = _batch(session, "cuMemDiscardAndPrefetchBatchAsync", pointers, sizes, count, flags, stream)
    _prefetch_batch(session, "cuMemDiscardAndPrefetchBatchAsync", ranges, locations, indices, kinds)


@handles("cuStreamAttachMemAsync")
def attach(session: Session, stream: int, address: int, size: int, flags: int) -> None:
    stream_of(session, stream)
    found = session.memory.find(address)
    if found is None or found.address != address or size not in (0, found.size) or not found.kind.startswith("managed"):
        raise DriverError(
            "INVALID_VALUE",
            f"cuStreamAttachMemAsync: {size:,} bytes at 0x{address:x} are not a whole managed allocation",
        )
    if flags not in (1, 2, 4):
        raise DriverError("INVALID_VALUE", f"cuStreamAttachMemAsync: flags {flags}; expected GLOBAL, HOST or SINGLE")


# queries


def _attribute(found: Allocation, start: int, end: int, number: int, size: int) -> bytes:
    """Return the value of a CUmem_range_attribute.

    Raises:
        DriverError: it is unknown, or does not have this size.
    """
    if number == 3 and size and size % 4 == 0:
        devices = [0] if _all_have(found, start, end, _ACCESSED_BY) == (DEVICE, 0) else []
        return struct.pack(f"<{size // 4}i", *[*devices, *[_INVALID] * (size // 4)][: size // 4])
    if size != 4 or number not in (1, 2, 4, 5, 6, 7, 8):
        raise DriverError("INVALID_VALUE", f"cuMemRangeGetAttribute: attribute {number} of {size} bytes is unknown")
    if number == 1:
        return struct.pack("<i", _all_have(found, start, end, _READ_MOSTLY) is not None)
    where = _all_have(found, start, end, _PREFERRED if number in (2, 5, 6) else _PREFETCHED) or (NOWHERE, _INVALID)
    if number in (5, 7):
        return struct.pack("<i", where[0])
    if number in (6, 8):
        return struct.pack("<i", where[1])
    return struct.pack("<i", {DEVICE: where[1], HOST: _CPU}.get(where[0], _INVALID))


@handles("cuMemRangeGetAttribute")
def range_attribute(session: Session, size: int, number: int, address: int, count: int) -> bytes:
    found = _managed(session, "cuMemRangeGetAttribute", address, count)
    return _attribute(found, address, address + count, number, size)


@handles("cuMemRangeGetAttributes")
def range_attributes(
    session: Session, places: int, sizes: int, numbers: int, count: int, address: int, bytes_: int
) -> None:
    found = _managed(session, "cuMemRangeGetAttributes", address, bytes_)
    wanted = struct.unpack(f"<{count}i", session.read(numbers, 4 * count))
    lists = words_at(session, places, count), words_at(session, sizes, count)
    for place, size, number in zip(*lists, wanted, strict=True):
        session.write(place, _attribute(found, address, address + bytes_, number, size))


@handles("cuMemGetLocationInfo")
def locations(session: Session, address: int, size: int, summary: int, sampling: int, place: int) -> None:
    if not 0 < summary <= size or sampling > summary:
        raise DriverError(
            "INVALID_VALUE", f"cuMemGetLocationInfo: {size:,} bytes in parts of {summary:,}, sampled each {sampling:,}"
        )
    found, end = _managed(session, "cuMemGetLocationInfo", address, size), address + size
    parts = [(start, min(start + summary, end)) for start in range(address, end, summary)]
    where = [_all_have(found, start, stop, _PREFETCHED) or (NOWHERE, 0) for start, stop in parts]
    session.write(place, b"".join(struct.pack("<2i", *one) for one in where))
