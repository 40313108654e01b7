"""Stream memory operations: waits for values in memory, and writes of values."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import submit

__all__ = ["BATCH_MEM_OP", "Operations", "operations_of"]

BATCH_MEM_OP = 12  # CUgraphNodeType
_OPERATION = struct.Struct("<i4x2QI12x")  # CUstreamBatchMemOpParams
_OPERATIONS = {
    1: (4, True),
    2: (4, False),
    4: (8, True),
    5: (8, False),
}  # CUstreamBatchMemOpType: bytes, True for a wait
_ORDERING = (3, 6)  # flush of remote writes, barrier
_MOST_OPERATIONS = 256
_GREATER_OR_EQUAL, _EQUAL, _AND, _NOR = range(4)  # CUstreamWaitValue_flags


@dataclass(frozen=True)
class ValueWrite:
    """A write of 4 or 8 bytes."""

    address: int
    value: int
    size: int
    kind = BATCH_MEM_OP
    label = "write of a value"

    def run(self, session: Session) -> None:
        data = (self.value & (1 << 8 * self.size) - 1).to_bytes(self.size, "little")
        session.memory.view(self.address, self.size)[:] = list(data)

    def seconds(self, session: Session) -> float:
        return 0.0


@dataclass(frozen=True)
class ValueWait:
    """A wait for 4 or 8 bytes, which work that was issued must write."""

    address: int
    value: int
    size: int
    condition: int
    kind = BATCH_MEM_OP
    label = "wait for a value"
    waits_for_others = True  # whoever wrote the value

    def run(self, session: Session) -> None:
        while not self._is_met(found := session.memory.view(self.address, self.size)):
            if not session.work.run_other():
                raise DriverError(
                    "NOT_SUPPORTED",
                    f"cuStreamWaitValue: the value at 0x{self.address:x} is {int.from_bytes(found.tobytes(), 'little')}, "
                    f"and no work that was issued changes it, so that the wait for {self.value} would never end: the "
                    "simulated device runs work when it is issued, or when the host waits for it\n"
                    "hint: issue what writes the value before the wait, or use pyptx exec --schedule late",
                )

    def _is_met(self, memory: np.ndarray) -> bool:
        found, mask = int.from_bytes(memory.tobytes(), "little"), (1 << 8 * self.size) - 1
        return {
            _GREATER_OR_EQUAL: (found - self.value) & mask < 1 << 8 * self.size - 1,
            _EQUAL: found == self.value,
            _AND: found & self.value != 0,
            _NOR: ~(found | self.value) & mask != 0,
        }[self.condition]

    def seconds(self, session: Session) -> float:
        return 0.0


@dataclass(frozen=True)
class Operations:
    """Operations of a batch, in their order; `given` is the array that describes them."""

    steps: tuple[ValueWrite | ValueWait, ...]
    given: bytes
    kind = BATCH_MEM_OP
    label = "batch of memory operations"
    waits_for_others = True

    def run(self, session: Session) -> None:
        for step in self.steps:
            step.run(session)

    def seconds(self, session: Session) -> float:
        return 0.0


def operations_of(session: Session, count: int, place: int, flags: int) -> Operations:
    """Return the operations of an array of CUstreamBatchMemOpParams.

    Raises:
        DriverError: one is invalid.
    """
    if flags or not 0 < count <= _MOST_OPERATIONS:
        raise DriverError(
            "INVALID_VALUE", f"{count} memory operations with flags 0x{flags:x}; at most {_MOST_OPERATIONS}"
        )
    given, steps = session.read(place, _OPERATION.size * count), list[ValueWrite | ValueWait]()
    for kind, address, value, own_flags in _OPERATION.iter_unpack(given):
        if kind in _ORDERING:  # work is in order
            continue
        if kind not in _OPERATIONS:
            raise DriverError("NOT_SUPPORTED", f"memory operations of type {kind} are not simulated")
        size, is_wait = _OPERATIONS[kind]
        session.memory.require(address, size, "a memory operation")
        value &= (1 << 8 * size) - 1
        steps.append(ValueWait(address, value, size, own_flags & 3) if is_wait else ValueWrite(address, value, size))
    return Operations(tuple(steps), given)


@handles("cuStreamBatchMemOp_v2")
def batch(session: Session, stream: int, count: int, place: int, flags: int) -> None:
    submit(session, stream, operations_of(session, count, place, flags))


def _register(bits: int) -> None:
    size, mask = bits // 8, (1 << bits) - 1

    @handles(f"cuStreamWriteValue{bits}_v2", f"cuStreamWriteValue{bits}")
    def write(session: Session, stream: int, address: int, value: int, flags: int) -> None:
        session.memory.require(address, size, f"cuStreamWriteValue{bits}")
        submit(session, stream, ValueWrite(address, value & mask, size))

    @handles(f"cuStreamWaitValue{bits}_v2", f"cuStreamWaitValue{bits}")
    def wait(session: Session, stream: int, address: int, value: int, flags: int) -> None:
        session.memory.require(address, size, f"cuStreamWaitValue{bits}")
        submit(session, stream, ValueWait(address, value & mask, size, flags & 3))


for _bits in (32, 64):
    _register(_bits)
