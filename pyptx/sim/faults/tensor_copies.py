"""What can be wrong with a tensor copy, numbered alike in core/tensor_map.h, and in words."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Problem", "explain"]


class Problem(IntEnum):
    """Found when a tensor copy is issued or lands; 0 is none."""

    NONE = 0
    MAP_SPACE = 1
    MAP_ALIGNMENT = 2
    MAP_MAGIC = 3
    RANK = 4
    MODE = 5
    ELEMENT = 6
    BOX = 7
    STEP = 8
    TENSOR = 9
    SWIZZLE = 10
    COORDINATE = 11
    OFFSET = 12
    SHARED_ALIGNMENT = 13
    SHARED_BOUNDS = 14
    GLOBAL_BOUNDS = 15
    READ_ONLY = 16
    TARGET = 17
    FIELD = 18
    BARRIER = 19


_TEXT = {
    Problem.MAP_SPACE: ("takes its tensor map from {address}, where there is none",
                        "a tensor map is 128 bytes in global, constant or parameter memory; pass a pyptx.TensorMap as "
                        "the argument"),
    Problem.MAP_ALIGNMENT: ("takes its tensor map from {address}, which is not a multiple of 64",
                            "align the parameter or variable that holds the map: .align 64"),
    Problem.MAP_MAGIC: ("takes its tensor map from {address}, but the 128 bytes there are none",
                        "pass a pyptx.TensorMap; the bytes of a GPU's own encoding are not read by the simulator"),
    Problem.RANK: ("names other coordinates than the tensor map at {address} has dimensions",
                   "the number in the mnemonic (.2d) is the rank of the map"),
    Problem.MODE: ("uses the tensor map at {address} in a mode it was not made for",
                   "im2col copies need TensorMap(..., im2col=...), tile copies a map without; gather4 and scatter4 "
                   "need rank 2, a box of one row and no interleave"),
    Problem.ELEMENT: ("cannot be done on elements of the type of the tensor map at {address}",
                      "add takes 32- and 64-bit integers, f16, bf16, f32 and f64; min and max the same without f32 and "
                      "f64; inc and dec u32; and, or, xor 32- and 64-bit integers; b4x16_p64 is only loaded"),
    Problem.BOX: ("uses the tensor map at {address}, whose box no copy can have",
                  "after tensormap.replace: 1 to 256 along each dimension, inner rows of a multiple of 16 bytes, not "
                  "wider than the swizzle"),
    Problem.STEP: ("uses the tensor map at {address}, whose element strides are not 1 to 8", None),
    Problem.TENSOR: ("uses the tensor map at {address}, whose tensor is not aligned",
                     "the address and all strides are multiples of 16 bytes, of 32 with interleave 32B and padded "
                     "types"),
    Problem.SWIZZLE: ("uses the tensor map at {address} with a swizzle that does not go with the copy",
                      "interleave 32B needs swizzle 32B; the 8-byte flip is only for loads; im2col::w needs 64B, 128B "
                      "or 128B_ATOM_32B"),
    Problem.COORDINATE: ("has coordinate {signed}, which this copy cannot start at",
                         "im2col starts inside the bounding box, packed types at a multiple of 2 or 128 elements, "
                         "im2col_no_offs::w inside the tensor"),
    Problem.OFFSET: ("has offset {number}, which is out of range",
                     "im2col offsets have 16, 8 or 5 bits in 3, 4 or 5 dimensions; wHalo is below 512 (32 in "
                     "im2col::w::128), wOffset below 32"),
    Problem.SHARED_ALIGNMENT: ("copies to or from shared memory at {address}, which is not a multiple of 128",
                               "align the tile to 128 bytes, to 1024 for a 128-byte swizzle to begin with its pattern"),
    Problem.SHARED_BOUNDS: ("copies a box of {detail} bytes to or from shared memory at {address}, where it does not "
                            "fit", "is the box of the tensor map the tile that was allocated? With a swizzle each row "
                            "takes at least the bytes of the swizzle"),
    Problem.GLOBAL_BOUNDS: ("touches {address}, outside every buffer",
                            "the shape or strides of the tensor map do not fit its array"),
    Problem.READ_ONLY: ("writes {address}, which is read-only", None),
    Problem.TARGET: ("names CTA {number} of the cluster, which there is not", None),
    Problem.BARRIER: ("signals an mbarrier of CTA {number} of the cluster, which is not the one it writes to",
                      "the mbarrier lies in the CTA of the destination; with .cta_group::2 in one of the pair"),
    Problem.FIELD: ("writes {number} to a field of a tensor map, which does not take it", None),
}


def explain(extra: int, address: int) -> tuple[str, str | None]:
    """What happened, to follow "thread ... ", and what would do. `extra` is the problem, and a number beyond 8 bits."""
    text, hint = _TEXT[Problem(extra & 255)]
    signed = address - (1 << 64) if address >> 63 else address
    return text.format(address=f"0x{address:x}", number=address, signed=signed, detail=extra >> 8), hint
