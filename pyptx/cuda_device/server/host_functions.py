"""Functions of the host in the order of streams; the thread whose call runs the work calls them."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import submit

__all__ = ["HostCall"]


@dataclass(frozen=True)
class HostCall:
    """A call of a function of the host; with a stream, one of cuStreamAddCallback."""

    function: int
    data: int
    stream: int | None = None
    kind = 3
    label = "host function"

    def run(self, session: Session) -> None:
        if session.order is not None:  # the function sees, and may tell the host of, what precedes it
            session.order.host_waits(session.order.everything())
        session.call_host(self.function, self.data, self.stream)

    def seconds(self, session: Session) -> float:
        return 0.0


@handles("cuLaunchHostFunc")
def launch_host_function(session: Session, stream: int, function: int, data: int) -> None:
    if not function:
        raise DriverError("INVALID_VALUE", "cuLaunchHostFunc: the function is a null pointer")
    submit(session, stream, HostCall(function, data))


@handles("cuLaunchHostFunc_v2")
def launch_host_function_in_mode(session: Session, stream: int, function: int, data: int, mode: int) -> None:
    launch_host_function(session, stream, function, data)


@handles("cuStreamAddCallback")
def add_callback(session: Session, stream: int, function: int, data: int, flags: int) -> None:
    if not function:
        raise DriverError("INVALID_VALUE", "cuStreamAddCallback: the function is a null pointer")
    submit(session, stream, HostCall(function, data, stream))
