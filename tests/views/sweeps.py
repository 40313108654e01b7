"""Sweeps written by hand: a matrix product over BM, BN, BK and STAGES, at any progress."""

from __future__ import annotations

from itertools import product

from pyptx.views.sweeps.sweep import Hole, Parameter, Point, Progress, SweepView

PARAMETERS = (
    Parameter("BM", (64, 128, 256)),
    Parameter("BN", (64, 128, 192, 256)),
    Parameter("BK", (64, 128)),
    Parameter("STAGES", (2, 3, 4)),
)
SHARED = 232448


def modeled_seconds(bm: int, bn: int, bk: int, stages: int) -> float:
    return 1e-6 * (700 + 9e4 / bm + 6e4 / bn + 180 / stages + (25 if bk == 128 else 0))


def sweep(*, done: float = 1.0, state: str = "finished", kind: str = "modeled", parameters: int = 4) -> SweepView:
    """The sweep when the share `done` of its points is dealt with."""
    axes = PARAMETERS[:parameters]
    rest = [axis.values[0] for axis in PARAMETERS[parameters:]]
    points, holes = [], []
    for config in product(*(range(len(axis.values)) for axis in axes)):
        bm, bn, bk, stages = [axis.values[at] for axis, at in zip(axes, config, strict=True)] + rest
        if bm * bn > 128 * 256:
            holes.append(Hole(config, "BM * BN <= 128 * 256"))
        else:
            points.append((config, bm, bn, bk, stages))
    until = round(done * len(points))
    made = [_point(at, until, kind, state, *point) for at, point in enumerate(points)]
    timed = [at for at, point in enumerate(made) if point.seconds is not None]
    best = min(timed, key=lambda at: made[at].seconds, default=-1)
    left = None if state != "running" else 0.8 * (len(points) - until)
    device = "model of H200 SXM" if kind == "modeled" else "NVIDIA H200"
    return SweepView(
        "gemm", "sm_90a", device, axes, tuple(made), tuple(holes), Progress(until, len(points), left, state), best
    )


def _point(at: int, until: int, kind: str, state: str, config, bm: int, bn: int, bk: int, stages: int) -> Point:
    ring = (bm + bn) * bk * 2 * stages
    if at >= until:
        return Point(
            config,
            "compiling"
            if at == until and state == "running"
            else "compiled"
            if at < until + 4 and state == "running"
            else "queued",
        )
    if ring > SHARED:
        return Point(
            config, "refused", f"{ring} bytes of shared memory; a block has at most {SHARED}", shared_bytes=ring
        )
    used = {
        "registers": min(255, 40 + bm * bn // 256),
        "spill_bytes": 64 if bm * bn >= 32768 and bk == 128 else 0,
        "shared_bytes": ring,
        "occupancy": 0.19 if ring > SHARED // 2 else 0.38,
    }
    if at == 11:
        return Point(config, "wrong", "c[0, 64]: 0.0, the reference has 3.21; 128 of 4096 numbers differ", **used)
    if at == 25:
        return Point(config, "failed", "not done after 2 s", **used)
    seconds = modeled_seconds(bm, bn, bk, stages)
    spread = 0.004 if kind == "measured" else 0.08
    if at == 31:
        return Point(config, "duplicate", "the same machine code as BM=64, BN=64", seconds, kind=kind, twin=0, **used)
    return Point(
        config,
        kind,
        "",
        seconds,
        seconds * (1 - spread),
        seconds * (1 + spread),
        kind,
        f"tensor pipe {min(94, round(5e4 / (seconds * 1e6)))} %, waits for TMA stage {stages - 1}",
        rate=2 * 8192**3 / seconds,
        **used,
    )
