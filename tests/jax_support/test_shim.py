"""The handler for GPUs, compiled and called by XLA on the CPU platform, with a recording launch function."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from runtime.kernels import counts, product, scale
from runtime.test_tensor_maps import copy
from support.fake_cuda import FakeDriver, real
from support.threads import in_threads

from pyptx.errors import MissingToolError
from pyptx.jax_support import calls, compile_ptx_to_cubin, registry, shim
from pyptx.jax_support import frame as ffi
from pyptx.jax_support.records import Records
from pyptx.runtime.cuda import CudaBackend
from pyptx.specs import unify_envs

X = jnp.arange(100, dtype=jnp.float32)
NAME = "pyptx_launch_recorded"


@pytest.fixture(autouse=True)
def new_variants():
    """What one fake driver loaded is none of the next one's."""
    for k in (scale, product, copy):
        k._cache.clear()


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("smem", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(ctypes.c_uint32)),
        ("count", ctypes.c_uint32),
    ]


class Recorded:
    """A handler of its own library, and what it launched."""

    def __init__(self, sizes: list[int], on_gpu: bool = False):
        self.cuda, self.sizes, self.launches, self.status = CudaBackend(FakeDriver()), sizes, [], 0
        records = Records(self.cuda, registry.call_of)
        self.prepared, self.encoded, self.descriptions = [], [], []

        def prepare(handle, device, description):
            self.prepared.append((handle, device))
            self.descriptions.append(description)
            return records.prepare(handle, device, description)

        def encode(handle, device, buffers):
            self.encoded.append(tuple(buffers))
            return records.encode(handle, device, buffers)

        self._launch = shim.LAUNCH(self._record)
        self.shim = shim.Shim(ctypes.cast(self._launch, ctypes.c_void_p).value, prepare, encode, on_gpu=on_gpu)

    def _record(self, config, kernel, params, extra):
        c = Config.from_address(config)
        cluster = tuple(c.attributes[2:5]) if c.count else None
        self.launches.append(
            (
                tuple(c.grid),
                tuple(c.block),
                c.smem,
                c.stream,
                cluster,
                kernel,
                [ctypes.string_at(params[k], n) for k, n in enumerate(self.sizes)],
            )
        )
        return self.status


_registered = iter(range(1000))


def calling(recorded: Recorded, k, inputs, results, **params):
    """A jitted function whose call of the kernel goes to the handler."""
    name = f"{NAME}_{next(_registered)}"
    jax.ffi.register_ffi_target(name, recorded.shim.capsule, platform="cpu", api_version=1)
    dims = unify_envs([spec.extract_env(x.shape) for spec, x in zip(k.in_specs, inputs, strict=True)])
    handle = registry.handle_of(
        k.recorded_identity(),
        params,
        [(x.shape, np.dtype(x.dtype)) for x in inputs],
        [(r.shape, np.dtype(r.dtype)) for r in results],
        dims,
    )
    call = jax.ffi.ffi_call(name, results, has_side_effect=True)
    return jax.jit(lambda *xs: call(*xs, cubin_handle=np.int64(handle), kernel="described")), handle


def test_xla_calls_it_with_buffers_and_it_launches():
    recorded = Recorded([8, 8, 4, 4])
    f, handle = calling(recorded, scale, [X], [jax.ShapeDtypeStruct((100,), jnp.float32)], factor=2.0)
    for _ in range(3):
        jax.block_until_ready(f(X))
    assert recorded.prepared == [(handle, 0)] and len(recorded.launches) == 3
    assert recorded.descriptions == ["described"]
    grid, block, smem, stream, cluster, kernel, values = recorded.launches[0]
    assert (grid, block, smem, stream, cluster, kernel) == ((2, 1, 1), (64, 1, 1), 0, None, None, 5000)
    assert int.from_bytes(values[0], "little") and values[0] != values[1]
    assert values[2:] == [struct.pack("<f", 2.0), struct.pack("<I", 100)]


def test_several_outputs_follow_the_inputs():
    recorded = Recorded([8] * 4)
    a = jnp.ones((3, 100), jnp.float32)
    shape = jax.ShapeDtypeStruct((3, 100), jnp.float32)
    f, _ = calling(recorded, product, [a, a], [shape, shape])
    jax.block_until_ready(f(a, a + 1))
    ((grid, *_, values),) = recorded.launches
    assert grid == (3, 1, 1) and len({*values}) == 4


