"""Launches of the kernels with their expected results, for tests in several schedules and for the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import triton
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor
from triton.tools.tensor_descriptor import TensorDescriptor

import pyptx
from support.triton_kernels import attention, gluon, pointwise, products

__all__ = ["CASES", "Case"]

Results = Iterator[tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Case:
    """A launch with its reference.

    Attributes:
        name: of the case.
        run: launches, and yields pairs of a result and the expected one.
        target: default target.
        tolerance: relative and absolute.
        repeats: the results are bit-equal in all schedules: no floating-point atomics.
        interpreted: Triton's interpreter can run it.
        plain: it runs in the plain tier of the tests.
        findings: rules of the findings that Triton's code has here.
        since: the oldest version of Triton that compiles it correctly.
    """

    name: str
    run: Callable[[], Results]
    target: str = "sm_90a"
    tolerance: float = 1e-5
    repeats: bool = True
    interpreted: bool = True
    plain: bool = False
    findings: tuple[str, ...] = ()
    since: tuple[int, int] = (3, 8)


CASES: list[Case] = []


def case(name: str | None = None, **options: Any) -> Callable[[Callable[..., Results]], Callable[..., Results]]:
    def add(run: Callable[..., Results]) -> Callable[..., Results]:
        CASES.append(Case(name or run.__name__, run, **options))
        return run

    return add


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=made).to(dtype)


# pointwise and rows ---------------------------------------------------------------------------------------------------


@case(plain=True, interpreted=False, tolerance=1e-2)
def gelu() -> Results:
    x = normal(1000, dtype=torch.bfloat16)
    y = torch.empty_like(x)
    pointwise.gelu[(4,)](x, y, 1000, BLOCK=256)
    yield y, torch.nn.functional.gelu(x)


@case()
def dropout() -> Results:
    x = torch.ones(2048)
    y = torch.empty_like(x)
    pointwise.dropout[(4,)](x, y, 2048, 0.25, 42, BLOCK=512)
    yield y[y != 0], torch.full_like(y[y != 0], 1 / 0.75)
    yield (
        (y != 0).float().mean(),
        torch.tensor(0.75).broadcast_to(()) + ((y != 0).float().mean() - 0.75).clamp(-0.05, 0.05),
    )


@case(plain=True)
def softmax() -> Results:
    x = normal(12, 781)
    y = torch.empty_like(x)
    pointwise.softmax[(4,)](x, y, 781, 781, 12, 781, BLOCK=1024, STAGES=2)
    yield y, torch.softmax(x, 1)


@case(plain=True)
def layer_norm_forward() -> Results:
    x, w, b = normal(6, 300), normal(300, seed=1), normal(300, seed=2)
    y, mean, rstd = torch.empty_like(x), torch.empty(6), torch.empty(6)
    pointwise.layer_norm_forward[(6,)](x, y, w, b, mean, rstd, 300, 300, 1e-5, BLOCK=512)
    yield y, torch.nn.functional.layer_norm(x, (300,), w, b)
    yield mean, x.mean(1)


@case(repeats=False, tolerance=1e-4)
def layer_norm_backward() -> Results:
    x, w, b = (t.requires_grad_() for t in (normal(16, 300), normal(300, seed=1), normal(300, seed=2)))
    dy = normal(16, 300, seed=3)
    torch.nn.functional.layer_norm(x, (300,), w, b).backward(dy)
    dx, dw, db = torch.empty(16, 300), torch.zeros(300), torch.zeros(300)
    with torch.no_grad():
        mean, rstd = x.mean(1), (x.var(1, correction=0) + 1e-5).rsqrt()
        pointwise.layer_norm_backward[(16,)](
            dy, x.detach(), w.detach(), mean, rstd, dx, dw, db, 300, 300, BLOCK=512, num_warps=8
        )
    yield from zip((dx, dw, db), (x.grad, w.grad, b.grad), strict=True)


@case("scan", plain=True)
def scan_rows() -> Results:
    x = torch.randint(-9, 9, (3, 512), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    for reverse in (False, True):
        y = torch.empty_like(x)
        pointwise.scan_rows[(3,)](x, y, 512, reverse)
        yield y, (x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)).to(torch.int32)


@case()
def scan_recurrence() -> Results:
    gate, x = normal(2, 256).sigmoid(), normal(2, 256, seed=1)
    y, state = torch.empty_like(x), torch.zeros(2)
    pointwise.scan_recurrence[(2,)](gate, x, y, 256, num_warps=2)
    expected = []
    for t in range(256):
        state = gate[:, t] * state + x[:, t]
        expected.append(state)
    yield y, torch.stack(expected, 1)


@case("sort")
def sort_rows() -> Results:
    x = normal(3, 256)
    for descending in (False, True):
        y = torch.empty_like(x)
        pointwise.sort_rows[(3,)](x, y, 256, descending)
        yield y, x.sort(1, descending=descending).values


@case()
def histogram() -> Results:
    x = torch.randint(0, 64, (3000,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    counts = torch.zeros(64, dtype=torch.int32)
    pointwise.histogram[(3,)](x, counts, 3000, BINS=64, BLOCK=1024)
    yield counts, torch.bincount(x, minlength=64).to(torch.int32)


@case("last_arrives")
def sum_to_one() -> Results:
    x, total, arrived, parts = normal(4000), torch.zeros(1), torch.zeros(1, dtype=torch.int32), torch.empty(4)
    pointwise.sum_to_one[(4,)](x, total, arrived, parts, 4000, BLOCK=1024, PROGRAMS=4)
    yield total, x.view(1, -1).sum(1)


@case()
def spin_lock_sum() -> Results:
    x, total, lock = torch.arange(4096), torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int32)
    pointwise.spin_lock_sum[(8,)](x, total, lock, 4096, BLOCK=512)
    yield total, x.sum().view(1)


@case()
def transpose() -> Results:
    x = normal(100, 70, dtype=torch.float16)
    y = torch.empty(70, 100, dtype=torch.float16)
    pointwise.transpose[(4, 3)](x, y, 100, 70, BLOCK=32)
    yield y, x.T


@case()
def cross_entropy() -> Results:
    logits, labels, loss = normal(5, 1000, dtype=torch.bfloat16), torch.tensor([3, 999, 0, 512, 7]), torch.empty(5)
    pointwise.cross_entropy[(5,)](logits, labels, loss, 1000, 1000, BLOCK=256)
    yield loss, torch.nn.functional.cross_entropy(logits.float(), labels, reduction="none")


@case()
def gather_rows() -> Results:
    table, index = normal(50, 96), torch.tensor([4, 49, 0, 4])
    y = torch.empty(4, 96)
    pointwise.gather_rows[(4,)](table, index, y, 96, BLOCK=128)
    yield y, table[index]


# matrix products ------------------------------------------------------------------------------------------------------

HALF = {"tolerance": 1e-2}


def operands(m: int, n: int, k: int, dtype: torch.dtype = torch.float16) -> tuple[torch.Tensor, torch.Tensor]:
    return normal(m, k, dtype=dtype), normal(k, n, dtype=dtype, seed=1)


def product(a: torch.Tensor, b: torch.Tensor, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return (a.float() @ b.float()).to(dtype)


def run_matmul(dtype: torch.dtype = torch.float16, activation: str = "") -> Results:
    a, b = operands(150, 70, 100, dtype)
    c = torch.empty(150, 70, dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(150, meta["BM"]) * triton.cdiv(70, meta["BN"]),)  # noqa: E731
    products.matmul[grid](
        a,
        b,
        c,
        150,
        70,
        100,
        *a.stride(),
        *b.stride(),
        *c.stride(),
        BM=64,
        BN=32,
        BK=32,
        GROUP=2,
        ACTIVATION=activation,
    )
    expected = product(a, b, torch.float32)
    yield c, (torch.nn.functional.leaky_relu(expected) if activation else expected).half()


CASES.append(Case("matmul_sm80", run_matmul, "sm_80", plain=True, **HALF))
CASES.append(Case("matmul_sm89", lambda: run_matmul(activation="leaky_relu"), "sm_89", **HALF))
CASES.append(Case("matmul_sm90", run_matmul, "sm_90a", **HALF))
CASES.append(Case("matmul_sm100", run_matmul, "sm_100a", **HALF))
CASES.append(Case("matmul_sm120", run_matmul, "sm_120a", **HALF))
CASES.append(
    Case("matmul_fp8_sm89", lambda: run_matmul(torch.float8_e4m3fn), "sm_89", tolerance=2e-2, interpreted=False)
)
CASES.append(
    Case("matmul_fp8_sm90", lambda: run_matmul(torch.float8_e5m2), "sm_90a", tolerance=2e-2, interpreted=False)
)


@case(repeats=False, tolerance=1e-3)
def matmul_split_k() -> Results:
    a, b = operands(64, 64, 256)
    c = torch.zeros(64, 64)
    products.matmul_split_k[(2, 2, 4)](a, b, c, 64, 256, BM=32, BN=32, BK=32, SPLIT=4)
    yield c, product(a, b, torch.float32)


def run_descriptors(kernel: Any, **options: Any) -> Results:
    a, b = operands(256, 128, 128)
    b = b.T.contiguous()
    c = torch.empty(256, 128, dtype=torch.float16)
    BM, BN, BK = options.pop("BM", 128), options.pop("BN", 64), options.pop("BK", 64)
    described = [TensorDescriptor.from_tensor(t, block) for t, block in ((a, [BM, BK]), (b, [BN, BK]), (c, [BM, BN]))]
    kernel[(256 // BM, 128 // BN)](*described, 128, BM, BN, BK, **options)
    yield c, product(a, b.T)


INIT = ("missing-mbarrier-fence",)
CASES.append(Case("matmul_tma_sm90", lambda: run_descriptors(products.matmul_descriptors), findings=INIT, **HALF))
CASES.append(
    Case("matmul_tma_sm100", lambda: run_descriptors(products.matmul_descriptors), "sm_100a", findings=INIT, **HALF)
)
CASES.append(Case("matmul_descriptors_sm80", lambda: run_descriptors(products.matmul_descriptors), "sm_80", **HALF))
CASES.append(
    Case(
        "matmul_specialized_sm100",
        lambda: run_descriptors(products.matmul_specialized, BN=128, num_warps=4),
        "sm_100a",
        findings=INIT,
        since=(3, 9),  # 3.8 invalidates an mbarrier while a tcgen05.commit to it is in flight
        **HALF,
    )
)
CASES.append(
    Case(
        "matmul_clusters_sm90",
        lambda: run_descriptors(products.matmul_descriptors, num_ctas=2),
        findings=INIT,
        since=(3, 9),  # 3.8 fails to compile it
        **HALF,
    )
)


def run_persistent(specialize: bool, flatten: bool = False, **options: Any) -> Results:
    a, b = operands(512, 256, 128)
    b = b.T.contiguous()
    c = torch.empty(512, 256, dtype=torch.float16)
    products.matmul_persistent[(3,)](
        a, b, c, 512, 256, 128, BM=128, BN=128, BK=64, PROGRAMS=3, SPECIALIZE=specialize, FLATTEN=flatten, **options
    )
    yield c, product(a, b.T)


CASES.append(Case("matmul_persistent_sm90", lambda: run_persistent(False, True, num_warps=8), findings=INIT, **HALF))
CASES.append(Case("matmul_persistent_sm120", lambda: run_persistent(False), "sm_120a", findings=INIT, **HALF))
CASES.append(
    Case("matmul_persistent_specialized_sm100", lambda: run_persistent(True), "sm_100a", findings=INIT, **HALF)
)


@case(interpreted=False, **HALF)
def matmul_grouped() -> Results:
    sizes = [(64, 96, 32), (100, 40, 64), (33, 70, 50)]
    pairs = [operands(*size) for size in sizes]
    results = [torch.zeros(m, n, dtype=torch.float16) for m, n, _ in sizes]
    addresses = [[pyptx.pointer(t) for t in (a, b, c)] for (a, b), c in zip(pairs, results, strict=True)]
    with pyptx.use("sim", reachable=[t for (a, b), c in zip(pairs, results, strict=True) for t in (a, b, c)]):
        products.matmul_grouped[(2,)](
            torch.tensor(addresses), torch.tensor(sizes, dtype=torch.int32), 3, PROGRAMS=2, BM=32, BN=32, BK=32
        )
    yield from zip(results, (product(a, b) for a, b in pairs), strict=True)


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def run_scaled(kind: str) -> Results:
    made = torch.Generator().manual_seed(0)
    m, n, k = 128, 128, 128
    values = []
    for rows, seed in ((m, 1), (n, 2)):
        if kind == "e2m1":
            bits = torch.randint(0, 256, (rows, k // 2), generator=made, dtype=torch.uint8)
            nibbles = torch.stack((bits & 15, bits >> 4), 2).reshape(rows, k).long()
            real = E2M1[nibbles & 7] * torch.where(nibbles > 7, -1.0, 1.0)
        else:
            bits = normal(rows, k, dtype=torch.float8_e4m3fn, seed=seed)
            real = bits.float()
        scale = torch.randint(124, 131, (rows, k // 32), generator=made, dtype=torch.uint8)
        values.append((bits, scale, real * torch.exp2(scale.float() - 127).repeat_interleave(32, 1)))
    (a, sa, real_a), (b, sb, real_b) = values
    c = torch.empty(m, n)
    products.matmul_scaled[(1, 1)](a, sa, b, sb, c, n, k, BM=m, BN=n, BK=128, A=kind, B=kind)
    yield c, real_a @ real_b.T


for _kind, _target in (("e4m3", "sm_100a"), ("e2m1", "sm_100a"), ("e4m3", "sm_120a"), ("e2m1", "sm_90a")):
    CASES.append(
        Case(
            f"matmul_scaled_{_kind}_{_target[:-1]}".replace("sm_", "sm"),
            lambda kind=_kind: run_scaled(kind),
            _target,
            tolerance=2e-2,
            interpreted=False,
            findings=INIT if _target == "sm_100a" else (),
        )
    )


@case(tolerance=1e-3)
def batched_vector_product() -> Results:
    a, x, y = normal(3, 64, 200, dtype=torch.float16), normal(3, 200, dtype=torch.float16, seed=1), torch.empty(3, 64)
    a, x = torch.nn.functional.pad(a, (0, 56)), torch.nn.functional.pad(x, (0, 56))
    products.batched_vector_product[(2, 3)](a, x, y, 256, BM=32, BN=64)
    yield y, torch.einsum("bmn,bn->bm", a.float(), x.float())


# attention ------------------------------------------------------------------------------------------------------------


def reference_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def run_attention(causal: bool, backward: bool = False, T: int = 128, D: int = 64, **options: Any) -> Results:
    q, k, v, do = (normal(2, T, D, dtype=torch.float16, seed=seed) for seed in range(4))
    scale = D**-0.5
    leaves = [t.float().requires_grad_() for t in (q, k, v)]
    expected = reference_attention(*leaves, scale, causal)
    o, lse = torch.empty_like(q), torch.empty(2, T)
    attention.forward[(T // 64, 2)](q, k, v, o, lse, scale, T, D, 64, 32, causal, **options)
    if not backward:
        yield o, expected.detach().half()
        return
    expected.backward(do.float())
    delta = torch.empty(2, T)
    attention.backward_rows[(T // 64, 2)](o, do, delta, T, D, 64)
    dq, dk, dv = (torch.zeros(2, T, D) for _ in range(3))
    attention.backward[(T // 32, 2)](q, k, v, do, lse, delta, dq, dk, dv, scale, T, D, 32, 32, causal, **options)
    for got, leaf in zip((dq, dk, dv), leaves, strict=True):
        yield got, leaf.grad


for _target in ("sm_80", "sm_90a", "sm_100a"):
    CASES.append(Case(f"attention_{_target.rstrip('a')}", lambda: run_attention(False), _target, tolerance=1e-2))
CASES.append(Case("attention_causal", lambda: run_attention(True), "sm_89", tolerance=1e-2))
CASES.append(
    Case("attention_backward_sm80", lambda: run_attention(True, True, D=32), "sm_80", tolerance=2e-2, repeats=False)
)
CASES.append(
    Case("attention_backward_sm90", lambda: run_attention(False, True, D=32), "sm_90a", tolerance=2e-2, repeats=False)
)


def run_specialized_attention(specialize: bool, T: int = 256, D: int = 64) -> Results:
    q, k, v = (normal(2 * T, D, dtype=torch.float16, seed=seed) for seed in range(3))
    o = torch.empty_like(q)
    blocks = (128, 64, 64, 128)
    tensors = [TensorDescriptor.from_tensor(t, [rows, D]) for t, rows in zip((q, k, v, o), blocks, strict=True)]
    attention.forward_specialized[(T // 128, 2)](*tensors, D**-0.5, T, D, 128, 64, specialize, num_warps=4)
    heads = [t.view(2, T, D).float() for t in (q, k, v)]
    yield o, reference_attention(*heads, D**-0.5, False).reshape(2 * T, D).half()


CASES.append(Case("attention_tma_sm90", lambda: run_specialized_attention(False), tolerance=1e-2, findings=INIT))
CASES.append(
    Case(
        "attention_specialized_sm100", lambda: run_specialized_attention(True), "sm_100a", tolerance=1e-2, findings=INIT
    )
)


@case(tolerance=1e-4)
def attention_decode() -> Results:
    q, k, v = normal(4, 64), normal(4, 256, 64, seed=1), normal(4, 256, 64, seed=2)
    parts, lse, o = torch.empty(4, 4, 64), torch.empty(4, 4), torch.empty(4, 64)
    attention.decode_part[(4, 4)](q, k, v, parts, lse, 0.125, 256, 64, 32, 4)
    attention.decode_combined[(4,)](parts, lse, o, 64, 4)
    yield o, reference_attention(q[:, None], k, v, 0.125, False)[:, 0]


# Gluon ----------------------------------------------------------------------------------------------------------------


@case(interpreted=False, plain=True)
def gluon_layout() -> Results:
    x = normal(1000)
    y = torch.empty_like(x)
    gluon.copy_with_layout[(2,)](x, y, 1000, 512, gl.BlockedLayout([4], [32], [4], [0]), num_warps=4)
    yield y, x * 2


@case(interpreted=False)
def gluon_shared_memory() -> Results:
    x = normal(64, 64)
    y = torch.empty_like(x)
    gluon.transpose_through_shared[(1,)](x, y, 64, num_warps=4)
    yield y, x.T


@case(interpreted=False)
def gluon_async_copy() -> Results:
    x = normal(512)
    y = torch.empty_like(x)
    gluon.copy_asynchronously[(1,)](x, y, 512, gl.BlockedLayout([1], [32], [4], [0]), num_warps=4)
    yield y, x + 1


@case(interpreted=False, **HALF)
def gluon_wgmma() -> Results:
    a, b = operands(128, 128, 64)
    c = torch.empty(128, 128, dtype=torch.float16)
    described = []
    for tensor, block in ((a, [64, 64]), (b, [64, 64]), (c, [64, 64])):
        layout = gl.NVMMASharedLayout.get_default_for(block, gl.float16)
        described.append(GluonDescriptor.from_tensor(tensor, block, layout))
    gluon.product_by_wgmma[(2, 2)](*described, 64, 64, 64, num_warps=4)
    yield c, product(a, b)


def compare(case_: Case, results: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
    """Raise AssertionError unless each result is close to the expected one."""
    for got, expected in results:
        got, expected = (np.asarray(t.detach().float() if t.is_floating_point() else t) for t in (got, expected))
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        np.testing.assert_allclose(got, expected, rtol=case_.tolerance, atol=case_.tolerance * scale)
