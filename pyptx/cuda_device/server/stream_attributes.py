"""Attributes of streams, which have no effect on a simulated device."""

from __future__ import annotations

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import stream_of

__all__: list[str] = []

_KNOWN = (1, 3, 8, 9, 10)  # access policy, synchronization policy, priority, memory synchronization domains
_BYTES = 64


def _known(number: int) -> None:
    if number not in _KNOWN:
        raise DriverError("INVALID_VALUE", f"stream attribute {number} is unknown")


@handles("cuStreamSetAttribute")
def set_attribute(session: Session, handle: int, number: int, value: bytes | None) -> None:
    _known(number)
    if value is None:
        raise DriverError("INVALID_VALUE", "cuStreamSetAttribute: the value is a null pointer")
    stream_of(session, handle).attributes[number] = value


@handles("cuStreamGetAttribute")
def get_attribute(session: Session, handle: int, number: int) -> bytes:
    _known(number)
    return stream_of(session, handle).attributes.get(number, bytes(_BYTES))


@handles("cuStreamCopyAttributes")
def copy_attributes(session: Session, to: int, source: int) -> None:
    stream_of(session, to).attributes = dict(stream_of(session, source).attributes)
