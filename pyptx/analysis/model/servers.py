"""The units of the SMs and their memory system: each serves one at a time, in the order of arrival."""

from __future__ import annotations

from collections import deque

from pyptx.analysis.model.replaystate import UNITS, Memory, Record

__all__ = ["Servers"]

LATELY = 4096.0                         # cycles


class Servers:
    """When what is asked of a unit is done; cycles.

    Attributes:
        free: of each SM, unit -> when it is free.
        shared_cycles: of a load that L1 has.
    """

    def __init__(self, sms: int, memory: Memory, shared_cycles: float, record: Record):
        self.memory, self.shared_cycles, self.record = memory, shared_cycles, record
        self.free = [dict.fromkeys(UNITS, 0.0) for _ in range(sms)]
        self.operands = [0.0] * sms                         # until when products that are queued read shared memory
        self.arrivals: list[deque[tuple[float, float]]] = [deque() for _ in range(sms)]     # of copies: time, cycles

    def serve(self, rank: int, unit: str, cycles: float, start: float) -> float:
        """Time when a unit begins what is asked of it then."""
        free = self.free[rank]
        begin = max(start, free[unit])
        if unit == "shared" and begin < self.operands[rank]:
            self.operands[rank] += cycles                   # in between, and those of the products come later
        free[unit] = begin + cycles
        self.record.works(rank, unit, begin, cycles)
        return begin

    def besides(self, rank: int, unit: str, cycles: float, start: float) -> float:
        """Time when a unit is done that is asked besides."""
        return self.serve(rank, unit, cycles, start) + cycles if cycles else start

    def products(self, rank: int, cycles: float, start: float) -> float:
        """Time when a product that starts then has read its operands: products queue, and what instructions ask of
        shared memory meanwhile goes in between. What copies bring comes through the port, little by little: it takes
        the share of shared memory's time that it took lately."""
        if not cycles:
            return start
        begin = max(start, self.operands[rank])
        arrivals = self.arrivals[rank]
        while arrivals and arrivals[0][0] < begin - LATELY:
            arrivals.popleft()
        taken = sum(cycles for time, cycles in arrivals if time <= begin) / LATELY
        cycles /= 1 - min(taken, 0.75)
        self.operands[rank] = begin + cycles
        self.record.works(rank, "shared", begin, cycles)
        return begin + cycles

    def arrives(self, rank: int, cycles: float, time: float) -> None:
        """A copy has written so many cycles' worth of shared memory by then."""
        self.arrivals[rank].append((time, cycles))
        self.record.works(rank, "shared", time - cycles, cycles)

    def read(self, rank: int, size: float, start: float, cycles: float) -> float:
        """Time when so many bytes are there, `cycles` after the memory system has delivered them."""
        if not size:
            return start + self.shared_cycles               # L1 has them
        done = self.besides(rank, "l2", size / self.memory.port, start)
        slow = self.besides(rank, "dram", size * self.memory.from_dram / self.memory.dram, start)
        return max(done, slow) + cycles

    def write(self, rank: int, size: float, start: float) -> None:
        self.besides(rank, "l2", size / self.memory.port, start)
        self.besides(rank, "dram", size * self.memory.to_dram / self.memory.dram, start)
