"""Roles of warpgroups: one produces data, the others consume it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, cast

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError, TraceError
from pyptx.lib._arguments import thread
from pyptx.ptx._blocks import block
from pyptx.ptx.barrier import setmaxnreg
from pyptx.ptx.control import else_, if_
from pyptx.reg import Reg
from pyptx.tracing.trace import get_ctx
from pyptx.types import u32

__all__ = ["Roles", "roles"]


class Roles:
    """The roles of the warpgroups of a CTA; made by `roles`.

    ::

        warpgroup   0          1           2
                    producer   consumer 0  consumer 1
        registers   fewer      more        more

    Attributes:
        consumers: number of consumer warpgroups.
        threads: threads of the CTA.
        tid: index of the thread, a u32 register.
    """

    consumers: int
    threads: int
    tid: Reg

    def __init__(self, consumers: int, registers: tuple[int, int] | None, tid: Reg):
        self.consumers, self.threads, self.tid = consumers, 128 * (1 + consumers), tid
        self._registers, self._began = registers, False

    def producer(self) -> AbstractContextManager[None]:
        """Open the block that one thread of the first warpgroup executes.

        Emits a branch for the warpgroup, `setmaxnreg.dec` if the roles have registers, and a branch for the thread.
        """
        self._began = True
        return _producer(self.tid, self._registers)

    def consumer(self) -> AbstractContextManager[Reg]:
        """Open the block that the other warpgroups execute, directly after the block of `producer`.

        Emits the other side of its branch and `setmaxnreg.inc` if the roles have registers.

        Yields:
            The number of the consumer warpgroup from 0, a u32 register.
        """
        if not self._began:
            raise TraceError(
                "the block of roles.consumer() has no producer before it",
                at=user_place(),
                hint="write `with roles.producer():` first, and the consumer's block directly after it",
            )
        self._began = False
        return _consumer(self.tid, self._registers)


def _producing(tid: Reg, registers: tuple[int, int] | None) -> Iterator[None]:
    with if_(tid < 128):
        if registers is not None:
            setmaxnreg(registers[0], inc=False)
        with if_(tid == 0):
            yield


_producer = block(_producing, "roles.producer")


def _consuming(tid: Reg, registers: tuple[int, int] | None) -> Iterator[Reg]:
    with else_():
        if registers is not None:
            setmaxnreg(registers[1])
        yield (tid >> 7) - 1


_consumer = cast(
    "Callable[..., AbstractContextManager[Reg]]",
    block(cast("Callable[..., Iterator[Any]]", _consuming), "roles.consumer"),
)


def roles(*, consumers: int = 2, registers: tuple[int, int] | None = None, tid: Reg | None = None) -> Roles:
    """Return the roles of a CTA of one producer warpgroup and `consumers` consumer warpgroups.

    Args:
        consumers: consumer warpgroups, 1 or more; the CTA has 128 * (1 + consumers) threads.
        registers: registers of a thread of the producer and of a consumer, multiples of 8 from 24 to 256, as `setmaxnreg` takes
            them; default: no change.
        tid: index of the thread in a u32 register; default: `%tid.x`.
    Raises:
        ShapeError: a number out of its range, more registers than an SM has, or a kernel with CTAs of other threads.
    Examples:
        >>> @kernel(block=384)
        ... def specialized():
        ...     team = pyptx.lib.roles(consumers=2, registers=(40, 232))
        ...     with team.producer():
        ...         ptx.inst.nanosleep.u32(20)
        ...     with team.consumer() as consumer:
        ...         ptx.inst.nanosleep.u32(consumer)
        >>> print(specialized.ptx())
        .version 8.5
        ...
            setmaxnreg.dec.sync.aligned.u32 40;
        ...
            setmaxnreg.inc.sync.aligned.u32 232;
        ...
        }
    """
    if not isinstance(consumers, int) or not 1 <= consumers <= 7:
        raise ShapeError(f"roles: consumers={consumers!r}; expected 1 to 7", at=user_place())
    if registers is not None:
        if not isinstance(registers, tuple | list) or len(registers) != 2:
            raise ShapeError(
                f"roles: registers={registers!r}; expected those of the producer and of a consumer",
                at=user_place(),
                hint="for example registers=(40, 232)",
            )
        fewer, more = registers
        if any(n % 8 or not 24 <= n <= 256 for n in registers) or 128 * (fewer + consumers * more) > 65536:
            raise ShapeError(
                f"roles: registers={registers!r} for 1 + {consumers} warpgroups; expected multiples of 8 from 24 to 256, "
                "together at most 65536 for the threads of a CTA",
                at=user_place(),
            )
    threads = 128 * (1 + consumers)
    get_ctx().need_threads(
        threads, f"a producer and {consumers} consumer warpgroups are", f"@kernel(block={threads})", exactly=True
    )
    return Roles(consumers, registers, reg.from_("%tid.x", u32) if tid is None else thread(tid))
