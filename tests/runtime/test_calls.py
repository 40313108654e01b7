"""Repeated calls: found by their signature and launched without new checks, on a recording driver."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from runtime.kernels import product, scale
from runtime.test_tensor_maps import copy
from support.fake_cuda import FakeDriver, real
from support.threads import in_threads

import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.errors import DeviceError, LaunchError
from pyptx.runtime import arrays as runtime_arrays
from pyptx.runtime import cuda, settings
from pyptx.types import f32

FACTOR = 2.0


@pytest.fixture
def gpu(monkeypatch):
    """A driver that records, behind every call on our own arrays and on what has __cuda_array_interface__."""
    api = FakeDriver(devices=2)
    api.sizes = {
        "scale": [8, 8, 4, 4],
        "copy": [8, 8, 8, 8],
        "copy_value": [8, 8, 128, 128],
        "product": [8] * 4,
        "outside": [8, 8],
        "vectors": [8, 8],
    }
    backend = cuda.CudaBackend(api)
    api.current.append(100)
    monkeypatch.setattr(cuda, "BACKEND", backend)
    monkeypatch.setattr(cuda, "ARRAYS", cuda.DeviceArrays(backend.driver))
    runtime_arrays.arrays_of_type.cache_clear()
    for k in (scale, product, copy):
        k._cache.clear()
        k.launch_cache.entries.clear()
    yield backend
    for k in (scale, product, copy):
        k._cache.clear()
        k.launch_cache.entries.clear()
    runtime_arrays.arrays_of_type.cache_clear()


def array(gpu, *shape, device=0, dtype=np.float32):
    return cuda.DeviceArray(gpu.driver, device, shape, np.dtype(dtype))


def launches(gpu):
    return gpu.driver.api.launches


def test_a_second_call_of_a_kind_only_writes_addresses_and_values(gpu, monkeypatch):
    x, y = array(gpu, 100), array(gpu, 100)
    first = scale(x, factor=2.0)
    assert len(scale.launch_cache) == 1
    monkeypatch.setattr(scale.binder, "sizes_of", None)  # would fail if it were looked at again
    second = scale(y, factor=-0.5)
    for done, source, target, factor in zip(launches(gpu), (x, y), (first, second), (2.0, -0.5), strict=True):
        assert done.values == [
            struct.pack("<Q", source.address),
            struct.pack("<Q", target.address),
            struct.pack("<f", factor),
            struct.pack("<I", 100),
        ]
        assert (done.grid, done.block, done.stream, done.context) == ((2, 1, 1), (64, 1, 1), 0, 100)
    assert scale.last_run.backend == "cuda" and scale.last_run.outputs == ()  # and keeps no memory


@pytest.mark.parametrize("value, kept", [(2, 1), (True, 0), (np.float32(2), 1), (1e300, 1), (-7, 1)])
def test_numbers_of_every_kind_arrive_as_the_slow_way_writes_them(gpu, value, kept):
    x = array(gpu, 100)
    scale(x, factor=1.0)
    if not kept:
        with pytest.raises(LaunchError, match="argument factor of scale is .f32"):
            scale(x, factor=value)
        return
    with np.errstate(over="ignore"):
        for _ in range(3):
            scale(x, factor=value)
        assert {done.values[2] for done in launches(gpu)[1:]} == {np.float32(value).tobytes()}


def test_what_does_not_fit_is_refused_the_second_time_too(gpu):
    x = array(gpu, 100)
    for _ in range(2):
        scale(x, factor=1.0, out=array(gpu, 100))
    for wrong, message in [
        (dict(factor="two"), "factor"),
        (dict(factor=1.0, out=array(gpu, 99)), "y"),
        (dict(factor=1.0, out=x), "y shares memory with x"),
        (dict(factor=1.0, out=array(gpu, 100, device=1)), "y is on cuda:1"),
        ({}, "factor"),
        (dict(factor=1.0, out=array(gpu, 100, dtype=np.int8)), "y has dtype int8"),
    ]:
        with pytest.raises((LaunchError, TypeError), match=message):
            scale(x, **wrong)
    assert len(launches(gpu)) == 2


def test_shapes_devices_and_backends_are_other_calls(gpu):
    for x in (array(gpu, 100), array(gpu, 64), array(gpu, 100, device=1)):
        scale(x, factor=1.0)
        scale(x, factor=1.0)
    assert [(done.grid[0], done.context) for done in launches(gpu)] == [(2, 100)] * 2 + [(1, 100)] * 2 + [(2, 101)] * 2
    assert gpu.driver.api.current == [100]  # the context of the caller is put back
    with pyptx.use("sim"):  # on copies, on the CPU
        scale(array(gpu, 100), factor=1.0)
    assert len(launches(gpu)) == 6


def test_options_and_surplus_arrays_are_not_lost(gpu):
    x = array(gpu, 100)
    with pyptx.use("cuda"):
        scale(x, factor=1.0)
        scale(x, factor=1.0)
    with pyptx.use("cuda", cooperative=True):
        scale(x, factor=1.0)
    with pyptx.use("cuda", check=True):
        scale(x, factor=1.0)
    assert ["COOPERATIVE" in done.attributes for done in launches(gpu)] == [False, False, True, False]
    assert gpu.driver.api.names().count("cuStreamSynchronize") == 1
    for _ in range(2):
        with pytest.warns(UserWarning, match="out="):
            scale(x, array(gpu, 100), factor=1.0)


def test_several_outputs_come_as_a_tuple(gpu):
    a, b = array(gpu, 3, 100), array(gpu, 3, 100)
    for _ in range(2):
        both, total = product(a, b)
        assert launches(gpu)[-1].values == [struct.pack("<Q", x.address) for x in (a, b, both, total)]


def test_tensor_maps_follow_the_addresses(gpu):
    arrays = [array(gpu, 24, 32) for _ in range(3)]
    for x, y in [(0, 1), (0, 1), (2, 0), (0, 1)]:
        copy(arrays[x], out=arrays[y])
    seen = [[int.from_bytes(v, "little") for v in done.values] for done in launches(gpu)]
    assert seen[0] == seen[1] == seen[3] != seen[2] and seen[0][2] != seen[0][3]
    assert gpu.driver.api.names().count("cuTensorMapEncodeTiled") == 3  # one for each array


def test_tensor_maps_by_value_are_in_the_parameters(gpu):
    by_value = kernel(
        copy.__wrapped__,
        name="copy_value",
        in_specs=copy.in_specs,
        out_specs=copy.out_specs,
        grid=3,
        block=32,
        tensor_maps="value",
    )
    arrays = [array(gpu, 24, 32) for _ in range(3)]
    for x, y in [(0, 1), (0, 1), (2, 0), (0, 1)]:
        by_value(arrays[x], out=arrays[y])
    seen = [done.values for done in launches(gpu)]
    assert [len(v) for v in seen[0]] == [8, 8, 128, 128]
    assert seen[0] == seen[1] == seen[3] != seen[2] and seen[0][2] != seen[0][3]
    assert not gpu.descriptors(gpu.driver.device(0))._addresses, "no map is copied to the GPU"


def test_a_map_a_graph_remembers_is_pinned_though_it_was_there_before(gpu):
    class Streamed:
        def __init__(self, owner, stream):
            self.dtype, self.shape, self.owner = owner.dtype, owner.shape, owner
            self.__cuda_array_interface__ = {**owner.__cuda_array_interface__, "stream": stream}

    x, y = array(gpu, 24, 32), array(gpu, 24, 32)
    copy(Streamed(x, 9), out=Streamed(y, 9))
    descriptors = gpu.descriptors(gpu.driver.device(0))
    assert len(descriptors._addresses) == 2 and not descriptors._pinned
    gpu.driver.api.capturing.add(9)
    copy(Streamed(x, 9), out=Streamed(y, 9))
    assert len(descriptors._pinned) == 2 and len(launches(gpu)) == 2


def test_a_pointer_that_is_not_aligned_any_more_is_refused(gpu):
    k = kernel(arch="sm_80", name="vectors", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], block=32)(
        lambda x, y: ptx.ret()
    )
    x, y = array(gpu, 8), array(gpu, 8)
    k(x, out=y)
    bound = next(iter(k.launch_cache.entries.values()))
    bound._launch._aligned = ((0, 16),)  # as .ptr .align 16 would have it
    x.address += 4
    assert bound.run((x,), y, {}) is None and len(launches(gpu)) == 1


def test_a_refused_launch_names_the_kernel_the_second_time_too(gpu):
    x = array(gpu, 100)
    scale(x, factor=1.0)
    gpu.driver.api.failing["cuLaunchKernelEx"] = real.CUresult.CUDA_ERROR_LAUNCH_FAILED
    with pytest.raises(DeviceError, match=r"scale on cuda:0 .*grid \(2, 1, 1\), block \(64.*LAUNCH_FAILED"):
        scale(x, factor=1.0)


def test_checked_launches_are_looked_at_each_time(gpu, monkeypatch):
    monkeypatch.setattr(settings, "CHECK", True)
    x = array(gpu, 100)
    for _ in range(2):
        scale(x, factor=1.0)
    assert not len(scale.launch_cache) and gpu.driver.api.names().count("cuStreamSynchronize") == 2


def test_what_the_function_reads_from_outside_is_part_of_the_call(gpu):
    global FACTOR
    shift = 1.0

    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], block=32)
    def outside(x, y):
        (target,) = ptx.global_ptrs(y)
        ptx.inst.st.global_.f32(ptx.addr(target), reg.scalar(f32, FACTOR + shift))

    x, before = array(gpu, 8), FACTOR
    try:
        for FACTOR, shift in ((2.0, 1.0), (2.0, 1.0), (5.0, 1.0), (5.0, 3.0)):  # noqa: B007
            outside(x)
    finally:
        FACTOR = before
    assert len(outside._cache) == 3 and len(outside.launch_cache) == 3
    assert "0f41000000" in outside.last_specialization.emitted.text  # 8.0


def test_eight_threads_call_one_kernel_on_streams_of_their_own(gpu):
    n = 40

    class Streamed:
        def __init__(self, owner, stream):
            self.dtype, self.shape, self.owner = owner.dtype, owner.shape, owner
            self.__cuda_array_interface__ = {**owner.__cuda_array_interface__, "stream": stream}

    def work(k: int) -> None:
        x, y = Streamed(array(gpu, 100), k + 1), Streamed(array(gpu, 100), k + 1)
        for step in range(n):
            scale(x, factor=float(100 * k + step), out=y)

    in_threads(work)
    assert len(scale._cache) == 1
    seen = sorted((done.stream, struct.unpack("<f", done.values[2])[0]) for done in launches(gpu))
    assert seen == [(k + 1, float(100 * k + step)) for k in range(8) for step in range(n)]
    assert gpu.driver.api.names().count("cuLibraryLoadData") == 1
