"""Performance notes: bank conflicts in shared memory, and uncoalesced accesses to global memory.

The simulator counts both in one run (sim.Counters). There is one note for each Python line, or for each mnemonic in
loaded PTX. Suggested fixes are tested on the addresses of one request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pyptx.check.bank_conflicts import LINE, conflict_advice
from pyptx.check.finding import Finding
from pyptx.check.locations import Locations
from pyptx.check.memory_requests import Request, access_bytes, address_lanes, collect_requests
from pyptx.check.runner import Runner
from pyptx.sim import Counters, Program
from pyptx.sim.core.library import problem

__all__ = ["performance_notes"]

CONFLICTS, UNCOALESCED = "bank-conflicts", "uncoalesced-access"
THRESHOLDS = {CONFLICTS: 1.5, UNCOALESCED: 2.0}  # times the minimum cost, from which a note is made
SECTOR = 32  # bytes of a sector of global memory
MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class _Cost:
    """Cost of all requests of an instruction, in passes or sectors: actual and minimum."""

    instruction: int
    requests: int
    actual: float
    minimum: float


def performance_notes(runner: Runner, counters: Counters, locations: Locations) -> list[Finding]:
    """Return the performance notes, the costliest first."""
    groups = {
        **_grouped(runner.program, CONFLICTS, _conflicts(runner.program, counters), locations),
        **_grouped(runner.program, UNCOALESCED, _uncoalesced(runner.program, counters), locations),
    }
    costly = {
        key: costs
        for key, costs in groups.items()
        if sum(c.actual for c in costs) >= THRESHOLDS[key[0]] * sum(c.minimum for c in costs)
    }
    worst = {key: max(costs, key=lambda c: c.actual - c.minimum).instruction for key, costs in costly.items()}
    requests = collect_requests(runner, worst.values()) if costly and problem() is None else {}
    order = sorted(costly, key=lambda key: (key[0], sum(c.minimum - c.actual for c in costly[key])))
    return [
        _note(runner.program, key[0], costly[key], requests.get(worst[key]), locations, worst[key]) for key in order
    ]


def _conflicts(program: Program, counters: Counters) -> Iterator[_Cost]:
    for i, extra in _nonzero(counters.shared_conflicts):
        bytes_, lanes = (
            access_bytes(program.actions[i]),
            int(counters.lanes[i]) * address_lanes(program.actions[i]) // 32,
        )
        minimum = max(min(int(counters.issues[i]), lanes), lanes * max(bytes_, 4) / LINE)
        yield _Cost(i, int(counters.issues[i]), minimum + extra, minimum)


def _uncoalesced(program: Program, counters: Counters) -> Iterator[_Cost]:
    for i, requests in _nonzero(counters.global_requests):
        if access_bytes(program.actions[i]):
            actual = int(counters.global_sectors[i])
            yield _Cost(i, requests, actual, actual - int(counters.global_excess[i]))


def _nonzero(counts: np.ndarray) -> Iterator[tuple[int, int]]:
    return ((i, int(count)) for i, count in enumerate(counts) if count)


def _grouped(program: Program, rule: str, costs: Iterator[_Cost], locations: Locations) -> Mapping[tuple, list[_Cost]]:
    """Group costs by Python line; in loaded PTX, group the costly ones by mnemonic."""
    groups: dict[tuple, list[_Cost]] = defaultdict(list)
    for cost in costs:
        node = program.instructions[cost.instruction]
        if node.place is not None:
            groups[rule, node.mnemonic, locations.line(cost.instruction)].append(cost)
        elif cost.actual >= THRESHOLDS[rule] * cost.minimum:
            groups[rule, node.mnemonic].append(cost)
    return groups


def _note(
    program: Program, rule: str, costs: list[_Cost], request: Request | None, locations: Locations, worst: int
) -> Finding:
    requests, actual, minimum = (sum(getattr(c, n) for c in costs) for n in ("requests", "actual", "minimum"))
    name = program.instructions[worst].mnemonic
    request_count = f"{requests} request{'s' if requests > 1 else ''}"
    many = (
        f", in {len(costs)} instructions of this {'line' if locations.of(worst, '').place else 'mnemonic'}"
        if len(costs) > 1
        else ""
    )
    if rule == CONFLICTS:
        message = (
            f"{name} takes {actual / requests:.3g} passes over shared memory instead of {minimum / requests:.3g}: "
            f"{actual / minimum:.2g}-way bank conflicts on average, {actual - minimum:.0f} extra passes in "
            f"{request_count}{many}."
        )
        fix = (
            "let the lanes of a request access different banks"
            if request is None
            else conflict_advice(request, _start(program, request))
        )
    else:
        array = f" of {request.tensor.removesuffix('_tma_desc')}" if request is not None and request.tensor else ""
        message = (
            f"{name} transfers {actual / requests:.3g} sectors{array} per request, {SECTOR} bytes each, instead of "
            f"{minimum / requests:.3g}: its lanes use {minimum / actual:.0%} of the data, in {request_count}{many}."
        )
        fix = _coalescing_advice(request)
    at = tuple(locations.of(c.instruction, "is costly") for c in sorted(costs, key=lambda c: c.minimum - c.actual))
    shown = {(p.place, None if p.place else p.ptx_line): p for p in reversed(at)}
    return Finding(rule, "note", message, fix, tuple(reversed(shown.values()))[:MOST_PLACES])


def _start(program: Program, request: Request) -> int:
    """Return the start address of the shared variable that a request accesses."""
    before = [
        v.address for v in program.shared_variables if v.address is not None and v.address <= min(request.addresses)
    ]
    return max(before, default=0)


def _coalescing_advice(request: Request | None) -> str:
    if request is not None:
        distances = {b - a for a, b in zip(request.addresses, request.addresses[1:], strict=False)}
        if len(distances) == 1 and (distance := abs(distances.pop())) > request.bytes:
            return (
                f"adjacent lanes are {distance} bytes apart and use {request.bytes}: let them access adjacent elements, "
                "through shared memory if another order is needed; or let each lane access more bytes at once (.v2, .v4)"
            )
    return (
        "let adjacent lanes access adjacent elements, through shared memory if another order is needed; wider accesses "
        "(.v2, .v4) use more of each sector"
    )
