"""Affine image transform (resize, rotate, shear) from a texture into a surface: bilinear, 4 x 8-bit channels.

    python examples/warp_image.py
    pyptx view examples/warp_image.py:warp_image

The texture unit scales normalized coordinates, gathers the four pixels around a point, converts bytes to fractions,
interpolates, and returns the border color out of bounds. A thread computes its source coordinates, samples once, and
stores four bytes. Techniques:

- A `pyptx.Texture` and a `pyptx.Surface` are passed as handles in `.u64` parameters.
- `ptx.tex` and `ptx.sust` emit the instructions; the x coordinate of a surface is in bytes.

Cost: 16 registers per thread.
"""

from __future__ import annotations

import math

import numpy as np

from pyptx import Surface, Texture, kernel, ptx, reg
from pyptx.testing import compare
from pyptx.types import b8, b16, f32, u32, u64

BLOCK = (32, 8)


def warped():
    """Set pixel (x, y) of `out` to `image` at (a x + b y + c, d x + e y + f); pixel centers are at .5."""
    image, out = ptx.param(u64, "image"), ptx.param(u64, "out")
    width, height = ptx.param(u32, "width"), ptx.param(u32, "height")
    a, b, c, d, e, f = (ptx.param(f32, name) for name in "abcdef")
    x = reg.from_(ptx.special.ctaid.x(), u32) * BLOCK[0] + reg.from_(ptx.special.tid.x(), u32)
    y = reg.from_(ptx.special.ctaid.y(), u32) * BLOCK[1] + reg.from_(ptx.special.tid.y(), u32)
    with ptx.if_(x < width):
        with ptx.if_(y < height):
            column, row = center(x), center(y)
            u, v = weighed(column, a, row, b, c), weighed(column, d, row, e, f)
            fractions = ptx.tex("2d", image, (u, v))
            ptx.sust("2d", out, (x << 2, y), [to_byte(part) for part in fractions], dtype=b8)


def center(place):
    """Return the center of a pixel."""
    result = reg.scalar(f32)
    ptx.inst.cvt.rn.f32.u32(result, place)
    return result + 0.5


def weighed(x, a, y, b, c):
    """Return a x + b y + c."""
    result = reg.scalar(f32)
    ptx.inst.fma.rn.f32(result, y, b, c)
    ptx.inst.fma.rn.f32(result, x, a, result)
    return result


def to_byte(fraction):
    """Convert 0..1 to 0..255, rounding to nearest."""
    scaled, byte = fraction * 255.0, reg.scalar(b16)
    ptx.inst.cvt.rni.sat.u8.f32(byte, scaled)
    return byte


warp_image = kernel(
    warped,
    name="warp_image",
    arch="sm_80",
    block=(*BLOCK, 1),
    reqntid=(*BLOCK, 1),
    raw_params=[
        ("u64", "image"),
        ("u64", "out"),
        ("u32", "width"),
        ("u32", "height"),
        *(("f32", name) for name in "abcdef"),
    ],
)


def apply(image, out, matrix: np.ndarray, **options) -> None:
    """Fill `out` (height, width, 4 bytes) from `image`: NumPy or torch arrays, on the CPU or on a GPU.

    Args:
        matrix: 2 x 3, from pixels of `out` to pixels of `image`.
    """
    height, width = out.shape[:2]
    texture = Texture(image, "2d", filter="linear", read="normalized_float", address="border")
    grid = -(-width // BLOCK[0]), -(-height // BLOCK[1])
    warp_image.launch(
        grid, BLOCK, texture, Surface(out, "2d"), width, height, *map(float, np.float32(matrix).ravel()), **options
    )


def warp(image, shape: tuple[int, ...], matrix: np.ndarray):
    """Apply the transform into a new array, a NumPy array for JAX arrays."""
    out = image.new_zeros(shape) if hasattr(image, "new_zeros") else np.zeros(shape, np.uint8)
    apply(image, out, matrix)
    return out


def rotation(image, out, degrees: float, scale: float = 1.0) -> np.ndarray:
    """Return the matrix that rotates an image around its center and enlarges it by `scale`."""
    turn = math.radians(degrees)
    linear = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]) / scale
    middle, target = (np.array(array.shape[1::-1]) / 2 for array in (image, out))
    return np.column_stack([linear, middle - linear @ target])


def resizing(image, out) -> np.ndarray:
    """Return the matrix that fits an image into another size."""
    (height, width), (rows, columns) = image.shape[:2], out.shape[:2]
    return np.array([[width / columns, 0, 0], [0, height / rows, 0]])


def reference(image: np.ndarray, shape: tuple[int, ...], matrix: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, with the 8-bit weights of the CUDA C++ Programming Guide, not rounded to bytes."""
    m = np.asarray(matrix, np.float32)
    x, y = np.meshgrid(
        np.arange(shape[1], dtype=np.float32) + np.float32(0.5), np.arange(shape[0], dtype=np.float32) + np.float32(0.5)
    )
    padded, places, weights = np.pad(image, ((1, 1), (1, 1), (0, 0))).astype(np.float64), [], []
    for (p, q, r), size in zip(m, image.shape[1::-1], strict=True):
        fixed = np.floor((p * x + (q * y + r)).astype(np.float64) * 256 + 0.5).astype(np.int64) - 128
        places.append([np.clip((fixed >> 8) + k, -1, size) + 1 for k in (0, 1)])
        weights.append([1 - (fixed & 255) / 256, (fixed & 255) / 256])
    corners = [
        (weights[0][i] * weights[1][j])[..., None] * padded[places[1][j], places[0][i]] for i in (0, 1) for j in (0, 1)
    ]
    return np.sum(corners, axis=0)


def picture(height: int, width: int) -> np.ndarray:
    """Return a test image: color bands and a disc."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    disc = np.hypot(x - 0.5, y - 0.3) < 0.2
    channels = [np.sin(9 * x) ** 2, np.cos(7 * y) ** 2, np.where(disc, 1, 0.2), np.ones_like(x)]
    return np.round(255 * np.stack(channels, axis=-1)).astype(np.uint8)


def main() -> None:
    image = picture(60, 80)
    for shape, matrix_of in (((90, 128, 4), resizing), ((64, 64, 4), lambda a, b: rotation(a, b, 30, 0.7))):
        matrix = matrix_of(image, np.zeros(shape))
        compare(
            warp_image,
            [image],
            reference(image, shape, matrix),
            rtol=0,
            atol=1.05,
            call=warp,
            shape=shape,
            matrix=matrix,
        )  # in bytes: one half for rounding, and the last bit of a weight


if __name__ == "__main__":
    main()
