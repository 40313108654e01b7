"""The cases of the GPU benchmark, in the order of the report: problems of each family with their sizes."""

from __future__ import annotations

from collections.abc import Iterator

from attention_cases import attention, attention_backward, grouped_attention
from inference_cases import mixture, paged_attention, rms_norm_fp8, sampling, selective_scan
from problem import Arrays, Case, Problem, example
from product_cases import convolution, fp8_gemm, gemm, grouped_gemm, nvfp4_gemm, sgemm
from rows_cases import elementwise, reduction, rowwise, transpose

__all__ = ["Arrays", "Case", "Problem", "all_cases", "example"]


def all_cases() -> Iterator[Case]:
    """Every case, in the order of the report."""
    for dtype in ("float32", "bfloat16"):
        yield Case(
            f"vector add {dtype}",
            lambda arrays, dtype=dtype, **s: elementwise(arrays, "vector_add", dtype, **s),
            {"N": 1 << 28},
            {"N": 5000},
        )
    yield Case("sum float32", reduction, {"N": 1 << 30}, {"N": 50_001})
    for dtype in ("float32", "bfloat16"):
        yield Case(
            f"transpose {dtype}",
            lambda arrays, dtype=dtype, **s: transpose(arrays, dtype=dtype, **s),
            {"M": 16384, "N": 16384},
            {"M": 70, "N": 130},
        )
    for name in ("softmax", "rms_norm", "layer_norm", "cross_entropy"):
        others = (12288,) if "norm" in name else (50257, 151936)  # vocabularies of language models
        for dtype, N in (("float32", 8192), *(("bfloat16", N) for N in (8192, 1024, 65536, *others))):
            yield Case(
                f"{name.replace('_', ' ').replace('rms', 'RMS')} {dtype}",
                lambda arrays, name=name, dtype=dtype, **s: rowwise(arrays, name, dtype=dtype, **s),
                {"M": (1 << 27) // N, "N": N},
                {"M": 3, "N": min(N, 9001 if N > 8192 else 2500)},
            )
    yield Case(
        "SwiGLU bfloat16",
        lambda arrays, **s: elementwise(arrays, "swiglu", "bfloat16", **s),
        {"N": 1 << 27},
        {"N": 5000},
    )
    yield Case(
        "SwiGLU backward bfloat16",
        lambda arrays, **s: elementwise(arrays, "swiglu_backward", "bfloat16", **s),
        {"N": 1 << 27},
        {"N": 5000},
    )
    few = {"CTAS": 4}
    yield Case("matrix product float32", sgemm, {"M": 4096, "N": 4096, "K": 4096}, {"M": 128, "N": 64, "K": 48})
    for n in (4096, 8192):
        yield Case("matrix product bf16", gemm, {"M": n, "N": n, "K": n}, {"M": 300, "N": 264, "K": 136}, few)
    for M, N, K in ((4096, 7168, 16384), (4096, 4096, 7168), (8192, 8192, 8192)):
        yield Case(
            "matrix product fp8, block scales", fp8_gemm, {"M": M, "N": N, "K": K}, {"M": 300, "N": 264, "K": 272}, few
        )
    yield Case(
        "grouped matrix product bf16",
        grouped_gemm,
        {"G": 8, "M": 2048, "N": 4096, "K": 4096},
        {"G": 2, "M": 100, "N": 264, "K": 136},
        few,
    )
    yield Case(
        "matrix product NVFP4", nvfp4_gemm, {"M": 4096, "N": 4096, "K": 4096}, {"M": 200, "N": 130, "K": 512}, few
    )
    for size, channels in ((56, 128), (28, 256), (14, 512)):
        yield Case(
            "convolution bf16",
            convolution,
            {"N": 32, "H": size, "W": size, "C": channels, "F": channels, "R": 3},
            {"N": 1, "H": 13, "W": 10, "C": 72, "F": 136, "R": 3},
            few,
        )
    for D in (64, 128):
        for causal in (False, True):
            yield Case(
                "attention bf16",
                attention,
                {"B": 1, "H": 2048 // D, "S": 16384, "D": D, "causal": causal},
                {"B": 1, "H": 1, "S": 130, "D": D, "causal": causal},
            )
    yield Case(
        "causal attention bf16, grouped queries",
        grouped_attention,
        {"B": 2, "H": 32, "HK": 8, "S": 8192, "D": 128},
        {"B": 1, "H": 4, "HK": 2, "S": 200, "D": 64},
        few,
    )
    for causal in (False, True):
        yield Case(
            "attention backward bf16",
            attention_backward,
            {"B": 1, "H": 16, "S": 8192, "D": 128, "causal": causal},
            {"B": 1, "H": 1, "S": 130, "D": 64, "causal": causal},
        )
    yield Case("RMS norm to fp8 bfloat16", rms_norm_fp8, {"M": 16384, "N": 8192}, {"M": 3, "N": 2496})
    yield Case(
        "paged attention bf16, one query",
        paged_attention,
        {"B": 16, "H": 32, "HK": 8, "S": 8192, "D": 128, "PAGE": 64},
        {"B": 2, "H": 8, "HK": 2, "S": 200, "D": 64, "PAGE": 32},
    )
    yield Case("selective scan float32", selective_scan, {"B": 8, "L": 2048, "D": 4096}, {"B": 1, "L": 70, "D": 64})
    yield Case(
        "mixture of experts bf16",
        mixture,
        {"M": 8192, "D": 4096, "N": 2048, "E": 64, "TOP": 8},
        {"M": 40, "D": 72, "N": 136, "E": 6, "TOP": 2},
        few,
    )
    yield Case("sampling bf16", sampling, {"M": 64, "N": 128256}, {"M": 3, "N": 3000})
    yield Case(  # 289 tiles of 128 x 256, a little more than two for each SM
        "matrix product bf16, uneven",
        gemm,
        {"M": 2176, "N": 4352, "K": 4096},
        {"M": 200, "N": 300 // 8 * 8, "K": 136},
        few,
    )
