"""Surfaces: loads, stores and reductions; the core compared with the reference engine over random forms."""

from __future__ import annotations

import numpy as np
import pytest
from sim.test_textures import DTYPES, random_array, shape_of
from sim.texture_programs import both, floats, program

from pyptx import Surface, Texture
from pyptx.errors import SimulationError

RNG = np.random.default_rng
SURFACES = ("1d", "2d", "3d", "a1d", "a2d", "cube", "acube")
COORDINATES = {
    "1d": "{%w0}",
    "2d": "{%w0, %w1}",
    "3d": "{%w0, %w1, %w2, %w3}",
    "a1d": "{%w0, %w1}",
    "a2d": "{%w0, %w1, %w2, %w3}",
}
LANES = np.arange(32)


def load(surface: Surface, words: np.ndarray, size: str = "b32", count: int = 1, outside: str = "trap") -> np.ndarray:
    """What suld.b reads: words of a lane are coordinates in PTX's order."""
    geometry = "a2d" if surface.geometry.cube else surface.geometry.name
    kind = {"b8": "%h", "b16": "%h", "b32": "%d", "b64": "%wide"}[size]
    bits = {"b8": 16, "b16": 16, "b32": 32, "b64": 64}[size]
    vector = f".v{count}" if count > 1 else ""
    names = ", ".join(f"{kind}{k}" for k in range(count))
    stores = "".join(f"    st.global.b{bits} [%out+{max(4, bits // 8) * k}], {kind}{k};\n" for k in range(count))
    statement = (
        f"suld.b.{geometry}{vector}.{size}.{outside} {'{' + names + '}' if count > 1 else names}, "
        f"[%object, {COORDINATES[geometry]}];"
    )
    return both(program(statement, stores), surface, words)


def store(
    surface: Surface,
    words: np.ndarray,
    size: str = "b32",
    count: int = 1,
    outside: str = "trap",
    opcode: str = "sust.b",
) -> None:
    """sust: words from 4 on are the values."""
    geometry = "a2d" if surface.geometry.cube else surface.geometry.name
    names, before = [f"%w{4 + k}" for k in range(count)], ""
    if size in ("b8", "b16"):
        before = "".join(f"cvt.u16.u32 %h{k}, %w{4 + k}; " for k in range(count))
        names = [f"%h{k}" for k in range(count)]
    elif size == "b64":
        before = "".join(f"mov.b64 %wide{k}, {{%w{4 + 2 * k}, %w{5 + 2 * k}}}; " for k in range(count))
        names = [f"%wide{k}" for k in range(count)]
    vector, value = (f".v{count}", "{" + ", ".join(names) + "}") if count > 1 else ("", names[0])
    both(
        program(f"{before}{opcode}.{geometry}{vector}.{size}.{outside} [%object, {COORDINATES[geometry]}], {value};"),
        surface,
        words,
    )


def test_x_counts_bytes_and_y_rows() -> None:
    image = RNG(0).integers(0, 255, (5, 8, 4), np.uint8)
    x, y = LANES % 8, LANES // 8 % 5
    found = load(Surface(image, "2d"), floats(4 * x, y), "b8", 4)[:, :4]
    np.testing.assert_array_equal(found, image[y, x])
    np.testing.assert_array_equal(load(Surface(image, "2d"), floats(4 * x, y))[:, 0], image.view(np.uint32)[y, x, 0])


