"""The CUDA backend on a recording driver, without a GPU."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from runtime.kernels import double_bf16, scale
from runtime.test_tensor_maps import copy
from support.fake_cuda import FakeDriver, real
from support.threads import in_threads

from pyptx import TensorMap, Tile, kernel, ptx, smem
from pyptx.errors import DeviceError, LaunchError
from pyptx.runtime import LaunchPlan, Runtime, dim3, settings
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda import CudaBackend, DeviceArray
from pyptx.runtime.cuda.arrays import DeviceArrays
from pyptx.runtime.cuda.driver import Driver
from pyptx.runtime.cuda.launch import stream_handle
from pyptx.runtime.cuda.probe import probe
from pyptx.types import f32

X = np.arange(100, dtype=np.float32)
SIZES = {"scale": [8, 8, 4, 4], "copy": [8, 8, 8, 8], "by_value": [128, 4]}


def backend(**options) -> CudaBackend:
    api = FakeDriver(**options)
    api.sizes = SIZES
    return CudaBackend(api)


def fake(cuda: CudaBackend) -> FakeDriver:
    return cuda.driver.api


def launch(cuda: CudaBackend, k, *args, grid=2, block=64, cluster=None, smem_bytes=0, specialization=None, **options):
    """Launch on this backend as `Kernel.launch` does on the one it finds."""
    specialization = specialization or k.specialize(N=100)
    with cuda.staged(args) as staged:
        return specialization.launch(
            Runtime(cuda, arrays_of(X)),
            dim3(grid, "grid"),
            dim3(block, "block"),
            staged,
            cluster=dim3(cluster, "cluster"),
            smem_bytes=smem_bytes,
            outputs=(),
            settings=options,
        )


@pytest.fixture(autouse=True)
def new_variants():
    for k in (scale, copy, double_bf16):
        k._cache.clear()


def test_a_batch_is_one_launch():
    cuda = backend()
    x, y = np.zeros((5, 100), np.float32), np.zeros((5, 100), np.float32)
    scale.batch_launcher.run(Runtime(cuda, arrays_of(X)), [x], [True], {"factor": 2.0}, [y])
    (done,) = fake(cuda).launches
    assert (done.kernel, done.grid, done.block) == ("scale", (2, 1, 5), (64, 1, 1))
    assert done.values[2:] == [struct.pack("<f", 2.0), struct.pack("<I", 100)]


def test_numpy_arrays_are_copied_over_and_back():
    cuda, y = backend(), np.zeros(100, np.float32)
    result = launch(cuda, scale, X, y, 2.0, 100)
    assert (result.backend, result.seconds) == ("cuda", None)
    (done,) = fake(cuda).launches
    assert (done.kernel, done.grid, done.block, done.smem, done.stream) == ("scale", (2, 1, 1), (64, 1, 1), 0, 0)
    assert done.values[2:] == [struct.pack("<f", 2.0), struct.pack("<I", 100)]
    assert done.context == 100 and not fake(cuda).current  # the context is put back
    names = fake(cuda).names()
    assert names.count("cuMemcpyHtoD") == names.count("cuMemcpyDtoH") == 2
    assert names.index("cuLaunchKernelEx") < names.index("cuStreamSynchronize") < names.index("cuMemcpyDtoH")
    assert not fake(cuda).memory


def test_what_a_kernel_wrote_comes_back_and_read_only_arrays_are_left_alone():
    cuda, y, x = backend(), np.zeros(100, np.float32), X.copy()
    x.flags.writeable = False
    with cuda.staged([x, y]) as (_, copied):
        copied.set(X + 1)
    assert np.array_equal(y, X + 1) and fake(cuda).names().count("cuMemcpyDtoH") == 1


def test_an_array_passed_twice_is_one_array():
    cuda = backend()
    launch(cuda, scale, X, X, 1.0, 100)
    assert fake(cuda).launches[0].values[0] == fake(cuda).launches[0].values[1]


def test_assembled_for_the_chip_it_runs_on_and_loaded_once():
    cuda = backend(capability=(8, 9))
    for _ in range(3):
        launch(cuda, scale, X, X.copy(), 2.0, 100)
    names = fake(cuda).names()
    assert names.count("cuLibraryLoadData") == names.count("cuLibraryGetKernel") == 1
    assert names.count("cuLaunchKernelEx") == 3
    code = next(call[1] for call in fake(cuda).calls if call[0] == "cuLibraryLoadData")
    assert code == scale.specialize(N=100).compile(arch="sm_89").cubin


@pytest.mark.parametrize(
    "capability, message",
    [
        (
            (10, 0),
            r"targets sm_90a, which runs on that architecture only; it does not run on cuda:0 \(Fake GPU, sm_100\)",
        ),
        ((8, 0), "sm_90a"),
        ((9, 9), "an architecture that pyptx does not support"),
    ],
)
def test_code_for_one_chip_is_refused_on_another(capability, message):
    cuda = backend(capability=capability)
    with pytest.raises(LaunchError, match=message):
        launch(
            cuda,
            double_bf16,
            np.zeros(64, np.uint16),
            np.zeros(64, np.uint16),
            specialization=double_bf16.specialize(N=64),
        )
    assert not fake(cuda).launches


def test_a_newer_target_than_the_chip_is_refused():
    newer = kernel(arch="sm_100", in_specs=[Tile("N", f32)])(lambda x: ptx.ret())
    with pytest.raises(LaunchError, match="targets sm_100, which needs a newer architecture"):
        launch(backend(), newer, X, specialization=newer.specialize(N=100))


def test_a_driver_too_old_for_the_machine_code_is_named_with_a_ptxas_that_would_do(monkeypatch):
    monkeypatch.setattr(
        "pyptx.toolchain.locate.installed_elsewhere", lambda name: [("/new", "13.1.2"), ("/old", "12.6.77")]
    )
    cuda = backend(version=12040)
    fake(cuda).failing["cuLibraryLoadData"] = real.CUresult.CUDA_ERROR_INVALID_IMAGE
    with pytest.raises(LaunchError, match=r"CUDA 12.4; the machine code for sm_90 was generated by \w+ 13") as told:
        launch(cuda, scale, X, X.copy(), 2.0, 100)
    assert "driver of CUDA 13 or later, or set PYPTX_PTXAS to a ptxas of CUDA 12: PYPTX_PTXAS=/old" in str(told.value)


@pytest.mark.parametrize(
    "status, known, message",
    [
        ("INVALID_IMAGE", 13000, r"CUDA 13\.0.*\n.*a driver of CUDA 13\.\d+ or later.* a ptxas of CUDA 13\.0$"),
        ("INVALID_IMAGE", 13090, "^loading scale on cuda:0"),
        ("OUT_OF_MEMORY", 13000, "^loading scale on cuda:0"),
    ],
)
def test_only_a_newer_tool_is_blamed(status, known, message, monkeypatch):
    monkeypatch.setattr("pyptx.toolchain.locate.installed_elsewhere", lambda name: [])
    cuda = backend(version=known)
    fake(cuda).failing["cuLibraryLoadData"] = getattr(real.CUresult, f"CUDA_ERROR_{status}")
    with pytest.raises((LaunchError, DeviceError), match=message):
        launch(cuda, scale, X, X.copy(), 2.0, 100)


def test_a_kernel_is_loaded_and_its_maps_are_placed_while_a_graph_is_recorded():
    cuda = backend()
    x, y = (DeviceArray.of(cuda.driver, 0, np.zeros((24, 32), np.float32)) for _ in range(2))
    fake(cuda).capturing.add(9)
    launch(
        cuda,
        copy,
        x,
        y,
        TensorMap(x, (8, 32)),
        TensorMap(y, (8, 32)),
        grid=3,
        block=32,
        specialization=copy.specialize(M=24),
        stream=9,
    )
    assert len(fake(cuda).launches) == 1 and fake(cuda).mode.name.endswith("GLOBAL"), "and the mode is put back"
    del x, y
    assert len(fake(cuda).memory) == 1, "the maps'"


def test_clusters_and_shared_memory_are_asked_for():
    cuda = backend()
    launch(cuda, scale, X, X.copy(), 2.0, 100, grid=16, cluster=16, smem_bytes=100_000)
    (done,) = fake(cuda).launches
    size = done.attributes["CLUSTER_DIMENSION"].clusterDim
    assert (size.x, size.y, size.z) == (16, 1, 1) and done.smem == 100_000
    asked = [(call[2].name, call[3]) for call in fake(cuda).calls if call[0] == "cuFuncSetAttribute"]
    assert asked == [
        ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 100_000),
        ("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1),
    ]


def test_cooperative_and_programmatic_launches():
    cuda = backend()
    launch(cuda, scale, X, X.copy(), 2.0, 100, cooperative=True, programmatic=True)
    (done,) = fake(cuda).launches
    assert done.attributes["COOPERATIVE"].cooperative == 1
    assert done.attributes["PROGRAMMATIC_STREAM_SERIALIZATION"].programmaticStreamSerializationAllowed == 1


@pytest.mark.parametrize(
    "options, arguments, message",
    [
        ({"most_threads": 32}, {}, r"64 threads; with 32 registers per thread, cuda:0 .* runs at most 32"),
        ({"smem": 100_000}, {"smem_bytes": 100_001}, "100001 bytes of dynamic shared memory; .* at most 100000"),
        ({"capability": (8, 0)}, {"cluster": 2}, "clusters need sm_90"),
        ({}, {"grid": 32, "cluster": 32}, "has 32 CTAs; at most 16"),
        ({}, {"seed": 3}, "the cuda backend has no option seed"),
        ({}, {"stream": "main"}, "stream is a str"),
    ],
)
def test_launches_beyond_the_gpu_are_refused(options, arguments, message):
    cuda = backend(**options)
    with pytest.raises(LaunchError, match=message):
        launch(cuda, scale, X, X.copy(), 2.0, 100, **arguments)
    assert not fake(cuda).launches


@pytest.mark.parametrize(
    "args, message",
    [
        ((X, X, 2.0), r"scale takes 4 arguments \(x \.u64, .*\); got 3"),
        ((X, X, 2.0, -(2**40)), "argument N of scale"),
        ((X, X, X, 4), r"parameter factor is \.f32, not a pointer"),
        ((X, 2.5, 2.0, 4), "argument y of scale"),
        ((X, TensorMap(X.reshape(5, 20), (5, 20)), TensorMap(X.reshape(5, 20), (5, 20)), 4), r"factor is \.f32"),
    ],
)
def test_arguments_that_do_not_fit_are_named(args, message):
    cuda = backend()
    with pytest.raises(LaunchError, match=message):
        launch(cuda, scale, *args)
    assert not fake(cuda).launches


def test_streams_of_every_package():
    class Torch:
        cuda_stream = 11

    class Core:
        def __cuda_stream__(self):
            return 0, 13

    class Cupy:
        ptr = 12

    assert [stream_handle(s) for s in (Torch(), Cupy(), Core(), 14, real.CUstream(15))] == [11, 12, 13, 14, 15]
    cuda = backend()
    for stream in (5, 6, 5):
        launch(cuda, scale, X, X.copy(), 2.0, 100, stream=stream)
    assert [done.stream for done in fake(cuda).launches] == [5, 6, 5]


def test_time_is_measured_when_asked():
    assert launch(backend(), scale, X, X.copy(), 2.0, 100, timed=True).seconds == 0.0025


def test_a_refused_launch_names_kernel_and_sizes(monkeypatch):
    cuda = backend()
    fake(cuda).failing["cuLaunchKernelEx"] = real.CUresult.CUDA_ERROR_LAUNCH_FAILED
    with pytest.raises(DeviceError, match=r"scale on cuda:0 .*grid \(2, 1, 1\), block \(64.*LAUNCH_FAILED") as e:
        launch(cuda, scale, X, X.copy(), 2.0, 100)
    assert "PYPTX_CHECK=1" in str(e.value) and e.value.code == 719
    monkeypatch.setattr(settings, "CHECK", True)
    with pytest.raises(DeviceError, match=r"scale\.check\(\.\.\.\)"):
        launch(cuda, scale, X, X.copy(), 2.0, 100)


def test_a_checked_launch_waits_except_while_a_graph_is_recorded(monkeypatch):
    monkeypatch.setattr(settings, "CHECK", True)
    cuda = backend()
    on = DeviceArrays(cuda.driver)
    x = on.empty((100,), "f32", ())
    program = cuda.load(scale.module(N=100), "scale", lambda t: scale.specialize(N=100).compile(arch=t))
    plan = LaunchPlan(scale.specialize(N=100).entry, (2, 1, 1), (64, 1, 1))
    cuda.launch(program, plan, [x, x, 1.0, 100], {"stream": 9})
    assert "cuStreamSynchronize" in fake(cuda).names()
    fake(cuda).calls.clear()
    fake(cuda).capturing.add(9)
    cuda.launch(program, plan, [x, x, 1.0, 100], {"stream": 9})
    assert "cuStreamSynchronize" not in fake(cuda).names()


def test_a_fault_while_waiting_is_the_launch_that_is_waited_for():
    cuda = backend()
    fake(cuda).failing["cuStreamSynchronize"] = real.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(DeviceError, match="scale on cuda:0.*ILLEGAL_ADDRESS"):
        launch(cuda, scale, X, X.copy(), 2.0, 100)


def test_arrays_on_two_gpus_are_refused():
    cuda = backend(devices=2)
    x, y = (DeviceArray.of(cuda.driver, k, X) for k in range(2))
    with pytest.raises(LaunchError, match="scale: y is on cuda:1, but x is on cuda:0"):
        launch(cuda, scale, x, y, 2.0, 100)
    with pytest.raises(LaunchError, match="scale: y is on cpu; .* and x is on cuda:0"):
        launch(cuda, scale, x, X, 2.0, 100)
    launch(cuda, scale, y, y, 2.0, 100)
    assert fake(cuda).launches[-1].context == 101


def test_tensor_maps_are_in_device_memory_that_keeps_its_value():
    cuda, x, y = backend(), np.zeros((24, 32), np.float32), np.zeros((24, 32), np.float32)
    specialization = copy.specialize(M=24)
    for _ in range(2):
        launch(
            cuda,
            copy,
            x,
            y,
            TensorMap(x, (8, 32)),
            TensorMap(y, (8, 32)),
            grid=3,
            block=32,
            specialization=specialization,
        )
    first, second = (done.values for done in fake(cuda).launches)
    slab = next(iter(fake(cuda).memory))
    for values in (first, second):
        places = [int.from_bytes(v, "little") for v in values[2:]]
        assert all(p % 128 == 0 and slab <= p < slab + 65536 for p in places) and places[0] != places[1]


def test_maps_for_a_graph_are_copied_on_a_stream_of_their_own_and_never_reused():
    cuda = backend()
    device = cuda.driver.device(0)
    fake(cuda).current.append(100)
    fake(cuda).capturing.add(9)
    descriptors = cuda.descriptors(device)
    first = descriptors.address(b"a" * 128, pinned=True)
    assert descriptors.address(b"a" * 128, pinned=False) == first != descriptors.address(b"b" * 128, pinned=False)
    names = fake(cuda).names()
    assert names.index("cuThreadExchangeStreamCaptureMode") < names.index("cuMemAlloc")
    assert names.count("cuThreadExchangeStreamCaptureMode") == 4


def test_old_maps_make_room_when_the_gpu_has_come_to_rest(monkeypatch):
    """And when at least as many others were used since: the GPU may hold what lay there."""
    monkeypatch.setattr("pyptx.runtime.cuda.tensor_maps._KEPT_BLOBS", 512)
    cuda = backend()
    fake(cuda).current.append(100)
    descriptors = cuda.descriptors(cuda.driver.device(0))
    kept = descriptors.address(b"kept".ljust(128), pinned=True)
    places = [descriptors.address(str(k).encode().ljust(128), pinned=False) for k in range(3000)]
    assert kept not in places and descriptors.address(b"kept".ljust(128), pinned=False) == kept
    last: dict[int, int] = {}
    since = [k - last[place] for k, place in enumerate(places) if last.setdefault(place, k) != k]
    assert since and min(since) > 512
    assert len(fake(cuda).memory) <= 8, "memory is bounded"


def test_a_map_goes_by_value_where_the_kernel_takes_it_so():
    k = kernel(arch="sm_90a", raw_params=[("b8.align64.array128", "map"), ("u32", "n")])(lambda: smem.alloc(f32, (4,)))
    by_value = kernel(arch="sm_90a", name="by_value", raw_params=k.declaration.raw_params)(lambda: ptx.ret())
    cuda, x = backend(), np.zeros((8, 32), np.float32)
    launch(cuda, by_value, TensorMap(x, (8, 32)), 7, specialization=by_value.specialize())
    value, n = fake(cuda).launches[0].values
    assert len(value) == 128 and n == struct.pack("<I", 7)
    assert int.from_bytes(value[:8], "little") % 256 == 0  # the address of the copy


def test_eight_threads_assemble_and_load_once(monkeypatch):
    cuda, assembled = backend(), []
    specialization = scale.specialize(N=100)

    def assemble(target):
        assembled.append(target)
        return specialization.compile(arch=target)

    program = cuda.load(specialization.module, "scale", assemble)
    plan = LaunchPlan(specialization.entry, (2, 1, 1), (64, 1, 1))
    x = DeviceArray.of(cuda.driver, 0, X)
    fake(cuda).current.append(100)  # one current context, as with torch

    def work(k: int) -> None:
        for n in range(20):
            cuda.launch(program, plan, [x, x, float(k), n], {"stream": k + 1})

    in_threads(work)
    assert assembled == ["sm_90"] and fake(cuda).names().count("cuLibraryLoadData") == 1
    seen = {
        (done.stream, struct.unpack("<f", done.values[2])[0], int.from_bytes(done.values[3], "little"))
        for done in fake(cuda).launches
    }
    assert seen == {(k + 1, float(k), n) for k in range(8) for n in range(20)}


def test_pointers_that_promise_more_alignment_than_they_have_are_refused():
    k = kernel(arch="sm_80", name="vectors", raw_params=[("u64.ptr.global.palign16", "p")])(lambda: ptx.ret())
    cuda = backend()
    x = DeviceArray.of(cuda.driver, 0, X)
    launch(cuda, k, x, specialization=k.specialize())
    x.address += 4
    with pytest.raises(
        LaunchError, match=r"vectors: p starts at 0x\w+, but the kernel's .ptr .align requires a multiple of 16 bytes"
    ):
        launch(cuda, k, x, specialization=k.specialize())


def test_a_machine_without_a_driver_says_so():
    api = FakeDriver()
    api.cuInit = lambda flags: (_ for _ in ()).throw(RuntimeError("no libcuda"))
    with pytest.raises(LaunchError, match=r"no NVIDIA driver.*libcuda") as caught:
        launch(CudaBackend(api), scale, X, X.copy(), 2.0, 100)
    assert "pyptx.use('sim')" in str(caught.value)
    with pytest.raises(LaunchError, match=r"^no NVIDIA driver"):
        _ = Driver(api).count


def test_a_driver_without_a_function_says_so():
    cuda = backend()

    def missing(*_):
        raise RuntimeError('Function "cuLibraryLoadData" not found')

    fake(cuda).cuLibraryLoadData = missing
    with pytest.raises(LaunchError, match="loading scale on cuda:0 .*: not supported by this driver: Function") as told:
        launch(cuda, scale, X, X.copy(), 2.0, 100)
    assert "newer NVIDIA driver" in str(told.value)


def test_what_doctor_says_of_gpus():
    words = "Fake GPU, sm_90, 227 KiB of shared memory per CTA"
    assert list(probe(FakeDriver(devices=2), assembler="ptxas 13.5.37")) == [
        ("driver", True, "CUDA 13.1", None),
        ("cuda:0", True, words, None),
        ("cuda:1", True, words, None),
    ]
    broken = FakeDriver()
    broken.failing["cuInit"] = real.CUresult.CUDA_ERROR_NO_DEVICE
    ((name, usable, finding, fix),) = probe(broken)
    assert (name, usable) == ("driver", False) and "CUDA_ERROR_NO_DEVICE" in finding and "install" in fix
    ((_, usable, finding, _),) = [line for line in probe(FakeDriver(capability=(9, 9))) if line[0] == "cuda:0"]
    assert not usable and finding.startswith("not usable: cuda:0 has an architecture that pyptx does not support")
    (name, usable, finding, fix), *_ = probe(FakeDriver(version=12040), assembler="ptxas 13.5.37")
    assert not usable and finding == "CUDA 12.4, too old for machine code of ptxas 13.5.37"
    assert fix == "install a driver of CUDA 13 or later, or set PYPTX_PTXAS to a ptxas of CUDA 12"
    assert [usable for _, usable, *_ in probe(FakeDriver(devices=0))] == [True, False]


def test_arrays_of_any_package_with_the_interface():
    class Foreign:
        def __init__(self, host, strides=None):
            self.host = host
            self.__cuda_array_interface__ = {
                "shape": host.shape,
                "typestr": host.dtype.str,
                "version": 3,
                "data": (host.ctypes.data, False),
                "strides": strides,
                "stream": 21,
            }

    cuda = backend()
    on, x = DeviceArrays(cuda.driver), Foreign(X)
    assert (on.dtype_name(x), on.device(x), on.stream(x), on.address(x)) == ("float32", "cuda:0", 21, X.ctypes.data)
    on.check(x, "x")
    with pytest.raises(LaunchError, match="x is not contiguous"):
        on.check(Foreign(X, strides=(8,)), "x")
    assert np.array_equal(on.host(x), X)
    y = on.empty((3,), "bf16", [x])
    assert y.shape == (3,) and y.__cuda_array_interface__["data"][0] == y.address in fake(cuda).memory
    del y
    assert not fake(cuda).memory


def test_eight_threads_that_meet_at_a_new_kernel_make_one_variant_and_one_load():
    cuda = backend()
    fake(cuda).current.append(100)
    x = DeviceArray.of(cuda.driver, 0, X)
    in_threads(lambda k: launch(cuda, scale, x, x, 1.0, 100))
    assert len(scale._cache) == 1 and len(fake(cuda).launches) == 8
    assert fake(cuda).names().count("cuLibraryLoadData") == 1


def test_a_new_array_of_zeros_is_written_before_a_launch_can_be():
    cuda = backend()
    x = DeviceArrays(cuda.driver).empty((5,), "f32", (), True)
    assert "cuMemcpyHtoD" in fake(cuda).names() and (x.get() == 0).all()
