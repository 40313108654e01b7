"""Messages for invalid tensor copies, see `abi.TensorCopyProblem`."""

from __future__ import annotations

from pyptx.sim.abi import TensorCopyProblem

__all__ = ["explain"]


_TEXT = {
    TensorCopyProblem.MAP_SPACE: (
        "reads its tensor map at {address}, where no memory is mapped",
        "a tensor map is 128 bytes in global, constant or parameter memory; pass a pyptx.TensorMap as the argument",
    ),
    TensorCopyProblem.MAP_ALIGNMENT: (
        "reads its tensor map at {address}, which is not a multiple of 64",
        "align the parameter or variable that holds the map: .align 64",
    ),
    TensorCopyProblem.MAP_MAGIC: (
        "reads its tensor map at {address}, but the 128 bytes there are not a tensor map",
        "pass a pyptx.TensorMap; the simulator does not read the encoding of a GPU",
    ),
    TensorCopyProblem.RANK: (
        "has another number of coordinates than the tensor map at {address} has dimensions",
        "the number in the mnemonic (.2d) is the rank of the map",
    ),
    TensorCopyProblem.MODE: (
        "uses the tensor map at {address} in a mode that it does not support",
        "im2col copies need TensorMap(..., im2col=...), tile copies a map without it; gather4 and scatter4 "
        "need rank 2, a box of one row and no interleave",
    ),
    TensorCopyProblem.ELEMENT: (
        "does not support the element type of the tensor map at {address}",
        "add takes 32- and 64-bit integers, f16, bf16, f32 and f64; min and max all of these but f32 and "
        "f64; inc and dec u32; and, or, xor 32- and 64-bit integers; b4x16_p64 supports loads only",
    ),
    TensorCopyProblem.BOX: (
        "uses the tensor map at {address}, whose box size is invalid",
        "after tensormap.replace: 1 to 256 elements along each dimension, inner rows a multiple of 16 bytes and not "
        "wider than the swizzle",
    ),
    TensorCopyProblem.STEP: ("uses the tensor map at {address}, whose element strides are not in 1..8", None),
    TensorCopyProblem.TENSOR: (
        "uses the tensor map at {address}, whose tensor is misaligned",
        "the address and all strides must be multiples of 16 bytes, of 32 with interleave 32B and for padded types",
    ),
    TensorCopyProblem.SWIZZLE: (
        "uses the tensor map at {address} with a swizzle that the copy does not support",
        "interleave 32B needs swizzle 32B; the 8-byte flip supports loads only; im2col::w needs 64B, 128B "
        "or 128B_ATOM_32B",
    ),
    TensorCopyProblem.COORDINATE: (
        "has coordinate {signed}, where this copy cannot start",
        "im2col must start inside the bounding box, packed types at a multiple of 2 or 128 elements, "
        "im2col_no_offs::w inside the tensor",
    ),
    TensorCopyProblem.OFFSET: (
        "has offset {number}, which is out of range",
        "im2col offsets have 16, 8 or 5 bits in 3, 4 or 5 dimensions; wHalo is below 512 (32 in "
        "im2col::w::128), wOffset below 32",
    ),
    TensorCopyProblem.SHARED_ALIGNMENT: (
        "copies to or from shared memory at {address}, which is not a multiple of 128",
        "align the tile to 128 bytes, to 1024 for a 128-byte swizzle whose pattern starts with the tile",
    ),
    TensorCopyProblem.SHARED_BOUNDS: (
        "copies a box of {detail} bytes to or from shared memory at {address}, which is out of bounds",
        "check that the box of the tensor map has the size of the allocated tile. With a swizzle each row "
        "takes at least the bytes of the swizzle",
    ),
    TensorCopyProblem.GLOBAL_BOUNDS: (
        "accesses {address}, outside every buffer",
        "the shape or strides of the tensor map exceed its array",
    ),
    TensorCopyProblem.READ_ONLY: ("writes {address}, which is read-only", None),
    TensorCopyProblem.TARGET: ("names CTA {number} of the cluster, which does not exist", None),
    TensorCopyProblem.BARRIER: (
        "signals an mbarrier of CTA {number} of the cluster, which is not the CTA it writes to",
        "the mbarrier must be in the CTA of the destination, with .cta_group::2 in one CTA of the pair",
    ),
    TensorCopyProblem.FIELD: ("writes the invalid value {number} to a field of a tensor map", None),
}


def explain(extra: int, address: int) -> tuple[str, str | None]:
    """Return a description, which follows "thread ... ", and a hint.

    Args:
        extra: the problem in 8 bits, and a number in the bits above.
    """
    text, hint = _TEXT[TensorCopyProblem(extra & 255)]
    signed = address - (1 << 64) if address >> 63 else address
    return text.format(address=f"0x{address:x}", number=address, signed=signed, detail=extra >> 8), hint
