"""What costs time without being wrong, as notes: bank conflicts in shared memory, scattered accesses of global memory.

Counted by the simulator in one run (sim.Counters); one note for each line of Python, or for each kind of instruction in
PTX that was loaded. What would help is tried on the addresses of one request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyptx.check.finding import Finding
from pyptx.check.layouts import LINE, advice
from pyptx.check.places import Places
from pyptx.check.requests import Request, bytes_of, requests_of, suppliers
from pyptx.check.trial import Trial
from pyptx.sim import Counters, Program
from pyptx.sim.core.library import problem

__all__ = ["notes"]

CONFLICTS, SCATTERED = "bank-conflicts", "uncoalesced-access"
LEAST = {CONFLICTS: 1.5, SCATTERED: 2.0}        # times what would do, from which on it is told
SECTOR = 32                                     # bytes that global memory is moved in
MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class _Cost:
    """What an instruction took in all its requests, passes or sectors, and what would have done."""

    instruction: int
    requests: int
    taken: float
    least: float


def notes(trial: Trial, counters: Counters, places: Places) -> list[Finding]:
    """The costliest first."""
    groups = {**_grouped(trial.program, CONFLICTS, _conflicts(trial.program, counters), places),
              **_grouped(trial.program, SCATTERED, _scattered(trial.program, counters), places)}
    told = {key: costs for key, costs in groups.items()
            if sum(c.taken for c in costs) >= LEAST[key[0]] * sum(c.least for c in costs)}
    worst = {key: max(costs, key=lambda c: c.taken - c.least).instruction for key, costs in told.items()}
    requests = requests_of(trial, worst.values()) if told and problem() is None else {}
    order = sorted(told, key=lambda key: (key[0], sum(c.least - c.taken for c in told[key])))
    return [_note(trial.program, key[0], told[key], requests.get(worst[key]), places, worst[key]) for key in order]


def _conflicts(program: Program, counters: Counters) -> Iterator[_Cost]:
    for i, extra in _counted(counters.shared_conflicts):
        bytes_, lanes = bytes_of(program.actions[i]), int(counters.lanes[i]) * suppliers(program.actions[i]) // 32
        least = max(min(int(counters.issues[i]), lanes), lanes * max(bytes_, 4) / LINE)
        yield _Cost(i, int(counters.issues[i]), least + extra, least)


def _scattered(program: Program, counters: Counters) -> Iterator[_Cost]:
    for i, requests in _counted(counters.global_requests):
        if bytes_of(program.actions[i]):
            taken = int(counters.global_sectors[i])
            yield _Cost(i, requests, taken, taken - int(counters.global_excess[i]))


def _counted(counts) -> Iterator[tuple[int, int]]:
    return ((i, int(count)) for i, count in enumerate(counts) if count)


def _grouped(program: Program, rule: str, costs: Iterator[_Cost], places: Places) -> Mapping[tuple, list[_Cost]]:
    """Those of one line of Python together; of PTX, those of one kind that are too many."""
    groups: dict[tuple, list[_Cost]] = defaultdict(list)
    for cost in costs:
        node = program.instructions[cost.instruction]
        if node.place is not None:
            groups[rule, node.mnemonic, places.line(cost.instruction)].append(cost)
        elif cost.taken >= LEAST[rule] * cost.least:
            groups[rule, node.mnemonic].append(cost)
    return groups


def _note(program: Program, rule: str, costs: list[_Cost], request: Request | None, places: Places,
          worst: int) -> Finding:
    requests, taken, least = (sum(getattr(c, n) for c in costs) for n in ("requests", "taken", "least"))
    name = program.instructions[worst].mnemonic
    asked = f"{requests} request{'s' if requests > 1 else ''}"
    many = f", in {len(costs)} instructions of this {'line' if places.of(worst, '').place else 'kind'}" \
        if len(costs) > 1 else ""
    if rule == CONFLICTS:
        message = (f"{name} takes {taken / requests:.3g} passes over shared memory where {least / requests:.3g} would "
                   f"do: {taken / least:.2g}-way bank conflicts on average, {taken - least:.0f} passes too many in "
                   f"{asked}{many}.")
        fix = "let the lanes of a request access different banks" if request is None else \
            advice(request, _start(program, request))
    else:
        array = f" of {request.tensor.removesuffix('_tma_desc')}" if request is not None and request.tensor else ""
        message = (f"{name} moves {taken / requests:.3g} sectors{array} a request, {SECTOR} bytes each, where "
                   f"{least / requests:.3g} would hold what its lanes use: {least / taken:.0%} of what is moved, in "
                   f"{asked}{many}.")
        fix = _nearer(request)
    at = tuple(places.of(c.instruction, "costs time") for c in sorted(costs, key=lambda c: c.least - c.taken))
    shown = {(p.place, None if p.place else p.ptx_line): p for p in reversed(at)}
    return Finding(rule, "note", message, fix, tuple(reversed(shown.values()))[:MOST_PLACES])


def _start(program: Program, request: Request) -> int:
    """Where the shared variable of a request begins."""
    before = [v.address for v in program.shared_variables if v.address <= min(request.addresses)]
    return max(before, default=0)


def _nearer(request: Request | None) -> str:
    apart = set() if request is None else \
        {b - a for a, b in zip(request.addresses, request.addresses[1:], strict=False)}
    if len(apart) == 1 and (distance := abs(apart.pop())) > request.bytes:
        return (f"lanes beside each other are {distance} bytes apart and use {request.bytes}: let them take elements "
                "beside each other, through shared memory where another order is needed; or let each take more of its "
                "bytes at once (.v2, .v4)")
    return ("let lanes beside each other take elements beside each other; where another order is needed, go through "
            "shared memory; wider accesses (.v2, .v4) use more of each sector")
