"""Elements of shared memory: of the own CTA, and of another CTA of the cluster (distributed shared memory)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.access import Elements
from pyptx.elements.addresses import in_shared, register_of
from pyptx.elements.indices import Offset
from pyptx.errors import BoundsError, OperandError
from pyptx.ir.nodes import AddressOperand
from pyptx.reg import Reg
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import u32

LARGEST_CLUSTER = 16  # CTAs

__all__ = ["RemoteElements", "SharedElements"]


class SharedElements(Elements):
    """Elements of an array in shared memory. Indices ignore the swizzle that TMA or `smem.apply_swizzle` applies."""

    _space: str = "shared"
    _remaining: str = "{0}[i] is slice i of the first dimension: {0}[i][j]"

    permuted: str | None = None  # swizzle of the copy that filled it

    @abstractmethod
    def _start(self) -> tuple[str | Reg, int]:
        """Return the base of the addresses, the name of a variable or a 32-bit register, and a distance in bytes."""

    @abstractmethod
    def address_register(self) -> Reg:
        """Emit the computation of the 32-bit shared address; return its register."""

    def _refuse_permuted(self) -> None:
        if self.permuted is not None:
            raise OperandError(
                f"{self.name} was filled with swizzle={self.permuted!r}, so [row, column] is another element",
                at=user_place(),
                hint=f"compute the address: {self.name}.address_register() + smem.apply_swizzle(offset_in_bytes, {self.permuted!r})",
            )

    def _address(self, offset: Offset, elements: int) -> AddressOperand:
        base, distance = self._start()
        return in_shared(base, offset, max(8, self.dtype.bits) // 8, distance)

    def _copied(self, address: AddressOperand) -> Reg:
        return register_of(address, u32)

    def at_rank(self, rank: int | Reg) -> RemoteElements:
        """Return the same array in the shared memory of another CTA of the cluster; emits one `mapa`.

        Args:
            rank: of the CTA in its cluster, an int or a 32-bit register, such as `ptx.cluster_ctarank ^ 1`.
        """
        rank = reg.readable(rank)
        if isinstance(rank, bool) or not isinstance(rank, int | Reg):
            raise OperandError(f"the rank of a CTA is an int or a 32-bit register, not {rank!r}", at=user_place())
        if isinstance(rank, int):
            if not 0 <= rank < LARGEST_CLUSTER:
                raise BoundsError(
                    f"rank {rank} of a CTA in its cluster; expected 0..{LARGEST_CLUSTER - 1}", at=user_place()
                )
            get_ctx().need_cluster(rank + 1)
        start = reg.scalar(u32)
        emit("mapa", "shared::cluster.u32", start, self.address_register(), rank)
        return RemoteElements(f"{self.name}.at_rank({rank})", self.shape, self.dtype, start)


class RemoteElements(Elements):
    """An array in the shared memory of a CTA of the cluster; `a[i, j]` loads an element, `a[i, j] = value` stores one.

    The CTA must still run, and both CTAs must agree on when the memory is valid: `ptx.cluster.sync()` before and after.

    Attributes:
        name: for messages.
        shape, dtype: those of the array.
        start: address of the first element in the window shared::cluster, a u32 register.
    """

    _space: str = "shared::cluster"
    _remaining: str = "give an index for every dimension of {}"

    name: str
    shape: Any
    dtype: Any
    start: Reg

    def __init__(self, name: str, shape: tuple[int, ...], dtype: Any, start: Reg):
        self.name, self.shape, self.dtype, self.start = name, shape, dtype, start

    def __getitem__(self, index: Any) -> Any:
        return self.load(*(index if isinstance(index, tuple) else (index,)))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.store(*(index if isinstance(index, tuple) else (index,)), value)

    def _address(self, offset: Offset, elements: int) -> AddressOperand:
        return in_shared(self.start, offset, max(8, self.dtype.bits) // 8)

    def _copied(self, address: AddressOperand) -> Reg:
        return register_of(address, u32)

    def __repr__(self) -> str:
        return f"RemoteElements({self.name}, {self.dtype}, {self.shape})"
