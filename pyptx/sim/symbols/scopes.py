"""Scopes of a program: the registers, variables and labels between two braces, and the functions they belong to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from pyptx.ir.nodes import CallPrototype, CallTargets, Function, Module
from pyptx.sim.actions import Address, Reg
from pyptx.sim.memory.address_space import Buffer
from pyptx.sim.symbols.frames import Frame

__all__ = ["Body", "ProgramSymbols", "Scope", "Variable"]


class ProgramSymbols(Protocol):
    """The symbol table as scopes and decoders see it; see SymbolTable for its members."""

    target: str
    module: Module
    functions: dict[str, Function]
    bodies: dict[str, Body]
    addressed: list[str]
    reserved: int | None
    stack_base: int

    def new_register(self, name: str, type_name: str) -> Reg: ...

    def carry(self) -> Reg: ...

    def stack_pointer(self) -> Reg: ...

    def stack_used(self) -> Reg: ...

    def scratch(self, number: int) -> Reg: ...

    def address_of_function(self, name: str) -> int | None: ...


@dataclass(eq=False, slots=True)
class Variable:
    """A declared variable.

    Attributes:
        address: address in its space; None until it is placed.
        buffer: memory of a global variable.
        stack: register with the start of its frame, to which `address` is relative; None for a fixed address.
        problem: reason that no instruction may refer to it, such as an initializer that is not simulated.
    """

    name: str
    space: str
    size: int
    address: int | None = None
    buffer: Buffer | None = None
    stack: Reg | None = None
    problem: str = ""

    @property
    def fixed_address(self) -> int | None:
        """Address that is known before the launch, else None."""
        return None if self.stack is not None or self.problem else self.address


@dataclass(eq=False)
class Scope:
    """Declarations between two braces, with the scope around them.

    Attributes:
        body: the function; None outside of functions.
        families: declarations such as `.reg .b32 %r<9>`: prefix -> (count, type).
        vectors: elements of vector registers, by name.
        parts: what `program.templates` caches for each operand, by its id.
    """

    parent: Scope | None = None
    body: Body | None = None
    registers: dict[str, tuple[Reg, str]] = field(default_factory=dict)
    families: dict[str, tuple[int, str]] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prototypes: dict[str, CallPrototype | CallTargets] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)
    parts: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def function(self) -> Body:
        """The function of the scope."""
        assert self.body is not None, "the scope of the module has no function"
        return self.body

    @property
    def symbols(self) -> ProgramSymbols:
        """Symbol table of the program."""
        return self.function.symbols

    @property
    def target(self) -> str:
        """Target of the module, such as "sm_90a"."""
        return self.symbols.target

    def register(self, name: str) -> tuple[Reg, str] | None:
        """Look up a register and its declared type."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.registers.get(name) or (scope._from_family(name) if scope.families else None)
            if found:
                self.registers[name] = found  # shortens the next lookup
                return found
            scope = scope.parent
        return None

    def _from_family(self, name: str) -> tuple[Reg, str] | None:
        for split in range(len(name.rstrip("0123456789")), len(name)):  # %r1<5>: a prefix may end in digits itself
            family = self.families.get(name[:split])
            if family is not None and (name[split] != "0" or split == len(name) - 1) and int(name[split:]) < family[0]:
                return self.add(name, family[1])
        return None

    def add(self, name: str, type_name: str) -> tuple[Reg, str]:
        """Declare a register."""
        entry = self.function.new_register(name, type_name), type_name
        self.registers[name] = entry
        return entry

    def variable(self, name: str) -> Variable | None:
        """Look up a variable."""
        return self._find("variables", name)

    def label(self, name: str) -> int | None:
        """Look up a label: the number of the instruction it precedes."""
        return self._find("labels", name)

    def table(self, name: str) -> tuple[str, ...] | None:
        """Look up a `.branchtargets` list."""
        return self._find("tables", name)

    def prototype(self, name: str) -> CallPrototype | CallTargets | None:
        """Look up a `.callprototype` or `.calltargets`."""
        return self._find("prototypes", name)

    def vector(self, name: str) -> int | None:
        """Look up a vector register: its number of elements."""
        return self._find("vectors", name)

    def _find(self, kind: str, name: str):
        scope: Scope | None = self
        while scope is not None:
            found = getattr(scope, kind).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None


@dataclass(eq=False)
class Body:
    """A function of the program.

    Attributes:
        scope: its outermost scope.
        start, end: range of its instructions in the program.
        vectors: whether it declares vector registers.
        stack_before: register that holds the bytes alloca had taken at the call, in functions that use alloca.
        registers: registers it declares.
    """

    function: Function
    symbols: ProgramSymbols
    scope: Scope
    start: int = 0
    end: int = 0
    frame: Frame = field(default_factory=Frame)
    vectors: bool = False
    stack_before: Reg | None = None
    registers: list[Reg] = field(default_factory=list)

    def new_register(self, name: str, type_name: str) -> Reg:
        """Add a register of the function."""
        register = self.symbols.new_register(name, type_name)
        self.registers.append(register)
        return register

    def address(self, offset: int) -> Address:
        """Address of a byte of its frame, in its own code."""
        if self.frame.base is None:
            return Address("local", self.symbols.stack_pointer(), offset)
        return Address("local", None, self.frame.base + offset)

    def callee_address(self, base: int | None, offset: int) -> Address:
        """Address of a byte of a callee's frame that starts at `base`, None for one at the stack pointer."""
        return self.address(self.frame.pitch + offset) if base is None else Address("local", None, base + offset)
