"""Messages for invalid uses of tensor memory, see `abi.TensorMemoryProblem`."""

from __future__ import annotations

from pyptx.sim.abi import TensorMemoryProblem

__all__ = ["explain"]

# {about}; {low} and {high} are its 32-bit halves; {place} is {low} as lane and column
_TEXT = {
    TensorMemoryProblem.COLUMNS: (
        "allocates {about} columns of tensor memory",
        "allocate 32, 64, 128, 256 or 512 columns",
    ),
    TensorMemoryProblem.RELINQUISHED: (
        "allocates tensor memory after its CTA relinquished the permit",
        "execute tcgen05.relinquish_alloc_permit after the last tcgen05.alloc",
    ),
    TensorMemoryProblem.NOT_ALLOCATED: (
        "frees tensor memory at {place}, where no allocation starts",
        "pass the address that tcgen05.alloc wrote, and free it once",
    ),
    TensorMemoryProblem.SIZE: ("frees {low} columns of tensor memory, but {high} are allocated there", None),
    TensorMemoryProblem.LEAK: (
        "allocated {high} columns of tensor memory at column {low}, and its CTA ended without freeing them",
        "execute tcgen05.dealloc before the CTA exits; on hardware the next kernel would hang",
    ),
    TensorMemoryProblem.UNALLOCATED: (
        "accesses {high} columns of tensor memory from {place} on, which are not all allocated",
        "use the address that tcgen05.alloc wrote, and allocate enough columns",
    ),
    TensorMemoryProblem.WARP: (
        "accesses tensor memory at {place}, but this warp can access lanes {high} to {last} only",
        "add the warp's first lane: (warp % 4) << 21; shapes with 16 lanes start there or 16 lanes later",
    ),
    TensorMemoryProblem.LANE: (
        "uses tensor memory at {place}; it cannot start at that lane",
        "D of 64 rows without .ws starts at lane 0 or 16, other operands at lane 0, tcgen05.shift at a multiple of 32",
    ),
    TensorMemoryProblem.UNEVEN: (
        "has another tensor memory address than lane 0, which has {place}",
        "all lanes of a warp must pass the same address",
    ),
    TensorMemoryProblem.PAIR: (
        "is for a pair of CTAs (cta_group::2), but the cluster size is {about}",
        "launch with a cluster of an even number of CTAs",
    ),
    TensorMemoryProblem.MIXED: (
        "has another cta_group than {about}, which earlier instructions have",
        "all tcgen05 instructions of a kernel must use the same cta_group",
    ),
    TensorMemoryProblem.PAIR_SIZE: (
        "allocates {low} columns of tensor memory, the other CTA of the pair {high}",
        "with cta_group::2 both CTAs must allocate the same number",
    ),
    TensorMemoryProblem.TYPE: (
        "has instruction descriptor 0x{low:08x}, whose types its kind does not support",
        "types of A, B and D are bits 7-9, 10-12 and 4-5, the type of scales is bit 23",
    ),
    TensorMemoryProblem.SHAPE: (
        "has instruction descriptor 0x{low:08x}: M = {m}, N = {n}, which its kind does not support",
        "M is 64 or 128 (with cta_group::2 128 or 256, with .ws 32, 64 or 128; block-scaled 128 of each "
        "CTA), N a multiple of 8 (16 with cta_group::2, more for i8 and transposed B) up to 256, with .ws "
        "64, 128 or 256",
    ),
    TensorMemoryProblem.SPARSE: (
        "has instruction descriptor 0x{low:08x}, whose sparse bit (2) contradicts the instruction",
        "set it for tcgen05.mma.sp, clear it without .sp",
    ),
    TensorMemoryProblem.RESERVED: (
        "has instruction descriptor 0x{low:08x}, which sets bits that its kind reserves",
        None,
    ),
    TensorMemoryProblem.K96: ("has instruction descriptor 0x{low:08x}: K = 96, which is not simulated", None),
    TensorMemoryProblem.TRANSPOSE: (
        "has instruction descriptor 0x{low:08x}, which transposes an operand that must be K-major",
        "4- and 6-bit types, fp4 kinds and A in tensor memory are K-major",
    ),
    TensorMemoryProblem.VERSION: (
        "has matrix descriptor 0x{about:016x}, without the 0b001 in bits 46-48",
        "it may be a wgmma descriptor; ptx.tcgen05.descriptor makes tcgen05 descriptors",
    ),
    TensorMemoryProblem.LAYOUT: (
        "has matrix descriptor 0x{about:016x}, whose layout (bits 61-63) the operand does not support",
        "0 none, 2 128 bytes, 4 64 bytes, 6 32 bytes; 1, 128 bytes in atoms of 32, is required for MN-major tf32 only",
    ),
    TensorMemoryProblem.SCALE_ID: (
        "has instruction descriptor 0x{low:08x}, whose scale ids do not match the scale vector",
        "with two scales per row the ids are 0 or 2, with four 0",
    ),
    TensorMemoryProblem.SHIFT: (
        "shifts the columns of B by {about}, more than the instruction descriptor allows",
        "bits 30-31 allow 8, 16 or 32; with M = 32 at most 16",
    ),
    TensorMemoryProblem.ALIGNMENT: (
        "has D at {place}, and A or its metadata at another lane",
        "they must start at the same lane",
    ),
    TensorMemoryProblem.SELECTOR: (
        "has instruction descriptor 0x{low:08x} with a sparsity selector (bits 0-1)",
        "only sparse f16 and tf32 have a selector",
    ),
    TensorMemoryProblem.ASHIFT: (
        "shifts the rows of A with instruction descriptor 0x{low:08x}: M = {m}",
        ".ashift requires M = 128 or 256",
    ),
    TensorMemoryProblem.NEGATE: ("has instruction descriptor 0x{low:08x}, which negates integers", None),
    TensorMemoryProblem.ABSOLUTE: (
        "has matrix descriptor 0x{about:016x} with an absolute leading address (bit 52), which is not simulated",
        "it is part of K = 96",
    ),
    TensorMemoryProblem.TARGET: ("signals CTA {about} of the cluster, which does not exist", None),
    TensorMemoryProblem.EXCLUSIVE: (
        "differs in .exclusive from the allocation or the other CTA",
        "both CTAs of a pair must make an .exclusive allocation so and free it by "
        "tcgen05.dealloc.exclusive; other allocations use neither",
    ),
    TensorMemoryProblem.BLOCKS: (
        "allocates {about} columns of tensor memory",
        "allocate a multiple of 32, at most 512",
    ),
}


def explain(problem: int, about: int) -> tuple[str, str | None]:
    """Return a description, which follows "thread ... ", and a hint."""
    text, hint = _TEXT[TensorMemoryProblem(problem)]
    low, high = about & 0xFFFFFFFF, about >> 32
    return text.format(
        about=about,
        low=low,
        high=high,
        last=high + 31,
        m=(low >> 24 & 31) << 4,
        n=(low >> 17 & 63) << 3,
        place=f"lane {low >> 16}, column {low & 0xFFFF}",
    ), hint
