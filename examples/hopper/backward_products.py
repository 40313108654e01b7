"""The five products of the attention backward pass, as computed by one consumer of attention_backward.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from examples.hopper.tiles import BOX, LINE, SWIZZLED, WGMMA_BYTES, WGMMA_K
from examples.scores import LOG2_E, scale_of
from examples.vectors import round_pair
from pyptx import lib, ptx, reg, smem
from pyptx.ptx.mbarrier import Slot
from pyptx.reg import Reg, RegArray
from pyptx.tensor import TensorSpec
from pyptx.types import PtxType, b8, b32, f32, pred, s32, u32

__all__ = ["CONSUMERS", "KEYS", "QUERIES", "ROWS", "Buffer", "Consumer", "Sizes"]

CONSUMERS, ROWS = 2, 64  # consumer warpgroups, and the keys that each has
KEYS = CONSUMERS * ROWS  # of a block
QUERIES = 64  # of a box


@dataclass(frozen=True)
class Sizes:
    """Sizes of a head: S queries and T keys of width D, and their blocks."""

    S: int
    D: int
    T: int
    causal: bool
    scale: float | None

    @property
    def factor(self) -> float:
        return scale_of("attention_backward", self.D, self.scale)

    @property
    def rows(self) -> int:
        """Queries per block: as many as give each consumer a 64 x 64 tile of dQ."""
        return QUERIES * 128 // self.D

    @property
    def key_blocks(self) -> int:
        return -(-self.T // KEYS)

    @property
    def query_blocks(self) -> int:
        return -(-self.S // self.rows)

    @property
    def tile_bytes(self) -> int:
        """Bytes of a block of keys, or of values."""
        return KEYS * self.D * 2

    @property
    def block_bytes(self) -> int:
        """Bytes of a block of queries, or of dO."""
        return self.rows * self.D * 2

    @property
    def ds_bytes(self) -> int:
        return KEYS * self.rows * 2

    def first(self, keys: Reg) -> Reg | int:
        """Return the first block of queries that attends to a block of keys."""
        return keys * (KEYS // self.rows) if self.causal else 0

    def masked_until(self, keys: Reg) -> Reg | None:
        """Return the end of the blocks of queries that need a mask; None if none does."""
        if self.causal:
            return (keys * (KEYS // self.rows) + KEYS // self.rows).min(self.query_blocks)
        if self.T % KEYS == 0:
            return None
        end = reg.scalar(s32)
        ptx.inst.selp.s32(end, self.query_blocks, 0, keys == self.key_blocks - 1)
        return end


class Buffer:
    """A single-stage buffer of one CTA, filled by `writers` warps or by one thread through TMA; `turn` counts uses from 0.

    Unlike a ring of one stage it keeps no phase: registers are what is short here.
    """

    def __init__(self, bytes_: int, readers: int, writers: int = 1):
        self.readers, self.writers = readers, writers
        memory = smem.alloc(b8, bytes_, align=1024)
        self.filled, self.freed = (ptx.mbarrier.array(reg.from_(smem.mbarrier(1).name, u32), 0, 1)[0] for _ in range(2))
        self.start = reg.from_(memory.name, u32)

    def set_up(self) -> None:
        """Initialize the mbarriers; called by one thread before the CTAs synchronize."""
        self.filled.init(self.writers)
        self.freed.init(self.readers)

    def to_write(self, turn: Reg) -> Slot:
        """Wait until the buffer is free; return the mbarrier that signals that it is full."""
        self.freed.wait((turn & 1) ^ 1)  # returns immediately in the first round
        return self.filled

    def to_read(self, turn: Reg) -> None:
        """Wait until the buffer is full."""
        self.filled.wait(turn & 1)

    def give_back(self, lane: Reg) -> None:
        """Signal that this warp has read the buffer."""
        self.freed.arrive(pred=lane == 0)


class Consumer:
    """One consumer: 64 keys of a block. Scores have one row per key, so that dK and dV accumulate in registers."""

    def __init__(
        self,
        sizes: Sizes,
        kept: lib.TmaRing,
        streamed: lib.TmaRing,
        changes: Buffer,
        ds_start: Reg,
        tid: Reg,
        dtype: PtxType,
    ):
        self.sizes, self.kept, self.streamed, self.changes, self.dtype = sizes, kept, streamed, changes, dtype
        self.number, self.thread = (tid >> 7) - 1, tid & 127
        self.lane, self.warp = self.thread & 31, self.thread >> 5
        self.own = kept.start + self.number * (ROWS * LINE)  # its rows of the first box of the keys
        self.own_ds = ds_start + self.number * (ROWS * LINE)
        self.from_tile = ptx.wgmma.make_descriptor(self.own, leading_byte_offset=16, **SWIZZLED)
        self.from_rows = ptx.wgmma.make_descriptor(streamed.start, leading_byte_offset=16, **SWIZZLED)  # along D
        self.from_columns = ptx.wgmma.make_descriptor(streamed.start, leading_byte_offset=sizes.rows * LINE, **SWIZZLED)
        # Of dQ it computes 64 columns where D is 128, else 64 rows.
        wide = self.number * (KEYS * LINE)
        from_ds, from_keys = (ds_start, kept.start + wide) if sizes.D > BOX else (ds_start + wide, kept.start)
        self.from_ds, self.from_keys = (
            ptx.wgmma.make_descriptor(start, leading_byte_offset=KEYS * LINE, **SWIZZLED)
            for start in (from_ds, from_keys)
        )

        # A thread has two keys, eight apart. Of an accumulator, registers 4i and 4i + 1 belong to the first of them.
        self.weights, self.slopes = (reg.wgmma_frag(m=ROWS, n=QUERIES, dtype=f32) for _ in range(2))
        self.of_k, self.of_v = (lib.WgmmaFragment(sizes.D, tid) for _ in range(2))
        self.of_q = lib.WgmmaFragment(BOX, tid)
        self.rounded_p, self.rounded_ds = (reg.array(b32, QUERIES // 4).regs() for _ in range(2))
        self.shift = reg.from_((self.lane & 3) << 1, s32)  # of this thread's first query
        place = (self.warp * 16 + (self.lane & 15)) * LINE + ((self.lane >> 4) << 4)
        self.place = smem.apply_swizzle(place, "128B")  # of a row of 16 numbers in a box
        self.visited = reg.scalar(u32, 0)  # blocks of queries so far; dS has two places, in turns
        # This consumer's keys and values, A operands from shared memory; for D = 64 from registers, where they fit, as
        # shared memory is the bottleneck.
        self.tiles = [reg.array(b32, BOX // 4).regs() for _ in range(2)] if sizes.D == BOX else []

    def begin(self) -> None:
        """Begin a block of keys."""
        for number, tile in enumerate(self.tiles):
            for i in range(0, BOX, WGMMA_K):
                ptx.ldmatrix(
                    dst=tile[i // 4 : i // 4 + 4],
                    src=self.own + (self.place ^ (i * 2)) + number * self.sizes.tile_bytes,
                )
        for value in (*self.of_k.sums, *self.of_v.sums):
            ptx.inst.mov.f32(value, 0.0)

    def visit(self, keys: Reg, block: Reg, masked: bool) -> None:
        """Process the next block of queries, and pass on its contribution to dQ."""
        sizes = self.sizes
        stage, queries = self.streamed.wait(), block * sizes.rows + self.shift
        own_key = keys * KEYS + reg.from_(self.number * ROWS + self.warp * 16 + (self.lane >> 2), s32)
        for box in range(sizes.rows // QUERIES):
            self.take(box, stage, queries, own_key, masked)
        ptx.fence.proxy_async_shared_cta()
        ptx.bar.sync(1, CONSUMERS * 128)  # dS of all keys is complete, and the previous one is no longer read
        from_ds = self.from_ds + (self.visited & 1) * (sizes.ds_bytes // 16)
        ptx.wgmma.fence()
        for key in range(0, KEYS, WGMMA_K):
            a, b = (start + key * LINE // 16 for start in (from_ds, self.from_keys))
            self.mma(self.of_q.sums, a, b, BOX, trans_a=1, trans_b=1, scale_d=key > 0)
        ptx.wgmma.commit_group()
        ptx.wgmma.wait_group(1)  # dV and dK have the block
        self.streamed.release(stage, self.lane)
        ready = self.changes.to_write(self.visited)
        ptx.inst.add.u32(self.visited, self.visited, 1)
        ptx.wgmma.wait_group(0)
        self.of_q.stage(self.changes.start + self.number * (2 * WGMMA_BYTES), f32, rows=ROWS)
        ptx.fence.proxy_async_shared_cta()
        ptx.inst.bar.warp.sync(-1)
        ready.arrive(pred=self.lane == 0)

    def take(self, box: int, stage: lib.Stage, queries: Reg, own_key: Reg, masked: bool) -> None:
        """Process the queries of a box: start dV and dK, and put dS into shared memory."""
        sizes, down = self.sizes, box * QUERIES * LINE // 16
        block = sizes.block_bytes // 16
        rows, columns = (stage.descriptor(start) + down for start in (self.from_rows, self.from_columns))
        numbers_at = stage.address("queries") + (self.shift << 2)
        ptx.wgmma.fence()
        self.start_scores(self.weights, 0, rows)  # Q K^T
        self.start_scores(self.slopes, 1, rows + block)  # dO V^T
        sums = self.of_query(numbers_at, 2 * sizes.block_bytes + box * QUERIES * 4)
        ptx.wgmma.wait_group(1)  # the scores are there
        for i, weight in enumerate(self.weights):
            ptx.inst.fma.rn.f32(weight, weight, sizes.factor * LOG2_E, -sums[i // 4 * 2 + i % 2])
            ptx.inst.ex2.approx.ftz.f32(weight, weight)
            if masked:
                query, key = queries + (box * QUERIES + i // 4 * 8 + i % 2), own_key + i // 2 % 2 * 8
                ptx.inst.selp.f32(weight, weight, 0.0, self.seen(query, key))
        for pair, low, high in zip(self.rounded_p, self.weights[::2], self.weights[1::2], strict=True):
            round_pair(pair, low, high, self.dtype)
        self.start_gradient(self.of_v.sums, self.rounded_p, columns + block)
        delta = self.of_query(numbers_at, 2 * sizes.block_bytes + 512 + box * QUERIES * 4)
        ptx.wgmma.wait_group(1)  # dO V^T is there
        for i, (slope, weight) in enumerate(zip(self.slopes, self.weights, strict=True)):
            ptx.inst.sub.f32(slope, slope, delta[i // 4 * 2 + i % 2])
            ptx.inst.mul.f32(slope, slope, weight)
        for pair, low, high in zip(self.rounded_ds, self.slopes[::2], self.slopes[1::2], strict=True):
            round_pair(pair, low, high, self.dtype)
        to = self.own_ds + (self.visited & 1) * sizes.ds_bytes
        for i in range(0, QUERIES, 16):
            ptx.stmatrix(
                smem=to + ((self.place ^ (i * 2)) + box * KEYS * LINE), regs=self.rounded_ds[i // 4 : i // 4 + 4]
            )
        self.start_gradient(self.of_k.sums, self.rounded_ds, columns)

    def start_scores(self, into: RegArray, number: int, rows: Reg) -> None:
        """Start the product of this consumer's keys (0) or values (1) and a box of streamed rows, along D."""
        tile = self.from_tile + number * self.sizes.tile_bytes // 16
        for d in range(0, self.sizes.D, WGMMA_K):
            a, b = (
                start + (d // BOX * of_box * LINE + d % BOX * 2) // 16
                for start, of_box in ((tile, KEYS), (rows, self.sizes.rows))
            )
            self.mma(into, self.tiles[number][d // 4 : d // 4 + 4] if self.tiles else a, b, QUERIES, scale_d=d > 0)
        ptx.wgmma.commit_group()

    def start_gradient(self, gradient: RegArray, rounded: list[Reg], columns: Reg) -> None:
        """Start adding the product of P or dS and a box of streamed rows."""
        ptx.wgmma.fence()
        for i in range(0, QUERIES, WGMMA_K):
            self.mma(
                gradient, rounded[i // 4 : i // 4 + 4], columns + i * LINE // 16, self.sizes.D, trans_b=1, scale_d=True
            )
        ptx.wgmma.commit_group()

    def mma(self, d: RegArray, a: RegArray | Sequence[Reg] | Reg, b: Reg, n: int, **options: Any) -> None:
        ptx.wgmma.mma_async(
            shape=(ROWS, n, WGMMA_K), dtype_d=f32, dtype_a=self.dtype, dtype_b=self.dtype, d=d, a=a, b=b, **options
        )

    def of_query(self, place: Reg, offset: int) -> list[Reg]:
        """Load sums or delta of two adjacent queries, for every eighth query."""
        pairs = [[reg.scalar(f32) for _ in range(2)] for _ in range(0, QUERIES, 8)]
        for i, pair in enumerate(pairs):
            ptx.inst.ld.shared.v2.f32(pair, ptx.addr(place, offset + i * 32))
        return [number for pair in pairs for number in pair]

    def seen(self, query: Reg, key: Reg) -> Reg:
        """Return the predicate that a query attends to a key."""
        seen = reg.scalar(pred)
        if self.sizes.causal:
            ptx.inst.setp.ge.s32(seen, query, key)
        else:
            ptx.inst.setp.lt.s32(seen, key, self.sizes.T)
        return seen

    def write(self, d_k: TensorSpec, d_v: TensorSpec, keys: Reg, head: Reg, batch: Reg) -> None:
        """Store the gradients of a block of keys through this consumer's rows of the tiles."""
        D, tile_bytes = self.sizes.D, self.sizes.tile_bytes
        ptx.bar.sync(1, CONSUMERS * 128)  # they are no longer read for dQ
        self.of_k.apply(lib.scaled(self.sizes.factor))
        for number, result in enumerate((self.of_k, self.of_v)):
            result.stage(self.own + number * tile_bytes, self.dtype, rows=KEYS)
        ptx.fence.proxy_async_shared_cta()
        ptx.bar.sync(self.number + 2, 128)
        with ptx.if_(self.thread == 0):
            for number, tensor in enumerate((d_k, d_v)):
                for d in range(0, D, BOX):
                    ptx.cp.async_bulk.tensor_4d.store(
                        dst=tensor.tma_desc(),
                        src=self.own + (number * tile_bytes + d * KEYS * 2),
                        coord=(d, keys * KEYS + self.number * ROWS, head, batch),
                    )
            ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it
        ptx.bar.sync(self.number + 2, 128)
