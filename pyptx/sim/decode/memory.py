"""ld, ldu, st; cvta and isspacep; hints without effect."""

from __future__ import annotations

from pyptx.sim.actions.basic import Action, Compute, Const, IsSpace, Load, Nop, Reg, Store
from pyptx.sim.actions.means import Apply, Leaf
from pyptx.sim.decode import decodes, type_words
from pyptx.sim.memory.args import size_of
from pyptx.sim.memory.spaces import space_window
from pyptx.sim.symbols.operands import Operands

__all__ = ["space_of"]

_SPACES = {".global": "global", ".shared": "shared", ".shared::cta": "shared", ".shared::cluster": "cluster",
           ".local": "local",
           ".const": "const", ".param": "param", ".param::entry": "param", ".param::func": "param"}


def space_of(modifiers: tuple[str, ...]) -> str:
    """The state space among modifiers, '' when it is generic."""
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
    return Nop()                    # what discard leaves undefined is what was there
