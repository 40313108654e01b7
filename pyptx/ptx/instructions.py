"""`ptx.inst.<mnemonic>(...)`: one call, one instruction, spelled like the PTX.

Nothing is refused here: the instruction is appended as written, and `validate.check` reads the whole module before it
is assembled or launched.
"""

from __future__ import annotations

from pyptx import isa
from pyptx.ir.nodes import Predicate
from pyptx.isa.spelling import ptx_word, python_word
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
        chain = _Chain(self._opcode, (*self._modifiers, "." + ptx_word(name)))
        self.__dict__[name] = chain                     # the next time this is a plain attribute
        return chain

    def __call__(self, *operands: object, pred: object = None, **named: object) -> Reg | None:
        """Append the instruction; operands in PTX's order, `pred=` is the guard.

        Returns:
            The first operand when it is a register, else None.
        Raises:
            TypeError: an operand that is given by name, or is none.
        """
        if named:
            op = isa.OPS.get(self._opcode)
            order = f", as in {op.forms[0].syntax}" if op is not None else ""
            raise TypeError(f"{self!r} takes its operands by position{order}; by name only pred=, not "
                            f"{', '.join(named)}")
        bits = self._float_bits
        predicate: Predicate | None = None if pred is None else guard(pred)
        nodes = tuple([o.node if o.__class__ is Reg else operand(o, bits) for o in operands])
        get_ctx().emit(self._opcode, self._modifiers, nodes, predicate)
        first = operands[0] if operands else None
        return first if isinstance(first, Reg) else None

    def __dir__(self) -> list[str]:
        return [python_word(word.removeprefix(".")) for word in isa.complete(self._opcode, self._modifiers)]

    def __repr__(self) -> str:
        return f"ptx.inst.{self._opcode}{''.join(self._modifiers)}"

    @property
    def __doc__(self) -> str:                           # help(ptx.inst.add) shows the forms of the manual
        return isa.hover(self._opcode + "".join(self._modifiers)) or ""


class _Instructions:
    """The whole instruction set: `ptx.inst.add.rn.f32(d, a, b)`."""

    def __getattr__(self, name: str) -> _Chain:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        chain = _Chain(ptx_word(name), ())
        self.__dict__[name] = chain
        return chain

    def __dir__(self) -> list[str]:
        return [python_word(opcode) for opcode in isa.OPS]


inst = _Instructions()


class pipe:
    """Feed each result into the next call: `ptx.pipe(x).mul.f32(t, y).add.f32(t, z)`.

    Every call appends `op.modifiers dst, <previous>, *rest;` and its destination becomes the previous one.
    """

    def __init__(self, src: object, _chain: _Chain | None = None):
        self._src, self._chain = src, _chain

    def __getattr__(self, name: str) -> pipe:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return pipe(self._src, getattr(inst if self._chain is None else self._chain, name))

    def __call__(self, dst: object, *rest: object, pred: object = None) -> pipe:
        if self._chain is None:
            raise TypeError("ptx.pipe(src) needs an instruction before the call, for instance .add.f32(dst, other)")
        self._chain(dst, self._src, *rest, pred=pred)
        return pipe(dst)
