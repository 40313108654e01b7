"""Copies and fills of linear memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.footprints import NOTHING, ranges_of_rows
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import refuse_in_capture, submit

__all__ = ["Copy", "Fill", "box_copy", "linear"]

Box = tuple[int, int, int, int, int, int, int, int, int]

_LINK_BYTES_PER_S = 55e9  # of host memory over PCIe 5.0, 16 lanes


@dataclass(frozen=True)
class Copy:
    """A copy of a box of bytes in the client's address space, which includes the device's.

    Attributes:
        box: as for `Connection.copy`.
        over_link: True if one side is memory of the host.
        blocks_host: True if the call returns when the copy is done: to pageable memory of the host.
        given: CUDA_MEMCPY3D that describes it, if a call was given one.
    """

    box: Box
    over_link: bool
    blocks_host: bool = False
    given: bytes = field(default=b"", repr=False)
    kind = 1

    @property
    def label(self) -> str:
        return f"copy of {self.box[2] * self.box[3] * self.box[4]:,} bytes" + (
            " over the link" if self.over_link else ""
        )

    def run(self, session: Session) -> None:
        session.connection.copy(session.thread, self.box)

    def staged(self, session: Session) -> Copy | StagedCopy:
        """Return the copy with the bytes that its call has read when it returns: those of pageable memory."""
        _, source, width, height, depth, _, pitch, _, slice_ = self.box
        if not is_pageable(session, source):
            return self
        planes = []
        for z in range(depth):
            data = np.frombuffer(session.read(source + z * slice_, (height - 1) * pitch + width), np.uint8)
            planes.append(np.lib.stride_tricks.as_strided(data, (height, width), (pitch, 1)))
        return StagedCopy(self.box, self.over_link, data=np.stack(planes))

    def footprint(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranges of bytes that it reads, and that it writes."""
        to, source, width, height, depth, to_pitch, pitch, to_slice, slice_ = self.box
        return (
            ranges_of_rows(source, width, height, pitch, depth, slice_),
            ranges_of_rows(to, width, height, to_pitch, depth, to_slice),
        )

    def engine(self, session: Session) -> str | None:
        """Return the direction of the link that the copy has for itself."""
        if not self.over_link:
            return None
        return "from the device" if crosses_link(session, self.box[0]) else "to the device"

    def seconds(self, session: Session) -> float:
        size = self.box[2] * self.box[3] * self.box[4]
        return size / (_LINK_BYTES_PER_S if self.over_link else session.gpu.dram_bytes_per_s / 2)


