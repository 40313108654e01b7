"""Encode mbarrier, cluster and asynchronous copy instructions."""

from __future__ import annotations

from pyptx.sim import abi
from pyptx.sim import actions as act
from pyptx.sim.abi import AccessFlag, AsyncGroupFlag, BulkFlag, MbarrierFlag, OpFlag
from pyptx.sim.actions import Address, Apply, Const, Leaf, Reg, Special, Sum, Value
from pyptx.sim.core.encoding.encoder import NONE, AddressFields, Encoder, address_fields
from pyptx.sim.core.encoding.expressions import assign, lower
from pyptx.sim.memory.address_space import shared_address

__all__ = ["ENCODERS", "mbarrier_fields", "address_row", "direct_row"]


_TRACKS = {"cp": abi.TRACKS.index("cp.async"), "bulk": abi.TRACKS.index("bulk"), "wgmma": abi.TRACKS.index("wgmma")}
_GROUP_WAITS = {"commit": AsyncGroupFlag.COMMIT, "all": AsyncGroupFlag.ALL, "wait": 0, "read": AsyncGroupFlag.READ}


def address_row(e: Encoder, address: Address) -> int:
    """A 64-bit row that holds a shared, global or generic address."""
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
    """The operand that holds a value, without a temporary: an operation that may be retried needs one."""
    if isinstance(value, Const):
        return e.constant(value.bits & (1 << width) - 1, width)
    if isinstance(value, Reg) and (value.width == width or width == 32 >= value.width > 1):
        return e.register(value)
    if isinstance(value, Sum) and value.width == width:
        return e.value(value)
    if isinstance(value, Special) and width == 32:
        return e.value(value)
    raise AssertionError(f"{value} is not {width} bits wide")


def _target(e: Encoder, register: Reg | None) -> int:
    return NONE if register is None else e.register(register)


def mbarrier_fields(e: Encoder, address: Address, flags: int = 0) -> AddressFields:
    """The fields of an operation on the mbarrier at an address."""
    return address_fields(e, address, flags | (MbarrierFlag.OWN if address.space == "shared" else 0))


def _init(e: Encoder, action: act.MbarrierInit) -> None:
    b = _row(e, action.count)
    e.emit("mbarrier_init", b=b, **mbarrier_fields(e, action.address, MbarrierFlag.V1 * action.layout))


def _layout(e: Encoder, action: act.MbarrierLayout) -> None:
    e.emit(
        "mbarrier_layout",
        e.register(action.data),
        **mbarrier_fields(e, action.address, MbarrierFlag.V1 * action.layout),
    )


def _inval(e: Encoder, action: act.MbarrierInval) -> None:
    e.emit("mbarrier_inval", **mbarrier_fields(e, action.address))


def _arrive(e: Encoder, action: act.MbarrierArrive) -> None:
    flags = (
        MbarrierFlag.DROP * action.drop | MbarrierFlag.EXPECT * action.expect | MbarrierFlag.COMPLETE * action.complete
    )
    flags |= MbarrierFlag.NO_COMPLETE * action.no_complete
    b = _row(e, action.count)
    e.emit(
        "mbarrier_arrive",
        _target(e, action.data),
        b=b,
        aux=action.arrivals,
        **mbarrier_fields(e, action.address, flags),
    )


def _test(e: Encoder, action: act.MbarrierTest | act.MbarrierWait) -> None:
    waits = isinstance(action, act.MbarrierWait)
    cells = mbarrier_fields(e, action.address, MbarrierFlag.PARITY * action.parity)
    e.emit(
        "mbarrier_wait" if waits else "mbarrier_test",
        _target(e, action.data),
        b=direct_row(e, action.phase, 32 if action.parity else 64),
        flags=OpFlag.WAIT if waits else 0,
        **cells,
    )
    for register in action.report:
        if register is not None:
            assign(e, register, Leaf(Const(0, register.width), "pred" if register.width == 1 else f"b{register.width}"))


def _pending(e: Encoder, action: act.MbarrierPending) -> None:
    e.emit("mbarrier_pending", e.register(action.data), b=_row(e, action.state, 64))


def _cp_arrive(e: Encoder, action: act.CpAsyncArrive) -> None:
    e.emit("cp_arrive", **mbarrier_fields(e, action.address, MbarrierFlag.NOINC * action.counted))


