"""Matrix instructions: mma, wmma, wgmma, and ldmatrix, stmatrix, movmatrix."""

from __future__ import annotations

import re
from functools import cache

from pyptx.sim.actions import (
    Action,
    Address,
    LoadFragment,
    LoadMatrix,
    Mma,
    MoveMatrix,
    Product,
    Scale,
    StoreFragment,
    StoreMatrix,
    Value,
    Wgmma,
    WgmmaGroup,
    model,
)
from pyptx.sim.decode._registry import decodes
from pyptx.sim.decode.memory import space_of
from pyptx.sim.layouts import fragments
from pyptx.sim.layouts.fragments import BITS, Fragment
from pyptx.sim.symbols.operands import Operands

__all__ = ["formats", "only", "product_of", "shape_of"]

_ROW_FORMATS = {".b6x16_p32": "b6", ".b4x16_p64": "b4", ".s4": "s4", ".b16": "b16", ".b8": "b8"}


def _shape(o: Operands) -> tuple[str, int, bool]:
    modifiers = o.instruction.modifiers
    return (
        next(m[1:] for m in modifiers if m in (".m8n8", ".m16n16", ".m8n16", ".m16n8")),
        int(next(m[2:] for m in modifiers if m in (".x1", ".x2", ".x4"))),
        ".trans" in modifiers,
    )


@decodes("ldmatrix")
def load_matrix(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    kind = next(_ROW_FORMATS[m] for m in _ROW_FORMATS if m in modifiers)
    return LoadMatrix(o.address("p", space_of(modifiers)), *_shape(o), kind, o.targets("r"))


@decodes("stmatrix")
def store_matrix(o: Operands) -> Action | None:
    return StoreMatrix(o.address("p", space_of(o.instruction.modifiers)), *_shape(o), o.values("r"))


@decodes("movmatrix")
def move_matrix(o: Operands) -> Action | None:
    data = o.target("d")
    return MoveMatrix(data, o.value("a")) if data is not None else None


# mma.sync and wmma: products of fragments in registers; loads and stores of wmma fragments -------------------------

_FORMATS = frozenset("f16 bf16 tf32 f32 f64 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4 b1 s32 ue8m0 ue4m3".split())
Fragments = tuple[Fragment, Fragment, Fragment, Fragment]  # of A, B, C and D

_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)")
_ROUNDING = ("rn", "rz", "rm", "rp")


def shape_of(modifiers: tuple[str, ...]) -> tuple[int, int, int]:
    """Return m, n, k from the modifiers."""
    [found] = [f for f in map(_SHAPE.fullmatch, modifiers) if f]
    return int(found[1]), int(found[2]), int(found[3])


def formats(modifiers: tuple[str, ...]) -> list[str]:
    """Return the formats among the modifiers, in order; densely packed fp4 is "e2m1x8"."""
    words = [m[1:] for m in modifiers]
    dense = any(w.startswith("kind::mxf4") for w in words)
    return ["e2m1x8" if dense and w == "e2m1" else w for w in words if w in _FORMATS]


def only(o: Operands, name: str) -> Value:
    """Read a register that may be in braces, as compilers write it."""
    [value] = o.values(name)
    return value


def _one_of(words: frozenset[str], choices: tuple[str, ...], otherwise: str) -> str:
    return next((w for w in choices if w in words), otherwise)


