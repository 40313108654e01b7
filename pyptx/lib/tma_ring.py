"""A ring of stages in shared memory that TMA fills and warps read, tracked by two mbarriers per stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pyptx import reg, smem
from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError, TraceError, UnknownNameError
from pyptx.lib._arguments import register, thread
from pyptx.lib.tma_stage import Stage
from pyptx.lib.wgmma_tile import WgmmaTile
from pyptx.ptx import cluster, mbarrier, tcgen05
from pyptx.ptx._checked import one_of
from pyptx.ptx.barrier import bar
from pyptx.ptx.control import if_
from pyptx.ptx.mbarrier import MbarrierRing
from pyptx.ptx.pipeline_state import OneStage, PipelineState, pipeline
from pyptx.reg import NegPred, Reg
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import b8, b16, pred, u32

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

    With `pair`, two CTAs each copy their part of a stage, and tcgen05 of the first one, the leader, reads both (`cta_group::2`):
    the bytes of both arrive at the leader's `full`, which it alone waits for, and `TensorProduct.release` arrives at both `empty`.

    Producer and readers each go through the stages in order with a position of their own, so each role calls its methods in
    a branch of its own. `ring.set_up(tid)` comes first, in all threads.

    Args:
        stages: number of stages.
        tiles: name -> bytes of each tile of a stage, in the order of their memory, a multiple of 1024 for swizzled tiles; or
            a `WgmmaTile`, which knows its bytes, boxes and descriptor.
        readers: warps of a CTA that read every stage.
        cluster: CTAs of the cluster, if a CTA writes to the stages of all of them (multicast): a stage is free when the
            readers of all have released it.
        pair: the CTAs of the cluster are a pair for tcgen05 (`cta_group::2`); with `readers=1`.
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
        ctas: 2 for a pair, else 1.
        rank: of the CTA in its pair, a u32 register; 0 without one.
    Raises:
        ShapeError: a number that is not positive, a pair with several readers or multicast, or a tile whose place in a stage is
            not aligned as TMA needs it: to 1024 bytes for a `WgmmaTile`, else to 128.
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
    ctas: int
    rank: Reg | int

    def __init__(
        self,
        stages: int,
        tiles: Mapping[str, int | WgmmaTile],
        *,
        readers: int,
        cluster: int = 1,
        pair: bool = False,
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
        if pair and (readers, cluster) != (1, 1):
            raise ShapeError(
                f"TmaRing: pair=True with readers={readers}, cluster={cluster}; expected one reader, the leader's thread that "
                "starts products, and no multicast",
                at=user_place(),
            )
        _check_offsets(sizes, self.operands)
        self.readers, self.cluster = readers, cluster
        if cluster > 1 or pair:
            get_ctx().need_cluster(2 if pair else cluster)
        self.ctas, self.rank = (2, reg.from_("%cluster_ctarank", u32)) if pair else (1, 0)
        self.reads = reads or ("async" if len(self.operands) == len(sizes) else "generic")
        self.memory = memory = smem.alloc(b8, (stages, self.stage_bytes), align=1024)
        full, empty = smem.mbarrier(stages), smem.mbarrier(stages)
        self.start = reg.from_(memory.name, u32)
        self.full = mbarrier.array(reg.from_(full.name, u32), 0, stages)
        self.empty = mbarrier.array(reg.from_(empty.name, u32), 0, stages)
        self._stages = stages
        self._uses: list[
            tuple[str, PipelineState, tuple[int, ...]]
        ] = []  # of positions: "acquire" or "wait", and where

    def set_up(self, tid: Reg) -> None:
        """Initialize the mbarriers in one thread, synchronize the CTA, or the cluster, and begin; called by all threads.

        The lanes of a warp leave it converged (`bar.warp.sync`), as `setmaxnreg` and `wgmma` need them. With several rings,
        call `init` of each in one thread, then synchronize, then `begin` of each.

        Args:
            tid: index of the thread.
        """
        if hasattr(self, "position"):
            raise TraceError(
                "the ring is already set up: its mbarriers would be initialized a second time",
                at=user_place(),
                hint="call ring.set_up(tid) once, before loops and the branches of the roles",
            )
        with if_(thread(tid) == 0):
            self.init()
        if self.cluster > 1 or self.ctas > 1:
            cluster.sync()
        else:
            bar.sync(0)
        emit("bar", "warp.sync", -1)  # a lane can leave the branch, and the barrier, before the others
        self.begin()

    def begin(self) -> None:
        """Set the position to stage 0; called by all threads, before the branches of the roles, or at the start of each.

        In the branches, a role has registers for its own position only, where it has several rings.
        """
        self.position = OneStage.begin() if self._stages == 1 else pipeline(self._stages)

    def init(self) -> None:
        """Initialize the mbarriers, and make them visible to TMA and the cluster; called by one thread."""
        self.full.init_all(1)  # the producer, and the bytes it expects
        self.empty.init_all(self.readers * self.cluster)
        emit("fence", "mbarrier_init.release.cluster")

    def _next(self, use: str) -> tuple[Reg, Reg]:
        if not hasattr(self, "position"):
            raise TraceError(
                "the ring is not set up: its mbarriers are not initialized",
                at=user_place(),
                hint="call ring.set_up(tid) in all threads, before the branches of the roles",
            )
        self._check_role(use)
        return self.position.advance()

    def _check_role(self, use: str) -> None:
        """Refuse a thread that acquires and waits: it would advance one position twice for each stage."""
        ctx = get_ctx()
        here = ctx.here[1:]
        for other, position, there in self._uses:
            n = min(len(here), len(there))
            if other != use and position is self.position and here[:n] == there[:n] and not ctx.leaves_early():
                raise TraceError(
                    f"ring.{use}() in a thread that also calls ring.{other}(): both advance its position, so it skips every other stage",
                    at=user_place(),
                    hint="fill the ring in a role of its own: `with roles.producer():` of lib.roles, or a branch that the readers do not enter",
                )
        if (use, self.position, here) not in self._uses:
            self._uses.append((use, self.position, here))

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
            ShapeError: a row outside of the tile, not a multiple of 8, or of a tile that is not K-major.
            UnknownNameError: no operand has this name.
        """
        operand, start = self._operand(tile), self.address(tile)
        if isinstance(row, Reg) or row:
            if operand.major != "K":
                raise ShapeError(
                    f"the descriptor of tile {tile!r}, {operand!r}, from row {row}: its rows are along K",
                    at=user_place(),
                    hint="add tile.offset(k) to the descriptor of the whole tile",
                )
            if isinstance(row, int):
                operand.offset(0, row)  # refuses rows that it does not have
            start = start + row * 128
        return operand.descriptor(start)

    def _operand(self, tile: str) -> WgmmaTile:
        if tile not in self.operands:
            raise UnknownNameError(
                f"tile {tile!r} is not a WgmmaTile; the ring's: {', '.join(self.operands)}", at=user_place()
            )
        return self.operands[tile]

    def tensor_descriptor(self, tile: str) -> Reg:
        """Return the matrix descriptor of an operand of tcgen05 in stage 0; `Stage.descriptor` moves it to another stage.

        Args:
            tile: name of a `WgmmaTile`: shared memory of both generations has the same layout.
        Raises:
            UnknownNameError: no operand has this name.
        """
        return self._operand(tile).tensor_descriptor(self.address(tile))

    def acquire(self, expect_bytes: int | None = None) -> Stage:
        """Wait until the next stage is free, and expect its bytes; called by the producer.

        Args:
            expect_bytes: bytes that will arrive in the CTA; default: those of all tiles.
        """
        index, phase = self._next("acquire")
        scope = (
            "cluster" if self.cluster > 1 and self.reads == "generic" else None
        )  # the warps of other CTAs have read the stage, too
        self.empty.at(index).wait(phase ^ 1, scope=scope)  # returns immediately in the first round
        full, size = self.full.at(index), self.stage_bytes if expect_bytes is None else expect_bytes
        if self.ctas == 1:
            full.arrive_expect_tx(size)
            return Stage(self, index, full)
        with if_(cast("Reg", self.rank) == 0):
            full.arrive_expect_tx(self.ctas * size)
        return Stage(self, index, cluster.map_shared_u32(full, 0))

    def finish(self) -> None:
        """Wait until all stages are free again; called by the producer at its end, where `tcgen05.commit` frees them.

        An arrival that is still on its way, from the other CTA of a pair perhaps, needs the CTA's mbarriers.
        """
        for _ in range(self._stages):
            index, phase = self._next("acquire")
            self.empty.at(index).wait(phase ^ 1)

    def wait(self) -> Stage:
        """Wait until the next stage is filled; called by the readers."""
        index, phase = self._next("wait")
        full = self.full.at(index)
        full.wait(phase)
        return Stage(self, index, full)

    def release(self, stage: Stage | Reg, lane: Reg, *, sync: bool = False) -> None:
        """Signal that the warp has read a stage; called by all lanes of a reading warp.

        Lane 0 arrives at `empty`; in a cluster, lane i arrives at that of CTA i.

        Args:
            stage: the stage, or its index.
            lane: index of the thread in its warp, `ptx.laneid`; or, without a cluster, the predicate of the lane that arrives,
                `leads = ptx.laneid == 0`, which a loop then need not compute each time.
            sync: emit `bar.warp.sync` first, for lanes that read with `ld.shared` or `ldmatrix`: the arriving lane then
                signals the reads of all. After `wgmma.wait_group` it is not needed.
        """
        leads = lane if isinstance(lane, Reg) and lane.dtype == pred and self.cluster == 1 else None
        if leads is None:
            lane = register(lane, "the lane", "pass ptx.laneid, or tid & 31")
        if isinstance(stage, Stage) and stage.ring is not self:
            raise OperandError(
                f"the stage belongs to another ring, of {', '.join(stage.ring.tiles)}; this one has {', '.join(self.tiles)}",
                at=user_place(),
                hint="release it to the ring whose wait() returned it",
            )
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
            empty.arrive(pred=lane == 0 if leads is None else leads)

    def commit(self, stage: Stage) -> None:
        """Free a stage when the tcgen05 products started so far by this thread have completed (`tcgen05.commit`).

        With a pair, the commit arrives at both CTAs.
        """
        self.commit_to(self.empty.at(stage.index))

    def commit_to(self, mbar: object) -> None:
        """Arrive at an mbarrier, of both CTAs of a pair, when the products started so far have completed (`tcgen05.commit`)."""
        if self.ctas == 1:
            tcgen05.commit(mbar)
        else:
            tcgen05.commit(mbar, cta_group=2, multicast_mask=reg.scalar(b16, 0b11))


def _check_offsets(sizes: Mapping[str, int], operands: Mapping[str, WgmmaTile]) -> None:
    """Refuse tiles that TMA or a descriptor could not address in every stage."""
    align, start = (1024 if operands else 128), 0
    for name, size in sizes.items():
        if start % (1024 if name in operands else 128) or size % 16:
            raise ShapeError(
                f"TmaRing: tile {name!r} of {size} bytes begins at byte {start} of a stage",
                at=user_place(),
                hint="TMA writes to multiples of 128 bytes, with a swizzle of 1024: put WgmmaTiles first, and round sizes up",
            )
        start += size
    if start % align:
        raise ShapeError(
            f"TmaRing: a stage of {start} bytes, {', '.join(f'{name} {size}' for name, size in sizes.items())}; expected a "
            f"multiple of {align}, so that the tiles of every stage are aligned",
            at=user_place(),
            hint=f"add {align - start % align} bytes to the last tile",
        )
