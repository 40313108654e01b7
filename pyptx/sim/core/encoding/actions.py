"""Encode a program, and the actions for memory, atomics, warp collectives, barriers and control flow."""

from __future__ import annotations

from pyptx._gc import gc_paused
from pyptx.errors import SimulationError
from pyptx.sim import abi
from pyptx.sim import actions as act
from pyptx.sim.abi import AccessFlag, OpFlag
from pyptx.sim.actions import Leaf
from pyptx.sim.actions.dataflow import values
from pyptx.sim.core.encoding import asynchronous, matrix, tcgen05, tensor_copies, textures
from pyptx.sim.core.encoding.encoder import NONE, AddressFields, Encoded, Encoder, address_fields
from pyptx.sim.core.encoding.expressions import assign, lower
from pyptx.sim.core.encoding.templates import instantiate
from pyptx.sim.program.program import Program
from pyptx.sim.program.templates import TemplateInstance

__all__ = ["encode"]


@gc_paused()
def encode(program: Program) -> Encoded:
    """Encode a program.

    Raises:
        SimulationError: the core has no operation for an instruction.
    """
    e = Encoder(program)
    starts = {body.start for body in program.symbols.bodies.values() if not body.function.is_entry}
    for index, step in enumerate(program.steps):
        if index in starts:
            e.begin_function(index)
            _all(e, program.prologues.get(index, ()))
        e.begin(index)
        try:
            if not isinstance(step, TemplateInstance):
                _encode_action(e, step)
            elif not instantiate(e, step, _encode_action):
                _encode_action(e, step.action)
        except SimulationError as error:
            instruction = program.instructions[index]
            raise SimulationError(f"{instruction.mnemonic}: {error.message}", at=instruction.place) from None
    return e.finish()


def _encode_action(e: Encoder, action: act.Action) -> None:
    kind = action.__class__
    if issubclass(kind, act.Collective):
        e.uncounted = False  # counted where it executes, see synchronize() in warp.c
    _ENCODERS[kind](e, action)


def _compute(e: Encoder, action: act.Compute) -> None:
    if len(action.assignments) == 1:
        [(register, expression)] = action.assignments
        if register is None:
            e.emit("nop")
            return
        assign(e, register, expression)
        return
    held = []  # all right sides are read before any left side is written
    for k, (register, expression) in enumerate(action.assignments):
        later = values(act.Compute(action.assignments[k + 1 :]))
        if register is None:
            continue
        if register in later:
            type_name = expression.type if isinstance(expression, Leaf) else expression.result
            place = lower(e, expression)
            if e.is_register(place):  # a register that may be written before it is read
                width = 1 if register.width == 1 else 64 if type_name[1:] == "64" else 32
                copy = e.temporary(width)
                e.emit({1: "mov_p", 32: "mov_32", 64: "mov_64"}[width], copy, place, full=True)
                place = copy
            held.append((register, place, type_name))
        else:
            assign(e, register, expression)
    for register, place, type_name in held:
        _move_row(e, register, place, type_name)
    if e.uncounted:
        e.emit("nop")


def _move_row(e: Encoder, register: act.Reg, place: int, type_name: str) -> None:
    if register.width == 1:
        e.emit("mov_p", e.register(register), place)
    elif register.width == 64:
        e.emit("mov_64" if type_name[1:] == "64" else "zx_64", e.register(register), place)
    else:
        e.emit(f"zx{register.width}_32" if register.width < 32 else "mov_32", e.register(register), place)


# memory -------------------------------------------------------------------------------------------------------------


def _halves(place: int, width: int) -> list[int]:
    """The two 64-bit rows of a 128-bit register, or the operand itself."""
    return [place, place + 256] if width == 128 else [place]


def _width_code(width: int) -> int:
    return {8: 0, 16: 1, 32: 2, 64: 3, 128: 3}[width]


def _address(e: Encoder, address: act.Address, size: int, count: int, width: int) -> AddressFields:
    return address_fields(e, address, size.bit_length() - 1 | count << 4 | _width_code(width) << 9)


