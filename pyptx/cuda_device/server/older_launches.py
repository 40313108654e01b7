"""Launches by the functions of CUDA before 4.0, and of one kernel on several devices, in terms of cuLaunchKernel."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.launches import launch
from pyptx.cuda_device.server.modules import Kernel
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import LEGACY

__all__: list[str] = []

_MOST_BYTES = 32764  # of arguments
_LAUNCH_PARAMS = struct.Struct("<Q7I4x2Q")  # CUDA_LAUNCH_PARAMS


@dataclass
class OlderLaunch:
    """Settings of the next launch of a kernel."""

    block: tuple[int, int, int] = (1, 1, 1)
    shared_bytes: int = 0
    size: int = 0
    arguments: bytearray = field(default_factory=lambda: bytearray(_MOST_BYTES))


def _of(session: Session, handle: int) -> OlderLaunch:
    kernel = session.get(handle, Kernel)
    if kernel.older is None:
        kernel.older = OlderLaunch()
    return kernel.older


@handles("cuFuncSetBlockShape")
def set_block(session: Session, handle: int, x: int, y: int, z: int) -> None:
    if min(x, y, z) < 1:
        raise DriverError("INVALID_VALUE", f"cuFuncSetBlockShape: a CTA of {x} x {y} x {z} threads")
    _of(session, handle).block = x, y, z


@handles("cuFuncSetSharedSize")
def set_shared(session: Session, handle: int, size: int) -> None:
    _of(session, handle).shared_bytes = size


@handles("cuParamSetSize")
def set_size(session: Session, handle: int, size: int) -> None:
    if size > _MOST_BYTES:
        raise DriverError("INVALID_VALUE", f"cuParamSetSize: {size} bytes of arguments; at most {_MOST_BYTES}")
    _of(session, handle).size = size


def _set(session: Session, handle: int, offset: int, value: bytes) -> None:
    if offset < 0 or offset + len(value) > _MOST_BYTES:
        raise DriverError("INVALID_VALUE", f"an argument of {len(value)} bytes at byte {offset}; at most {_MOST_BYTES}")
    _of(session, handle).arguments[offset : offset + len(value)] = value


@handles("cuParamSeti")
def set_integer(session: Session, handle: int, offset: int, value: int) -> None:
    _set(session, handle, offset, value.to_bytes(4, "little"))


@handles("cuParamSetf")
def set_float(session: Session, handle: int, offset: int, value: float) -> None:
    _set(session, handle, offset, struct.pack("<f", value))


@handles("cuParamSetv")
def set_bytes(session: Session, handle: int, offset: int, value: bytes, size: int) -> None:
    _set(session, handle, offset, value)


@handles("cuLaunchGridAsync")
def launch_grid_async(session: Session, handle: int, width: int, height: int, stream: int) -> None:
    wanted = _of(session, handle)
    arguments = bytes(wanted.arguments[: wanted.size])
    launch(
        session,
        handle,
        *(width, height, 1),
        *wanted.block,
        wanted.shared_bytes,
        stream,
        0,
        None,
        0,
        arguments,
        len(arguments),
    )


@handles("cuLaunchGrid")
def launch_grid(session: Session, handle: int, width: int, height: int) -> None:
    launch_grid_async(session, handle, width, height, LEGACY)


@handles("cuLaunch")
def launch_one(session: Session, handle: int) -> None:
    launch_grid_async(session, handle, 1, 1, LEGACY)


@handles("cuLaunchCooperativeKernelMultiDevice")
def launch_on_devices(session: Session, places: int, count: int, flags: int) -> None:
    if count != 1:
        raise DriverError("INVALID_DEVICE", f"a launch on {count} devices; there is one")
    function, *sizes, stream, arguments = _LAUNCH_PARAMS.unpack(session.read(places, _LAUNCH_PARAMS.size))
    slots = session.get(function, Kernel).program.symbols.params
    packed = bytearray(slots[-1].offset + slots[-1].size if slots else 0)
    for k, slot in enumerate(slots):
        address = int.from_bytes(session.read(arguments + 8 * k, 8), "little")
        packed[slot.offset : slot.offset + slot.size] = session.read(address, slot.size)
    launch(session, function, *sizes, stream, 1, None, 0, bytes(packed), len(packed))
