"""Launches of the kernels: arguments, and the arrays they should leave, computed by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import pyptx

FOLDER = Path(__file__).parent
MULTI = FOLDER / "multi"


@dataclass
class Launch:
    """A launch with the expected contents of arrays among its arguments.

    Attributes:
        expected: (array, contents, relative tolerance); 0 is equality of bits.
        variables: contents of variables to set before the launch.
    """

    grid: Any
    block: Any
    args: tuple[Any, ...]
    expected: list[tuple[np.ndarray, np.ndarray, float]]
    smem_bytes: int = 0
    variables: dict[str, Any] = field(default_factory=dict)
    cluster: int = 1

    @property
    def sizes(self) -> dict[str, Any]:
        """Grid, block, cluster and dynamic shared memory, as keywords."""
        return {"grid": self.grid, "block": self.block, "cluster": self.cluster, "smem_bytes": self.smem_bytes}


@dataclass(frozen=True)
class Case:
    """A kernel: its sources, its C++ name, and the function that makes a launch."""

    sources: tuple[str, ...]
    kernel: str
    launch: Callable[[np.random.Generator], Launch]
    include: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Name of the test."""
        return self.launch.__name__


CASES: list[Case] = []


@cache
def program_of(sources: tuple[str, ...], include: tuple[str, ...] = ()) -> pyptx.Program:
    """Return the compiled program of some sources."""
    paths = [FOLDER / name for name in sources]
    return pyptx.cuda(paths if len(paths) > 1 else paths[0], include=[FOLDER / name for name in include])


