"""From a Python function and its parameter values to a PTX module."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyptx import validate
from pyptx._loc import Place
from pyptx._trace import DYNAMIC_SMEM, STATIC_SMEM_LIMIT, TraceContext, run, trace_scope
from pyptx._variant import Variant
from pyptx.emitter import emit_lines
from pyptx.errors import TraceError
from pyptx.ir.nodes import AddressSize, Function, FunctionDirective, Module, Param, Target, VarDecl, Version
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.isa import targets
from pyptx.parser import parse
from pyptx.specs import Tile
from pyptx.tensor import TensorSpec

__all__ = ["KernelOptions", "Signature", "parse_params", "parse_raw_param", "specialize"]

_POINTER = Param(StateSpace.PARAM, ScalarType.U64, "")


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a kernel's Python function: tensors are positional, template parameters keyword-only."""

    tensors: tuple[str, ...]
    template: Mapping[str, Any]

    @classmethod
    def of(cls, function: Callable) -> Signature:
        tensors, template = [], {}
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY:
                template[name] = None if parameter.default is parameter.empty else parameter.default
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                tensors.append(name)
            else:
                raise TypeError(f"kernel {function.__name__}: *{name} cannot be a kernel parameter; name every tensor")
        return cls(tuple(tensors), template)


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """What `@kernel(...)` was told about the text of the entry."""

    raw_params: tuple[tuple[str, str] | str, ...] = ()
    extern_smem: str | None = None
    directives: tuple[FunctionDirective, ...] = ()
    smem_bytes: int = 0
    linking: LinkingDirective | None = LinkingDirective.VISIBLE
    unit: Any = None                            # pyptx.unit.Unit: what else stands in the file


def specialize(function: Callable, name: str, signature: Signature, specs: Sequence[Tile], options: KernelOptions, *,
               arch: str, version: tuple[int, int] | None, env: Mapping[str, int],
               template: Mapping[str, Any]) -> Variant:
    """Trace `function` and build its module. The body may run twice: shared memory beyond 48 KiB needs another mode.

    Raises:
        TraceError: the body did something that cannot be traced.
    """
    sizes = {k: v for k, v in template.items() if isinstance(v, int) and not isinstance(v, bool)} | dict(env)
    default_version = version or targets.default_version(arch)

    def traced(dynamic: bool) -> TraceContext:
        with trace_scope(ptx_version=default_version, force_dynamic_smem=dynamic, extern_smem_name=options.extern_smem,
                         raw_param_types={p[1]: p[0] for p in options.raw_params if isinstance(p, tuple)}) as ctx:
            run(function, *_tensors(signature.tensors, specs, sizes), **template)
        return ctx

    dynamic = options.smem_bytes > STATIC_SMEM_LIMIT
    ctx = traced(dynamic)
    if not dynamic and ctx.dyn_smem_offset > STATIC_SMEM_LIMIT:
        ctx = traced(True)
    if ctx.faults:
        raise ctx.faults[0]
    if ctx.uses_dynamic_smem and options.extern_smem:
        raise TraceError(f"kernel {name}: smem allocations beyond 48 KiB and extern_smem={options.extern_smem!r} both "
                         "use the dynamic shared memory",
                         hint="take offsets into the extern array, or drop extern_smem")
    entry = Function(True, name, _params(signature, specs, options, ctx), None, ctx.body(), options.linking,
                     options.directives, place=Place(function.__code__, 0))
    directives = (*ctx.module_files, *_extern(options, ctx), entry)
    if options.unit is None:
        module = Module(Version(*default_version), Target((arch,)), AddressSize(64), directives)
    else:
        module = options.unit.around(name, directives, default_version, arch)
    if version is None:
        needed = max(default_version, validate.required_version(module))
        module = replace(module, version=Version(*needed))
    return Variant(module, entry, emit_lines(module), ctx.dyn_smem_offset if ctx.uses_dynamic_smem else 0,
                   tuple(ctx.tma_tensors), {**env, **template})


def _tensors(names: Sequence[str], specs: Sequence[Tile], sizes: Mapping[str, int]) -> list[TensorSpec]:
    tensors = []
    for i, name in enumerate(names):
        if i >= len(specs):
            tensors.append(TensorSpec(name))
            continue
        spec = specs[i]
        known = all(d in sizes for d in spec.symbolic_dims)
        tensors.append(TensorSpec(name, spec.resolve_shape(sizes) if known else None, spec.dtype, spec.layout))
    return tensors


def _params(signature: Signature, specs: Sequence[Tile], options: KernelOptions,
            ctx: TraceContext) -> tuple[Param, ...]:
    """Parameters of the entry in ABI order: tensors, raw parameters, tensor maps."""
    takes_tensors = specs or not options.raw_params
    pointers = [replace(_POINTER, name=n) for n in signature.tensors] if takes_tensors else []
    raw = parse_params(options.raw_params)
    maps = [replace(_POINTER, name=f"{n}_tma_desc") for n in ctx.tma_tensors]
    return (*pointers, *raw, *maps)


def _extern(options: KernelOptions, ctx: TraceContext) -> list[VarDecl]:
    name = options.extern_smem or (DYNAMIC_SMEM if ctx.uses_dynamic_smem else None)
    if name is None:
        return []
    return [VarDecl(StateSpace.SHARED, ScalarType.B8, name, 0, 128, None, LinkingDirective.EXTERN)]


_RAW = re.compile(r"(?P<scalar>\w+)(?P<ptr>\.ptr(\.(?P<space>global|shared|const|local|param))?)?"
                  r"(?P<rest>(\.(align|palign|array)\d+)*)")


def parse_params(params: Iterable[tuple[str, str] | str]) -> tuple[Param, ...]:
    """Parameters of (raw type string, name) pairs, or of whole declarations such as ".reg .f32 x".

    Raises:
        ValueError: a type string or a declaration cannot be read.
    """
    return tuple(_declared_param(p) if isinstance(p, str) else parse_raw_param(*p) for p in params)


def _declared_param(text: str) -> Param:
    try:
        (function,) = parse(f".version 8.0\n.target sm_90\n.func f({text});").functions
        (param,) = function.params
    except ValueError as refused:
        raise ValueError(f"parameter {text!r} is no declaration such as '.param .u64 .ptr .global x'") from refused
    return replace(param, formatting=None)


def parse_raw_param(text: str, name: str) -> Param:
    """The parameter of a raw type string: `u32`, `u64.ptr.global.palign16`, `b8.align64.array128`.

    Raises:
        ValueError: the string is not of the form <scalar>[.ptr][.<space>][.align<N>][.palign<N>][.array<N>].
    """
    match = _RAW.fullmatch(text)
    if match is None:
        raise ValueError(f"raw parameter {name!r} has type {text!r}; expected "
                         "<scalar>[.ptr][.<space>][.align<N>][.palign<N>][.array<N>], for instance 'u32' or "
                         "'b8.align64.array128'")
    numbers = {word: int(n) for word, n in re.findall(r"\.(align|palign|array)(\d+)", match["rest"])}
    pointer = match["ptr"] is not None
    space = StateSpace.from_ptx(match["space"]) if match["space"] else None
    return Param(StateSpace.PARAM, ScalarType.from_ptx(match["scalar"]), name, numbers.get("array"),
                 numbers.get("align"), space, numbers.get("palign", 1) if pointer else None)