def _load(e: Encoder, action: act.Load) -> None:
    size, count = action.size, action.count
    widths = {r.width for r in action.data if r is not None}
    if len(widths) > 1:
        raise SimulationError("destinations of different widths are not simulated by the core")
    width = widths.pop() if widths else 32
    places = [
        p
        for r in action.data
        for p in (_halves(e.register(r), width) if r is not None else [NONE] * (1 + (width == 128)))
    ]
    if size == 16:
        size, count = 8, 2 * count
        if width != 128:
            raise SimulationError("128-bit data needs a .b128 register")
    if (
        action.address.space == "param"
        and action.address.base is None
        and width != 128
        and e.has_parameter(action.address.offset, action.size * action.count)
    ):
        for k, register in enumerate(action.data):
            if register is not None:
                row = e.parameter(action.address.offset + k * size, size, action.signed, width)
                e.emit("mov_64" if width == 64 else "mov_32", e.register(register), row)
        if e.uncounted:
            e.emit("nop")
        return
    cells = _address(e, action.address, size, count, width)
    cells["mod"] |= AccessFlag.SIGNED if action.signed else 0
    fixed = action.address.space == "shared" and action.address.base is None
    if fixed and size == 4 and width == 32 and count == 1 and (register := action.data[0]) is not None:
        e.emit("lds", e.register(register), aux=e.operand_list(places), **cells)
        return
    e.emit("ld", aux=e.operand_list(places), **cells)


def _row_of(e: Encoder, value: act.Value, width: int) -> int:
    """The row of 32 or 64 bits that holds a value."""
    type_name = "b64" if width == 64 else "b32"
    if isinstance(value, act.Reg) and value.width == 1:
        raise SimulationError("a predicate where data is expected")
    return lower(e, Leaf(value, type_name))


def _data(e: Encoder, values: tuple[act.Value, ...], size: int) -> tuple[list[int], int]:
    """Source rows of one width: 64 bits if any register has 64."""
    if size == 16:
        return [p for v in values for p in _halves(e.value(v), 128)], 128
    wide = size == 8 or any(isinstance(v, act.Reg) and v.width == 64 for v in values)
    return [_row_of(e, v, 64 if wide else 32) for v in values], 64 if wide else 32


def _store(e: Encoder, action: act.Store) -> None:
    size, count = action.size, action.count
    places, width = _data(e, action.data, size)
    if size == 16:
        size, count = 8, 2 * count
    e.emit("st", aux=e.operand_list(places), **_address(e, action.address, size, count, width))


def _atomic(e: Encoder, action: act.Atomic) -> None:
    size, count = action.size, action.count
    sources, width = _data(e, action.source, size)
    new = _data(e, action.new, size)[0] if action.new else []
    if action.new and len(new) != len(sources):
        raise SimulationError("sources of different widths")
    wide = int(size == 16)
    if wide:
        size, count = 8, 2
    targets = []
    for register in action.data:
        if register is None:
            targets += [NONE] * (1 + wide)
        else:
            if (register.width > 32) != (width > 32):
                raise SimulationError("destination and source of different widths are not simulated by the core")
            targets += _halves(e.register(register), register.width)
    type_name = action.type
    if type_name[0] == "b" and type_name != "bf16":
        type_name = "u64" if size > 4 else "u" + type_name[1:]  # bits count as unsigned
    type_code = abi.NUMBER_FORMATS.index(type_name)
    code = (
        abi.ATOMICS.index(action.operation) | type_code << 8 | action.packed << 16 | wide << 17 | action.subnormal << 18
    )
    width = 128 if wide else width
    e.emit(
        "atom",
        aux=e.operand_list([*targets, *sources, *new]),
        aux2=code,
        **_address(e, action.address, size, count, width),
    )


def _move(e: Encoder, action: act.Move) -> None:
    data, source = action.data, action.source
    first = data[0]
    if len(data) == len(source) == 1 and first is not None:
        a, b = e.register(first), e.value(source[0])
        for k in range(2):
            e.emit("mov_64", a + 256 * k, b + 256 * k)
    elif len(source) == 1:
        _unpack(e, data, source[0])
    elif len(data) == 1 and first is not None:
        _pack(e, first, source)
    else:
        for register, value in zip(data, source, strict=True):
            if register is not None:
                assign(e, register, Leaf(value, f"b{register.width}"))
    if e.uncounted:
        e.emit("nop")


