"""Arrays of mbarrier objects in shared memory."""

from __future__ import annotations

from pyptx.errors import BoundsError
from pyptx.smem.location import SharedLocation

__all__ = ["MbarrierArray", "MbarrierRef"]


class MbarrierArray(SharedLocation):
    """`count` mbarrier objects of 8 bytes; `bars[i]` is one of them."""

    def __init__(self, name: str, count: int, dynamic_offset: int | None = None):
        super().__init__(name, dynamic_offset)
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> MbarrierRef:
        if not 0 <= i < self.count:
            raise BoundsError(f"mbarrier {i} of {self.name}; expected 0..{self.count - 1}")
        return MbarrierRef(self, i)

    def __repr__(self) -> str:
        return f"MbarrierArray({self.name}, {self.count})"


class MbarrierRef(SharedLocation):
    """One mbarrier of an array, at `byte_offset` bytes from `name`."""

    array: MbarrierArray
    idx: int
    byte_offset: int

    def __init__(self, array: MbarrierArray, idx: int):
        super().__init__(array._symbol, array._offset + 8 * idx if array._dynamic else None)
        self._offset = array._offset + 8 * idx
        self.array, self.idx, self.byte_offset = array, idx, 8 * idx

    @property
    def name(self) -> str:
        """Name of its array."""
        return self.array.name

    def __repr__(self) -> str:
        return f"{self.array.name}[{self.idx}]"
