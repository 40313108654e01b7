"""mma.sync and wmma: products of fragments in registers; loads and stores of wmma fragments."""

from __future__ import annotations

import re
from functools import cache

from pyptx.sim.actions.basic import Action, Value
from pyptx.sim.actions.products import LoadFragment, Mma, Product, Scale, StoreFragment, model
from pyptx.sim.decode import decodes
from pyptx.sim.decode.memory import space_of
from pyptx.sim.layouts import fragments
from pyptx.sim.layouts.fragments import BITS, Fragment
from pyptx.sim.symbols.operands import Operands

__all__ = ["formats", "only", "product_of", "shape_of"]

_FORMATS = frozenset("f16 bf16 tf32 f32 f64 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4 b1 s32 ue8m0 ue4m3".split())
_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)")
_ROUNDING = ("rn", "rz", "rm", "rp")


def shape_of(modifiers: tuple[str, ...]) -> tuple[int, int, int]:
    """m, n, k among the modifiers."""
    [found] = [f for f in map(_SHAPE.fullmatch, modifiers) if f]
    return int(found[1]), int(found[2]), int(found[3])


def formats(modifiers: tuple[str, ...]) -> list[str]:
    """The formats among the modifiers, in order; fp4 of the kinds that pack it densely is "e2m1x8"."""
    words = [m[1:] for m in modifiers]
    dense = any(w.startswith("kind::mxf4") for w in words)
    return ["e2m1x8" if dense and w == "e2m1" else w for w in words if w in _FORMATS]


def only(o: Operands, name: str) -> Value:
    """A register that may stand in braces, as compilers write it."""
    [value] = o.values(name)
    return value


def _one_of(words: frozenset[str], choices: tuple[str, ...], otherwise: str) -> str:
    return next((w for w in choices if w in words), otherwise)


@cache
def product_of(modifiers: tuple[str, ...], target: str, sparse: bool) -> tuple[Product, tuple[Fragment, ...]]:
    """What a mnemonic says of a product, and where its operands lie."""
    words, (m, n, k), types = frozenset(w[1:] for w in modifiers), shape_of(modifiers), formats(modifiers)
    d, a, b, c = types[:4]
    blocks = 0
    if "block_scale" in words:
        vector = next((w[-2] for w in words if w.startswith("scale_vec")), None)
        blocks = int(vector) if vector else 1 if "kind::mxf8f6f4" in words else 2
    product = Product(m, n, k, a, b, c, d, "satfinite" in words, _one_of(words, ("xor", "and"), ""),
                      _one_of(words, _ROUNDING, "rn"), sparse, k // blocks if blocks else 0,
                      types[4] if blocks else "", model(target, "mma", k, a, d))
    if (m, n, k) == (8, 8, 4) and a == "f16":
        layouts = [w[1:] for w in modifiers if w in (".row", ".col")]
        return product, (fragments.quad_pair("a", layouts[0], 16), fragments.quad_pair("b", layouts[1], 16),
                         fragments.quad_pair("c", "", BITS[c]), fragments.quad_pair("c", "", BITS[d]))
    return product, (fragments.left(m, k // 2 if sparse else k, BITS[a]), fragments.right(k, n, BITS[b]),
                     fragments.accumulator(m, n, BITS[c]), fragments.accumulator(m, n, BITS[d]))


@decodes("mma")
def mma(o: Operands) -> Action | None:
    sparse = "e" in o
    product, parts = product_of(o.instruction.modifiers, o.target_name, sparse)
    scales = (None, None)
    if product.scale:
        scales = (Scale(only(o, "sa"), o.value("ba"), o.value("ta")),
                  Scale(only(o, "sb"), o.value("bb"), o.value("tb")))
    return Mma(product, o.targets("d"), o.values("a"), o.values("b"), o.values("c"), parts,
               only(o, "e") if sparse else None, o.number("f") if sparse else 0, *scales)


# wmma ---------------------------------------------------------------------------------------------------------------

@decodes("wmma")
def wmma(o: Operands) -> Action | None:
    what = o.instruction.modifiers
    if ".load" in what:
        return _load(o)
    return _store(o) if ".store" in what else _multiply(o)


def _multiply(o: Operands) -> Action:
    modifiers = o.instruction.modifiers
    words, shape, types = frozenset(w[1:] for w in modifiers), shape_of(modifiers), formats(modifiers)
    d, a, b, c = types if len(types) == 4 else (types[0], "f16", "f16", types[1])
    product = Product(*shape, a, b, c, d, "satfinite" in words, _one_of(words, ("xor", "and"), ""),
                      _one_of(words, _ROUNDING, "rn"), model=model(o.target_name, "mma", shape[2], a, d))
    data, sources = o.targets("d"), [o.values(name) for name in "abc"]
    parts = [fragments.wmma(name, shape, BITS[type_], len(registers)) for name, type_, registers
             in zip("abcc", (a, b, c, d), (*sources, data), strict=True)]
    return Mma(product, data, *sources, tuple(parts))


def _access(o: Operands) -> tuple | None:
    """Address, stride, leading size, major, bits and fragment of a load or store."""
    modifiers = o.instruction.modifiers
    space, shape, [type_name] = space_of(modifiers), shape_of(modifiers), formats(modifiers)
    if space is None:
        return None
    operand = next(m[1:] for m in modifiers if m in (".a", ".b", ".c", ".d"))
    [major] = [m[1:] for m in modifiers if m in (".row", ".col")]
    fragment: Fragment = fragments.wmma("c" if operand == "d" else operand, shape, BITS[type_name],
                                        len(o.values("r")) if operand == "d" else len(o.targets("r")))
    leading = fragment.columns if major == "row" else fragment.rows
    return (o.address("p", space), o.value("s") if "s" in o else None, leading, major, BITS[type_name], fragment)


def _load(o: Operands) -> Action | None:
    found = _access(o)
    return LoadFragment(*found, o.targets("r")) if found else None


def _store(o: Operands) -> Action | None:
    found = _access(o)
    return StoreFragment(*found, o.values("r")) if found else None
