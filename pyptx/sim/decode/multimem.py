"""multimem: a multicast object over one device.

The simulator has one GPU, so a multimem address stands for one replica: ld_reduce gives what that holds, whatever the
operation and the precision of its sum; st and red change it.
"""

from __future__ import annotations

from pyptx.sim.actions import asynchronous as act
from pyptx.sim.actions.basic import Action, Address, Atomic, Load, Store
from pyptx.sim.decode import decodes, type_words
from pyptx.sim.memory.args import size_of
from pyptx.sim.symbols.operands import Operands

_SMALL = {".e4m3x4": 4, ".e5m2x4": 4, ".e4m3x2": 2, ".e5m2x2": 2, ".e4m3": 1, ".e5m2": 1}
_OPERATIONS = frozenset("add min max inc dec and or xor".split())


@decodes("multimem")
def multimem(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    words = frozenset(modifiers)
    if ".bulk" in words:
        return _bulk(o, words)
    size = next((_SMALL[m] for m in modifiers if m in _SMALL), None) or size_of(type_words(modifiers)[-1])
    address = o.address("a", "global")
    if modifiers[0] == ".ld_reduce":
        data = o.targets("d")
        return Load(address, size, len(data), False, data)
    values = o.values("b")
    if ".async" in words:
        return act.Send(address, values, size, None, _reduction(o) if modifiers[0] == ".red" else None)
    if modifiers[0] == ".st":
        return Store(address, size, len(values), values)
    type_name = type_words(modifiers)[-1]
    return Atomic(address, _operation(o), type_name.removesuffix("x2"), type_name.endswith("x2"), size, len(values),
                  (None,) * len(values), values)


def _operation(o: Operands) -> str:
    return next(m[1:] for m in o.instruction.modifiers if m[1:] in _OPERATIONS)


def _reduction(o: Operands) -> act.Reduction:
    type_name, operation = type_words(o.instruction.modifiers)[-1], _operation(o)
    return act.Reduction(operation, type_name, operation == "add" and type_name == "f32"
                         and ".noftz" not in o.instruction.modifiers)


def _bulk(o: Operands, words: frozenset[str]) -> Action:
    found = o.address("a", "shared")
    source = Address("shared", found.base, found.offset)
    return act.BulkCopy("store", o.address("d", "global"), source, o.value("sz"), None,
                        _reduction(o) if ".reduce" in words else None, None,
                        o.value("bm") if "bm" in o else None, None, None)
