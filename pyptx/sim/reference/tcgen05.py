"""tcgen05.mma: operands from shared and tensor memory, the product, D to tensor memory (core/src/tcgen05_mma.c)."""

from __future__ import annotations

import numpy as np

from pyptx.sim import actions as act
from pyptx.sim.abi import TensorMemoryProblem
from pyptx.sim.actions import Address, Product, model
from pyptx.sim.layouts.fragments import BITS
from pyptx.sim.layouts.tmem import TmemProblem, geometry, metadata, zero_columns
from pyptx.sim.reference import matrix_product
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.asynchronous import issue
from pyptx.sim.reference.state import Cta, Operation, Runner, lanes_of
from pyptx.sim.reference.tmem import ORDERED, faults_of, group_ctas, holds, tile, tmem_of, value
from pyptx.sim.reference.wgmma import read_tile

_SCALES = 0x3FFFFFFF  # bits 30, 31 of the addresses of scales do not count: compilers keep the id there


class _Operands:
    """Operands of an instruction in one lane, with its decoded descriptors."""

    def __init__(self, runner: Runner, action: act.Tcgen05Mma, lane: int):
        def read(operand) -> int:
            return 0 if operand is None else value(runner, operand, lane)

        self.action, self.ctas = action, group_ctas(runner, action.group)
        self.in_tmem = isinstance(action.a, Address)
        self.descriptor = read(action.descriptor)
        self.keep = read(action.enable) & 1 != int(action.enable_negated)
        self.d, self.a, self.b = read(action.d), read(action.a), read(action.b)
        self.metadata, self.zero = read(action.metadata), read(action.zero)
        self.scales = read(action.scale_a) & _SCALES, read(action.scale_b) & _SCALES
        masks = [read(v) for v in action.mask] or [0] * 4 * action.group
        self.disabled = np.array(
            [[masks[4 * c + k // 32] >> k % 32 & 1 for k in range(128)] for c in range(action.group)], bool
        )
        self.g = geometry(
            self.descriptor,
            action.kind,
            action.group,
            ws=action.ws,
            sparse=action.metadata is not None,
            in_tmem=self.in_tmem,
            ashift=action.ashift,
            vector=action.vector,
        )
        self._check()
        self.product = self._product()
        self.tile_a = None if self.in_tmem else tile(self.a, self.g.mn_a, self.g.a == "tf32")
        self.tile_b = tile(self.b, self.g.mn_b, self.g.b == "tf32")

    def _product(self) -> Product:
        g, action = self.g, self.action
        return Product(
            g.rows,
            g.columns,
            g.k,
            g.a,
            g.b,
            g.d,
            g.d,
            g.saturate,
            sparse=action.metadata is not None,
            scale=g.k // action.vector if action.vector else 0,
            scale_type=g.scale_type,
            model=model(action.target, "tcgen05", g.k, g.a, g.d),
        )

    @property
    def stored(self) -> int:
        return self.g.k // 2 if self.action.metadata is not None else self.g.k

    def _check(self) -> None:
        """Check the alignment and allocation of the addresses.

        Raises:
            TmemProblem: one is not.
        """
        g, shift, base = self.g, self.zero >> 56 & 63, self.d >> 16
        if shift > g.shift or (g.m == 32 and shift > 16):
            raise TmemProblem(TensorMemoryProblem.SHIFT, shift)
        if base != 0 and not (g.half and base == 16):
            raise TmemProblem(TensorMemoryProblem.LANE, self.d)
        sparse = self.action.metadata is not None
        if (self.in_tmem and self.a >> 16 != base) or (sparse and self.metadata >> 16 != base):
            raise TmemProblem(TensorMemoryProblem.ALIGNMENT, self.d)
        for scales in self.scales:
            if scales >> 16:
                raise TmemProblem(TensorMemoryProblem.LANE, scales)
        for cta in self.ctas:
            holds(cta, self.d, g.columns)
            if self.in_tmem:
                holds(cta, self.a, self.stored * BITS[g.a] // 32)
            if sparse:
                holds(cta, self.metadata + g.selector, 1 if g.a in ("f16", "bf16", "tf32") else 2)
            if self.action.vector:
                holds(cta, self.scales[0], g.rows // 32)
                holds(cta, self.scales[1], -(-g.columns // 32))


@handles(act.Tcgen05Mma)
def _issue(runner: Runner, action: act.Tcgen05Mma, mask: int) -> None:
    for lane in lanes_of(mask):
        with faults_of(lane):
            o = _Operands(runner, action, lane)
        g = o.g
        runner.run.counters.tensor_flops[runner.pc] += 2 * g.m * g.n * g.k
        earlier = any(
            op.track == "tc" and op.warp is runner.warp and op.lanes >> lane & 1 for op in runner.cta.cluster.pending
        )
        if not o.keep and runner.run.plan.schedule != "eager" and not earlier:
            for c, cta in enumerate(o.ctas):  # destroyed until it lands, unless something may read it
                for group in range(g.groups):
                    _put(o, c, cta, group, np.full((g.rows, g.columns), 0xFFFFFFFF, np.uint32))
        issue(Operation(runner, lambda op, o=o: _land(op, o), 1 << lane, track="tc", after=ORDERED))


def _land(op: Operation, o: _Operands) -> None:
    g, hardware = o.g, op.run.plan.tensor_cores == "hw" and o.product.model is not None
    right = _right(o)
    for c, cta in enumerate(o.ctas):
        for group in range(g.groups):
            lanes = g.lanes(o.d >> 16, group)
            b = right[:, group * g.columns : (group + 1) * g.columns]
            left, d = _left(o, cta, group, lanes), _accumulator(o, cta, lanes)
            if not o.product.scale:
                result = matrix_product.multiply(o.product, d, left, b, hardware=hardware)
            else:  # each datapath has its own copy of the scales
                result = np.empty_like(d)
                for path in np.unique(lanes // 32):
                    rows = np.flatnonzero(lanes // 32 == path)
                    result[rows] = matrix_product.multiply(
                        o.product,
                        d[rows],
                        left[rows],
                        b,
                        _scales(o, cta, 0, path, rows),
                        _scales(o, cta, 1, path, np.arange(g.columns)),
                        hardware=hardware,
                    )
            _put(o, c, cta, group, matrix_product.encode(result, g.d).astype(np.uint32))


def _put(o: _Operands, number: int, cta: Cta, group: int, bits: np.ndarray) -> None:
    lanes, column = o.g.lanes(o.d >> 16, group), o.d & 0xFFFF
    kept = ~o.disabled[number][lanes]
    tmem_of(cta).cells[lanes[kept], column : column + o.g.columns] = bits[kept]


def _accumulator(o: _Operands, cta: Cta, lanes: np.ndarray) -> np.ndarray:
    column = o.d & 0xFFFF
    if not o.keep:
        return np.zeros((len(lanes), o.g.columns), np.int64 if o.g.d == "s32" else np.float32)
    cells = tmem_of(cta).cells[lanes, column : column + o.g.columns]
    found = matrix_product.decode(cells & np.uint32(0xFFFF) if o.g.d == "f16" else cells, o.g.d)
    with np.errstate(all="ignore"):
        return found * np.float32(2.0**-o.action.scale) if o.action.scale else found


def _left(o: _Operands, cta: Cta, group: int, lanes: np.ndarray) -> np.ndarray:
    """Read A for the rows of a CTA, [row][k]."""
    g = o.g
    if o.in_tmem:
        own = np.where(lanes % 32 == 31, lanes, lanes + 1) if o.action.ashift else lanes
        bits, column = BITS[g.a], o.a & 0xFFFF
        words = tmem_of(cta).cells[own, column : column + o.stored * bits // 32]
        parts = [words >> np.uint32(bits * k) & np.uint32((1 << bits) - 1) for k in range(32 // bits)]
        left = matrix_product.decode(np.stack(parts, axis=2).reshape(len(lanes), o.stored), g.a)
    else:
        assert o.tile_a is not None
        left = read_tile(cta.shared, o.tile_a, _stored(g.a), range(g.rows), o.stored)
    if o.action.metadata is not None:
        lane, column, shift = metadata(g, lanes)
        words = tmem_of(cta).cells[lane, (o.metadata & 0xFFFF) + column]
        left = matrix_product.expand(left, (words >> shift.astype(np.uint32) & np.uint32(15)).astype(np.int64), g.a)
    return -left if g.negate else left


def _stored(type_name: str) -> str:
    """Return the format in shared memory, where 4- and 6-bit types are padded."""
    return f"{type_name}.padded" if type_name in ("e2m1", "e2m3", "e3m2") else type_name


def _right(o: _Operands) -> np.ndarray:
    """Read B [k][n]; each CTA of a pair has half of its columns."""
    g, first = o.g, o.zero >> 56 & 63
    columns = range(first, first + g.n // g.ctas)
    b = np.concatenate([read_tile(cta.shared, o.tile_b, _stored(g.b), columns, g.k) for cta in o.ctas]).T
    return np.where(zero_columns(g, o.zero), 0, b).astype(b.dtype)


def _scales(o: _Operands, cta: Cta, which: int, path: int, rows: np.ndarray) -> np.ndarray:
    """Read the scales [row][scale] of rows of A (0) or columns of B (1), as a datapath has them."""
    address, first = o.scales[which], (o.g.id_a, o.g.id_b)[which]
    words = tmem_of(cta).cells[32 * path + rows % 32, (address & 0xFFFF) + rows // 32]
    codes = [words >> np.uint32(8 * (first + k)) & np.uint32(255) for k in range(o.action.vector)]
    return matrix_product.decode(np.stack(codes, axis=1), o.g.scale_type)
