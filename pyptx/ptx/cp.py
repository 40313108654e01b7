"""Asynchronous copies: `ptx.cp.async_` (sm_80) by thread, `ptx.cp.async_bulk` (sm_90) by TMA."""

from __future__ import annotations

from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx._tensor_copy import BulkTensor, TensorCopy
from pyptx.ptx._typed import shared_address, typed
from pyptx.reg import NegPred, Reg
from pyptx.tracing.operand import address

__all__ = ["async_", "async_bulk"]

Guard = Reg | NegPred | None


class _Bulk:
    """Bulk copies: one thread starts them, an mbarrier or a bulk group completes them."""

    tensor = BulkTensor
    tensor_1d, tensor_2d, tensor_3d, tensor_4d, tensor_5d = map(TensorCopy, range(1, 6))

    @staticmethod
    def commit_group(*, pred: Guard = None) -> None:
        """Close the group of the bulk stores this thread started since the last one."""
        typed("cp", "async.bulk.commit_group", pred=pred)

    @staticmethod
    def wait_group(n: int, *, read: bool = False, pred: Guard = None) -> None:
        """Wait until at most `n` bulk groups are pending; with `read`, until their sources were read."""
        typed("cp", f"async.bulk.wait_group{'.read' if read else ''}", n, pred=pred)


class _Async:
    """Copies of 4, 8 or 16 bytes from global to shared memory by every thread for itself."""

    bulk = _Bulk()

    @staticmethod
    def ca(dst: object, src: object, nbytes: int, *, pred: Guard = None) -> None:
        """Copy 4, 8 or 16 bytes, cached in L1 and L2."""
        _copy("ca", dst, src, nbytes, (4, 8, 16), pred)

    @staticmethod
    def cg(dst: object, src: object, nbytes: int, *, pred: Guard = None) -> None:
        """Copy 16 bytes, cached in L2 only."""
        _copy("cg", dst, src, nbytes, (16,), pred)

    @staticmethod
    def commit_group(*, pred: Guard = None) -> None:
        """Close the group of the copies this thread started since the last one."""
        typed("cp", "async.commit_group", pred=pred)

    @staticmethod
    def wait_group(n: int, *, pred: Guard = None) -> None:
        """Wait until at most `n` groups of this thread are pending."""
        typed("cp", "async.wait_group", n, pred=pred)

    @staticmethod
    def wait_all(*, pred: Guard = None) -> None:
        """Wait for all copies of this thread."""
        typed("cp", "async.wait_all", pred=pred)


def _copy(cache: str, dst: object, src: object, nbytes: int, sizes: tuple[int, ...], pred: Guard) -> None:
    if nbytes not in sizes:
        raise ShapeError(f"cp.async.{cache} copies {' or '.join(map(str, sizes))} bytes, not {nbytes!r}",
                         at=user_place())
    typed("cp", f"async.{cache}.shared.global", shared_address(dst), address(src), nbytes, pred=pred)


async_ = _Async()
async_bulk = async_.bulk
