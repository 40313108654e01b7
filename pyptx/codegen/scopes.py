"""Registers in scope and the Python variables that hold them."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.codegen.python_source import identifier
from pyptx.ir.nodes import RegDecl
from pyptx.isa import registers

__all__ = ["DeclaredRegister", "RegisterScopes"]


@dataclass(frozen=True, slots=True)
class DeclaredRegister:
    """A declared register or register array, and the Python variable that holds it."""

    variable: str
    type: str
    count: int | None

    def element(self, index: int | None) -> str:
        """Return the expression of one register; `index` is None for a scalar."""
        return self.variable if index is None else f"{self.variable}[{index}]"


class RegisterScopes:
    """Registers by name, innermost scope first.

    Args:
        taken: Python names already in use.
    """

    def __init__(self, taken: set[str]):
        self.taken = set(taken)
        self._scopes: list[dict[str, DeclaredRegister | None]] = [{}]
        self._known: dict[str, tuple[str, str] | None] = {}  # register name -> its expression and type

    def enter(self) -> None:
        """Open a scope."""
        self._scopes.append({})

    def leave(self) -> None:
        """Close the innermost scope."""
        self._scopes.pop()
        self._known.clear()

    def declare(self, node: RegDecl) -> DeclaredRegister:
        """Choose a Python variable for a declaration; it shadows no variable of an outer scope."""
        visible = {d.variable for scope in self._scopes for d in scope.values() if d is not None}
        variable = identifier(node.name, self.taken | visible)
        found = DeclaredRegister(variable, node.type.value, node.count)
        self._scopes[-1][node.name] = found
        self._known.clear()
        return found

    def hide(self, name: str) -> None:
        """Record a register declared as PTX text: it has no variable, and shadows those of outer scopes."""
        self._scopes[-1][name] = None
        self._known.clear()

    def find(self, name: str) -> tuple[str, str] | None:
        """Return the Python expression and declared type of a register; None if it is not declared."""
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
