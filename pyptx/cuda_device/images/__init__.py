"""Readers of the images that CUDA programs load: PTX text, fat binaries, cubins."""

from __future__ import annotations

from pyptx.cuda_device.images.device_functions import with_device_functions
from pyptx.cuda_device.images.linking import link_images
from pyptx.cuda_device.images.selection import INVALID_IMAGE, INVALID_PTX, NO_BINARY_FOR_GPU, ptx_of

__all__ = ["INVALID_IMAGE", "INVALID_PTX", "NO_BINARY_FOR_GPU", "link_images", "ptx_of", "with_device_functions"]
