"""Checks before a launch: each raises once, with the name of the array or parameter, and nothing is launched."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from runtime.kernels import double_bf16, product, scale
from runtime.test_calls import array, gpu, launches  # noqa: F401  (gpu is a fixture)
from runtime.test_tensor_maps import copy

import pyptx
from pyptx import Layout, Tile, kernel, ptx
from pyptx.errors import LaunchError
from pyptx.types import f32

X, Y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
M = np.zeros((24, 32), np.float32)
ODD = np.frombuffer(bytearray(405), np.uint8)[1:401].view(np.float32)


def tiled(*items, **options):
    """A kernel that only copies its first array's tensor map."""
    return kernel(
        arch="sm_90a",
        name="tiled",
        in_specs=[Tile("M", "N", f32, *items, **options)],
        block=32,
        out_specs=[Tile("M", "N", f32)],
    )(lambda x, y: x.tma_desc())


HOST = {
    "count": (lambda: product(M), r"product\(\) takes 2 input arrays \(a, b\), got 1"),
    "count of outputs": (lambda: product(M, M, out=M.copy()), "product: out= holds 1 arrays, the kernel writes 2"),
    "count of a launch": (lambda: scale.launch(2, 64, X, Y, 1.0), r"scale takes 4 arguments \(x .*N \.u32\); got 3"),
    "rank": (lambda: scale(M, factor=1.0), r"scale: x: array of shape \(24, 32\) has rank 2"),
    "sizes of one name": (lambda: product(M, M[:20]), "product: conflicting sizes for 'M': 24 in a, 20 in b"),
    "a size against an array": (lambda: scale(X, factor=1.0, N=99), "scale: conflicting sizes for 'N': 100 and 99"),
    "a fixed size": (lambda: copy(M[:, :16].copy()), r"copy: x: array of shape \(24, 16\).*expected 32, got 16"),
    "width": (lambda: scale(X.astype(np.float64), factor=1.0), "scale: x has dtype float64"),
    "kind": (lambda: scale(X.astype(np.int32), factor=1.0), "scale: x has dtype int32"),
    "shape of an output": (lambda: scale(X, factor=1.0, out=Y[:50].copy()), r"scale: y has shape \(50,\)"),
    "strides": (lambda: scale(X[::2], factor=1.0), "scale: x is not contiguous"),
    "alignment of elements": (lambda: scale(ODD, factor=1.0), "scale: x is not aligned to its element size, 4 bytes"),
    "byte order": (lambda: scale(X.astype(">f4"), factor=1.0), "scale: x is big-endian"),
    "aliases": (lambda: scale(X, factor=1.0, out=X), "scale: y shares memory with x"),
    "aliases in part": (lambda: scale(X[:50], factor=1.0, out=X[25:75]), "scale: y shares memory with x"),
    "aliases among outputs": (
        lambda: product(M, M, out=(Z := np.zeros_like(M), Z)),
        "product: sum_ shares memory with both",
    ),
    "box in bytes": (lambda: tiled(tma_box=(8, 6))(M), r"tiled: x: .*box\[1\] is 6, 24 bytes"),
    "box beyond the most": (lambda: tiled(tma_box=(300, 32))(np.zeros((512, 32), np.float32)), "tiled: x: .*256"),
    "swizzle": (
        lambda: tiled(Layout.TMA_32B, tma_box=(8, 32))(M),
        "tiled: x: .*swizzle='32B' supports at most 32 bytes",
    ),
    "rows of a map": (lambda: tiled(tma_box=(8, 5))(np.zeros((8, 5), np.float32)), "tiled: x: TensorMap"),
    "grid and cluster": (
        lambda: copy.launch(3, 32, M, M.copy(), cluster=2),
        r"copy: grid \(3, 1, 1\) is not a multiple of cluster \(2, 1, 1\) in x",
    ),
    "cluster": (lambda: copy.launch(32, 32, M, M.copy(), cluster=32), "copy: a cluster of 32 CTAs; at most 16"),
    "grid": (lambda: scale.launch((1, 1 << 16), 64, X, Y, 1.0, 100), "scale: grid .* is beyond"),
    "grid of nothing": (
        lambda: scale.check(X[:0], factor=1.0),
        r"scale: grid \(0, 1, 1\) is empty, so nothing is executed",
    ),
    "grid that is no number": (lambda: scale.launch(1.5, 64, X, Y, 1.0, 100), "grid=1.5; expected one to three ints"),
    "threads": (lambda: scale.launch(2, 2048, X, Y, 1.0, 100), "scale: block .* has 2048 threads; at most 1024"),
    "threads in z": (lambda: scale.launch(2, (1, 1, 128), X, Y, 1.0, 100), "at most 64 in z"),
    "shared memory": (lambda: scale.launch(2, 64, X, Y, 1.0, 100, smem_bytes=300_000), "300000 dynamic bytes"),
    "shared memory below 0": (lambda: scale.launch(2, 64, X, Y, 1.0, 100, smem_bytes=-1), "smem_bytes=-1"),
    "value": (lambda: scale.launch(2, 64, X, Y, 1.0, 1 << 32), "argument N of scale is .u32, 0..4294967295"),
    "option of the simulator": (
        lambda: scale.launch(2, 64, X, Y, 1.0, 100, sed=3),
        "sim backend has no option sed; its options are .*seed",
    ),
    **{
        f"{name} that is an array": (
            lambda name=name: scale.launch(2, 64, X, Y, 1.0, 100, **{name: X}),
            f"{name}=<array of shape .100,.>; expected ",
        )
        for name in (
            "smem_bytes",
            "cluster",
            "max_steps",
            "seed",
            "threads",
            "schedule",
            "engine",
            "tensor_cores",
            "sanitize",
        )
    },
    "seed of a check": (lambda: scale.check(2, 64, X, Y, 1.0, 100, seed="1"), "seed='1'; expected an int"),
    "grid without a size": (lambda: scale.launch(np.array(1.5), 64, X, Y, 1.0, 100), "grid=array.1.5.; expected"),
    "grid that is an array": (
        lambda: scale.launch(grid=X, block=64),
        "grid=<array of shape .100,.>; expected one to three ints",
    ),
    "stream of the simulator": (
        lambda: scale.launch(2, 64, X, Y, 1.0, 100, stream=3),
        "sim backend has no option stream",
    ),
}