def test_an_output_of_zeros_lies_where_the_zeros_do(monkeypatch):
    recorded, name = Recorded([8] * 2), f"{NAME}_{next(_registered)}"
    jax.ffi.register_ffi_target(name, recorded.shim.capsule, platform="cpu", api_version=1)
    monkeypatch.setattr(calls, "TARGET", name)
    x = jnp.arange(100, dtype=jnp.uint32)
    assert (counts(x) == 0).all()  # the handler has only recorded the launch
    ((*_, values),) = recorded.launches
    assert len({*values}) == 2


def test_a_batch_is_one_launch(monkeypatch):
    recorded, name = Recorded([8, 8, 4, 4]), f"{NAME}_{next(_registered)}"
    jax.ffi.register_ffi_target(name, recorded.shim.capsule, platform="cpu", api_version=1)
    monkeypatch.setattr(calls, "TARGET", name)
    x = jnp.ones((6, 2, 100), jnp.float32)
    f = jax.jit(jax.vmap(jax.vmap(lambda x: scale(x, factor=2.5))))
    for _ in range(2):
        jax.block_until_ready(f(x))
    assert len(recorded.launches) == 2 and len(recorded.prepared) == 1
    grid, block, *_, values = recorded.launches[1]
    assert (grid, block) == ((2, 1, 12), (64, 1, 1))
    assert values[2:] == [struct.pack("<f", 2.5), struct.pack("<I", 100)]


def test_tensor_maps_are_encoded_once_for_each_set_of_buffers():
    recorded = Recorded([8] * 4)
    x = jnp.ones((24, 32), jnp.float32)
    f, _ = calling(recorded, copy, [x], [jax.ShapeDtypeStruct((24, 32), jnp.float32)])
    for _ in range(4):
        jax.block_until_ready(f(x))
    addresses = {tuple(int.from_bytes(v, "little") for v in values[:2]) for *_, values in recorded.launches}
    assert set(recorded.encoded) == addresses and len(recorded.encoded) == len(addresses)
    maps = [int.from_bytes(v, "little") for v in recorded.launches[0][-1][2:]]
    assert [int.from_bytes(ctypes.string_at(m, 8), "little") for m in maps] == list(recorded.encoded[0])


def test_errors_of_the_driver_and_of_python_fail_the_computation():
    recorded = Recorded([8, 8, 4, 4])
    recorded.status = 719
    f, _ = calling(recorded, scale, [X], [jax.ShapeDtypeStruct((100,), jnp.float32)], factor=7.0)
    with pytest.raises(Exception, match=r"scale, grid \(2, 1, 1\), block \(64, 1, 1\), 0 bytes.*CUDA error 719"):
        jax.block_until_ready(f(X))
    f, _ = calling(recorded, scale, [X], [jax.ShapeDtypeStruct((100,), jnp.float32)])
    with pytest.raises(Exception, match=r"TypeError: scale: no value for raw parameter 'factor'"):
        jax.block_until_ready(f(X))


def frame_of(handle: int, addresses: list[int], *, stream: int, device: int, stage: int = 3):
    """A frame as XLA makes it for a GPU, and what keeps it alive."""
    buffers = [ffi._Buffer(48, None, 11, address, 0, None) for address in addresses]
    pointers = (ctypes.POINTER(ffi._Buffer) * len(buffers))(*map(ctypes.pointer, buffers))
    value, name = ctypes.c_int64(handle), ctypes.create_string_buffer(b"cubin_handle")
    scalar = ffi._Scalar(5, ctypes.addressof(value))
    text, kinds = ffi._Text(ctypes.addressof(name), 12), (ctypes.c_int * 1)(3)
    names = (ctypes.POINTER(ffi._Text) * 1)(ctypes.pointer(text))
    items = (ctypes.c_void_p * 1)(ctypes.addressof(scalar))
    half = len(buffers) // 2
    split = ctypes.cast(ctypes.addressof(pointers) + 8 * half, ctypes.POINTER(ctypes.POINTER(ffi._Buffer)))

    class Place(ctypes.Structure):
        _fields_ = [
            ("size", ctypes.c_size_t),
            ("extension", ctypes.c_void_p),
            ("context", ctypes.c_void_p),
            ("value", ctypes.c_void_p),
        ]

    getter = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Place))

    def get_stream(args):
        args.contents.value = stream
        return None

    def get_device(args):
        args.contents.value = device  # an int32 there, little-endian
        return None

    functions = getter(get_stream), getter(get_device)
    api = (ctypes.c_void_p * 64)()
    order = header_order()
    api[order["XLA_FFI_Stream_Get"]] = ctypes.cast(functions[0], ctypes.c_void_p)
    api[order["XLA_FFI_DeviceOrdinal_Get"]] = ctypes.cast(functions[1], ctypes.c_void_p)
    call = ffi.CallFrame(
        ctypes.sizeof(ffi.CallFrame),
        None,
        ctypes.cast(api, ctypes.POINTER(ffi._Api)),
        None,
        stage,
        ffi._Buffers(40, None, half, None, pointers),
        ffi._Buffers(40, None, len(buffers) - half, None, split),
        ffi._Attributes(48, None, 1, ctypes.addressof(kinds), names, items),
    )
    return call, (buffers, pointers, value, name, scalar, text, kinds, names, items, functions, api)


