"""Linking at run time: cuLinkCreate, cuLinkAddData, cuLinkComplete. The result is PTX, which modules load."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyptx.cuda_device.error_codes import CODES
from pyptx.cuda_device.images import link_images
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.modules import read_file
from pyptx.cuda_device.server.session import Session
from pyptx.errors import DeviceError, MissingToolError

__all__ = ["LinkState"]

_INPUTS = {0: "cubin", 1: "PTX", 2: "fat binary", 3: "object", 4: "library", 5: "LTO-IR"}  # CUjitInputType
_LINKED = (0, 1, 2)


@dataclass(eq=False)
class LinkState:
    """Images to be linked, with their names."""

    context: int
    images: list[tuple[str, bytes]] = field(default_factory=list)


@handles("cuLinkCreate_v2")
def create(session: Session, count: int, options: int, values: int) -> int:
    return session.add(LinkState(session.context))


def _add(session: Session, handle: int, kind: int, image: bytes, name: str) -> None:
    state = session.get(handle, LinkState)
    if kind not in _LINKED:
        what = _INPUTS.get(kind, f"an input of type {kind}")
        raise DriverError(
            "NOT_SUPPORTED", f"{what} {name} cannot be linked: the simulated device links PTX, fat binaries and cubins"
        )
    state.images.append((f"{name} ({_INPUTS[kind]} {len(state.images) + 1})", image))


@handles("cuLinkAddData_v2")
def add_data(
    session: Session,
    handle: int,
    kind: int,
    image: bytes | None,
    size: int,
    name: int,
    count: int,
    options: int,
    values: int,
) -> None:
    if not image:
        raise DriverError("INVALID_VALUE", "cuLinkAddData: no data is given")
    _add(session, handle, kind, image, "input")


@handles("cuLinkAddFile_v2")
def add_file(session: Session, handle: int, kind: int, path: bytes, count: int, options: int, values: int) -> None:
    _add(session, handle, kind, read_file(session, path), path.decode(errors="replace"))


@handles("cuLinkComplete")
def complete(session: Session, handle: int) -> tuple[bytes, int]:
    state = session.get(handle, LinkState)
    try:
        text = link_images(state.images, session.gpu.target).encode()
    except DeviceError as error:
        name = CODES.get(error.code, CODES[999])[0].removeprefix("CUDA_ERROR_")
        raise DriverError(name, f"cuLinkComplete: {error}") from error
    except MissingToolError as error:
        raise DriverError("NOT_SUPPORTED", f"cuLinkComplete: {error}") from error
    return text, len(text) + 1


@handles("cuLinkDestroy")
def destroy(session: Session, handle: int) -> None:
    session.remove(handle, LinkState)
