"""Modeled times of candidates, for machines without a GPU: estimates of the performance model, never wall time."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.work.count import total_flops
from pyptx.benchmarking.candidates import Candidate
from pyptx.benchmarking.result import BenchmarkRow
from pyptx.errors import PtxError
from pyptx.tune.statistics import Median

__all__ = ["modeled_rows"]

_NO_MODEL = "not modeled: only pyptx kernels and, in a Triton session, Triton kernels are; measure it on a GPU"


def modeled_rows(
    candidates: Sequence[Candidate],
    args: Sequence[Any],
    params: Mapping[str, Any],
    device: str | Gpu | None,
    baseline: str,
) -> tuple[dict[str, BenchmarkRow], str, str]:
    """Return a row for each candidate, the baseline, and the name of the GPU that the times hold for.

    Args:
        candidates: the candidates, kernels first.
        args, params: of their calls.
        device: the GPU; None: the usual one of the first kernel's target.
        baseline: name of the candidate that speedups refer to; if it has no modeled time, the next candidate of `against`
            that has one takes its place, else the first kernel.
    Raises:
        ShapeError: there is no such GPU.
    """
    rows: dict[str, BenchmarkRow] = {}
    predictions: dict[str, Prediction] = {}
    on = None if device is None else gpu(device)
    for one in candidates:
        if one.kernel is None:
            continue
        try:
            found = estimate(one.kernel, *args, device=on, **params)
        except PtxError as error:
            rows[one.name] = BenchmarkRow(one.name, one.against, problem=str(error).split("\n")[0])
            continue
        on = on or gpu(found.gpu)
        if found.seconds == float("inf"):
            rows[one.name] = BenchmarkRow(one.name, one.against, problem=f"cannot run: {found.summary}")
            continue
        predictions[one.name] = found
        rows[one.name] = _row(one, found)
    for one in candidates:
        if one.kernel is None:
            rows[one.name] = _foreign_row(one, on)
    if baseline not in rows or rows[baseline].seconds is None:
        timed = [one for one in candidates if rows[one.name].seconds is not None]
        baseline = next((one.name for one in [*(o for o in timed if o.against), *timed]), baseline)
    return _with_speedups(rows, predictions, baseline), baseline, on.name if on else "no GPU"


def _row(candidate: Candidate, found: Prediction) -> BenchmarkRow:
    work = {
        "flop/s": total_flops(found.flops),
        "byte/s": found.bytes.get("dram_read", 0) + found.bytes.get("dram_write", 0),
    }
    return BenchmarkRow(
        candidate.name,
        candidate.against,
        "modeled",
        Median((found.seconds, *found.interval)),
        note="; ".join([found.summary, *(["low confidence"] if found.notes else [])]),
        rates={name: amount / found.seconds for name, amount in work.items() if amount},
        resolution=found.resolution,
    )


def _foreign_row(candidate: Candidate, on: Gpu | None) -> BenchmarkRow:
    """Return the row of a callable: the modeled time of the Triton launches it makes in an active session."""
    sessions = sys.modules.get("pyptx.triton.session")  # not imported: there is no session, and Triton may be missing
    session = sessions and sessions.current_session()
    if session is None:
        return BenchmarkRow(candidate.name, candidate.against, problem=_NO_MODEL)
    simulated = gpu(session.target.name)
    if on is not None and simulated.name != on.name:
        problem = f"not modeled: the Triton session simulates {simulated.name}, the other times hold for {on.name}"
        return BenchmarkRow(candidate.name, candidate.against, problem=problem)
    seconds = session.modeled_seconds(candidate.call)
    if not seconds:
        return BenchmarkRow(candidate.name, candidate.against, problem=_NO_MODEL)
    return BenchmarkRow(
        candidate.name,
        candidate.against,
        "modeled",
        Median((seconds, seconds, seconds)),
        note="its Triton launches only",
    )


def _with_speedups(
    rows: Mapping[str, BenchmarkRow], predictions: Mapping[str, Prediction], baseline: str
) -> dict[str, BenchmarkRow]:
    base = rows[baseline].seconds if baseline in rows else None
    if base is None:
        return dict(rows)
    found = {}
    for name, row in rows.items():
        if row.seconds is None:
            found[name] = row
            continue
        value = base.value / row.seconds.value
        note = row.note
        known = [predictions[one].resolution for one in (name, baseline) if one in predictions]
        if name != baseline and known and 1 / max(known) < value < max(known):
            note = f"not distinguished by the model; {note}"
        found[name] = replace(row, speedup=Median((value, value, value)), note=note)
    return found
