"""Linking of images, as `cuLinkComplete` does: separately compiled code whose parts are linked when it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.cuda_device.images.selection import INVALID_PTX, NO_BINARY_FOR_GPU, ptx_of
from pyptx.emitter import emit
from pyptx.errors import DeviceError, PtxError
from pyptx.linker import link
from pyptx.parser import parse

__all__ = ["link_images"]


def link_images(images: Sequence[tuple[str, bytes]], target: str) -> str:
    """Return the PTX text of images linked to one module for a device.

    An image without PTX for the device is left out if the others need nothing of it: nvcc adds the device runtime library
    to every program with relocatable device code.

    Args:
        images: names, for messages, and images as for `ptx_of`.
        target: target of the device, "sm_90a".
    Raises:
        DeviceError: an image is invalid, or a symbol is defined twice or nowhere; `code` as for `ptx_of`.
        MissingToolError, OptionError: as `ptx_of`.
    """
    texts: list[tuple[str, str]] = []
    left_out: list[DeviceError] = []
    for name, image in images:
        try:
            texts.append((name, ptx_of(image, target)))
        except DeviceError as error:
            if error.code != NO_BINARY_FOR_GPU:
                raise
            left_out.append(error)
    if not texts:
        raise left_out[0] if left_out else DeviceError("nothing is to be linked", code=NO_BINARY_FOR_GPU)
    try:
        modules = [(name, parse(text)) for name, text in texts]
        return emit(link(modules).module) if len(modules) > 1 else texts[0][1]
    except PtxError as error:
        also = f"; of other images: {left_out[0].message}" if left_out else ""
        raise DeviceError(f"the images cannot be linked: {error}{also}", code=INVALID_PTX) from error
