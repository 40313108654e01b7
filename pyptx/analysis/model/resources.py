"""Resources of the SMs: execution units and the memory system, each a first-come, first-served queue."""

from __future__ import annotations

from collections import deque

from pyptx.analysis.model.replay_state import UNITS, Memory, Recorder, SliceState, Span

__all__ = ["PENDING_LOOKUPS", "SmResources"]

WINDOW = 4096.0  # cycles over which the share of arriving copies is averaged
# Lookups, of up to four lines each, of loads that wait in L1 for data another warp has requested. L1 tracks such loads in queues of
# limited size, first in, first out (US patent 11,768,686). Derived from products of f32 with one sum per thread: on A100, H200
# and RTX A6000, the CTAs of 1024 threads wait for a line of B at a time, and load 1.0 to 1.3 sectors per cycle. That an entry
# is a lookup and no sector follows from five-point stencils on A100 and H100 PCIe: by vectors of 16 bytes, with four lines for
# each lookup, they reach the rate of DRAM, where as many sectors as those of the products would take 1.3 and 1.4 times as long.
PENDING_LOOKUPS = 106.0


class SmResources:
    """The units of all SMs; times in cycles.

    Args:
        sms: number of SMs.
        memory: the memory system as seen by one SM.
        shared_cycles: latency of a load that hits L1.
        record: records busy intervals.
    Attributes:
        free: for each SM, unit -> time at which it is free.
        multiplies: for each SM, the slice that used the tensor cores last.
    """

    def __init__(self, sms: int, memory: Memory, shared_cycles: float, record: Recorder):
        self.memory, self.shared_cycles, self.record = memory, shared_cycles, record
        self.busy, self.log = record.run.busy, record.log
        self.free: list[dict[str, float]] = [dict.fromkeys(UNITS, 0.0) for _ in range(sms)]
        self.multiplies: list[SliceState | None] = [None] * sms
        self.accumulators = [0.0] * sms  # time until queued products have read their accumulators
        self.dispatched = [0.0] * sms  # time until other instructions' operands have been dispatched
        self.operands = [0.0] * sms  # time until which queued products read shared memory
        # for each SM (time, cycles) of arrived copies
        self.arrivals: list[deque[tuple[float, float]]] = [deque() for _ in range(sms)]
        # for each SM (arrival of the data, lookups) of loads that wait for data another warp has requested, and their sum
        self.pending: list[deque[tuple[float, float]]] = [deque() for _ in range(sms)]
        self.pending_lookups = [0.0] * sms

    def serve(self, rank: int, unit: str, cycles: float, start: float) -> float:
        """Occupy a unit from `start` or later; return the start of service."""
        free = self.free[rank]
        begin = free[unit]
        if begin < start:
            begin = start
        if unit == "shared" and begin < self.operands[rank]:
            self.operands[rank] += cycles  # the access goes first and delays the products
        free[unit] = begin + cycles
        self.busy[unit] += cycles
        if self.log is not None:
            skipped = self.record.skipped
            self.log.append(Span(-1 - rank, unit, begin - skipped, begin + cycles - skipped))
        return begin

    def multiply(self, rank: int, cycles: float, reads: float, start: float) -> float:
        """Occupy the tensor cores with a product whose steps pass through the register read stage; return its end."""
        free = self.free[rank]
        begin = max(start, free["tensor"])
        self.accumulators[rank] = max(start, self.accumulators[rank]) + reads
        free["tensor"] = max(begin + cycles, self.accumulators[rank])
        self.record.occupy(rank, "tensor", begin, cycles)
        return free["tensor"]

    def read_registers(self, rank: int, start: float, cycles: float) -> None:
        """Delay queued products, of which there are some, by an instruction whose operands are read and dispatched.

        Instructions for different pipes are dispatched at the same time; products wait for the last of them.
        """
        end, begin = start + cycles, max(start, self.dispatched[rank])
        if end <= begin:
            return
        self.dispatched[rank] = end
        accumulators = self.accumulators[rank] + end - begin
        self.accumulators[rank] = accumulators
        free = self.free[rank]
        if free["tensor"] < accumulators:
            free["tensor"] = accumulators

    def serve_to_end(self, rank: int, unit: str, cycles: float, start: float) -> float:
        """Occupy a unit; return the end of service."""
        return self.serve(rank, unit, cycles, start) + cycles if cycles else start

    def products(self, rank: int, cycles: float, start: float) -> float:
        """Return the time at which a matrix product that starts then has read its operands from shared memory.

        Products queue; accesses of other instructions go between them. Copies arrive through the port gradually and take
        the share of shared memory cycles that they took in the last WINDOW cycles.
        """
        if not cycles:
            return start
        begin = max(start, self.operands[rank])
        arrivals = self.arrivals[rank]
        while arrivals and arrivals[0][0] < begin - WINDOW:
            arrivals.popleft()
        taken = sum(cycles for time, cycles in arrivals if time <= begin) / WINDOW
        cycles /= 1 - min(taken, 0.75)
        self.operands[rank] = begin + cycles
        self.record.occupy(rank, "shared", begin, cycles)
        return begin + cycles

    def arrives(self, rank: int, cycles: float, time: float) -> None:
        """Record a copy that has written shared memory for `cycles` until `time`."""
        self.arrivals[rank].append((time, cycles))
        self.record.occupy(rank, "shared", time - cycles, cycles)

    def read(self, rank: int, size: float, start: float, cycles: float) -> float:
        """Return the time at which a read completes: `cycles` after the memory system has delivered its bytes."""
        if not size:
            return start + self.shared_cycles  # L1 hit
        done = self.serve_to_end(rank, "l2", size / self.memory.port, start)
        slow = self.serve_to_end(rank, "dram", size * self.memory.from_dram / self.memory.dram, start)
        return max(done, start + self.memory.backlog * (slow - start)) + cycles

    def admit(self, rank: int, lookups: float, start: float) -> float:
        """Return the time at which the queue of pending loads has space for one more."""
        pending, sum_of_lookups = self.pending[rank], self.pending_lookups[rank]
        while pending and (sum_of_lookups + lookups > PENDING_LOOKUPS or pending[0][0] <= start):
            arrival, oldest = pending.popleft()
            sum_of_lookups -= oldest
            if arrival > start:
                start = arrival
        self.pending_lookups[rank] = sum_of_lookups
        return start

    def wait_in_queue(self, rank: int, lookups: float, arrival: float) -> None:
        """Record a load that waits for data another warp has requested until it arrives."""
        self.pending[rank].append((arrival, lookups))
        self.pending_lookups[rank] += lookups

    def write(self, rank: int, size: float, start: float) -> None:
        """Occupy the memory system with a write."""
        self.serve_to_end(rank, "l2", size / self.memory.port, start)
        self.serve_to_end(rank, "dram", size * self.memory.to_dram / self.memory.dram, start)

    def shift(self, cycles: float) -> None:
        """Move all times by the cycles of skipped iterations."""
        for free in self.free:
            for unit in free:
                free[unit] += cycles
        for times in (self.accumulators, self.dispatched, self.operands):
            times[:] = [time + cycles for time in times]
        for arrivals in (*self.arrivals, *self.pending):
            moved = [(time + cycles, taken) for time, taken in arrivals]
            arrivals.clear()
            arrivals.extend(moved)
