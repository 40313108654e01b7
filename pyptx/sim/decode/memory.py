"""Memory accesses: ld, st, atom, red, multimem; cvta and isspacep; cache hints, which have no effect.

The simulator has one GPU, so that a multimem address stands for one replica: ld_reduce reads it, whatever the operation
and precision of its sum; st and red change it.
"""

from __future__ import annotations

from pyptx.sim import actions as act
from pyptx.sim.actions import Action, Address, Apply, Atomic, Compute, Const, IsSpace, Leaf, Load, Nop, Reg, Store
from pyptx.sim.decode._registry import decodes, type_words
from pyptx.sim.memory.address_space import space_window
from pyptx.sim.memory.arguments import size_of
from pyptx.sim.symbols.operands import Operands

__all__ = ["space_of"]

_SPACES = {
    ".global": "global",
    ".shared": "shared",
    ".shared::cta": "shared",
    ".shared::cluster": "cluster",
    ".local": "local",
    ".const": "const",
    ".param": "param",
    ".param::entry": "param",
    ".param::func": "param",
}


def space_of(modifiers: tuple[str, ...]) -> str:
    """Return the state space among the modifiers, "" for generic."""
    return next((_SPACES[m] for m in modifiers if m in _SPACES), "")


@decodes("ld", "ldu")
def load(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    space, types = space_of(modifiers), type_words(modifiers)
    if not types:
        return None
    data = o.targets("d")
    return Load(o.address("a", space), size_of(types[-1]), len(data), types[-1][0] == "s", data)


@decodes("st")
def store(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    space, types = space_of(modifiers), type_words(modifiers)
    if not types or {".async", ".bulk"} & set(modifiers):
        return None
    address, data = o.address("a", space), o.values("b")
    if address.space == "param":
        raise o.refuse("parameters of a kernel cannot be written")
    return Store(address, size_of(types[-1]), len(data), data)


@decodes("cvta")
def cvta(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    space = space_of(modifiers)
    if not space or type_words(modifiers)[-1] != "u64":
        return None
    window = Leaf(Const(space_window(space), 64), "u64")
    sum_ = Apply.of("sub" if ".to" in modifiers else "add", Leaf(o.value("a"), "u64"), window, type="u64")
    return Compute(((o.target("d"), sum_),))


@decodes("isspacep")
def isspacep(o: Operands) -> Action | None:
    space = space_of(o.instruction.modifiers)
    target = o.target("p" if "p" in o else "d")
    return IsSpace(target, o.value("a"), space) if space and isinstance(target, Reg) else None


@decodes("prefetch", "prefetchu", "applypriority", "discard")
def hint(o: Operands) -> Action | None:
    return Nop()  # discard leaves the data undefined; here it is unchanged


# atom and red ------------------------------------------------------------------------------------------------------

_ATOMIC_OPERATIONS = frozenset("add min max and or xor exch cas inc dec".split())


@decodes("atom", "red")
def atomic(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    space, types = space_of(modifiers), type_words(modifiers)
    operation = next((m[1:] for m in modifiers if m[1:] in _ATOMIC_OPERATIONS), None)
    if space not in ("", "global", "shared", "cluster") or not types or operation is None or ".async" in modifiers:
        return None
    type_name = types[-1]
    source = o.values("b")
    data = o.targets("d") if o.instruction.opcode == "atom" and "d" in o else (None,) * len(source)
    if data == (None,):
        data = (None,) * len(source)
    new = o.values("c") if operation == "cas" else ()
    packed = type_name.endswith("x2")
    return Atomic(
        o.address("a", space),
        operation,
        type_name.removesuffix("x2"),
        packed,
        size_of(type_name),
        len(source),
        data,
        source,
        new,
        ".noftz" in modifiers,
    )


# multimem: a multicast object over one device ----------------------------------------------------------------------

_SMALL = (".e4m3x4", ".e5m2x4", ".e4m3x2", ".e5m2x2", ".e4m3", ".e5m2")


@decodes("multimem")
def multimem(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    words = frozenset(modifiers)
    if ".bulk" in words:
        return _bulk(o, words)
    size = size_of(next((m[1:] for m in modifiers if m in _SMALL), None) or type_words(modifiers)[-1])
    address = o.address("a", "global")
    if modifiers[0] == ".ld_reduce":
        data = o.targets("d")
        return Load(address, size, len(data), False, data)
    values = o.values("b")
    if ".async" in words:
        return act.AsyncStore(address, values, size, None, _reduction(o) if modifiers[0] == ".red" else None)
    if modifiers[0] == ".st":
        return Store(address, size, len(values), values)
    type_name = type_words(modifiers)[-1]
    return Atomic(
        address,
        _operation(o),
        type_name.removesuffix("x2"),
        type_name.endswith("x2"),
        size,
        len(values),
        (None,) * len(values),
        values,
    )


def _operation(o: Operands) -> str:
    return next(m[1:] for m in o.instruction.modifiers if m[1:] in _ATOMIC_OPERATIONS)


def _reduction(o: Operands) -> act.Reduction:
    type_name, operation = type_words(o.instruction.modifiers)[-1], _operation(o)
    return act.Reduction(
        operation, type_name, operation == "add" and type_name == "f32" and ".noftz" not in o.instruction.modifiers
    )


def _bulk(o: Operands, words: frozenset[str]) -> Action:
    found = o.address("a", "shared")
    source = Address("shared", found.base, found.offset)
    return act.BulkCopy(
        "store",
        o.address("d", "global"),
        source,
        o.value("sz"),
        None,
        _reduction(o) if ".reduce" in words else None,
        None,
        o.value("bm") if "bm" in o else None,
        None,
        None,
    )
