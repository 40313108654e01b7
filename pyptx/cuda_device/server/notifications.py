"""Notifications of a device: programs register for them, and are never called, as memory is never over a budget."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.cuda_device.server.devices import check_device
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__: list[str] = []


@dataclass(eq=False)
class Registration:
    """A function of the host that is registered."""

    function: int
    data: int
    missing = "INVALID_VALUE"


@handles("cuDeviceRegisterAsyncNotification")
def register(session: Session, device: int, function: int, data: int) -> int:
    check_device(device)
    if not function:
        raise DriverError("INVALID_VALUE", "cuDeviceRegisterAsyncNotification: the function is a null pointer")
    return session.add(Registration(function, data))


@handles("cuDeviceUnregisterAsyncNotification")
def unregister(session: Session, device: int, handle: int) -> None:
    check_device(device)
    session.remove(handle, Registration)