def test_stores_reach_the_array() -> None:
    image = np.zeros((4, 8), np.float32)
    values = RNG(1).normal(size=32).astype(np.float32)
    zero = np.zeros(32, np.int64)
    store(Surface(image), floats(4 * (LANES % 8), LANES // 8, zero, zero, values))
    np.testing.assert_array_equal(image.ravel(), values)


def test_a_formatted_store_counts_elements_and_converts() -> None:
    image = np.zeros((4, 8, 2), np.float16)
    values = RNG(2).normal(size=(2, 32)).astype(np.float32)
    zero = np.zeros(32, np.int64)
    store(Surface(image, "2d"), floats(LANES % 8, LANES // 8, zero, zero, *values), count=2, opcode="sust.p")
    np.testing.assert_array_equal(image.reshape(32, 2).T, values.astype(np.float16))
    bytes_ = np.zeros(32, np.int8)
    store(Surface(bytes_), floats(LANES, zero, zero, zero, LANES - 16), opcode="sust.p")
    np.testing.assert_array_equal(bytes_, LANES - 16)


def test_what_lies_outside_is_nearest_zero_or_a_fault() -> None:
    line = np.arange(1, 9, dtype=np.int32)
    x = np.array([-4, 0, 28, 32, 4000])
    np.testing.assert_array_equal(load(Surface(line), floats(x), outside="clamp")[:, 0], [1, 1, 8, 8, 8])
    np.testing.assert_array_equal(load(Surface(line), floats(x), outside="zero")[:, 0], [0, 1, 8, 0, 0])
    with pytest.raises(SimulationError, match="x = -4, outside its 8 elements, 32 bytes"):
        load(Surface(line), floats(x))
    zero = np.zeros(5, np.int64)
    store(Surface(line), floats(x, zero, zero, zero, np.full(5, 77)), outside="zero")
    np.testing.assert_array_equal(line, [77, 2, 3, 4, 5, 6, 7, 77])


def test_layers_and_faces_are_selected_by_the_first_coordinate() -> None:
    cubes = RNG(3).normal(size=(2, 6, 4, 4)).astype(np.float32)
    layer, x, y = LANES % 12, LANES % 4, LANES // 4 % 4
    found = load(Surface(cubes, "acube"), floats(layer, 4 * x, y))[:, 0].view(np.float32)
    np.testing.assert_array_equal(found, cubes.reshape(12, 4, 4)[layer, y, x])


@pytest.mark.parametrize(
    "operation, type_name, wanted",
    [
        ("add", "u32", lambda a, b: a + b),
        ("min", "s32", np.minimum),
        ("max", "u32", np.maximum),
        ("and", "b32", np.bitwise_and),
        ("or", "b32", np.bitwise_or),
    ],
)
def test_reductions_combine_every_lane(operation, type_name, wanted) -> None:
    dtype = np.int32 if type_name == "s32" else np.uint32
    line, values = RNG(4).integers(0, 1 << 30, 4).astype(dtype), RNG(5).integers(0, 1 << 28, 32).astype(dtype)
    expected = line.copy()
    for k, value in enumerate(values):
        expected[k % 4] = wanted(expected[k % 4], value)
    surface = Surface(line)
    both(
        program(f"sured.b.{operation}.1d.{type_name}.trap [%object, {{%w0}}], %w1;"),
        surface,
        floats(4 * (LANES % 4), values),
    )
    np.testing.assert_array_equal(line, expected)


def test_a_reduction_by_element_takes_the_surfaces_type() -> None:
    line = np.array([-5, 5], np.int32)
    both(program("sured.p.min.1d.b32.trap [%object, {%w0}], %w1;"), Surface(line), floats(LANES % 2, -LANES))
    np.testing.assert_array_equal(line, [-30, -31])
    wide = np.array([[0, 0], [0, 0]], np.uint32)
    both(
        program("mov.b64 %wide0, {%w1, %w2}; sured.b.max.1d.u64.trap [%object, {%w0}], %wide0;"),
        Surface(wide, "1d"),
        floats(8 * (LANES % 2), LANES, LANES * LANES),
    )
    np.testing.assert_array_equal(wide, [[30, 900], [31, 961]])


def test_attributes_are_those_of_the_value() -> None:
    levels = [np.zeros((3, max(1, 8 >> k), max(1, 16 >> k), 2), np.uint8) for k in range(4)]
    texture = Texture(levels, "a2d", normalized=True, read="normalized_float")
    names = (
        "width",
        "height",
        "depth",
        "channel_data_type",
        "channel_order",
        "normalized_coords",
        "array_size",
        "num_mipmap_levels",
    )
    statement = " ".join(f"txq.{name}.b32 %d{k}, [%object];" for k, name in enumerate(names))
    stores = "".join(f"st.global.b32 [%out+{4 * k}], %d{k};\n" for k in range(8))
    found = both(program(statement, stores), texture, floats(np.zeros(1, np.int64)))
    np.testing.assert_array_equal(found[0], [16, 8, 0, 0x10D2, 0x10B2, 1, 3, 4])
    found = both(
        program("txq.level.width.b32 %d0, [%object], %w0; txq.level.height.b32 %d1, [%object], %w0;", stores),
        texture,
        floats(np.arange(4)),
    )
    np.testing.assert_array_equal(found[:, :2], [[16, 8], [8, 4], [4, 2], [2, 1]])
    statement = " ".join(
        f"suq.{name}.b32 %d{k}, [%object];" for k, name in enumerate((*names[:5], "array_size", "memory_layout"))
    )
    found = both(program(statement, stores), Surface(np.zeros((2, 3, 5), np.float32), "3d"), floats(np.zeros(1, int)))
    np.testing.assert_array_equal(found[0, :7], [5, 3, 2, 0x10DE, 0x10B0, 0, 0])


def test_a_handle_says_what_it_is() -> None:
    statement = " ".join(
        f"istypep.{kind} %p, %object; selp.b32 %d{k}, 1, 0, %p;"
        for k, kind in enumerate(("texref", "surfref", "samplerref"))
    )
    stores = "".join(f"st.global.b32 [%out+{4 * k}], %d{k};\n" for k in range(3))
    line, words = np.zeros(4, np.float32), floats(np.zeros(1, np.int64))
    np.testing.assert_array_equal(both(program(statement, stores), Texture(line), words)[0, :3], [1, 0, 0])
    np.testing.assert_array_equal(both(program(statement, stores), Surface(line), words)[0, :3], [0, 1, 0])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(16))
def test_the_core_does_what_the_reference_does(seed: int) -> None:
    rng = RNG(seed)
    geometry, dtype, channels = str(rng.choice(SURFACES)), str(rng.choice(DTYPES)), int(rng.choice([1, 2, 4]))
    image = random_array(rng, (*shape_of(rng, geometry), channels), dtype)
    surface = Surface(image, geometry)
    bytes_ = surface.levels.element_bytes
    size, count = next(
        (s, c)
        for s, c in rng.permutation(
            [
                ("b8", 1),
                ("b8", 2),
                ("b8", 4),
                ("b16", 1),
                ("b16", 2),
                ("b16", 4),
                ("b32", 1),
                ("b32", 2),
                ("b32", 4),
                ("b64", 1),
                ("b64", 2),
            ]
        ).tolist()
        if int(s[1:]) // 8 * int(c) <= bytes_ * surface.extents.width
    )
    count, step = int(count), int(size[1:]) // 8 * int(count)
    outside, n = str(rng.choice(["clamp", "zero"])), 40
    layered = surface.geometry.layered or surface.geometry.cube
    places = [
        rng.integers(-3, bytes_ * surface.extents.width // step + 3, n) * step,
        rng.integers(-2, 8, n),
        rng.integers(-2, 6, n),
    ]
    columns = ([rng.integers(0, surface.extents.layers + 2, n)] if layered else []) + places
    values = [rng.integers(0, 1 << 32, n) for _ in range(8)]
    words = floats(*columns[:4], *([np.zeros(n, int)] * (4 - len(columns[:4]))), *values)
    load(surface, words, size, count, outside)
    store(surface, words, size, count, outside)
    if dtype.startswith("float") or dtype.endswith("32"):
        columns[1 if layered else 0] = columns[1 if layered else 0] // step
        words = floats(
            *columns[:4],
            *([np.zeros(n, int)] * (4 - len(columns[:4]))),
            *(rng.normal(size=n).astype(np.float32) for _ in range(4)),
        )
        store(surface, words, "b32", max(channels, 1), outside, "sust.p")
