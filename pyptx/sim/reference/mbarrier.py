"""State of mbarriers: their 8 bytes in shared memory, and updates of it (core/src/mbarrier.c)."""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.sim.memory.address_space import SHARED_START
from pyptx.sim.reference.state import Cta, Fault, Run

__all__ = ["MOST", "MOST_OF", "Word", "check", "read_word", "signal", "update", "word_of", "write_word"]

MOST = (1 << 20) - 1
MOST_OF = MOST, 511  # arrivals, by layout


@frozen
class Word:
    """Pending and expected arrivals, pending bytes (negative if they are ahead of expect_tx), parity of the phase.

    `layout` is 0 or 1; `valid` is false for bytes that are not an initialized mbarrier.
    """

    pending: int
    expected: int
    tx: int
    phase: int
    layout: int = 0
    valid: bool = True

    @property
    def bits(self) -> int:
        """The 8 bytes."""
        counts = self.pending | self.expected << 20 | (self.tx & 0x1FFFFF) << 40
        return counts | self.phase << 61 | self.layout + 1 << 62


def word_of(bits: int) -> Word:
    """Decode the 8 bytes of an mbarrier."""
    tx = bits >> 40 & 0x1FFFFF
    return Word(
        bits & MOST,
        bits >> 20 & MOST,
        tx - (1 << 21 if tx >> 20 else 0),
        bits >> 61 & 1,
        bits >> 63,
        bits >> 62 in (1, 2),
    )


def read_word(at: Cta, barrier: int) -> Word:
    """Read the mbarrier at an offset in the shared memory of a CTA."""
    start = barrier - SHARED_START
    return word_of(int.from_bytes(at.shared[start : start + 8], "little"))


def write_word(at: Cta, barrier: int, word: Word) -> None:
    """Write an mbarrier."""
    start = barrier - SHARED_START
    at.shared[start : start + 8] = word.bits.to_bytes(8, "little")


def check(at: Cta, barrier: int, lane: int) -> Word:
    """Read an mbarrier.

    Raises:
        Fault: there is no initialized mbarrier.
    """
    start = barrier - SHARED_START
    bits = int.from_bytes(at.shared[start : start + 8], "little")
    if bits >> 62 not in (1, 2):
        raise Fault("no_mbarrier", lane, barrier | at.base, bits)
    return word_of(bits)


def update(
    run: Run,
    at: Cta,
    barrier: int,
    lane: int,
    *,
    expect: int = 0,
    complete: int = 0,
    arrivals: int = 0,
    drop: int = 0,
    stays: bool = False,
) -> Word:
    """Update an mbarrier and return its previous state.

    Args:
        expect, complete: bytes to expect, and bytes that were transferred.
        arrivals: arrivals, `drop` of which leave the expected count.
        stays: the update must not complete the phase.
    """
    old, where = check(at, barrier, lane), barrier | at.base
    pending, expected, tx = old.pending - arrivals, old.expected - drop, old.tx + expect - complete
    if not 0 <= pending <= MOST or expected < 0:
        raise Fault("mbarrier_underflow", lane, where, old.bits)
    if abs(tx) > MOST:
        raise Fault("tx_range", lane, where, tx & (1 << 64) - 1)
    phase = old.phase
    if not pending and not tx:
        if stays:
            raise Fault("no_complete", lane, where, old.bits)
        phase, pending = phase ^ 1, expected
    write_word(at, barrier, Word(pending, expected, tx, phase, old.layout))
    run.landed = True
    return old


def signal(run: Run, at: Cta, barrier: int, lane: int, tx: int, arrivals: int) -> None:
    """Signal the completion of an operation."""
    update(run, at, barrier, lane, complete=tx, arrivals=arrivals)
