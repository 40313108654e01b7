"""atom and red."""

from __future__ import annotations

from pyptx.sim.actions.basic import Action, Atomic
from pyptx.sim.decode import decodes, type_words
from pyptx.sim.decode.memory import space_of
from pyptx.sim.memory.args import size_of
from pyptx.sim.symbols.operands import Operands

_OPERATIONS = frozenset("add min max and or xor exch cas inc dec".split())


@decodes("atom", "red")
def atomic(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    space, types = space_of(modifiers), type_words(modifiers)
    operation = next((m[1:] for m in modifiers if m[1:] in _OPERATIONS), None)
    if space not in ("", "global", "shared", "cluster") or not types or operation is None or ".async" in modifiers:
        return None
    type_name = types[-1]
    source = o.values("b")
    data = o.targets("d") if o.instruction.opcode == "atom" and "d" in o else (None,) * len(source)
    if data == (None,):
        data = (None,) * len(source)
    new = o.values("c") if operation == "cas" else ()
    packed = type_name.endswith("x2")
    return Atomic(o.address("a", space), operation, type_name.removesuffix("x2"), packed, size_of(type_name),
                  len(source), data, source, new, ".noftz" in modifiers)
