"""Simulation of the clusters that a sample consists of: all of a small grid, or the few that determine the work of all."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from pyptx.analysis.work.call import Call
from pyptx.analysis.work.footprint import Footprint, Touched, partial_bytes, touched
from pyptx.analysis.work.grid_positions import GridPositions, middle_of
from pyptx.analysis.work.sample import InstructionTotals, Sample, executed_of, line_access, wide_passes
from pyptx.analysis.work.shared_data import SharedData, returned_part
from pyptx.errors import SimulationError
from pyptx.grid_batch import waits_for_memory
from pyptx.sim import ClusterProfile, ClusterProfiler
from pyptx.sim.actions import Atomic, TryCancel

__all__ = ["sample_launch"]

MAX_WHOLE_GRID = 1_000_000  # warp instructions up to which the whole grid is simulated: tens of milliseconds


def sample_launch(call: Call) -> Sample:
    """Simulate as many clusters of a call as its counts require.

    Raises:
        LaunchError: the call cannot be launched, or the simulator core cannot be loaded.
        SimulationError: the kernel traps.
    """
    call.specialization.require_valid()
    observer = call.observer()
    dependent = any(
        isinstance(action, TryCancel)
        or (isinstance(action, Atomic) and any(action.data) and action.address.space in ("global", "generic"))
        for action in observer.program.actions
    ) or waits_for_memory(call.specialization.module)
    try:
        if dependent:  # clusters distribute the work dynamically, or wait for each other
            return _whole(call, call.observer(own=True))
        first = observer.run(range(1))
    except SimulationError as error:
        if error.kind == "read_only":
            observer = call.observer(own=True)
            first = observer.run(range(1))
        elif error.kind == "deadlock":  # it waits for other clusters
            return _whole(call, call.observer(own=True))
        else:
            raise
    try:
        return _rest(call, observer, first)
    except SimulationError as error:
        if error.kind != "read_only":
            raise
    observer = call.observer(own=True)  # the first cluster does not write an array that others write
    return _rest(call, observer, observer.run(range(1)))


def _rest(call: Call, observer: ClusterProfiler, first: ClusterProfile) -> Sample:
    """Simulate further clusters, or all of a small grid."""
    if observer.plan.clusters * int(first.issues.sum()) <= MAX_WHOLE_GRID:
        return _whole(call, observer)
    return _some(call, GridPositions(observer, first))


def _whole(call: Call, observer: ClusterProfiler) -> Sample:
    clusters = observer.plan.clusters
    seen = observer.run(range(clusters))
    totals = InstructionTotals.of(seen)
    one = InstructionTotals(*(column / clusters for column in totals.stack))
    sizes = [{name: touched(bits) for name, bits in found.items() if bits.any()} for found in (seen.read, seen.written)]
    read, written = ({name: size.bytes for name, size in found.items()} for found in sizes)
    footprints = tuple(
        Footprint(
            name,
            bool(writes),
            each,
            (each, each, each),
            partial // clusters,
            0.0 if writes else returned_part(seen, name),
        )
        for writes, found in enumerate(sizes)
        for name, size in found.items()
        for each in (Touched(*(number // clusters for number in size)),)
        for partial in (partial_bytes(seen.written[name], seen.read.get(name)) if writes else 0,)
    )
    how = (
        f"the whole grid was simulated: {clusters} cluster{'s' * (clusters > 1)}"
        if prod(call.plan.cluster) > 1
        else f"the whole grid was simulated: {clusters} CTA{'s' * (clusters > 1)}"
    )
    issues = np.ceil(seen.issues / clusters)
    return Sample(
        observer.program,
        call.plan,
        True,
        True,
        how,
        tuple(count // each for count, each in zip(call.plan.grid, call.plan.cluster, strict=True)),
        totals,
        read,
        written,
        footprints,
        one,
        issues,
        seen.named,
        (one, issues, seen.named),
        seen.barriers,
        seen.free,
        line_access(seen),
        wide_passes(seen),
        seen.fresh_loads.T / executed_of(seen),
        seen.masked_sectors / executed_of(seen),
        seen.atomic_turns,
        seen.atomic_passes / executed_of(seen),
        seen.buffers,
    )


def _some(call: Call, positions: GridPositions) -> Sample:
    axes, uniform = positions.axes()
    weight = {place: prod(axes[k][i] for k, i in enumerate(place)) for place in product(*axes)}
    totals = np.sum([times * positions.stack(place) for place, times in weight.items()], axis=0)
    shared = SharedData.of(positions, axes)
    middle = shared.base if any(shared.base) else tuple(map(middle_of, shared.busy))
    seen = positions.at(middle)
    most = max((*weight, middle), key=lambda place: positions.at(place).issues.sum())
    heaviest = InstructionTotals(*positions.stack(most)), positions.at(most).issues, positions.at(most).named
    footprints = tuple(shared.footprints())
    read, written = (shared.unions(footprints, writes) for writes in (False, True))
    turns, plan = shared.atomic_turns(), positions.observer.plan
    what = "CTAs" if plan.cluster_size == 1 else "clusters"
    how = f"{len(positions.runs)} of {plan.clusters} {what} were simulated" + (
        "; the others are like them" if uniform else "; they differ in ways that do not predict each other"
    )
    return Sample(
        positions.observer.program,
        call.plan,
        False,
        uniform,
        how,
        shared.busy,
        InstructionTotals(*totals),
        read,
        written,
        footprints,
        InstructionTotals(*positions.stack(middle)),
        seen.issues,
        seen.named,
        heaviest,
        seen.barriers,
        seen.free,
        line_access(seen),
        wide_passes(seen),
        seen.fresh_loads.T / executed_of(seen),
        seen.masked_sectors / executed_of(seen),
        turns,
        seen.atomic_passes / executed_of(seen),
        seen.buffers,
    )