def _cp_async(e: Encoder, action: act.CpAsync) -> None:
    to, count = address_row(e, action.to), _row(e, action.bytes)
    skip = NONE if action.skip is None else e.value(action.skip)
    mod = action.size.bit_length() - 1 | 1 << 4 | 2 << 9 | (AccessFlag.GENERIC if action.to.space == "generic" else 0)
    fields = address_fields(e, action.source, mod, space="global")
    e.emit("cp_async", **fields, b=to, c=count, e=skip, aux2=int(action.negated))


def _group(e: Encoder, action: act.AsyncGroup) -> None:
    mod = _TRACKS[action.track] | _GROUP_WAITS[action.operation]
    e.emit("async_group", mod=mod, imm=action.pending)


def reduction_code(reduction: act.Reduction | None) -> int:
    """The reduction as combine() in async_copies.c takes it; NONE for none."""
    if reduction is None:
        return NONE
    type_name = {"b32": "u32", "b64": "u64"}.get(reduction.type, reduction.type)
    return abi.ATOMICS.index(reduction.operation) | abi.NUMBER_FORMATS.index(type_name) << 8 | reduction.flush << 16


def _bulk(e: Encoder, action: act.BulkCopy) -> None:
    to, source = address_row(e, action.to), address_row(e, action.source)
    barrier = 0 if action.barrier is None else address_row(e, action.barrier)
    places = [_row(e, v) for v in (action.ctas, action.byte_mask, action.left, action.right)]
    mod = abi.BULK_DIRECTIONS.index(action.direction) | (BulkFlag.OWN if action.to.space == "shared" else 0)
    mod |= BulkFlag.REDUCE if action.reduction is not None else 0
    for address, flag in (
        (action.to, BulkFlag.GENERIC_TO),
        (action.source, BulkFlag.GENERIC_FROM),
        (action.barrier, BulkFlag.GENERIC_BARRIER),
    ):
        mod |= flag if address is not None and address.space == "generic" else 0
    e.emit(
        "bulk",
        to,
        source,
        _row(e, action.bytes),
        barrier,
        mod=mod,
        aux=e.operand_list(places),
        aux2=reduction_code(action.reduction),
    )


def _send(e: Encoder, action: act.AsyncStore) -> None:
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
    mod |= AccessFlag.GENERIC if action.to.space == "generic" and action.barrier is not None else 0
    e.emit("send", to, c=barrier, mod=mod, aux=e.operand_list(places), aux2=reduction_code(action.reduction))


def _st_bulk(e: Encoder, action: act.StBulk) -> None:
    e.emit("st_bulk", address_row(e, action.to), b=_row(e, action.bytes, 64), mod=int(action.to.space == "generic"))


def _registers(e: Encoder, action: act.SetMaxRegisters) -> None:
    e.emit("setmaxnreg", mod=int(action.more), imm=action.count, flags=OpFlag.WAIT)


def _try_cancel(e: Encoder, action: act.TryCancel) -> None:
    mod = action.everywhere + 2 * (action.to.space == "generic")
    e.emit("try_cancel", a=address_row(e, action.to), b=address_row(e, action.barrier), mod=mod)


def _is_canceled(e: Encoder, action: act.IsCanceled) -> None:
    e.emit("is_canceled", e.register(action.data), e.value(action.handle))


ENCODERS = {
    act.MbarrierInit: _init,
    act.MbarrierInval: _inval,
    act.MbarrierLayout: _layout,
    act.MbarrierArrive: _arrive,
    act.MbarrierTest: _test,
    act.MbarrierWait: _test,
    act.MbarrierPending: _pending,
    act.CpAsyncArrive: _cp_arrive,
    act.CpAsync: _cp_async,
    act.AsyncGroup: _group,
    act.BulkCopy: _bulk,
    act.AsyncStore: _send,
    act.StBulk: _st_bulk,
    act.SetMaxRegisters: _registers,
    act.ClusterArrive: lambda e, action: e.emit("cluster_arrive"),
    act.ClusterWait: lambda e, action: e.emit("cluster_wait", flags=OpFlag.WAIT),
    act.TryCancel: _try_cancel,
    act.IsCanceled: _is_canceled,
}
