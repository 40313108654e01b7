"""wgmma: asynchronous products of a warpgroup, their groups."""

from __future__ import annotations

from functools import cache

from pyptx.sim.actions.basic import Action
from pyptx.sim.actions.products import Product, Wgmma, WgmmaGroup, model
from pyptx.sim.decode import decodes
from pyptx.sim.decode.mma import formats, only, shape_of
from pyptx.sim.symbols.operands import Operands


@decodes("wgmma")
def wgmma(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    for mode in ("fence", "commit_group", "wait_group"):
        if f".{mode}" in modifiers:
            return WgmmaGroup(mode, o.number("n") if mode == "wait_group" else 0)
    return _multiply(o)


@cache
def _product(modifiers: tuple[str, ...], target: str, sparse: bool) -> Product:
    (_, n, k), (d, a, b) = shape_of(modifiers), formats(modifiers)
    return Product(16, n, k, a, b, d, d, ".satfinite" in modifiers, "and" if a == "b1" else "", sparse=sparse,
                   model=model(target, "wgmma", k, a, d))


def _multiply(o: Operands) -> Action:
    sparse = "m" in o
    product = _product(o.instruction.modifiers, o.target_name, sparse)
    signs = [o.number(name) for name in ("ia", "ib") if name in o]
    majors = ["mn" if name in o and o.number(name) else "k" for name in ("ta", "tb")]
    data = o.targets("d")
    left = o.values("a") if "a" in o else (o.value("ad"),)
    return Wgmma(product, data, left, o.value("bd"), data, o.value("sd"), o.negated("sd"), signs.count(-1) == 1,
                 *majors, only(o, "m") if sparse else None, o.number("ss") if sparse else 0)