@cache
def product_of(modifiers: tuple[str, ...], target: str, sparse: bool) -> tuple[Product, Fragments]:
    """Return the product that a mnemonic describes, and the fragments of A, B, C and D."""
    words, (m, n, k), types = frozenset(w[1:] for w in modifiers), shape_of(modifiers), formats(modifiers)
    d, a, b, c = types[:4]
    blocks = 0
    if "block_scale" in words:
        vector = next((w[-2] for w in words if w.startswith("scale_vec")), None)
        blocks = int(vector) if vector else 1 if "kind::mxf8f6f4" in words else 2
    product = Product(
        m,
        n,
        k,
        a,
        b,
        c,
        d,
        "satfinite" in words,
        _one_of(words, ("xor", "and"), ""),
        _one_of(words, _ROUNDING, "rn"),
        sparse,
        k // blocks if blocks else 0,
        types[4] if blocks else "",
        model(target, "mma", k, a, d),
    )
    if (m, n, k) == (8, 8, 4) and a == "f16":
        layouts = [w[1:] for w in modifiers if w in (".row", ".col")]
        return product, (
            fragments.quad_pair("a", layouts[0], 16),
            fragments.quad_pair("b", layouts[1], 16),
            fragments.quad_pair("c", "", BITS[c]),
            fragments.quad_pair("c", "", BITS[d]),
        )
    return product, (
        fragments.left(m, k // 2 if sparse else k, BITS[a]),
        fragments.right(k, n, BITS[b]),
        fragments.accumulator(m, n, BITS[c]),
        fragments.accumulator(m, n, BITS[d]),
    )


@decodes("mma")
def mma(o: Operands) -> Action | None:
    sparse = "e" in o
    product, parts = product_of(o.instruction.modifiers, o.target_name, sparse)
    scale_a = Scale(only(o, "sa"), o.value("ba"), o.value("ta")) if product.scale else None
    scale_b = Scale(only(o, "sb"), o.value("bb"), o.value("tb")) if product.scale else None
    return Mma(
        product,
        o.targets("d"),
        o.values("a"),
        o.values("b"),
        o.values("c"),
        parts,
        only(o, "e") if sparse else None,
        o.number("f") if sparse else 0,
        scale_a,
        scale_b,
    )


# wmma ---------------------------------------------------------------------------------------------------------------


@decodes("wmma")
def wmma(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    if ".load" in modifiers:
        return _load(o)
    return _store(o) if ".store" in modifiers else _wmma(o)


def _wmma(o: Operands) -> Action:
    modifiers = o.instruction.modifiers
    words, shape, types = frozenset(w[1:] for w in modifiers), shape_of(modifiers), formats(modifiers)
    d, a, b, c = types if len(types) == 4 else (types[0], "f16", "f16", types[1])
    m, n, k = shape
    product = Product(
        m,
        n,
        k,
        a,
        b,
        c,
        d,
        "satfinite" in words,
        _one_of(words, ("xor", "and"), ""),
        _one_of(words, _ROUNDING, "rn"),
        model=model(o.target_name, "mma", k, a, d),
    )
    data, left, right, addend = o.targets("d"), o.values("a"), o.values("b"), o.values("c")
    parts = (
        fragments.wmma("a", shape, BITS[a], len(left)),
        fragments.wmma("b", shape, BITS[b], len(right)),
        fragments.wmma("c", shape, BITS[c], len(addend)),
        fragments.wmma("c", shape, BITS[d], len(data)),
    )
    return Mma(product, data, left, right, addend, parts)


def _access(o: Operands) -> tuple[Address, Value | None, int, str, int, Fragment]:
    """Return address, stride, leading dimension, major, bits and fragment of a load or store."""
    modifiers = o.instruction.modifiers
    space, shape, [type_name] = space_of(modifiers), shape_of(modifiers), formats(modifiers)
    operand = next(m[1:] for m in modifiers if m in (".a", ".b", ".c", ".d"))
    [major] = [m[1:] for m in modifiers if m in (".row", ".col")]
    fragment: Fragment = fragments.wmma(
        "c" if operand == "d" else operand,
        shape,
        BITS[type_name],
        len(o.values("r")) if operand == "d" else len(o.targets("r")),
    )
    leading = fragment.columns if major == "row" else fragment.rows
    return (o.address("p", space), o.value("s") if "s" in o else None, leading, major, BITS[type_name], fragment)


def _load(o: Operands) -> Action:
    address, stride, leading, major, bits, fragment = _access(o)
    matrices = bits == 16 and address.space == "shared" and not {".a", ".b"}.isdisjoint(o.instruction.modifiers)
    return LoadFragment(address, stride, leading, major, bits, fragment, o.targets("r"), matrices)


def _store(o: Operands) -> Action:
    address, stride, leading, major, bits, fragment = _access(o)
    return StoreFragment(address, stride, leading, major, bits, fragment, o.values("r"))


# wgmma: asynchronous products of a warpgroup, their groups ---------------------------------------------------------


@decodes("wgmma")
def wgmma(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    for mode in ("fence", "commit_group", "wait_group"):
        if f".{mode}" in modifiers:
            return WgmmaGroup(mode, o.number("n") if mode == "wait_group" else 0)
    return _wgmma(o)


@cache
def _wgmma_product(modifiers: tuple[str, ...], target: str, sparse: bool) -> Product:
    (_, n, k), (d, a, b) = shape_of(modifiers), formats(modifiers)
    return Product(
        16,
        n,
        k,
        a,
        b,
        d,
        d,
        ".satfinite" in modifiers,
        "and" if a == "b1" else "",
        sparse=sparse,
        model=model(target, "wgmma", k, a, d),
    )


def _wgmma(o: Operands) -> Action:
    sparse = "m" in o
    product = _wgmma_product(o.instruction.modifiers, o.target_name, sparse)
    signs = [o.number(name) for name in ("ia", "ib") if name in o]
    major_a, major_b = ("mn" if name in o and o.number(name) else "k" for name in ("ta", "tb"))
    data = tuple(register for register in o.targets("d") if register is not None)
    left = o.values("a") if "a" in o else (o.value("ad"),)
    return Wgmma(
        product,
        data,
        left,
        o.value("bd"),
        data,
        o.value("sd"),
        o.negated("sd"),
        signs.count(-1) == 1,
        major_a,
        major_b,
        only(o, "m") if sparse else None,
        o.number("ss") if sparse else 0,
    )
