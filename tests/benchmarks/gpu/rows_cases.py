"""Rows, elements, transposes and sums: what memory bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from problem import Arrays, Problem, example, triton_of

from pyptx.kernel import Kernel
from pyptx.types import bf16, f32


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
