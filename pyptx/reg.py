"""Registers of a kernel: declaration, arrays, negated predicates.

Operators on registers (`a + b`, `x < n`, ...) are documented in `pyptx.tracing.operators`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, overload

from pyptx._loc import user_place
from pyptx.errors import BoundsError, NoValueError, OperandError, ShapeError
from pyptx.ir.nodes import (
    AddressOperand,
    LabelOperand,
    NegatedOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.isa.registers import SPECIAL
from pyptx.tracing.conversions import convert
from pyptx.tracing.not_python import NotPython
from pyptx.tracing.operand import float_literal
from pyptx.tracing.operators import PREFIX, Operators, arithmetic, readable
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, no_type, pred

__all__ = [
    "NegPred",
    "PipeRef",
    "Reg",
    "RegArray",
    "alloc",
    "alloc_array",
    "array",
    "from_",
    "readable",
    "scalar",
    "wgmma_frag",
]

_FAMILY = {
    "b8": "%ab",
    "b16": "%ah",
    "b32": "%ar",
    "b64": "%ad",
    "b128": "%aq",
    "u8": "%au8",
    "u16": "%au16",
    "u32": "%au",
    "u64": "%aud",
    "s8": "%as8",
    "s16": "%as16",
    "s32": "%as",
    "s64": "%asd",
    "f16": "%af16",
    "f16x2": "%af16x2",
    "bf16": "%abf",
    "bf16x2": "%abfx2",
    "tf32": "%atf",
    "f32": "%af",
    "f64": "%afd",
    "e4m3": "%ae4",
    "e5m2": "%ae5",
    "pred": "%ap",
}


_OR = "ptx.inst.or_.pred(reg.scalar(pred), p, q)"


def _node(name: str) -> RegisterOperand | LabelOperand:
    """Return the tree's operand for a register. A name without a percent sign is a LabelOperand, as in the parser."""
    return RegisterOperand(name) if name[:1] == "%" else LabelOperand(name)


_address = lru_cache(maxsize=4096)(AddressOperand)  # of a register; nodes are immutable and may be shared


def _no_branch(condition: object) -> NoValueError:
    """Return the error of a Python branch on an object that has no value while the kernel is traced."""
    return NoValueError(
        f"{condition!r} has no value while the kernel is traced, so Python cannot branch on it",
        at=user_place(),
        hint="write `with ptx.if_(condition):` for a branch in the kernel, or use ptx.inst.selp; for "
        "`and`, `or`, `not` of predicates, use p & q, " + _OR + ", ~p",
    )


