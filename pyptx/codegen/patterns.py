"""Instruction patterns that one wrapper of the DSL emits: `ptx.mad`, `ptx.mbarrier.wait`, `ptx.range_`, descriptors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyptx.codegen.items import DescriptorCall, If, Item, Loop, Range, Region, Wait
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    Label,
    LabelOperand,
    Predicate,
    RegisterOperand,
)

__all__ = [
    "VALUE_WRAPPERS",
    "STATEMENT_WRAPPERS",
    "match_descriptors",
    "match_ranges",
    "match_waits",
]


# mnemonic -> wrapper with the same operands in the same order
STATEMENT_WRAPPERS = {
    "bar.sync": "ptx.bar.sync",
    "fence.proxy.async": "ptx.fence.proxy_async",
    "fence.proxy.async.shared::cta": "ptx.fence.proxy_async_shared_cta",
    "fence.mbarrier_init.release.cluster": "ptx.fence.mbarrier_init",
    "cp.async.commit_group": "ptx.cp.async_.commit_group",
    "cp.async.wait_group": "ptx.cp.async_.wait_group",
    "cp.async.wait_all": "ptx.cp.async_.wait_all",
    "cp.async.bulk.commit_group": "ptx.cp.async_.bulk.commit_group",
    "cp.async.bulk.wait_group": "ptx.cp.async_.bulk.wait_group",
    "wgmma.fence.sync.aligned": "ptx.wgmma.fence",
    "wgmma.commit_group.sync.aligned": "ptx.wgmma.commit_group",
    "wgmma.wait_group.sync.aligned": "ptx.wgmma.wait_group",
    "barrier.cluster.arrive": "ptx.cluster.arrive",
    "barrier.cluster.wait": "ptx.cluster.wait",
    "setmaxnreg.inc.sync.aligned.u32": "ptx.setmaxnreg_inc",
    "setmaxnreg.dec.sync.aligned.u32": "ptx.setmaxnreg_dec",
    "mbarrier.init.shared::cta.b64": "ptx.mbarrier.init",
    "mbarrier.init.shared.b64": "ptx.mbarrier.init",
    "mbarrier.inval.shared.b64": "ptx.mbarrier.inval",
    "tcgen05.fence::before_thread_sync": "ptx.tcgen05.fence_before_thread_sync",
    "tcgen05.fence::after_thread_sync": "ptx.tcgen05.fence_after_thread_sync",
    "tcgen05.wait::ld.sync.aligned": "ptx.tcgen05.wait_ld",
    "tcgen05.wait::st.sync.aligned": "ptx.tcgen05.wait_st",
}
# mnemonic -> wrapper of the source operands, and the type of the new register it returns
VALUE_WRAPPERS = {
    "mad.lo.s32": ("ptx.mad", "left"),
    "mad.lo.u32": ("ptx.mad", "left"),
    "cvta.to.global.u64": ("ptx.cvta.to_global", "b64"),
    "mbarrier.arrive.shared.b64": ("ptx.mbarrier.arrive", "b64"),
    "mbarrier.arrive.shared::cta.b64": ("ptx.mbarrier.arrive", "b64"),
    "mbarrier.arrive.expect_tx.shared::cta.b64": ("ptx.mbarrier.arrive_expect_tx", "b64"),
    "mbarrier.arrive.expect_tx.shared.b64": ("ptx.mbarrier.arrive_expect_tx", "b64"),
    "mbarrier.try_wait.parity.shared.b64": ("ptx.mbarrier.try_wait", "pred"),
    "mbarrier.try_wait.parity.shared::cta.b64": ("ptx.mbarrier.try_wait", "pred"),
}
_TRY_WAIT = ("mbarrier.try_wait.parity.shared.b64", "mbarrier.try_wait.parity.shared::cta.b64")


def match_ranges(items: list[Item], uses: dict[str, int], allow: Callable[[str], bool]) -> list[Item]:
    """Return the items with the counted loops that `ptx.range_` emits replaced by `Range`, nested ones included."""
    out: list[Item] = []
    i = 0
    while i < len(items):
        item = items[i]
        match item:
            case Loop(body=body) | Region(body=body):
                item.body = match_ranges(body, uses, allow)
            case If():
                item.then, item.otherwise = (
                    match_ranges(item.then, uses, allow),
                    match_ranges(item.otherwise, uses, allow),
                )
        found = _match_range(item, items[i + 1 : i + 2], out, uses)
        if found is not None and allow("range"):
            out[-1] = found
            if uses.get(found.end) == 1:  # the label after it
                i += 1
        else:
            out.append(item)
        i += 1
    return out


def _match_range(loop: Item, behind: list[Item], before: list[Item], uses: dict[str, int]) -> Range | None:
    match before[-1:], loop, behind:
        case (
            [Instruction("mov", (".s32",), (RegisterOperand(k) | LabelOperand(k), start), None) as mov],
            Loop(
                label,
                None,
                [
                    Instruction("setp", (".ge" | ".le" as way, ".s32"), (p, left, stop), None) as setp,
                    Instruction("bra", (), (LabelOperand(end),), Predicate(done, False)) as bra,
                    *body,
                    Instruction("add", (".s32",), (result, again, step), None) as add,
                ],
            ),
            [Label(after)],
        ):
            names = {getattr(o, "name", None) for o in (left, result, again)}
            if names != {k} or getattr(p, "name", None) != done or after != end or uses.get(done) != 2:
                return None
            down = isinstance(step, ImmediateOperand) and step.text.startswith("-")
            if (
                (way == ".le") != down
                or uses.get(label, 0) != 1
                or any(getattr(o, "name", None) == k for o in (start, stop, step))
            ):
                return None
            return Range(k, start, stop, step, label, end, body, (mov, setp, bra, add))
    return None


def match_waits(items: list[Item], uses: dict[str, int], allow: Callable[[str], bool]) -> list[Item]:
    """Return the items with mbarrier spin loops replaced by `Wait`, nested ones included.

    Args:
        items: the body.
        uses: number of references to each register and label.
        allow: consulted before each rewrite, with its kind.
    """
    out: list[Item] = []
    skipped: set[int] = set()
    for i, item in enumerate(items):
        match item:
            case Loop(body=body):
                found = _match_wait(item, items[i + 1 : i + 3], uses)
                if found is not None and allow("wait"):
                    node, done = found
                    out.append(Wait(node))
                    if done is not None and uses.get(done) == 1:
                        skipped.update(j for j in (i + 1, i + 2) if _is_label(items, j, done))
                    continue
                item.body = match_waits(body, uses, allow)
            case Region(body=body):
                item.body = match_waits(body, uses, allow)
            case If():
                item.then, item.otherwise = (
                    match_waits(item.then, uses, allow),
                    match_waits(item.otherwise, uses, allow),
                )
        if i not in skipped:
            out.append(item)
    return out


def _is_label(items: list[Item], i: int, name: str) -> bool:
    return i < len(items) and isinstance(item := items[i], Label) and item.name == name


def _match_wait(loop: Loop, behind: list[Item], uses: dict[str, int]) -> tuple[Instruction, str | None] | None:
    """Return the try_wait of a spin loop and the label its exit branch targets; None for other loops."""
    match loop:
        case Loop(_, Predicate(over, True), [Instruction() as node]):
            done = None
        case Loop(
            _, None, [Instruction() as node, Instruction("bra", (), (LabelOperand(done),), Predicate(over, False))]
        ):
            if done not in [n.name for n in behind if isinstance(n, Label)] or not isinstance(behind[0], Label):
                return None
        case _:
            return None
    match node:
        case Instruction(operands=(RegisterOperand(found) | LabelOperand(found), AddressOperand(), _), predicate=None):
            if found == over and uses.get(over) == 2 and node.mnemonic in _TRY_WAIT:
                return node, done
    return None


def match_descriptors(items: list[Item], allow: Callable[[str], bool]) -> list[Item]:
    """Return the items with descriptor computations replaced by `DescriptorCall`, nested ones included."""
    out: list[Item] = []
    i = 0
    while i < len(items):
        item = items[i]
        match item:
            case Loop(body=body) | Region(body=body) | Range(body=body):
                item.body = match_descriptors(body, allow)
            case If():
                item.then, item.otherwise = (
                    match_descriptors(item.then, allow),
                    match_descriptors(item.otherwise, allow),
                )
            case Instruction():
                found = _match_masked_descriptor(items, i) or _match_make_descriptor(items, i)
                if found is not None and allow("helper"):
                    out.append(found)
                    i += len(found.nodes)
                    continue
        out.append(item)
        i += 1
    return out


class _Matcher:
    """Cursor over instructions that advances while they match."""

    def __init__(self, items: list[Item], start: int):
        self.items, self.at = items, start
        self.nodes: list[Instruction] = []  # matched so far

    def next(self, *mnemonics: str, left: str | None = None) -> tuple[str, object, object] | None:
        """Match the next instruction; return its destination name, left and right operand, or None."""
        node = self.items[self.at] if self.at < len(self.items) else None
        if not isinstance(node, Instruction) or node.predicate is not None or node.mnemonic not in mnemonics:
            return None
        values = [o.text if isinstance(o, ImmediateOperand) else o for o in node.operands]
        if len(values) not in (2, 3) or not isinstance(node.operands[0], (RegisterOperand, LabelOperand)):
            return None
        if left is not None and getattr(values[1], "name", None) != left:
            return None
        self.at += 1
        self.nodes.append(node)
        return node.operands[0].name, values[1], values[2] if len(values) == 3 else None

    def undo(self) -> None:
        """Step back over the last match."""
        self.at -= 1
        self.nodes.pop()


def _match_masked_descriptor(items: list[Item], i: int) -> DescriptorCall | None:
    """`wgmma.masked_descriptor` and `tcgen05.masked_descriptor`: ((address + offset) & mask) >> 4 | constant."""
    steps = _Matcher(items, i)
    moved = steps.next("add.u32", "add.s32")
    offset, source, inner = "0", None, None
    if moved is not None:
        inner, source, offset = moved
        if not isinstance(offset, str) or not _is_number(offset):
            return None
    masked = steps.next("and.b32", left=inner)
    if masked is None or not isinstance(masked[2], str) or not _is_number(masked[2]):
        return None
    source = source or masked[1]
    index = steps.next("shr.u32", left=masked[0])
    if index is None or index[2] != "4":
        return None
    wide = steps.next("cvt.u64.u32", left=index[0])
    whole = steps.next("or.b64", left=wide[0]) if wide is not None else None
    if wide is None or whole is None or whole[0] != wide[0]:
        return None
    if not isinstance(whole[2], str) or not _is_number(whole[2]):
        return None
    if not isinstance(source, (RegisterOperand, LabelOperand)):
        return None
    keywords = ([f"byte_offset={offset}"] if offset != "0" else []) + [
        f"mask={int(masked[2]):#x}",
        f"const_bits={int(whole[2]):#x}",
    ]
    copied = steps.next("mov.b64", left=whole[0])
    if copied is not None and copied[2] is None:
        return DescriptorCall("ptx.tcgen05.masked_descriptor", source, keywords, copied[0], steps.nodes)
    if copied is not None:
        steps.undo()
    return DescriptorCall("ptx.wgmma.masked_descriptor", source, keywords, whole[0], steps.nodes)


def _match_make_descriptor(items: list[Item], i: int) -> DescriptorCall | None:
    """`wgmma.make_descriptor`: bits of an address, and a constant of strides and swizzle."""
    steps = _Matcher(items, i)
    wide = steps.next("cvt.u64.u32")
    source = wide[1] if wide else None
    last = wide[0] if wide else None
    moved = steps.next("add.s64", left=last)
    offset = "0"
    if moved is not None:
        if not isinstance(moved[2], str) or not _is_number(moved[2]):
            return None
        last, offset, source = moved[0], moved[2], source or moved[1]
    start = steps.next("shr.u64", left=last)
    if start is None or start[2] != "4":
        return None
    source, name = source or start[1], start[0]
    field = steps.next("and.b64", left=name)
    if field is None or field[0] != name or field[2] != "16383":
        return None
    constant = steps.next("mov.b64")
    whole = steps.next("or.b64", left=name) if constant is not None else None
    if constant is None or whole is None or whole[0] != name or getattr(whole[2], "name", None) != constant[0]:
        return None
    bits = str(constant[1])
    if not isinstance(source, (RegisterOperand, LabelOperand)) or not _is_number(bits):
        return None
    keywords = list(_fields(int(bits) & (1 << 64) - 1))
    if not keywords:
        return None
    if offset != "0":
        keywords.append(f"addr_byte_offset={offset}")
    return DescriptorCall("ptx.wgmma.make_descriptor", source, keywords, name, steps.nodes)


def _fields(bits: int) -> Iterator[str]:
    """Yield the keywords of `make_descriptor` that produce a constant; nothing if none do."""
    leading, stride, base, swizzle = bits >> 16 & 0x3FFF, bits >> 32 & 0x3FFF, bits >> 49 & 7, bits >> 62
    if leading << 16 | stride << 32 | base << 49 | swizzle << 62 != bits:
        return
    yield f"leading_byte_offset={16 * leading}"
    yield f"stride_byte_offset={16 * stride}"
    if swizzle:
        yield f"swizzle={swizzle}"
    if base:
        yield f"base_offset={base}"


def _is_number(text: str) -> bool:
    return text.isdecimal()