@dataclass(frozen=True)
class StagedCopy(Copy):
    """A copy to the device whose source was read when it was issued: `data`, uint8 (depth, height, width)."""

    data: np.ndarray = field(kw_only=True, repr=False)

    def run(self, session: Session) -> None:
        to, _, width, _, _, pitch, _, slice_, _ = self.box
        for z, plane in enumerate(self.data):
            for y, row in enumerate(plane):
                session.memory.view(to + z * slice_ + y * pitch, width)[:] = row

    def staged(self, session: Session) -> StagedCopy:
        return self

    def footprint(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranges of bytes that it reads, and that it writes: none of the host any more."""
        return NOTHING, super().footprint()[1]


@dataclass(frozen=True)
class Fill:
    """A fill of rows with a value of 1, 2 or 4 bytes; `width` in values, `pitch` in bytes."""

    address: int
    value: int
    item: int
    width: int
    height: int
    pitch: int
    kind = 2
    label = "fill"

    def params(self) -> bytes:
        """Return CUDA_MEMSET_NODE_PARAMS."""
        return struct.pack("<2Q2I2Q", self.address, self.pitch, self.value, self.item, self.width, self.height)

    def run(self, session: Session) -> None:
        kind = {1: np.uint8, 2: np.uint16, 4: np.uint32}[self.item]
        for row in range(self.height):
            start = self.address + row * self.pitch
            session.memory.view(start, self.width * self.item).view(kind)[:] = self.value

    def footprint(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranges of bytes that it reads, and that it writes."""
        return NOTHING, ranges_of_rows(self.address, self.width * self.item, self.height, self.pitch)

    def seconds(self, session: Session) -> float:
        return self.width * self.item * self.height / session.gpu.dram_bytes_per_s


def linear(session: Session, name: str, to: int, source: int, size: int) -> Copy:
    """Return a copy of `size` bytes; addresses outside of the device's mapping are the host's.

    Raises:
        DriverError: a range of the device is not in one allocation.
    """
    sides = [(f"{name}, destination,", to), (f"{name}, source,", source)]
    for what, address in sides:
        if session.memory.contains(address):
            session.memory.require(address, size, what)
        elif not address:
            raise DriverError("INVALID_VALUE", f"{what} is a null pointer")
    return box_copy(session, (to, source, size, 1, 1, 0, 0, 0, 0))


def box_copy(session: Session, box: Box, given: bytes = b"") -> Copy:
    """Return a copy of a box of bytes, whose sides were checked; `given` as in `Copy`."""
    return Copy(box, crosses_link(session, *box[:2]), is_pageable(session, box[0]), given)


def is_pageable(session: Session, address: int) -> bool:
    """Return True for memory of the host that is neither pinned nor registered."""
    if session.memory.contains(address):
        return False
    return not any(start <= address < start + size for start, size in session.registered.items())


def crosses_link(session: Session, *addresses: int) -> bool:
    """Return True if one of the addresses is memory of the host, pageable or pinned: data goes over the link to the GPU."""
    found = [session.memory.find(address) for address in addresses]
    return any(allocation is None or allocation.kind in ("host", "registered") for allocation in found)


def _device_side(session: Session, name: str, address: int, size: int) -> None:
    if not session.memory.contains(address):
        raise DriverError("INVALID_VALUE", f"{name}: 0x{address:x} is not memory of the device")


@handles("cuMemcpy")
def copy(session: Session, to: int, source: int, size: int) -> None:
    refuse_in_capture(session, "cuMemcpy")
    copy_async(session, to, source, size, 0)


@handles("cuMemcpyAsync")
def copy_async(session: Session, to: int, source: int, size: int, stream: int) -> None:
    if size:
        submit(session, stream, linear(session, "cuMemcpy", to, source, size))


@handles("cuMemcpyHtoD_v2")
def to_device(session: Session, to: int, source: int, size: int) -> None:
    refuse_in_capture(session, "cuMemcpyHtoD")
    to_device_async(session, to, source, size, 0)


@handles("cuMemcpyHtoDAsync_v2")
def to_device_async(session: Session, to: int, source: int, size: int, stream: int) -> None:
    if size:
        _device_side(session, "cuMemcpyHtoD, destination", to, size)
        submit(session, stream, linear(session, "cuMemcpyHtoD", to, source, size))


@handles("cuMemcpyDtoH_v2")
def to_host(session: Session, to: int, source: int, size: int) -> None:
    refuse_in_capture(session, "cuMemcpyDtoH")
    to_host_async(session, to, source, size, 0)


@handles("cuMemcpyDtoHAsync_v2")
def to_host_async(session: Session, to: int, source: int, size: int, stream: int) -> None:
    if size:
        _device_side(session, "cuMemcpyDtoH, source", source, size)
        submit(session, stream, linear(session, "cuMemcpyDtoH", to, source, size))


@handles("cuMemcpyDtoD_v2")
def on_device(session: Session, to: int, source: int, size: int) -> None:
    on_device_async(session, to, source, size, 0)


@handles("cuMemcpyDtoDAsync_v2")
def on_device_async(session: Session, to: int, source: int, size: int, stream: int) -> None:
    if size:
        _device_side(session, "cuMemcpyDtoD, destination", to, size)
        _device_side(session, "cuMemcpyDtoD, source", source, size)
        submit(session, stream, linear(session, "cuMemcpyDtoD", to, source, size))


@handles("cuMemcpyPeer")
def between_contexts(session: Session, to: int, to_context: int, source: int, context: int, size: int) -> None:
    on_device(session, to, source, size)


@handles("cuMemcpyPeerAsync")
def between_contexts_async(
    session: Session, to: int, to_context: int, source: int, context: int, size: int, stream: int
) -> None:
    on_device_async(session, to, source, size, stream)


# fills


def fill(
    session: Session, name: str, stream: int, address: int, pitch: int, value: int, item: int, width: int, height: int
) -> None:
    """Fill rows of the device's memory.

    Raises:
        DriverError: they are not in one allocation, or not aligned to their items.
    """
    if not width or not height:
        return
    if address % item:
        raise DriverError("INVALID_VALUE", f"{name}: 0x{address:x} is not a multiple of {item} bytes")
    if height > 1 and pitch < width * item:
        raise DriverError("INVALID_VALUE", f"{name}: a pitch of {pitch} bytes for rows of {width * item} bytes")
    session.memory.require(address, (height - 1) * pitch + width * item, name)
    submit(session, stream, Fill(address, value, item, width, height, pitch))


def _register(bits: int) -> None:
    item, mask = bits // 8, (1 << bits) - 1

    @handles(f"cuMemsetD{bits}_v2")
    def whole(session: Session, address: int, value: int, count: int) -> None:
        fill(session, f"cuMemsetD{bits}", 0, address, 0, value & mask, item, count, 1)

    @handles(f"cuMemsetD{bits}Async")
    def whole_async(session: Session, address: int, value: int, count: int, stream: int) -> None:
        fill(session, f"cuMemsetD{bits}", stream, address, 0, value & mask, item, count, 1)

    @handles(f"cuMemsetD2D{bits}_v2")
    def rows(session: Session, address: int, pitch: int, value: int, width: int, height: int) -> None:
        fill(session, f"cuMemsetD2D{bits}", 0, address, pitch, value & mask, item, width, height)

    @handles(f"cuMemsetD2D{bits}Async")
    def rows_async(
        session: Session, address: int, pitch: int, value: int, width: int, height: int, stream: int
    ) -> None:
        fill(session, f"cuMemsetD2D{bits}", stream, address, pitch, value & mask, item, width, height)


for _bits in (8, 16, 32):
    _register(_bits)
