"""Products of tensor cores of the fifth generation (tcgen05), with descriptors that follow from the tiles of a ring."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.lib.tma_ring import TmaRing
from pyptx.lib.tma_stage import Stage
from pyptx.lib.wgmma_tile import WgmmaTile
from pyptx.ptx import tcgen05
from pyptx.reg import Reg
from pyptx.types import b32

__all__ = ["TensorProduct"]

_ROWS = 128  # of a product in a CTA: lanes of tensor memory


class TensorProduct:
    """Products of two tiles of a ring into tensor memory; all descriptors follow from the tiles.

    The tiles are of class `WgmmaTile`: shared memory of both generations has the same layout. A has 64 or 128 rows, or several
    blocks of 128, and is K-major; B is "MN" (K x N) or "K" (N x K). With a ring of a pair, a product has the rows of A and the columns
    of B of both CTAs: it is started by one thread of the leader, and each CTA has the sums of its rows. Emits the descriptors in the
    thread that makes it, which starts all products.

    Args:
        ring: the ring, made with `readers=1`: `release` arrives once for a stage.
        a, b: names of its tiles, of f16 or bf16.
    Attributes:
        m, n: sizes of a product, of both CTAs of a pair together.
    Raises:
        ShapeError: tiles that a product cannot have.
    Source: PTX ISA, "tcgen05.mma", "Instruction Descriptor", "Shared Memory Descriptor".
    """

    m: int
    n: int
    a: WgmmaTile
    b: WgmmaTile

    def __init__(self, ring: TmaRing, a: str = "a", b: str = "b"):
        self.ring = ring
        first, second = ring.operands.get(a), ring.operands.get(b)
        if first is None or second is None or first.dtype.bits != 16 or first.dtype != second.dtype:
            raise ShapeError(
                f"TensorProduct of {a!r} and {b!r}: {first}, {second}; expected two WgmmaTiles of f16 or bf16",
                at=user_place(),
            )
        self.a, self.b = first, second
        if ring.readers != 1:
            raise ShapeError(
                f"TensorProduct of a ring with readers={ring.readers}: the products of a stage free it with one arrival",
                at=user_place(),
                hint="lib.TmaRing(..., readers=1)",
            )
        ctas = ring.ctas
        (rows, depth), along = (self.a.rows, self.a.columns), self.b.major == "MN"
        columns, other = (self.b.columns, self.b.rows) if along else (self.b.rows, self.b.columns)
        self.m, self.n = ctas * min(rows, _ROWS), ctas * columns
        whole = rows % _ROWS == 0 or (rows == 64 and ctas == 1)
        if self.a.major != "K" or not whole or depth != other or self.n % (16 * ctas) or self.n > 256:
            raise ShapeError(
                f"TensorProduct of {self.a} and {self.b}; expected a K-major A of 64 or 128 rows or blocks of 128, the same K, and N a "
                f"multiple of {16 * ctas} up to 256" + " in both CTAs together" * (ctas > 1),
                at=user_place(),
            )
        kind = tcgen05.make_instr_desc_f16bf16_f32(
            m=self.m, n=self.n, ab_dtype=self.a.dtype, b_major="MN" if along else "K"
        )
        self._kind = reg.scalar(b32, kind)
        self._from = [ring.tensor_descriptor(name) for name in (a, b)]

    def start(self, stage: Stage, into: Reg, *, accumulate: Reg | bool, block: int = 0) -> None:
        """Start the products of a stage: one `tcgen05.mma` for each 16 columns of A; by one thread.

        Args:
            stage: as `ring.wait()` gives it.
            into: tensor memory address of the accumulator, m x n f32.
            accumulate: add to it; else the first product overwrites it. A predicate, or a bool.
            block: of 128 rows of A.
        """
        tcgen05.fence_after_thread_sync()
        this_a, this_b = (stage.descriptor(one) for one in self._from)
        for k in range(0, self.a.columns, 16):
            tcgen05.mma(
                into,
                this_a + self.a.offset(k, block * _ROWS),
                this_b + self.b.offset(k),
                self._kind,
                cta_group=self.ring.ctas,
                pred_operand=True if k else accumulate,
            )

    def release(self, stage: Stage) -> None:
        """Free a stage when the products started so far have completed (`tcgen05.commit`)."""
        self.ring.commit(stage)

    def commit(self, mbar: object) -> None:
        """Arrive at an mbarrier, of both CTAs of a pair, when the products started so far have completed (`tcgen05.commit`)."""
        self.ring.commit_to(mbar)
