"""Kernels with a backward kernel, for autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from pyptx.errors import LaunchError

__all__ = ["DifferentiableKernel", "differentiable_kernel"]


class DifferentiableKernel:
    """A forward kernel whose gradient a backward kernel computes; called like the forward kernel.

    Attributes:
        forward_kernel, backward_kernel: what was given.
    """

    def __init__(self, forward: Callable, backward: Callable, save_for_backward: Callable | None,
                 num_grad_inputs: int | None):
        self.forward_kernel, self.backward_kernel = forward, backward
        self.__name__ = getattr(forward, "__name__", None) or getattr(forward, "name", type(forward).__name__)
        self._save = save_for_backward or _inputs
        self._count = num_grad_inputs

    def __repr__(self) -> str:
        return f"<differentiable {self.forward_kernel!r}, backward {self.backward_kernel!r}>"

    def __call__(self, *inputs: Any, **params: Any) -> Any:
        """The outputs of the forward kernel, which autograd can go back through.

        Raises:
            LaunchError: see the kernels; the backward kernel gives more gradients than there are inputs.
        """
        return _Function.apply(self, params, *inputs)

    def gradients(self, saved: Sequence[Any], grads: Sequence[Any], inputs: int, params: dict[str, Any]) -> list[Any]:
        """A gradient for each input, None for those the backward kernel does not give."""
        found = self.backward_kernel(*saved, *(g.contiguous() for g in grads if g is not None), **params)
        found = list(found) if isinstance(found, tuple | list) else [found]
        if self._count is not None:
            found = found[:self._count]
        if len(found) > inputs:
            raise LaunchError(f"{self.backward_kernel!r} gives {len(found)} gradients for {inputs} inputs; "
                              "num_grad_inputs= says how many of them are wanted")
        return [*found, *[None] * (inputs - len(found))]


def _inputs(inputs: Sequence[Any], _outputs: Sequence[Any]) -> Sequence[Any]:
    return inputs


class _Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pair: DifferentiableKernel, params: dict[str, Any], *inputs: Any) -> Any:
        outputs = pair.forward_kernel(*inputs, **params)
        ctx.pair, ctx.params, ctx.inputs = pair, params, len(inputs)
        ctx.save_for_backward(*pair._save(inputs, outputs if isinstance(outputs, tuple) else (outputs,)))
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return (None, None, *ctx.pair.gradients(ctx.saved_tensors, grads, ctx.inputs, ctx.params))


def differentiable_kernel(fwd: Callable, bwd: Callable, *, save_for_backward: Callable | None = None,
                          num_grad_inputs: int | None = None) -> DifferentiableKernel:
    """Join a forward and a backward kernel for torch.autograd.

    Args:
        fwd: kernel, or any function of tensors, that computes the outputs.
        bwd: called with the saved tensors and the gradients of the outputs; gives the gradients of the inputs, in
            order. Parameters of a call go to both.
        save_for_backward: from (inputs, outputs) to the tensors `bwd` gets; by default the inputs.
        num_grad_inputs: how many of what `bwd` gives are gradients.
    """
    return DifferentiableKernel(fwd, bwd, save_for_backward, num_grad_inputs)
