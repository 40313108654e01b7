"""The operator `pyptx::launch`, which represents kernel calls in torch.compile, export, autograd and fake mode.

Eager calls bypass it unless a mode, a transform, a tracer or the profiler is active. One operator serves all kernels: the
kernel's identity and its parameter values are strings, so that both are constants of a graph, part of the keys of torch's
caches, and valid in other processes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, NoReturn

import torch
from torch.autograd import forward_ad

from pyptx.errors import ArgumentTypeError, ArgumentValueError, BackendError
from pyptx.runtime import runtime_for
from pyptx.runtime.arrays import arrays_of_type, batch_size
from pyptx.runtime.identity import resolve
from pyptx.specs import unify_envs
from pyptx.torch_support.dtypes import torch_dtype
from pyptx.torch_support.library import define_operator

__all__ = [
    "call",
    "extract_input_shapes",
    "has_tangent",
    "issue",
    "parameter_values",
    "refuse_forward_mode",
    "refuse_tangents",
]

_LITERALS = (int, float, str, bool, type(None))


def call(kernel: str, inputs: Sequence[torch.Tensor], out: Any, params: Mapping[str, Any]) -> Any:
    """Call the kernel of an identity as an operator; return its output, or a tuple of outputs.

    Raises:
        LaunchError: `out=` was passed; a graph cannot contain it.
    """
    if out is not None:
        raise ArgumentTypeError(
            "out= is not supported under torch.compile, autograd, modes and the profiler",
            hint="use the result of the call",
        )
    return issue(torch.ops.pyptx.launch, kernel, inputs, params)


def issue(operator: Any, identity: str, inputs: Sequence[torch.Tensor], params: Mapping[str, Any]) -> Any:
    """Call an operator with parameter values as text; return its output, or a tuple of outputs."""
    text = ""
    for name, value in params.items():
        if isinstance(value, int) and not isinstance(value, bool):
            value = index(value)  # torch.compile turns varying integers into symbols;
        text += f"{name}={value!r}\n"  # a kernel is specialized for each value
    outputs = operator(identity, text, list(inputs))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def parameter_values(text: str) -> dict[str, Any]:
    """Parse parameter values as `issue` serialized them.

    Raises:
        LaunchError: a value is not a number, string, boolean or None.
    """
    values = {}
    for name, _, value in (line.partition("=") for line in text.splitlines()):
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[name] = ()
        if not isinstance(values[name], _LITERALS):
            raise ArgumentValueError(
                f"{name}={value}: under torch.compile and autograd the parameters of a kernel are "
                "numbers, strings, booleans or None"
            )
    return values


def _run(kernel: str, params: str, inputs: list[torch.Tensor], batched: Sequence[bool] = ()) -> list[torch.Tensor]:
    found, values = resolve(kernel), parameter_values(params)
    with torch.profiler.record_function(f"pyptx::{found.name}"):  # one launch or a loop, decided here for a batch
        plain = [x.detach() for x in inputs]
        runtime = runtime_for(plain)
        if batched:
            return list(found.batch_launcher.run(runtime, plain, batched, values).outputs)
        return list(found.run(runtime, plain, None, values).outputs)


def _fake(kernel: str, params: str, inputs: list[torch.Tensor], batched: Sequence[bool] = ()) -> list[torch.Tensor]:
    found, arrays = resolve(kernel), arrays_of_type(torch.Tensor)
    assert arrays is not None, "torch is an array package"
    env = unify_envs([found.binder.sizes_of(arrays, inputs, batched), found.binder.split(parameter_values(params))[0]])
    batch = (batch_size(inputs, batched),) if batched else ()
    return [
        inputs[0].new_empty((*batch, *shape), dtype=torch_dtype(spec.dtype.name))
        for shape, spec in zip(found.binder.shapes(env), found.out_specs, strict=True)
    ]


def _remember(
    ctx: Any,
    kernel: str,
    params: str,
    batched: Sequence[bool],
    inputs: Sequence[torch.Tensor],
    outputs: Sequence[torch.Tensor],
) -> None:
    ctx.name = resolve(kernel).name


def _no_gradient(ctx: Any, *_grads: Any) -> NoReturn:
    raise BackendError(
        f"kernel {ctx.name} has no backward kernel, so autograd cannot differentiate it",
        hint="use pyptx.differentiable_kernel(forward, backward), or call it under torch.no_grad()",
    )


define_operator("launch", _run, _fake, _remember, _no_gradient)


def has_tangent(x: torch.Tensor) -> bool:
    """Return True if a tensor carries a forward-mode tangent."""
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(x).tangent is not None


def refuse_tangents(kernel: str, inputs: Sequence[torch.Tensor], out: Any, params: Mapping[str, Any]) -> NoReturn:
    """Refuse a call on tensors with tangents, which would be lost.

    Raises:
        LaunchError: always.
    """
    refuse_forward_mode(resolve(kernel).name)


def refuse_forward_mode(name: str) -> NoReturn:
    """Refuse a forward-mode derivative of a kernel.

    Raises:
        LaunchError: always.
    """
    raise BackendError(
        f"kernel {name} has no forward-mode derivative (jvp, jacfwd, dual tensors)",
        hint="detach() its inputs, or use reverse mode with pyptx.differentiable_kernel(forward, backward)",
    )


def extract_input_shapes(specs: Sequence[Any], inputs: Sequence[torch.Tensor]) -> dict[str, int]:
    """Return the symbolic sizes of Tiles, read from the shapes of tensors.

    Raises:
        LaunchError: a shape does not match its Tile, or a name has two sizes.
    """
    return unify_envs([spec.extract_env(x.shape) for spec, x in zip(specs, inputs, strict=False)])