@pytest.mark.parametrize(("call", "message"), HOST.values(), ids=HOST)
def test_on_the_cpu(call, message):
    Y[:] = 7
    with pytest.raises(LaunchError, match=message):
        call()
    assert (Y == 7).all()


GPU = {
    "device": (
        lambda a: scale(a(100), factor=1.0, out=a(100, device=1)),
        {},
        "scale: y is on cuda:1, but the first array",
    ),
    "devices of inputs": (lambda a: product(a(3, 4), a(3, 4, device=1)), {}, "product: b is on cuda:1"),
    "host beside device": (lambda a: product(a(3, 4), M), {}, "product: b is a numpy array, but the others are"),
    "another chip": (
        lambda a: double_bf16(a(64, dtype=ml_dtypes.bfloat16)),
        {"_capability": (10, 0)},
        "targets sm_90a, which runs on that architecture only",
    ),
    "an older chip": (
        lambda a: scale(a(100), factor=1.0),
        {"_capability": (7, 5)},
        "sm_80, which needs a newer architecture",
    ),
    "registers": (
        lambda a: scale(a(100), factor=1.0),
        {"_function": {"MAX_THREADS_PER_BLOCK": 32, "NUM_REGS": 255, "SHARED_SIZE_BYTES": 0}},
        "64 threads; with 255 registers per thread, .* at most 32",
    ),
    "shared memory of the GPU": (
        lambda a: scale.launch(2, 64, a(100), a(100), 1.0, 100, smem_bytes=60_000),
        {"_smem": 50_000},
        "scale: 60000 bytes of dynamic shared memory; .* at most 50000",
    ),
    "cluster of the GPU": (
        lambda a: scale.launch(2, 64, a(100), a(100), 1.0, 100, cluster=2),
        {"_capability": (8, 6)},
        "clusters need sm_90",
    ),
}


@pytest.mark.parametrize(("call", "machine", "message"), GPU.values(), ids=GPU)
def test_on_a_gpu(gpu, call, machine, message):  # noqa: F811
    for name, value in machine.items():
        setattr(gpu.driver.api, name, value)
    double_bf16._cache.clear()
    with pytest.raises(LaunchError, match=message):
        call(lambda *shape, **options: array(gpu, *shape, **options))
    assert not launches(gpu)


def test_an_address_that_is_no_element_is_refused_on_a_gpu(gpu):  # noqa: F811
    x = array(gpu, 100)
    x.address += 2
    with pytest.raises(
        LaunchError, match=r"scale: x starts at 0x\w+, which is not aligned to its element size, 4 bytes"
    ):
        scale(x, factor=1.0)


def test_an_alignment_that_the_kernel_declares_is_asked_of_each_call(gpu):  # noqa: F811
    @kernel(arch="sm_80", in_specs=[Tile("N", f32, align=16)], out_specs=[Tile("N", f32)], block=32)
    def wide(x, y):
        ptx.ret()

    assert ".param .u64 .ptr .global .align 16 x" in wide.ptx(N=100) and ".param .u64 y" in wide.ptx(N=100)
    x, y = array(gpu, 100), array(gpu, 100)
    wide(x, out=y)
    x.address += 4
    for _ in range(2):
        with pytest.raises(
            LaunchError, match=r"wide: x starts at 0x\w+, but the kernel's .ptr .align requires a multiple of 16 bytes"
        ):
            wide(x, out=y)


def test_a_kernel_may_declare_that_it_writes_over_what_it_reads():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], block=32, in_place=True)
    def nothing(x, y):
        ptx.ret()

    x = X.copy()
    assert nothing.in_place and nothing(x, out=x) is x and not scale.in_place


def test_the_backend_of_the_environment_is_read_once(monkeypatch):
    monkeypatch.setenv("PYPTX_BACKEND", "cuda")  # too late: pyptx.use is for that
    assert scale(X, factor=1.0).shape == (100,) and scale.last_run.backend == "sim"
    with pyptx.use("sim", seed=1):
        scale(X, factor=1.0)
