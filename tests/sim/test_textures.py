"""Textures: what is read where, against NumPy written from the CUDA C++ Programming Guide, "Texture Fetching"; the
core against the reference over random forms.
"""

from __future__ import annotations

import numpy as np
import pytest
from sim.texture_programs import both, fetch, floats, program

from pyptx import Texture
from pyptx.texture import GEOMETRIES

RNG = np.random.default_rng
DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32")


def random_array(rng, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype.startswith("float"):
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def shape_of(rng, geometry: str) -> tuple[int, ...]:
    size = {
        "width": int(rng.integers(1, 9)),
        "height": int(rng.integers(1, 7)),
        "depth": int(rng.integers(1, 5)),
        "layers": int(rng.integers(1, 4)),
        "faces": 6,
        "samples": int(rng.integers(1, 5)),
    }
    if GEOMETRIES[geometry].cube:
        size["height"] = size["width"]
    return tuple(size[axis] for axis in GEOMETRIES[geometry].axes)


def placed(i: np.ndarray, n: int, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """Where elements lie, and which of them lie in the border."""
    match mode:
        case "wrap":
            return i % n, np.zeros(i.shape, bool)
        case "mirror":
            k = i % (2 * n)
            return np.where(k < n, k, 2 * n - 1 - k), np.zeros(i.shape, bool)
    return np.clip(i, 0, n - 1), (i < 0) | (i >= n) if mode == "border" else np.zeros(i.shape, bool)


def looked_up(image: np.ndarray, places: list[np.ndarray], modes: list[str], border: float) -> np.ndarray:
    """Elements of an array of dimensions (..., height, width); places and modes x first."""
    found = [placed(i, n, mode) for i, n, mode in zip(places, image.shape[::-1], modes, strict=True)]
    values = image[tuple(k for k, _ in reversed(found))]
    return np.where(np.any([b for _, b in found], axis=0), border, values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("geometry", ["1d", "2d", "3d"])
def test_nearest_reads_the_element_that_holds_the_point(geometry: str, dtype: str) -> None:
    rng = RNG(1)
    shape = {"1d": (13,), "2d": (7, 13), "3d": (5, 7, 13)}[geometry]
    image = random_array(rng, (*shape, 4), dtype)
    points = [rng.uniform(-3, n + 3, 96).astype(np.float32) for n in shape[::-1]]
    kind = "f32" if dtype.startswith("float") else "s32" if dtype[0] == "i" else "u32"
    found = fetch(Texture(image, geometry), floats(*points), dtype=kind)
    clipped = [np.clip(np.floor(p).astype(int), 0, n - 1) for p, n in zip(points, shape[::-1], strict=True)]
    wanted = image[tuple(reversed(clipped))].astype({"f32": np.float32, "s32": np.int32, "u32": np.uint32}[kind])
    np.testing.assert_array_equal(found, wanted.view(np.uint32))


@pytest.mark.parametrize("mode", ["wrap", "clamp", "mirror", "border"])
@pytest.mark.parametrize("filter", ["nearest", "linear"])
def test_what_lies_outside_goes_by_the_address_mode(mode: str, filter: str) -> None:
    rng = RNG(2)
    image = rng.normal(size=(6, 10)).astype(np.float32)
    u, v = rng.uniform(-2.5, 3.5, (2, 256)).astype(np.float32)
    border = (0.25, 0, 0, 0) if mode == "border" else None
    texture = Texture(image, address=mode, normalized=True, filter=filter, border=border)
    found = fetch(texture, floats(u, v))[:, 0].view(np.float32)
    x, y = u.astype(float) * 10, v.astype(float) * 6
    if filter == "nearest":
        wanted = looked_up(image, [np.floor(x).astype(int), np.floor(y).astype(int)], [mode] * 2, 0.25)
        np.testing.assert_array_equal(found, wanted.astype(np.float32))
        return
    np.testing.assert_allclose(found, bilinear(image, x, y, mode), atol=1e-6)


def bilinear(image: np.ndarray, x: np.ndarray, y: np.ndarray, mode: str, border: float = 0.25) -> np.ndarray:
    """The guide's formula with weights of 8 bits."""
    fixed = [np.floor(c * 256 + 0.5).astype(np.int64) - 128 for c in (x, y)]
    (i, a), (j, b) = ((t >> 8, (t & 255) / 256) for t in fixed)
    corners = [looked_up(image, [i + k, j + m], [mode] * 2, border) for m in (0, 1) for k in (0, 1)]
    return (1 - a) * (1 - b) * corners[0] + a * (1 - b) * corners[1] + (1 - a) * b * corners[2] + a * b * corners[3]


def test_linear_is_within_the_weights_last_bit_of_exact_interpolation() -> None:
    rng = RNG(3)
    image = rng.random((9, 11), np.float32)
    x, y = rng.uniform(0.5, 8.5, (2, 512)).astype(np.float32)
    found = fetch(Texture(image, filter="linear"), floats(x, y))[:, 0].view(np.float32)
    i, j = np.floor(x - 0.5).astype(int), np.floor(y - 0.5).astype(int)
    a, b = x.astype(float) - 0.5 - i, y.astype(float) - 0.5 - j
    exact = (
        (1 - a) * (1 - b) * image[j, i]
        + a * (1 - b) * image[j, i + 1]
        + (1 - a) * b * image[j + 1, i]
        + a * b * image[j + 1, i + 1]
    )
    assert np.abs(found - exact).max() <= 2 / 512 + 1e-6


def test_a_linear_fetch_on_an_element_gives_the_element() -> None:
    image = RNG(4).normal(size=(4, 6, 8)).astype(np.float32)
    z, y, x = np.meshgrid(range(4), range(6), range(8), indexing="ij")
    found = fetch(
        Texture(image, "3d", filter="linear"), floats(*((c.ravel() + 0.5).astype(np.float32) for c in (x, y, z)))
    )
    np.testing.assert_array_equal(found[:, 0].view(np.float32), image.ravel())


def test_small_integers_read_as_fractions() -> None:
    for dtype, most in (("uint8", 255), ("uint16", 65535), ("int8", 127), ("int16", 32767)):
        info = np.iinfo(dtype)
        values = np.linspace(info.min, info.max, 256).astype(dtype)
        texture = Texture(values, read="normalized_float", memory="linear")
        found = fetch(texture, floats(np.arange(256)), ctype="s32")[:, 0].view(np.float32)
        np.testing.assert_array_equal(found, np.maximum(values / most, -1).astype(np.float32))


def test_srgb_bytes_read_as_linear_and_alpha_as_it_is() -> None:
    image = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 4, axis=1)
    texture = Texture(image, "1d", read="normalized_float", srgb=True)
    found = fetch(texture, floats(np.arange(256) + np.float32(0.5))).view(np.float32)
    c = np.arange(256) / 255
    wanted = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4).astype(np.float32)
    np.testing.assert_array_equal(found[:, 0], wanted)
    np.testing.assert_array_equal(found[:, 3], c.astype(np.float32))


def test_channels_that_are_not_there_read_as_zero_and_one() -> None:
    found = fetch(Texture(np.array([5, 6], np.uint16)), floats(np.array([0.5], np.float32)), dtype="u32")
    np.testing.assert_array_equal(found, [[5, 0, 0, 1]])
    found = fetch(Texture(np.array([[5, 7]], np.float32), "1d"), floats(np.array([0.5], np.float32)))
    np.testing.assert_array_equal(found.view(np.float32), [[5, 7, 0, 1]])


def test_linear_memory_reads_zero_outside() -> None:
    values = np.arange(1, 9, dtype=np.int32)
    found = fetch(Texture(values, memory="linear"), floats(np.array([-1, 0, 7, 8, 2**30])), ctype="s32", dtype="s32")
    np.testing.assert_array_equal(found[:, 0], [0, 1, 8, 0, 0])


def test_layers_cubes_and_samples_are_selected_by_their_index() -> None:
    rng = RNG(5)
    image = rng.normal(size=(3, 4, 5)).astype(np.float32)
    layer, x, y = rng.integers(0, 3, 64), rng.uniform(0, 5, 64), rng.uniform(0, 4, 64)
    found = fetch(Texture(image, "a2d"), floats(layer, x, y))[:, 0].view(np.float32)
    column, row = (c.astype(np.float32).astype(int) for c in (x, y))
    np.testing.assert_array_equal(found, image[layer, row, column])
    samples = rng.normal(size=(4, 5, 8)).astype(np.float32)
    number, i, j = rng.integers(0, 8, 64), rng.integers(0, 5, 64), rng.integers(0, 4, 64)
    found = fetch(Texture(samples, "2dms"), floats(number, i, j), ctype="s32")[:, 0].view(np.float32)
    np.testing.assert_array_equal(found, samples[j, i, number])


def test_a_direction_finds_the_face_of_a_cube() -> None:
    """Each face holds its number; the direction to the middle of an element finds it."""
    size = 4
    cube = np.arange(6 * size * size, dtype=np.float32).reshape(6, size, size)
    face, row, column = (a.ravel() for a in np.meshgrid(range(6), range(size), range(size), indexing="ij"))
    s, t = (2 * (column + 0.5) / size - 1), (2 * (row + 0.5) / size - 1)
    one = np.ones(s.shape)
    table = [(one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)]
    directions = np.array([[table[f][axis][k] for axis in range(3)] for k, f in enumerate(face)])
    found = fetch(Texture(cube, "cube"), floats(*(3 * directions.T)))[:, 0].view(np.float32)
    np.testing.assert_array_equal(found, cube.ravel())
    cubes = np.stack([cube, cube + 1000])
    index = face % 2
    found = fetch(Texture(cubes, "acube"), floats(index, *directions.T))[:, 0].view(np.float32)
    np.testing.assert_array_equal(found, cube.ravel() + 1000 * index)


def test_a_level_of_detail_picks_and_mixes_levels() -> None:
    levels = [np.full((8 >> k, 16 >> k), float(k + 1), np.float32) for k in range(4)]
    lod = np.array([-2, 0, 0.4, 0.6, 1.5, 2.25, 3, 9], np.float32)
    words = floats(np.full(8, 0.3, np.float32), np.full(8, 0.7, np.float32), lod)
    nearest = fetch(Texture(levels, "2d", normalized=True), words, mode="level", extra=", %f2")
    np.testing.assert_array_equal(nearest[:, 0].view(np.float32), [1, 1, 1, 2, 3, 3, 4, 4])
    mixed = fetch(Texture(levels, "2d", normalized=True, mip_filter="linear"), words, mode="level", extra=", %f2")
    wanted = 1 + np.clip(np.floor(np.clip(lod, 0, 3) * 256 + 0.5) / 256, 0, 3)
    np.testing.assert_array_equal(mixed[:, 0].view(np.float32), wanted.astype(np.float32))
    least = Texture(levels, "2d", normalized=True, lod_clamp=(1, 2), lod_bias=0.5)
    found = fetch(least, words, mode="level", extra=", %f2")
    np.testing.assert_array_equal(found[:, 0].view(np.float32), np.floor(np.clip(lod + 0.5, 1, 2) + 0.5) + 1)


def test_gradients_pick_the_level_on_which_they_span_an_element() -> None:
    levels = [np.full((64 >> k, 64 >> k), float(k), np.float32) for k in range(7)]
    spans = np.array([0, 0.5, 1, 1.3, 2, 3.9, 8, 64, 500], np.float32)
    zero = np.zeros(9, np.float32)
    words = floats(zero + np.float32(0.5), zero + np.float32(0.5), spans / 64, zero, zero, spans / 128)
    found = fetch(
        Texture(levels, "2d", normalized=True, mip_filter="linear"),
        words,
        mode="grad",
        extra=", {%f2, %f3}, {%f4, %f5}",
    )[:, 0].view(np.float32)
    wanted = np.clip(np.log2(np.maximum(spans, 1e-9)), 0, 6)
    assert np.abs(found - wanted).max() <= 1 / 512 + 1e-3


def test_a_gather_takes_one_component_counter_clockwise() -> None:
    image = np.arange(2 * 5 * 6, dtype=np.float32).reshape(5, 6, 2)
    x, y = np.array([2.75, 3.2], np.float32), np.array([1.75, 3.4], np.float32)
    for component, name in enumerate("rg"):
        found = fetch(Texture(image, "2d"), floats(x, y), opcode=f"tld4.{name}").view(np.float32)
        for k, (i, j) in enumerate(((2, 1), (2, 2))):
            np.testing.assert_array_equal(
                found[k],
                [
                    image[j + 1, i, component],
                    image[j + 1, i + 1, component],
                    image[j, i + 1, component],
                    image[j, i, component],
                ],
            )


def test_an_offset_moves_by_elements() -> None:
    image = np.arange(8 * 8, dtype=np.float32).reshape(8, 8)
    words = floats(np.full(3, 3.5, np.float32), np.full(3, 4.5, np.float32), np.array([-2, 0, 3]), np.array([1, -8, 7]))
    found = fetch(Texture(image), words, extra=", {%w2, %w3}")[:, 0].view(np.float32)
    np.testing.assert_array_equal(found, [image[5, 1], image[0, 3], image[7, 6]])


def test_halves_are_rounded_once() -> None:
    image = RNG(6).normal(size=(40, 4)).astype(np.float32)
    words = floats(np.arange(40) + np.float32(0.5))
    wanted = image.astype(np.float16)
    np.testing.assert_array_equal(
        fetch(Texture(image, "1d"), words, dtype="f16").astype(np.uint16), wanted.view(np.uint16)
    )
    np.testing.assert_array_equal(fetch(Texture(image, "1d"), words, dtype="f16x2"), wanted.view(np.uint32))


def random_texture(rng) -> Texture:
    geometry = rng.choice([g for g in GEOMETRIES])
    dtype = rng.choice(DTYPES)
    channels = int(rng.choice([1, 2, 4]))
    shape = shape_of(rng, geometry)
    floating = dtype.startswith("float")
    read = "normalized_float" if dtype.endswith(("t8", "t16")) and not floating and rng.random() < 0.5 else "element"
    normalized = bool(rng.random() < 0.5)
    modes = [
        str(rng.choice(["wrap", "clamp", "mirror", "border"] if normalized else ["clamp", "border"])) for _ in range(3)
    ]
    filters = "linear" if (floating or read != "element") and rng.random() < 0.6 else "nearest"
    border = tuple(rng.normal(size=4)) if "border" in modes[: GEOMETRIES[geometry].dims] and read != "element" else None
    arrays = [random_array(rng, (*shape, channels), dtype)]
    if not GEOMETRIES[geometry].multisampled and rng.random() < 0.5:
        spatial = [axis in ("width", "height", "depth") for axis in GEOMETRIES[geometry].axes]
        for k in range(1, 4):
            smaller = tuple(max(1, n >> k) if s else n for n, s in zip(shape, spatial, strict=True))
            arrays.append(random_array(rng, (*smaller, channels), dtype))
    return Texture(
        arrays,
        geometry,
        address=modes,
        filter=filters,
        normalized=normalized,
        read=read,
        border=border,
        mip_filter=str(rng.choice(["nearest", "linear"])),
        lod_bias=float(rng.choice([0, 0.3])),
        srgb=dtype == "uint8" and read != "element" and rng.random() < 0.5,
    )


@pytest.mark.parametrize("seed", range(24))
def test_the_core_reads_what_the_reference_reads(seed: int) -> None:
    rng = RNG(100 + seed)
    texture = random_texture(rng)
    g = texture.geometry
    ctype = "s32" if g.multisampled else "f32" if g.cube or rng.random() < 0.7 else "s32"
    dtype = str(rng.choice(["f32", "f16", "f16x2"] if texture.reads_floats else ["u32", "s32"]))
    modes = ["", "base"] if g.multisampled else ["", "base", "level"] + ([] if g.cube else ["grad"])
    mode, n = str(rng.choice(modes)), 45
    axes = {"1d": 1, "2d": 2, "a1d": 2}.get(g.name, 4)
    scale = 1 if texture.normalized or g.cube else 10
    columns = [
        rng.normal(0.5, 1.2, n).astype(np.float32) * np.float32(scale) if ctype == "f32" else rng.integers(-9, 12, n)
        for _ in range(axes)
    ]
    if g.layered:
        count = texture.extents.layers // (6 if g.cube else 1)
        columns[0] = rng.integers(0, count, n)
    if g.multisampled:
        columns[1 if g.layered else 0] = rng.integers(0, texture.extents.samples, n)
    extra = ""
    if mode == "level":
        extra = ", %f4" if ctype == "f32" else ", %w4"
    elif mode == "grad":
        length = {1: 1, 2: 2, 3: 4}[g.dims]
        extra = "".join(", {" + ", ".join(f"%f{4 + 4 * which + k}" for k in range(length)) + "}" for which in (0, 1))
    columns += [np.zeros(n, np.float32)] * (4 - axes)
    columns += [
        rng.normal(0, 2, n).astype(np.float32) if ctype == "f32" or mode == "grad" else rng.integers(-1, 5, n)
        for _ in range(8)
    ]
    if not g.cube and rng.random() < 0.5:
        columns += [rng.integers(-8, 8, n) for _ in range(4)]
        length = {1: 1, 2: 2, 3: 4}[g.dims]
        extra += ", {" + ", ".join(f"%w{12 + k}" for k in range(length)) + "}"
    special = rng.integers(0, n, 4)
    if ctype == "f32":
        columns[axes - 1][special] = [np.nan, np.inf, -np.inf, 1e20]
    fetch(texture, floats(*columns), ctype=ctype, dtype=dtype, mode=mode, extra=extra)


@pytest.mark.parametrize("seed", range(6))
def test_the_core_gathers_what_the_reference_gathers(seed: int) -> None:
    rng = RNG(seed)
    while True:
        texture = random_texture(rng)
        if texture.geometry.name in ("2d", "a2d", "cube", "acube"):
            break
    columns = [rng.normal(0.5, 1, 40).astype(np.float32) * np.float32(1 if texture.normalized else 8) for _ in range(4)]
    if texture.geometry.layered:
        columns[0] = np.zeros(40, np.int64)
    dtype = "f32" if texture.reads_floats else "u32"
    fetch(texture, floats(*columns), dtype=dtype, opcode=f"tld4.{rng.choice(list('rgba'))}")


def test_coordinates_of_one_dimension_need_no_braces() -> None:
    data = np.arange(16, dtype=np.float32)
    words = floats(np.arange(16), np.zeros(16))
    braces = program("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%object, {%w0}], {%w1};", "st.global.f32 [%out], %f0;")
    alone = program("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%object, %w0], {%w1};", "st.global.f32 [%out], %f0;")
    found = both(alone, Texture(data, "1d"), words)
    assert (found[:, 0].view(np.float32) == data).all()
    assert (found == both(braces, Texture(data, "1d"), words)).all()
