"""mbarriers, clusters and asynchronous copies as operations of the core."""

from __future__ import annotations

from pyptx.sim.actions import asynchronous as act
from pyptx.sim.actions.basic import Address, Const, Reg, Special, Value
from pyptx.sim.actions.means import Apply, Leaf
from pyptx.sim.core.addresses import cells
from pyptx.sim.core.encode import NONE, Encoder, Flags
from pyptx.sim.core.lower import FORMATS, assign, lower
from pyptx.sim.memory.spaces import shared_address

__all__ = ["ENCODERS", "address_cells", "address_row", "direct_row"]

_GENERIC = 1 << 8                                               # of a shared address in a row
_DROP, _EXPECT, _NO_COMPLETE, _OWN, _PARITY, _NOINC, _COMPLETE, _V1 = (1 << k for k in range(8))    # mbarrier.c
_TRACKS = ("cp", "bulk", "wgmma", "tc", "tc_ld", "tc_st")
_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
_WAYS = ("load", "peer", "store")
_B_OWN, _B_REDUCE, _B_GENERIC_TO, _B_GENERIC_FROM, _B_GENERIC_BARRIER = 4, 8, 16, 32, 64        # copy.c


def address_row(e: Encoder, address: Address) -> int:
    """A row of 64 bits that holds an address of the shared window, of global memory or generic."""
    if address.base is None:
        if address.space in ("shared", "cluster"):
            return lower(e, Leaf(Special(shared_address(address.offset), 32), "u64"))
        return e.constant(address.offset & (1 << 64) - 1, 64)
    width = 64 if address.base.width == 64 else 32
    value: Leaf | Apply = Leaf(address.base, f"u{width}")
    if address.offset:
        offset = Leaf(Const(address.offset & (1 << width) - 1, width), f"u{width}")
        value = Apply.of("add", value, offset, type=f"u{width}")
    return lower(e, value if width == 64 else Apply.of("resize", value, type="u32", result="u64"))


def _row(e: Encoder, value: Value | None, width: int = 32) -> int:
    return NONE if value is None else lower(e, Leaf(value, f"b{width}"))


def direct_row(e: Encoder, value: Value, width: int) -> int:
    """A value where it lies, without a temporary: what an operation that may wait can use."""
    if isinstance(value, Const):
        return e.constant(value.bits & (1 << width) - 1, width)
    if isinstance(value, Reg) and (value.width == width or width == 32 >= value.width > 1):
        return e.register(value)
    if isinstance(value, Special) and width == 32:
        return e.value(value)
    raise AssertionError(f"{value} has another width than {width}")


def _target(e: Encoder, register: Reg | None) -> int:
    return NONE if register is None else e.register(register)


def address_cells(e: Encoder, address: Address, flags: int = 0) -> dict:
    """The address as the handlers of mbarrier.c take it."""
    return cells(e, address, flags | (_OWN if address.space == "shared" else 0))


def _init(e: Encoder, action: act.MbarrierInit) -> None:
    b = _row(e, action.count)
    e.emit("mbarrier_init", b=b, **address_cells(e, action.address, _V1 * action.layout))


def _layout(e: Encoder, action: act.MbarrierLayout) -> None:
    e.emit("mbarrier_layout", e.register(action.data), **address_cells(e, action.address, _V1 * action.layout))


def _inval(e: Encoder, action: act.MbarrierInval) -> None:
    e.emit("mbarrier_inval", **address_cells(e, action.address))


def _arrive(e: Encoder, action: act.MbarrierArrive) -> None:
    flags = _DROP * action.drop | _EXPECT * action.expect | _COMPLETE * action.complete
    flags |= _NO_COMPLETE * action.no_complete
    b = _row(e, action.count)
    e.emit("mbarrier_arrive", _target(e, action.data), b=b, aux=action.arrivals,
           **address_cells(e, action.address, flags))


def _test(e: Encoder, action: act.MbarrierTest | act.MbarrierWait) -> None:
    waits = isinstance(action, act.MbarrierWait)
    cells = address_cells(e, action.address, _PARITY * action.parity)
    e.emit("mbarrier_wait" if waits else "mbarrier_test", _target(e, action.data),
           b=direct_row(e, action.phase, 32 if action.parity else 64), flags=Flags.WAIT if waits else 0, **cells)
    for register in action.report:
        if register is not None:
            assign(e, register, Leaf(Const(0, register.width), "pred" if register.width == 1 else f"b{register.width}"))


def _pending(e: Encoder, action: act.MbarrierPending) -> None:
    e.emit("mbarrier_pending", e.register(action.data), b=_row(e, action.state, 64))


