"""Products of matrices, and convolutions."""

from __future__ import annotations

from functools import cache
from typing import Any

from problem import Arrays, Problem, example, known, triton_of

from pyptx.types import bf16

GEMMS = {
    "Hopper": "hopper/persistent_gemm",
    "Hopper, simple": "hopper/gemm",
    "Ampere": "ampere/gemm",
    "Blackwell": "blackwell/gemm",
    "Blackwell, pairs": "blackwell/pair_gemm",
}


def gemm(arrays: Arrays, M: int, N: int, K: int, **options: Any) -> Problem:
    a, b = arrays.normal(M, K), arrays.normal(K, N)
    kernels = {
        f"pyptx, {name}": getattr(example(path), f"{path.rpartition('/')[2]}_of")(bf16, bf16)
        for name, path in GEMMS.items()
    }
    candidates = {
        name: lambda kernel=kernel: kernel(a, b, **known(kernel, options)) for name, kernel in kernels.items()
    }
    stream_k = example("hopper/stream_k_gemm")
    kernels["pyptx, Hopper stream-K"] = divided = stream_k.stream_k_gemm_of(bf16, bf16)
    candidates["pyptx, Hopper stream-K"] = lambda: stream_k.multiply(
        a, b, ctas=options.get("CTAS", 132), function=divided
    )
    return Problem(
        {**candidates, "cuBLAS (torch.matmul)": lambda: a @ b, **triton_of("gemm", arrays, a, b)},
        kernels,
        lambda: a.float() @ b.float(),
        8e-3,
        2 * M * N * K,
        ("wgmma", "bf16"),
    )


def sgemm(arrays: Arrays, M: int, N: int, K: int, **options: Any) -> Problem:
    a, b = arrays.normal(M, K, dtype="float32"), arrays.normal(K, N, dtype="float32")
    kernel = example("sgemm").sgemm
    return Problem(
        {"pyptx": lambda: kernel(a, b, **options), "cuBLAS (torch.matmul, no TF32)": lambda: a @ b},
        {"pyptx": kernel},
        lambda: a.double() @ b.double(),
        1e-4,
        2 * M * N * K,
        ("core", "f32"),
    )


def fp8_gemm(arrays: Arrays, M: int, N: int, K: int, **options: Any) -> Problem:
    torch, module = arrays.torch, example("hopper/fp8_gemm")
    a, b, a_scales, b_scales = inputs = arrays.scaled(M, N, K)
    candidates = {"pyptx": lambda: module.fp8_gemm(*inputs, **options)}
    if not arrays.dry:
        one = torch.ones((), device=a.device)
        scaled = {"out_dtype": torch.bfloat16}
        candidates |= {
            "cuBLAS (torch._scaled_mm, block scales)": lambda: torch._scaled_mm(
                a, b.t(), a_scales.t(), b_scales.t(), **scaled
            ),
            "cuBLAS (torch._scaled_mm, one scale)": lambda: torch._scaled_mm(a, b.t(), one, one, **scaled),
            "cuBLAS (torch._scaled_mm, one scale, fast sums)": lambda: torch._scaled_mm(
                a, b.t(), one, one, use_fast_accum=True, **scaled
            ),
        }
    else:
        candidates["torch"] = lambda: wanted().bfloat16()

    def wanted() -> Any:
        of_a = a_scales.t().repeat_interleave(128, 1)[:, :K]
        of_b = b_scales.repeat_interleave(128, 0).repeat_interleave(128, 1)[:N, :K]
        return (a.float() * of_a) @ (b.float() * of_b).t()

    return Problem(
        candidates,
        {"pyptx": module.fp8_gemm},
        wanted,
        8e-3,
        2 * M * N * K,
        ("wgmma", "e4m3"),
        "with one scale for each matrix the result is another one, the work the same",
    )


def grouped_gemm(arrays: Arrays, G: int, M: int, N: int, K: int, **options: Any) -> Problem:
    module = example("hopper/grouped_gemm")
    a, b = arrays.normal(G, M, K), arrays.normal(G, K, N)
    return Problem(
        {"pyptx": lambda: module.uniform(a, b, **options), "cuBLAS (torch.bmm)": lambda: a @ b},
        {"pyptx": module.grouped_gemm},
        lambda: a.float() @ b.float(),
        8e-3,
        2 * G * M * N * K,
        ("wgmma", "bf16"),
    )


def nvfp4_gemm(arrays: Arrays, M: int, N: int, K: int, **options: Any) -> Problem:
    module = example("blackwell/nvfp4_gemm")
    (a, b, a_scales, b_scales), alpha = arrays.packed(M, N, K)

    @cache
    def numbers() -> list[Any]:
        return [arrays.of(module.numbers(*(x.cpu().numpy() for x in pair))) for pair in ((a, a_scales), (b, b_scales))]

    def theirs() -> Any:
        wide_a, wide_b = (x.bfloat16() for x in numbers())
        return wide_a @ wide_b.t() * alpha

    return Problem(
        {
            "pyptx": lambda: module.nvfp4_gemm(a, b, a_scales, b_scales, alpha=alpha, **options),
            "cuBLAS (torch.matmul, bf16)": theirs,
        },
        {"pyptx": module.nvfp4_gemm},
        lambda: numbers()[0] @ numbers()[1].t() * alpha,
        8e-3,
        2 * M * N * K,
        ("mma", "e2m1"),
        "torch.matmul multiplies the same numbers in bf16, which it converts first",
    )


def convolution(arrays: Arrays, N: int, H: int, W: int, C: int, F: int, R: int, **options: Any) -> Problem:
    """R x R filters with so much padding that the result has the size of the image; torch's is channels_last."""
    module, conv2d = example("hopper/convolution"), arrays.torch.nn.functional.conv2d
    x, w = arrays.normal(N, H, W, C), arrays.normal(R, R, C, F)
    image, filters = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1).contiguous(memory_format=arrays.torch.channels_last)
    return Problem(
        {
            "pyptx": lambda: module.convolve(x, w, PAD=R // 2, **options),
            "cuDNN (torch conv2d)": lambda: conv2d(image, filters, padding=R // 2).permute(0, 2, 3, 1),
        },
        {"pyptx": module.convolution},
        lambda: conv2d(image.float(), filters.float(), padding=R // 2).permute(0, 2, 3, 1),
        8e-3,
        2 * N * H * W * C * F * R * R,
        ("wgmma", "bf16"),
    )
