"""How long a launch will take: a model, never a measurement.

    prediction = estimate(gemm, a, b, BM=128)           # assemble, count, predict
    prediction = predict(compiled, plan, work, gpu)     # the last of the three steps
"""

from __future__ import annotations

from typing import Any

from pyptx.analysis.calls import Call, call_of
from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.occupancy import occupancy
from pyptx.analysis.prediction import Prediction
from pyptx.analysis.work import Work, work_of
from pyptx.compiled import Compiled
from pyptx.kernel import Kernel
from pyptx.program import Entry
from pyptx.runtime import LaunchPlan

__all__ = ["Prediction", "estimate", "estimate_call", "predict"]

NORM = 3.0                      # of the p-norm that servers are combined with


def estimate(kernel: Kernel | Entry, *args: Any, device: str | Gpu | None = None, **params: Any) -> Prediction:
    """Assemble a call, count its work, and predict its time.

    Args:
        kernel, args, params: as for `call_of`.
        device: a GPU of the table; default: the usual one of the kernel's target.
    Raises:
        CompileError: it cannot be assembled.
        LaunchError, TypeError: it could not be called like that.
        SimulationError: it traps, or cannot be simulated.
    """
    return estimate_call(call_of(kernel, *args, **params), device)


def estimate_call(call: Call, device: str | Gpu | None = None) -> Prediction:
    """The same of a call that is bound already."""
    compiled = call.compiled()
    return predict(compiled, call.plan, work_of(call), device or compiled.target)


def predict(compiled: Compiled, launch: LaunchPlan, work: Work, device: str | Gpu | None = None) -> Prediction:
    """Time of a launch.

    Args:
        compiled: its machine code.
        launch: its geometry.
        work: what it does, counted at these sizes.
        device: a GPU of the table; default: the usual one of the target.
    Raises:
        ShapeError: there is no such GPU in the table.
    """
    on = gpu(device or compiled.target)
    used = compiled.resources[launch.entry.name]
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    fits = occupancy(on.target, threads=threads, registers=used.registers, shared_bytes=used.shared_bytes,
                     dynamic_shared_bytes=launch.smem_bytes)
    if not fits.blocks:
        return Prediction(float("inf"), {}, "resources", fits.why, fits, float("inf"), on.name)
    waves = work.ctas / (fits.blocks * on.sms)
    busy = -(-work.ctas // on.sms) * on.sms / work.ctas             # the SM with the most blocks, over the average
    terms: dict[str, float] = {}
    for name, operations in work.flops.items():
        pipe, kind = name.split(".")
        rate = on.flops_per_s(pipe, kind)
        term = "tensor" if pipe != "core" else {"mufu": "mufu", "s32": "alu"}.get(kind, "fma")
        if kind == "mufu":
            rate = on.core["mufu"] * on.sms * on.clock_hz
        elif kind == "s32":
            rate = on.core["i32.mul"] * on.sms * on.clock_hz
        if rate:
            terms[term] = terms.get(term, 0) + busy * operations / rate
    terms["shared"] = busy * work.bytes["shared"] / on.shared_bytes_per_s
    terms["l2"] = work.bytes["l2"] / on.l2_bytes_per_s
    terms["dram"] = work.dram_bytes / (on.dram_reached_bytes_per_s or on.dram_bytes_per_s)
    terms["launch"] = on.launch_seconds
    bound = max(terms, key=terms.get)
    seconds = sum(term ** NORM for name, term in terms.items() if name != "launch") ** (1 / NORM) + on.launch_seconds
    return Prediction(seconds, terms, bound, f"{bound} {terms[bound] / seconds:.0%}".replace("%", " %"), fits, waves,
                      on.name)
