"""Every kernel of the examples, with inputs large enough to exercise its waits.

Rings of stages wrap around at least twice, and a persistent CTA with two sets of accumulators processes five tiles, so
that every wait happens more than once.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from check.kernels import Clean, floats

__all__ = ["EXAMPLES"]

F32 = np.float32


def _case(source: str, *shapes: tuple[int, ...], kind: Any = ml_dtypes.bfloat16, **params: Any) -> Clean:
    return Clean(source, lambda: floats(*shapes, kind=kind), params=params)


def _heads(*lengths: int) -> list[tuple[int, ...]]:
    return [(1, 1, length, 64) for length in lengths]


def _fp8() -> list[np.ndarray]:
    a, b, a_scales, b_scales = floats((512, 640), (64, 640), (5, 512), (1, 5), kind=F32)
    return [a.astype(ml_dtypes.float8_e4m3fn), b.astype(ml_dtypes.float8_e4m3fn), a_scales, b_scales]


def _nvfp4() -> list[np.ndarray]:
    random = np.random.default_rng(0)
    bytes_ = [random.integers(0, 256, shape, np.uint8) for shape in ((200, 640), (66, 640))]
    scales = [random.integers(40, 70, shape, np.uint8) for shape in ((200, 80), (66, 80))]
    return [*bytes_, *scales]


def _grouped() -> list[np.ndarray]:
    return [*floats((300, 192), (3, 192, 64)), np.array([0, 70, 200, 300], np.int32)]


def _backward(queries: int, keys: int) -> list[np.ndarray]:
    rows = -(-queries // 128) * 128
    return [*floats(*_heads(queries, keys, keys, queries)), *floats((1, 1, rows), (1, 1, rows), seed=1, kind=F32)]


def _targets() -> list[np.ndarray]:
    return [*floats((8, 3001), kind=F32), np.arange(8, dtype=np.int32)]


EXAMPLES = {
    "vector_add": _case("vector_add.py", (3001,), (3001,), kind=F32),
    "reduce_sum": _case("reduce_sum.py:reduce_sum", (9001,), kind=F32, CTAS=2),
    "transpose": _case("transpose.py", (70, 45), kind=F32),
    "rms_norm": _case("rms_norm.py", (3, 4100), (4100,), kind=F32),
    "softmax": _case("softmax.py:softmax", (3, 3001), kind=F32),
    "layer_norm": _case("layer_norm.py:layer_norm", (3, 3001), (3001,), (3001,), kind=F32),
    "swiglu": _case("swiglu.py:swiglu", (5, 301), (5, 301), kind=F32),
    "swiglu_backward": _case("swiglu.py:swiglu_backward", (5, 301), (5, 301), (5, 301), kind=F32),
    "cross_entropy": Clean("cross_entropy.py", _targets),
    "sgemm": _case("sgemm.py", (64, 48), (48, 64), kind=F32),
    "ampere/gemm": _case("ampere/gemm.py", (128, 192), (192, 128)),
    "ampere/attention": _case("ampere/attention.py", *_heads(64, 320, 320)),
    "hopper/gemm": _case("hopper/gemm.py", (256, 320), (320, 128), BN=128, STAGES=2),
    "hopper/persistent_gemm": _case("hopper/persistent_gemm.py", (512, 320), (320, 128), BN=128, STAGES=2, CTAS=2),
    "hopper/persistent_gemm alone": _case(
        "hopper/persistent_gemm.py", (384, 192), (192, 64), BN=64, STAGES=2, CTAS=1, CLUSTER=1
    ),
    "hopper/fp8_gemm": Clean("hopper/fp8_gemm.py", _fp8, params={"BN": 128, "STAGES": 2, "CTAS": 2}),
    "hopper/grouped_gemm": Clean("hopper/grouped_gemm.py", _grouped, params={"BN": 128, "STAGES": 2, "CTAS": 2}),
    "hopper/convolution": _case(
        "hopper/convolution.py", (2, 15, 14, 72), (2, 2, 72, 128), P=14, Q=13, BN=128, STAGES=2, CTAS=2
    ),
    "hopper/attention": _case("hopper/attention.py", *_heads(128, 320, 320), BN=64),
    "hopper/attention cooperative": _case("hopper/attention.py", *_heads(128, 320, 320), BN=64, PINGPONG=False),
    "hopper/attention_backward": Clean(
        "hopper/attention_backward.py", lambda: _backward(256, 1280), params={"STAGES": 1, "CLUSTER": 2}
    ),
    "blackwell/gemm": _case("blackwell/gemm.py", (640, 192), (192, 64), BN=64, STAGES=2, CTAS=1),
    "blackwell/pair_gemm": _case("blackwell/pair_gemm.py", (1280, 192), (192, 128), BN=128, STAGES=2, CTAS=2),
    "blackwell/nvfp4_gemm": Clean("blackwell/nvfp4_gemm.py", _nvfp4, params={"BN": 64, "CTAS": 1, "alpha": 0.5}),
    "blackwell/attention": _case("blackwell/attention.py", *_heads(256, 160, 160), BN=32, STAGES=2),
}
