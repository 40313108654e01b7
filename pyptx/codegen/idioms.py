"""Instructions that a wrapper of the DSL writes as well: `ptx.bar.sync(0)`, `ptx.mad(a, b, c)`, `ptx.mbarrier.wait`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyptx.codegen.flow import If, Item, Loop, Region
from pyptx.ir.nodes import AddressOperand, Instruction, Label, LabelOperand, Predicate, RegisterOperand

__all__ = ["VALUES", "WRAPPERS", "Wait", "waits"]

@dataclass(slots=True)
class Wait:
    """`ptx.mbarrier.wait`: the try_wait that is repeated."""

    node: Instruction


# mnemonic -> wrapper; operands are its arguments, in order
WRAPPERS = {
    "bar.sync": "ptx.bar.sync", "fence.proxy.async": "ptx.fence.proxy_async",
    "fence.proxy.async.shared::cta": "ptx.fence.proxy_async_shared_cta",
    "fence.mbarrier_init.release.cluster": "ptx.fence.mbarrier_init",
    "cp.async.commit_group": "ptx.cp.async_.commit_group", "cp.async.wait_group": "ptx.cp.async_.wait_group",
    "cp.async.wait_all": "ptx.cp.async_.wait_all", "cp.async.bulk.commit_group": "ptx.cp.async_.bulk.commit_group",
    "cp.async.bulk.wait_group": "ptx.cp.async_.bulk.wait_group", "wgmma.fence.sync.aligned": "ptx.wgmma.fence",
    "wgmma.commit_group.sync.aligned": "ptx.wgmma.commit_group",
    "wgmma.wait_group.sync.aligned": "ptx.wgmma.wait_group", "barrier.cluster.arrive": "ptx.cluster.arrive",
    "barrier.cluster.wait": "ptx.cluster.wait", "setmaxnreg.inc.sync.aligned.u32": "ptx.setmaxnreg_inc",
    "setmaxnreg.dec.sync.aligned.u32": "ptx.setmaxnreg_dec", "mbarrier.init.shared::cta.b64": "ptx.mbarrier.init",
    "mbarrier.init.shared.b64": "ptx.mbarrier.init", "mbarrier.inval.shared.b64": "ptx.mbarrier.inval",
    "tcgen05.fence::before_thread_sync": "ptx.tcgen05.fence_before_thread_sync",
    "tcgen05.fence::after_thread_sync": "ptx.tcgen05.fence_after_thread_sync",
    "tcgen05.wait::ld.sync.aligned": "ptx.tcgen05.wait_ld", "tcgen05.wait::st.sync.aligned": "ptx.tcgen05.wait_st",
}
# mnemonic -> wrapper that returns a new register of this type; the other operands are its arguments
VALUES = {
    "mad.lo.s32": ("ptx.mad", "left"), "mad.lo.u32": ("ptx.mad", "left"),
    "cvta.to.global.u64": ("ptx.cvta.to_global", "b64"),
    "mbarrier.arrive.shared.b64": ("ptx.mbarrier.arrive", "b64"),
    "mbarrier.arrive.shared::cta.b64": ("ptx.mbarrier.arrive", "b64"),
    "mbarrier.arrive.expect_tx.shared::cta.b64": ("ptx.mbarrier.arrive_expect_tx", "b64"),
    "mbarrier.arrive.expect_tx.shared.b64": ("ptx.mbarrier.arrive_expect_tx", "b64"),
    "mbarrier.try_wait.parity.shared.b64": ("ptx.mbarrier.try_wait", "pred"),
    "mbarrier.try_wait.parity.shared::cta.b64": ("ptx.mbarrier.try_wait", "pred"),
}
_TRY_WAIT = ("mbarrier.try_wait.parity.shared.b64", "mbarrier.try_wait.parity.shared::cta.b64")


def waits(items: list[Item], uses: dict[str, int], take: Callable[[str], bool]) -> list[Item]:
    """The items with loops that try_wait until it is true as one Wait each, inside loops and branches too.

    Args:
        uses: how often each register and label is named.
    """
    out: list[Item] = []
    skipped: set[int] = set()
    for i, item in enumerate(items):
        match item:
            case Loop(body=body):
                found = _waited(item, items[i + 1:i + 3], uses)
                if found is not None and take("wait"):
                    node, done = found
                    out.append(Wait(node))
                    skipped.update(j for j in (i + 1, i + 2) if j < len(items) and done is not None
                                   and isinstance(items[j], Label) and items[j].name == done and uses.get(done) == 1)
                    continue
                item.body = waits(body, uses, take)
            case Region(body=body):
                item.body = waits(body, uses, take)
            case If():
                item.then, item.otherwise = waits(item.then, uses, take), waits(item.otherwise, uses, take)
        if i not in skipped:
            out.append(item)
    return out


def _waited(loop: Loop, behind: list[Item], uses: dict[str, int]) -> tuple[Instruction, str | None] | None:
    """The try_wait of such a loop, and the label that the jump out of it names."""
    match loop:
        case Loop(_, Predicate(over, True), [Instruction() as node]):
            done = None
        case Loop(_, None, [Instruction() as node,
                            Instruction("bra", (), (LabelOperand(done),), Predicate(over, False))]):
            if done not in [n.name for n in behind if isinstance(n, Label)] or not isinstance(behind[0], Label):
                return None
        case _:
            return None
    match node:
        case Instruction(operands=(RegisterOperand(found) | LabelOperand(found), AddressOperand(), _), predicate=None):
            if found == over and uses.get(over) == 2 and node.mnemonic in _TRY_WAIT:
                return node, done
    return None
