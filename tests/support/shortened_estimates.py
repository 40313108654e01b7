"""Calls whose estimates with skipped iterations are compared with those of all iterations: examples and kernels by nvcc."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import pyptx
from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model import launch_model as model
from pyptx.analysis.model.estimate import predict
from pyptx.analysis.work.call import Call, bind_call
from pyptx.analysis.work.count import work_of

__all__ = ["EXAMPLES", "PRODUCTS", "patience", "call_of_example", "call_of_product", "estimates"]

BF16, F32 = ml_dtypes.bfloat16, np.float32
HEADS = {"B": 1, "H": 2, "S": 1024, "T": 1024, "D": 128}
# Example and kernel, sizes of its inputs (or a function that returns its inputs), parameters, GPU
EXAMPLES: dict[str, tuple[dict[str, int] | Callable, dict[str, Any], str]] = {
    "vector_add": ({"N": 1 << 22}, {}, "H200"),
    "reduce_sum": ({"N": 1 << 22}, {"CTAS": 132}, "H200"),
    "transpose": ({"M": 2048, "N": 2048}, {}, "H200"),
    "softmax": ({"M": 64, "N": 100_000}, {}, "H200"),
    "rms_norm": ({"M": 64, "N": 65_536}, {}, "H200"),
    "rms_norm_fp8": ({"M": 64, "N": 16_384}, {}, "H200"),
    "rms_norm_backward": ({"M": 512, "N": 4096}, {"PARTS": 8}, "H200"),
    "selective_scan": (lambda scan: scan.inputs(1, 1024, 64), {"LC": 64}, "H200"),
    "moe_routing": ({"M": 4096, "E": 64}, {"TOP": 8}, "H200"),
    "moe_routing.sort_by_expert": (lambda _: [np.arange(4096, dtype=np.int32) % 7], {"E1": 8}, "H200"),
    "sampling": (
        lambda _: [np.ones((8, 32_768), BF16), np.zeros(8, F32)],
        {"top_k": 50, "top_p": 0.9, "temperature": 1.0},
        "H200",
    ),
    "layer_norm": ({"M": 64, "N": 65_536}, {}, "H200"),
    "cross_entropy": (lambda _: [np.ones((64, 50_000), F32), np.zeros(64, np.int32)], {}, "H200"),
    "swiglu": ({"M": 512, "N": 8192}, {}, "H200"),
    "swiglu.swiglu_backward": ({"M": 512, "N": 8192}, {}, "H200"),
    "sgemm": ({"M": 256, "N": 256, "K": 2048}, {}, "H200"),
    "ampere/gemm": ({"M": 256, "N": 256, "K": 4096}, {}, "A100"),
    "ampere/attention": ({**HEADS, "S": 2048, "T": 2048, "D": 64}, {}, "A100"),
    "ampere/paged_attention": (lambda paged: paged.inputs(1, 4, 2, 64, 16, [2000], BF16), {"SPLITS": 2}, "A100"),
    "hopper/gemm": ({"M": 256, "N": 256, "K": 8192}, {}, "H200"),
    "hopper/persistent_gemm": ({"M": 1024, "N": 1024, "K": 2048}, {"CTAS": 4}, "H200"),
    "hopper/stream_k_gemm": ({"M": 384, "N": 512, "K": 4096}, {"BN": 64, "CTAS": 10, "W": 128 * 64}, "H200"),
    "hopper/fp8_gemm": (lambda fp8: fp8.inputs(*(np.ones((512, 2048), F32) for _ in "ab")), {"CTAS": 8}, "H200"),
    "hopper/grouped_gemm": (
        lambda _: [
            *(np.zeros(shape, BF16) for shape in ((1024, 1024), (4, 1024, 512))),
            np.array([0, 100, 500, 600, 1024], np.int32),
        ],
        {"CTAS": 8},
        "H200",
    ),
    "hopper/moe_backward.expert_gradients": (
        lambda _: [*(np.zeros((2048, 512), BF16) for _ in "xy"), np.array([0, 500, 2048], np.int32)],
        {"G": 2},
        "H200",
    ),
    "hopper/convolution": (
        {"N": 2, "H": 16, "W": 16, "C": 256, "R": 3, "S": 3, "F": 256},
        {"P": 16, "Q": 16, "PAD": 1, "CTAS": 4},
        "H200",
    ),
    "hopper/attention": (HEADS, {"CAUSAL": True}, "H200"),
    "hopper/persistent_attention": ({"B": 1, "H": 2, "HK": 1, "S": 2048, "D": 128}, {"CTAS": 4}, "H200"),
    "hopper/attention_backward": (
        {**HEADS, "H": 1, "S": 2048, "T": 2048, "SP": 2048},
        {"CAUSAL": True, "CLUSTER": 4},
        "H200",
    ),
    "blackwell/gemm": ({"M": 256, "N": 256, "K": 8192}, {"CTAS": 2}, "B200"),
    "blackwell/pair_gemm": ({"M": 512, "N": 512, "K": 4096}, {"CTAS": 2}, "B200"),
    "blackwell/nvfp4_gemm": (lambda m: m.inputs(*(np.ones((256, 8192), F32) for _ in "ab")), {"CTAS": 1}, "B200"),
    "blackwell/attention": ({**HEADS, "S": 2048, "T": 2048}, {"CAUSAL": True}, "B200"),
}


def call_of_example(name: str) -> Call:
    """A call of an example, of which only the sizes matter."""
    inputs, params, _ = EXAMPLES[name]
    file, _, attribute = name.partition(".")
    module = import_module(f"examples.{file.replace('/', '.')}")
    kernel = getattr(module, attribute or file.rpartition("/")[2])
    if not callable(inputs):
        return bind_call(kernel, *kernel.launcher.inputs_for((), inputs), **params)
    arrays = inputs(module)
    if isinstance(arrays[0], (list, tuple)):
        arrays, params = arrays[0], {**params, "alpha": arrays[1]}
    return bind_call(kernel, *arrays, **params)


# Matrix products by nvcc (tests/benchmarks/foreign/sgemm.cu): rows and columns of a CTA's tile, threads of a CTA
PRODUCTS = {
    "naive": ((32, 32), (32, 32)),
    "coalesced": ((32, 32), (1024,)),
    "shared_tile": ((32, 32), (1024,)),
    "thread_column": ((64, 64), (512,)),
    "thread_tile": ((128, 128), (256,)),
    "vectorized": ((128, 128), (256,)),
    "vectorized_16": ((128, 128), (256,)),
    "warp_tile": ((128, 128), (128,)),
}
SGEMM = Path(__file__).parents[1] / "benchmarks" / "foreign" / "sgemm.ptx"


def call_of_product(entry: str, size: int) -> tuple[Call, str]:
    """A call of a product of square matrices, and its GPU."""
    tile, block = PRODUCTS[entry]
    program = pyptx.load(SGEMM.read_text(encoding="utf-8").replace(".target sm_75", ".target sm_86"))
    a, b, c = (np.zeros((size, size), F32) for _ in range(3))
    args = [size, size, size, 0.5, a, b, 3.0, c]
    return bind_call(program[entry], *args, grid=tuple(size // rows for rows in tile), block=block), "RTX 3090"


@contextmanager
def patience(operations: float) -> Iterator[None]:
    """Replay with another patience; infinite: all iterations."""
    before, model.PATIENCE = model.PATIENCE, operations
    try:
        yield
    finally:
        model.PATIENCE = before


def estimates(call: Call, gpu: str | Gpu) -> tuple[float, float]:
    """Seconds of a call with skipped iterations, and with all iterations."""
    compiled, work = call.compiled(), work_of(call)
    found = []
    for operations in (model.PATIENCE, math.inf):
        with patience(operations):
            found.append(predict(compiled, call.plan, work, gpu).seconds)
    return found[0], found[1]
