"""Sequences of instructions that one helper of the DSL writes: descriptors of tiles in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyptx.codegen.flow import If, Item, Loop, Region
from pyptx.codegen.idioms import Range
from pyptx.ir.nodes import ImmediateOperand, Instruction, LabelOperand, RegisterOperand

__all__ = ["Helper", "helped"]


@dataclass(slots=True)
class Helper:
    """One call: `result = head(source, keywords)`, a register of 64 bits; `nodes` is what it writes."""

    head: str
    source: RegisterOperand | LabelOperand
    keywords: list[str]
    result: str
    nodes: list[Instruction]


def helped(items: list[Item], take: Callable[[str], bool]) -> list[Item]:
    """The items with such sequences as one Helper each, inside loops and branches too."""
    out: list[Item] = []
    i = 0
    while i < len(items):
        item = items[i]
        match item:
            case Loop(body=body) | Region(body=body) | Range(body=body):
                item.body = helped(body, take)
            case If():
                item.then, item.otherwise = helped(item.then, take), helped(item.otherwise, take)
            case Instruction():
                found = _masked(items, i) or _made(items, i)
                if found is not None and take("helper"):
                    out.append(found)
                    i += len(found.nodes)
                    continue
        out.append(item)
        i += 1
    return out


class _Steps:
    """Instructions from a place on, taken one by one while they are what is wanted."""

    def __init__(self, items: list[Item], start: int):
        self.items, self.start, self.at = items, start, start

    def next(self, *mnemonics: str, left: str | None = None) -> tuple[str, object, object] | None:
        """Names or texts of result, left and right operand of the next instruction; None when it is another."""
        node = self.items[self.at] if self.at < len(self.items) else None
        if not isinstance(node, Instruction) or node.predicate is not None or node.mnemonic not in mnemonics:
            return None
        values = [o.text if isinstance(o, ImmediateOperand) else o for o in node.operands]
        if len(values) not in (2, 3) or not isinstance(node.operands[0], (RegisterOperand, LabelOperand)):
            return None
        if left is not None and getattr(values[1], "name", None) != left:
            return None
        self.at += 1
        return node.operands[0].name, values[1], values[2] if len(values) == 3 else None

    @property
    def nodes(self) -> list[Instruction]:
        return list(self.items[self.start:self.at])


def _masked(items: list[Item], i: int) -> Helper | None:
    """`wgmma.masked_descriptor` and `tcgen05.masked_descriptor`: ((address + offset) & mask) >> 4 | constant."""
    steps = _Steps(items, i)
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
    wide = index and index[2] == "4" and steps.next("cvt.u64.u32", left=index[0])
    whole = wide and steps.next("or.b64", left=wide[0])
    if not whole or whole[0] != wide[0] or not isinstance(whole[2], str) or not _is_number(whole[2]):
        return None
    if not isinstance(source, (RegisterOperand, LabelOperand)):
        return None
    keywords = ([f"byte_offset={offset}"] if offset != "0" else []) + [
        f"mask={int(masked[2]):#x}", f"const_bits={int(whole[2]):#x}"]
    copied = steps.next("mov.b64", left=whole[0])
    if copied is not None and copied[2] is None:
        return Helper("ptx.tcgen05.masked_descriptor", source, keywords, copied[0], steps.nodes)
    if copied is not None:
        steps.at -= 1
    return Helper("ptx.wgmma.masked_descriptor", source, keywords, whole[0], steps.nodes)


def _made(items: list[Item], i: int) -> Helper | None:
    """`wgmma.make_descriptor`: bits of an address, and a constant of strides and swizzle."""
    steps = _Steps(items, i)
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
    constant = field and field[0] == name and field[2] == "16383" and steps.next("mov.b64")
    whole = constant and steps.next("or.b64", left=name)
    if not whole or whole[0] != name or getattr(whole[2], "name", None) != constant[0]:
        return None
    if not isinstance(source, (RegisterOperand, LabelOperand)) or not _is_number(str(constant[1])):
        return None
    keywords = list(_fields(int(constant[1]) & (1 << 64) - 1))
    if not keywords:
        return None
    if offset != "0":
        keywords.append(f"addr_byte_offset={offset}")
    return Helper("ptx.wgmma.make_descriptor", source, keywords, name, steps.nodes)


def _fields(bits: int) -> Iterator[str]:
    """The arguments of make_descriptor that give a constant; none when nothing does."""
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
