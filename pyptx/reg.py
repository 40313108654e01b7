"""Registers: declaring them, and Python operators on them."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx._loc import user_place
from pyptx._operand import float_literal
from pyptx._trace import emit, get_ctx, words
from pyptx.errors import ShapeError, TraceError
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.isa.registers import SPECIAL
from pyptx.types import PtxType, pred, s32, s64, u32, u64

__all__ = ["NegPred", "PipeRef", "Reg", "RegArray", "alloc", "alloc_array", "array", "from_", "scalar", "wgmma_frag"]

_PREFIX = {"pred": "%p", "b16": "%rs", "u16": "%rs", "s16": "%rs", "b32": "%r", "u32": "%r", "s32": "%r", "b64": "%rd",
           "u64": "%rd", "s64": "%rd", "b128": "%rq", "f16": "%h", "bf16": "%h", "f16x2": "%hh", "bf16x2": "%hh",
           "f32": "%f", "tf32": "%f", "f64": "%fd", "e4m3": "%b", "e5m2": "%b", "b8": "%r", "u8": "%r", "s8": "%r"}
_FAMILY = {"b8": "%ab", "b16": "%ah", "b32": "%ar", "b64": "%ad", "b128": "%aq", "u8": "%au8", "u16": "%au16",
           "u32": "%au", "u64": "%aud", "s8": "%as8", "s16": "%as16", "s32": "%as", "s64": "%asd", "f16": "%af16",
           "f16x2": "%af16x2", "bf16": "%abf", "bf16x2": "%abfx2", "tf32": "%atf", "f32": "%af", "f64": "%afd",
           "e4m3": "%ae4", "e5m2": "%ae5", "pred": "%ap"}
_FLOATS = ("f32", "f64")


def _node(name: str) -> RegisterOperand | LabelOperand:
    """A register in the tree. Without a percent sign it reads as a name, as it does for the parser."""
    return RegisterOperand(name) if name[:1] == "%" else LabelOperand(name)


class Reg:
    """One register of the kernel being traced: a name and a type. Operators on it write instructions."""

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
        raise TraceError(f"{self!r} has no value while the kernel is traced, so Python cannot branch on it",
                         at=user_place(),
                         hint="write `with ptx.if_(condition):` for a branch in the kernel, or ptx.inst.selp")

    def __index__(self) -> int:
        raise TraceError(f"{self!r} has no value while the kernel is traced, so it cannot be a Python index or range",
                         at=user_place(), hint="write `for k in ptx.range_(start, stop):` for a loop in the kernel")

    __int__ = __float__ = __len__ = __index__

    def __iter__(self):
        raise TraceError(f"{self!r} is one register and cannot be iterated", at=user_place(),
                         hint="use reg.array(dtype, count)")

    # comparison -----------------------------------------------------------------------------------------------------

    def __lt__(self, other): return _compare("lt", self, other)
    def __le__(self, other): return _compare("le", self, other)
    def __gt__(self, other): return _compare("gt", self, other)
    def __ge__(self, other): return _compare("ge", self, other)
    def __eq__(self, other): return _compare("eq", self, other)
    def __ne__(self, other): return _compare("ne", self, other)

    # arithmetic: a new register each time -----------------------------------------------------------------------------

    def __add__(self, other): return _arithmetic("add", self, other)
    def __radd__(self, other): return _arithmetic("add", self, other)
    def __sub__(self, other): return _arithmetic("sub", self, other)
    def __rsub__(self, other): return _arithmetic("sub", _literal(self, other), self)
    def __mul__(self, other): return _arithmetic("mul", self, other)
    def __rmul__(self, other): return _arithmetic("mul", self, other)
    def __truediv__(self, other): return _arithmetic("truediv", self, other)
    def __rtruediv__(self, other): return _arithmetic("truediv", _literal(self, other), self)
    def __floordiv__(self, other): return _arithmetic("div", self, other)
    def __rfloordiv__(self, other): return _arithmetic("div", _literal(self, other), self)
    def __mod__(self, other): return _arithmetic("rem", self, other)
    def __rmod__(self, other): return _arithmetic("rem", _literal(self, other), self)
    def __lshift__(self, other): return _arithmetic("shl", self, other)
    def __rlshift__(self, other): return _arithmetic("shl", _literal(self, other), self)
    def __rshift__(self, other): return _arithmetic("shr", self, other)
    def __rrshift__(self, other): return _arithmetic("shr", _literal(self, other), self)
    def __and__(self, other): return _arithmetic("and", self, other)
    def __rand__(self, other): return _arithmetic("and", self, other)
    def __xor__(self, other): return _arithmetic("xor", self, other)
    def __rxor__(self, other): return _arithmetic("xor", self, other)

    def __or__(self, other):
        if self.dtype == pred or (isinstance(other, Reg) and other.dtype == pred):
            return PipeRef(self, other)
        return _arithmetic("or", self, other)

    def __ror__(self, other): return _arithmetic("or", self, other)

    def __neg__(self):
        _require_number(self, "-")
        signed = self.dtype if self.dtype.is_float or self.dtype.is_signed else (s64 if self.dtype.bits == 64 else s32)
        value, result = readable(self), scalar(self.dtype)
        emit("neg", signed.name, result, value)
        return result

    def __invert__(self):
        if self.dtype == pred:
            return NegPred(self)
        _require_number(self, "~", floats=False)
        value, result = readable(self), scalar(self.dtype)
        emit("not", f"b{self.dtype.bits}", result, value)
        return result

    # in place: the left register is the destination -------------------------------------------------------------------

    def __iadd__(self, other): return _arithmetic("add", self, other, self)
    def __isub__(self, other): return _arithmetic("sub", self, other, self)
    def __imul__(self, other): return _arithmetic("mul", self, other, self)
    def __itruediv__(self, other): return _arithmetic("truediv", self, other, self)
    def __ifloordiv__(self, other): return _arithmetic("div", self, other, self)
    def __imod__(self, other): return _arithmetic("rem", self, other, self)
    def __ilshift__(self, other): return _arithmetic("shl", self, other, self)
    def __irshift__(self, other): return _arithmetic("shr", self, other, self)
    def __iand__(self, other): return _arithmetic("and", self, other, self)
    def __ixor__(self, other): return _arithmetic("xor", self, other, self)
    def __ior__(self, other): return _arithmetic("or", self, other, self)

    def max(self, other):
        """The larger of two numbers, as a new register."""
        return _arithmetic("max", self, other)

    def min(self, other):
        """The smaller of two numbers, as a new register."""
        return _arithmetic("min", self, other)


class NegPred:
    """A negated predicate, `~p`; printed `!%p`, as a guard `@!%p`."""

    __slots__ = ("reg",)

    def __init__(self, reg: Reg):
        self.reg = reg

    @property
    def negated_register(self) -> str:
        return self.reg.name

    def __ptx_operand__(self) -> NegatedOperand:
        return NegatedOperand(self.reg.node)

    def __invert__(self) -> Reg:
        return self.reg

    def __repr__(self) -> str:
        return f"~{self.reg!r}"

    __bool__ = Reg.__bool__


class PipeRef:
    """Two destinations of one instruction, `p | q`; printed `%p|%q`."""

    __slots__ = ("left", "right")

    def __init__(self, left: Reg, right: Reg):
        self.left, self.right = left, right

    def __ptx_operand__(self) -> PipeOperand:
        return PipeOperand(self.left.node, self.right.node)

    def __repr__(self) -> str:
        return f"{self.left!r} | {self.right!r}"

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
        return [Reg(f"{self.base}{i}", self.dtype) for i in range(self.count)]

    def hw_order(self, *, reverse: bool = False) -> list[Reg]:
        """The registers in declaration order, or reversed."""
        return self.regs()[::-1] if reverse else self.regs()


# declaring ----------------------------------------------------------------------------------------------------------

def scalar(dtype: PtxType, init: object = None, name: str | None = None) -> Reg:
    """Declare one register, and set it when `init` is given (a number, or text taken as it is)."""
    ctx = get_ctx()
    if name is not None:
        ctx.declare(dtype, name)
    elif dtype == pred:
        name = ctx.predicate()
    else:
        prefix = _PREFIX[dtype.name]
        name = f"{prefix}{ctx.next_index(prefix)}"
        ctx.declare(dtype, name)
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
    ctx = get_ctx()
    if name is not None:
        ctx.names[name] = max(ctx.names[name], count)
        base = name
    else:
        prefix = _PREFIX[dtype.name]
        if ctx.names[prefix] == 0 and dtype != pred:
            base, ctx.names[prefix] = prefix, count
        else:
            ctx.next_index(prefix)
            base = f"{prefix}arr{ctx.next_index(prefix + 'arr')}_"
    ctx.declare(dtype, base, count)
    return RegArray(base, dtype, count)


def from_(src: object, dtype: PtxType) -> Reg:
    """A new register holding `src`: a register, a number, or the name of a symbol."""
    register = scalar(dtype)
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


# operators ----------------------------------------------------------------------------------------------------------

_SYMBOL = {"add": "+", "sub": "-", "mul": "*", "div": "//", "truediv": "/", "rem": "%", "shl": "<<", "shr": ">>",
           "and": "&", "or": "|", "xor": "^", "max": ".max", "min": ".min"}
_BITWISE = {"shl", "and", "or", "xor"}


def _literal(like: Reg, value: object) -> Reg:
    """A number on the left of an operator, in a register of its own."""
    if not isinstance(value, int | float):
        raise TypeError(f"cannot combine {value!r} with {like!r}; expected a number or a register")
    return scalar(like.dtype, value)


def _require_number(register: Reg, symbol: str, *, floats: bool = True) -> None:
    dtype = register.dtype
    fits = dtype.name in _FLOATS if dtype.is_float else dtype.bits in (32, 64) and dtype.name[0] in "bus"
    if not fits or (dtype.is_float and not floats):
        raise TypeError(f"operator {symbol} is not defined on {dtype} registers ({register.name}); use ptx.inst")


def readable(value: object) -> object:
    """A special register, which only mov reads, in a register of its own; everything else as it is."""
    if isinstance(value, Reg) and ("." in value.name or value.name in SPECIAL):
        return from_(value, value.dtype)
    return value


def _compare(op: str, left: Reg, right: object) -> Reg:
    dtype = left.dtype
    left, right = readable(left), readable(right)
    if dtype.name in ("b32", "b64"):
        dtype = u64 if dtype.bits == 64 else u32
    result = scalar(pred)
    emit("setp", f"{op}.{dtype.name}", result, left, _right(right, dtype, op))
    return result


def _right(value: object, dtype: PtxType, symbol: str) -> object:
    """The right operand: a register as it is, a number as a literal of the type."""
    if isinstance(value, bool | int | float) and dtype.is_float:
        return float_literal(float(value), dtype.bits)
    if isinstance(value, float):
        raise TypeError(f"a Python float ({value!r}) cannot be combined with a {dtype} register by {symbol}")
    return value


def _widened(register: Reg) -> Reg:
    """A 32-bit register as 64 bits, extended by its own signedness."""
    dtype, source = (s64, "s64.s32") if register.dtype.is_signed else (u64, "u64.u32")
    wide = scalar(dtype)
    emit("cvt", source, wide, register)
    return wide


_SPELLED: dict[tuple[str, str, str], tuple[str, tuple[str, ...]]] = {}     # operators that need no conversion


def _arithmetic(op: str, left: Reg, right: object, destination: Reg | None = None) -> Reg:
    """Write `left op right`; the spelling by type is the contract's table (section 7.2)."""
    kind = right.__class__
    if "." in left.name or left.name in SPECIAL:
        left = readable(left)
        destination = left if destination is not None else None
    if kind is Reg and ("." in right.name or right.name in SPECIAL):
        right = readable(right)
    key = (op, left.dtype.name, "int" if kind is int else right.dtype.name if kind is Reg else "")
    spelled = _SPELLED.get(key)
    if spelled is None:
        return _converted(op, left, right, destination, key)
    ctx, place = get_ctx(), user_place()
    result = destination
    if result is None:
        prefix = _PREFIX[key[1]]
        result = Reg(f"{prefix}{ctx.next_index(prefix)}", left.dtype)
        ctx.declare(left.dtype, result.name, None, place)
    node = ImmediateOperand(str(right)) if kind is int else right.node
    ctx.emit(*spelled, (result.node, left.node, node), None, place)
    return result


