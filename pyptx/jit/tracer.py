"""Tracing: from a kernel declaration and parameter values to a PTX module."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import prod
from typing import Any

from pyptx import validate
from pyptx._gc import gc_paused
from pyptx._loc import SourceLocation, raised_at
from pyptx.emitter import emit_lines
from pyptx.errors import PtxError, TraceError
from pyptx.ir.nodes import AddressSize, Directive, Function, FunctionDirective, Module, Param, Target, VarDecl, Version
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.isa import targets
from pyptx.jit.declaration import Declaration
from pyptx.jit.specialization import ArtifactType, Specialization, assembly_type
from pyptx.jit.traced import Traced
from pyptx.jit.uncalled import forgotten_calls
from pyptx.specs import Tile
from pyptx.tensor import TensorSpec
from pyptx.tracing.trace import (
    DYNAMIC_SMEM,
    EXTERN_SMEM_ALIGN,
    STATIC_SMEM_LIMIT,
    StaticLimitExceeded,
    TraceContext,
    run,
    trace_scope,
)

__all__ = ["trace_kernel"]


def trace_kernel(
    kernel: Declaration,
    *,
    arch: str,
    version: tuple[int, int] | None,
    env: Mapping[str, int],
    template: Mapping[str, Any],
    artifact: ArtifactType = assembly_type,
) -> Specialization:
    """Trace the function and build its module.

    The body may run twice: the allocation that exceeds 48 KiB ends the first trace, because shared memory beyond that
    is dynamic from the start.

    Args:
        arch, version: override the declared ones.
        env: sizes of the symbolic dimensions that are known.
        template: a value for every template parameter.
        artifact: returns the class of compile results.
    Raises:
        TraceError: the body cannot be traced.
    """
    with gc_paused():
        return _trace(kernel, arch, version, env, template, artifact)


def _trace(
    kernel: Declaration,
    arch: str,
    version: tuple[int, int] | None,
    env: Mapping[str, int],
    template: Mapping[str, Any],
    artifact: ArtifactType,
) -> Specialization:
    sizes = {k: v for k, v in template.items() if isinstance(v, int) and not isinstance(v, bool)} | dict(env)
    default_version = version or targets.default_version(arch)

    def traced(dynamic: bool) -> TraceContext:
        with trace_scope(
            ptx_version=default_version,
            force_dynamic_smem=dynamic,
            static_smem_limit=None if dynamic else STATIC_SMEM_LIMIT,
            extern_smem_name=kernel.extern_smem,
            debug=kernel.debug,
            maps_by_value=kernel.tensor_maps == "value",
            raw_param_types={p[1]: p[0] for p in kernel.raw_params if isinstance(p, tuple)},
            shared_limit=targets.parse(arch).shared_memory_limit,
            threads=_threads(kernel, env, template),
        ) as ctx:
            try:
                result = run(kernel.function, *_tensors(kernel, sizes), **template)
            except TypeError as error:
                if missing := _without_sizes(error, kernel, sizes):
                    raise missing from None
                raise
        ctx.end()
        for text, place in forgotten_calls(kernel.function, ctx.statements):
            ctx.fail(f"`{text}` without a call has no effect", place, f"write `{text}(...)`")
        if result is not None and kernel.function.__name__ != "<lambda>":
            ctx.fail(
                f"kernel {kernel.name} returns {result!r:.80}",
                SourceLocation(kernel.function.__code__, 0),
                "a kernel returns nothing; it stores its results in the arrays of out_specs, which the function takes "
                "after those of in_specs",
            )
        return ctx

    dynamic = kernel.smem_bytes > STATIC_SMEM_LIMIT
    ctx = None
    with suppress(StaticLimitExceeded):
        ctx = traced(dynamic)
    if ctx is None or (not dynamic and ctx.dyn_smem_offset > STATIC_SMEM_LIMIT):  # a bare `except:` may have caught it
        ctx = traced(True)
    if ctx.faults:
        raise ctx.faults[0]
    if ctx.uses_dynamic_smem and kernel.extern_smem:
        raise TraceError(
            f"kernel {kernel.name}: smem allocations beyond 48 KiB and extern_smem="
            f"{kernel.extern_smem!r} both use the dynamic shared memory",
            hint="take offsets into the extern array, or drop extern_smem",
        )
    entry = Function(
        True,
        kernel.name,
        _params(kernel, ctx),
        None,
        ctx.body(),
        kernel.linking,
        _directives(kernel, env, template),
        place=SourceLocation(kernel.function.__code__, 0),
    )
    directives = (*ctx.module_files, *_externs(ctx), *_extern(kernel, ctx), entry)
    if kernel.unit is None:
        module = Module(Version(*default_version), Target((arch,)), AddressSize(64), directives)
    else:
        module = kernel.unit.around(kernel.name, directives, default_version, arch)
    if version is None:
        needed = validate.required_version(module, default_version)
        module = Module(Version(*needed), module.target, module.address_size, module.directives)
    ctas, place = ctx.cluster_needed or (None, None)
    return Specialization(
        Traced(module, entry, emit_lines(module), cluster_place=place),
        ctx.dyn_smem_offset if ctx.uses_dynamic_smem else 0,
        tuple(ctx.tma_tensors),
        {**env, **template},
        artifact,
        cluster_needed=ctas,
    )


def _threads(kernel: Declaration, env: Mapping[str, int], template: Mapping[str, Any]) -> int | None:
    """Return the declared threads of a CTA; None if there are none, or they depend on sizes that are not given."""
    try:
        found = prod(kernel.extent("block" if kernel.reqntid is None else "reqntid", env, template))
    except PtxError:  # raised again where a launch needs it
        return None
    return found if found > 1 else None


def _directives(kernel: Declaration, env: Mapping[str, int], template: Mapping[str, Any]) -> tuple[Any, ...]:
    if kernel.reqntid is None:
        return kernel.directives
    return (FunctionDirective("reqntid", kernel.extent("reqntid", env, template)),)


def _without_sizes(error: TypeError, kernel: Declaration, sizes: Mapping[str, int]) -> TraceError | None:
    """Return the error for a TypeError caused by missing sizes: a tensor with a missing size has shape None."""
    known = list(dict.fromkeys(size for spec in kernel.specs for size in spec.symbolic_dims))
    missing = [size for size in known if size not in sizes]
    if not missing or "NoneType" not in str(error):
        return None
    which, them = (
        (f"sizes {', '.join(missing[:-1])} and {missing[-1]} are", "them")
        if missing[1:]
        else (f"size {missing[0]} is", "it")
    )
    every = [f"{size}=..." for size in known]
    return TraceError(
        f"kernel {kernel.name}: the {which} not given, and a tensor has no shape without {them}",
        at=raised_at(error),
        hint=f"give {them}, as in {kernel.name}.compile({', '.join(every)}), or -p {' '.join(every)} "
        "after %%ptxkernel and on the command line",
    )


def _tensors(kernel: Declaration, sizes: Mapping[str, int]) -> list[TensorSpec]:
    """Return the placeholders that the function takes in place of arrays."""
    tensors = [TensorSpec(name) for name in kernel.tensors]
    for i, spec in enumerate(kernel.specs):
        known = all(dim in sizes for dim in spec.symbolic_dims)
        shape = spec.resolve_shape(sizes) if known else None
        has_map = spec.tma_box is not None or spec.tensor_map is not None
        tensors[i] = TensorSpec(kernel.tensors[i], shape, spec.dtype, spec.layout, _box(spec, shape, sizes), has_map)
    return tensors


def _box(spec: Tile, shape: tuple[int, ...] | None, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the box of a TMA copy in elements, as the tensor map will have it; None if it is not known here."""
    if spec.tma_box is None or shape is None or any(isinstance(n, str) and n not in sizes for n in spec.tma_box):
        return None
    box = tuple(n if isinstance(n, int) else sizes[n] for n in spec.tma_box)
    return box if spec.tma_whole or len(box) != len(shape) else tuple(map(min, box, shape))


