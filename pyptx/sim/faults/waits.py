"""What went wrong with mbarriers, clusters and asynchronous copies, in words."""

from __future__ import annotations

__all__ = ["explain", "is_mbarrier", "mbarrier_text"]

MOST = (1 << 20) - 1


def is_mbarrier(bits: int) -> bool:
    """Whether 8 bytes are an mbarrier, of layout v0 or v1."""
    return bits >> 62 in (1, 2)


def mbarrier_text(bits: int) -> str:
    """The state of an mbarrier (MB_WORD in core/core.h)."""
    if not is_mbarrier(bits):
        return "no mbarrier (its bytes are 0)" if not bits else f"no mbarrier (its bytes are 0x{bits:016x})"
    tx = (bits >> 40 & 0x1FFFFF) - (1 << 21 if bits >> 60 & 1 else 0)
    bytes_ = f", {tx} bytes to come" if tx > 0 else f", {-tx} bytes too many so far" if tx else ""
    return f"phase {bits >> 61 & 1}, {bits & MOST} of {bits >> 20 & MOST} arrivals to come{bytes_}"


def explain(kind: str, address: int, extra: int) -> tuple[str, str | None] | None:
    """What happened and a hint; None for a kind that is none of these."""
    place = f"0x{address & 0xFFFFFF:x}" + (f" of CTA rank {address >> 24}" if address >> 24 else "")
    match kind:
        case "no_mbarrier":
            hint = "mbarrier.init comes first, and a barrier between it and the other threads"
            if extra:
                hint += f"; these bytes were written by something else: 0x{extra:016x}"
            return f"uses the mbarrier at {place}, but there is no mbarrier at {place}", hint
        case "mbarrier_count":
            return (f"names the mbarrier at {place}, and the count is {extra}; expected 1..{MOST}, of layout v1 1..511",
                    None)
        case "mbarrier_underflow":
            return (f"brings more arrivals than it expects to the mbarrier at {place} ({mbarrier_text(extra)})",
                    "is the count of mbarrier.init the number of arrivals of a phase?")
        case "tx_range":
            extra -= 1 << 64 if extra >> 63 else 0
            return (f"takes the transaction count of the mbarrier at {place} to {extra}; it holds -{MOST}..{MOST}",
                    "is expect_tx called in every phase, with the bytes that come?")
        case "no_complete":
            return (f"is .noComplete but completes its phase: the mbarrier at {place} has {mbarrier_text(extra)}", None)
        case "size":
            return f"copies {address} bytes" + (f"; at most {extra}" if extra else
                                                ", which is not a size it can copy"), "bulk copies take multiples of 16"
        case "remote":
            return (f"names address 0x{address:x} of another CTA (rank {address >> 24 & 0xFF}) where only its own will "
                    "do", "addresses of other CTAs need .shared::cluster; an mbarrier is in the CTA of the data")
        case "rank":
            return f"names CTAs by the mask 0x{address:x}; the cluster has {extra}", None
        case "cluster_arrive":
            return "arrives at the cluster barrier again without having waited", None
        case "cluster_wait":
            return "waits at the cluster barrier without having arrived", "barrier.cluster.arrive comes first"
        case "registers":
            return f"asks for {address} registers and has {extra}", "setmaxnreg.inc goes up, setmaxnreg.dec down"
        case "warpgroup":
            return (f"asks for {address & 0xFFFFFFFF} registers where warp {address >> 32} of its warpgroup asked for "
                    f"{extra}", "all warps of a warpgroup execute the same setmaxnreg")
        case "split":
            return (f"executes it with lanes 0x{address:08x} of 0x{extra:08x} only; it needs the whole warp (.aligned)",
                    None)
    return None
