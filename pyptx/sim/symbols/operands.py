"""Operands of one bound instruction as values: registers, numbers, addresses."""

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
from pyptx.sim.actions.basic import Address, Const, Reg, Special, Value
from pyptx.sim.memory.spaces import shared_address
from pyptx.sim.symbols.literals import bits_of, integer
from pyptx.sim.symbols.names import RESERVED
from pyptx.sim.symbols.scope import Scope, Variable, width_of

__all__ = ["CLOCKS", "Operands"]

# registers that count time, and by how many bits each is shifted
CLOCKS = {"%clock": 0, "%clock64": 0, "%globaltimer": 0, "%globaltimer_lo": 0, "%clock_hi": 32, "%globaltimer_hi": 32}

_VALUE_WIDTH = {"s8x4": 32, "u8x4": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64, "e4m3x2": 16, "e5m2x2": 16, "e2m3x2": 16,
                "e3m2x2": 16, "e2m1x2": 8, "ue8m0x2": 16, "s2f6x2": 16, "e4m3x4": 32, "e5m2x4": 32, "e2m3x4": 32,
                "e3m2x4": 32, "e2m1x4": 16, "ue5m3x2": 16, "e4m3": 8, "e5m2": 8}


class Operands:
    """Reads the operands of `instruction` in `scope`; `bound` is what the table made of it."""

    def __init__(self, instruction: Instruction, scope: Scope, bound):
        self.instruction, self.scope, self.bound = instruction, scope, bound
        self.form, self.choices = bound.form, bound.choices

    def __contains__(self, name: str) -> bool:
        return self.bound.operands.get(name) is not None

    def operand(self, name: str) -> Operand:
        return self.bound.operands[name]

    def type(self, name: str) -> str:
        return self.bound.types[name]

    def value(self, name: str) -> Value:
        """A source; its negation is ignored, see `negated`."""
        return self.as_value(self.operand(name), self.type(name))

    def negated(self, name: str) -> bool:
        return isinstance(self.operand(name), NegatedOperand)

    def target(self, name: str) -> Reg | None:
        """A destination; None when it is absent or `_`."""
        operand = self.bound.operands.get(name)
        return None if operand is None else self.as_target(operand)

    def values(self, name: str) -> tuple[Value, ...]:
        """A source that may be a vector, element by element."""
        return tuple(self.as_value(e, self.type(name)) for e in self._elements(name))

    def targets(self, name: str) -> tuple[Reg | None, ...]:
        return tuple(self.as_target(e) for e in self._elements(name))

    def number(self, name: str) -> int:
        """An operand that can only be a number."""
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
        match operand:
            case NegatedOperand(inner):
                return self.as_value(inner, type_name)
            case ImmediateOperand(text):
                width = 1 if type_name == "pred" else _VALUE_WIDTH.get(type_name) or width_of(type_name)
                return Const(bits_of(text, type_name, width), width)
            case RegisterOperand(name) | LabelOperand(name):
                found = self.scope.register(name)
                if found:
                    return found[0]
                symbol, _, distance = name.partition("+")           # mov.u32 %r, dyn_smem+512
                variable = self.scope.find("variables", symbol)
                if variable is not None and variable.stack is None:
                    return self._address_value(variable, integer(distance or "0"))
                function = self.scope.names.address_of_function(name)
                if function is not None:
                    return Const(function, 64)
                if name in RESERVED and self.scope.names.reserved is not None:
                    return Special(shared_address(self.scope.names.reserved + 512 * RESERVED.index(name)), 32)
                if name in CLOCKS:
                    raise self.refuse(f"{name} among the elements of a vector is not simulated; mov it to a register")
                if name.startswith("%"):
                    return Special(name, width_of(type_name))
                if name == "WARP_SZ":
                    return Const(32, 32)
                raise self.refuse(f"{name} is not declared")
            case AddressOperand(base, offset) if self.scope.find("variables", base) is not None:
                return self._address_value(self.scope.find("variables", base), integer(offset or "0"))
        raise self.refuse(f"{operand} is not a value")

    def _address_value(self, variable: Variable, distance: int) -> Value:
        """The address of a variable as a number; that of shared memory says in a cluster which CTA's it is."""
        address = self.address_of(variable) + distance
        return Special(shared_address(address), 32) if variable.space == "shared" else Const(address, 64)

    def address_of(self, variable: Variable) -> int:
        """Address in the variable's own space."""
        if variable.problem:
            raise self.refuse(f"variable {variable.name}: {variable.problem}")
        if variable.address is None:
            raise self.refuse(f"variable {variable.name} has no address")
        return variable.address

    def place_of(self, variable: Variable) -> Address:
        """Where a variable lies."""
        return Address(variable.space, variable.stack, self.address_of(variable))

    def address(self, name: str, space: str) -> Address:
        """`[base+offset]` in `space`, '' for generic."""
        operand = self.operand(name)
        if not isinstance(operand, AddressOperand):
            raise self.refuse(f"operand {name} is no address")
        text = operand.offset.partition(",")[0].strip() if operand.offset else ""       # [map, {x, y}] has no offset
        offset = integer(text) if text else 0
        found = self.scope.register(operand.base)
        if found:
            if space == "param" and not self.scope.body.function.is_entry:
                space = "local"                                     # mov gave the address of a parameter
            return Address(space or "generic", found[0], offset)
        variable = self.scope.find("variables", operand.base)
        if variable is not None:
            at = self.place_of(variable)
            return Address(at.space if at.space == "local" else space or at.space, at.base, at.offset + offset)
        return Address(space or "generic", None, integer(operand.base) + offset)

    def carry(self) -> Reg:
        """The carry flag."""
        return self.scope.names.carry()

    @property
    def target_name(self) -> str:
        """The module's target, "sm_90a"."""
        return self.scope.target

    def in_frame(self, operand: Operand) -> Variable | None:
        """The variable an operand names, when its frame lies where the stack pointer says."""
        if not isinstance(operand, LabelOperand | RegisterOperand) or self.scope.register(operand.name) is not None:
            return None
        variable = self.scope.find("variables", operand.name.partition("+")[0])
        return variable if variable is not None and variable.stack is not None else None

    def refuse(self, message: str) -> SimulationError:
        return SimulationError(f"{self.instruction.mnemonic}: {message}", at=self.instruction.place)
