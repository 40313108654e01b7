"""Kernels of nvcc that read textures and write surfaces."""

from __future__ import annotations

import numpy as np
from sim.compiled.case import Case, case, numbers

from pyptx import Surface, Texture


def _fixed(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lower of two neighbours of a coordinate in elements, and the weight of the upper one, of 8 bits."""
    t = np.floor(x.astype(np.float64) * 256 + 0.5).astype(np.int64) - 128
    return t >> 8, (t & 255) / 256


def _linear(image: np.ndarray, *coordinates: np.ndarray) -> np.ndarray:
    """An array between its elements, clamped; coordinates in elements, x first."""
    parts, total = [_fixed(c) for c in coordinates], 0
    for corner in range(1 << len(parts)):
        weight, place = 1, []
        for d, (low, part) in enumerate(parts):
            upper = corner >> d & 1
            weight = weight * (part if upper else 1 - part)
            place.append(np.clip(low + upper, 0, image.shape[len(parts) - 1 - d] - 1))
        total = total + weight.reshape(weight.shape + (1,) * (image.ndim - len(parts))) * image[tuple(reversed(place))]
    return total


@case("images.cu:resize")
def resize():
    rng, (width, height) = np.random.default_rng(0), (24, 10)
    image = rng.integers(0, 256, (7, 9, 4), np.uint8)
    column, row = np.meshgrid(
        (np.arange(width, dtype=np.float32) + np.float32(0.5)) / np.float32(width),
        (np.arange(height, dtype=np.float32) + np.float32(0.5)) / np.float32(height),
    )
    want = np.floor(_linear(image / 255, column.astype(float) * 9, row.astype(float) * 7) * 255 + 0.5)
    out = np.zeros((height, width, 4), np.uint8)  # a sum on the edge of a byte may go either way
    texture = Texture(image, "2d", filter="linear", normalized=True, read="normalized_float", address="clamp")
    return Case(2, 128, (texture, Surface(out, "2d"), width, height), [(out, want, 1 / 200)])


@case("images.cu:volume")
def volume():
    box, points = numbers(5, 6, 7), np.abs(numbers(200, 3, seed=1)) * np.float32(3)
    y = np.zeros(200, np.float32)
    return Case(2, 128, (Texture(box, "3d", filter="linear"), points, y, 200), [(y, _linear(box, *points.T), 1e-6)])


@case("images.cu:table")
def table():
    words, pixels = np.arange(64, dtype=np.int32) * 5 - 99, np.random.default_rng(2).integers(0, 256, (64, 4), np.uint8)
    where = np.random.default_rng(3).integers(-4, 68, 100).astype(np.int32)
    y, inside = np.zeros((100, 4), np.int32), (where >= 0) & (where < 64)
    p = np.where(inside[:, None], pixels[where.clip(0, 63)].astype(int), 0)
    want = np.stack([np.where(inside, words[where.clip(0, 63)], 0), p[:, 0], p[:, 1] + p[:, 2], p[:, 3]], axis=1)
    return Case(
        1, 128, (Texture(words, memory="linear"), Texture(pixels, "1d", memory="linear"), where, y, 100), [(y, want, 0)]
    )


@case("images.cu:layers")
def layers():
    lines, images, points = numbers(3, 8), numbers(3, 6, 8, seed=1), np.abs(numbers(90, 2, seed=2)) * np.float32(4)
    layer, y = np.arange(90) % 3, np.zeros((90, 2), np.float32)
    x, row = (np.clip(np.floor(c).astype(int), 0, n - 1) for c, n in zip(points.T, (8, 6), strict=True))
    want = np.stack([lines[layer, x], images[layer, row, x]], axis=1)
    return Case(1, 96, (Texture(lines, "a1d"), Texture(images, "a2d"), points, y, 3, 90), [(y, want, 0)])


@case("images.cu:sky")
def sky():
    cube, cubes, rays = numbers(6, 8, 8), numbers(2, 6, 8, 8, seed=1), numbers(120, 3, seed=2)
    x, y, z = rays.T.astype(np.float64)
    axis = np.argmax(np.abs(rays), axis=1)
    m = np.abs(rays[np.arange(120), axis]).astype(np.float64)
    face = 2 * axis + (rays[np.arange(120), axis] < 0)
    s = np.choose(face, [-z, z, x, x, x, -x])
    t = np.choose(face, [-y, -y, z, -z, -y, -y])
    column, row = (np.clip(np.floor((c / m + 1) / 2 * 8).astype(int), 0, 7) for c in (s, t))
    out = np.zeros((120, 2), np.float32)
    want = np.stack([cube[face, row, column], cubes[np.arange(120) % 2, face, row, column]], axis=1)
    return Case(
        1,
        128,
        (Texture(cube, "cube", normalized=True), Texture(cubes, "acube", normalized=True), rays, out, 2, 120),
        [(out, want, 0)],
    )


@case("images.cu:levels")
def levels():
    pyramid = [numbers(64 >> k, 64 >> k, seed=k) for k in range(5)]
    points = np.random.default_rng(9).random((80, 3)).astype(np.float32)
    points[:, 2] = np.arange(80) % 4 + np.float32(0.25)
    y, nearest = np.zeros((80, 2), np.float32), np.floor(points[:, 2] + 0.5).astype(int)
    want = np.array(
        [pyramid[k][int(v * (64 >> k)), int(u * (64 >> k))] for (u, v, _), k in zip(points, nearest, strict=True)]
    )
    return Case(1, 96, (Texture(pyramid, "2d", normalized=True), points, y, 80), [(y, np.stack([want, want], 1), 0)])


@case("images.cu:corners")
def corners():
    image, points = numbers(9, 11), np.random.default_rng(4).uniform(2, 8, (70, 2)).astype(np.float32)
    (i, _), (j, _) = _fixed(points[:, 0]), _fixed(points[:, 1])
    around = np.stack([image[j + 1, i], image[j + 1, i + 1], image[j, i + 1], image[j, i]], axis=1)
    x, row = points.T.astype(int)
    sums = sum(image[row + a, x + b] for a in (-1, 0, 1) for b in (-1, 0, 1))
    y, got = np.zeros((70, 4), np.float32), np.zeros(70, np.float32)
    return Case(1, 96, (Texture(image), points, y, got, 70), [(y, around, 0), (got, sums, 1e-6)])


@case("images.cu:smooth")
def smooth():
    image, out = numbers(13, 17), np.zeros((13, 17), np.float32)
    wide = np.pad(image, 1)
    want = (wide[1:-1, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] + wide[:-2, 1:-1] + wide[2:, 1:-1]) / 5
    return Case(2, 128, (Surface(image), Surface(out), 17, 13), [(out, want, 1e-6)])


@case("images.cu:slices")
def slices():
    box, images = numbers(3, 5, 8, 2), np.zeros((3, 5, 8, 2), np.float32)
    line = np.arange(32, dtype=np.int16).reshape(16, 2)
    want = line.copy()
    want[8:] = line[:8]
    return Case(
        1,
        128,
        (Surface(box, "3d"), Surface(images, "a2d"), Surface(line, "1d"), 8, 5, 3),
        [(images, box[:, ::-1], 0), (line, want, 0)],
    )