def _unpack(e: Encoder, data: tuple[act.Reg | None, ...], value: act.Value) -> None:
    width = 128 if isinstance(value, act.Reg) and value.width == 128 else value.width
    pitch = width // len(data)
    parts = [(r, k) for k, r in enumerate(data) if r is not None]
    source = e.value(value)
    aliased = isinstance(value, act.Reg) and any(r == value for r, _ in parts[:-1])
    if aliased:
        parts.sort(key=lambda part: part[0] == value)  # the source itself is written last
    for register, k in parts:
        target, bit = e.register(register), k * pitch
        row, row_bits = (source + 256 * (bit // 64), 64) if width == 128 else (source, width)
        bit %= row_bits
        if row_bits == 64:
            if pitch == 64:
                e.emit("mov_64", target, row)
                continue
            word = e.temporary(32) if pitch < 32 or register.width != 32 else target
            e.emit("hi_32" if bit >= 32 else "lo_32", word, row, full=word != target)
            bit %= 32
            if word == target:
                continue
            row = word
        if bit and pitch == 16:
            e.emit("hi16_32", target, row)
        elif pitch == 32:
            e.emit("mov_32" if register.width == 32 else "zx_64", target, row)
        else:
            if bit:
                shifted = e.temporary(32)
                e.emit("shr_u32", shifted, row, e.constant(bit, 32), full=True)
                row = shifted
            e.emit(f"zx{pitch}_32", target, row)


def _pack(e: Encoder, register: act.Reg, source: tuple[act.Value, ...]) -> None:
    target, pitch = e.register(register), register.width // len(source)
    if pitch == 64:
        rows = [_row_of(e, v, 64) for v in source]
        _both(e, target, rows)
        return
    words = [_row_of(e, v, 32) for v in source]
    while pitch < 32 and len(words) > 1:
        pairs = []
        for low, high in zip(words[::2], words[1::2], strict=True):
            last = len(words) == 2
            place = target if last and register.width <= 32 else e.temporary(32)
            if pitch == 16:
                e.emit("pack_32", place, low, high, full=place != target)
            else:
                cut, shifted = e.temporary(32), e.temporary(32)
                e.emit("and_32", cut, low, e.constant((1 << pitch) - 1, 32), full=True)
                e.emit("and_32", shifted, high, e.constant((1 << pitch) - 1, 32), full=True)
                e.emit("shl_32", shifted, shifted, e.constant(pitch, 32), full=True)
                e.emit("or_32", place, cut, shifted, full=place != target)
            pairs.append(place)
        words, pitch = pairs, 2 * pitch
    if register.width == 64:
        e.emit("pack_64", target, *words)
    elif register.width == 128:
        rows = [e.temporary(64), e.temporary(64)]
        for k, row in enumerate(rows):
            e.emit("pack_64", row, words[2 * k], words[2 * k + 1], full=True)
        _both(e, target, rows)


def _both(e: Encoder, target: int, rows: list[int]) -> None:
    """Copy two 64-bit rows to a 128-bit register, which may overlap one of them."""
    order = (1, 0) if rows[1] == target else (0, 1)
    for k in order:
        e.emit("mov_64", target + 256 * k, rows[k])


def _is_space(e: Encoder, action: act.IsSpace) -> None:
    e.emit(
        "isspacep", e.register(action.data), _row_of(e, action.address, 64), imm=abi.STATE_SPACES.index(action.space)
    )


def _clock(e: Encoder, action: act.Clock) -> None:
    e.emit("clock", e.register(action.data), mod=int(action.data.width == 64), imm=action.shift)


# the warp and the CTA -----------------------------------------------------------------------------------------------


def _optional(e: Encoder, register: act.Reg | None) -> int:
    return NONE if register is None else e.register(register)


def _predicate(e: Encoder, value: act.Value) -> int:
    return e.value(value)


def _shuffle(e: Encoder, action: act.Shuffle) -> None:
    a, b, c, members = (_row_of(e, v, 32) for v in (action.value, action.lane, action.segment, action.members))
    e.emit(
        "shfl",
        e.register(action.data),
        a,
        b,
        c,
        members,
        mod=abi.SHUFFLES.index(action.mode),
        aux2=_optional(e, action.inside),
        flags=OpFlag.SYNC | OpFlag.COUNT,
    )


def _vote(e: Encoder, action: act.Vote) -> None:
    e.emit(
        "vote",
        e.register(action.data),
        _predicate(e, action.value),
        e=_row_of(e, action.members, 32),
        mod=abi.VOTES.index(action.mode),
        imm=NONE if action.negated else 0,
        flags=OpFlag.SYNC | OpFlag.COUNT,
    )


def _match(e: Encoder, action: act.Match) -> None:
    wide = action.value.width == 64
    value = _row_of(e, action.value, 64 if wide else 32)
    e.emit(
        "match",
        _optional(e, action.data),
        value,
        e=_row_of(e, action.members, 32),
        mod=(action.mode == "all") + 2 * wide,
        aux2=_optional(e, action.equal),
        flags=OpFlag.SYNC | OpFlag.COUNT,
    )


def _redux_code(operation: str, type_name: str) -> int:
    typed = f"{operation}.{type_name}" if operation in ("min", "max") else operation
    return abi.REDUX.index(typed)


def _redux(e: Encoder, action: act.Redux) -> None:
    e.emit(
        "redux",
        e.register(action.data),
        _row_of(e, action.value, 32),
        e=_row_of(e, action.members, 32),
        mod=_redux_code(action.operation, action.type),
        imm=action.absolute + 2 * action.nan,
        flags=OpFlag.SYNC | OpFlag.COUNT,
    )


def _elect(e: Encoder, action: act.Elect) -> None:
    e.emit(
        "elect",
        _optional(e, action.data),
        e=_row_of(e, action.members, 32),
        aux2=_optional(e, action.leader),
        flags=OpFlag.SYNC | OpFlag.COUNT,
    )


def _warp_barrier(e: Encoder, action: act.WarpBarrier) -> None:
    e.emit("warpsync", e=_row_of(e, action.members, 32), flags=OpFlag.SYNC | OpFlag.COUNT | OpFlag.DIVERGENT)


def _barrier(e: Encoder, action: act.CtaBarrier) -> None:
    count = NONE if action.count is None else _row_of(e, action.count, 32)
    value = e.true if action.value is None else _predicate(e, action.value)
    e.emit(
        "nop",
        _optional(e, action.data),
        _row_of(e, action.barrier, 32),
        count,
        value,
        mod=abi.BARRIERS.index(action.mode),
        imm=NONE if action.negated else 0,
        flags=OpFlag.BARRIER if action.aligned else OpFlag.BARRIER | OpFlag.DIVERGENT,
    )


def _branch(e: Encoder, action: act.Branch) -> None:
    e.patches.append((e.emit("nop", flags=OpFlag.BRANCH), action.target, e.program.reconvergence[e.instr]))


def _jump(e: Encoder, action: act.Jump) -> None:
    index = _row_of(e, action.index, 32)
    place = e.operand_list([0] * len(action.targets))
    e.tables.append((place, action.targets))
    op = e.emit("nop", a=index, aux=place, imm=len(action.targets), flags=OpFlag.JUMP_TABLE)
    e.patches.append((op, None, e.program.reconvergence[e.instr]))


# calls --------------------------------------------------------------------------------------------------------------


def _all(e: Encoder, actions: tuple[act.Action, ...]) -> None:
    for action in actions:
        _ENCODERS[action.__class__](e, action)


def _call(e: Encoder, action: act.Call) -> None:
    _all(e, action.before)
    symbols = e.program.symbols
    kept = NONE
    if action.saves is not None:
        rows = [
            cell
            for r in action.saves.registers
            for cell in (e.register(r), 4 if r.width == 1 else 128 * max(1, r.width // 32))
        ]
        kept = e.operand_list([len(rows) // 2, *rows])
    if action.name is not None:
        op = e.emit("nop", a=NONE, aux2=kept, flags=OpFlag.CALL)
        e.calls.append((op, symbols.bodies[action.name].start))
    else:
        assert action.address is not None, "an indirect call names an address"
        count = len(symbols.function_starts())
        place = e.operand_list([NONE] * count)
        e.functions.append(place)
        e.emit("nop", a=_row_of(e, action.address, 64), aux=place, imm=count, aux2=kept, flags=OpFlag.CALL)
    _all(e, action.after)


def _return(e: Encoder, action: act.Return) -> None:
    _all(e, action.stores)
    e.emit("nop", flags=OpFlag.RETURN)


def _host_call(e: Encoder, action: act.HostCall) -> None:
    _all(e, action.before)
    places = [_row_of(e, value, 64) for value in action.arguments]
    e.emit(
        "nop",
        d=NONE if action.data is None else e.register(action.data),
        aux=e.operand_list(places),
        imm=len(places),
        flags=OpFlag.HOST,
    )
    _all(e, action.after)


_ENCODERS = (
    matrix.ENCODERS
    | tcgen05.ENCODERS
    | textures.ENCODERS
    | tensor_copies.ENCODERS
    | asynchronous.ENCODERS
    | {
        act.Call: _call,
        act.Return: _return,
        act.HostCall: _host_call,
        act.Compute: _compute,
        act.Load: _load,
        act.Store: _store,
        act.Atomic: _atomic,
        act.Move: _move,
        act.IsSpace: _is_space,
        act.Clock: _clock,
        act.Shuffle: _shuffle,
        act.Vote: _vote,
        act.Match: _match,
        act.Redux: _redux,
        act.Elect: _elect,
        act.WarpBarrier: _warp_barrier,
        act.CtaBarrier: _barrier,
        act.Branch: _branch,
        act.Jump: _jump,
        act.ActiveMask: lambda e, action: e.emit("activemask", e.register(action.data)),
        act.Exit: lambda e, action: e.emit("nop", flags=OpFlag.EXIT),
        act.Trap: lambda e, action: e.emit("nop", flags=OpFlag.TRAP),
        act.Nop: lambda e, action: e.emit("nop"),
    }
)
