"""Registers: declaring them, one or many. Operators on them are in `tracing.operators`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyptx._loc import user_place
from pyptx.errors import NoValueError, ShapeError
from pyptx.ir.nodes import (
    AddressOperand,
    LabelOperand,
    NegatedOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.isa.registers import SPECIAL
from pyptx.tracing.operand import float_literal
from pyptx.tracing.operators import PREFIX, Operators, arithmetic, readable
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, no_type, pred

__all__ = ["NegPred", "PipeRef", "Reg", "RegArray", "alloc", "alloc_array", "array", "from_", "readable", "scalar",
           "wgmma_frag"]

_FAMILY = {"b8": "%ab", "b16": "%ah", "b32": "%ar", "b64": "%ad", "b128": "%aq", "u8": "%au8", "u16": "%au16",
           "u32": "%au", "u64": "%aud", "s8": "%as8", "s16": "%as16", "s32": "%as", "s64": "%asd", "f16": "%af16",
           "f16x2": "%af16x2", "bf16": "%abf", "bf16x2": "%abfx2", "tf32": "%atf", "f32": "%af", "f64": "%afd",
           "e4m3": "%ae4", "e5m2": "%ae5", "pred": "%ap"}


_OR = "ptx.inst.or_.pred(reg.scalar(pred), p, q)"


def _node(name: str) -> RegisterOperand | LabelOperand:
    """A register in the tree. Without a percent sign it reads as a name, as it does for the parser."""
    return RegisterOperand(name) if name[:1] == "%" else LabelOperand(name)


class Reg(Operators):
    """One register of the kernel being traced: a name and a type. Operators on it write instructions.

    Examples:
        >>> @kernel
        ... def sums():
        ...     a, b = reg.scalar(s32, init=1), reg.scalar(s32, init=2)
        ...     a += (a + b) * 4
        >>> print(sums.ptx())
        .version 8.5
        ...
            mov.s32 %r0, 1;
            mov.s32 %r1, 2;
            add.s32 %r2, %r0, %r1;
            mul.lo.s32 %r3, %r2, 4;
            add.s32 %r0, %r0, %r3;
        }
    """

    __slots__ = ("dtype", "name", "node")

    def __init__(self, name: str, dtype: PtxType):
        self.name, self.dtype = name, dtype
        self.node = _node(name)                         # as the tree holds it

    def __ptx_operand__(self) -> RegisterOperand | LabelOperand:
        return self.node

    def __ptx_address__(self) -> AddressOperand:
        return AddressOperand(self.name)

    def __repr__(self) -> str:
        return f"Reg({self.name}, {self.dtype})"

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> bool:
        raise NoValueError(f"{self!r} has no value while the kernel is traced, so Python cannot branch on it",
                           at=user_place(),
                           hint="write `with ptx.if_(condition):` for a branch in the kernel, or ptx.inst.selp; for "
                                "`and`, `or`, `not` of predicates p & q, " + _OR + ", ~p")

    def __index__(self) -> int:
        raise NoValueError(f"{self!r} has no value while the kernel is traced, so it is no Python index or range",
                           at=user_place(), hint="write `for k in ptx.range_(start, stop):` for a loop in the kernel")

    __int__ = __len__ = __index__

    def __float__(self) -> float:
        raise NoValueError(f"{self!r} has no value while the kernel is traced, so functions of Python do not take it",
                           at=user_place(), hint="functions of registers are instructions: ptx.inst.sqrt.rn.f32, "
                                                 "ptx.inst.ex2.approx.f32, ...")

    def __iter__(self):
        raise NoValueError(f"{self!r} is one register and cannot be iterated", at=user_place(),
                           hint="use reg.array(dtype, count)")

    # on predicates: pairs and negation ------------------------------------------------------------------------------

    def __or__(self, other: Any) -> Any:
        if self.dtype == pred or (isinstance(other, Reg) and other.dtype == pred):
            return PipeRef(self, other)
        return arithmetic("or", self, other)

    def __invert__(self) -> Any:
        return NegPred(self) if self.dtype == pred else super().__invert__()


class NegPred:
    """A negated predicate, `~p`; printed `!%p`, as a guard `@!%p`."""

    __slots__ = ("reg",)

    def __init__(self, reg: Reg):
        self.reg = reg

    @property
    def negated_register(self) -> str:
        """Name of the predicate register that is negated."""
        return self.reg.name

    def __ptx_operand__(self) -> NegatedOperand:
        return NegatedOperand(self.reg.node)

    def __invert__(self) -> Reg:
        return self.reg

    def __and__(self, other: Any) -> Reg:
        return self._register() & other

    def __xor__(self, other: Any) -> Reg:
        return self._register() ^ other

    __rand__, __rxor__ = __and__, __xor__

    def __or__(self, other: Any) -> Reg:
        raise TypeError(f"{self!r} | {other!r} is no pair of registers; the or of predicates is " + _OR)

    def _register(self) -> Reg:
        """A predicate of its own."""
        register = scalar(pred)
        emit("not", "pred", register, self.reg)
        return register

    def __repr__(self) -> str:
        return f"~{self.reg!r}"

    __bool__ = Reg.__bool__


class PipeRef:
    """Two destinations of one instruction, `p | q`; printed `%p|%q`. It is no condition."""

    __slots__ = ("left", "right")

    def __init__(self, left: Reg, right: Reg):
        self.left, self.right = left, right

    def __ptx_operand__(self) -> PipeOperand:
        return PipeOperand(self.left.node, self.right.node)

    def __repr__(self) -> str:
        return f"{self.left!r} | {self.right!r}"

    @property
    def why_no_guard(self) -> str:
        """What `pred=` and `ptx.if_` add where they refuse it."""
        return f"; that is a pair of destinations, as PTX writes it, and the or of predicates is {_OR}"

    def __and__(self, other: Any) -> Reg:
        raise TypeError(f"a predicate is expected, not {self!r}{self.why_no_guard}")

    __rand__ = __xor__ = __rxor__ = __or__ = __ror__ = __and__

    def __invert__(self) -> Reg:
        return self & None

    __bool__ = Reg.__bool__


class RegArray:
    """`count` registers of one declaration: `.reg .f32 %f<64>;`."""

    __slots__ = ("_node", "base", "count", "dtype")

    def __init__(self, base: str, dtype: PtxType, count: int):
        self.base, self.dtype, self.count = base, dtype, count
        self._node: VectorOperand | None = None

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Reg:
        if isinstance(i, slice):
            return self.regs()[i]
        if not 0 <= i < self.count:
            raise IndexError(f"register {i} of {self.base}<{self.count}>; expected 0..{self.count - 1}")
        return Reg(f"{self.base}{i}", self.dtype)

    def __setitem__(self, i: int, value: Reg) -> None:
        """Copy `value` into register i."""
        target = self[i]
        if not isinstance(value, Reg):
            raise TypeError(f"{self.base}[{i}] takes a register, not {value!r}; write a number with ptx.inst.mov")
        if value.name != target.name:
            emit("mov", f"b{self.dtype.bits}", target, value)

    def __iter__(self) -> Iterator[Reg]:
        return iter(self.regs())

    def __repr__(self) -> str:
        return f"RegArray({self.base}<{self.count}>, {self.dtype})"

    def __ptx_operand__(self) -> VectorOperand:
        if self._node is None:                          # an accumulator is written many times
            self._node = VectorOperand(tuple(_node(f"{self.base}{i}") for i in range(self.count)))
        return self._node

    def regs(self) -> list[Reg]:
        """All registers, in the order of their numbers."""
        return [Reg(f"{self.base}{i}", self.dtype) for i in range(self.count)]

    def hw_order(self, *, reverse: bool = False) -> list[Reg]:
        """The registers in declaration order, or reversed."""
        return self.regs()[::-1] if reverse else self.regs()


# declaring ----------------------------------------------------------------------------------------------------------

def scalar(dtype: PtxType, init: object = None, name: str | None = None) -> Reg:
    """Declare one register, and set it when `init` is given (a number, or text taken as it is)."""
    if dtype.__class__ is not PtxType:
        raise no_type(dtype)
    ctx = get_ctx()
    if name is not None:
        ctx.declare(dtype, name)
    elif dtype == pred:
        name = ctx.predicate()
    else:
        name = ctx.fresh(dtype, PREFIX[dtype.name], user_place())
    register = Reg(name, dtype)
    if init is not None:
        emit("mov", dtype.register, register, _initial(dtype, init))
    return register


def array(dtype: PtxType, count: int, name: str | None = None) -> RegArray:
    """Declare `count` registers with consecutive names.

    Raises:
        ShapeError: count is not positive.
    """
    _require_positive(count)
    if dtype.__class__ is not PtxType:
        raise no_type(dtype)
    ctx = get_ctx()
    if name is not None:
        ctx.names[name] = max(ctx.names[name], count)
        base = name
    else:
        prefix = PREFIX[dtype.name]
        if ctx.names[prefix] == 0 and dtype != pred:
            base, ctx.names[prefix] = prefix, count
        else:
            ctx.next_index(prefix)
            base = f"{prefix}arr{ctx.next_index(prefix + 'arr')}_"
    ctx.declare(dtype, base, count)
    return RegArray(base, dtype, count)


def from_(src: object, dtype: PtxType) -> Reg:
    """A new register holding `src`: a register, a number, or the name of a symbol.

    Raises:
        TypeError: a register whose number has to be converted; the bits of one are copied as b32 or b64.
    """
    register = scalar(dtype)
    if isinstance(src, Reg) and "." not in src.name and src.name not in SPECIAL:
        bits = "b" in (src.dtype.register[0], dtype.register[0])
        if src.dtype.bits != dtype.bits or not (bits or src.dtype.is_float == dtype.is_float):
            rounds = ".rn" * (dtype.is_float and (dtype.bits < src.dtype.bits or not src.dtype.is_float))
            rounds = rounds or ".rzi" * (src.dtype.is_float and not dtype.is_float)
            raise TypeError(f"reg.from_ copies a register, and {src!r} is no {dtype}; ptx.inst.cvt converts it: "
                            f"ptx.inst.cvt{rounds}.{dtype}.{src.dtype}(reg.scalar({dtype}), x)")
    emit("mov", dtype.register, register, src)
    return register


def alloc(dtype: PtxType) -> Reg:
    """Declare one register of the separate family of automatic names (`%af0`, `%ar0`, ...)."""
    family = _FAMILY[dtype.name]
    ctx = get_ctx()
    name = f"{family}{ctx.next_index(family)}"
    ctx.declare(dtype, name)
    return Reg(name, dtype)


def alloc_array(dtype: PtxType, count: int) -> RegArray:
    """Declare `count` registers of the family of automatic names.

    Raises:
        ShapeError: count is not positive.
    """
    _require_positive(count)
    family = _FAMILY[dtype.name]
    ctx = get_ctx()
    base = f"{family}arr{ctx.next_index(family + 'arr')}_"
    ctx.declare(dtype, base, count)
    return RegArray(base, dtype, count)


def wgmma_frag(*, m: int, n: int, dtype: PtxType, name: str | None = None) -> RegArray:
    """The accumulator of an m x n wgmma tile: m*n/128 registers a thread (128 threads hold the tile).

    Raises:
        ShapeError: m*n is not a positive multiple of 128.
    """
    if m * n <= 0 or m * n % 128:
        raise ShapeError(f"a {m} x {n} tile cannot be spread over 128 threads; m*n must be a positive multiple of 128",
                         at=user_place())
    return array(dtype, m * n // 128, name)


def _require_positive(count: int) -> None:
    if count <= 0:
        raise ShapeError(f"an array of {count} registers; the count must be positive", at=user_place())


def _initial(dtype: PtxType, init: object) -> object:
    if isinstance(init, bool | int | float) and dtype.name in ("f32", "f64", "tf32"):
        return float_literal(float(init), dtype.bits)
    if isinstance(init, float):
        raise TypeError(f"a Python float cannot initialise a {dtype} register; convert with ptx.inst.cvt from an f32, "
                        "or give the bits as an int to a b-type register")
    return init
