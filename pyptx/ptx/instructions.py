"""The instruction namespace `ptx.inst`: one call emits one instruction, spelled as in PTX.

Instructions are appended as written; `validate.check` checks the whole module before it is assembled or launched.
"""

from __future__ import annotations

from pyptx import isa
from pyptx._loc import user_place
from pyptx.errors import OperandError
from pyptx.ir.nodes import Instruction
from pyptx.isa.identifiers import from_identifier, to_identifier
from pyptx.reg import Reg
from pyptx.tracing.operand import operand
from pyptx.tracing.trace import get_ctx, guard

__all__ = ["inst", "pipe"]


class _Chain:
    """A mnemonic being spelled: attribute access adds a modifier, a call appends the instruction."""

    def __init__(self, opcode: str, modifiers: tuple[str, ...]):
        self._opcode, self._modifiers = opcode, modifiers
        self._float_bits = 64 if modifiers and modifiers[-1] in (".f64", ".b64") else 32

    def __getattr__(self, name: str) -> _Chain:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        chain = _Chain(self._opcode, (*self._modifiers, "." + from_identifier(name)))
        self.__dict__[name] = chain  # cached as an instance attribute
        return chain

    def __call__(self, *operands: object, pred: object = None, **named: object) -> Reg | None:
        """Append the instruction.

        Args:
            operands: in PTX order.
            pred: the guard, a predicate register or `~predicate`.

        Returns:
            The first operand if it is a register, else None.
        Raises:
            TypeError: an operand given by name, or a value that is not an operand.
        """
        if named:
            op = isa.op_of(self._opcode)
            order = f", as in {op.forms[0].syntax}" if op is not None else ""
            raise OperandError(
                f"{self!r} takes its operands by position{order}, and only pred= by name; got {', '.join(named)}"
            )
        bits = self._float_bits
        predicate = None if pred is None else guard(pred)
        nodes = tuple([o.node if type(o) is Reg else operand(o, bits) for o in operands])
        get_ctx().statements.append(Instruction(self._opcode, self._modifiers, nodes, predicate, None, user_place(2)))
        first = operands[0] if operands else None
        return first if isinstance(first, Reg) else None

    def __dir__(self) -> list[str]:
        return [to_identifier(word.removeprefix(".")) for word in isa.complete(self._opcode, self._modifiers)]

    def __repr__(self) -> str:
        return f"ptx.inst.{self._opcode}{''.join(self._modifiers)}"

    @property
    def __doc__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - computed  # help(ptx.inst.add) shows the forms of the PTX ISA
        return isa.hover(self._opcode + "".join(self._modifiers)) or ""


class _Instructions:
    """The instruction set: `ptx.inst.add.rn.f32(d, a, b)`."""

    def __getattr__(self, name: str) -> _Chain:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        chain = _Chain(from_identifier(name), ())
        self.__dict__[name] = chain
        return chain

    def __dir__(self) -> list[str]:
        return [to_identifier(opcode) for opcode in isa.OPS]


inst = _Instructions()


class pipe:
    """A chain of instructions, each fed the result of the previous one: `ptx.pipe(x).mul.f32(t, y).add.f32(t, z)`.

    Each call appends `op.modifiers dst, <previous>, *rest;`, and its destination becomes the next previous value.
    """

    def __init__(self, src: object, _chain: _Chain | None = None):
        self._src, self._chain = src, _chain

    def __getattr__(self, name: str) -> pipe:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return pipe(self._src, getattr(inst if self._chain is None else self._chain, name))

    def __call__(self, dst: object, *rest: object, pred: object = None) -> pipe:
        if self._chain is None:
            raise OperandError("ptx.pipe(src) needs an instruction before the call, for instance .add.f32(dst, other)")
        self._chain(dst, self._src, *rest, pred=pred)
        return pipe(dst)
