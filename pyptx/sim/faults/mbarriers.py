"""Messages for faults of mbarriers, clusters and asynchronous copies."""

from __future__ import annotations

__all__ = ["explain", "is_mbarrier", "mbarrier_text"]

MOST = (1 << 20) - 1


def is_mbarrier(bits: int) -> bool:
    """Return whether 8 bytes are an initialized mbarrier, of layout v0 or v1."""
    return bits >> 62 in (1, 2)


def mbarrier_text(bits: int) -> str:
    """Describe the state of an mbarrier."""
    if not is_mbarrier(bits):
        return "not an mbarrier (its bytes are 0)" if not bits else f"not an mbarrier (its bytes are 0x{bits:016x})"
    tx = (bits >> 40 & 0x1FFFFF) - (1 << 21 if bits >> 60 & 1 else 0)
    bytes_ = f", {tx} bytes pending" if tx > 0 else f", {-tx} bytes ahead of expect_tx" if tx else ""
    return f"phase {bits >> 61 & 1}, {bits & MOST} of {bits >> 20 & MOST} arrivals pending{bytes_}"


def explain(kind: str, address: int, extra: int) -> tuple[str, str | None] | None:
    """Return a description and a hint; None for a kind of fault that is not in this module."""
    place = f"0x{address & 0xFFFFFF:x}" + (f" of CTA rank {address >> 24}" if address >> 24 else "")
    match kind:
        case "no_mbarrier":
            hint = "initialize it with mbarrier.init, and synchronize the other threads before they use it"
            if extra:
                hint += f"; another write stored these bytes: 0x{extra:016x}"
            return f"uses the mbarrier at {place}, but there is no initialized mbarrier at {place}", hint
        case "mbarrier_count":
            return (
                f"has arrival count {extra} for the mbarrier at {place}; expected 1..{MOST} (1..511 for layout v1)",
                None,
            )
        case "mbarrier_underflow":
            return (
                f"makes more arrivals than expected at the mbarrier at {place} ({mbarrier_text(extra)})",
                "check that the count of mbarrier.init is the number of arrivals per phase; if one thread is to arrive, "
                "let only one, as in `with ptx.if_(tid == 0):`",
            )
        case "tx_range":
            extra -= 1 << 64 if extra >> 63 else 0
            return (
                f"changes the transaction count of the mbarrier at {place} to {extra}; the range is -{MOST}..{MOST}",
                "call expect_tx in every phase, with the bytes that its copies transfer",
            )
        case "no_complete":
            return (
                f"is .noComplete but would complete the phase: the mbarrier at {place} is in {mbarrier_text(extra)}",
                None,
            )
        case "size":
            return f"copies {address} bytes" + (
                f"; at most {extra}" if extra else ", which is not a size it can copy"
            ), "bulk copies take multiples of 16"
        case "remote":
            return (
                f"uses address 0x{address:x} of another CTA (rank {address >> 24 & 0xFF}), but must use its own shared memory",
                "addresses of other CTAs need .shared::cluster; the mbarrier is in the CTA of the destination",
            )
        case "rank":
            return f"has CTA mask 0x{address:x}; the cluster has {extra} CTAs", None
        case "cluster_arrive":
            return "arrives at the cluster barrier again without waiting first", None
        case "cluster_wait":
            return "waits at the cluster barrier without arriving first", "execute barrier.cluster.arrive before it"
        case "registers":
            return (
                f"requests {address} registers and has {extra}",
                "setmaxnreg.inc raises the count, setmaxnreg.dec lowers it",
            )
        case "warpgroup":
            return (
                f"requests {address & 0xFFFFFFFF} registers where warp {address >> 32} of its warpgroup requested "
                f"{extra}",
                "all warps of a warpgroup must execute the same setmaxnreg",
            )
        case "split":
            return (
                f"executes it with lanes 0x{address:08x} of 0x{extra:08x} only; it requires the whole warp (.aligned)",
                None,
            )
    return None
