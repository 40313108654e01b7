"""`benchmark`: times kernels, and compares them with other callables, on one GPU in one run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from pyptx import ledger
from pyptx.analysis.gpus import Gpu
from pyptx.analysis.work.call import bind_call
from pyptx.benchmarking.candidates import Candidate, candidates_of
from pyptx.benchmarking.far import far_rows, with_far_functions
from pyptx.benchmarking.measured import CallTimer, Capture, race, summary
from pyptx.benchmarking.modeled import modeled_rows
from pyptx.benchmarking.outputs import Comparison, compare_outputs
from pyptx.benchmarking.recording import measurements_of
from pyptx.benchmarking.result import Benchmark, BenchmarkRow
from pyptx.errors import BackendError, PtxError
from pyptx.jit import JitKernel
from pyptx.program import Entry
from pyptx.runtime import runtime_for
from pyptx.runtime.arrays import Arrays, arrays_of
from pyptx.runtime.cuda import BACKEND
from pyptx.runtime.cuda.driver import SIMULATED, Device
from pyptx.tune.build import code_hash
from pyptx.tune.clusters import selected_machine
from pyptx.tune.correctness import Tolerance
from pyptx.tune.nvml import Conditions
from pyptx.tune.problem import Problem, call_arguments
from pyptx.tune.race import RaceSettings

__all__ = ["benchmark"]

_MEASURED = (
    "Medians of {rounds} interleaved rounds in random order with a cold L2, by events or graphs; 95 % intervals; p of the Wilcoxon "
    "signed-rank test over the rounds"
)
_MODELED = (
    "Times of the performance model, not of a GPU or the simulator; range: 80 % of measured times are expected in it"
)
_SIMULATED = "Times of the performance model on a simulated GPU; range: 80 % of measured times are expected in it"


def benchmark(
    kernels: Any,
    args: Any = (),
    *,
    against: Any = None,
    reference: Any = None,
    check: bool | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    flops: float | None = None,
    dram_bytes: float | None = None,
    device: str | Gpu | None = None,
    precision: float = 0.005,
    rounds: tuple[int, int] = (9, 50),
    record: bool | str = True,
    **params: Any,
) -> Benchmark:
    """Time kernels against each other and against other callables, on the GPU that holds the arrays.

    On a GPU the candidates run in rounds, once in each in a new random order, every run with a cold L2. A round during
    which the baseline drifts, the clock falls or the GPU throttles is repeated. Speedups are medians of the rounds with a
    95 % interval, and come with the p-value of a signed-rank test. For arrays in host memory the times of kernels are
    those of the performance model, and so are those of Triton kernels in a session of `pyptx.triton.simulate`; the result
    says so. The time that the simulator takes is never shown. While `pyptx.use` selects another machine, kernels are timed
    on its GPU, in one run with the functions of `against`, which are defined there again from their source.

    Args:
        kernels: a kernel or an entry, a list of them, or a mapping from names; functions are allowed, too.
        args: arguments of all candidates: arrays, or sizes for random ones in host memory, {"M": 4096, "N": 4096}.
        against: functions of `args` to compare with: `torch.matmul`, {"Triton": lambda a, b: ...}, "cublas" (the product of
            matrices by the package of the arrays). The first one is the baseline; without any, the first kernel is.
        reference: function of `args`, or arrays, that outputs are compared with; None: the first of `against`.
        check: compare outputs before timing, and do not time wrong candidates; None: always on a GPU, on the simulator up to
            4 Mi elements.
        rtol, atol: permitted difference of outputs; default: that of `tune`.
        flops, dram_bytes: work of a call, to show rates; modeled times have the counted work.
        device: the GPU of modeled times, "h200"; None: the usual one of the kernel's target.
        precision: relative half-width of all intervals at which the rounds end.
        rounds: least and most rounds.
        record: keep the times of kernels in the ledger (`pyptx.ledger`); a text is kept as what recorded them.
        params: template parameters of the kernels.
    Returns:
        The result: .rows, .text(), .to_markdown(), .html(), .to_json(); notebooks show a table.
    Raises:
        OptionError, OperandError, UnknownNameError: the candidates are not valid.
        BackendError: the arrays are in host memory, but `pyptx.use` selects a GPU.
        DeviceError: a kernel faulted.
    Examples:
        >>> @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
        ... def double(x, y):
        ...     i = ptx.global_id()
        ...     y[i] = x[i] + x[i]
        >>> result = pyptx.benchmark(double, np.ones(1024, np.float32), against={"NumPy": lambda x: x + x})
        >>> result.kind, result["double"].correct
        ('modeled', True)
    """
    values = _arguments(kernels, args, params)
    candidates = candidates_of(kernels, against, values, params)
    baseline = next((one.name for one in candidates if one.against), candidates[0].name)
    machine = selected_machine()
    gpu = _gpu_of(values) if machine is None else None
    candidates = candidates if machine is None else with_far_functions(machine, candidates, values)
    compared, checked = compare_outputs(candidates, values, reference, check, Tolerance(rtol, atol))
    right = [one for one in candidates if compared.get(one.name, Comparison(None)).problem is None]
    conditions: Mapping[str, Any] = {}
    driver = ""
    settings = RaceSettings(min_rounds=rounds[0], max_rounds=rounds[1], precision=precision, eliminate=False)
    there = machine.device() if machine is not None and machine.measures else None
    if machine is not None and there is not None and not there["simulated"]:
        rows, conditions, baseline = far_rows(machine, values, right, params, baseline, settings)
        kind, method = "measured", f"{_MEASURED.format(rounds=conditions['rounds'])}; on {machine.name}"
        on, driver = there["name"], there["driver"]
    elif gpu is None or gpu.is_simulated:
        simulated = gpu.name if gpu else there["name"] if there else None
        name = simulated.removesuffix(SIMULATED).rstrip() if simulated else None
        rows, baseline, on = modeled_rows(right, values, params, device or name, baseline)
        kind, method, on = "modeled", _SIMULATED if name else _MODELED, f"{on} {SIMULATED}" if name else on
    else:
        rows, conditions = _measured(gpu, values, right, baseline, settings)
        kind, method = "measured", _MEASURED.format(rounds=conditions["rounds"])
        on, driver = gpu.name, str(BACKEND.driver.version)
    rates = {name: value for name, value in (("flop/s", flops), ("byte/s", dram_bytes)) if value is not None}
    result = Benchmark(
        title=f"{candidates[0].name}({_shapes(values)})",
        rows=tuple(_completed(one, rows, compared, rates, values, params) for one in candidates),
        baseline=baseline,
        kind=kind,
        gpu=on,
        driver=driver,
        method=method,
        conditions=conditions,
        checked=checked,
        date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )
    source = record if isinstance(record, str) else "benchmark"
    made = measurements_of(result, candidates, values, params, source)
    return replace(result, measurements=tuple(map(ledger.record, made) if record else made))


def _arguments(kernels: Any, args: Any, params: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a call; for sizes, random arrays."""
    if not isinstance(args, Mapping):
        return call_arguments(args)
    listed = kernels.values() if isinstance(kernels, Mapping) else kernels if isinstance(kernels, list) else [kernels]
    kernel = next((one for one in listed if isinstance(one, JitKernel)), None)
    if kernel is None:
        raise BackendError("sizes need a kernel with in_specs; pass arrays")
    return Problem(kernel, args, params).inputs


