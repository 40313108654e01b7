"""Spin loops on mbarriers, replaced by waits.

`mbarrier.test_wait` does not block. Where a failed test leads straight back to itself, and nothing in between could
change its result, the loop is a wait: the test becomes one, which costs nothing while it waits and is reported as a
deadlock if its phase can never complete.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.sim.actions import (
    Action,
    Branch,
    Compute,
    Leaf,
    MbarrierTest,
    MbarrierWait,
    Node,
    Nop,
    Reg,
    Special,
    Sum,
    walk,
)
from pyptx.sim.actions.dataflow import sources
from pyptx.sim.arithmetic.evaluator import evaluate
from pyptx.sim.program.templates import TemplateInstance
from pyptx.sim.value_types import width

__all__ = ["replace_spin_loops"]

Step = Action | TemplateInstance
Guard = tuple[Reg, bool] | None

_MAX_LENGTH = 32  # instructions of such a loop


class _UnknownValueError(Exception):
    """A value that is not known before the program runs."""


def replace_spin_loops(steps: Sequence[Step], guards: Sequence[Guard]) -> tuple[Step, ...]:
    """Return the steps with a wait in place of each test that is repeated until it succeeds."""
    found = list(steps)
    for i, step in enumerate(steps):
        kind = step.template.action if isinstance(step, TemplateInstance) else step
        if not isinstance(kind, MbarrierTest) or guards[i] is not None:
            continue
        test = _action(step)
        assert isinstance(test, MbarrierTest)
        if test.data is not None and _repeats(steps, guards, i, test):
            found[i] = MbarrierWait(test.data, test.address, test.phase, test.parity, test.report)
    return tuple(found)


def _action(step: Step) -> Action:
    return step.action if isinstance(step, TemplateInstance) else step


def _repeats(steps: Sequence[Step], guards: Sequence[Guard], start: int, test: MbarrierTest) -> bool:
    """Return whether a test that fails in all lanes is executed again with the same operands."""
    known: dict[int, int | None] = {r.index: 0 for r in (test.data, *test.report) if r is not None}
    read = {r.index for r in sources(test)}  # registers read before they are written in the loop
    at, passed = start + 1, 0
    while at != start:
        passed += 1
        if not 0 <= at < len(steps) or passed > _MAX_LENGTH:
            return False
        guard, action = guards[at], _action(steps[at])
        if guard is not None:
            register, negated = guard
            if register.index not in known or known[register.index] is None:
                return False
            if known[register.index] == negated:
                at += 1
                continue
        if isinstance(action, Branch):
            at = action.target
            continue
        if isinstance(action, Compute):
            results = []
            for target, expression in action.assignments:
                used = {n.value.index for n in walk(expression) if isinstance(n, Leaf) and isinstance(n.value, Reg)}
                read |= used - known.keys()
                results.append((target, _value(expression, known)))
            for target, value in results:
                if target is not None:
                    known[target.index] = None if value is None else value & (1 << target.width) - 1
        elif not isinstance(action, Nop):
            return False
        at += 1
    return not read & known.keys()


def _value(expression: Node, known: dict[int, int | None]) -> int | None:
    """Bits of an expression over known registers and constants; None if it is unknown."""

    def leaf(node: Leaf) -> list[int]:
        match node.value:
            case Reg(index):
                value = known.get(index)
            case Special() | Sum():
                value = None
            case constant:
                value = constant.bits
        if value is None:
            raise _UnknownValueError
        return [(value & (1 << width(node.type)) - 1) ^ node.negated]

    result = expression.type if isinstance(expression, Leaf) else expression.result
    if result[0] == "s" and width(result) < 64:
        return None  # may be sign-extended into a wider register
    try:
        return evaluate(expression, leaf)[0]
    except _UnknownValueError:
        return None