class Reg(NotPython, Operators):
    """A register of the kernel being traced. Operators on it emit instructions.

    A register has no value while the kernel is traced: Python's `if`, `range`, `and` and `math` functions raise
    NoValueError on it, with the DSL's equivalent as the hint.

    Attributes:
        name: as in PTX, for example `%r0`.
        dtype: its PTX type.
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

    name: str
    dtype: PtxType
    node: RegisterOperand | LabelOperand

    def __init__(self, name: str, dtype: PtxType):
        self.name, self.dtype = name, dtype
        self.node = _node(name)  # as the tree holds it

    def __ptx_operand__(self) -> RegisterOperand | LabelOperand:
        return self.node

    def __ptx_address__(self) -> AddressOperand:
        if self.dtype.is_float:
            raise OperandError(
                f"{self!r} is a value, and an address is an integer",
                at=user_place(),
                hint="x[i, j] already loads the element; x.pointer(i, j) is its address",
            )
        return _address(self.name)

    def __repr__(self) -> str:
        return f"Reg({self.name}, {self.dtype})"

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> bool:
        raise _no_branch(self)

    def __index__(self) -> int:
        raise NoValueError(
            f"{self!r} has no value while the kernel is traced, so it cannot be a Python index or range bound",
            at=user_place(),
            hint="write `for k in ptx.range_(start, stop):` for a loop in the kernel",
        )

    def __int__(self) -> int:
        return self.__index__()

    def __len__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        raise NoValueError(
            f"{self!r} has no value while the kernel is traced, so it cannot be converted to a Python float",
            at=user_place(),
            hint="use instructions instead of math functions: ptx.inst.sqrt.rn.f32, ptx.inst.ex2.approx.f32, ...",
        )

    def __iter__(self) -> Iterator[Reg]:
        raise NoValueError(
            f"{self!r} is a single register and cannot be iterated",
            at=user_place(),
            hint="use reg.array(dtype, count) for several registers",
        )

    def to(self, dtype: PtxType, *, rounding: str | None = None) -> Reg:
        """Convert the value to another type; return it in a new register.

        Floats are rounded to nearest even, floats are truncated to integers, both as in C; fp8 saturates at its largest
        finite number. 8-bit integers are held in registers of 32 bits. A copy of bits, such as b32 to f32, is a `mov`.

        Args:
            dtype: type of the result.
            rounding: another rounding: "rn", "rz", "rm" or "rp" to a float; "rni", "rzi", "rmi" or "rpi" to an integer.
        Raises:
            OperandError: no such conversion.
        Examples:
            >>> @kernel
            ... def converted():
            ...     x = reg.scalar(f32, 1.5)
            ...     x.to(bf16), x.to(s32), x.to(s32, rounding="rni")
            >>> print(converted.ptx())
            .version 8.5
            ...
                mov.f32 %f0, 0f3FC00000;
                cvt.rn.bf16.f32 %h0, %f0;
                cvt.rzi.s32.f32 %r0, %f0;
                cvt.rni.s32.f32 %r1, %f0;
            }
        """
        return convert(self, dtype, rounding)

    # on predicates: pairs and negation ------------------------------------------------------------------------------

    def __or__(self, other: Any) -> Any:
        if self.dtype == pred or (isinstance(other, Reg) and other.dtype == pred):
            return PipeRef(self, other)
        return arithmetic("or", self, other)

    def __invert__(self) -> Any:
        return NegPred(self) if self.dtype == pred else super().__invert__()


class NegPred:
    """A negated predicate, `~p`: the operand `!%p`, or the guard `@!%p`."""

    __slots__ = ("reg",)

    reg: Reg

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

    def __rand__(self, other: Any) -> Reg:
        return self & other

    def __rxor__(self, other: Any) -> Reg:
        return self ^ other

    def __or__(self, other: Any) -> Reg:
        raise OperandError(f"{self!r} | {other!r} is not a pair of registers; for OR, use " + _OR)

    def _register(self) -> Reg:
        """Return a new predicate register that holds the negated value."""
        register = scalar(pred)
        emit("not", "pred", register, self.reg)
        return register

    def __repr__(self) -> str:
        return f"~{self.reg!r}"

    def __bool__(self) -> bool:
        raise _no_branch(self)


class PipeRef:
    """A pair of destinations of one instruction, `p | q`: the operand `%p|%q`. It cannot be a condition."""

    __slots__ = ("left", "right")

    left: Reg
    right: Reg

    def __init__(self, left: Reg, right: Reg):
        self.left, self.right = left, right

    def __ptx_operand__(self) -> PipeOperand:
        return PipeOperand(self.left.node, self.right.node)

    def __repr__(self) -> str:
        return f"{self.left!r} | {self.right!r}"

    @property
    def why_no_guard(self) -> str:
        """Explanation that `pred=` and `ptx.if_` append when they refuse the pair."""
        return f"; `|` makes a pair of destinations, as in PTX; for OR, use {_OR}"

    def __and__(self, other: Any) -> Reg:
        raise OperandError(f"expected a predicate, not {self!r}{self.why_no_guard}")

    def __rand__(self, other: Any) -> Reg:
        return self & other

    def __xor__(self, other: Any) -> Reg:
        return self & other

    def __rxor__(self, other: Any) -> Reg:
        return self & other

    def __or__(self, other: Any) -> Reg:
        return self & other

    def __ror__(self, other: Any) -> Reg:
        return self & other

    def __invert__(self) -> Reg:
        return self & None

    def __bool__(self) -> bool:
        raise _no_branch(self)


class RegArray:
    """`count` registers of one declaration: `.reg .f32 %f<64>;`.

    Indexing and iteration give registers, a slice gives a list of them. As an operand the array is the vector of all
    its registers, `{%f0, %f1, ...}`.

    Attributes:
        base: common prefix of the names, `%f`.
        dtype: type of the registers.
        count: number of registers.
    """

    __slots__ = ("_node", "base", "count", "dtype")

    base: str
    dtype: PtxType
    count: int

    def __init__(self, base: str, dtype: PtxType, count: int):
        self.base, self.dtype, self.count = base, dtype, count
        self._node: VectorOperand | None = None

    def __len__(self) -> int:
        return self.count

    @overload
    def __getitem__(self, i: int) -> Reg: ...
    @overload
    def __getitem__(self, i: slice) -> list[Reg]: ...
    def __getitem__(self, i: int | slice) -> Reg | list[Reg]:
        if isinstance(i, slice):
            return self.regs()[i]
        if not 0 <= i < self.count:
            raise BoundsError(f"register {i} of {self.base}<{self.count}>; expected 0..{self.count - 1}")
        return Reg(f"{self.base}{i}", self.dtype)

    def __setitem__(self, i: int, value: Reg) -> None:
        """Copy `value` into register i."""
        target = self[i]
        if not isinstance(value, Reg):
            raise OperandError(f"{self.base}[{i}] takes a register, not {value!r}; assign a number with ptx.inst.mov")
        if value.name != target.name:
            emit("mov", f"b{self.dtype.bits}", target, value)

    def __iter__(self) -> Iterator[Reg]:
        return iter(self.regs())

    def __repr__(self) -> str:
        return f"RegArray({self.base}<{self.count}>, {self.dtype})"

    def __ptx_operand__(self) -> VectorOperand:
        if self._node is None:  # an accumulator is written many times
            self._node = VectorOperand(tuple(_node(f"{self.base}{i}") for i in range(self.count)))
        return self._node

    def regs(self) -> list[Reg]:
        """Return all registers in the order of their numbers."""
        return [Reg(f"{self.base}{i}", self.dtype) for i in range(self.count)]

    def hw_order(self, *, reverse: bool = False) -> list[Reg]:
        """Return the registers in declaration order, or reversed. Part of the 0.1 API; same as `regs()`."""
        return self.regs()[::-1] if reverse else self.regs()


# declaring ----------------------------------------------------------------------------------------------------------


def scalar(dtype: PtxType, init: object = None, name: str | None = None) -> Reg:
    """Declare a register.

    Args:
        dtype: a type of `pyptx.types`.
        init: initial value, a number or a literal as text; default: uninitialized.
        name: exact PTX name, such as `%acc`; default: the next name of the type's prefix.
    Returns:
        The register.
    Raises:
        TypeError: `dtype` is not a type, or a Python float initializes a register that is not f32, f64 or tf32.
    """
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
    """Declare `count` registers with consecutive names, `.reg .<dtype> name<count>;`.

    Args:
        dtype: a type of `pyptx.types`.
        count: number of registers.
        name: exact common prefix of the names; default: one of the type.
    Raises:
        ShapeError: `count` is not positive.
        TypeError: `dtype` is not a type.
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
    """Return a new register of type `dtype` holding `src`.

    Args:
        src: a register of the same width, a special register, a number, or the name of a variable (its address).
        dtype: type of the new register. The bits of `src` are copied; nothing is converted.
    Raises:
        TypeError: `src` is a register whose value needs a conversion; the message names the `cvt` that does it.
    """
    register = scalar(dtype)
    if isinstance(src, Reg) and "." not in src.name and src.name not in SPECIAL:
        bits = "b" in (src.dtype.register[0], dtype.register[0])
        if src.dtype.bits != dtype.bits or not (bits or src.dtype.is_float == dtype.is_float):
            rounds = ".rn" * (dtype.is_float and (dtype.bits < src.dtype.bits or not src.dtype.is_float))
            rounds = rounds or ".rzi" * (src.dtype.is_float and not dtype.is_float)
            raise OperandError(
                f"reg.from_ copies bits, and {src!r} is not {dtype}; convert it with "
                f"ptx.inst.cvt{rounds}.{dtype}.{src.dtype}(reg.scalar({dtype}), x)"
            )
    emit("mov", dtype.register, register, src)
    return register


