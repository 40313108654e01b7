"""Which Python variable stands for which register."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.codegen.layout import identifier
from pyptx.ir.nodes import RegDecl
from pyptx.isa import registers

__all__ = ["Declared", "Names"]


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared register, or several of one name, and the Python variable that holds it."""

    variable: str
    type: str
    count: int | None

    def element(self, index: int | None) -> str:
        return self.variable if index is None else f"{self.variable}[{index}]"


class Names:
    """Registers by name, innermost scope first."""

    def __init__(self, taken: set[str]):
        self.taken = set(taken)
        self._scopes: list[dict[str, Declared | None]] = [{}]
        self._known: dict[str, tuple[str, str] | None] = {}             # register -> its expression and type

    def enter(self) -> None:
        self._scopes.append({})

    def leave(self) -> None:
        self._scopes.pop()
        self._known.clear()

    def declare(self, node: RegDecl) -> Declared:
        """A variable for a declaration; one in an inner scope hides none of an outer one."""
        visible = {d.variable for scope in self._scopes for d in scope.values() if d is not None}
        variable = identifier(node.name, self.taken | visible)
        found = Declared(variable, node.type.value, node.count)
        self._scopes[-1][node.name] = found
        self._known.clear()
        return found

    def hide(self, name: str) -> None:
        """A register that is declared as PTX text: it has no variable, and hides those of outer scopes."""
        self._scopes[-1][name] = None
        self._known.clear()

    def find(self, name: str) -> tuple[str, str] | None:
        """The Python expression for a register and its declared type; None when nothing declares it."""
        try:
            return self._known[name]
        except KeyError:
            found = self._known[name] = self._find(name)
            return found

    def _find(self, name: str) -> tuple[str, str] | None:
        digits = len(name) - len(name.rstrip("0123456789"))
        for scope in reversed(self._scopes):
            if name in scope:
                found = scope[name]
                return None if found is None or found.count is not None else (found.variable, found.type)
            for cut in range(len(name) - digits, len(name)):
                base, index = name[:cut], name[cut:]
                if base in scope and (index == "0" or index[0] != "0"):
                    found = scope[base]
                    if found is None:
                        return None
                    if found.count is not None and int(index) < found.count:
                        return found.element(int(index)), found.type
        return _special(name)


def _special(name: str) -> tuple[str, str] | None:
    row = registers.lookup(name)
    if row is None:
        return None
    kind = "u32" if "u32" in row.types else row.types[0]
    words = name.removeprefix("%").split(".")
    if f"%{words[0]}" in registers.SPECIAL and (len(words) == 2) == bool(registers.SPECIAL[f"%{words[0]}"].components):
        return f"ptx.special.{'.'.join(words)}()", kind
    return f'ptx.sreg("{name}")', kind
