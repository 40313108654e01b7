"""Python variables that a loop of the kernel would carry from one iteration to the next, and does not.

The body of `ptx.range_` is traced once: `total = total + x[i]` binds the name to another register, and the loop adds x[i] to the
first one each time. Such a statement is refused.
"""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from opcode import EXTENDED_ARG, opmap
from types import CodeType, FrameType
from typing import Any

from pyptx._loc import SourceLocation, user_frame
from pyptx.elements import Vector
from pyptx.errors import TraceError
from pyptx.ir.nodes import AddressOperand, Instruction, RegisterOperand, Statement
from pyptx.ir.visit import leaves, statements
from pyptx.reg import Reg, RegArray

__all__ = ["LoopVariables"]

_DEEPEST = 3  # levels of nested lists that are compared


class LoopVariables:
    """The local variables of the user's function at the start of a loop body; made where the body begins."""

    def __init__(self) -> None:
        self._frame = user_frame()
        self._before = _values(self._frame)
        self._lasti = self._frame.f_lasti if self._frame is not None else 0

    def check(self, body: Sequence[Statement]) -> None:
        """Refuse a variable that the body reads and then binds to another register; called where it ends.

        Args:
            body: statements that the body has emitted.
        Raises:
            TraceError: at the statement that binds it.
        """
        if self._frame is None:
            return
        after = _values(self._frame)
        changed = [
            (name, value, after[name])
            for name, value in self._before.items()
            if name in after and _differ(value, after[name])
        ]
        if not changed:
            return
        read, code = _registers(body), self._frame.f_code
        names = Counter(name for value in self._before.values() for name in _names(value))
        for text, before, value in changed:
            old, new = _names(before), _names(value)
            if old and not read.intersection(old):
                continue
            if "[" not in text:
                read_first = _first_access(code, self._lasti + 2, text) == "LOAD"
                at = _bound_after_read(text, _accesses(code, self._lasti)) if read_first else None
                place = None if at is None else SourceLocation(code, at)
            else:  # the only name of the register: whoever reads it reads the element
                place = _written_at(body, new[0]) if old and names[old[0]] == 1 else None
            if place is not None:
                raise TraceError(
                    f"the loop does not carry {text} from one iteration to the next: its body is traced once, and reads "
                    f"{before!r} each time, while {text} becomes {value!r}",
                    at=place,
                    hint=f"update it in place, `{text} += value` or ptx.inst.max.f32({text}, {text}, value), or give the result another name"
                    if old
                    else f"before the loop, `{text} = reg.scalar({value.dtype}, {before!r})`; in it, `{text} += value`, which updates "
                    "the register",
                )


def _values(frame: FrameType | None) -> dict[str, Any]:
    """Return the registers, vectors and numbers of the local variables, by their text: total, sums[3]."""
    found: dict[str, Any] = {}

    def walk(text: str, value: Any, depth: int) -> None:
        if isinstance(value, Reg | Vector) or (type(value) in (int, float) and not depth):
            found[text] = value
        elif isinstance(value, list) and not isinstance(value, RegArray) and depth < _DEEPEST:
            for i, one in enumerate(value):
                walk(f"{text}[{i}]", one, depth + 1)

    for name, value in ({} if frame is None else frame.f_locals).items():
        walk(name, value, 0)
    return found


def _names(value: Any) -> tuple[str, ...]:
    """Return the names of the registers of a value."""
    if isinstance(value, Reg):
        return (value.name,)
    return tuple(word.name for word in value.words) if isinstance(value, Vector) else ()


def _differ(before: Any, after: Any) -> bool:
    return isinstance(after, Reg | Vector) and _names(before) != _names(after)


def _registers(body: Sequence[Statement]) -> set[str]:
    """Return the names of the registers in the instructions of a loop body."""
    found: set[str] = set()
    for one in statements(body):
        if isinstance(one, Instruction):
            found |= {one.predicate.register} if one.predicate is not None else set()
            for operand in one.operands:
                if type(operand) is RegisterOperand:
                    found.add(operand.name)
                    continue
                for leaf in leaves(operand):
                    if isinstance(leaf, RegisterOperand):
                        found.add(leaf.name)
                    elif isinstance(leaf, AddressOperand):
                        found.add(leaf.base)
    return found


def _written_at(body: Sequence[Statement], name: str) -> SourceLocation | None:
    """Return the place of the first instruction of a loop body whose first operand is a register."""
    for one in statements(body):
        if isinstance(one, Instruction) and one.operands:
            if any(isinstance(leaf, RegisterOperand) and leaf.name == name for leaf in leaves(one.operands[0])):
                return one.place
    return None


_ACCESSES = {
    number: [word for word in name.split("_") if word in ("LOAD", "STORE")]
    for name, number in opmap.items()
    if "FAST" in name or "DEREF" in name
}


@cache
def _first_access(code: CodeType, start: int, name: str) -> str | None:
    """Return "LOAD" or "STORE" for the first access to a local variable in the bytecode from an offset on; None without one.

    It decides most variables that a loop body binds: `dis`, which `_accesses` needs, takes 2 ms for a body of 100 lines.
    """
    names = [*code.co_varnames, *(cell for cell in code.co_cellvars if cell not in code.co_varnames), *code.co_freevars]
    if name not in names:  # of code that `exec` runs
        return None
    wanted, raw, high = names.index(name), code.co_code, 0
    for at in range(start, len(raw), 2):
        operand = raw[at + 1] | high
        high = operand << 8 if raw[at] == EXTENDED_ARG else 0
        words = _ACCESSES.get(raw[at], ())
        if len(words) == 2:  # Python 3.13: two variables, each in four bits
            operands = operand >> 4, operand & 15
            words = [word for word, one in zip(words, operands, strict=True) if one == wanted]
        elif operand != wanted:
            continue
        if words:
            return words[0]
    return None


@cache
def _accesses(code: CodeType, lasti: int) -> tuple[tuple[str, str, int], ...]:
    """Return the accesses to local variables in the body of a `for`, in the order of the text.

    Args:
        lasti: offset of the instruction that asks for the next value.
    Returns:
        ("LOAD" or "STORE", name, offset of the instruction) of each; none if the loop is not a `for` statement.
    """
    instructions = list(dis.get_instructions(code))
    start = max((one for one in instructions if one.offset <= lasti), key=lambda one: one.offset)
    if start.opname != "FOR_ITER":
        return ()
    inside = (one for one in instructions if lasti < one.offset < start.argval)
    return tuple(access for one in inside for access in _accesses_of(one))


def _accesses_of(one: dis.Instruction) -> Iterator[tuple[str, str, int]]:
    """Iterate over the accesses of an instruction; some newer ones, such as STORE_FAST_LOAD_FAST, are two."""
    if "FAST" in one.opname or "DEREF" in one.opname:
        words = [word for word in one.opname.split("_") if word in ("LOAD", "STORE")]
        names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
        yield from ((word, name, one.offset) for word, name in zip(words, names, strict=False))


def _bound_after_read(name: str, accesses: Sequence[tuple[str, str, int]]) -> int | None:
    """Return the offset of the statement that binds a variable whose first access is a read; else None."""
    own = [(word, offset) for word, other, offset in accesses if other == name]
    if not own or own[0][0] != "LOAD":
        return None
    return next((offset for word, offset in own if word == "STORE"), None)
