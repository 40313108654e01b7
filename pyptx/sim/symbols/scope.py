"""What names mean between two braces: registers, variables, labels, jump tables, prototypes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from pyptx.ir.nodes import CallPrototype, CallTargets
from pyptx.sim.actions.basic import Reg
from pyptx.sim.memory.args import size_of
from pyptx.sim.memory.spaces import Buffer

if TYPE_CHECKING:
    from pyptx.sim.symbols.functions import Body
    from pyptx.sim.symbols.names import Names

__all__ = ["Scope", "Variable", "width_of"]


@cache
def width_of(type_name: str) -> int:
    """Bits of a register of the type; 1 for predicates."""
    return 1 if type_name == "pred" else 8 * size_of(type_name)


@dataclass(eq=False, slots=True)
class Variable:
    """A declared variable. `address` is within its space (global: None until it is placed).

    Attributes:
        stack: the register that holds where the frame of its function starts, added to `address`; None: it lies fixed.
        problem: why an instruction must not name it: its initializer is not simulated.
    """

    name: str
    space: str
    size: int
    address: int | None = None
    buffer: Buffer | None = None
    stack: Reg | None = None
    problem: str = ""


@dataclass(eq=False)
class Scope:
    """What names mean between two braces."""

    parent: Scope | None = None
    body: Body | None = None                    # the function; None outside of functions
    registers: dict[str, tuple[Reg, str]] = field(default_factory=dict)
    families: dict[str, tuple[int, str]] = field(default_factory=dict)       # %r<9>: prefix -> count, type
    variables: dict[str, Variable] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prototypes: dict[str, CallPrototype | CallTargets] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)                    # .reg .v4 .f32 v: 4
    parts: dict[int, tuple] = field(default_factory=dict)                    # operands as program/shapes.py has, by id

    @property
    def names(self) -> Names:
        """The names of the program."""
        return self.body.names

    @property
    def target(self) -> str:
        """The module's target, "sm_90a"."""
        return self.body.names.target

    def register(self, name: str) -> tuple[Reg, str] | None:
        """The register and its declared type."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.registers.get(name) or (scope._from_family(name) if scope.families else None)
            if found:
                self.registers[name] = found                # quicker next time
                return found
            scope = scope.parent
        return None

    def _from_family(self, name: str) -> tuple[Reg, str] | None:
        for split in range(len(name.rstrip("0123456789")), len(name)):      # %r1<5>: a prefix may end in digits itself
            family = self.families.get(name[:split])
            if family is not None and (name[split] != "0" or split == len(name) - 1) and int(name[split:]) < family[0]:
                return self.add(name, family[1])
        return None

    def add(self, name: str, type_name: str) -> tuple[Reg, str]:
        entry = self.body.new_register(name, type_name), type_name
        self.registers[name] = entry
        return entry

    def find(self, kind: str, name: str):
        """The nearest entry of `variables`, `labels`, `tables`, `prototypes` or `vectors`."""
        scope: Scope | None = self
        while scope is not None:
            found = getattr(scope, kind).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None
