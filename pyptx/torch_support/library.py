"""Registration of operators of kernels in torch's dispatcher.

The autograd function that `torch.library.custom_op` registers is refused by torch.func (torch 2.13): `Function.apply`
hands a function to torch.func, but below the dispatcher that has already happened. The functions here are applied to one
level of differentiation, so operators work under torch.func.grad and torch.vmap in any nesting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd.function import _SingleLevelFunction  # pyright: ignore[reportPrivateUsage] - what torch.func uses

__all__ = ["define_operator"]

_library = torch.library.Library("pyptx", "FRAGMENT")
_TAGS = [torch.Tag.pt2_compliant_tag, getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order)]


def define_operator(
    name: str,
    run: Callable[[str, str, list[torch.Tensor]], list[torch.Tensor]],
    fake: Callable[[str, str, list[torch.Tensor]], list[torch.Tensor]],
    save: Callable[[Any, str, str, Sequence[torch.Tensor], Sequence[torch.Tensor]], None],
    differentiate: Callable[..., Sequence[Any]],
) -> None:
    """Define `pyptx::NAME(str identity, str params, Tensor[] inputs) -> Tensor[]`; torch.vmap calls it in a loop.

    Args:
        run: launches, without autograd.
        fake: returns empty tensors of the shapes of the results.
        save: (context, identity, params, inputs, outputs); keeps in the context what `differentiate` needs.
        differentiate: (context, *gradients of the outputs) -> gradients of the inputs.
    """
    _library.define(f"{name}(str identity, str params, Tensor[] inputs) -> Tensor[]", tags=_TAGS)
    operator = getattr(torch.ops.pyptx, name).default

    class Differentiated(_SingleLevelFunction):
        """The operator on inputs that require gradients."""

        @staticmethod
        def forward(
            ctx: Any, keyset: Any, identity: str, params: str, *inputs: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            with torch.enable_grad():  # for the levels of torch.func below this one
                outputs = operator.redispatch(keyset & torch._C._after_autograd_keyset, identity, params, list(inputs))
            save(ctx, identity, params, inputs, outputs)
            return tuple(outputs)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
            return (None, None, None, *differentiate(ctx, *grads))

    function: Any = Differentiated  # its metaclass adds `apply`

    def autograd(keyset: Any, identity: str, params: str, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
            with enable_single_level_autograd_function():
                return list(function.apply(keyset, identity, params, *inputs))
        return operator.redispatch(keyset & torch._C._after_autograd_keyset, identity, params, inputs)

    def batch(
        info: Any, in_dims: tuple[Any, ...], identity: str, params: str, inputs: list[torch.Tensor]
    ) -> tuple[list[torch.Tensor], list[int]]:
        _, _, dims = in_dims
        results = [
            operator(
                identity,
                params,
                [x if dim is None else x.select(dim, k).contiguous() for x, dim in zip(inputs, dims, strict=True)],
            )
            for k in range(info.batch_size)
        ]
        return [torch.stack(parts) for parts in zip(*results, strict=True)], [0] * len(results[0])

    def launch(identity: str, params: str, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        with torch.no_grad():
            return run(identity, params, inputs)

    _library.impl(name, launch, "CompositeExplicitAutograd")
    _library.impl(name, autograd, "Autograd", with_keyset=True)
    torch.library.register_fake(f"pyptx::{name}", fake, lib=_library)
    torch.library.register_vmap(f"pyptx::{name}", batch, lib=_library)
