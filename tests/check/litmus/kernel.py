"""Litmus programs as PTX: many programs in one kernel, each with memory of its own, and the verdicts of `check` on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from check.litmus.events import Event, Place, Program

import pyptx

__all__ = ["verdicts"]

GLOBAL_BYTES, SHARED_BYTES, BARRIERS = 1024, 256, 2  # of a program
BATCH = 48
_STEPS = ("bar.sync", "bar.arrive", "bar.warp.sync", "cluster.arrive", "cluster.wait")
_IGNORED = {"uncoalesced-access", "bank-conflicts", "dead-store", "schedule-dependent-result", "order-of-atomics"}
_ERRORS = {"data-race", "missing-wait", "stage-reuse", "missing-proxy-fence"}

Shape = tuple[int, int, int]  # clusters, CTAs of a cluster, warps of a CTA


def verdicts(programs: Sequence[Program], random: int = 2) -> Iterator[tuple[Program, str]]:
    """Yield each program with the verdict of `check`: "racy", "unproven", or "clean"."""
    ordered = sorted(programs, key=_shape)
    for shape, group in groupby(ordered, _shape):
        same = list(group)
        for k in range(0, len(same), BATCH):
            batch = same[k : k + BATCH]
            yield from zip(batch, _check(batch, shape, random), strict=True)


def _shape(program: Program) -> Shape:
    return tuple(1 + max(place[k] for place in program.places) for k in range(3))  # type: ignore[return-value]


def _check(batch: Sequence[Program], shape: Shape, random: int) -> list[str]:
    clusters, ctas, warps = shape
    report = pyptx.load(_ptx(batch, shape))["k"].check(
        clusters * ctas,
        32 * warps,
        np.zeros(len(batch) * GLOBAL_BYTES, np.uint8),
        np.zeros(16, np.uint32),
        cluster=ctas,
        schedules=("eager",),
        random=random,
        max_steps=1_000_000,
    )
    found: list[set[str]] = [set() for _ in batch]
    for finding in report.findings:
        if finding.rule in _IGNORED:
            continue
        assert finding.rule in _ERRORS | {"unproven-order"} and finding.index, f"{finding}"
        size = {"a": GLOBAL_BYTES, "data": SHARED_BYTES, "bars": 8 * BARRIERS}[str(finding.tensor)]
        found[finding.index[0] // size].add("unproven" if finding.rule == "unproven-order" else "racy")
    return ["racy" if "racy" in rules else "unproven" if rules else "clean" for rules in found]


def _ptx(batch: Sequence[Program], shape: Shape) -> str:
    lines = [
        "ld.param.u64 %rd1, [a]",
        "ld.param.u64 %rd2, [b]",
        "mov.u32 %r1, %tid.x",
        "mov.u32 %r2, %ctaid.x",
        "mov.u32 %r3, %ntid.x",
        "mad.lo.u32 %r1, %r2, %r3, %r1",
        "mov.u32 %r2, %tid.x",
        "setp.ne.u32 %p1, %r2, 0",
        "@%p1 bra ready",
    ]
    for k, program in enumerate(batch):
        for n, (_, count) in enumerate(_mbarriers(program).values()):
            lines.append(f"mbarrier.init.shared.b64 [{_bar(k, n)}], {count}")
        if program.space == "shared" or any(e.kind.startswith(("cp.", "bulk")) for t in program.threads for e in t):
            lines += [f"st.shared.u32 [data+{k * SHARED_BYTES + offset}], 0" for offset in range(0, SHARED_BYTES, 4)]
    lines += ["fence.mbarrier_init.release.cluster", "fence.proxy.async", "ready:"]
    lines += ["barrier.cluster.arrive", "barrier.cluster.wait"]
    for k, program in enumerate(batch):
        lines += _Writer(program, k, shape).lines()
    lines.append("ret")
    body = "\n".join(line if line.endswith(":") else f"{line};" for line in lines)
    return (
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n"
        f".shared .align 128 .b8 data[{SHARED_BYTES * len(batch)}];\n"
        f".shared .align 8 .b64 bars[{BARRIERS * len(batch)}];\n{body}\n}}\n"
    )


def _bar(k: int, n: int) -> str:
    return f"bars+{8 * (BARRIERS * k + n)}"


def _mbarriers(program: Program) -> dict[str, tuple[int, int]]:
    """Return the CTA of the cluster and the count of each mbarrier."""
    found: dict[str, tuple[int, int]] = {}
    for thread, place in zip(program.threads, program.places, strict=True):
        for event in thread:
            if event.kind == "wait":
                arrivals = [
                    e for t in program.threads for e in t if e.kind == "arrive" and e.location == event.location
                ]
                found[event.location] = place.cta, len(arrivals) or 1  # without arrivals: of a copy
    return found


class _Writer:
    """Writes one program of a batch."""

    def __init__(self, program: Program, number: int, shape: Shape):
        self.program, self.number, self.shape = program, number, shape
        kinds = {e.kind for t in program.threads for e in t}
        names = {e.location for t in program.threads for e in t if e.kind not in ("arrive", "wait") and e.location}
        names |= {f"{e.location} copy" for t in program.threads for e in t if e.kind.startswith("bulk ")}
        self.offset = {name: 32 * k for k, name in enumerate(sorted(names))}
        self.bars = {name: (k, *found) for k, (name, found) in enumerate(_mbarriers(program).items())}
        self.shared = program.space == "shared" or bool(kinds & {"cp.async", "bulk load", "bulk store"})

    def lines(self) -> Iterator[str]:
        segments = [_segments(thread) for thread in self.program.threads]
        for k in range(len(segments[0])):
            for t, thread in enumerate(segments):
                skip, events = f"t{self.number}x{t}x{k}", thread[k][1]
                if events:
                    yield f"setp.ne.u32 %p1, %r1, {self._thread(self.program.places[t])}"
                    yield f"@%p1 bra {skip}"
                    for n, event in enumerate(events):
                        yield from self._event(event, self.program.places[t], f"{skip}x{n}")
                    yield f"{skip}:"
            yield from self._barrier([thread[k][0] for thread in segments])
        yield from ["barrier.cluster.arrive", "barrier.cluster.wait"]

    def _thread(self, place: Place) -> int:
        _, ctas, warps = self.shape
        return ((place.cluster * ctas + place.cta) * warps + place.warp) * 32 + place.lane

    def _barrier(self, steps: Sequence[Event | None]) -> Iterator[str]:
        first = steps[0]
        if first is None:
            return
        order = f".{first.sem}" if first.sem != "weak" else ""
        match first.kind:
            case "cluster.arrive" | "cluster.wait":
                yield f"barrier.{first.kind}{order}"
            case "bar.warp.sync":
                yield "bar.warp.sync -1"
            case _ if {step.kind for step in steps if step} == {"bar.sync"}:
                yield "bar.warp.sync -1; bar.sync 0"
            case _:  # arrive in some warps, sync in the others
                arriving = [
                    p.warp for p, s in zip(self.program.places, steps, strict=True) if s and s.kind == "bar.arrive"
                ]
                skip, count = f"t{self.number}split", 32 * self.shape[2]
                yield f"bar.warp.sync -1; shr.u32 %r4, %r1, 5; setp.ne.u32 %p1, %r4, {arriving[0]}; @%p1 bra {skip}"
                yield f"bar.arrive 1, {count}; bra {skip}done"
                yield f"{skip}:"
                yield f"bar.sync 1, {count}"
                yield f"{skip}done:"

    def _memory(self, name: str, place: Place) -> tuple[list[str], str, str]:
        """Return instructions, the state space, and the address of a location."""
        at = self.offset[name]
        if not self.shared or name.endswith("copy"):
            return [], "global", f"%rd1+{GLOBAL_BYTES * self.number + at}"
        return self._shared(f"data+{SHARED_BYTES * self.number + at}", place, self.program.places[0].cta)

    def _shared(self, symbol: str, place: Place, owner: int) -> tuple[list[str], str, str]:
        if place.cta == owner:
            return [], "shared", symbol
        return [f"mov.u32 %r4, {symbol}", f"mapa.shared::cluster.u32 %r4, %r4, {owner}"], "shared::cluster", "%r4"

    def _event(self, event: Event, place: Place, label: str) -> Iterator[str]:
        order = "" if event.sem in ("weak", "") else f".{event.sem}" + (f".{event.scope}" if event.scope else "")
        match event.kind:
            case "fence":
                yield f"fence{order}"
            case "proxy fence":
                yield "fence.proxy.async"
            case "store" | "load" | "atomic" | "red":
                setup, space, address = self._memory(event.location, place)
                yield from setup
                if event.kind == "store":
                    yield f"st{order}.{space}.u32 [{address}], {event.value}"
                elif event.kind == "red":
                    yield f"red{order}.{space}.add.u32 [{address}], {event.value}"
                else:
                    yield from [f"{label}:"] if event.expect is not None else []
                    if event.kind == "load":
                        yield f"ld{order}.{space}.u32 %r5, [{address}]"
                    else:
                        yield f"atom{order}.{space}.add.u32 %r5, [{address}], {event.value}"
                    if event.expect is not None:
                        yield f"setp.ne.u32 %p2, %r5, {event.expect}; @%p2 bra {label}"
            case "arrive":
                number, owner, _ = self.bars[event.location]
                setup, space, address = self._shared(_bar(self.number, number), place, owner)
                yield from setup
                yield f"mbarrier.arrive{order}.{space}.b64 _, [{address}]"
            case "wait":
                bar = _bar(self.number, self.bars[event.location][0])
                yield f"{label}:"
                yield f"mbarrier.try_wait.parity{order}.shared.b64 %p2, [{bar}], 0; @!%p2 bra {label}"
            case "cp.async":
                yield f"cp.async.ca.shared.global [{self._memory(event.location, place)[2]}], [%rd2], 4"
            case "cp.async.wait":
                yield "cp.async.wait_all"
            case "bulk fetch":
                source = f"%rd1+{GLOBAL_BYTES * self.number + self.offset[event.location]}"
                to = f"data+{SHARED_BYTES * self.number + self.offset[f'{event.location} copy']}"
                bar = _bar(self.number, self.bars[f"{event.location} bar"][0])
                yield f"mbarrier.arrive.expect_tx.shared.b64 _, [{bar}], 16"
                yield f"add.u64 %rd3, %rd1, {source.split('+')[1]}; mov.u32 %r4, {to}; mov.u32 %r5, {bar}"
                yield "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd3], 16, [%r5]"
            case "bulk load":
                to, bar = (
                    self._memory(event.location, place)[2],
                    _bar(self.number, self.bars[f"{event.location} bar"][0]),
                )
                yield f"mbarrier.arrive.expect_tx.shared.b64 _, [{bar}], 16"
                yield (
                    f"mov.u32 %r4, {to}; mov.u32 %r5, {bar}; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                    "[%r4], [%rd2], 16, [%r5]"
                )
            case "bulk store":
                copy = GLOBAL_BYTES * self.number + self.offset[f"{event.location} copy"]
                source = self._memory(event.location, place)[2]
                yield f"add.u64 %rd3, %rd1, {copy}; mov.u32 %r4, {source}"
                yield "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r4], 16; cp.async.bulk.commit_group"
            case "bulk.wait" | "bulk.wait.read":
                yield f"cp.async.bulk.wait_group{'.read' * event.kind.endswith('read')} 0"


def _segments(thread: Sequence[Event]) -> list[tuple[Event | None, list[Event]]]:
    """Return the events before each barrier, with the barrier; None after the last one."""
    segments: list[tuple[Event | None, list[Event]]] = []
    events: list[Event] = []
    for event in thread:
        if event.kind in _STEPS:
            segments.append((event, events))
            events = []
        else:
            events.append(event)
    return [*segments, (None, events)]
