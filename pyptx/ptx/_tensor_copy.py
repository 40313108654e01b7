"""Tensor copies by TMA: every load, store and reduction mode of `cp.async.bulk.tensor`.

Coordinates are innermost first: (column, row) for a matrix. `dst`, `src` and `mbar` are objects of `smem`, registers
or addresses; the tensor map is the result of `tensor.tma_desc()`, a tensor, or the name of a parameter.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError
from pyptx.ir.nodes import AddressOperand, ImmediateOperand, Instruction, RegisterOperand
from pyptx.ptx._checked import check_option, emit_checked, one_of, shared_address
from pyptx.reg import NegPred, Reg
from pyptx.tensor import TensorSpec
from pyptx.tracing.operand import address, operand
from pyptx.tracing.trace import get_ctx
from pyptx.types import u64

__all__ = ["BulkTensor", "TensorCopy", "load", "reduce", "store", "tensor_address"]

Guard = Reg | NegPred | None

CacheHint = str | Reg | None

_POLICIES = ("evict_first", "evict_normal", "evict_last")
_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def tensor_address(tensor_map: object, coord: Sequence[object], count: int, what: str) -> AddressOperand:
    """Return the operand `[map, {c0, c1}]`.

    Args:
        tensor_map: the tensor map.
        coord: coordinates, innermost first.
        count: required number of coordinates.
        what: name of the instruction, for the error.
    Raises:
        ShapeError: a wrong number of coordinates.
        TypeError: a coordinate that is not an int, a register or text.
    """
    if coord is None or isinstance(coord, str | int | Reg):
        raise ShapeError(f"{what} takes {count} coordinates, innermost first: coord=({'0, ' * count})", at=user_place())
    items = list(coord)
    if len(items) != count:
        raise ShapeError(f"{what} takes {count} coordinates, innermost first; got {len(items)}", at=user_place())
    texts = ", ".join(_coordinate(item) for item in items)
    base = address(tensor_map.tma_desc() if isinstance(tensor_map, TensorSpec) else tensor_map)
    return AddressOperand(base.base, f"{base.offset or ''}, {{{texts}}}")


def _coordinate(value: object) -> str:
    if isinstance(value, bool | float):
        raise OperandError(f"coordinate {value!r}: expected an int, a register or text")
    if isinstance(value, str):
        return value
    node = operand(value)
    if isinstance(node, RegisterOperand):
        return node.name
    if isinstance(node, ImmediateOperand):
        return node.text
    raise OperandError(f"coordinate {value!r}: expected an int, a register or text")


def load(
    rank: int,
    modifiers: str,
    *,
    dst: object,
    src: object,
    coord: Sequence[object],
    mbar: object,
    coords: int | None = None,
    offsets: Sequence[object] | None = None,
    multicast_mask: object = None,
    cache_hint: object = None,
    pred: Guard = None,
) -> None:
    """Emit a load into shared memory: `cp.async.bulk.tensor.<rank>d.<modifiers> [dst], [src, {coord}], [mbar], ...`.

    Args:
        coords: number of coordinates; default `rank`.
        offsets: im2col offsets (b16 registers or numbers).
        multicast_mask: 16 bits; bit i set: CTA i of the cluster receives a copy at the same offset.
        cache_hint: a 64-bit cache policy.
    """
    what = f"cp.async.bulk.tensor.{rank}d"
    if mbar is None:
        raise ShapeError(f"{what}: a load needs mbar=, the mbarrier that tracks its bytes", at=user_place())
    target = shared_address(dst)
    barrier = shared_address(mbar)
    rest = [list(offsets)] if offsets is not None else []
    rest += [operand_ for operand_ in (multicast_mask, cache_hint) if operand_ is not None]
    emit_checked(
        "cp",
        f"async.bulk.tensor.{rank}d.{modifiers}",
        target,
        tensor_address(src, coord, coords or rank, what),
        barrier,
        *rest,
        pred=pred,
    )


def store(
    rank: int,
    modifiers: str,
    *,
    dst: object,
    src: object,
    coord: Sequence[object],
    coords: int | None = None,
    cache_hint: object = None,
    pred: Guard = None,
) -> None:
    """Emit a store from shared memory: `cp.async.bulk.tensor.<rank>d.<modifiers> [dst, {coord}], [src]`."""
    source = shared_address(src)
    target = tensor_address(dst, coord, coords or rank, f"cp.async.bulk.tensor.{rank}d store")
    emit_checked(
        "cp",
        f"async.bulk.tensor.{rank}d.{modifiers}",
        target,
        source,
        *(() if cache_hint is None else (cache_hint,)),
        pred=pred,
    )


def reduce(rank: int, operation: str, *, dst: object, src: object, coord: Sequence[object], pred: Guard = None) -> None:
    """Emit a reduction: `cp.reduce.async.bulk.tensor.<rank>d.global.shared::cta.<operation>.bulk_group [dst, {coord}],
    [src]`."""
    check_option(operation, _OPERATIONS, "operation")
    source = shared_address(src)
    target = tensor_address(dst, coord, rank, f"cp.reduce.async.bulk.tensor.{rank}d")
    emit_checked(
        "cp", f"reduce.async.bulk.tensor.{rank}d.global.shared::cta.{operation}.bulk_group", target, source, pred=pred
    )


def _hinted(cache_hint: CacheHint) -> str:
    return "" if cache_hint is None else ".L2::cache_hint"


def policy(cache_hint: CacheHint) -> Reg | None:
    """Return the cache policy of a hint; one that is given by name is created once, at the start of the kernel.

    Raises:
        ShapeError: an unknown name.
        TypeError: neither a name nor a 64-bit register.
    """
    if cache_hint is None:
        return None
    if isinstance(cache_hint, str):
        one_of(cache_hint, _POLICIES, "cache_hint")
        return _hoisted(cache_hint)
    if not isinstance(cache_hint, Reg) or cache_hint.dtype.bits != 64:
        raise OperandError(
            f"cache_hint takes {', '.join(map(repr, _POLICIES))} or a cache policy in a 64-bit register, not {cache_hint!r}",
            at=user_place(),
        )
    return cache_hint


def _hoisted(priority: str) -> Reg:
    """Return the register of a cache policy that the prologue of the kernel creates."""
    ctx = get_ctx()
    name = ctx.hoisted.get(priority)
    if name is None:
        name = ctx.hoisted[priority] = f"%rd{ctx.next_index('%rd')}"
        ctx.declare_first(u64, name)
        modifiers = (".fractional", f".L2::{priority}", ".b64")
        ctx.prologue.append(Instruction("createpolicy", modifiers, (RegisterOperand(name),), place=user_place()))
    return Reg(name, u64)


def _group(cta_group: int) -> str:
    check_option(cta_group, (1, 2), "cta_group")
    return ".cta_group::2" if cta_group == 2 else ""


class TensorCopy:
    """`ptx.cp.async_bulk.tensor_2d(...)` loads a box, `.store(...)` writes one, `.reduce(...)` combines into one."""

    def __init__(self, rank: int):
        self._rank = rank

    def __repr__(self) -> str:
        return f"ptx.cp.async_bulk.tensor_{self._rank}d"

    def __call__(
        self,
        *,
        dst: object,
        src: object,
        coord: Sequence[object],
        mbar: object = None,
        cta_group: int = 1,
        multicast_mask: int | Reg | None = None,
        cache_hint: CacheHint = None,
        pred: Guard = None,
    ) -> None:
        """Load the box at `coord` into shared memory.

        Args:
            dst: shared memory of the box.
            src: the tensor map.
            coord: coordinates of the box, innermost first.
            mbar: mbarrier that tracks the bytes.
            cta_group: 1, or 2 to signal an mbarrier of either CTA of a pair.
            multicast_mask: bit i set: CTA i of the cluster receives a copy.
            cache_hint: how long L2 keeps the data, "evict_first", "evict_normal" or "evict_last"; or a cache policy in a
                64-bit register. A policy that is given by name is created once, at the start of the kernel.
        Raises:
            ShapeError: `mbar` is missing, or a wrong number of coordinates.
        """
        multicast = "" if multicast_mask is None else ".multicast::cluster"
        group = f"{_group(cta_group)[1:]}." if _group(cta_group) else ""
        load(
            self._rank,
            f"{group}shared::cluster.global.mbarrier::complete_tx::bytes{multicast}{_hinted(cache_hint)}",
            dst=dst,
            src=src,
            coord=coord,
            mbar=mbar,
            multicast_mask=multicast_mask,
            cache_hint=policy(cache_hint),
            pred=pred,
        )

    def prefetch(
        self, *, src: object, coord: Sequence[object], cache_hint: CacheHint = None, pred: Guard = None
    ) -> None:
        """Prefetch the box at `coord` to L2; see `__call__` for `cache_hint`."""
        what = f"cp.async.bulk.prefetch.tensor.{self._rank}d"
        hint = policy(cache_hint)
        emit_checked(
            "cp",
            f"async.bulk.prefetch.tensor.{self._rank}d.L2.global{_hinted(cache_hint)}",
            tensor_address(src, coord, self._rank, what),
            *(() if hint is None else (hint,)),
            pred=pred,
        )

    def store(
        self,
        *,
        dst: object,
        src: object,
        coord: Sequence[object],
        cache_hint: CacheHint = None,
        pred: Guard = None,
    ) -> None:
        """Write shared memory `src` to the box at `coord`; completes through `commit_group` and `wait_group`."""
        modifiers = f"global.shared::cta.bulk_group{_hinted(cache_hint)}"
        store(self._rank, modifiers, dst=dst, src=src, coord=coord, cache_hint=policy(cache_hint), pred=pred)

    def reduce(
        self, *, dst: object, src: object, coord: Sequence[object], operation: str = "add", pred: Guard = None
    ) -> None:
        """Combine shared memory `src` into the box at `coord`, atomically per element.

        Completes through `commit_group` and `wait_group`.

        Args:
            operation: "add", "min", "max", "inc", "dec", "and", "or" or "xor".
        """
        reduce(self._rank, operation, dst=dst, src=src, coord=coord, pred=pred)

    def shared_cta_global_tile(
        self, *, dst: object, src: object, coord: Sequence[object], mbar: object, cta_group: int = 1, pred: Guard = None
    ) -> None:
        """Load the box at `coord` into the CTA's own shared memory (PTX ISA 8.6)."""
        load(
            self._rank,
            f"shared::cta.global.tile.mbarrier::complete_tx::bytes{_group(cta_group)}",
            dst=dst,
            src=src,
            coord=coord,
            mbar=mbar,
            pred=pred,
        )