def _cp_arrive(e: Encoder, action: act.CpArrive) -> None:
    e.emit("cp_arrive", **address_cells(e, action.address, _NOINC * action.counted))


def _cp_async(e: Encoder, action: act.CpAsync) -> None:
    to, count = address_row(e, action.to), _row(e, action.bytes)
    skip = NONE if action.skip is None else e.value(action.skip)
    mod = action.size.bit_length() - 1 | 1 << 4 | 2 << 9 | (_GENERIC if action.to.space == "generic" else 0)
    e.emit("cp_async", b=to, c=count, e=skip, aux2=int(action.negated), **cells(e, action.source, mod, space="global"))


def _group(e: Encoder, action: act.AsyncGroup) -> None:
    mod = _TRACKS.index(action.track) | {"commit": 8, "all": 16, "wait": 0, "read": 32}[action.what]
    e.emit("async_group", mod=mod, imm=action.most)


def reduction_code(reduction: act.Reduction | None) -> int:
    """How combine() in copy.c and atomics take a reduction; NONE: there is none."""
    if reduction is None:
        return NONE
    type_name = {"b32": "u32", "b64": "u64"}.get(reduction.type, reduction.type)
    return _OPERATIONS.index(reduction.operation) | FORMATS.index(type_name) << 8 | reduction.flush << 16


def _bulk(e: Encoder, action: act.BulkCopy) -> None:
    to, source = address_row(e, action.to), address_row(e, action.source)
    barrier = 0 if action.barrier is None else address_row(e, action.barrier)
    places = [_row(e, v) for v in (action.ctas, action.byte_mask, action.left, action.right)]
    mod = _WAYS.index(action.way) | (_B_OWN if action.to.space == "shared" else 0)
    mod |= _B_REDUCE if action.reduction is not None else 0
    for address, flag in ((action.to, _B_GENERIC_TO), (action.source, _B_GENERIC_FROM),
                          (action.barrier, _B_GENERIC_BARRIER)):
        mod |= flag if address is not None and address.space == "generic" else 0
    e.emit("bulk", to, source, _row(e, action.bytes), barrier, mod=mod, aux=e.operand_list(places),
           aux2=reduction_code(action.reduction))


def _send(e: Encoder, action: act.Send) -> None:
    size, values = action.size, action.values
    if size == 16:
        places = [p for v in values for p in (e.value(v), e.value(v) + 256)]
        size, wide = 8, True
    else:
        wide = size == 8
        places = [_row(e, v, 64 if wide else 32) for v in values]
    to = address_row(e, action.to)
    barrier = NONE if action.barrier is None else address_row(e, action.barrier)
    mod = size.bit_length() - 1 | len(places) << 4 | (3 if wide else 2) << 9
    mod |= _GENERIC if action.to.space == "generic" and action.barrier is not None else 0
    e.emit("send", to, c=barrier, mod=mod, aux=e.operand_list(places), aux2=reduction_code(action.reduction))


def _st_bulk(e: Encoder, action: act.StBulk) -> None:
    e.emit("st_bulk", address_row(e, action.to), b=_row(e, action.bytes, 64), mod=int(action.to.space == "generic"))


def _registers(e: Encoder, action: act.SetMaxRegisters) -> None:
    e.emit("setmaxnreg", mod=int(action.more), imm=action.count, flags=Flags.WAIT)


def _try_cancel(e: Encoder, action: act.TryCancel) -> None:
    mod = action.everywhere + 2 * (action.to.space == "generic")
    e.emit("try_cancel", a=address_row(e, action.to), b=address_row(e, action.barrier), mod=mod)


def _is_canceled(e: Encoder, action: act.IsCanceled) -> None:
    e.emit("is_canceled", e.register(action.data), e.value(action.handle))


ENCODERS = {
    act.MbarrierInit: _init, act.MbarrierInval: _inval, act.MbarrierLayout: _layout,
            act.MbarrierArrive: _arrive, act.MbarrierTest: _test,
    act.MbarrierWait: _test, act.MbarrierPending: _pending, act.CpArrive: _cp_arrive, act.CpAsync: _cp_async,
    act.AsyncGroup: _group, act.BulkCopy: _bulk, act.Send: _send, act.StBulk: _st_bulk, act.SetMaxRegisters: _registers,
    act.ClusterArrive: lambda e, action: e.emit("cluster_arrive"),
    act.ClusterWait: lambda e, action: e.emit("cluster_wait", flags=Flags.WAIT), act.TryCancel: _try_cancel,
    act.IsCanceled: _is_canceled}
