"""Matrices in registers as the manual places them, written down here apart from the simulator's own tables.

Formulas of the PTX ISA, "Matrix Fragments for mma.*", with groupID = lane / 4, threadID_in_group = lane % 4 and `i` the
element's number in a lane.
"""

from __future__ import annotations

import numpy as np

__all__ = ["EXACT", "bits_of", "place_a", "place_b", "place_c", "random_matrix", "values_of"]

SIZE = {
    "f64": 64,
    "f32": 32,
    "s32": 32,
    "tf32": 32,
    "f16": 16,
    "bf16": 16,
    "e4m3": 8,
    "e5m2": 8,
    "e3m2": 8,
    "e2m3": 8,
    "e2m1": 8,
    "fp4": 4,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
}
# value -> code of small floats that all of them have
_SMALL = {
    "e4m3": {0: 0, 0.5: 0x30, 1: 0x38, 1.5: 0x3C, 2: 0x40, 3: 0x44},
    "e5m2": {0: 0, 0.5: 0x38, 1: 0x3C, 1.5: 0x3E, 2: 0x40, 3: 0x42},
    "e3m2": {0: 0, 0.5: 0x08, 1: 0x0C, 1.5: 0x0E, 2: 0x10, 3: 0x12},
    "e2m3": {0: 0, 0.5: 0x04, 1: 0x08, 1.5: 0x0C, 2: 0x10, 3: 0x14},
    "e2m1": {0: 0, 0.5: 0x04, 1: 0x08, 1.5: 0x0C, 2: 0x10, 3: 0x14},  # bits 5..2 of the byte
    "fp4": {0: 0, 0.5: 1, 1: 2, 1.5: 3, 2: 4, 3: 5},
}
_SIGN = {"e4m3": 0x80, "e5m2": 0x80, "e3m2": 0x20, "e2m3": 0x20, "e2m1": 0x20, "fp4": 8}
EXACT = np.array([0, 0.5, 1, 1.5, 2, 3, -0.5, -1, -1.5, -2, -3])


def random_matrix(rng: np.random.Generator, rows: int, columns: int, type_name: str) -> np.ndarray:
    """Values every format of the class has; sums of products of them are exact in f32, and small enough for f16."""
    size = rows, columns
    match type_name:
        case "s8" | "u8" | "s4" | "u4":
            bits = SIZE[type_name]
            low = -(1 << bits - 1) if type_name[0] == "s" else 0
            return rng.integers(low, low + (1 << bits), size).astype(np.float64)
        case "b1":
            return rng.integers(0, 2, size).astype(np.float64)
        case "s32":
            return rng.integers(-1 << 31, 1 << 31, size).astype(np.float64)
        case "f32" | "f64":
            return rng.integers(-64, 64, size) / 4.0
    return rng.choice(EXACT, size)


def bits_of(values: np.ndarray, type_name: str) -> np.ndarray:
    """Codes of values in a format."""
    match type_name:
        case "f64":
            return values.astype(np.float64).view(np.uint64)
        case "f32" | "tf32":
            return values.astype(np.float32).view(np.uint32).astype(np.uint64)
        case "f16":
            return values.astype(np.float16).view(np.uint16).astype(np.uint64)
        case "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint64)
        case "s8" | "u8" | "s4" | "u4" | "b1" | "s32":
            return values.astype(np.int64).astype(np.uint64) & np.uint64((1 << SIZE[type_name]) - 1)
    codes = np.array([_SMALL[type_name][abs(v)] | (_SIGN[type_name] if v < 0 else 0) for v in values.reshape(-1)])
    return codes.reshape(values.shape).astype(np.uint64)


def values_of(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Results as f64."""
    match type_name:
        case "f64":
            return bits.astype(np.uint64).view(np.float64)
        case "f32":
            return bits.astype(np.uint32).view(np.float32).astype(np.float64)
        case "f16":
            return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    return bits.astype(np.uint32).view(np.int32).astype(np.float64)


def place_a(lane: int, i: int, m: int, bits: int) -> tuple[int, int]:
    """Row and k of element i of A of m8* and m16*."""
    group, thread, per = lane // 4, lane % 4, max(1, 32 // bits)
    if m == 8:
        return group, thread * per + i
    register = i // per
    row = group if register % 2 == 0 else group + 8
    return row, thread * per + i % per + 4 * per * (register // 2)


def place_b(lane: int, i: int, bits: int) -> tuple[int, int]:
    """k and column of element i of B."""
    group, thread, per = lane // 4, lane % 4, max(1, 32 // bits)
    return thread * per + i % per + 4 * per * (i // per), group


def place_c(lane: int, i: int, m: int) -> tuple[int, int]:
    """Row and column of element i of C or D of n8."""
    group, thread = lane // 4, lane % 4
    return group + (8 if m == 16 and i >= 2 else 0), thread * 2 + i % 2
