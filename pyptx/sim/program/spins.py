"""Loops that do nothing but ask an mbarrier again.

`mbarrier.test_wait` answers at once. Where the answer "not yet" leads straight back to the question, with nothing on
the way that could change it, asking again and again is waiting: the question is then a wait of the simulator, which
costs nothing while it waits and is told as a deadlock when its phase can never end.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.sim.actions.asynchronous import MbarrierTest, MbarrierWait
from pyptx.sim.actions.basic import Action, Branch, Compute, Nop, Reg
from pyptx.sim.actions.means import Leaf, Node, walk
from pyptx.sim.actions.uses import sources
from pyptx.sim.decode.types import width
from pyptx.sim.program.shapes import Shaped
from pyptx.sim.reference.alu import evaluate

__all__ = ["waiting"]

_MOST = 32                                      # instructions of such a loop


class _Unknown(Exception):
    """A value that is not known when the program is read."""


def waiting(steps: Sequence[Action | Shaped], guards: Sequence[tuple[Reg, bool] | None]) -> tuple[Action | Shaped, ...]:
    """The steps, with a wait for each test that is asked again until it is true."""
    found = list(steps)
    for i, step in enumerate(steps):
        kind = step.shape.action if step.__class__ is Shaped else step
        if kind.__class__ is not MbarrierTest or guards[i] is not None:
            continue
        test = _action(step)
        if test.data is not None and _asks_again(steps, guards, i, test):
            found[i] = MbarrierWait(test.data, test.address, test.phase, test.parity, test.report)
    return tuple(found)


def _action(step: Action | Shaped) -> Action:
    return step.action if step.__class__ is Shaped else step


def _asks_again(steps: Sequence, guards: Sequence, start: int, test: MbarrierTest) -> bool:
    """Whether a test that fails in all lanes leads back to itself with everything as it was."""
    known: dict[int, int | None] = {r.index: 0 for r in (test.data, *test.report) if r is not None}
    read = {r.index for r in sources(test)}                     # before it is written in the loop
    at, passed = start + 1, 0
    while at != start:
        passed += 1
        if not 0 <= at < len(steps) or passed > _MOST:
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
    """The bits of an expression where registers are known."""
    def leaf(node: Leaf) -> list[int]:
        value = known.get(node.value.index) if isinstance(node.value, Reg) else getattr(node.value, "bits", None)
        if value is None:
            raise _Unknown
        return [(value & (1 << width(node.type)) - 1) ^ node.negated]
    result = expression.type if isinstance(expression, Leaf) else expression.result
    if result[0] == "s" and width(result) < 64:
        return None                                             # may be extended by its sign into a wider register
    try:
        return evaluate(expression, leaf)[0]
    except _Unknown:
        return None
