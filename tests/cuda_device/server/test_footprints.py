"""Sets of ranges, against sets of addresses."""

from __future__ import annotations

import numpy as np

from pyptx.cuda_device.server import footprints

BASE = 0x3000_0000_0000


def _drawn(random: np.random.Generator, bytewise: bool) -> tuple[np.ndarray, set[int]]:
    flags = random.random(96) < random.random() if bytewise else np.repeat(random.random(12) < 0.5, 8)
    return footprints.ranges_of_bits(BASE, np.packbits(flags, bitorder="little")), set(np.flatnonzero(flags) + BASE)


def _bytes(ranges: np.ndarray) -> set[int]:
    return {address for start, end in ranges.tolist() for address in range(start, end)}


def test_ranges_are_sets_of_addresses():
    random = np.random.default_rng(5)
    for case in range(200):
        (one, first), (other, second) = _drawn(random, case % 2 == 0), _drawn(random, case % 3 == 0)
        assert _bytes(one) == first
        assert footprints.first_shared(one, other) == min(first & second, default=None)
        assert footprints.covers(one, other) == (second <= first)
        union = footprints.joined([one, other])
        assert _bytes(union) == first | second
        assert (union[1:, 0] > union[:-1, 1]).all(), "ranges do not adjoin"


def test_rows_of_a_box():
    ranges = footprints.ranges_of_rows(BASE, 3, rows=2, pitch=4, slices=2, slice_=16)
    assert _bytes(ranges) == {BASE + at + k for at in (0, 4, 16, 20) for k in range(3)}
    assert len(footprints.ranges_of_rows(BASE, 4, rows=8, pitch=4)) == 1
