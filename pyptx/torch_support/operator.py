"""The operator `pyptx::launch`: how torch.compile, export, autograd and fake tensors see a call of a kernel.

An eager call does not go through it. One operator serves all kernels; which one is a number, its parameter values are
a string, so that both are constants of a graph.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import torch
from torch.autograd import forward_ad

from pyptx.errors import LaunchError
from pyptx.runtime import runtime_for
from pyptx.runtime.arrays import registered
from pyptx.specs import unify_envs
from pyptx.torch_support.dtypes import torch_dtype

__all__ = ["call", "extract_input_shapes", "has_tangent", "refuse_tangents"]

_LITERALS = (int, float, str, bool, type(None))


def call(kernel: int, inputs: Sequence[torch.Tensor], out: Any, params: Mapping[str, Any]) -> Any:
    """Call the kernel of that number as an operator; the output, or a tuple of them.

    Raises:
        LaunchError: `out=` is given, which a graph does not hold.
    """
    if out is not None:
        raise LaunchError("out= cannot be used under torch.compile or autograd; use what the call returns")
    text = ""
    for name, value in params.items():
        if isinstance(value, int) and not isinstance(value, bool):
            value = index(value)                        # torch.compile makes numbers that change symbols; a kernel is
        text += f"{name}={value!r}\n"                   # made for each, as always
    outputs = torch.ops.pyptx.launch(kernel, text, list(inputs))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _values(text: str) -> dict[str, Any]:
    """Parameter values as `call` wrote them.

    Raises:
        LaunchError: one is no number, string, boolean or None.
    """
    values = {}
    for name, _, value in (line.partition("=") for line in text.splitlines()):
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[name] = ()
        if not isinstance(values[name], _LITERALS):
            raise LaunchError(f"{name}={value}: under torch.compile and autograd the parameters of a kernel are "
                              "numbers, strings, booleans or None")
    return values


@torch.library.custom_op("pyptx::launch", mutates_args=())
def launch(kernel: int, params: str, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    with torch.no_grad():
        plain = [x.detach() for x in inputs]
        return registered(kernel).run(runtime_for(plain), plain, None, _values(params))


@launch.register_fake
def _(kernel: int, params: str, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    found, values = registered(kernel), _values(params)
    env = extract_input_shapes(found.in_specs, inputs) | found.binding.split(values)[0]
    return [inputs[0].new_empty(shape, dtype=torch_dtype(spec.dtype.name))
            for shape, spec in zip(found.binding.shapes(env), found.out_specs, strict=True)]


@launch.register_vmap
def _(info: Any, in_dims: tuple, kernel: int, params: str, inputs: list[torch.Tensor]) -> tuple[list, list[int]]:
    """A launch for each element of the batch, one after the other."""
    _, _, dims = in_dims
    results = [torch.ops.pyptx.launch(kernel, params, [x if dim is None else x.select(dim, k).contiguous()
                                                       for x, dim in zip(inputs, dims, strict=True)])
               for k in range(info.batch_size)]
    return [torch.stack(parts) for parts in zip(*results, strict=True)], [0] * len(results[0])


def has_tangent(x: torch.Tensor) -> bool:
    """Whether forward-mode differentiation goes through a tensor."""
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(x).tangent is not None


def refuse_tangents(kernel: int, inputs: Sequence[torch.Tensor], out: Any, params: Mapping[str, Any]) -> Any:
    """In place of a call on tensors with tangents, which it would lose.

    Raises:
        LaunchError: always.
    """
    raise LaunchError(f"kernel {registered(kernel).name} has no derivative for forward mode (jvp, jacfwd, dual "
                      "tensors); detach() its inputs, or use reverse mode with "
                      "pyptx.differentiable_kernel(forward, backward)")


def _no_gradient(ctx: Any, *_grads: Any) -> None:
    raise LaunchError(f"kernel {ctx.name} has no backward kernel, so autograd cannot go back through it; join it with "
                      "one by pyptx.differentiable_kernel(forward, backward), or call it under torch.no_grad()")


def _remember(ctx: Any, inputs: tuple, output: Any) -> None:
    ctx.name = registered(inputs[0]).name


launch.register_autograd(_no_gradient, setup_context=_remember)


def extract_input_shapes(specs: Sequence[Any], inputs: Sequence[torch.Tensor]) -> dict[str, int]:
    """Sizes of the names of Tiles, read off tensors.

    Raises:
        LaunchError: a shape does not fit its Tile, or one name has two sizes.
    """
    return unify_envs([spec.extract_env(x.shape) for spec, x in zip(specs, inputs, strict=False)])
