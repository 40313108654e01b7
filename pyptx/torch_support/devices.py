"""torch devices and buffers for tools that ask for them."""

from __future__ import annotations

import torch

__all__ = ["cpu_bytes", "cpu_device"]


def cpu_device() -> torch.device:
    """Return torch's CPU device."""
    return torch.device("cpu")


def cpu_bytes(count: int) -> torch.Tensor:
    """Return a zeroed tensor of bytes on the CPU."""
    return torch.zeros(count, dtype=torch.uint8)
