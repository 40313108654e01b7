"""Asynchronous copies: `ptx.cp.async_` per thread (sm_80), `ptx.cp.async_bulk` by TMA (sm_90)."""

from __future__ import annotations

from pyptx.ptx._checked import emit_checked, refuse, shared_address
from pyptx.ptx._tensor_copy import BulkTensor, TensorCopy
from pyptx.reg import NegPred, Reg
from pyptx.tracing.operand import address

__all__ = ["async_", "async_bulk"]

Guard = Reg | NegPred | None


class _Bulk:
    """Bulk copies, issued by one thread and completed through an mbarrier or a bulk group."""

    tensor = BulkTensor
    tensor_1d: TensorCopy
    tensor_2d: TensorCopy
    tensor_3d: TensorCopy
    tensor_4d: TensorCopy
    tensor_5d: TensorCopy
    tensor_1d, tensor_2d, tensor_3d, tensor_4d, tensor_5d = map(TensorCopy, range(1, 6))

    @staticmethod
    def commit_group(*, pred: Guard = None) -> None:
        """Commit the thread's pending bulk stores to a group."""
        emit_checked("cp", "async.bulk.commit_group", pred=pred)

    @staticmethod
    def wait_group(n: int, *, read: bool = False, pred: Guard = None) -> None:
        """Wait until at most `n` bulk groups are pending; with `read`, until their sources have been read."""
        emit_checked("cp", f"async.bulk.wait_group{'.read' if read else ''}", n, pred=pred)


class _Async:
    """Per-thread copies of 4, 8 or 16 bytes from global to shared memory."""

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
        """Commit the thread's pending copies to a group."""
        emit_checked("cp", "async.commit_group", pred=pred)

    @staticmethod
    def wait_group(n: int, *, pred: Guard = None) -> None:
        """Wait until at most `n` of the thread's groups are pending."""
        emit_checked("cp", "async.wait_group", n, pred=pred)

    @staticmethod
    def wait_all(*, pred: Guard = None) -> None:
        """Wait for all copies of the thread."""
        emit_checked("cp", "async.wait_all", pred=pred)


def _copy(cache: str, dst: object, src: object, nbytes: int, sizes: tuple[int, ...], pred: Guard) -> None:
    if nbytes not in sizes:
        refuse(f"cp.async.{cache} copies {' or '.join(map(str, sizes))} bytes, not {nbytes!r}")
    emit_checked("cp", f"async.{cache}.shared.global", shared_address(dst), address(src), nbytes, pred=pred)


async_ = _Async()
async_bulk = async_.bulk
