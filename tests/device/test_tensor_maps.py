"""Tensor maps on a GPU: the driver accepts and refuses what TensorMap does, and copies equal the simulator's."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from sim.tensor_oracle import Oracle
from sim.tensor_programs import HEAD, NHWC, TILES, X2, loading

from pyptx.emitter import emit
from pyptx.errors import ShapeError
from pyptx.tensor_map import TensorMap, _check

pytestmark = pytest.mark.gpu

driver = pytest.importorskip("cuda.bindings.driver")
SWIZZLES = (None, "32B", "64B", "128B")
BLACKWELL = ("128B_ATOM", "b6x16", "b4x16")  # what needs sm_100


def done(result):
    """What a call of the driver gave, after its error code."""
    error, *values = result
    assert error == driver.CUresult.CUDA_SUCCESS, error
    return values[0] if len(values) == 1 else tuple(values)


@pytest.fixture(scope="module")
def device(gpu):
    done(driver.cuInit(0))
    device = done(driver.cuDeviceGet(0))
    done(driver.cuCtxSetCurrent(done(driver.cuDevicePrimaryCtxRetain(device))))
    major = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    return 10 * done(driver.cuDeviceGetAttribute(major, device))


def upload(array: np.ndarray) -> int:
    pointer = done(driver.cuMemAlloc(array.nbytes))
    done(driver.cuMemcpyHtoD(pointer, np.ascontiguousarray(array).ctypes.data, array.nbytes))
    return int(pointer)


def needs_blackwell(m: TensorMap) -> bool:
    return any(word in f"{m.swizzle} {m.element.name}" for word in BLACKWELL)


@pytest.mark.parametrize("m", [m for m, _ in TILES] + [TensorMap(NHWC, (20, 64), im2col=((-1, -1), (0, 1)))], ids=repr)
def test_the_driver_takes_what_we_take(m, device):
    if needs_blackwell(m) and device < 100:
        pytest.skip("needs sm_100")
    function, arguments = m.driver_call(driver, upload(np.asarray(m.source)))
    done(function(*arguments))


@pytest.mark.parametrize(
    "box, options",
    [
        ((8, 60), {}),
        ((257, 64), {}),
        ((8, 128), {"swizzle": "128B"}),
        ((8, 64), {"element_strides": (9, 1)}),
        ((8, 64), {"shape": (40, 64), "strides": (100,)}),
        ((8, 8), {"shape": (40, 64), "strides": (1 << 40,)}),
    ],
)
def test_the_driver_refuses_what_we_refuse(box, options, device, monkeypatch):
    with pytest.raises(ShapeError):
        TensorMap(X2, box, **options)
    monkeypatch.setattr(_check, "check", lambda m: None)
    function, arguments = TensorMap(X2, box, **options).driver_call(driver, upload(X2))
    assert function(*arguments)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE


def launch(program, m: TensorMap, bytes_: int, coordinates) -> np.ndarray:
    """Shared memory after a load, as `loading` copies it out."""
    text = emit(program.module).replace(HEAD.format(target="sm_100a").splitlines()[1], ".target sm_90")
    module = done(driver.cuModuleLoadData(text.encode() + b"\0"))
    function = done(driver.cuModuleGetFunction(module, b"k"))
    base = np.asarray(m.source)
    call, arguments = m.driver_call(driver, upload(base))
    out = upload(np.zeros(bytes_, np.uint8))
    values = (done(call(*arguments)), out, *coordinates)
    kinds = (None, ctypes.c_void_p, *[ctypes.c_int] * len(coordinates))
    done(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, (values, kinds), 0))
    done(driver.cuCtxSynchronize())
    host = np.zeros(bytes_, np.uint8)
    done(driver.cuMemcpyDtoH(host.ctypes.data, out, bytes_))
    return host


def check(program, m: TensorMap, bytes_: int, coordinates, elements) -> None:
    expected = np.zeros(bytes_, np.uint8)
    oracle = Oracle(m, np.asarray(m.source).reshape(-1).view(np.uint8))
    written = oracle.load(expected, 0x400, elements(oracle))
    np.testing.assert_array_equal(launch(program, m, bytes_, coordinates)[written], expected[written])


@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize("columns, fill, start", [(16, None, (8, 36)), (8, "nan", (-4, -2)), (16, None, (56, 0))])
def test_boxes_arrive_as_in_the_simulator(swizzle, columns, fill, start, device):
    """Also rows narrower than the swizzle, and boxes that hang over the tensor."""
    m = TensorMap(X2, (8, columns), swizzle=swizzle, oob_fill=fill)
    bytes_ = 8 * max(2 * columns, m.span_bytes)
    check(loading(2, "tile", m.box_bytes, bytes_), m, bytes_, start, lambda o: o.tile(start))


def test_steps_leave_elements_out(device):
    m = TensorMap(X2, (9, 64), swizzle="128B", element_strides=(2, 1))
    check(loading(2, "tile", m.box_bytes, 640), m, 640, (0, 3), lambda o: o.tile((0, 3)))


@pytest.mark.parametrize("steps", [(1, 1, 1, 1), (1, 1, 2, 1), (2, 1, 1, 1)])
def test_im2col_walks_as_in_the_simulator(steps, device):
    m = TensorMap(NHWC, (40, 32), swizzle="64B", im2col=((-1, -1), (0, 1)), element_strides=steps)
    check(
        loading(4, "im2col", 40 * 64, 40 * 64, offsets=", {1, 2}"),
        m,
        40 * 64,
        (0, 3, 2, 1),
        lambda o: o.im2col((0, 3, 2, 1), (1, 2)),
    )


def test_tf32_is_rounded_on_the_way_in(device):
    x = np.random.default_rng(0).standard_normal((8, 32)).astype(np.float32)
    m = TensorMap(x, (8, 32), dtype="tf32")
    check(loading(2, "tile", 1024, 1024), m, 1024, (0, 0), lambda o: o.tile((0, 0)))
