"""Differentiable kernels: a forward and a backward kernel combined for autograd.

Eager calls use a torch.autograd.Function, which torch.func differentiates and batches. In graphs of torch.compile and
torch.export the pair is the operator `pyptx::differentiable`, so that a loaded program can be trained, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import torch

from pyptx._version import __version__
from pyptx.errors import ArgumentValueError
from pyptx.runtime.arrays import batch_size
from pyptx.runtime.fingerprint import digest, function_fingerprint
from pyptx.runtime.identity import KernelIdentity, declare, importing_module, register, resolve
from pyptx.torch_support import operator
from pyptx.torch_support.library import define_operator

__all__ = ["DifferentiableKernel", "differentiable_kernel"]


class DifferentiableKernel:
    """A forward kernel whose gradients a backward kernel computes; called like the forward kernel.

    Attributes:
        forward_kernel, backward_kernel: the two kernels.
    """

    forward_kernel: Callable[..., Any]
    backward_kernel: Callable[..., Any]
    __name__: str

    def __init__(
        self,
        forward: Callable[..., Any],
        backward: Callable[..., Any],
        save_for_backward: Callable[..., Any] | None,
        num_grad_inputs: int | None,
    ):
        self.forward_kernel, self.backward_kernel = forward, backward
        self.__name__ = getattr(forward, "__name__", None) or getattr(forward, "name", type(forward).__name__)
        self._save = save_for_backward or _inputs
        self._count = num_grad_inputs
        self._home = importing_module()
        declare(self, "differentiable", self.__name__)

    def __repr__(self) -> str:
        return f"<differentiable {self.forward_kernel!r}, backward {self.backward_kernel!r}>"

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        declare(self, "differentiable", self.__name__)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle the kernels; if one is a lambda or a local function, pickle the identity."""
        if self._home and any("<" in getattr(part, "__qualname__", "") for part in self._functions):
            return resolve, (self.recorded_identity(),)
        return object.__new__, (type(self),), self.__dict__

    @property
    def name(self) -> str:
        """Name of the forward kernel."""
        return self.__name__

    @property
    def identity(self) -> str:
        """Name and content hash of the pair, equal in every process; see `pyptx.runtime.identity`."""
        parts = [getattr(part, "identity", None) or function_fingerprint(part) for part in self._parts]
        return str(KernelIdentity("differentiable", self.__name__, __version__, digest(parts), str(self._count), ""))

    def recorded_identity(self) -> str:
        """Return the identity and register the pair under it, for calls that are recorded by torch."""
        return register(self, self._home)

    recorded_identity._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]

    @property
    def _parts(self) -> tuple[Callable[..., Any], ...]:
        return self.forward_kernel, self.backward_kernel, self._save

    @property
    def _functions(self) -> list[Callable[..., Any]]:
        """The parts that are functions of the user."""
        return [part for part in self._parts if not hasattr(part, "identity")]

    def __call__(self, *inputs: Any, **params: Any) -> Any:
        """Return the outputs of the forward kernel, connected to the autograd graph.

        Raises:
            LaunchError: as for the kernels, or the backward kernel returns more gradients than there are inputs.
        """
        if torch.compiler.is_compiling():
            return operator.issue(torch.ops.pyptx.differentiable, self.recorded_identity(), inputs, params)
        return _Function.apply(self, params, *inputs)

    def outputs(self, inputs: Sequence[Any], params: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the outputs of the forward kernel as a tuple."""
        found = self.forward_kernel(*inputs, **params)
        return tuple(found) if isinstance(found, tuple | list) else (found,)

    def saved(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Sequence[Any]:
        """Return the tensors that the backward kernel takes before the gradients."""
        return self._save(inputs, outputs)

    def gradients(
        self, saved: Sequence[Any], grads: Sequence[Any], inputs: int, params: Mapping[str, Any]
    ) -> list[Any]:
        """Return one gradient per input, None for inputs without one."""
        found = self.backward_kernel(*saved, *(g.contiguous() for g in grads if g is not None), **params)
        found = list(found) if isinstance(found, tuple | list) else [found]
        if self._count is not None:
            found = found[: self._count]
        if len(found) > inputs:
            raise ArgumentValueError(
                f"{self.backward_kernel!r} returns {len(found)} gradients for {inputs} inputs",
                hint="num_grad_inputs= limits the number of gradients",
            )
        return [*found, *[None] * (inputs - len(found))]


def _inputs(inputs: Sequence[Any], _outputs: Sequence[Any]) -> Sequence[Any]:
    return inputs


class _Function(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(pair: DifferentiableKernel, params: Mapping[str, Any], *inputs: Any) -> Any:
        return pair.forward_kernel(*inputs, **params)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pair, params, *arrays = inputs
        _save(ctx, pair, params, arrays, output if isinstance(output, tuple) else (output,))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return None, None, *_gradients(ctx, *grads)

    @staticmethod
    def jvp(ctx: Any, *_tangents: Any) -> NoReturn:
        operator.refuse_forward_mode(ctx.pair.name)


def _save(
    ctx: Any, pair: DifferentiableKernel, params: Mapping[str, Any], inputs: Sequence[Any], outputs: Sequence[Any]
) -> None:
    ctx.pair, ctx.params, ctx.inputs = pair, params, len(inputs)
    ctx.save_for_backward(*pair.saved(tuple(inputs), tuple(outputs)))


def _gradients(ctx: Any, *grads: Any) -> Sequence[Any]:
    return ctx.pair.gradients(ctx.saved_tensors, grads, ctx.inputs, ctx.params)


def _run(pair: str, params: str, inputs: Sequence[torch.Tensor], batched: Sequence[bool] = ()) -> list[torch.Tensor]:
    found, values = resolve(pair), operator.parameter_values(params)
    if not batched:
        return list(found.outputs(inputs, values))
    dims = tuple(0 if one else None for one in batched)
    with _torch_func():
        return list(torch.vmap(lambda *each: found.outputs(each, values), in_dims=dims)(*inputs))


@contextmanager
def _torch_func() -> Iterator[None]:
    """Enable transforms in an operator: a dispatch mode that calls it disables what precedes the mode."""
    excluded = torch._C._dispatch_tls_local_exclude_set()
    for name in ("DynamicLayerFrontMode", "DynamicLayerBackMode", "Batched", "BatchedDecomposition", "VmapMode"):
        excluded = excluded.remove(getattr(torch._C.DispatchKey, f"FuncTorch{name}"))
    with torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded):
        yield


def _fake(pair: str, params: str, inputs: Sequence[torch.Tensor], batched: Sequence[bool] = ()) -> list[torch.Tensor]:
    """Return empty outputs; torch.func is not available under a fake mode, so they are those of an element."""
    if not batched:
        return _run(pair, params, inputs)
    elements = [x.new_empty(x.shape[1:]) if one else x for x, one in zip(inputs, batched, strict=True)]
    return [x.new_empty((batch_size(inputs, batched), *x.shape)) for x in _run(pair, params, elements)]


def _save_by_identity(
    ctx: Any, pair: str, params: str, batched: Sequence[bool], inputs: Sequence[Any], outputs: Sequence[Any]
) -> None:
    found, values = resolve(pair), operator.parameter_values(params)
    ctx.batched = batched
    if not batched:
        _save(ctx, found, values, inputs, outputs)
        return
    ctx.pair, ctx.params, ctx.inputs = found, values, len(inputs)
    ctx.save_for_backward(*inputs, *outputs)


def _gradients_by_identity(ctx: Any, *grads: Any) -> Sequence[Any]:
    return _batched_gradients(ctx, *grads) if ctx.batched else _gradients(ctx, *grads)


def _batched_gradients(ctx: Any, *grads: Any) -> Sequence[Any]:
    """Return the gradients of a batch; for an input that all elements share, their sum."""
    tensors, found = ctx.saved_tensors, []
    given = [k for k, grad in enumerate(grads) if grad is not None]

    def gradients(*arrays: torch.Tensor) -> tuple[torch.Tensor, ...]:
        inputs, outputs, rest = arrays[: ctx.inputs], arrays[ctx.inputs : len(tensors)], arrays[len(tensors) :]
        some = dict(zip(given, rest, strict=True))
        found[:] = ctx.pair.gradients(
            ctx.pair.saved(inputs, outputs), [some.get(k) for k in range(len(grads))], ctx.inputs, ctx.params
        )
        return tuple(gradient for gradient in found if gradient is not None)

    dims = [0 if one else None for one in ctx.batched] + [0] * (len(tensors) - ctx.inputs + len(given))
    made = iter(torch.vmap(gradients, in_dims=tuple(dims))(*tensors, *(grads[k] for k in given)))
    every = [None if gradient is None else next(made) for gradient in found]
    return [
        gradient if gradient is None or one else gradient.sum(0)
        for gradient, one in zip(every, ctx.batched, strict=True)
    ]


define_operator("differentiable", _run, _fake, _save_by_identity, _gradients_by_identity)


def differentiable_kernel(
    fwd: Callable[..., Any],
    bwd: Callable[..., Any],
    *,
    save_for_backward: Callable[..., Any] | None = None,
    num_grad_inputs: int | None = None,
) -> DifferentiableKernel:
    """Combine a forward and a backward kernel for torch.autograd and torch.func.

    Args:
        fwd: kernel, or any function of tensors, that computes the outputs.
        bwd: called with the saved tensors and the gradients of the outputs; returns the gradients of the inputs, in
            order. Parameters of a call are passed to both.
        save_for_backward: function of (inputs, outputs) that returns the tensors passed to `bwd`; default: the inputs.
        num_grad_inputs: number of results of `bwd` that are gradients; default: all.
    """
    return DifferentiableKernel(fwd, bwd, save_for_backward, num_grad_inputs)