def alloc(dtype: PtxType) -> Reg:
    """Declare a register of a separate family of names (`%af0`, `%ar0`, ...).

    Part of the 0.1 API; new code uses `reg.scalar`.
    """
    family = _FAMILY[dtype.name]
    ctx = get_ctx()
    name = f"{family}{ctx.next_index(family)}"
    ctx.declare(dtype, name)
    return Reg(name, dtype)


def alloc_array(dtype: PtxType, count: int) -> RegArray:
    """Declare `count` registers of a separate family of names (`%afarr0_0`, ...).

    Part of the 0.1 API; new code uses `reg.array`.

    Raises:
        ShapeError: `count` is not positive.
    """
    _require_positive(count)
    family = _FAMILY[dtype.name]
    ctx = get_ctx()
    base = f"{family}arr{ctx.next_index(family + 'arr')}_"
    ctx.declare(dtype, base, count)
    return RegArray(base, dtype, count)


def wgmma_frag(*, m: int, n: int, dtype: PtxType, name: str | None = None) -> RegArray:
    """Declare the accumulator of an m x n wgmma tile: m*n/128 registers per thread of a warpgroup.

    Args:
        m, n: tile size in elements.
        dtype: type of the accumulator, usually f32.
        name: exact common prefix of the names.
    Raises:
        ShapeError: m*n is not a positive multiple of 128.
    """
    if m * n <= 0 or m * n % 128:
        raise ShapeError(
            f"a {m} x {n} tile cannot be distributed over 128 threads; m*n must be a positive multiple of 128",
            at=user_place(),
        )
    return array(dtype, m * n // 128, name)


def _require_positive(count: int) -> None:
    if not isinstance(count, int) or count <= 0:
        raise ShapeError(f"an array of {count} registers; the count must be a positive int", at=user_place())


def _initial(dtype: PtxType, init: object) -> object:
    if isinstance(init, bool | int | float) and dtype.name in ("f32", "f64", "tf32"):
        return float_literal(float(init), dtype.bits)
    if isinstance(init, float):
        raise OperandError(
            f"a Python float cannot initialize a {dtype} register; convert with ptx.inst.cvt from an f32, "
            "or give the bits as an int to a b-type register"
        )
    return init
