"""Candidates of a benchmark: kernels and other callables, with their names."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyptx.benchmarking.function_source import NAME, NamedFunction
from pyptx.errors import OperandError, OptionError, UnknownNameError
from pyptx.jit import JitKernel
from pyptx.program import Entry

__all__ = ["Candidate", "candidates_of"]

# Callables that have a name of their own, as functions of the arguments.
_NAMED: Mapping[str, tuple[str, Callable[..., Any]]] = {"cublas": ("cuBLAS (matmul)", operator.matmul)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that is timed.

    Attributes:
        name: its name in the result.
        call: runs it on the arguments of the benchmark.
        function: the function that `call` calls.
        kernel: the kernel or entry that `call` launches; None for other callables.
        against: it was given in `against`.
    """

    name: str
    call: Callable[[], Any]
    function: Callable[..., Any]
    kernel: JitKernel | Entry | None
    against: bool


def candidates_of(
    kernels: Any, against: Any, args: tuple[Any, ...], params: Mapping[str, Any]
) -> tuple[Candidate, ...]:
    """Return the candidates, kernels first.

    Args:
        kernels, against: a kernel, a callable, a list of them, or a mapping from names; in `against` also "cublas", and the
            name of a function of a package, "torch.matmul", which is imported where it runs.
        args: arguments of every candidate.
        params: template parameters of kernels.
    Raises:
        OperandError: one is not callable.
        OptionError: there are no kernels, or two have one name.
        UnknownNameError: a text that is neither "cublas" nor the name of a function.
    """
    found = [*_made(kernels, args, params, False), *_made(against, args, params, True)]
    if not found or found[0].against:
        raise OptionError("no kernel was given", hint="pyptx.benchmark(gemm, (a, b), against=torch.matmul)")
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise OptionError(
            f"two candidates are named {twice[0]!r}", hint="name them with a mapping: {'old': gemm_1, 'new': gemm_2}"
        )
    return tuple(found)


def _made(given: Any, args: tuple[Any, ...], params: Mapping[str, Any], against: bool) -> Iterator[Candidate]:
    if given is None:
        return
    if isinstance(given, Mapping):
        named = list(given.items())
    else:
        several = given if isinstance(given, list | tuple) else [given]
        named = [(None, one) for one in several]
    for name, one in named:
        label = str(name or _name(one))
        if isinstance(one, str):
            if not against or not (one in _NAMED or NAME.fullmatch(one)):
                known = f"{', '.join(map(repr, _NAMED))}, or the name of a function such as 'torch.matmul'"
                raise UnknownNameError(f"{one!r} is not a known candidate; expected {known}")
            label, one = _NAMED.get(one, (one, NamedFunction(one)))
            label = str(name or label)
        kernel = one if isinstance(one, JitKernel | Entry) else None
        function = one.launch if isinstance(one, Entry) else one
        if not callable(function):
            raise OperandError(f"cannot time {type(one).__name__}; expected a kernel, an entry or a function")
        values = params if kernel is not None else {}
        yield Candidate(label, _bound(function, args, values), function, kernel, against)


def _bound(function: Callable[..., Any], args: tuple[Any, ...], params: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: function(*args, **params)


def _name(one: Any) -> str:
    """Return the name of a kernel, or of a function with its package if it has one: "torch.matmul"."""
    if isinstance(one, JitKernel | Entry):
        return one.name
    name = getattr(one, "__name__", None) or type(one).__name__
    package = (getattr(one, "__module__", None) or "").partition(".")[0]
    if not package:  # built in: torch.matmul's type is a builtin without a module
        package = type(getattr(one, "__self__", None)).__module__.partition(".")[0]
    return f"{package}.{name}" if package in ("torch", "numpy", "jax", "cupy") else str(name)
