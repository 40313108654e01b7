"""Work of streams: what each piece follows, and when it runs.

Work runs when it is issued, or, in a queue that is late, when the host waits for it: then a program that forgets to wait
sees what it may see on a GPU. Late work runs in an order that is fixed by the calls: what is waited for, preceded by what
it follows; when the host waits for everything, the work that was issued last, preceded by what it follows, comes first.

Source: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"; CUDA Driver API, "Stream synchronization behavior".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

__all__ = ["WAIT_FOR_ALL", "WAIT_FOR_COPY", "Work", "WorkQueue"]

_DEEPEST = 1024  # pieces of work that a stream holds before a call waits for the first of them

# calls that return when all work of the device is done
WAIT_FOR_ALL = frozenset(
    "cuMemFree_v2 cuMemFreeHost cuMemHostUnregister cuArrayDestroy "
    "cuMipmappedArrayDestroy cuModuleUnload cuLibraryUnload cuCtxDestroy cuCtxDestroy_v2 cuDevicePrimaryCtxReset "
    "cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2".split()
)
# copies that return when they are done, after the work of the legacy stream
WAIT_FOR_COPY = frozenset(
    "cuMemcpy cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpy2D_v2 cuMemcpy2DUnaligned_v2 cuMemcpy3D_v2 cuMemcpyHtoA_v2 "
    "cuMemcpyAtoH_v2 cuMemcpyPeer cuMemcpy3DPeer".split()
)


def _nothing(start: float) -> float:
    return 0.0


@dataclass(eq=False)
class Work:
    """A piece of work.

    Attributes:
        number: of the order in which work is issued.
        carry_out: runs it, given its modeled start in seconds, and returns its modeled duration.
        call: context and return addresses of the call that issued it.
        after: what it follows; empty once it has run.
        end: modeled time at which it ends; None before it has run.
        polled: True once a query found it pending.
    """

    number: int
    carry_out: Callable[[float], float]
    call: tuple[int, tuple[int, ...]]
    after: tuple[Work, ...]
    end: float | None = None
    polled: bool = False

    @property
    def is_done(self) -> bool:
        return self.end is not None


class WorkQueue:
    """The work of all streams of a process.

    Args:
        late: run work when the host waits for it, not when it is issued.
        perform: runs a piece of work in the context of its call.
    """

    def __init__(self, late: bool, perform: Callable[[Work, float], float]):
        self.late, self._perform = late, perform
        self._count = 0
        self._last: dict[Hashable, Work] = {}
        self._blocking: dict[Hashable, bool] = {}
        self._orphans: list[Work] = []  # last work of blocking streams that were destroyed
        self._depth: dict[Hashable, list[Work]] = {}
        self._pending: dict[int, Work] = {}
        self._running: list[Work] = []

    @property
    def pending(self) -> int:
        """Number of the pieces of work that have not run."""
        return len(self._pending)

    def add(
        self,
        line: Hashable,
        carry_out: Callable[[float], float] | None,
        call: tuple[int, tuple[int, ...]],
        *,
        legacy: bool = False,
        blocking: bool = False,
        after: Iterable[Work] = (),
    ) -> Work:
        """Add work at the end of a stream.

        Args:
            line: identifies the stream.
            carry_out: as in `Work`; None for a mere point in time.
            legacy: it is the legacy default stream, which waits for blocking streams.
            blocking: blocking streams wait for the legacy one.
            after: other work that it follows.
        """
        before = list(after)
        if line in self._last:
            before.append(self._last[line])
        if legacy:
            before += [self._last[other] for other, is_blocking in self._blocking.items() if is_blocking]
            before += self._orphans
            self._orphans = []
        elif blocking:
            before += [self._last[other] for other, is_blocking in self._blocking.items() if not is_blocking]
        if legacy or blocking:
            self._blocking[line] = not legacy
        self._count += 1
        work = Work(self._count, carry_out or _nothing, call, tuple(before))
        self._last[line] = self._pending[work.number] = work
        if not self.late or (carry_out is None and all(one.is_done for one in before)):
            self.complete(work)
            return work
        waiting = self._depth[line] = [one for one in self._depth.get(line, ()) if not one.is_done] + [work]
        if len(waiting) > _DEEPEST:
            self.complete(waiting[0])
        return work

    def after_all(self, call: tuple[int, tuple[int, ...]]) -> Work:
        """Return work that follows the work of all streams."""
        return self.add(None, None, call, after=list(self._last.values()))

    def last(self, line: Hashable) -> Work | None:
        """Return the last work of a stream; None if it has none."""
        return self._last.get(line)

    def forget(self, line: Hashable) -> None:
        """Forget a stream that was destroyed; what it holds is still pending."""
        work = self._last.pop(line, None)
        self._depth.pop(line, None)
        if self._blocking.pop(line, False) and work is not None:
            self._orphans.append(work)

    def query(self, work: Work | None) -> bool:
        """Return True if work has run. A query of pending work says so once; the next one waits for it."""
        if work is None or work.is_done:
            return True
        if not work.polled:
            work.polled = True
            return False
        self.complete(work)
        return True

    def complete(self, work: Work | None) -> None:
        """Run work, and what it follows before it."""
        if work is None or work.is_done:
            return
        found, open_ = {work}, [work]
        while open_:
            for before in open_.pop().after:
                if not before.is_done and before not in found:
                    found.add(before)
                    open_.append(before)
        for one in sorted(found, key=lambda one: one.number):
            if one.number in self._pending:  # else it runs now: a host function of it makes this call
                self._run(one)

    def complete_all(self) -> None:
        """Run all work."""
        while self._pending:
            self.complete(self._pending[max(self._pending)])

    def run_other(self) -> bool:
        """Run the oldest pending work that does not follow what runs now; return False if there is none."""
        for work in self._pending.values():
            if not self._follows_running(work):
                self.complete(work)
                return True
        return False

    def discard(self) -> int:
        """Drop all pending work, after an error that ends the context; return the number of its pieces."""
        count = len(self._pending)
        for work in self._pending.values():
            work.end, work.after = 0.0, ()
        self._pending.clear()
        return count

    def _run(self, work: Work) -> None:
        del self._pending[work.number]
        start = max((before.end or 0.0 for before in work.after), default=0.0)
        self._running.append(work)
        try:
            taken = self._perform(work, start)
        except BaseException:
            work.end, work.after = start, ()
            raise
        finally:
            self._running.pop()
        work.end, work.after = start + taken, ()

    def _follows_running(self, work: Work) -> bool:
        open_, seen = [work], {work}
        while open_:
            for before in open_.pop().after:
                if before in self._running:
                    return True
                if before not in seen and not before.is_done:
                    seen.add(before)
                    open_.append(before)
        return False
