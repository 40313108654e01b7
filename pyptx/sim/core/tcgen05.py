"""tcgen05 as operations of the core (tmem.c, tcgen05.c)."""

from __future__ import annotations

from pyptx.sim.actions import tcgen05 as act
from pyptx.sim.actions.basic import Address, Value
from pyptx.sim.actions.means import Leaf
from pyptx.sim.actions.products import model
from pyptx.sim.core.encode import NONE, Encoder, Flags
from pyptx.sim.core.lower import lower
from pyptx.sim.core.transfers import address_cells, address_row, direct_row

__all__ = ["ENCODERS"]

_SHAPES = ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
_COPIES = ("128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4")
_KINDS = ("f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4")
_REDUCTIONS = {("min", "s32"): 1, ("max", "s32"): 2, ("min", "u32"): 3, ("max", "u32"): 4, ("min", "f32"): 5,
               ("max", "f32"): 6}
_EXPANSIONS = {0: 0, 6: 1, 4: 2}
_EXCLUSIVE = 4
_SPARSE, _WS, _A_TMEM, _ASHIFT, _PAIR = (1 << k for k in range(5))


def _row(e: Encoder, value: Value | None, width: int = 32) -> int:
    return NONE if value is None else lower(e, Leaf(value, f"b{width}"))


def _place(e: Encoder, address: Address | None) -> int:
    return NONE if address is None else address_row(e, address)


def _together(e: Encoder, name: str, **cells) -> None:
    """An operation of the whole warp; counted where it executes."""
    e.fresh = False
    e.emit(name, e=e.constant(0xFFFFFFFF, 32), flags=Flags.SYNC | Flags.COUNT, **cells)


def _alloc(e: Encoder, action: act.TmemAlloc) -> None:
    e.emit("tmem_alloc", b=direct_row(e, action.columns, 32), flags=Flags.WAIT,
           **address_cells(e, action.to, action.group | _EXCLUSIVE * action.exclusive))


def _free(e: Encoder, action: act.TmemFree) -> None:
    _together(e, "tmem_free", a=_row(e, action.address), b=_row(e, action.columns),
              mod=action.group | _EXCLUSIVE * action.exclusive)


def _load(e: Encoder, action: act.TmemLoad) -> None:
    mod = _SHAPES.index(action.shape) | action.packed << 4
    if action.reduction is not None:
        operation, type_name, absolute, nan = action.reduction
        mod |= _REDUCTIONS[operation, type_name] << 8 | absolute << 12 | nan << 13
    data = [NONE if r is None else e.register(r) for r in action.data]
    _together(e, "tmem_ld", a=_place(e, action.address), mod=mod, imm=action.split, aux=e.operand_list(data),
              aux2=len(data))


def _store(e: Encoder, action: act.TmemStore) -> None:
    rows = [_row(e, v) for v in action.source]
    _together(e, "tmem_st", a=_place(e, action.address), mod=_SHAPES.index(action.shape) | action.packed << 4,
              imm=action.split, aux=e.operand_list(rows), aux2=len(rows))


def _copy(e: Encoder, action: act.TmemCopy) -> None:
    e.emit("tmem_cp", a=_place(e, action.address), b=_row(e, action.descriptor, 64),
           mod=action.group | _COPIES.index(action.shape) << 4 | _EXPANSIONS[action.expansion] << 8)


def _shift(e: Encoder, action: act.TmemShift) -> None:
    e.emit("tmem_shift", a=_place(e, action.address), mod=action.group)


def _commit(e: Encoder, action: act.Commit) -> None:
    e.emit("tmem_commit", a=_place(e, action.barrier), b=_row(e, action.ctas),
           mod=action.group | (action.barrier.space == "generic") << 4)


def _product(e: Encoder, action: act.Product5) -> None:
    in_tmem = isinstance(action.a, Address)
    flags = (_SPARSE * (action.metadata is not None) | _WS * action.ws | _A_TMEM * in_tmem | _ASHIFT * action.ashift
             | _PAIR * (action.group == 2))
    fractions = [model(action.target, "tcgen05", 64, a, "f32").fraction for a in ("f16", "e2m1x8")]
    left = _place(e, action.a) if in_tmem else _row(e, action.a, 64)
    zero = NONE if action.zero is None else _row(e, action.zero, 64)
    rows = [_place(e, action.d), left, _row(e, action.b, 64), _row(e, action.descriptor), e.value(action.enable),
            NONE if action.enable_negated else 0, action.scale, _place(e, action.metadata), _place(e, action.scale_a),
            _place(e, action.scale_b), zero]
    mask = [_row(e, v) for v in action.mask]
    e.emit("tcgen05_mma", aux=e.operand_list([_KINDS.index(action.kind), flags, action.vector, *fractions, *rows,
                                              len(mask), *mask]))


ENCODERS = {act.TmemAlloc: _alloc, act.TmemFree: _free,
            act.TmemRelinquish: lambda e, action: _together(e, "tmem_relinquish", mod=action.group),
            act.TmemLoad: _load, act.TmemStore: _store,
            act.TmemWait: lambda e, action: _together(e, "tmem_wait", mod=int(action.what == "st")),
            act.TmemCopy: _copy, act.TmemShift: _shift, act.Commit: _commit, act.Product5: _product}
