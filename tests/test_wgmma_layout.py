"""Layouts of wgmma operands: the cases of the compatibility page, and properties of all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyptx.types import bf16, f32
from pyptx.wgmma_layout import GmmaLayout, LayoutType, Major, layout_for_a, layout_for_b, pick_gmma_layout

pytestmark = pytest.mark.quick


ROWS = st.sampled_from([16, 32, 64, 128, 256, 384, 1024])
ELEMENTS = st.sampled_from([1, 2, 4])
EIGHTS = st.integers(1, 32).map(lambda n: 8 * n)


@pytest.mark.parametrize(
    ("major", "row", "other", "expected"),
    [
        ("K", 16, 64, (LayoutType.INTERLEAVE, 16, 128)),
        ("K", 32, 64, (LayoutType.B32, 16, 256)),
        ("K", 64, 64, (LayoutType.B64, 16, 512)),
        ("K", 128, 64, (LayoutType.B128, 16, 1024)),
        ("K", 256, 64, (LayoutType.B128, 64 * 128, 1024)),
        ("MN", 16, 64, (LayoutType.INTERLEAVE, 128, 16)),
        ("MN", 32, 64, (LayoutType.B32, 16, 256)),
        ("MN", 128, 64, (LayoutType.B128, 16, 1024)),
        ("MN", 512, 64, (LayoutType.B128, 64 * 128, 1024)),
    ],
)
def test_offsets_by_the_bytes_of_a_row(major, row, other, expected):
    sizes = {"m_or_n": other, "k": row // 2} if major == "K" else {"m_or_n": row // 2, "k": other}
    layout = pick_gmma_layout(elem_bytes=2, major=Major[major], **sizes)
    assert (layout.layout_type, layout.leading_byte_offset, layout.stride_byte_offset) == expected


@given(elem=ELEMENTS, row=ROWS, other=EIGHTS, major=st.sampled_from(Major))
def test_every_layout_can_be_put_in_a_descriptor(elem, row, other, major):
    k_major = major == Major.K
    layout = pick_gmma_layout(
        elem_bytes=elem, m_or_n=other if k_major else row // elem, k=row // elem if k_major else other, major=major
    )
    for offset in (layout.leading_byte_offset, layout.stride_byte_offset):
        assert offset % 16 == 0 and offset // 16 < 1 << 14
    assert layout.swizzle_code == int(layout.layout_type) in range(4)
    assert layout.tma_swizzle == (layout.smem_swizzle or "NONE")
    width = {"NONE": 16, "32B": 32, "64B": 64, "128B": 128}[layout.tma_swizzle]
    assert row % width == 0 and (width == 128 or row == width)


@given(elem=ELEMENTS, m=EIGHTS, k=st.integers(1, 600))
def test_a_row_that_no_swizzle_fits_is_refused(elem, m, k):
    row = elem * k
    if row in (16, 32, 64) or row % 128 == 0:
        assert isinstance(pick_gmma_layout(elem_bytes=elem, m_or_n=m, k=k, major=Major.K), GmmaLayout)
    else:
        with pytest.raises(ValueError, match="not one of the canonical"):
            pick_gmma_layout(elem_bytes=elem, m_or_n=m, k=k, major=Major.K)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (dict(elem_bytes=2, m_or_n=60, k=64, major=Major.K), "M divisible by 8"),
        (dict(elem_bytes=2, m_or_n=64, k=60, major=Major.MN), "K divisible by 8"),
        (dict(elem_bytes=2, m_or_n=0, k=64, major=Major.K), "positive"),
        (dict(elem_bytes=2, m_or_n=24, k=64, major=Major.MN), "canonical"),
        (dict(elem_bytes=2, m_or_n=4, k=64, major=Major.MN), "canonical"),
    ],
)
def test_wrong_sizes_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        pick_gmma_layout(**sizes)


def test_a_is_k_major_and_b_is_mn_major():
    assert layout_for_a(dtype=bf16, m=64, k=64) == pick_gmma_layout(elem_bytes=2, m_or_n=64, k=64, major=Major.K)
    assert layout_for_b(dtype=4, k=64, n=32) == pick_gmma_layout(elem_bytes=4, m_or_n=32, k=64, major=Major.MN)
    assert layout_for_b(dtype=f32, k=64, n=32) == layout_for_b(dtype=4, k=64, n=32)