def _converted(op: str, left: Reg, right: object, destination: Reg | None, key: tuple[str, str, str]) -> Reg:
    """`_arithmetic` where something must be checked or converted; spellings that need neither are kept for it."""
    symbol = _SYMBOL[op]
    _require_number(left, symbol, floats=op in ("add", "sub", "mul", "truediv", "max", "min"))
    if not left.dtype.is_float and op == "truediv":
        raise TypeError(f"operator / is not defined on {left.dtype} registers ({left.name}); // is the integer "
                        "division")
    if isinstance(right, Reg):
        _require_number(right, symbol)
        if right.dtype.is_float != left.dtype.is_float:
            raise TypeError(f"operator {symbol} on {left.dtype} and {right.dtype}; convert one with ptx.inst.cvt")
    elif not isinstance(right, str) and not hasattr(right, "__index__") and not isinstance(right, float):
        return NotImplemented
    right = _right(right, left.dtype, symbol)
    widen_left = (isinstance(right, Reg) and not left.dtype.is_float and left.dtype.bits == 32
                  and right.dtype.bits == 64 and op not in ("shl", "shr"))
    if widen_left and destination is not None:
        raise TypeError(f"{left!r} {symbol}= {right!r} would lose the upper half; widen {left.name} first")
    wide_type = s64 if left.dtype.is_signed else u64
    result = destination if destination is not None else scalar(wide_type if widen_left else left.dtype)
    if widen_left:
        left = _widened(left)
    elif (isinstance(right, Reg) and left.dtype.bits == 64 and right.dtype.bits == 32
          and op not in ("shl", "shr") and not left.dtype.is_float):
        right = _widened(right)
    if op in ("shl", "shr") and isinstance(right, Reg) and right.dtype.bits == 64:
        raise TypeError(f"the shift amount {right!r} must be a 32-bit register")
    opcode, modifiers = _spelling(op, left.dtype, immediate=not isinstance(right, Reg))
    emit(opcode, modifiers, result, left, right)
    if key[1:] == (left.dtype.name, "int" if right.__class__ is int else getattr(right, "dtype", pred).name):
        _SPELLED[key] = opcode, words(modifiers)
    return result


def _spelling(op: str, dtype: PtxType, *, immediate: bool) -> tuple[str, str]:
    """Opcode and modifiers of an operator on registers of a type."""
    bits = dtype.bits
    if dtype.is_float:
        return ("div", f"rn.{dtype.name}") if op == "truediv" else (op, dtype.name)
    if op in _BITWISE:
        return op, f"b{bits}"
    unsigned_or_signed = f"{'s' if dtype.is_signed else 'u'}{bits}"
    match op:
        case "add":
            return op, "s64" if bits == 64 else unsigned_or_signed
        case "sub":
            return op, f"s{bits}"
        case "mul":
            return op, "lo.u64" if bits == 64 else "lo.s32" if immediate else "lo.u32"
    return op, unsigned_or_signed


