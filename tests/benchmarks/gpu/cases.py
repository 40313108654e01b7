"""What is measured: each case a problem, the examples that solve it, and what others offer for it.

The first of the other candidates is the reference of the ratio. Sizes `dry` are for the simulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pyptx.cli.kernels import load_module
from pyptx.kernel import Kernel
from pyptx.testing import of_package
from pyptx.types import bf16, f32

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@cache
def example(path: str) -> ModuleType:
    return load_module(str(EXAMPLES / f"{path}.py"))


@dataclass(frozen=True)
class Problem:
    """One case on its arrays.

    Attributes:
        candidates: name -> what does the work once and returns the result.
        kernels: names of the candidates that are examples -> their kernel, whose target says where they run.
        wanted: the result, in f32 or f64.
        close: greatest difference allowed, as a share of the largest number of the result, or of `least`.
        work: floating-point operations, or bytes that must move.
        roof: ("dram", ""), or pipe and type of the tensor or CUDA cores.
    """

    candidates: Mapping[str, Callable[[], Any]]
    kernels: Mapping[str, Kernel]
    wanted: Callable[[], Any]
    close: float
    work: float
    roof: tuple[str, str] = ("dram", "")
    notes: str = ""
    least: float = 1e-30


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[..., Problem]
    sizes: Mapping[str, Any]
    dry: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)  # of the kernels in a dry run

    @property
    def label(self) -> str:
        return f"{self.name}, {', '.join(f'{name} {value}' for name, value in self.sizes.items())}"


class Arrays:
    """Arrays of one device: normally distributed, the same for all candidates (values change power, and so time)."""

    def __init__(self, torch: Any, device: Any, dry: bool):
        self.torch, self.device, self.dry = torch, device, dry
        self.generator = torch.Generator(device=device).manual_seed(0)

    def normal(self, *shape: int, dtype: str = "bfloat16") -> Any:
        x = self.torch.randn(shape, generator=self.generator, device=self.device, dtype=self.torch.float32)
        return x.to(getattr(self.torch, dtype))

    def lost(self) -> bool:
        """Whether a fault has ended the GPU's context, so that nothing more can be done in this process."""
        if self.device.type == "cpu":
            return False
        try:
            self.torch.cuda.synchronize(self.device)
        except RuntimeError:
            return True
        return False

    def forget(self) -> None:
        """Give back what no array uses."""
        if self.device.type != "cpu":
            self.torch.cuda.empty_cache()

    def compiled(self, function: Callable) -> Callable:
        """What torch.compile makes of it; itself in a dry run."""
        return function if self.dry else self.torch.compile(function, dynamic=False)

    def of(self, array: np.ndarray) -> Any:
        return of_package("torch", array).to(self.device)

    def scaled(self, M: int, N: int, K: int) -> list[Any]:
        """e4m3 matrices M x K and N x K and the scales of their blocks, as fp8_gemm takes them (its `inputs`, but on
        the device: NumPy takes seconds for large ones)."""
        (a, a_scales), (b, b_scales) = (
            self._quantized(self.normal(*shape, dtype="float32"), rows) for shape, rows in (((M, K), 1), ((N, K), 128))
        )
        return [a, b, a_scales.t().contiguous(), b_scales]

    def _quantized(self, x: Any, rows: int) -> tuple[Any, Any]:
        """x as e4m3, and the scales of its blocks of `rows` x 128 numbers."""
        down, across = -(-x.shape[0] // rows), -(-x.shape[1] // 128)
        padded = self.torch.zeros(down * rows, across * 128, device=x.device)
        padded[: x.shape[0], : x.shape[1]] = x
        blocks = padded.view(down, rows, across, 128)
        scales = blocks.abs().amax((1, 3)).clamp(min=1e-12) / 448
        small = (blocks / scales[:, None, :, None]).view(padded.shape)[: x.shape[0], : x.shape[1]]
        return small.to(self.torch.float8_e4m3fn).contiguous(), scales

    def packed(self, M: int, N: int, K: int) -> tuple[list[Any], float]:
        """Matrices M x K and N x K of e2m1, their scales, and the scale of all, as nvfp4_gemm takes them."""
        random = [self.normal(*shape, dtype="float32").cpu().numpy() for shape in ((M, K), (N, K))]
        arrays, alpha = example("blackwell/nvfp4_gemm").inputs(*random)
        return [self.of(array) for array in arrays], alpha


# memory-bound -------------------------------------------------------------------------------------------------------


def rowwise(arrays: Arrays, name: str, M: int, N: int, dtype: str, **_: Any) -> Problem:
    """Softmax, RMS or layer norm, or cross entropy of rows; bytes read and written once."""
    torch, x = arrays.torch, arrays.normal(M, N, dtype=dtype)
    kind, functional = {"bfloat16": bf16, "float32": f32}[dtype], torch.nn.functional
    of, cluster = getattr(example(name), f"{name}_of"), example("rows").cluster_for(N)
    kernels = {"pyptx": of(kind, "sm_90"), "pyptx, no clusters": of(kind)} if cluster > 1 else {"pyptx": of(kind)}
    moved = 2 * M * N * x.element_size()
    if name == "softmax":
        inputs, theirs = (x,), lambda x: torch.softmax(x, 1)
    elif name == "rms_norm":
        inputs = x, arrays.normal(N, dtype=dtype)
        theirs = lambda x, weight: functional.rms_norm(x, (N,), weight, 1e-6)  # noqa: E731
    elif name == "layer_norm":
        inputs = x, arrays.normal(N, dtype=dtype), arrays.normal(N, dtype=dtype)
        theirs = lambda x, weight, bias: functional.layer_norm(x, (N,), weight, bias)  # noqa: E731
    else:
        targets = torch.randint(0, N, (M,), device=x.device, dtype=torch.int32)
        return losses(arrays, x, targets, kernels, M * N * x.element_size())
    ours = {which: lambda kernel=kernel: kernel(*inputs) for which, kernel in kernels.items()}
    return Problem(
        {**ours, "torch": lambda: theirs(*inputs), **triton_of(name, arrays, *inputs)},
        kernels,
        lambda: theirs(*(i.float() if i.is_floating_point() else i for i in inputs)),
        {"bfloat16": 1.6e-2, "float32": 1e-4}[dtype],
        moved,
    )


def losses(arrays: Arrays, x: Any, targets: Any, kernels: Mapping[str, Kernel], moved: int) -> Problem:
    """Cross entropy; torch alone writes the logarithms of all probabilities, in the type of x, and reads them again."""
    wide, of_torch = targets.long(), arrays.torch.nn.functional.cross_entropy

    def theirs(x: Any) -> Any:
        return of_torch(x.float(), wide, reduction="none")

    fused = arrays.compiled(theirs)
    ours = {which: lambda kernel=kernel: kernel(x, targets) for which, kernel in kernels.items()}
    return Problem(
        {
            **ours,
            "torch.compile": lambda: fused(x),
            "torch": lambda: of_torch(x, wide, reduction="none"),
            **triton_of("cross_entropy", arrays, x, targets),
        },
        kernels,
        lambda: theirs(x),
        1.6e-2 if x.element_size() == 2 else 1e-4,
        moved,
    )


def elementwise(arrays: Arrays, name: str, dtype: str, N: int, **_: Any) -> Problem:
    """Vector add, SwiGLU and its gradients."""
    torch = arrays.torch
    x, y = (arrays.normal(1, N, dtype=dtype) for _ in range(2))
    kind = {"bfloat16": bf16, "float32": f32}[dtype]
    if name == "swiglu_backward":
        return swiglu_gradients(arrays, x, y, kind)
    if name == "vector_add":
        x, y = x[0], y[0]
        kernel, theirs, wanted = example(name).vector_add_of(kind), {"torch": torch.add}, torch.add
    else:  # alone, torch writes silu(g) and reads it again

        def wanted(g: Any, u: Any) -> Any:
            return torch.nn.functional.silu(g) * u

        kernel, theirs = example(name).kernels_of(kind)[0], {"torch.compile": arrays.compiled(wanted), "torch": wanted}
    others = {which: lambda one=one: one(x, y) for which, one in theirs.items()}
    return Problem(
        {"pyptx": lambda: kernel(x, y), **others, **triton_of(name, arrays, x, y)},
        {"pyptx": kernel},
        lambda: wanted(x.float(), y.float()),
        1.6e-2,
        3 * N * x.element_size(),
    )


def swiglu_gradients(arrays: Arrays, gate: Any, up: Any, kind: Any) -> Problem:
    torch, d_y = arrays.torch, arrays.normal(*gate.shape, dtype="bfloat16")
    _, kernel = example("swiglu").kernels_of(kind)
    both = torch.empty((2, *gate.shape), dtype=gate.dtype, device=gate.device)

    def wanted(*given: Any) -> Any:
        g, u, d = (x.float() for x in given)
        s = torch.sigmoid(g)
        return torch.stack([d * u * s * (1 + g * (1 - s)), d * g * s])

    def ours() -> Any:
        kernel(gate, up, d_y, out=(both[0], both[1]))
        return both

    fused = arrays.compiled(lambda *given: wanted(*given).to(gate.dtype))
    return Problem(
        {"pyptx": ours, "torch.compile": lambda: fused(gate, up, d_y)},
        {"pyptx": kernel},
        lambda: wanted(gate, up, d_y),
        1.6e-2,
        5 * gate.numel() * gate.element_size(),
    )


def transpose(arrays: Arrays, M: int, N: int, dtype: str, **_: Any) -> Problem:
    x = arrays.normal(M, N, dtype=dtype)
    kernel = example("transpose").transpose_of({"bfloat16": bf16, "float32": f32}[dtype])
    return Problem(
        {"pyptx": lambda: kernel(x), "torch": lambda: x.t().contiguous()},
        {"pyptx": kernel},
        lambda: x.t(),
        0,
        2 * M * N * x.element_size(),
    )


def reduction(arrays: Arrays, N: int, **_: Any) -> Problem:
    x, module = arrays.normal(N, dtype="float32"), example("reduce_sum")
    return Problem(
        {"pyptx": lambda: module.total(x), "torch": lambda: x.sum(0, keepdim=True)},
        {"pyptx": module.reduce_sum},
        lambda: x.double().sum(0, keepdim=True),
        1e-3,
        4 * N,
        least=math.sqrt(N),
    )


# products -----------------------------------------------------------------------------------------------------------

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


def known(kernel: Kernel, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those options that a kernel has."""
    return {name: value for name, value in options.items() if name in kernel.template_params}


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


# attention ----------------------------------------------------------------------------------------------------------


def attention(arrays: Arrays, B: int, H: int, S: int, D: int, causal: bool, **options: Any) -> Problem:
    q, k, v = (arrays.normal(B, H, S, D) for _ in range(3))
    sdpa = arrays.torch.nn.functional.scaled_dot_product_attention
    kernels = {
        f"pyptx, {name}": example(path).attention_of(bf16)
        for name, path in (
            ("Hopper", "hopper/attention"),
            ("Ampere", "ampere/attention"),
            ("Blackwell", "blackwell/attention"),
        )
    }
    candidates = {
        name: lambda kernel=kernel: kernel(q, k, v, CAUSAL=causal, **known(kernel, options))
        for name, kernel in kernels.items()
    }
    return Problem(
        {**candidates, **sdpa_of(arrays, lambda: sdpa(q, k, v, is_causal=causal))},
        kernels,
        lambda: sdpa(q.float(), k.float(), v.float(), is_causal=causal),
        2e-2,
        4 * B * H * S * S * D / (2 if causal else 1),
        ("wgmma", "bf16"),
    )


def grouped_attention(arrays: Arrays, B: int, H: int, HK: int, S: int, D: int, **options: Any) -> Problem:
    q, k, v = (arrays.normal(B, heads, S, D) for heads in (H, HK, HK))
    kernel, sdpa = (
        example("hopper/persistent_attention").persistent_attention_of(bf16),
        arrays.torch.nn.functional.scaled_dot_product_attention,
    )

    def theirs(*given: Any) -> Any:
        return sdpa(*given, is_causal=True, enable_gqa=True)

    return Problem(
        {"pyptx, persistent": lambda: kernel(q, k, v, **options), **sdpa_of(arrays, lambda: theirs(q, k, v))},
        {"pyptx, persistent": kernel},
        lambda: theirs(q.float(), k.float(), v.float()),
        2e-2,
        2 * B * H * S * S * D,
        ("wgmma", "bf16"),
    )


def sdpa_of(arrays: Arrays, work: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """torch's attention as it chooses itself, and by each of its two fast ways."""
    found = {"torch SDPA": work}
    if not arrays.dry:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def by(backend: Any) -> Any:
            with sdpa_kernel(backend):
                return work()

        found |= {
            "torch SDPA, cuDNN": lambda: by(SDPBackend.CUDNN_ATTENTION),
            "torch SDPA, flash": lambda: by(SDPBackend.FLASH_ATTENTION),
        }
    return found


def attention_backward(arrays: Arrays, B: int, H: int, S: int, D: int, causal: bool, **options: Any) -> Problem:
    torch, module = arrays.torch, example("hopper/attention_backward")
    q, k, v, d_o = (arrays.normal(B, H, S, D) for _ in range(4))
    SP = math.ceil(S / 128) * 128
    forward = module.FORWARD.attention_of(bf16, with_sums=True)
    delta_of, products, rounded = module.row_products_of(bf16), module.attention_backward, module.rounded_of(bf16)
    o, sums = forward(q, k, v, SP=SP, CAUSAL=causal)
    given = [x.detach().requires_grad_() for x in (q, k, v)]

    def gradients(forward: Callable[[], Any]) -> Callable[[], Any]:
        result = cache(forward)
        return lambda: torch.cat(torch.autograd.grad(result(), given, d_o, retain_graph=True))

    def ours() -> Any:
        d_k, d_v, d_q_sums = products(q, k, v, d_o, sums, delta_of(o, d_o, SP=SP), CAUSAL=causal, **options)
        return torch.cat([rounded(d_q_sums), d_k, d_v])

    sdpa = torch.nn.functional.scaled_dot_product_attention
    theirs = {name: gradients(way) for name, way in sdpa_of(arrays, lambda: sdpa(*given, is_causal=causal)).items()}
    return Problem(
        {"pyptx": ours, **theirs},
        {"pyptx": products},
        theirs["torch SDPA"],
        4e-2,
        10 * B * H * S * S * D / (2 if causal else 1),
        ("wgmma", "bf16"),
        "work is that of five products; both copy their results",
    )


def triton_of(name: str, arrays: Arrays, *inputs: Any) -> dict[str, Callable[[], Any]]:
    """The Triton version, where there is one, Triton is installed and there is a GPU."""
    if arrays.dry:
        return {}
    try:
        from triton_versions import VERSIONS
    except ImportError:
        return {}
    if (
        inputs[0].ndim == 2
        and inputs[0].shape[1] > 65536
        and name in ("softmax", "rms_norm", "layer_norm", "cross_entropy")
    ):
        return {}  # a row is a program there, and takes minutes to compile
    return {"Triton": lambda: VERSIONS[name](*inputs)} if name in VERSIONS else {}


# all ----------------------------------------------------------------------------------------------------------------


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
