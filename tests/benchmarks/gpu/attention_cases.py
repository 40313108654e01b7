"""Attention, forward and backward."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from problem import Arrays, Problem, example, known

from pyptx.types import bf16


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
