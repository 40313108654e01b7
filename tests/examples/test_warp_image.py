"""The image transform: resized, rotated and sheared images equal NumPy's, and its launch has no findings."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx import Surface, Texture


@pytest.mark.parametrize("shape", [(1, 1, 4), (33, 65, 4), (64, 40, 4)])
@pytest.mark.parametrize(
    "matrix", [[[1, 0, 0], [0, 1, 0]], [[0.5, 0.25, 3], [-0.25, 0.5, 9]], [[3, 0, -40], [0, 2, 7]]]
)
def test_pixels_come_from_where_the_matrix_says(example, shape, matrix):
    e = example("warp_image")
    image, out = e.picture(30, 50), np.zeros(shape, np.uint8)
    e.apply(image, out, np.array(matrix))
    assert np.abs(out - e.reference(image, shape, np.array(matrix))).max() <= 1.05


def test_the_identity_changes_nothing(example):
    e = example("warp_image")
    image = e.picture(20, 30)
    out = np.zeros_like(image)
    e.apply(image, out, np.array([[1, 0, 0], [0, 1, 0]]))
    np.testing.assert_array_equal(out, image)


def test_torch_tensors_are_read_and_written_in_place(example):
    torch = pytest.importorskip("torch")
    e = example("warp_image")
    image = torch.from_numpy(e.picture(16, 16))
    out = torch.zeros(8, 8, 4, dtype=torch.uint8)
    e.apply(image, out, e.resizing(image, out))
    wanted = e.reference(image.numpy(), (8, 8, 4), e.resizing(image, out))
    assert np.abs(out.numpy() - wanted).max() <= 1.05


def test_it_is_clean_in_every_schedule(example):
    e = example("warp_image")
    image, out = e.picture(20, 40), np.zeros((16, 40, 4), np.uint8)
    texture = Texture(image, "2d", filter="linear", read="normalized_float", address="border")
    report = pyptx.load(e.warp_image.ptx())["warp_image"].check(
        (2, 2), e.BLOCK, texture, Surface(out, "2d"), 40, 16, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, random=2
    )
    assert report.ok, report


def test_it_reads_by_the_texture_unit(example):
    compiled = example("warp_image").warp_image.compile()
    opcodes = [line.opcode.partition(".")[0] for line in compiled.sass]
    assert opcodes.count("TEX") == 1 and opcodes.count("SUST") == 1
    assert compiled.resources["warp_image"].registers <= 16
