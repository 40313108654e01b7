"""Mapping of PTX types to torch dtypes."""

from __future__ import annotations

import torch

__all__ = ["torch_dtype"]

_PTX_TO_TORCH = {
    "f16": torch.float16,
    "f32": torch.float32,
    "tf32": torch.float32,
    "f64": torch.float64,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "s8": torch.int8,
    "s16": torch.int16,
    "s32": torch.int32,
    "s64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "b8": torch.uint8,
    "b16": torch.uint16,
    "b32": torch.uint32,
    "b64": torch.uint64,
    "pred": torch.bool,
}


def torch_dtype(name: str) -> torch.dtype:
    """Return the torch dtype of a PTX type."""
    return _PTX_TO_TORCH[name]