def _gpu_of(values: Sequence[Any]) -> Device | None:
    """Return the GPU that the candidates run on; None for arrays in host memory, which run on the simulator."""
    runtime = runtime_for(values)
    if runtime.name == "sim":
        return None
    if runtime.name != "cuda":
        raise BackendError(
            f"benchmark does not measure on the backend {runtime.name!r}", hint="pass arrays of a GPU of this machine"
        )
    if not (runtime.device or "").startswith("cuda"):
        raise BackendError(
            "the arrays are in host memory; a call would time their copies to the GPU",
            hint="pass arrays of the GPU, such as torch tensors on 'cuda'",
        )
    return BACKEND.driver.device(int((runtime.device or "").partition(":")[2] or 0))


def _measured(
    gpu: Device, values: Sequence[Any], candidates: Sequence[Candidate], baseline: str, settings: RaceSettings
) -> tuple[dict[str, BenchmarkRow], dict[str, Any]]:
    """Race the candidates on a GPU; return the rows by name, and the operating conditions."""
    driver = BACKEND.driver
    package, first = next((found, value) for value in values if (found := arrays_of(value)) is not None)
    with driver.on(gpu):
        conditions = Conditions(driver.call("cuDeviceGetUuid", gpu.handle).bytes)
        stream = driver.api.CUstream(package.stream(first))
        calls = {one.name: one.call for one in candidates}
        timer = CallTimer(driver, gpu, stream, calls, conditions.now, _capture(package, gpu))
        rows, log = race(timer, candidates, baseline, settings, note=lambda name: timer.notes.get(name, ""))
    return rows, summary(log)


def _capture(package: Arrays, gpu: Device) -> Capture | None:
    """Return the context for capturing calls with the arrays of a package; None for packages other than torch."""
    if package.package != "torch":
        return None
    return partial(import_module("pyptx.torch_support.from_host").capturing, f"cuda:{gpu.ordinal}", None)


def _completed(
    candidate: Candidate,
    rows: Mapping[str, BenchmarkRow],
    compared: Mapping[str, Comparison],
    work: Mapping[str, float],
    values: Sequence[Any],
    params: Mapping[str, Any],
) -> BenchmarkRow:
    """Return a candidate's row with the result of its comparison, its rates, and the hash of its machine code."""
    comparison = compared.get(candidate.name)
    row = rows.get(candidate.name)
    if row is None:
        assert comparison is not None, "it has no row because its outputs are wrong"
        row = BenchmarkRow(candidate.name, candidate.against, problem=comparison.problem)
    if comparison is not None:
        row = replace(row, correct=comparison.problem is None if comparison.ran else None, error=comparison.error)
    if row.seconds is not None:
        given = {name: amount / row.seconds.value for name, amount in work.items()}
        row = replace(row, rates={**row.rates, **given})
    return row if candidate.kernel is None else replace(row, cubin_hash=_code_hash(candidate.kernel, values, params))


def _code_hash(kernel: JitKernel | Entry, values: Sequence[Any], params: Mapping[str, Any]) -> str | None:
    """Return the hash of the machine code of a call; None if it cannot be assembled, which the row says."""
    try:
        return code_hash(bind_call(kernel, *values, **params).compiled().cubin)
    except PtxError:
        return None


def _shapes(values: Sequence[Any]) -> str:
    """Return types and shapes of arrays, and other arguments as they are."""
    words = []
    for value in values:
        package = arrays_of(value)
        shape = "" if package is None else "x".join(map(str, value.shape))
        words.append(repr(value) if package is None else f"{package.dtype_name(value)}[{shape}]")
    return ", ".join(words)
