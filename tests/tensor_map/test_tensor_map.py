"""Tensor maps: values that the driver would refuse are refused, and both encodings hold the same fields."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys

import numpy as np
import pytest

from pyptx import types
from pyptx.errors import ShapeError
from pyptx.tensor_map import ELEMENTS, Im2col, TensorMap
from pyptx.tensor_map._layout import LAYOUT, MAGIC

X = np.zeros((128, 64), np.float16)
NHWC = np.zeros((2, 8, 10, 64), np.float16)
SLICED = np.zeros((2, 4, 6, 5, 16), np.float16)  # channels in slices of 16
PACKED = np.zeros((64, 64), np.uint8)  # 128 elements of 4 bits a row
SIX = np.zeros((64, 96), np.uint8)  # 128 of 6 bits


def decoded(data: bytes) -> dict:
    names = "magic version rank element interleave swizzle atomicity fill promotion address".split()
    values = LAYOUT.unpack(data)
    rest = values[len(names) :]
    return dict(zip(names, values, strict=False)) | {
        "strides": rest[:4],
        "shape": tuple(n + 1 for n in rest[4:9]),
        "box": rest[9:14],
        "lower": rest[14:17],
        "upper": rest[17:20],
        "steps": rest[20:25],
        "mode": rest[25],
    }


def test_a_matrix_is_encoded_innermost_first():
    data = TensorMap(X, (32, 64), swizzle="128B", l2_promotion="256B").encode(0x7000_0000_0010)
    assert len(data) == 128
    assert decoded(data) == {
        "magic": MAGIC,
        "version": 1,
        "rank": 2,
        "element": 6,
        "interleave": 0,
        "swizzle": 3,
        "atomicity": 0,
        "fill": 0,
        "promotion": 3,
        "address": 0x7000_0000_0010,
        "strides": (128, 0, 0, 0),
        "shape": (64, 128, 1, 1, 1),
        "box": (64, 32, 1, 1, 1),
        "lower": (0, 0, 0),
        "upper": (0, 0, 0),
        "steps": (1, 1, 1, 1, 1),
        "mode": 0,
    }


def test_an_image_batch_is_encoded_with_its_corners_w_first():
    m = TensorMap(NHWC, (100, 64), im2col=((-1, -2), (1, 2)), element_strides=(1, 3, 2, 1), oob_fill="nan")
    out = decoded(m.encode(0))
    assert (out["mode"], out["lower"], out["upper"]) == (1, (-2, -1, 0), (2, 1, 0))
    assert (out["shape"], out["strides"]) == ((64, 10, 8, 2, 1), (128, 1280, 10240, 0))
    assert (out["box"], out["steps"], out["fill"]) == ((64, 100, 1, 1, 1), (1, 2, 3, 1, 1), 1)


@pytest.mark.parametrize(
    "swizzle, codes, span",
    [
        (None, (0, 0), 0),
        ("32B", (1, 0), 32),
        ("64B", (2, 0), 64),
        ("128B", (3, 0), 128),
        ("128B_ATOM_32B", (3, 1), 128),
        ("128B_ATOM_32B_FLIP_8B", (3, 2), 128),
        ("128B_ATOM_64B", (3, 3), 128),
    ],
)
def test_swizzles_are_a_width_and_an_atom(swizzle, codes, span):
    m = TensorMap(X, (8, 16), swizzle=swizzle)
    out = decoded(m.encode(0))
    assert ((out["swizzle"], out["atomicity"]), m.span_bytes) == (codes, span)


def test_box_bytes_equal_the_transaction_count():
    assert TensorMap(X, (32, 64)).box_bytes == 32 * 64 * 2
    assert TensorMap(X, (9, 64), element_strides=(4, 1)).box_bytes == 3 * 64 * 2
    assert TensorMap(NHWC, (100, 64), im2col=((0, 0), (0, 0))).box_bytes == 100 * 64 * 2
    assert TensorMap(NHWC, (7, 32), im2col=Im2col(0, 0, "w128"), swizzle="64B").box_bytes == 128 * 32 * 2
    assert TensorMap(PACKED, (2, 128), dtype="b4x16_p64", swizzle="128B").box_bytes == 2 * 64
    assert TensorMap(SIX, (2, 128), dtype="b6x16_p32").box_bytes == 2 * 96
    assert TensorMap(np.zeros((2, 4, 6, 5, 8), np.float16), (1, 2, 3, 5), interleave="16B").box_bytes == 30 * 16


def test_interleave_consumes_the_last_dimension():
    m = TensorMap(SLICED, (1, 1, 3, 5), interleave="32B", swizzle="32B")
    assert (m.shape, m.strides) == ((2, 4, 6, 5), (3840, 960, 160, 32))


def test_views_keep_their_strides():
    m = TensorMap(np.zeros((64, 4, 32), np.float32)[:, 1], (8, 16))
    assert (m.shape, m.strides) == ((64, 32), (512, 4))


def test_an_address_needs_a_shape_and_a_type():
    m = TensorMap(0x1000, (4, 8), shape=(64, 128), dtype="f16")
    assert (m.shape, m.strides, m.resolve()) == ((64, 128), (256, 2), 0x1000)
    assert TensorMap(0x1000, (4, 8), shape=(64, 128), strides=(512,), dtype="f16").strides == (512, 2)
    with pytest.raises(ShapeError, match="shape is not known for an address; pass shape="):
        TensorMap(0x1000, (4, 8), dtype="f16")
    with pytest.raises(ShapeError, match="dtype is not known for an address"):
        TensorMap(0x1000, (4, 8), shape=(64, 128))


@pytest.mark.parametrize(
    "dtype, name",
    [
        (np.float16, "f16"),
        (np.dtype("int8"), "u8"),
        (types.bf16, "bf16"),
        (types.e4m3, "u8"),
        ("tf32", "tf32"),
        (".f32.ftz", "f32.ftz"),
        ("16U4_ALIGN8B", "b4x16"),
        (np.dtype("uint64"), "u64"),
        (types.s32, "s32"),
    ],
)
def test_types_have_many_names(dtype, name):
    size = {"f16": 2, "bf16": 2, "tf32": 4, "f32.ftz": 4, "u64": 8, "s32": 4}.get(name, 1)
    assert TensorMap(0, (16 if size > 1 else 32,), shape=(64,), dtype=dtype).element.name == name


def test_ml_dtypes_are_elements():
    ml = pytest.importorskip("ml_dtypes")
    assert TensorMap(X.view(ml.bfloat16), (8, 8)).element.name == "bf16"
    assert TensorMap(PACKED.view(ml.float8_e4m3fn), (8, 16)).element.name == "u8"
    with pytest.raises(TypeError, match="one element per byte.*pack them into uint8"):
        TensorMap(np.zeros((8, 32), ml.float4_e2m1fn), (8, 32))


def test_torch_tensors_provide_their_strides():
    torch = pytest.importorskip("torch")
    m = TensorMap(torch.zeros(16, 64, dtype=torch.bfloat16)[:, :32], (8, 8))
    assert (m.element.name, m.shape, m.strides, m.address) == ("bf16", (16, 32), (128, 2), None)


IMAGES = {"im2col": ((0, 0), (0, 0))}
REFUSED = [
    (X, (8, 60), {}, r"box\[1\] is 60, 120 bytes of f16; .* multiple of 16 bytes, 8 elements"),
    (X, (257, 64), {}, r"box\[0\] is 257; expected 1 to 256"),
    (X, (0, 64), {}, r"box\[0\] is 0; expected 1 to 256"),
    (X, (64,), {}, r"box \(64,\) has 1 sizes for 2 dimensions"),
    (X, (64, 8.0), {}, r"box\[1\] is 8.0; pass an int"),
    (X, (8, 128), {"swizzle": "128B"}, r"box\[1\] is 128, 256 bytes of f16; swizzle='128B' supports at most 128 bytes"),
    (X, (8, 32), {"swizzle": "32B"}, r"swizzle='32B' supports at most 32 bytes, 16 elements"),
    (X, (8, 64), {"swizzle": "96B"}, r"swizzle='96B'; expected one of None, '32B'"),
    (X, (8, 64), {"interleave": "16B"}, r"the last dimension of the array must be a slice of 16 bytes \(8 of f16\)"),
    (X, (8, 64), {"oob_fill": "zero"}, r"oob_fill='zero'; expected one of None, 'nan'"),
    (X, (8, 64), {"l2_promotion": "32B"}, r"l2_promotion='32B'"),
    (X, (8, 64), {"element_strides": (9, 1)}, r"element_strides\[0\] is 9; expected 1 to 8"),
    (X, (8, 64), {"element_strides": (1, 2)}, r"element_strides\[1\] is 2; the innermost dimension must have step 1"),
    (X, (8, 64), {"element_strides": (1,)}, r"element_strides \(1,\) has 1 values for 2 dimensions"),
    (X.view(np.uint16), (8, 64), {"oob_fill": "nan"}, r"oob_fill='nan' with u16; only floating-point"),
    (
        X.T,
        (8, 64),
        {},
        r"strides\[1\] is 128 bytes; the innermost dimension of a tensor map must be dense.*transpose or copy",
    ),
    (np.zeros((8, 20), np.float16), (8, 8), {}, r"strides\[0\] is 40 bytes, .* not a multiple of 16; pad .* 48"),
    (X, (8, 64), {"shape": (0, 64)}, r"shape\[0\] is 0; expected 1 to 2\*\*31"),
    (
        X,
        (8, 64),
        {"shape": (128, 64), "strides": (1 << 40,)},
        r"strides\[0\] is 1099511627776 bytes; expected 0 to 2\*\*40 - 1",
    ),
    (X, (8, 64), {"shape": (128, 64), "strides": (1, 2, 3)}, r"strides has 3 values for 2 dimensions"),
    (np.zeros((1,) * 5 + (64,), np.float16), (1,) * 5 + (64,), {}, r"has 6 dimensions; expected 1 to 5"),
    (0x1008, (8, 64), {"shape": (8, 64), "dtype": "f16"}, r"starts at 0x1008, .* not a multiple of 16 bytes"),
    (0x1010, (8, 128), {"shape": (8, 128), "dtype": "b6x16_p32", "strides": (96,)}, r"of 32 bytes \(b6x16_p32"),
    (PACKED, (8, 64), {"dtype": "b4x16_p64"}, r"box\[1\] is 64; expected 128 with b4x16_p64"),
    (PACKED[:, :48], (8, 128), {"dtype": "b4x16_p64"}, r"shape\[1\] is 96; expected a multiple of 128 with b4x16_p64"),
    (PACKED, (8, 128), {"dtype": "b4x16_p64", "swizzle": "64B"}, r"supports at most 64 bytes"),
    (
        PACKED,
        (8, 128),
        {"dtype": "b4x16_p64", "swizzle": "128B_ATOM_64B"},
        r"with b4x16_p64; expected one of None, '128B', ",
    ),
    (0, (8, 31), {"shape": (8, 31), "dtype": "b4x16", "strides": (32,)}, r"shape\[1\] is 31; expected a multiple of 2"),
    (X, (8, 64), {"im2col": ((0,), (0,))}, r"has 2 dimensions; expected 3 to 5 with im2col"),
    (NHWC, (8, 8, 8, 8), IMAGES, r"box .* has 4 sizes; with im2col it is \(pixels per column, channels per pixel\)"),
    (NHWC, (1025, 8), IMAGES, r"pixels per column, is 1025; expected 1 to 1024"),
    (NHWC, (8, 264), IMAGES, r"channels per pixel, is 264; expected 1 to 256"),
    (NHWC, (8, 64), {"im2col": ((0,), (0,))}, r"im2col.lower \(0,\) has 1 offsets; expected 2 for rank 4"),
    (NHWC, (8, 64), {"im2col": ((0, 128), (0, 0))}, r"im2col.lower .* offsets from -128 to 127 for rank 4"),
    (NHWC, (8, 64), {"im2col": ((0, 4), (0, -6))}, r"empty along shape\[2\] = 10: it extends from 4 to 4 .exclusive"),
    (
        NHWC,
        (8, 64),
        {"im2col": Im2col(0, 0, "w")},
        r"swizzle=None with im2col mode 'w'; expected one of '64B', '128B', ",
    ),
    (NHWC, (8, 64), {"im2col": Im2col(0, 0, "x")}, r"im2col.mode='x'; expected one of None, 'w', 'w128'"),
    (SLICED, (1, 1, 3, 5), {"interleave": "32B"}, r"swizzle=None with interleave='32B'"),
    (True, (8,), {}, r"is a bool; pass an array"),
    ([1, 2], (8,), {}, r"is a list; pass a NumPy or torch array"),
    (np.zeros(64, complex), (8,), {}, r"dtype 'complex128' is not an element type .* expected one of u8, u16"),
]


@pytest.mark.parametrize("memory, box, options, message", REFUSED, ids=[message[:24] for *_, message in REFUSED])
def test_values_the_driver_refuses_are_refused_by_name(memory, box, options, message):
    with pytest.raises((ShapeError, TypeError), match=re.compile(message, re.S)):
        TensorMap(memory, box, **options)


def test_boxes_may_be_larger_than_the_tensor_and_strides_zero():
    TensorMap(X, (64, 72))  # padding of shared-memory rows
    TensorMap(0, (1, 1, 8, 64), shape=(4, 1, 8, 64), strides=(0, 0, 128), dtype="f16")


def test_maps_are_values():
    a, b = (TensorMap(X, (8, 64), swizzle="128B") for _ in range(2))
    assert a == b and hash(a) == hash(b) and a != TensorMap(X, (8, 64)) and a != TensorMap(X.copy(), (8, 64))
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.box = (1, 1)


def test_host_arrays_wait_for_their_address():
    m = TensorMap(X, (8, 64))
    with pytest.raises(ShapeError, match="no device address; pass the map to a launch"):
        m.encode()
    with pytest.raises(ShapeError, match="0x8, which is not a multiple of 16"):
        m.encode(8)


# the driver's call ----------------------------------------------------------------------------------------------------

driver = pytest.importorskip("cuda.bindings.driver")


def plain(value):
    """Arguments of the driver as numbers."""
    return [plain(v) for v in value] if isinstance(value, list | tuple) else int(value)


def test_the_driver_gets_tiles_innermost_first():
    function, arguments = TensorMap(
        X, (32, 64), swizzle="128B", oob_fill="nan", l2_promotion="128B", element_strides=(2, 1)
    ).driver_call(driver, 0x1000)
    assert function is driver.cuTensorMapEncodeTiled
    assert plain(arguments) == [6, 2, 0x1000, [64, 128], [128], [64, 32], [1, 2], 0, 3, 2, 1]


def test_the_driver_gets_a_stride_of_a_vector_which_has_none():
    """cuda.bindings makes a null pointer of an empty list."""
    _, arguments = TensorMap(0x1000, (8,), shape=(64,), dtype="f16").driver_call(driver)
    assert plain(arguments)[1:6] == [1, 0x1000, [64], [16], [8]]


def test_the_driver_gets_images_with_corners_w_first():
    function, arguments = TensorMap(NHWC, (100, 64), im2col=((-1, -2), (1, 2))).driver_call(driver, 0x1000)
    assert function is driver.cuTensorMapEncodeIm2col
    assert plain(arguments) == [
        6,
        4,
        0x1000,
        [64, 10, 8, 2],
        [128, 1280, 10240],
        [-2, -1],
        [2, 1],
        64,
        100,
        [1] * 4,
        0,
        0,
        0,
        0,
    ]
    function, arguments = TensorMap(NHWC, (100, 64), im2col=Im2col(-2, 2, "w128"), swizzle="128B_ATOM_32B").driver_call(
        driver, 0
    )
    assert function is driver.cuTensorMapEncodeIm2colWide
    assert plain(arguments) == [6, 4, 0, [64, 10, 8, 2], [128, 1280, 10240], -2, 2, 64, 100, [1] * 4, 0, 1, 4, 0, 0]


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: e.name)
def test_every_element_type_is_one_of_the_driver(element):
    assert hasattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{element.driver}")


def test_a_map_needs_no_numpy():
    code = (
        "import sys; from pyptx import TensorMap; TensorMap(0, (8,), shape=(64,), dtype='f16').encode(); "
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