def _params(kernel: Declaration, ctx: TraceContext) -> tuple[Param, ...]:
    """Return the parameters of the entry in ABI order: tensors, raw parameters, tensor maps."""
    takes_tensors = kernel.specs or not kernel.raw_params
    aligned = [spec.align for spec in kernel.specs] or [None] * len(kernel.tensors)
    pointers = [_pointer(*one) for one in zip(kernel.tensors, aligned, strict=False)] if takes_tensors else []
    make_map = _map if ctx.maps_by_value else _pointer
    maps = [make_map(f"{name}_tma_desc") for name in ctx.tma_tensors]
    return (*pointers, *kernel.params, *maps)


def _pointer(name: str, align: int | None = None) -> Param:
    if align is None:
        return Param(StateSpace.PARAM, ScalarType.U64, name)
    return Param(StateSpace.PARAM, ScalarType.U64, name, ptr_state_space=StateSpace.GLOBAL, ptr_alignment=align)


def _map(name: str) -> Param:
    """Return the parameter of a tensor map by value."""
    return Param(StateSpace.PARAM, ScalarType.B8, name, array_size=128, alignment=64)


def _externs(ctx: TraceContext) -> tuple[Directive, ...]:
    """Return the declarations of the external functions that the body calls."""
    if not ctx.externs:
        return ()
    from pyptx.parser import parse  # most kernels need no parser

    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    return parse(head + "\n".join(ctx.externs.values()) + "\n").directives


def _extern(kernel: Declaration, ctx: TraceContext) -> list[VarDecl]:
    if ctx.uses_dynamic_smem:
        name, align = DYNAMIC_SMEM, ctx.dyn_smem_align
    elif kernel.extern_smem:
        name, align = kernel.extern_smem, EXTERN_SMEM_ALIGN
    else:
        return []
    return [VarDecl(StateSpace.SHARED, ScalarType.B8, name, 0, align, None, LinkingDirective.EXTERN)]
