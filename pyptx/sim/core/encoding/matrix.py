"""Encode matrix instructions: their descriptions and tables are in the pool."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pyptx.sim import abi
from pyptx.sim import actions as act
from pyptx.sim.abi import OpFlag, ProductFlag
from pyptx.sim.actions import Address, Leaf, Reg, Value
from pyptx.sim.core.encoding.encoder import NONE, AddressFields, Encoder, address_fields
from pyptx.sim.core.encoding.expressions import lower
from pyptx.sim.layouts import fragments
from pyptx.sim.layouts.fragments import BITS, Fragment

__all__ = ["ENCODERS"]


def _row(e: Encoder, value: Value, width: int = 32) -> int:
    if isinstance(value, Reg) and value.width == width:
        return e.register(value)
    return lower(e, Leaf(value, f"b{width}"))


def _rows(e: Encoder, values: Iterable[Value], width: int = 32) -> list[int]:
    return [_row(e, v, width) for v in values]


def _targets(e: Encoder, registers) -> list[int]:
    return [NONE if r is None else e.register(r) for r in registers]


def _holders(e: Encoder, fragment: Fragment) -> int:
    return e.table((fragment, "holders"), fragment.holders)


def _words(e: Encoder, fragment: Fragment, *, left: bool) -> int:
    """For b1: the position of word w of each row of A, or of each column of B."""

    def build():
        line, word = (fragment.row, fragment.column) if left else (fragment.column, fragment.row)
        lines, words = line[:, 0], word[:, 0] // 32
        found = np.zeros((lines.max() + 1, words.max() + 1), np.int64)
        found[lines, words] = np.arange(lines.size).reshape(lines.shape)
        return found

    return e.table((fragment, "words"), build)


def _product(p: act.Product) -> list[int]:
    flags = (
        ProductFlag.SATURATE * p.saturate
        | ProductFlag.XOR * (p.bits == "xor")
        | abi.ROUNDINGS.index(p.rounding) * ProductFlag.ROUNDING
    )
    fraction, result, step = (
        (0, 0, 0) if p.model is None else (p.model.fraction, abi.STEP_RESULTS.index(p.model.result), p.model.step)
    )
    return [
        p.m,
        p.n,
        p.k,
        *(abi.ELEMENT_FORMATS.index(t) for t in (p.a, p.b, p.c, p.d)),
        flags,
        p.scale,
        abi.ELEMENT_FORMATS.index(p.scale_type) if p.scale else 0,
        fraction,
        result,
        step,
    ]


def _metadata(e: Encoder, action: act.Mma | act.Wgmma) -> list[int]:
    """The row of the metadata, the index of its table, chunks in a row."""
    if action.metadata is None:
        return [NONE, 0, 0]
    p = action.product
    chunks = p.k // {32: 2, 4: 8}.get(BITS[p.a], 4)

    def build():
        lanes, shifts = fragments.metadata(p.m, chunks, action.selector)
        return lanes | shifts << 8

    return [_row(e, action.metadata), e.table(("metadata", p.m, chunks, action.selector), build), chunks]


def _mma(e: Encoder, action: act.Mma) -> None:
    p = action.product
    fa, fb, fc, fd = action.fragments
    width = 64 if p.d == "f64" else 32
    bits = p.a == "b1"
    standard = [
        f is fragments.accumulator(16, p.n, BITS[t]) and t != "f64" and None not in data
        for f, t, data in ((fc, p.c, action.c), (fd, p.d, action.data))
    ]
    a, b, c = (_rows(e, values, width) for values in (action.a, action.b, action.c))
    d = _targets(e, action.data)
    tables = [
        _words(e, fa, left=True) if bits else _holders(e, fa),
        _words(e, fb, left=False) if bits else _holders(e, fb),
        NONE if standard[0] else _holders(e, fc),
        NONE if standard[1] else e.table((fd, "indices"), fd.indices),
    ]
    scales = [NONE] * 6
    if action.scale_a is not None and action.scale_b is not None:
        scales = [_row(e, value) for value in (*action.scale_a, *action.scale_b)]
    description = [
        *_product(p),
        4 if fa.batch is not None else 1,
        *map(len, (a, b, c, d)),
        *tables,
        *_metadata(e, action),
        *scales,
        *a,
        *b,
        *c,
        *d,
    ]
    _emit(e, "mma", description)


def _emit(e: Encoder, name: str, description: list[int], **cells) -> None:
    e.uncounted = False  # counted where it executes, see synchronize()
    e.emit(
        name, e=e.constant(0xFFFFFFFF, 32), aux=e.operand_list(description), flags=OpFlag.SYNC | OpFlag.COUNT, **cells
    )


def _wgmma(e: Encoder, action: act.Wgmma) -> None:
    p = action.product
    table, a = NONE, [0, 0, 0, 0]
    if len(action.a) == 1:
        a[0] = _row(e, action.a[0], 64)
    else:
        a = _rows(e, action.a)
        fragment = fragments.left(16, p.k // 2 if action.metadata is not None else p.k, BITS[p.a])
        table = _words(e, fragment, left=True) if p.a == "b1" else _holders(e, fragment)
    d = _targets(e, action.data)
    _emit(
        e,
        "wgmma",
        [
            *_product(p),
            len(action.a),
            table,
            *a,
            _row(e, action.b, 64),
            e.value(action.scale_d),
            NONE if action.scale_d_negated else 0,
            int(action.negate),
            int(action.major_a == "mn"),
            int(action.major_b == "mn"),
            *_metadata(e, action),
            len(d),
            *d,
        ],
    )


def _wgmma_group(e: Encoder, action: act.WgmmaGroup) -> None:
    _emit(e, "wgmma_group", [], mod=abi.WGMMA_GROUPS.index(action.mode), imm=action.pending)


# moves of matrices -------------------------------------------------------------------------------------------------

_ONE_ELEMENT = 1 << 4


def _address(e: Encoder, address: Address, bytes_: int) -> AddressFields:
    """The fields of an access of `bytes_` by each lane."""
    return address_fields(e, address, bytes_.bit_length() - 1 | _ONE_ELEMENT)


def _shape(action: act.LoadMatrix | act.StoreMatrix, line: str) -> int:
    return (
        abi.MATRIX_SHAPES.index(action.shape)
        | action.count << 4
        | action.transposed << 8
        | abi.MATRIX_LINES.index(line) << 12
    )


def _load_matrix(e: Encoder, action: act.LoadMatrix) -> None:
    _emit(
        e, "ldmatrix", _targets(e, action.data), aux2=_shape(action, action.format), **_address(e, action.address, 16)
    )


def _store_matrix(e: Encoder, action: act.StoreMatrix) -> None:
    _emit(e, "stmatrix", _rows(e, action.source), aux2=_shape(action, "b16"), **_address(e, action.address, 16))


def _move_matrix(e: Encoder, action: act.MoveMatrix) -> None:
    _emit(e, "movmatrix", [], d=e.register(action.data), a=_row(e, action.value))


def _fragment_access(e: Encoder, action: act.LoadFragment | act.StoreFragment, rows: list[int], name: str) -> None:
    bytes_, accesses = fragments.accesses(action.fragment, action.major, action.bits)
    stride = NONE if action.stride is None else _row(e, action.stride)
    lines = np.zeros((0, 2), np.int64)
    if isinstance(action, act.LoadFragment) and action.matrices:
        lines = fragments.matrix_rows(action.fragment, action.major)
    key = (action.fragment, action.major, "matrices")
    of_matrices = e.table(key, lambda: lines[:, 0] | lines[:, 1] << 16) if len(lines) else 0
    description = [len(accesses), bytes_, action.bits, stride, action.leading, len(lines), of_matrices]
    for k, (register, shift, major, minor) in enumerate(accesses):
        place = e.table((action.fragment, action.major, action.bits, k), lambda m=major, n=minor: m | n << 16)
        description += [rows[register], shift, place]
    _emit(e, name, description, d=e.temporary(64), **_address(e, action.address, bytes_))


def _load_fragment(e: Encoder, action: act.LoadFragment) -> None:
    _fragment_access(e, action, _targets(e, action.data), "wmma_load")


def _store_fragment(e: Encoder, action: act.StoreFragment) -> None:
    _fragment_access(e, action, _rows(e, action.source, 64 if action.bits == 64 else 32), "wmma_store")


ENCODERS = {
    act.Mma: _mma,
    act.Wgmma: _wgmma,
    act.WgmmaGroup: _wgmma_group,
    act.LoadMatrix: _load_matrix,
    act.StoreMatrix: _store_matrix,
    act.MoveMatrix: _move_matrix,
    act.LoadFragment: _load_fragment,
    act.StoreFragment: _store_fragment,
}
