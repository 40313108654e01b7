"""Clusters: cluster barrier, setmaxnreg, clusterlaunchcontrol (core/src/cluster.c)."""

from __future__ import annotations

from pyptx.sim import actions as act
from pyptx.sim.reference import lane_values
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.asynchronous import issue, lane_addresses, poison, shared_place
from pyptx.sim.reference.bulk_copies import write_shared
from pyptx.sim.reference.mbarrier import check
from pyptx.sim.reference.state import Cluster, Fault, Operation, Runner, lanes_of

__all__ = ["recheck"]


def recheck(cluster: Cluster) -> None:
    """Complete the phase of the cluster barrier if every live thread has arrived."""
    warps = [w for cta in cluster.ctas for w in cta.warps]
    if all(w.cluster_here & w.live == w.live for w in warps):
        cluster.arrived = False
        for warp in warps:
            warp.cluster_here = 0


@handles(act.ClusterArrive)
def _arrive(runner: Runner, action: act.ClusterArrive, mask: int) -> None:
    warp = runner.warp
    if warp.cluster_left & mask:
        raise Fault("cluster_arrive", lanes_of(warp.cluster_left & mask)[0])
    warp.cluster_here |= mask
    warp.cluster_left |= mask
    runner.cta.cluster.arrived = True
    recheck(runner.cta.cluster)


@handles(act.ClusterWait)
def _wait(runner: Runner, action: act.ClusterWait, mask: int) -> bool:
    warp = runner.warp
    if mask & ~warp.cluster_left:
        raise Fault("cluster_wait", lanes_of(mask & ~warp.cluster_left)[0])
    if warp.cluster_here & mask:
        return False
    warp.cluster_left &= ~mask
    return True


@handles(act.SetMaxRegisters)
def _registers(runner: Runner, action: act.SetMaxRegisters, mask: int) -> bool:
    warp, cta, n = runner.warp, runner.cta, action.count
    if mask != warp.live:
        raise Fault("split", lanes_of(mask)[0], mask, warp.live)
    asks = len(warp.wanted)
    for other in cta.warps[warp.index & ~3 : (warp.index | 3) + 1]:
        if 0 < len(other.wanted) - asks <= 8 and other.wanted[asks] != n:
            raise Fault("warpgroup", lanes_of(mask)[0], other.index << 32 | n, other.wanted[asks])
    if not warp.registers_held:
        warp.wanted.append(n)
        return True
    if n < warp.registers_held if action.more else n > warp.registers_held:
        raise Fault("registers", lanes_of(mask)[0], n, warp.registers_held)
    if action.more and n - warp.registers_held > cta.registers_free:
        return False
    cta.registers_free += warp.registers_held - n
    warp.registers_held = n
    warp.wanted.append(n)
    return True


@handles(act.TryCancel)
def _try_cancel(runner: Runner, action: act.TryCancel, mask: int) -> None:
    run, plan, cluster = runner.run, runner.run.plan, runner.cta.cluster
    for lane, to, barrier in zip(
        lanes_of(mask),
        lane_addresses(runner, action.to, mask),
        lane_addresses(runner, action.barrier, mask),
        strict=True,
    ):
        _, offset = shared_place(runner, lane, to, 16, 16, action.to.space, own=True)
        _, bar = shared_place(runner, lane, barrier, 8, 8, action.barrier.space, own=True)
        answer, run.next_cluster = bytes(16), run.next_cluster + 1
        if run.next_cluster <= plan.clusters:
            x, y, z = plan.index_of(run.next_cluster - 1, 0)
            answer = b"".join(v.to_bytes(4, "little") for v in (x, y, z, 1))
        for cta in cluster.ctas if action.everywhere else [runner.cta]:
            check(cta, bar, lane)
            poison(runner, cta, offset, 16)
            issue(
                Operation(
                    runner,
                    lambda op, cta=cta, answer=answer, offset=offset: write_shared(cta, offset, answer),
                    1 << lane,
                    at=cta,
                    barrier=bar,
                    tx=16,
                )
            )


@handles(act.IsCanceled)
def _is_canceled(runner: Runner, action: act.IsCanceled, mask: int) -> None:
    answers = lane_values.read(runner, action.handle, mask)
    lane_values.write(runner, action.data, mask, [int(v >> 96 != 0) for v in answers])
