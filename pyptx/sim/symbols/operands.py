"""Operands of a bound instruction: registers, constants, addresses."""

from __future__ import annotations

from pyptx.errors import SimulationError
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    NegatedOperand,
    Operand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.isa import Form
from pyptx.sim.actions import Address, Const, Reg, Special, Sum, Value
from pyptx.sim.memory.address_space import shared_address
from pyptx.sim.symbols.literals import bits_of, integer
from pyptx.sim.symbols.scopes import Scope, Variable
from pyptx.sim.symbols.symbol_table import RESERVED
from pyptx.sim.value_types import width
from pyptx.validate import Bound

__all__ = ["CLOCKS", "Operands"]

# special registers that count time -> bits by which the counter is shifted right
CLOCKS = {"%clock": 0, "%clock64": 0, "%globaltimer": 0, "%globaltimer_lo": 0, "%clock_hi": 32, "%globaltimer_hi": 32}


class Operands:
    """Reads the operands of an instruction in its scope; `bound` is the instruction matched against the table."""

    bound: Bound
    instruction: Instruction
    choices: dict[str, str | None]
    form: Form

    def __init__(self, instruction: Instruction, scope: Scope, bound: Bound):
        self.instruction, self._real_scope, self.bound = instruction, scope, bound
        self.form, self.choices = bound.form, bound.choices

    @property
    def scope(self) -> Scope:
        """Scope of the instruction."""
        return self._real_scope

    def __contains__(self, name: str) -> bool:
        return self.bound.operands.get(name) is not None

    def choice(self, slot: str) -> str:
        """Word chosen for a slot of the form that the instruction must fill."""
        word = self.choices.get(slot)
        if word is None:
            raise self.refuse(f"a choice of .{slot} is missing")
        return word

    def operand(self, name: str) -> Operand:
        """Operand by its name in the syntax of the form."""
        return self.bound.operands[name]

    def type(self, name: str) -> str:
        """Type of an operand."""
        return self.bound.types[name]

    def value(self, name: str) -> Value:
        """Source operand without its negation, see `negated`."""
        return self.as_value(self.operand(name), self.type(name))

    def negated(self, name: str) -> bool:
        """Return whether a source is negated: `!%p`."""
        return isinstance(self.operand(name), NegatedOperand)

    def target(self, name: str) -> Reg | None:
        """Destination; None if it is absent or `_`."""
        operand = self.bound.operands.get(name)
        return None if operand is None else self.as_target(operand)

    def required_target(self, name: str) -> Reg:
        """Destination that must be a register."""
        register = self.target(name)
        if register is None:
            raise self.refuse(f"operand {name} must be a register")
        return register

    def values(self, name: str) -> tuple[Value, ...]:
        """Elements of a source that may be a vector."""
        return tuple(self.as_value(e, self.type(name)) for e in self._elements(name))

    def targets(self, name: str) -> tuple[Reg | None, ...]:
        """Elements of a destination that may be a vector."""
        return tuple(self.as_target(e) for e in self._elements(name))

    def number(self, name: str) -> int:
        """Value of an operand that must be a number."""
        operand = self.operand(name)
        if not isinstance(operand, ImmediateOperand):
            raise self.refuse(f"operand {name} must be a number")
        return integer(operand.text)

    def _elements(self, name: str) -> tuple[Operand, ...]:
        operand = self.operand(name)
        if isinstance(operand, (tuple, list)):
            return tuple(operand)
        return operand.elements if isinstance(operand, VectorOperand) else (operand,)

    def as_target(self, operand: Operand) -> Reg | None:
        """Read an operand node as a destination; None for `_`."""
        match operand:
            case RegisterOperand("_") | LabelOperand("_"):
                return None
            case RegisterOperand(name) | LabelOperand(name):
                found = self.scope.register(name)
                if found:
                    return found[0]
                raise self.refuse(f"register {name} is not declared")
        raise self.refuse(f"{operand} cannot be written")

    def as_value(self, operand: Operand, type_name: str) -> Value:
        """Read an operand node as a source of the type."""
        match operand:
            case NegatedOperand(inner):
                return self.as_value(inner, type_name)
            case ImmediateOperand(text):
                bits = width(type_name)
                return Const(bits_of(text, type_name, bits), bits)
            case RegisterOperand(name) | LabelOperand(name):
                found = self.scope.register(name)
                if found:
                    return found[0]
                symbol, _, distance = name.partition("+")  # mov.u32 %r, dyn_smem+512
                symbol = symbol.rstrip()
                variable = self.scope.variable(symbol)
                if variable is not None and variable.stack is None:
                    return self._address_value(variable, integer(distance or "0"))
                if distance and (register := self.scope.register(symbol)):
                    return self._sum(name, *register, distance)
                function = self.scope.symbols.address_of_function(name)
                if function is not None:
                    return Const(function, 64)
                if name in RESERVED and self.scope.symbols.reserved is not None:
                    return Special(shared_address(self.scope.symbols.reserved + 512 * RESERVED.index(name)), 32)
                if name in CLOCKS:
                    raise self.refuse(f"{name} among the elements of a vector is not simulated; mov it to a register")
                if name.startswith("%"):
                    return Special(name, width(type_name))
                if name == "WARP_SZ":
                    return Const(32, 32)
                raise self.refuse(f"{name} is not declared")
            case AddressOperand(base, offset) if (variable := self.scope.variable(base)) is not None:
                return self._address_value(variable, integer(offset or "0"))
        raise self.refuse(f"{operand} is not a value")

    def _address_value(self, variable: Variable, distance: int) -> Value:
        """Address of a variable as a value; in a cluster, a shared address includes the rank of the CTA."""
        address = self.address_of(variable) + distance
        return Special(shared_address(address), 32) if variable.space == "shared" else Const(address, 64)

    def _sum(self, name: str, register: Reg, type_name: str, distance: str) -> Sum:
        """Register plus a constant; not in the manual. ptxas adds integers for them, and crashes for floats."""
        if type_name in ("f32", "f64", "pred"):
            raise self.refuse(f"{name}: a constant is added to a .{type_name} register, which is not simulated")
        if register.width not in (16, 32, 64):
            raise self.refuse(
                f"{name}: a constant is added to a register of {register.width} bits; expected 16, 32 or 64"
            )
        constant = integer(distance) & (1 << register.width) - 1
        return Sum(register, constant, self.scope.function.new_register(name, type_name))

    def address_of(self, variable: Variable) -> int:
        """Address of a variable in its own space."""
        if variable.problem:
            raise self.refuse(f"variable {variable.name}: {variable.problem}")
        if variable.address is None:
            raise self.refuse(f"variable {variable.name} has no address")
        return variable.address

    def variable_address(self, variable: Variable) -> Address:
        """Address of a variable, relative to the stack pointer if its frame is there."""
        return Address(variable.space, variable.stack, self.address_of(variable))

    def address(self, name: str, space: str) -> Address:
        """Read `[base+offset]` as an address in `space`, "" for generic."""
        operand = self.operand(name)
        if not isinstance(operand, AddressOperand):
            raise self.refuse(f"operand {name} is not an address")
        text = operand.offset.partition(",")[0].strip() if operand.offset else ""  # [map, {x, y}] has no offset
        offset = integer(text) if text else 0
        found = self.scope.register(operand.base)
        if found:
            if space == "param" and not self.scope.function.function.is_entry:
                space = "local"  # the address of a parameter is in the frame
            return Address(space or "generic", found[0], offset)
        variable = self.scope.variable(operand.base)
        if variable is not None:
            at = self.variable_address(variable)
            return Address(at.space if at.space == "local" else space or at.space, at.base, at.offset + offset)
        return Address(space or "generic", None, integer(operand.base) + offset)

    def carry(self) -> Reg:
        """Carry flag."""
        return self.scope.symbols.carry()

    @property
    def target_name(self) -> str:
        """Target of the module, such as "sm_90a"."""
        return self.scope.target

    def in_frame(self, operand: Operand) -> Variable | None:
        """Return the variable that an operand names if its frame is at the stack pointer."""
        if not isinstance(operand, LabelOperand | RegisterOperand) or self.scope.register(operand.name) is not None:
            return None
        variable = self.scope.variable(operand.name.partition("+")[0])
        return variable if variable is not None and variable.stack is not None else None

    def refuse(self, message: str) -> SimulationError:
        """Make the error for an operand that cannot be used; the caller raises it."""
        return SimulationError(f"{self.instruction.mnemonic}: {message}", at=self.instruction.place)
