"""Encode tcgen05 instructions (tmem.c, tcgen05_mma.c)."""

from __future__ import annotations

from pyptx.sim import abi
from pyptx.sim import actions as act
from pyptx.sim.abi import OpFlag, Tcgen05Flag
from pyptx.sim.actions import Address, Leaf, Value, model
from pyptx.sim.core.encoding.asynchronous import address_row, direct_row, mbarrier_fields
from pyptx.sim.core.encoding.encoder import NONE, Encoder
from pyptx.sim.core.encoding.expressions import lower

__all__ = ["ENCODERS"]

_EXPANSIONS = {0: 0, 6: 1, 4: 2}


def _row(e: Encoder, value: Value | None, width: int = 32) -> int:
    return NONE if value is None else lower(e, Leaf(value, f"b{width}"))


def _operand(e: Encoder, address: Address | None) -> int:
    return NONE if address is None else address_row(e, address)


def _together(e: Encoder, name: str, **cells) -> None:
    """Emit an operation of the whole warp, which is counted where it executes."""
    e.uncounted = False
    e.emit(name, e=e.constant(0xFFFFFFFF, 32), flags=OpFlag.SYNC | OpFlag.COUNT, **cells)


def _alloc(e: Encoder, action: act.TmemAlloc) -> None:
    e.emit(
        "tmem_alloc",
        b=direct_row(e, action.columns, 32),
        flags=OpFlag.WAIT,
        **mbarrier_fields(e, action.to, action.group | Tcgen05Flag.EXCLUSIVE * action.exclusive),
    )


def _free(e: Encoder, action: act.TmemFree) -> None:
    _together(
        e,
        "tmem_free",
        a=_row(e, action.address),
        b=_row(e, action.columns),
        mod=action.group | Tcgen05Flag.EXCLUSIVE * action.exclusive,
    )


def _load(e: Encoder, action: act.TmemLoad) -> None:
    mod = abi.TMEM_SHAPES.index(action.shape) | action.packed << 4
    if action.reduction is not None:
        operation, type_name, absolute, nan = action.reduction
        mod |= abi.TMEM_REDUCTIONS.index(f"{operation}.{type_name}") << 8 | absolute << 12 | nan << 13
    data = [NONE if r is None else e.register(r) for r in action.data]
    _together(
        e, "tmem_ld", a=_operand(e, action.address), mod=mod, imm=action.split, aux=e.operand_list(data), aux2=len(data)
    )


def _store(e: Encoder, action: act.TmemStore) -> None:
    rows = [_row(e, v) for v in action.source]
    _together(
        e,
        "tmem_st",
        a=_operand(e, action.address),
        mod=abi.TMEM_SHAPES.index(action.shape) | action.packed << 4,
        imm=action.split,
        aux=e.operand_list(rows),
        aux2=len(rows),
    )


def _copy(e: Encoder, action: act.TmemCopy) -> None:
    e.emit(
        "tmem_cp",
        a=_operand(e, action.address),
        b=_row(e, action.descriptor, 64),
        mod=action.group | abi.TMEM_COPIES.index(action.shape) << 4 | _EXPANSIONS[action.expansion] << 8,
    )


def _shift(e: Encoder, action: act.TmemShift) -> None:
    e.emit("tmem_shift", a=_operand(e, action.address), mod=action.group)


def _commit(e: Encoder, action: act.Tcgen05Commit) -> None:
    e.emit(
        "tmem_commit",
        a=_operand(e, action.barrier),
        b=_row(e, action.ctas),
        mod=action.group | (action.barrier.space == "generic") << 4,
    )


def _product(e: Encoder, action: act.Tcgen05Mma) -> None:
    left, in_tmem = action.a, isinstance(action.a, Address)
    flags = (
        Tcgen05Flag.SPARSE * (action.metadata is not None)
        | Tcgen05Flag.WS * action.ws
        | Tcgen05Flag.A_TMEM * in_tmem
        | Tcgen05Flag.ASHIFT * action.ashift
        | Tcgen05Flag.PAIR * (action.group == 2)
    )
    models = [model(action.target, "tcgen05", 64, a, "f32") for a in ("f16", "e2m1x8")]
    fractions = [m.fraction for m in models if m is not None]
    zero = NONE if action.zero is None else _row(e, action.zero, 64)
    rows = [
        _operand(e, action.d),
        _operand(e, left) if isinstance(left, Address) else _row(e, left, 64),
        _row(e, action.b, 64),
        _row(e, action.descriptor),
        e.value(action.enable),
        NONE if action.enable_negated else 0,
        action.scale,
        _operand(e, action.metadata),
        _operand(e, action.scale_a),
        _operand(e, action.scale_b),
        zero,
    ]
    mask = [_row(e, v) for v in action.mask]
    e.emit(
        "tcgen05_mma",
        aux=e.operand_list(
            [abi.TCGEN05_KINDS.index(action.kind), flags, action.vector, *fractions, *rows, len(mask), *mask]
        ),
    )


ENCODERS = {
    act.TmemAlloc: _alloc,
    act.TmemFree: _free,
    act.TmemRelinquish: lambda e, action: _together(e, "tmem_relinquish", mod=action.group),
    act.TmemLoad: _load,
    act.TmemStore: _store,
    act.TmemWait: lambda e, action: _together(e, "tmem_wait", mod=int(action.direction == "st")),
    act.TmemCopy: _copy,
    act.TmemShift: _shift,
    act.Tcgen05Commit: _commit,
    act.Tcgen05Mma: _product,
}
