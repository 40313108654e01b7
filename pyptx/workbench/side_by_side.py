"""Comparison of several kernels: references, targets, configurations or versions, one column each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyptx.assembly import Assembly
from pyptx.errors import CompileError, OperandError, OptionError, PtxError
from pyptx.jit import JitKernel
from pyptx.views.comparisons.build import Candidate, table_of
from pyptx.views.comparisons.comparison import ComparisonTable
from pyptx.views.diffs.diff import DiffOperand
from pyptx.workbench.comparing import operand_of

__all__ = ["compare"]


def compare(
    *references: Any,
    targets: Sequence[str] | None = None,
    configs: Sequence[Mapping[str, Any]] | None = None,
    args: Sequence[Any] = (),
    time: bool = False,
    device: Any = None,
    **params: Any,
) -> ComparisonTable:
    """Compare kernels side by side: registers, spills, occupancy, instructions and, with `time=True`, modeled time.

    Args:
        references: as for `pyptx.diff`, two or more: kernels, compiled code, files, versions (`*history.versions("k")[-5:]`);
            or one kernel, with `targets` or `configs`.
        targets: compile the kernel for each, such as ("sm_80", "sm_90a", "sm_100a").
        configs: parameters of each column, such as [{"BK": 16}, {"BK": 32}].
        args: arrays of the launch that is timed; default: random ones of the sizes in `params`.
        time: also simulate the launch and show its modeled time. A file or version has none.
        device: the GPU of the modeled time; default: the usual one of each target.
        params: sizes and template parameters of all columns.
    Returns:
        The table: .text(), .html(), .page(), .to_json(), .against(column). A column that cannot be compiled says why.
    Raises:
        OptionError: fewer than two columns, or `targets`, `configs` or `params` of something that is not a kernel.
        OperandError, VersionError, OSError: as for `pyptx.diff`.
    Examples:
        >>> @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
        ... def double(x, y):
        ...     i = ptx.global_id()
        ...     y[i] = x[i] + x[i]
        >>> pyptx.compare(double, targets=("sm_80", "sm_90a"), N=1024).columns[0].title
        'sm_80'
    """
    made = list(_candidates(references, targets, configs, args, time, device, params))
    if len(made) < 2:
        raise OptionError(
            "a comparison needs two or more columns",
            hint="pass several kernels or versions, or one kernel with targets=(...) or configs=[...]",
        )
    names = dict.fromkeys(candidate.title.partition("@")[0] for candidate in made)
    common = references[0].name if len(references) == 1 else next(iter(names)) if len(names) == 1 else "Comparison"
    return table_of(common, made)


def _candidates(
    references: Sequence[Any],
    targets: Sequence[str] | None,
    configs: Sequence[Mapping[str, Any]] | None,
    args: Sequence[Any],
    time: bool,
    device: Any,
    params: Mapping[str, Any],
) -> Iterator[Candidate]:
    for reference in references:
        if isinstance(reference, JitKernel):
            for target in targets or (None,):
                for config in configs or ({},):
                    words = [*([target] if target else []), *(f"{name}={value}" for name, value in config.items())]
                    title = " ".join([*([] if words and len(references) == 1 else [reference.name]), *words])
                    yield _of_kernel(reference, title, target, {**params, **config}, args, time, device)
            continue
        if targets or configs or params:
            given = "targets" if targets else "configs" if configs else ", ".join(params)
            raise OptionError(
                f"{given} applies to kernels; {_name(reference)} is compiled already", hint="compare it as it is"
            )
        operand = operand_of(reference)
        yield Candidate(operand.compiled.name, operand.compiled.target, operand)


def _of_kernel(
    kernel: JitKernel,
    title: str,
    target: str | None,
    params: Mapping[str, Any],
    args: Sequence[Any],
    time: bool,
    device: Any,
) -> Candidate:
    """Compile a kernel for a column; its errors are the column's problem, except wrong parameters."""
    try:
        specialization = kernel.specialize(arch=target, **kernel._sized(args, params))
        compiled = specialization.compile()
    except OperandError:
        raise
    except PtxError as error:
        return Candidate(title, target or kernel.arch, None, problem=_sentence(error))
    operand = DiffOperand(compiled, kernel.block_of(specialization), max(kernel.smem, specialization.dynamic_bytes))
    seconds, problem = _seconds(kernel, specialization, compiled, args, params, device) if time else (None, None)
    return Candidate(title, compiled.target, operand, seconds, problem)


def _seconds(
    kernel: JitKernel,
    specialization: Any,
    compiled: Assembly,
    args: Sequence[Any],
    params: Mapping[str, Any],
    device: Any,
) -> tuple[float | None, str | None]:
    """Return the modeled time of a launch of code for another target, or why there is none."""
    from pyptx.analysis.model.estimate import predict  # late: NumPy takes time to load
    from pyptx.analysis.work.call import bind_call
    from pyptx.analysis.work.count import work_of

    try:
        call = bind_call(kernel, *args, **params)
        if call.specialization.entry != specialization.entry:
            return None, f"no modeled time: for {compiled.target} the kernel writes other PTX than for {kernel.arch}"
        return predict(compiled, call.plan, work_of(call), device or compiled.target).seconds, None
    except PtxError as error:
        return None, f"no modeled time: {_sentence(error)}"


def _sentence(error: PtxError) -> str:
    """Return the first line of an error; of several diagnostics, the first one."""
    found = error.diagnostics if isinstance(error, CompileError) else ()
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return (found[0].message if found else error.message or str(error)).split("\n")[0] + more


def _name(reference: Any) -> str:
    return getattr(reference, "name", None) or str(reference)