def header_order() -> dict[str, int]:
    """Places, in pointers, of the functions in XLA_FFI_Api as the header lists them."""
    import re

    text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    body = text[text.index("struct XLA_FFI_Api {") :]
    names = re.findall(r"_XLA_FFI_API_STRUCT_FIELD\((\w+)\)", body)
    return {name: 6 + k for k, name in enumerate(names)}  # after size, extension, version (3 words), internal


def test_stream_and_gpu_come_from_the_frame_and_threads_need_no_python():
    recorded = Recorded([8, 8, 4, 4], on_gpu=True)
    recorded.cuda.driver.api._count = 2
    handle = registry.handle_of(
        scale.recorded_identity(), {"factor": 9.0}, [((100,), np.dtype("f4"))], [((100,), np.dtype("f4"))], {"N": 100}
    )
    function = recorded.shim.library.PyptxLaunch
    function.restype = ctypes.c_void_p
    nowhere, kept = frame_of(handle, [0x1000, 0x2000], stream=0, device=-1, stage=2)
    assert function(ctypes.byref(nowhere)) is None and not recorded.prepared and kept
    first, keep = frame_of(handle, [0x1000, 0x2000], stream=77, device=1, stage=2)
    assert function(ctypes.byref(first)) is None and not recorded.launches  # initialize only prepares
    assert recorded.prepared == [(handle, 1)]
    first.stage = 3
    assert function(ctypes.byref(first)) is None
    ((grid, _, _, stream, *_, values),) = recorded.launches
    assert (grid, stream) == ((2, 1, 1), 77)
    assert [int.from_bytes(v, "little") for v in values[:2]] == [0x1000, 0x2000]
    in_threads(lambda k: function(ctypes.byref(first)))
    assert len(recorded.launches) == 9 and len(recorded.prepared) == 1 and keep


def test_it_is_compiled_once_and_says_why_it_cannot_be(monkeypatch, tmp_path):
    library = shim.built()
    stamp = library.stat().st_mtime_ns
    assert shim.built() == library and library.stat().st_mtime_ns == stamp
    broken = tmp_path / "launch.c"
    broken.write_text("#error not today\n")
    monkeypatch.setattr(shim, "_SOURCE", broken)
    with pytest.raises(MissingToolError, match="not today"):
        shim.built()
    assert not list(library.parent.glob("tmp*"))


def test_it_is_compiled_against_headers_old_and_new(monkeypatch, tmp_path):
    """jaxlib 0.11 gave the extension of a frame another name."""
    old, new = "XLA_FFI_Extension_Base", "XLA_FFI_InternalExtension"
    text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    header = tmp_path / "xla" / "ffi" / "api" / "c_api.h"
    header.parent.mkdir(parents=True)
    header.write_text(text.replace(old, new) if old in text else text.replace(new, old))
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    monkeypatch.setattr(shim, "jaxlib_version", "of a test")
    shim.built().unlink()


def test_ptx_text_is_loaded_under_the_name_existing_code_calls():
    api = FakeDriver()
    function, _ = compile_ptx_to_cubin(scale.ptx(N=100), "sm_90", dynamic_smem_bytes=64, api=api)
    assert function == 5000 and "cuFuncSetAttribute" in api.names()
    with pytest.raises(RuntimeError, match="^pyptx: failed to JIT-compile PTX"):
        compile_ptx_to_cubin(".version 8.0\n.target sm_90\nnonsense", "sm_90", api=api)
    api.failing["cuInit"] = real.CUresult.CUDA_ERROR_NO_DEVICE
    assert compile_ptx_to_cubin(scale.ptx(N=100), "sm_90", api=api) is None


def test_without_a_gpu_it_says_so():
    if registry.shim_is_available():
        pytest.skip("there is a GPU")
    assert registry.shim_load_error()
