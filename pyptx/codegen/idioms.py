"""Instructions that a wrapper of the DSL writes as well: `ptx.bar.sync(0)`, `ptx.mad(a, b, c)`, `ptx.mbarrier.wait`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyptx.codegen.flow import If, Item, Loop, Region
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    Label,
    LabelOperand,
    Operand,
    Predicate,
    RegisterOperand,
)

__all__ = ["VALUES", "WRAPPERS", "Range", "Wait", "ranges", "waits"]

@dataclass(slots=True)
class Wait:
    """`ptx.mbarrier.wait`: the try_wait that is repeated."""

    node: Instruction


@dataclass(slots=True)
class Range:
    """`for counter in ptx.range_(start, stop, step)`; `nodes` is what it writes: mov, setp, bra, add."""

    counter: str
    start: Operand
    stop: Operand
    step: Operand
    label: str
    end: str
    body: list[Item]
    nodes: list[Instruction]


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


def ranges(items: list[Item], uses: dict[str, int], take: Callable[[str], bool]) -> list[Item]:
    """The items with counted loops as `ptx.range_` writes them as one Range each, inside loops and branches too."""
    out: list[Item] = []
    i = 0
    while i < len(items):
        item = items[i]
        match item:
            case Loop(body=body) | Region(body=body):
                item.body = ranges(body, uses, take)
            case If():
                item.then, item.otherwise = ranges(item.then, uses, take), ranges(item.otherwise, uses, take)
        found = _range(item, items[i + 1:i + 2], out, uses)
        if found is not None and take("range"):
            out[-1] = found
            if uses.get(found.end) == 1:                # the label behind it
                i += 1
        else:
            out.append(item)
        i += 1
    return out


def _range(loop: Item, behind: list[Item], before: list[Item], uses: dict[str, int]) -> Range | None:
    match before[-1:], loop, behind:
        case ([Instruction("mov", (".s32",), (RegisterOperand(k) | LabelOperand(k), start), None) as mov],
              Loop(label, None, [Instruction("setp", (".ge" | ".le" as way, ".s32"), (p, left, stop), None) as setp,
                                 Instruction("bra", (), (LabelOperand(end),), Predicate(done, False)) as bra,
                                 *body,
                                 Instruction("add", (".s32",), (result, again, step), None) as add]),
              [Label(after)]):
            names = {getattr(o, "name", None) for o in (left, result, again)}
            if names != {k} or getattr(p, "name", None) != done or after != end or uses.get(done) != 2:
                return None
            down = isinstance(step, ImmediateOperand) and step.text.startswith("-")
            if (way == ".le") != down or uses.get(label, 0) != 1 or any(getattr(o, "name", None) == k
                                                                        for o in (start, stop, step)):
                return None
            return Range(k, start, stop, step, label, end, body, [mov, setp, bra, add])
    return None


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
