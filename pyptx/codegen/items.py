"""Items: the structured form of a body, statements and the constructs of the DSL that stand for several."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyptx.ir.nodes import Instruction, LabelOperand, Operand, Predicate, RegisterOperand, Statement

__all__ = ["DescriptorCall", "If", "Item", "Loop", "Range", "Region", "RolledLoop", "Wait"]


@dataclass(slots=True)
class Loop:
    """`label: body; @predicate bra label;`"""

    label: str
    predicate: Predicate | None
    body: list[Item]


@dataclass(slots=True)
class If:
    """`@skip bra past; then; past:`, or with `otherwise` between two labels; `then` runs where `skip` is false."""

    skip: Predicate
    then: list[Item]
    otherwise: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Region:
    """A `{ }` scope."""

    body: list[Item]


@dataclass(slots=True)
class Wait:
    """`ptx.mbarrier.wait`; `node` is the repeated try_wait."""

    node: Instruction


@dataclass(slots=True)
class Range:
    """`for counter in ptx.range_(start, stop, step)`; `nodes` are the mov, setp, bra and add it emits."""

    counter: str
    start: Operand
    stop: Operand
    step: Operand
    label: str
    end: str
    body: list[Item]
    nodes: tuple[Instruction, Instruction, Instruction, Instruction]


@dataclass(slots=True)
class DescriptorCall:
    """`result = head(source, keywords)`, a 64-bit matrix descriptor; `nodes` are the instructions it emits."""

    head: str
    source: RegisterOperand | LabelOperand
    keywords: list[str]
    result: str
    nodes: list[Instruction]


@dataclass(slots=True)
class RolledLoop:
    """`count` repetitions of a group of instructions.

    Attributes:
        group: the first repetition.
        steps: per instruction, the increment of each number in its text.
        count: repetitions.
    """

    group: list[Instruction]
    steps: list[tuple[int, ...]]
    count: int


Item = Statement | Loop | If | Region | Wait | Range | DescriptorCall | RolledLoop
