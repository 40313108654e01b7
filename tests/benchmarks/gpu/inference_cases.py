"""Kernels of inference: norms to fp8, decoding with paged keys, scans, mixtures of experts, sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from problem import Arrays, Problem, example, known

from pyptx.types import bf16, f32


def rms_norm_fp8(arrays: Arrays, M: int, N: int, **_: Any) -> Problem:
    """RMS norm of rows, quantized to e4m3 with a scale for each; the quotients before rounding are what is wanted."""
    torch, kernel = arrays.torch, example("rms_norm_fp8").rms_norm_fp8_of(bf16)
    x, weight = arrays.normal(M, N), arrays.normal(N)

    def quotients(x: Any, weight: Any) -> Any:
        y = torch.nn.functional.rms_norm(x.float(), (N,), weight.float(), 1e-6)
        return y * (448 / y.abs().amax(1, keepdim=True))

    fused = arrays.compiled(lambda *given: quotients(*given).to(torch.float8_e4m3fn))
    return Problem(
        {"pyptx": lambda: kernel(x, weight)[0], "torch.compile": lambda: fused(x, weight)},
        {"pyptx": kernel},
        lambda: quotients(x, weight),
        0.04,  # half a step of e4m3 at its largest number
        3 * M * N,
    )


def paged_attention(arrays: Arrays, B: int, H: int, HK: int, S: int, D: int, PAGE: int, **_: Any) -> Problem:
    """One query of each sequence, keys and values in pages in random order; torch copies the pages one after another first."""
    torch, module = arrays.torch, example("ampere/paged_attention")
    of_parts, of_all = module.kernels_of(bf16)
    q, pages = arrays.normal(B, H, D), -(-S // PAGE)
    k, v = (arrays.normal(B * pages, HK, PAGE, D) for _ in range(2))
    random = np.random.default_rng(0)
    table = arrays.of(random.permutation(B * pages).reshape(B, pages).astype(np.int32))
    lengths = arrays.of(np.full(B, S, np.int32))
    splits, sdpa = max(1, 132 // (B * HK)), torch.nn.functional.scaled_dot_product_attention

    def dense(cache: Any) -> Any:
        return cache[table.long()].permute(0, 2, 1, 3, 4).reshape(B, HK, pages * PAGE, D)[:, :, :S]

    def theirs(q: Any, k: Any, v: Any) -> Any:
        return sdpa(q[:, :, None], dense(k), dense(v), enable_gqa=True)[:, :, 0]

    return Problem(
        {
            "pyptx": lambda: of_all(*of_parts(q, k, v, table, lengths, SPLITS=splits)),
            "torch SDPA, pages copied": lambda: theirs(q, k, v),
        },
        {"pyptx": of_parts},
        lambda: theirs(q.float(), k.float(), v.float()),
        2e-2,
        4 * B * S * HK * D,
    )


def selective_scan(arrays: Arrays, B: int, L: int, D: int, **_: Any) -> Problem:
    """A Mamba-style scan of 16 states; torch computes one step of the sequence after another."""
    torch, module = arrays.torch, example("selective_scan")
    kernel, states = module.kernels_of(f32)[0], module.STATES
    x, b, c, skip = (
        arrays.normal(*shape, dtype="float32") for shape in ((B, L, D), (B, L, states), (B, L, states), (D,))
    )
    delta = arrays.normal(B, L, D, dtype="float32").mul(0.5).sub(4).exp()
    a = -torch.arange(1, states + 1, device=x.device, dtype=torch.float32).repeat(D, 1)

    def steps() -> Any:
        h, found = torch.zeros((B, D, states), device=x.device), []
        for t in range(L):
            d = delta[:, t, :, None]
            h = (d * a).exp() * h + d * x[:, t, :, None] * b[:, t, None]
            found.append((h * c[:, t, None]).sum(2) + skip * x[:, t])
        return torch.stack(found, 1)

    return Problem(
        {"pyptx": lambda: kernel(x, delta, a, b, c, skip, LC=-(-L // module.STEPS))[0], "torch, step by step": steps},
        {"pyptx": kernel},
        steps,
        1e-3,
        4 * B * L * (3 * D + 2 * states),
    )


def mixture(arrays: Arrays, M: int, D: int, N: int, E: int, TOP: int, **options: Any) -> Problem:
    """A layer of E experts, TOP of which each token takes: routing, sorting, gathering, products, weighted sums."""
    torch, module, grouped = arrays.torch, example("moe_routing"), example("hopper/grouped_gemm").grouped_gemm
    x, experts = arrays.normal(M, D), arrays.normal(E, D, N)
    logits = arrays.of(np.random.default_rng(0).standard_normal((M, E), np.float32))
    chosen = logits.topk(TOP, 1)
    ends = torch.bincount(chosen.indices.flatten(), minlength=E).cumsum(0)
    ends = torch.cat([ends.new_zeros(1), ends]).int()

    def product(rows: Any, experts: Any, found: Any) -> Any:
        return grouped(rows, experts, arrays.settled(found, ends), **known(grouped, options))

    def ours() -> Any:
        weights, which = module.moe_routing(logits, TOP=TOP)
        which = arrays.settled(which, chosen.indices.int())
        order, places, found = module.sort_by_expert(which.reshape(-1), E1=E + 1)
        rows = module.gather_rows(x, order, TOP=TOP)
        return module.combine_rows(product(rows, experts, found), weights, places)

    def theirs(x: Any, experts: Any) -> Any:
        values, indices = logits.topk(TOP, 1)
        weights, y = torch.softmax(values, 1), torch.zeros((M, N), device=x.device)
        for e in range(E):
            token, place = torch.nonzero(indices == e, as_tuple=True)
            y.index_add_(0, token, (x[token] @ experts[e]).float() * weights[token, place, None])
        return y

    return Problem(
        {"pyptx": ours, "torch, expert by expert": lambda: theirs(x, experts).to(x.dtype)},
        {"pyptx": grouped},
        lambda: theirs(x.float(), experts.float()),
        1.6e-2,
        2 * M * TOP * D * N,
        ("wgmma", "bf16"),
        "work is that of the products",
    )


def sampling(arrays: Arrays, M: int, N: int, **_: Any) -> Problem:
    """A token of each row with the 50 largest logits and 0.9 of their probability; torch sorts, and adds in the same order."""
    torch, module = arrays.torch, example("sampling")
    options = {"top_k": 50, "top_p": 0.9, "temperature": 0.7}
    logits = arrays.normal(M, N)
    uniforms = arrays.of(np.random.default_rng(0).random(M, np.float32))
    index = np.arange(N)
    order = torch.from_numpy(np.lexsort((index, index // 8 % module.THREADS))).to(
        logits.device
    )  # of the kernel's threads

    def theirs() -> Any:
        x = logits.float()
        weights = ((x - x.amax(1, keepdim=True)) / options["temperature"]).exp()
        falling = weights.topk(options["top_k"] + 1, 1).values
        sums, total = falling.cumsum(1), weights.sum(1, keepdim=True)
        last = (sums < options["top_p"] * total).sum(1, keepdim=True).clamp(max=options["top_k"] - 1)
        kept = torch.where(weights >= falling.gather(1, last), weights, 0)[:, order].cumsum(1)
        return order[(kept <= uniforms[:, None] * kept[:, -1:]).sum(1)].int()

    return Problem(
        {"pyptx": lambda: module.sampling(logits, uniforms, **options), "torch": theirs},
        {"pyptx": module.sampling},
        theirs,
        0,
        2 * M * N,
    )
