"""Textures and surfaces on a GPU, compared with the simulator."""

from __future__ import annotations

import numpy as np
import pytest
from device.programs import load
from sim.compiled import cuda_images  # noqa: F401  (it registers cases)
from sim.compiled.case import cases, close
from sim.test_compiled_kernels import CORPUS

from pyptx import Surface, Texture

pytestmark = pytest.mark.gpu

# A weight of a GPU's filter may be off by its last bit: parts of the largest number.
LOOSE = {"resize": 2 / 255, "volume": 0.03}
NAMES = sorted(name.partition(":")[2] for name in cases() if name.startswith("images.cu:"))


@pytest.mark.parametrize("name", NAMES)
def test_kernels_of_nvcc_give_what_numpy_gives(name, gpu):
    case = cases()[f"images.cu:{name}"]()
    wanted = [(got, np.array(want), max(tolerance, LOOSE.get(name, 0))) for got, want, tolerance in case.expected]
    entry = load(CORPUS / "ptx" / "nvcc" / "images.sm_80.ptx")[name]
    entry.launch(case.grid, case.block, *case.args, backend="cuda")
    assert not [problem for got, want, tolerance in wanted if (problem := close(got, want, tolerance))]


def test_a_picture_is_turned_as_on_the_simulator(gpu, example):
    e = example("warp_image")
    image, ours, theirs = e.picture(60, 80), np.zeros((64, 64, 4), np.uint8), np.zeros((64, 64, 4), np.uint8)
    matrix = e.rotation(image, ours, 30, 0.7)
    e.apply(image, ours, matrix, backend="sim")
    e.apply(image, theirs, matrix, backend="cuda")
    assert np.abs(ours.astype(int) - theirs).max() <= 2


def test_tensors_on_the_gpu_are_read_and_written(gpu, example, torch):
    e = example("warp_image")
    image = torch.from_numpy(e.picture(32, 32)).cuda()
    out = torch.zeros(32, 32, 4, dtype=torch.uint8, device="cuda")
    identity = np.array([[1, 0, 0], [0, 1, 0]])
    for _ in range(3):
        e.apply(image, out, identity)
    assert torch.equal(image, out)


@pytest.mark.parametrize("mode", ["wrap", "clamp", "mirror", "border"])
def test_address_modes_are_those_of_the_simulator(mode, gpu, example):
    e = example("warp_image")
    image, grid = e.picture(24, 24), ((2, 6), e.BLOCK)
    texture = Texture(image, "2d", normalized=True, read="normalized_float", address=mode)
    results = []
    for backend in ("sim", "cuda"):
        out = np.zeros((48, 48, 4), np.uint8)
        e.warp_image.launch(
            *grid, texture, Surface(out, "2d"), 48, 48, 0.0703, 0.01, -1.1, 0.013, 0.0703, -0.9, backend=backend
        )
        results.append(out.astype(int))
    assert np.abs(results[0] - results[1]).max() <= 1
