"""Arrays of unknown packages, by DLPack and __cuda_array_interface__ alone: used without a copy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from runtime.kernels import product, scale
from runtime.test_calls import array, gpu, launches  # noqa: F401  (gpu is a fixture)

import pyptx
from pyptx.errors import LaunchError
from pyptx.runtime.cuda import dlpack
from pyptx.runtime.foreign_arrays import import_foreign

X = np.arange(100, dtype=np.float32)


class Foreign:
    """DLPack and nothing else."""

    def __init__(self, host: np.ndarray):
        self.__host = host

    def __dlpack__(self, **options):
        return self.__host.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.__host.__dlpack_device__()


def test_arrays_of_the_cpu_are_viewed_and_run_on_the_simulator():
    y = scale(Foreign(X), factor=2.0)
    assert isinstance(y, np.ndarray) and np.array_equal(y, 2 * X)
    out = np.zeros_like(X)
    scale(Foreign(X), factor=3.0, out=Foreign(out))
    assert np.array_equal(out, 3 * X)  # the same memory
    scale.launch(2, 64, Foreign(X), Foreign(out), 4.0, 100)
    assert np.array_equal(out, 4 * X)
    a, b = np.ones((3, 4), np.float32), np.full((3, 4), 2, np.float32)
    assert np.array_equal(product(Foreign(a), b)[1], a + b)  # beside NumPy arrays, as it is one
    assert scale.check(Foreign(X), factor=2.0).ok
    text = pyptx.load(scale.ptx(N=100))["scale"]
    text.launch(2, 64, Foreign(X), Foreign(out), 5.0, 100)
    assert np.array_equal(out, 5 * X)


def test_what_may_only_be_read_is_read_and_not_written():
    fixed = X.copy()
    fixed.flags.writeable = False
    assert np.array_equal(scale(Foreign(fixed), factor=2.0), 2 * X)
    with pytest.raises(LaunchError, match="scale: y is read-only"):
        scale(Foreign(X), factor=2.0, out=Foreign(fixed))
    with pytest.raises(LaunchError, match="scale: y is read-only"):
        scale(X, factor=2.0, out=fixed)
    assert np.array_equal(fixed, X)


def test_views_are_checked_like_arrays():
    with pytest.raises(LaunchError, match="scale: x is not contiguous"):
        scale(Foreign(X[::2]), factor=1.0)
    with pytest.raises(LaunchError, match="scale: x has dtype int64"):
        scale(Foreign(np.arange(4)), factor=1.0)
    with pytest.raises(LaunchError, match="x shares memory|shares memory with x"):
        scale(Foreign(X), factor=1.0, out=Foreign(X))


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class OnGpu:
    """A tensor on a GPU as a package of its own would give it; its memory is our fake driver's."""

    kind, bits, lanes, code = 2, 32, 1, 2

    def __init__(self, owner, shape=None, strides=None, offset=0, read_only=False, versioned=True):
        shape = owner.shape if shape is None else shape
        self.asked, self.owner, self.versioned = [], owner, versioned
        self.shape_, self.strides_ = (None if n is None else (ctypes.c_int64 * len(n))(*n) for n in (shape, strides))
        self.managed = dlpack._Versioned() if versioned else dlpack._Managed()
        if versioned:
            self.managed.major, self.managed.flags = 1, int(read_only)
        t = self.managed.tensor
        t.data, t.offset, t.rank = owner.address, offset, len(shape)
        t.device.kind, t.device.number = self.kind, owner.device
        t.type.code, t.type.bits, t.type.lanes = self.code, self.bits, self.lanes
        t.shape = ctypes.cast(self.shape_, type(t.shape))
        if self.strides_ is not None:
            t.strides = ctypes.cast(self.strides_, type(t.strides))

    def __dlpack_device__(self):
        return self.kind, self.owner.device

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked.append((stream, max_version))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return new(ctypes.addressof(self.managed), name, None)


@pytest.mark.parametrize("versioned", [True, False])
def test_arrays_of_a_gpu_run_where_they_lie(gpu, versioned):  # noqa: F811
    x, y = array(gpu, 104), array(gpu, 100)
    given = OnGpu(x, shape=(100,), strides=(1,), offset=16, versioned=versioned)
    scale(given, factor=2.0, out=OnGpu(y, versioned=versioned))
    scale(given, factor=2.0)
    first, second = launches(gpu)
    assert [int.from_bytes(v, "little") for v in first.values[:2]] == [x.address + 16, y.address]
    assert first.stream == 0 and given.asked[0] == (1, (1, 1)) and second.values[0] == first.values[0]


def test_arrays_of_a_gpu_that_do_not_fit_are_named(gpu):  # noqa: F811
    x, y = array(gpu, 100), array(gpu, 100)
    with pytest.raises(LaunchError, match="scale: x is not contiguous"):
        scale(OnGpu(x, shape=(50,), strides=(2,)), factor=1.0)
    with pytest.raises(LaunchError, match="scale: y is read-only"):
        scale(OnGpu(x), factor=1.0, out=OnGpu(y, read_only=True))
    scale(OnGpu(x, read_only=True), factor=1.0, out=y)  # beside our own arrays
    lanes = OnGpu(x)
    lanes.managed.tensor.type.lanes = 4
    with pytest.raises(LaunchError, match="OnGpu has elements of DLPack type 2 with 32 bits and 4 lanes"):
        scale(lanes, factor=1.0)
    newer = OnGpu(x)
    newer.managed.major = 2
    with pytest.raises(LaunchError, match="uses DLPack 2.0"):
        scale(newer, factor=1.0)
    assert len(launches(gpu)) == 1


def test_devices_and_owners_that_cannot_be_served_are_named():
    class Elsewhere(Foreign):
        def __dlpack_device__(self):
            return 10, 0  # ROCm

    class Refusing(Foreign):
        def __dlpack__(self, **options):
            raise BufferError("it is busy")

    class Half:
        def __dlpack__(self):
            return None

    for value, message in [
        (Elsewhere(X), "Elsewhere is on a device of DLPack type 10"),
        (Refusing(X), "Refusing cannot be viewed: it is busy"),
        (Half(), "no __dlpack_device__"),
    ]:
        with pytest.raises(LaunchError, match=message):
            scale(value, factor=1.0)


def test_what_is_known_is_left_as_it_is():
    values = [X, 3, 2.5, None, "text", np.float32(1)]
    assert (
        all(one is other for one, other in zip(import_foreign(values), values, strict=True))
        and import_foreign(None) is None
    )


def test_the_interface_alone_is_enough(gpu):  # noqa: F811
    class Bare:
        def __init__(self, owner, **more):
            self.owner, self.shape = owner, owner.shape
            self.__cuda_array_interface__ = {**owner.__cuda_array_interface__, **more}

    x, y = array(gpu, 100), array(gpu, 100)
    for stream in (5, 6):
        scale(Bare(x, stream=stream), factor=1.0, out=Bare(y))
    assert [done.stream for done in launches(gpu)] == [5, 6]
    with pytest.raises(LaunchError, match="scale: y is read-only"):
        scale(x, factor=1.0, out=Bare(y, data=(y.address, True)))
    with pytest.raises(LaunchError, match="scale: x is a masked array"):
        scale(Bare(x, mask=Bare(y)), factor=1.0)
    with pytest.raises(LaunchError, match="scale: x is not contiguous"):
        scale(Bare(x, strides=(8,)), factor=1.0)
