"""What can be wrong with a use of tensor memory, numbered alike in core/tmem.h, and in words."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Problem", "explain"]


class Problem(IntEnum):
    """Found when a tcgen05 instruction is issued, and at the end of a CTA; 0 is none."""

    NONE = 0
    COLUMNS = 1
    RELINQUISHED = 2
    NOT_ALLOCATED = 3
    SIZE = 4
    LEAK = 5
    UNALLOCATED = 6
    WARP = 7
    LANE = 8
    UNEVEN = 9
    PAIR = 10
    MIXED = 11
    PAIR_SIZE = 12
    TYPE = 13
    SHAPE = 14
    SPARSE = 15
    RESERVED = 16
    K96 = 17
    TRANSPOSE = 18
    VERSION = 19
    LAYOUT = 20
    SCALE_ID = 21
    SHIFT = 22
    ALIGNMENT = 23
    SELECTOR = 24
    ASHIFT = 25
    NEGATE = 26
    ABSOLUTE = 27
    TARGET = 28
    EXCLUSIVE = 29
    BLOCKS = 30


# {about}, and {low} and {high}, its halves of 32 bits; {place} is {low} as lane and column
_TEXT = {
    Problem.COLUMNS: ("allocates {about} columns of tensor memory", "32, 64, 128, 256 or 512 can be allocated"),
    Problem.RELINQUISHED: ("allocates tensor memory after its CTA gave up the right to",
                           "tcgen05.relinquish_alloc_permit comes after the last tcgen05.alloc"),
    Problem.NOT_ALLOCATED: ("frees tensor memory at {place}, where no allocation begins",
                            "was it freed twice, or is the address not the one that tcgen05.alloc wrote?"),
    Problem.SIZE: ("frees {low} columns of tensor memory, but {high} were allocated there", None),
    Problem.LEAK: ("allocated {high} columns of tensor memory at column {low}, and its CTA ended without freeing them",
                   "a warp executes tcgen05.dealloc before the CTA exits; on hardware the next kernel would wait for "
                   "ever"),
    Problem.UNALLOCATED: ("touches {high} columns of tensor memory from {place} on, which are not all allocated",
                          "is the address the one that tcgen05.alloc wrote, and was enough allocated?"),
    Problem.WARP: ("accesses tensor memory at {place}, but this warp of its warpgroup reaches lanes {high} to {last} "
                   "only",
                   "add the warp's first lane: (warp % 4) << 21; shapes with 16 lanes begin there or 16 lanes later"),
    Problem.LANE: ("uses tensor memory at {place}; it cannot begin at that lane",
                   "D of 64 rows without .ws begins at lane 0 or 16, other operands at lane 0, tcgen05.shift at a "
                   "multiple of 32"),
    Problem.UNEVEN: ("has another address of tensor memory than lane 0, which has {place}",
                     "all lanes of a warp pass the same one"),
    Problem.PAIR: ("is for a pair of CTAs (cta_group::2), but its cluster has {about}",
                   "launch with a cluster of 2, 4, 6.. CTAs"),
    Problem.MIXED: ("names another cta_group than {about}, which instructions before it named",
                    "all tcgen05 instructions of a kernel use the same"),
    Problem.PAIR_SIZE: ("allocates {low} columns of tensor memory, the other CTA of the pair {high}",
                        "with cta_group::2 both allocate the same"),
    Problem.TYPE: ("has instruction descriptor 0x{low:08x}, whose types do not go with its kind",
                   "types of A, B and D are bits 7-9, 10-12 and 4-5, the type of scales is bit 23"),
    Problem.SHAPE: ("has instruction descriptor 0x{low:08x}: M = {m}, N = {n}, which its kind does not have",
                    "M is 64 or 128 (with cta_group::2 128 or 256, with .ws 32, 64 or 128; block-scaled 128 of each "
                    "CTA), N a multiple of 8 (16 with cta_group::2, more for i8 and transposed B) up to 256, with .ws "
                    "64, 128 or 256"),
    Problem.SPARSE: ("has instruction descriptor 0x{low:08x}, whose sparse bit (2) contradicts the instruction",
                     "it is set for tcgen05.mma.sp, and clear without .sp"),
    Problem.RESERVED: ("has instruction descriptor 0x{low:08x}, in which bits are set that its kind reserves", None),
    Problem.K96: ("has instruction descriptor 0x{low:08x}: K = 96, which is not simulated", None),
    Problem.TRANSPOSE: ("has instruction descriptor 0x{low:08x}, which transposes what cannot be",
                        "types of 4 and 6 bits, fp4 kinds and A in tensor memory are K-major"),
    Problem.VERSION: ("has matrix descriptor 0x{about:016x}, without the 0b001 in bits 46-48",
                      "is it one of wgmma? ptx.tcgen05.descriptor makes those of tcgen05"),
    Problem.LAYOUT: ("has matrix descriptor 0x{about:016x}, whose layout (bits 61-63) does not go with the operand",
                     "0 none, 2 128 bytes, 4 64 bytes, 6 32 bytes; 1, 128 bytes in atoms of 32, is for MN-major tf32, "
                     "which has no other"),
    Problem.SCALE_ID: ("has instruction descriptor 0x{low:08x}, whose scale ids do not go with the scale vector",
                       "with two scales in a row the ids are 0 or 2, with four 0"),
    Problem.SHIFT: ("shifts the columns of B by {about}, more than the instruction descriptor allows",
                    "bits 30-31 allow 8, 16 or 32; with M = 32 at most 16"),
    Problem.ALIGNMENT: ("has D at {place}, and A or its metadata at another lane", "they begin at the same lane"),
    Problem.SELECTOR: ("has instruction descriptor 0x{low:08x} with a sparsity selector (bits 0-1)",
                       "only sparse f16 and tf32 have one"),
    Problem.ASHIFT: ("shifts the rows of A with instruction descriptor 0x{low:08x}: M = {m}",
                     ".ashift is for M = 128 and 256"),
    Problem.NEGATE: ("has instruction descriptor 0x{low:08x}, which negates integers", None),
    Problem.ABSOLUTE: ("has matrix descriptor 0x{about:016x} with an absolute leading address (bit 52), which is not "
                       "simulated", "it belongs to K = 96"),
    Problem.TARGET: ("signals CTA {about} of the cluster, which there is not", None),
    Problem.EXCLUSIVE: ("is .exclusive where the other is not",
                        "an .exclusive allocation is made so by both CTAs of a pair, and freed by "
                        "tcgen05.dealloc.exclusive; others without"),
    Problem.BLOCKS: ("allocates {about} columns of tensor memory", "multiples of 32 up to 512 can be allocated"),
}


def explain(problem: int, about: int) -> tuple[str, str | None]:
    """What happened, to follow "thread ... ", and what would do."""
    text, hint = _TEXT[Problem(problem)]
    low, high = about & 0xFFFFFFFF, about >> 32
    return text.format(about=about, low=low, high=high, last=high + 31, m=(low >> 24 & 31) << 4,
                       n=(low >> 17 & 63) << 3, place=f"lane {low >> 16}, column {low & 0xFFFF}"), hint