def case(sources: str, kernel: str, include: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Register a function that makes a launch of a kernel."""

    def add(launch: Callable[[np.random.Generator], Launch]) -> Callable[[np.random.Generator], Launch]:
        CASES.append(Case(tuple(sources.split()), kernel, launch, include))
        return launch

    return add


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return small integers as floats, whose sums are exact."""
    return rng.integers(-8, 9, shape).astype(np.float32)


# elementwise ----------------------------------------------------------------------------------------------------------


@case("elementwise.cu", "saxpy")
def saxpy(rng):
    x, y = floats(rng, 1000), floats(rng, 1000)
    return Launch(4, 64, (1000, 2.0, x, y), [(y, 2 * x + y, 1e-6)])


@case("elementwise.cu", "add4")
def add_vectors(rng):
    a, b, c = floats(rng, 260), floats(rng, 260), np.zeros(260, np.float32)
    return Launch(3, 32, (a, b, c, 65), [(c, a + b, 0)])


@case("elementwise.cu", "half_fma")
def half_pairs(rng):
    x, y = (rng.integers(-8, 9, 128).astype(np.float16) for _ in range(2))
    return Launch(2, 32, (x, y, 0.5, 64), [(y, np.float16(0.5) * x + y, 0)])


@case("elementwise.cu", "silu_bf16")
def silu_in_bfloat16(rng):
    x = floats(rng, 100).astype(ml_dtypes.bfloat16)
    y = np.zeros_like(x)
    wide = x.astype(np.float32)
    return Launch(1, 128, (x, y, 100), [(y, (wide / (1 + np.exp(-wide))).astype(ml_dtypes.bfloat16), 1e-2)])


@case("elementwise.cu", "transform<float, Clamp>")
def functor_as_record(rng):
    x, y = floats(rng, 100), np.zeros(100, np.float32)
    clamp = np.array((-0.5, 0.25), np.dtype([("low", "f4"), ("high", "f4")]))[()]
    return Launch(4, 32, (x, y, 100, clamp), [(y, np.clip(x, -0.5, 0.25), 0)])


@case("elementwise.cu", "transform<double, Polynomial>")
def functor_as_bytes(rng):
    x, y = rng.integers(-5, 5, 40).astype(np.float64), np.zeros(40)
    return Launch(2, 32, (x, y, 40, np.array([1.0, -2, 3]).tobytes()), [(y, 1 + x * (-2 + x * 3), 0)])


@case("elementwise.cu", "convolve")
def convolution_with_constant_taps(rng):
    x, y, taps = small(rng, 200), np.zeros(200, np.float32), np.arange(1, 8, dtype=np.float32)
    expected = np.convolve(x, taps[::-1], "same").astype(np.float32)
    return Launch(4, 64, (x, y, 200), [(y, expected, 0)], (64 + 6) * 4, {"taps": taps})


@case("elementwise.cu", "sample")
def texture_samples(rng):
    image, out = small(rng, 8, 16), np.zeros((8, 16), np.float32)
    texture = pyptx.Texture(image, filter="linear", address="clamp")
    after = np.concatenate([image[:, 1:], image[:, -1:]], axis=1)
    return Launch((1, 1), (16, 8), (texture, out, 16, 8), [(out, (image + after) / 2, 1e-2)])


# reductions -----------------------------------------------------------------------------------------------------------


@case("reductions.cu", "sum_tree")
def tree_in_shared_memory(rng):
    x, out = small(rng, 500), np.zeros(4, np.float32)
    padded = np.concatenate([x, np.zeros(12, np.float32)]).reshape(4, 128)
    return Launch(4, 128, (x, out, 500), [(out, padded.sum(1), 0)], 128 * 4)


@case("reductions.cu", "sum_warps<float, 128>")
def warps_by_shuffles(rng):
    x, out = small(rng, 1000), np.zeros(1, np.float32)
    return Launch(3, 128, (x, out, 1000), [(out, x.sum(keepdims=True), 0)])


@case("reductions.cu", "sum_warps<unsigned long long, 64>")
def warps_in_64_bits(rng):
    x, out = rng.integers(0, 1 << 40, 300).astype(np.uint64), np.zeros(1, np.uint64)
    return Launch(2, 64, (x, out, 300), [(out, x.sum(keepdims=True), 0)])


@case("reductions.cu", "sum_groups")
def cooperative_groups_reduce(rng):
    x, out = rng.integers(-100, 100, 777).astype(np.int32), np.zeros(1, np.int32)
    return Launch(3, 96, (x, out, 777), [(out, x.sum(keepdims=True, dtype=np.int32), 0)])


@case("reductions.cu", "row_softmax")
def softmax_of_rows(rng):
    x, y = floats(rng, 3, 300), np.zeros((3, 300), np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    return Launch(3, 128, (x, y, 300), [(y, e / e.sum(1, keepdims=True), 1e-5)])


@case("reductions.cu", "cub_sum<128>")
def cub_block_reduce(rng):
    x, out = small(rng, 4, 128), np.zeros(4, np.float32)
    return Launch(4, 128, (x, out), [(out, x.sum(1), 0)])


@case("reductions.cu", "cub_scan<64, 4>")
def cub_block_scan(rng):
    x, y = rng.integers(0, 9, 256).astype(np.int32), np.zeros(256, np.int32)
    return Launch(1, 64, (x, y), [(y, np.cumsum(x, dtype=np.int32) - x, 0)])


@case("reductions.cu", "cub_sort<64, 2>")
def cub_radix_sort(rng):
    keys = rng.integers(0, 1 << 32, 128).astype(np.uint32)
    return Launch(1, 64, (keys,), [(keys, np.sort(keys), 0)])


@case("reductions.cu", "histogram<64>")
def histogram_with_atomics(rng):
    x, bins = rng.integers(0, 256, 1000).astype(np.uint8), np.zeros(64, np.uint32)
    return Launch(3, 96, (x, bins, 1000), [(bins, np.bincount(x % 64, minlength=64).astype(np.uint32), 0)])


@case("reductions.cu", "compact")
def compaction_by_votes(rng):
    x, kept = rng.integers(-5, 5, 32).astype(np.int32), np.zeros(32, np.int32)
    expected = np.zeros(32, np.int32)
    expected[: (x > 0).sum()] = x[x > 0]
    return Launch(1, 32, (x, kept, 32), [(kept, expected, 0)], 0, {"tickets": 0})


@case("reductions.cu", "last_block")
def last_block_sums(rng):
    x, partial, total, done = small(rng, 128), np.zeros(4, np.float32), np.zeros(1, np.float32), np.zeros(1, np.uint32)
    return Launch(4, 32, (x, partial, total, done), [(total, x.sum(keepdims=True), 0)])


# matrices -------------------------------------------------------------------------------------------------------------


@case("matrices.cu", "transpose<unsigned short, 16>")
def transpose_through_shared_memory(rng):
    x, y = rng.integers(0, 1 << 16, (40, 24)).astype(np.uint16), np.zeros((24, 40), np.uint16)
    return Launch((2, 3), (16, 16), (x, y, 40, 24), [(y, x.T, 0)])


@case("matrices.cu", "gemm_tiled")
def tiled_product(rng):
    a, b, c = small(rng, 30, 20), small(rng, 20, 33), np.zeros((30, 33), np.float32)
    return Launch((3, 2), (16, 16), (a, b, c, 30, 33, 20), [(c, a @ b, 0)])


@case("matrices.cu", "gemm_wmma")
def wmma_product(rng):
    a, b = small(rng, 32, 48), small(rng, 48, 32)
    c = np.zeros((32, 32), np.float32)
    return Launch((2, 2), 32, (a.astype(np.float16), b.astype(np.float16), c, 32, 48), [(c, a @ b, 0)])


@case("matrices.cu", "gemm_mma")
def inline_mma(rng):
    a, b, c = small(rng, 16, 16), small(rng, 8, 16), np.zeros((16, 8), np.float32)
    return Launch(1, 32, (a.astype(np.float16), b.astype(np.float16), c), [(c, a @ b.T, 0)])


@case("matrices.cu", "stream_primitives")
def double_buffer(rng):
    x, y = small(rng, 5, 64, 4), np.zeros((5, 64, 4), np.float32)
    return Launch(1, 64, (x, y, 5), [(y, 2 * x[:, ::-1], 0)])


@case("matrices.cu", "stream_pipeline")
def pipeline_of_three_stages(rng):
    x, y = rng.integers(0, 99, (7, 64)).astype(np.int32), np.zeros((7, 64), np.int32)
    return Launch(1, 64, (x, y, 7), [(y, x + np.arange(7, dtype=np.int32)[:, None], 0)])


# Hopper ---------------------------------------------------------------------------------------------------------------


@case("hopper.cu", "tma_double")
def tensor_map_copy(rng):
    x, y = floats(rng, 32, 64), np.zeros((32, 64), np.float32)
    return Launch((2, 2), 64, (pyptx.TensorMap(x, (16, 32)), y, 64), [(y, 2 * x, 0)])


@case("hopper.cu", "bulk_scale")
def bulk_copies(rng):
    x, y = floats(rng, 4, 256), np.zeros((4, 256), np.float32)
    return Launch(4, 64, (x, y, 4.0), [(y, 4 * x, 0)])


@case("hopper.cu", "cluster_histogram")
def distributed_shared_memory(rng):
    x, bins = rng.integers(0, 1000, 600).astype(np.int32), np.zeros(128, np.uint32)
    expected = np.bincount(x & 127, minlength=128).astype(np.uint32)
    return Launch(8, 32, (x, bins, 600), [(bins, expected, 0)], 32 * 4)


@case("hopper.cu", "cluster_reduce")
def sum_of_a_cluster(rng):
    x, y = small(rng, 8), np.zeros(8, np.float32)
    return Launch(8, 32, (x, y), [(y, np.repeat(x.reshape(2, 4).sum(1), 4), 0)], cluster=4)


# several files --------------------------------------------------------------------------------------------------------


@case("multi/norms.cu", "geo::norms")
def header_beside_the_source(rng):
    vec = np.dtype([("xyz", "f4", 3), ("tag", "i4")])
    v = np.zeros(50, vec)
    v["xyz"], v["tag"] = small(rng, 50, 3), rng.integers(0, 99, 50)
    out, tags = np.zeros(50, np.float32), np.zeros(50, np.int32)
    return Launch(2, 32, (v, out, tags, 50), [(out, np.linalg.norm(v["xyz"], axis=1), 1e-6), (tags, v["tag"], 0)])


@case("multi/kernel.cu multi/activate.cu", "apply_all", ("multi",))
def relocatable_functions_and_variables(rng):
    x, y = small(rng, 40), np.zeros(40, np.float32)
    expected = np.where(x > 0, x, np.float32(0.5) * x) * 3
    return Launch(2, 32, (x, y, 40), [(y, expected, 0)], 0, {"scale_by": 3, "calls": 0})


@case("multi/sum.cu multi/table.cu", "sum_table<10>", ("multi/include",))
def template_with_a_table_elsewhere(rng):
    out = np.zeros(32, np.int32)
    return Launch(1, 32, (out,), [(out, np.full(32, 140 + 0 + 1, np.int32), 0)])