class BulkTensor:
    """`ptx.cp.async_bulk.tensor`: load and store modes by name, such as `gather4_2d`, `im2col_4d`, `scatter4_2d`."""

    @staticmethod
    def _tile(
        rank: int,
        dst: object,
        src: object,
        coord: Sequence[object],
        mbar: object,
        cache_hint: object,
        multicast_mask: object,
        pred: Guard,
        cta_group: int = 1,
        mode: str = "tile",
        coords: int | None = None,
        offsets: Sequence[object] | None = None,
    ) -> None:
        words = [f"shared::cluster.global.{mode}.mbarrier::complete_tx::bytes"]
        if multicast_mask is not None:
            words.append("multicast::cluster")
        if cta_group != 1:
            words.append(_group(cta_group)[1:])
        if cache_hint is not None:
            words.append("L2::cache_hint")
        load(
            rank,
            ".".join(words),
            dst=dst,
            src=src,
            coord=coord,
            coords=coords,
            mbar=mbar,
            offsets=offsets,
            multicast_mask=multicast_mask,
            cache_hint=cache_hint,
            pred=pred,
        )

    @classmethod
    def tile_1d(cls, dst, src, coord, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None) -> None:
        """Load a box of a 1-dimensional array."""
        cls._tile(1, dst, src, coord, mbar, cache_hint, multicast_mask, pred)

    @classmethod
    def tile_2d(
        cls, dst, src, coord, *, mbar=None, cache_hint=None, multicast_mask=None, cta_group=1, pred=None
    ) -> None:
        """Load a box of a matrix."""
        cls._tile(2, dst, src, coord, mbar, cache_hint, multicast_mask, pred, cta_group)

    @classmethod
    def tile_3d(cls, dst, src, coord, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None) -> None:
        """Load a box of a 3-dimensional array."""
        cls._tile(3, dst, src, coord, mbar, cache_hint, multicast_mask, pred)

    @classmethod
    def tile_4d(cls, dst, src, coord, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None) -> None:
        """Load a box of a 4-dimensional array."""
        cls._tile(4, dst, src, coord, mbar, cache_hint, multicast_mask, pred)

    @classmethod
    def tile_5d(cls, dst, src, coord, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None) -> None:
        """Load a box of a 5-dimensional array."""
        cls._tile(5, dst, src, coord, mbar, cache_hint, multicast_mask, pred)

    @classmethod
    def im2col_3d(cls, dst, src, coord, offsets, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None) -> None:
        """Load im2col columns; `offsets` holds one 16-bit offset."""
        cls._im2col(3, dst, src, coord, offsets, mbar, cache_hint, multicast_mask, pred)

    @classmethod
    def im2col_4d(cls, dst, src, coord, offsets, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None) -> None:
        """Load im2col columns; `offsets` holds two 16-bit offsets."""
        cls._im2col(4, dst, src, coord, offsets, mbar, cache_hint, multicast_mask, pred)

    @classmethod
    def im2col_5d(cls, dst, src, coord, offsets, *, mbar=None, cache_hint=None, multicast_mask=None, pred=None) -> None:
        """Load im2col columns; `offsets` holds three 16-bit offsets."""
        cls._im2col(5, dst, src, coord, offsets, mbar, cache_hint, multicast_mask, pred)

    @classmethod
    def _im2col(cls, rank, dst, src, coord, offsets, mbar, cache_hint, multicast_mask, pred) -> None:
        if len(offsets) != rank - 2:
            raise ShapeError(f"im2col_{rank}d takes {rank - 2} offsets, got {len(offsets)}", at=user_place())
        cls._tile(rank, dst, src, coord, mbar, cache_hint, multicast_mask, pred, mode="im2col", offsets=offsets)

    @classmethod
    def gather4_2d(
        cls, dst, src, coord, *, mbar=None, cache_hint=None, multicast_mask=None, cta_group=1, pred=None
    ) -> None:
        """Load four rows of a matrix (sm_100); coord is (column, row0, row1, row2, row3)."""
        cls._tile(2, dst, src, coord, mbar, cache_hint, multicast_mask, pred, cta_group, "tile::gather4", 5)

    @staticmethod
    def scatter4_2d(dst, src, coord, *, mbar=None, cache_hint=None, pred=None) -> None:
        """Write four rows of a matrix (sm_100); coord is (column, row0, row1, row2, row3).

        Raises:
            ShapeError: an mbarrier was given; stores complete through `commit_group` and `wait_group`.
        """
        if mbar is not None:
            raise ShapeError(
                "scatter4_2d is a store and takes no mbar; wait for it with commit_group and wait_group",
                at=user_place(),
            )
        store(
            2,
            _store_modifiers("tile::scatter4", cache_hint),
            dst=dst,
            src=src,
            coord=coord,
            coords=5,
            cache_hint=cache_hint,
            pred=pred,
        )

    @staticmethod
    def store_1d(dst, src, coord, *, cache_hint=None, pred=None) -> None:
        """Write a box of a 1-dimensional array."""
        store(1, _store_modifiers("tile", cache_hint), dst=dst, src=src, coord=coord, cache_hint=cache_hint, pred=pred)

    @staticmethod
    def store_2d(dst, src, coord, *, cache_hint=None, pred=None) -> None:
        """Write a box of a matrix."""
        store(2, _store_modifiers("tile", cache_hint), dst=dst, src=src, coord=coord, cache_hint=cache_hint, pred=pred)

    @staticmethod
    def store_3d(dst, src, coord, *, cache_hint=None, pred=None) -> None:
        """Write a box of a 3-dimensional array."""
        store(3, _store_modifiers("tile", cache_hint), dst=dst, src=src, coord=coord, cache_hint=cache_hint, pred=pred)

    @staticmethod
    def store_4d(dst, src, coord, *, cache_hint=None, pred=None) -> None:
        """Write a box of a 4-dimensional array."""
        store(4, _store_modifiers("tile", cache_hint), dst=dst, src=src, coord=coord, cache_hint=cache_hint, pred=pred)

    @staticmethod
    def store_5d(dst, src, coord, *, cache_hint=None, pred=None) -> None:
        """Write a box of a 5-dimensional array."""
        store(5, _store_modifiers("tile", cache_hint), dst=dst, src=src, coord=coord, cache_hint=cache_hint, pred=pred)


def _store_modifiers(mode: str, cache_hint: object) -> str:
    return f"global.shared::cta.{mode}.bulk_group{'' if cache_hint is None else '.L2::cache_hint'}"
