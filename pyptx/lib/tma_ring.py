"""A ring of stages in shared memory that TMA fills and warps read, tracked by two mbarriers per stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from pyptx import reg, smem
from pyptx._loc import user_place
from pyptx.elements import Elements
from pyptx.errors import OperandError, ShapeError, TraceError, UnknownNameError
from pyptx.lib._arguments import register, thread
from pyptx.lib.wgmma_tile import WgmmaTile
from pyptx.ptx import cluster, cp, mbarrier
from pyptx.ptx._checked import one_of
from pyptx.ptx.barrier import bar
from pyptx.ptx.control import if_
from pyptx.ptx.mbarrier import DynamicSlot, MbarrierRing
from pyptx.ptx.pipeline_state import PipelineState, pipeline
from pyptx.reg import NegPred, Reg
from pyptx.tensor import TensorSpec
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit
from pyptx.types import b8, u32

__all__ = ["Stage", "TmaRing"]

Guard = Reg | NegPred | None


class TmaRing:
    """A ring of stages that one thread of each CTA fills by TMA, and `readers` warps read.

    ::

                        stage 0     stage 1     stage 2     stage 3
                       +---------+ +---------+ +---------+ +---------+
        TMA  --------> | a  | b  | | a  | b  | | a  | b  | | a  | b  | --------> wgmma
                       +---------+ +---------+ +---------+ +---------+
        producer: stage = ring.acquire()    waits for empty[i], expects the bytes of a stage at full[i]
                  stage.load("a", ...)      copies boxes, which arrive at full[i]
        readers:  stage = ring.wait()       waits for full[i]
                  ring.release(stage, ...)  arrives at empty[i]

    Producer and readers each go through the stages in order with a position of their own, so each role calls its methods in
    a branch of its own. `ring.set_up(tid)` comes first, in all threads.

    Args:
        stages: number of stages.
        tiles: name -> bytes of each tile of a stage, in the order of their memory, a multiple of 1024 for swizzled tiles; or
            a `WgmmaTile`, which knows its bytes, boxes and descriptor.
        readers: warps of a CTA that read every stage.
        cluster: CTAs of the cluster, if a CTA writes to the stages of all of them (multicast): a stage is free when the
            readers of all have released it.
        reads: of a cluster's stages: "generic" (`ld.shared`, `ldmatrix`), whose order with the next copy takes release and
            acquire semantics at the scope of the cluster, a `MEMBAR` in the machine code; or "async" (wgmma), which has completed when a
            warp releases the stage, so that the default scope suffices. Default: "async" if all tiles are `WgmmaTile`.
    Attributes:
        tiles: bytes of each tile.
        operands: the tiles that are operands of wgmma.
        stage_bytes: bytes of a stage.
        memory: the shared memory; `ring.memory[i]` is stage i, also in the debugger.
        start: shared address of stage 0, a u32 register.
        full, empty: mbarriers of the stages.
        position: stage and phase of the role; from `begin` on.
    Raises:
        ShapeError: a number that is not positive.
    """

    tiles: dict[str, int]
    operands: dict[str, WgmmaTile]
    stage_bytes: int
    readers: int
    cluster: int
    reads: str
    memory: smem.SharedAlloc
    start: Reg
    full: MbarrierRing
    empty: MbarrierRing
    position: PipelineState

    def __init__(
        self,
        stages: int,
        tiles: Mapping[str, int | WgmmaTile],
        *,
        readers: int,
        cluster: int = 1,
        reads: str | None = None,
    ):
        if not isinstance(tiles, Mapping):
            raise ShapeError(
                f"TmaRing: tiles={tiles!r}; expected a dict of names and tiles",
                at=user_place(),
                hint='for example {"a": lib.WgmmaTile(128, 64, bf16)}',
            )
        self.operands = {name: tile for name, tile in tiles.items() if isinstance(tile, WgmmaTile)}
        sizes = {name: tile.bytes if isinstance(tile, WgmmaTile) else tile for name, tile in tiles.items()}
        for name, number in {"stages": stages, "readers": readers, "cluster": cluster, **sizes}.items():
            if not isinstance(number, int) or number < 1:
                raise ShapeError(
                    f"TmaRing: {name} is {number!r}; expected a positive int",
                    at=user_place(),
                    hint="a tile is its number of bytes, or a lib.WgmmaTile" if name in sizes else None,
                )
        self.tiles, self.stage_bytes = sizes, sum(sizes.values())
        one_of(reads, (None, "generic", "async"), "reads")
        self.readers, self.cluster = readers, cluster
        self.reads = reads or ("async" if len(self.operands) == len(sizes) else "generic")
        self.memory = memory = smem.alloc(b8, (stages, self.stage_bytes), align=1024)
        full, empty = smem.mbarrier(stages), smem.mbarrier(stages)
        self.start = reg.from_(memory.name, u32)
        self.full = mbarrier.array(reg.from_(full.name, u32), 0, stages)
        self.empty = mbarrier.array(reg.from_(empty.name, u32), 0, stages)
        self._stages = stages

    def set_up(self, tid: Reg) -> None:
        """Initialize the mbarriers in one thread, synchronize the CTA, or the cluster, and begin; called by all threads.

        The lanes of a warp leave it converged (`bar.warp.sync`), as `setmaxnreg` and `wgmma` need them. With several rings,
        call `init` of each in one thread, then synchronize, then `begin` of each.

        Args:
            tid: index of the thread.
        """
        with if_(thread(tid) == 0):
            self.init()
        if self.cluster > 1:
            cluster.sync()
        else:
            bar.sync(0)
        emit("bar", "warp.sync", -1)  # a lane can leave the branch, and the barrier, before the others
        self.begin()

    def begin(self) -> None:
        """Set the position to stage 0; called by all threads, before the branches of the roles."""
        self.position = pipeline(self._stages)

    def init(self) -> None:
        """Initialize the mbarriers, and make them visible to TMA and the cluster; called by one thread."""
        self.full.init_all(1)  # the producer, and the bytes it expects
        self.empty.init_all(self.readers * self.cluster)
        emit("fence", "mbarrier_init.release.cluster")

    def _next(self) -> tuple[Reg, Reg]:
        if not hasattr(self, "position"):
            raise TraceError(
                "the ring is not set up: its mbarriers are not initialized",
                at=user_place(),
                hint="call ring.set_up(tid) in all threads, before the branches of the roles",
            )
        return self.position.advance()

    def offset(self, tile: str) -> int:
        """Return the bytes from the start of a stage to a tile.

        Raises:
            UnknownNameError: no such tile. It is a KeyError.
        """
        if tile not in self.tiles:
            raise UnknownNameError(
                f"the ring has no tile {tile!r}; its tiles: {', '.join(self.tiles)}", at=user_place()
            )
        names = list(self.tiles)
        return sum(self.tiles[name] for name in names[: names.index(tile)])

    def address(self, tile: str) -> Reg:
        """Return the shared address of a tile in stage 0."""
        return self.start + offset if (offset := self.offset(tile)) else self.start

    def descriptor(self, tile: str, row: int | Reg = 0) -> Reg:
        """Return the matrix descriptor of an operand in stage 0; `Stage.descriptor` moves it to another stage.

        Args:
            tile: name of a `WgmmaTile`.
            row: first row, for major "K"; a multiple of 8.
        Raises:
            UnknownNameError: no operand has this name.
        """
        if tile not in self.operands:
            raise UnknownNameError(
                f"tile {tile!r} is not a WgmmaTile; the ring's: {', '.join(self.operands)}", at=user_place()
            )
        start = self.address(tile)
        return self.operands[tile].descriptor(start + row * 128 if isinstance(row, Reg) or row else start)

    def acquire(self, expect_bytes: int | None = None) -> Stage:
        """Wait until the next stage is free, and expect its bytes; called by the producer.

        Args:
            expect_bytes: bytes that will arrive; default: those of all tiles.
        """
        index, phase = self._next()
        scope = (
            "cluster" if self.cluster > 1 and self.reads == "generic" else None
        )  # the warps of other CTAs have read the stage, too
        self.empty.at(index).wait(phase ^ 1, scope=scope)  # returns immediately in the first round
        full = self.full.at(index)
        full.arrive_expect_tx(self.stage_bytes if expect_bytes is None else expect_bytes)
        return Stage(self, index, full)

    def wait(self) -> Stage:
        """Wait until the next stage is filled; called by the readers."""
        index, phase = self._next()
        full = self.full.at(index)
        full.wait(phase)
        return Stage(self, index, full)

    def release(self, stage: Stage | Reg, lane: Reg, *, sync: bool = False) -> None:
        """Signal that the warp has read a stage; called by all lanes of a reading warp.

        Lane 0 arrives at `empty`; in a cluster, lane i arrives at that of CTA i.

        Args:
            stage: the stage, or its index.
            lane: index of the thread in its warp, `ptx.laneid`.
            sync: emit `bar.warp.sync` first, for lanes that read with `ld.shared` or `ldmatrix`: the arriving lane then
                signals the reads of all. After `wgmma.wait_group` it is not needed.
        """
        lane = register(lane, "the lane", "pass ptx.laneid, or tid & 31")
        index = (
            stage.index
            if isinstance(stage, Stage)
            else register(stage, "a stage", "pass the stage that ring.wait() returned")
        )
        if sync:
            emit("bar", "warp.sync", -1)
        empty = self.empty.at(index)
        if self.cluster > 1 and self.reads == "async":
            empty.arrive_remote(lane, pred=lane < self.cluster)
        elif self.cluster > 1:
            remote = cluster.map_shared_u32(empty.addr_reg(), lane)
            emit(
                "mbarrier", "arrive.release.cluster.shared::cluster.b64", "_", address(remote), pred=lane < self.cluster
            )
        else:
            empty.arrive(pred=lane == 0)


class Stage:
    """A stage of a ring.

    Attributes:
        ring: the ring.
        index: of the stage, a u32 register.
        full: the mbarrier that tracks its bytes.
    """

    ring: TmaRing
    index: Reg
    full: DynamicSlot

    def __init__(self, ring: TmaRing, index: Reg, full: DynamicSlot):
        self.ring, self.index, self.full = ring, index, full

    def address(self, tile: str) -> Reg:
        """Return the shared address of a tile of the stage in a u32 register."""
        start = self.ring.start + self.index * self.ring.stage_bytes
        return start + offset if (offset := self.ring.offset(tile)) else start

    def descriptor(self, descriptor: Reg) -> Reg:
        """Return a matrix descriptor of stage 0 moved to this stage.

        Args:
            descriptor: as `ring.descriptor(tile)` or a `WgmmaTile` gives it, a 64-bit register.
        Raises:
            OperandError: another value.
        """
        if not isinstance(descriptor, Reg) or descriptor.dtype.bits != 64:
            raise OperandError(
                f"a matrix descriptor is a 64-bit register, not {descriptor!r}",
                at=user_place(),
                hint=f"compute it before the loop: start = ring.descriptor({descriptor!r}), then stage.descriptor(start)"
                if isinstance(descriptor, str)
                else None,
            )
        return descriptor + self.index * (self.ring.stage_bytes // 16)

    def load(
        self,
        tile: str,
        source: object,
        coord: Sequence[int | Reg],
        *,
        boxes: int | None = None,
        columns: int | None = None,
        share: tuple[int | Reg, int] | None = None,
        multicast_mask: int | Reg | None = None,
        cache_hint: str | Reg | None = None,
        pred: Guard = None,
    ) -> None:
        """Copy a tile by TMA: one `cp.async.bulk.tensor` for each box, which arrive at `full`.

        Args:
            tile: name of the tile.
            source: the array, whose Tile has a `tma_box`.
            coord: coordinates of the first box, innermost first.
            boxes: number of boxes, side by side along the innermost dimension; each has an equal part of the tile. Default:
                those of a `WgmmaTile`, else 1.
            columns: elements from a box to the next; default: those of a `WgmmaTile`.
            share: (i, n): copy only the i-th of n equal parts of the boxes. With `multicast_mask`, each of n CTAs that
                need the tile copies a part of it for all: `share=(ptx.cluster_ctarank, 2), multicast_mask=3`.
            multicast_mask, cache_hint, pred: as for `ptx.cp.async_bulk.tensor_2d`.
        Raises:
            ShapeError: the tile is not divisible into the boxes.
            UnknownNameError: no such tile.
        """
        self.ring.offset(tile)
        _check_source(source, coord)
        operand = self.ring.operands.get(tile)
        boxes = boxes if boxes is not None else operand.boxes if operand is not None else 1
        columns = columns if columns is not None else operand.box_columns if operand is not None else 0
        part, parts = (0, 1) if share is None else (reg.readable(share[0]), share[1])
        if boxes < 1 or boxes % parts or self.ring.tiles[tile] % boxes or (boxes > 1 and columns < 1):
            raise ShapeError(
                f"tile {tile!r} of {self.ring.tiles[tile]} bytes cannot be copied as {boxes} boxes, {columns} columns apart"
                + f", in {parts} parts" * (parts > 1),
                at=user_place(),
            )
        _check_box(source, tile, self.ring.tiles[tile] // boxes)
        copy, box_bytes = getattr(cp.async_bulk, f"tensor_{len(coord)}d"), self.ring.tiles[tile] // boxes
        each = boxes // parts  # boxes of a part
        to, first = self.address(tile), coord[0]
        if share is not None:
            to, first = to + part * (each * box_bytes), first + part * (each * columns)
        for i in range(each):
            place = (first + i * columns if i else first, *coord[1:])
            target = to + i * box_bytes if i else to
            copy(
                dst=target, src=source, coord=place, mbar=self.full, multicast_mask=multicast_mask,
                cache_hint=cache_hint, pred=pred,
            )  # fmt: skip

    def become(self, other: Stage) -> None:
        """Copy the index of another stage into the register of this one, to keep it for the next iteration of a loop."""
        emit("mov", "u32", self.index, other.index)


def _check_source(source: object, coord: Sequence[int | Reg]) -> None:
    if isinstance(source, Elements) and not isinstance(source, TensorSpec):
        raise OperandError(
            f"{source!r} is not an array parameter; TMA copies from one",
            at=user_place(),
            hint="pass the kernel's array",
        )
    rank = len(source.shape) if isinstance(source, TensorSpec) and source.shape is not None else None
    if not isinstance(coord, Sequence) or rank not in (None, len(coord)):
        raise ShapeError(
            f"coordinates {coord!r} of {getattr(source, 'name', source)}; expected a tuple of "
            + ("one for each dimension" if rank is None else f"{rank}, one for each dimension, innermost first"),
            at=user_place(),
        )


def _check_box(source: object, tile: str, expected: int) -> None:
    """Refuse a copy whose bytes are not those that the ring waits for: the barrier would never complete."""
    if not isinstance(source, TensorSpec) or source.tma_box is None or source.dtype is None:
        return
    found = prod(source.tma_box) * source.dtype.bits // 8
    if found != expected:
        raise ShapeError(
            f"tile {tile!r} takes {expected} bytes of each box, and a box of {source.name} has {found}: {source.tma_box} of "
            f"{source.dtype}",
            at=user_place(),
            hint="set tma_box of its Tile, with tma_whole=True where the array may be smaller, or the bytes of the tile",
        )
