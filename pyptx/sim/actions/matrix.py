"""Actions of matrix instructions: products, groups of asynchronous products, and moves of matrices.

The 32 lanes of a warp execute them together; a warpgroup instruction is executed by each warp for its 16 rows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pyptx._frozen import frozen
from pyptx.sim.actions.operands import Address, Reg, Value, WholeWarp
from pyptx.sim.layouts.fragments import Fragment

__all__ = [
    "LoadFragment",
    "LoadMatrix",
    "Mma",
    "Model",
    "MoveMatrix",
    "Product",
    "Scale",
    "StoreFragment",
    "StoreMatrix",
    "Wgmma",
    "WgmmaGroup",
    "flops",
    "model",
]


@frozen
class Model:
    """Arithmetic of tensor cores: `step` columns are added at once, aligned to the largest exponent with `fraction` bits.

    `result` is the format that the sum of a step is rounded to: "f32" (towards zero), "f16" (to nearest), "e8m13" (f32
    towards zero with 13 bits).

    Error relative to the largest exact sum, of K normally distributed products and of K positive ones (for which
    truncation accumulates); "fast" rounds to nearest after each product added:

                                          normal, K = 256    4096    positive, K = 256    4096
        fast, every format                          4e-7     2e-6                5e-7     4e-6
        hw, f16 on sm_80                            6e-7     7e-6                3e-6     5e-5
        hw, f16 and bf16 on sm_90                   5e-7     5e-6                1e-6     3e-5
        hw, fp8 by mma on sm_89, wgmma              6e-4     3e-3                3e-3     7e-2
        hw, fp8 by tcgen05                          1e-8     1e-7                6e-8     1e-6
    """

    fraction: int
    result: str
    step: int


@frozen
class Product:
    """D = A * B + C of one warp: sizes, element formats and arithmetic.

    Attributes:
        a, b, c, d: formats; "e2m1x8" is packed densely, "e2m1" has an element per byte.
        saturate: clamp integer results.
        bits: "xor" or "and" for b1, else "".
        rounding: rounding mode of f64.
        sparse: half of A's columns are stored (of tf32, 1 of 2).
        scale: columns that share a scale, 0 without scales.
        scale_type: "ue8m0" or "ue4m3".
        model: arithmetic of tensor_cores="hw"; None for integers and f64, which are exact or IEEE.
    """

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    d: str
    saturate: bool = False
    bits: str = ""
    rounding: str = "rn"
    sparse: bool = False
    scale: int = 0
    scale_type: str = ""
    model: Model | None = None


class Scale(NamedTuple):
    """Block scales of A or B: the register, and the byte and the lane of a quad where they start."""

    value: Value
    byte: Value
    thread: Value


@frozen
class Mma(WholeWarp):
    """mma.sync and wmma.mma; `fragments` are the layouts of A (stored columns), B, C and D."""

    product: Product
    data: tuple[Reg | None, ...]
    a: tuple[Value, ...]
    b: tuple[Value, ...]
    c: tuple[Value, ...]
    fragments: tuple[Fragment, Fragment, Fragment, Fragment]
    metadata: Value | None = None
    selector: int = 0
    scale_a: Scale | None = None
    scale_b: Scale | None = None


@frozen
class Wgmma(WholeWarp):
    """wgmma.mma_async: the 16 rows of D of this warp.

    Attributes:
        a: four registers, or a descriptor.
        c: the registers of D, which are read if `scale_d` is true.
        negate: negate the product.
        major_a, major_b: "k" or "mn".
    """

    product: Product
    data: tuple[Reg, ...]
    a: tuple[Value, ...]
    b: Value
    c: tuple[Value, ...]
    scale_d: Value
    scale_d_negated: bool
    negate: bool
    major_a: str
    major_b: str
    metadata: Value | None = None
    selector: int = 0


@frozen
class WgmmaGroup(WholeWarp):
    """wgmma.fence, commit_group, and wait_group for at most `pending` groups."""

    mode: str
    pending: int = 0


@frozen
class LoadMatrix(WholeWarp):
    """ldmatrix: load `count` matrices with rows of 16 bytes; each lane provides the address of a row.

    `shape` is "m8n8", "m16n16" or "m8n16"; `format` "b16", "b8", "b6" (16 elements in 12 bytes), "b4" (in 8), "s4".
    """

    address: Address
    shape: str
    count: int
    transposed: bool
    format: str
    data: tuple[Reg | None, ...]


@frozen
class StoreMatrix(WholeWarp):
    """stmatrix: store matrices, "m8n8" of b16 or "m16n8" of b8 (transposed)."""

    address: Address
    shape: str
    count: int
    transposed: bool
    source: tuple[Value, ...]


@frozen
class MoveMatrix(WholeWarp):
    """movmatrix: transpose an 8 x 8 matrix of b16."""

    data: Reg
    value: Value


@frozen
class LoadFragment(WholeWarp):
    """wmma.load; rows (columns with `major` "col") are `stride` elements apart in memory, `leading` if it is None.

    `matrices`: the machine loads matrices of 8 x 8 16-bit elements, as for ldmatrix.
    """

    address: Address
    stride: Value | None
    leading: int
    major: str
    bits: int
    fragment: Fragment
    data: tuple[Reg | None, ...]
    matrices: bool


@frozen
class StoreFragment(WholeWarp):
    """wmma.store."""

    address: Address
    stride: Value | None
    leading: int
    major: str
    bits: int
    fragment: Fragment
    source: tuple[Value, ...]


def flops(action: object) -> int:
    """Return the floating-point operations of a warp, two per multiply-add; a sparse product counts like a dense one."""
    if isinstance(action, (Mma, Wgmma)):
        product = action.product
        batch = 4 if isinstance(action, Mma) and action.fragments[0].batch is not None else 1
        return 2 * batch * product.m * product.n * product.k
    return 0


_FLOATS = frozenset("f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 e2m1x8".split())
_NARROW = frozenset("e4m3 e5m2 e3m2 e2m3 e2m1".split())


def model(target: str, family: str, k: int, a: str, d: str) -> Model | None:
    """Return the tensor core arithmetic of a target for floats, None for other formats.

    Args:
        family: "mma", "wgmma" or "tcgen05".

    Source: MMA-Sim (arXiv 2511.10909), Khattak and Mikaitis (arXiv 2512.07004). Sparse products are assumed to add
    like dense ones of twice the columns.
    """
    if a not in _FLOATS:
        return None
    sm = int(re.sub(r"\D", "", target))
    fraction = 23 if sm < 75 else 24 if sm < 90 else 25
    result, step = ("f16" if d == "f16" else "f32"), k
    if a == "e2m1x8":
        fraction = 35
    elif a in _NARROW and (sm == 89 if family == "mma" else family == "wgmma"):
        fraction, result = 13, "f16" if d == "f16" else "e8m13"
    if sm < 75:
        step = 4
    elif 80 <= sm < 90:
        step = {"tf32": 4, "f16": 8, "bf16": 8}.get(a, 16)
    return Model(fraction, result, min(step, k))
