"""A transformer block of example kernels trains as torch's: RMS norm, causal attention and SwiGLU, forward and backward."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional

import pyptx
from pyptx.types import f16

sys.path.append(str(Path(__file__).parents[2]))

from examples.hopper import attention_backward as backward_of_attention
from examples.hopper.attention import attention_of
from examples.rms_norm import rms_norm
from examples.swiglu import swiglu_with_gradients

TOKENS, WIDTH, HIDDEN, ROWS = 9, 64, 24, 128  # ROWS: tokens, rounded up to the tiles of the attention kernels


def norm_gradient(x, weight, d_y, eps):
    """The gradients of the norm in torch; the examples have no kernel for them."""
    scale = torch.rsqrt((x * x).mean(1, keepdim=True) + eps)
    inner = d_y * weight
    d_x = scale * (inner - x * scale * scale * (inner * x).mean(1, keepdim=True))
    return d_x, (d_y * x * scale).sum(0)


FORWARD, PRODUCTS = attention_of(f16, with_sums=True), backward_of_attention.attention_backward_of(f16)
DELTA, ROUNDED = backward_of_attention.row_products_of(f16), backward_of_attention.rounded_of(f16)


def attention_gradient(q, k, v, o, sums, d_o, _):
    d_k, d_v, d_q_sums = PRODUCTS(q, k, v, d_o, sums, DELTA(o, d_o, SP=ROWS), CAUSAL=True, CLUSTER=1)
    return ROUNDED(d_q_sums), d_k, d_v


NORM = pyptx.differentiable_kernel(rms_norm, norm_gradient)
ATTENTION = pyptx.differentiable_kernel(
    lambda q, k, v: FORWARD(q, k, v, SP=ROWS, CAUSAL=True),
    attention_gradient,
    save_for_backward=lambda inputs, outputs: (*inputs, *outputs),
)
SWIGLU = swiglu_with_gradients()


def with_kernels(x, name, *weights):
    if name == "norm":
        return NORM(x, *weights, eps=1e-5)
    return ATTENTION(x, *weights)[0] if name == "attention" else SWIGLU(x, *weights)


def with_torch(x, name, *weights):
    if name == "norm":
        return functional.rms_norm(x, (WIDTH,), *weights, eps=1e-5)
    if name == "attention":
        q, k, v = (each.float() for each in (x, *weights))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).half()
    return functional.silu(x) * weights[0]


class Block(torch.nn.Module):
    """One block, one head, on tokens of WIDTH numbers."""

    def __init__(self, compute):
        super().__init__()
        self.compute = compute
        for name, rows, columns in (
            ("mixing", WIDTH, 3 * WIDTH),
            ("rising", WIDTH, 2 * HIDDEN),
            ("falling", HIDDEN, WIDTH),
        ):
            torch.manual_seed(rows + columns)
            self.register_parameter(name, torch.nn.Parameter(torch.randn(rows, columns) * rows**-0.5))
        self.first, self.second = (torch.nn.Parameter(torch.ones(WIDTH)) for _ in range(2))

    def forward(self, x):
        mixed = (self.compute(x, "norm", self.first) @ self.mixing).half().reshape(1, TOKENS, 3, 1, WIDTH)
        q, k, v = (each.transpose(1, 2).contiguous() for each in mixed.unbind(2))
        x = x + self.compute(q, "attention", k, v).reshape(TOKENS, WIDTH)
        gate, up = (self.compute(x, "norm", self.second) @ self.rising).chunk(2, 1)
        return x + self.compute(gate.contiguous(), "swiglu", up.contiguous()) @ self.falling


def trained(model: torch.nn.Module, steps: int) -> tuple[list[float], dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Return losses, gradients of the last step and parameters after some steps."""
    torch.manual_seed(1)
    x, wanted = torch.randn(TOKENS, WIDTH), torch.randn(TOKENS, WIDTH)
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    parameters = dict(model.named_parameters())
    return losses, {name: p.grad for name, p in parameters.items() if p.grad is not None}, parameters


def compiled(model):
    return torch.compile(model, fullgraph=True, backend="aot_eager")


def loaded(model):
    return torch.export.export(model, (torch.zeros(TOKENS, WIDTH),)).module()


@pytest.mark.transform(
    "PyTorch", "training a transformer block: eager, compiled, exported", "supported: the gradients equal torch's"
)
@pytest.mark.parametrize(
    "how, steps",
    [
        (lambda model: model, 2),
        pytest.param(compiled, 1, marks=pytest.mark.slow),
        (loaded, 1),
    ],
    ids=["eager", "compiled", "exported"],
)
def test_a_transformer_of_kernels_trains_as_that_of_torch(how, steps):
    model = Block(with_kernels)
    losses, gradients, parameters = trained(how(model), steps)
    wanted_losses, wanted_gradients, wanted = trained(Block(with_torch), steps)
    assert losses == pytest.approx(wanted_losses, rel=1e-4) and losses == sorted(losses, reverse=True)
    assert {name.rpartition(".")[2] for name in gradients} == set(wanted_gradients) and len(gradients) == 5
    for name, gradient in gradients.items():
        short = name.rpartition(".")[2]
        largest = wanted_gradients[short].abs().max().item()
        torch.testing.assert_close(gradient, wanted_gradients[short], rtol=2e-3, atol=2e-3 * largest)
        torch.testing.assert_close(parameters[name], wanted[short], rtol=1e-3, atol=1e-4)
