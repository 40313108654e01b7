"""Registration of operators of kernels in torch's dispatcher.

The autograd function that `torch.library.custom_op` registers is refused by torch.func (torch 2.13): `Function.apply`
hands a function to torch.func, but below the dispatcher that has already happened. The functions here are applied to one
level of differentiation, so operators work under torch.func.grad and torch.vmap in any nesting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd.function import _SingleLevelFunction  # pyright: ignore[reportPrivateUsage] - what torch.func uses

__all__ = ["define_operator"]

_library = torch.library.Library("pyptx", "FRAGMENT")
_TAGS = [torch.Tag.pt2_compliant_tag, getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order)]


class MergedBatches(NamedTuple):
    """Inputs of a call for a batch, and the sizes into which its leading dimension splits, outermost first."""

    inputs: list[torch.Tensor]
    batched: list[bool]
    sizes: tuple[int, ...]


def merge_batches(
    size: int, dims: Sequence[int | None], inputs: Sequence[torch.Tensor], batched: Sequence[bool]
) -> MergedBatches:
    """Merge a batch of calls into a call for a batch, and a batch of calls for batches into one for all elements.

    Args:
        size, dims: elements of the outer batch, and the dimension that it has in each input; None where it has none.
        batched: inputs with a leading dimension of the inner batch; empty if there is no inner batch.
    """
    front = [x if dim is None else x.movedim(dim, 0) for x, dim in zip(inputs, dims, strict=True)]
    outer = [dim is not None for dim in dims]
    if not batched:
        return MergedBatches([x.contiguous() for x in front], outer, (size,))
    count = next(x.shape[int(ours)] for x, ours, one in zip(front, outer, batched, strict=True) if one)
    merged = []
    for x, ours, one in zip(front, outer, batched, strict=True):
        if ours or one:  # an input of one batch is repeated for each element of the other
            shape = x.shape[ours + one :]
            x = x if ours else x.unsqueeze(0)
            x = (x if one else x.unsqueeze(1)).expand(size, count, *shape).reshape(size * count, *shape)
        merged.append(x.contiguous())
    return MergedBatches(merged, [ours or one for ours, one in zip(outer, batched, strict=True)], (size, count))


def define_operator(
    name: str,
    run: Callable[..., list[torch.Tensor]],
    fake: Callable[..., list[torch.Tensor]],
    save: Callable[[Any, str, str, Sequence[bool], Sequence[torch.Tensor], Sequence[torch.Tensor]], None],
    differentiate: Callable[..., Sequence[Any]],
) -> None:
    """Define `pyptx::NAME(str identity, str params, Tensor[] inputs, bool[] batched=[]) -> Tensor[]`.

    A call for a batch, which torch.vmap makes, says in `batched` which inputs have a leading batch dimension. All outputs
    have one.

    Args:
        run: launches, without autograd; takes the arguments of the operator.
        fake: returns empty tensors of the shapes of the results.
        save: (context, identity, params, batched, inputs, outputs); keeps in the context what `differentiate` needs.
        differentiate: (context, *gradients of the outputs) -> gradients of the inputs.
    """
    _library.define(f"{name}(str identity, str params, Tensor[] inputs, bool[] batched=[]) -> Tensor[]", tags=_TAGS)
    operator = getattr(torch.ops.pyptx, name).default

    class Differentiated(_SingleLevelFunction):
        """The operator on inputs that require gradients."""

        @staticmethod
        def forward(
            ctx: Any, keyset: Any, identity: str, params: str, batched: Sequence[bool], *inputs: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            below = keyset & torch._C._after_autograd_keyset
            with torch.enable_grad():  # for the levels of torch.func below this one
                outputs = operator.redispatch(below, identity, params, list(inputs), batched)
            save(ctx, identity, params, batched, inputs, outputs)
            return tuple(outputs)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
            return (None, None, None, None, *differentiate(ctx, *grads))

    function: Any = Differentiated  # its metaclass adds `apply`

    def autograd(
        keyset: Any, identity: str, params: str, inputs: Sequence[torch.Tensor], batched: Sequence[bool] = ()
    ) -> list[torch.Tensor]:
        if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
            with enable_single_level_autograd_function():
                return list(function.apply(keyset, identity, params, batched, *inputs))
        return operator.redispatch(keyset & torch._C._after_autograd_keyset, identity, params, inputs, batched)

    def batch(
        info: Any,
        in_dims: tuple[Any, ...],
        identity: str,
        params: str,
        inputs: Sequence[torch.Tensor],
        batched: Sequence[bool] = (),
    ) -> tuple[list[torch.Tensor], list[int]]:
        merged = merge_batches(info.batch_size, in_dims[2], inputs, batched)
        outputs = operator(identity, params, merged.inputs, merged.batched)
        return [output.reshape(*merged.sizes, *output.shape[1:]) for output in outputs], [0] * len(outputs)

    def launch(*arguments: Any) -> list[torch.Tensor]:
        with torch.no_grad():
            return run(*arguments)

    _library.impl(name, launch, "CompositeExplicitAutograd")
    _library.impl(name, autograd, "Autograd", with_keyset=True)
    torch.library.register_fake(f"pyptx::{name}", fake, lib=_library)
    torch.library.register_vmap(f"pyptx::{name}", batch, lib=_library)
