"""The performance model of a launch: replays of its busiest SM, bounded by what each resource needs alone.

1. Occupancy: resident CTAs of an SM, from registers, shared memory and threads of the machine code.
2. The path of each warp slice through the machine code, with trip counts at the real sizes (`trip_counts`).
3. Replay of the CTAs of the busiest SM, instruction by instruction, with the stall counts and scoreboards of the code,
   and with queues for pipes, matrix products, copies and memory (`replay`). Further CTAs start when earlier ones end.
   Iterations that repeat themselves are skipped (`fast_forward`); many CTAs are extrapolated from the first ones.
4. DRAM traffic from the footprints of waves in grid order (`dram_traffic`).
5. Clusters need SMs of one GPC. Their CTAs are replayed together: multicast copies, remote mbarriers and the tensor cores
   of a pair. When all clusters run at once, the one with the most work is replayed.
6. The time is that of the replay, or of the resource that needs most alone. Resources that are busy at the same time cost
   nothing beside their queues: published kernels for H100 keep the tensor pipe, shared memory and 80 % of L2 busy
   together. Reading registers is such a queue: the steps of a wgmma take turns with other instructions
   (`register_reads`). tests/benchmarks/published.py reports the model's error on these kernels.
7. The clock is the one at which the power of all these events meets the limit of the board (`power`).
8. The error range follows from the limiting resource (`error_ranges`), the confidence from `confidence`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from math import ceil, inf, prod

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.attribution import Attribution, attribute
from pyptx.analysis.model.confidence import UNIT_NAMES, busy_notes, sample_notes, scatter_notes, unfamiliar_notes
from pyptx.analysis.model.constants import Constants, find_constants
from pyptx.analysis.model.demand import conservation_notes, demand_of
from pyptx.analysis.model.dram_traffic import estimate_traffic, kept_traffic
from pyptx.analysis.model.l1_reads import L1_BYTES, l1_reads
from pyptx.analysis.model.mbarrier_rings import find_rings
from pyptx.analysis.model.memory_system import MemorySystem, atomic_cycles
from pyptx.analysis.model.operations import OperationBuilder
from pyptx.analysis.model.power import Activity, board_watts, boost_clock, sustained_clock
from pyptx.analysis.model.prediction import Prediction, Repetition
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import UNITS, Memory, ReplayResult, Span
from pyptx.analysis.model.rereads import reads_of
from pyptx.analysis.model.slice_program import SliceProgram, chain_ctas, write_program
from pyptx.analysis.model.trip_counts import (
    WarpPath,
    find_path,
    find_slices,
    read_code,
)
from pyptx.analysis.occupancy import Occupancy
from pyptx.analysis.work.count import Work
from pyptx.analysis.work.instruction_work import program_work
from pyptx.analysis.work.sample import InstructionTotals
from pyptx.assembly import Assembly
from pyptx.isa import targets
from pyptx.runtime import LaunchPlan

__all__ = ["LaunchModel"]

PATIENCE = 24_000  # operations of an SM until iterations that still differ slightly are skipped; infinite: none are
FOLLOWING = 4  # successive CTAs that are replayed; their second half is extrapolated
GPCS = 8
# Cycles of the GPU from the start of one CTA to that of the next, on any SM: one unit distributes the CTAs of a launch. Sums of
# vectors by CTAs of 32 to 128 threads start one in 1.2 cycles on H100, products of 64 threads one in 1.1 on B200 and B300, and passes
# of a prefix sum by CTAs of 32 threads one in 1.0 to 1.1 on RTX 3090, at the rated clock.
CTA_CYCLES = 1.15
# Cycles of an SM from the start of one warp to that of the next: copies by CTAs of 1024 on A100 and H100. CTAs of 256 to 1024 threads
# without work take 9 to 13 per warp on RTX 3090.
WARP_CYCLES = 12
# Cycles of an SM from the start of one CTA to that of the next, however few warps it has: sums of vectors by CTAs of 32 threads, which
# DRAM does not limit, start one in 94 on RTX 3060 Ti at its boost clock, a residual one in 124 on RTX 3070. No SM starts them faster.
SM_CTA_CYCLES = 90
WAIT_STEP = 30  # cycles by which the wait of reads for writes may differ from the one that its time leads to
REPLAYS = 16  # at most; the clock and the wait of reads settle in one to three
CLOCK_STEPS = 30  # the activity of a launch that DRAM limits depends on the clock; each step halves the distance
KEPT_SHARE = 0.95  # of the DRAM traffic from which on repeated launches take as long as others
_WORK = tuple(unit for unit in UNITS if unit not in ("l2", "dram"))
BUSY = 0.5  # utilization below which a resource is not the bottleneck


class LaunchModel:
    """A launch on a GPU: what its busiest SM executes, and the resources that it shares with the other SMs."""

    def __init__(self, compiled: Assembly, launch: LaunchPlan, work: Work, on: Gpu, fits: Occupancy):
        self.compiled, self.launch, self.work, self.gpu, self.fits = compiled, launch, work, on, fits
        self.constants: Constants = find_constants(on.name, on.target)
        self.cluster, self.warps = prod(launch.cluster), ceil(prod(launch.block) / 32)
        sample = work.sample
        self.sms = _usable(on, self.cluster)
        self.ctas = sample.clusters * self.cluster
        self.per_sm = ceil(self.ctas / self.sms)  # CTAs of the busiest SM
        self.resident = min(fits.blocks, self.per_sm)
        self.code = read_code(compiled, sample.program)
        instruction_work = program_work(sample.program)
        sampled = sample.cluster, sample.issues, sample.barrier_bits
        at_once = self.ctas <= fits.blocks * self.sms
        if at_once:  # the heaviest one determines the time
            sampled = sample.heaviest
        self.sampled: InstructionTotals = sampled[0]
        moved = _moved(self.sampled)
        self.average = _moved(sample.totals) / (sample.clusters * moved) if moved else 1.0
        self.slices = find_slices(*sampled[1:], self.cluster)
        executes = {warp_slice.warps: warp_slice.counts for warp_slice in self.slices}
        rings = find_rings(sample.program.actions, sample.barriers, sample.initially_free, executes)
        paths: dict[bytes, WarpPath] = {}
        for warp_slice in self.slices:
            key = warp_slice.counts.tobytes()
            if key not in paths:
                paths[key] = find_path(self.code, warp_slice.counts)
        self.paths = [paths[warp_slice.counts.tobytes()] for warp_slice in self.slices]
        room = on.limits.smem_per_sm + L1_BYTES - fits.shared_bytes_per_block * self.resident
        room_of_cluster = room * self.cluster / self.resident
        l1 = l1_reads(
            sample,
            instruction_work,
            self.code,
            self.paths,
            room_of_cluster,
            max(1, self.resident // self.cluster),
            max(1.0, self.per_sm / self.cluster),
        )
        self.builder = OperationBuilder(
            on,
            self.constants,
            self.code,
            sample.program,
            instruction_work,
            self.sampled,
            rings,
            l1.misses,
            l1.waits,
            l1.pending,
            self.cluster,
            sample.line_access,
            sample.wide_passes,
            sample.masked_sectors,
            sample.atomic_passes,
        )
        reads = reads_of(sample, instruction_work, l1.misses)
        self.demand = demand_of(self.builder, self.slices, self.paths)
        read, written = (self.average * sample.clusters * size for size in (self.demand.read, self.demand.written))
        self.masked = self.average * sample.clusters * self.demand.masked
        active = min(self.sms, self.ctas)
        together, apart = (
            MemorySystem(
                on,
                self.constants,
                active,
                read,
                written,
                estimate_traffic(
                    work, on, fits.blocks * self.sms, reads, self.constants.dram_unit_bytes, of, written - self.masked
                ),
                atomic_cycles(sample, self.code),
                self.per_sm * active / self.ctas,
                at_once,
            )
            for of in (True, False)
        )
        units = self.per_sm / self.cluster * max((self.demand.cycles.get(unit, 0.0) for unit in _WORK), default=0.0)
        waits = BUSY * max(together.dram_seconds, together.l2_seconds(on.clock_hz)) > units / on.clock_hz
        self.memory = apart if waits else together  # CTAs that mostly wait for memory drift apart
        self.programs: list[SliceProgram] = []
        known: dict[tuple, SliceProgram] = {}
        for warp_slice, path in zip(self.slices, self.paths, strict=True):
            key = warp_slice.key, *(rings[k].get(warp_slice.warps) for k in sorted(rings))
            if key not in known:
                known[key] = write_program(path, partial(self.builder.one, warp_slice=warp_slice))
            self.programs.append(known[key])

    def prediction(self, attribute_lines: bool = False) -> Prediction:
        """Replay the launch and return its prediction."""
        busy = {unit: self.per_sm / self.cluster * self.demand.cycles.get(unit, 0.0) for unit in UNITS}
        run, total, clock, activity = self._settle(busy)
        terms = self._terms(busy, clock)
        alone = self._alone_seconds(clock)
        seconds = max(total / clock, *terms.values()) + alone
        terms["ctas"] += alone - self.gpu.launch_seconds
        resources = dict(terms)
        terms["pipeline"], terms["launch"] = total / clock, self.gpu.launch_seconds
        bound, summary = self._bound(resources, seconds, run)
        terms = {name: float(value) for name, value in terms.items()}
        waves = self.ctas / (self.fits.blocks * self.sms)
        notes = (
            *conservation_notes(self.demand, self.builder, self.slices),
            *sample_notes(self.work),
            *unfamiliar_notes(self.demand),
            *(scatter_notes(self.work.sample) if bound == "dram" else ()),
            *busy_notes(terms, seconds),
        )
        found = Prediction(
            float(seconds),
            terms,
            bound,
            summary,
            self.fits,
            waves,
            self.gpu.name,
            notes=notes,
            clock_hz=clock,
            watts=board_watts(self.gpu, activity, clock),
            burst_seconds=self._burst_seconds(busy, total, clock, float(seconds)),
            isolated_seconds=float(seconds) + self.constants.isolated_seconds,
            extrapolated=1 - run.replayed / run.cycles if run.cycles else 0.0,
        )
        if not attribute_lines:
            return found
        overhead = {
            "launch": self.gpu.launch_seconds,
            "start and drain": (total - run.cycles) / clock,
            **({"CTAs without work": alone - self.gpu.launch_seconds} if alone > self.gpu.launch_seconds else {}),
            f"{UNIT_NAMES[bound if bound in resources else 'latency']} limit": seconds - alone - total / clock,
        }
        repetition = Repetition(partial(self._repeated_seconds, busy, float(seconds)))
        return replace(found, attribution=self._attribution(run, clock, overhead), repetition=repetition)

    def _repeated_seconds(self, busy: dict[str, float], seconds: float) -> float:
        """Return the duration when L2 has kept from the launch before, of the same data, what fits."""
        again = copy(self)
        kept = kept_traffic(self.memory.traffic, self.work, self.gpu, self.constants.dram_unit_bytes)
        again.memory = replace(self.memory, traffic=kept)
        if again.memory.dram_seconds > KEPT_SHARE * self.memory.dram_seconds:
            return seconds
        _, total, clock, _ = again._settle(busy)
        return float(min(seconds, max(total / clock, *again._terms(busy, clock).values()) + self._alone_seconds(clock)))

    def _settle(self, busy: dict[str, float]) -> tuple[ReplayResult, float, float, Activity]:
        """Return a replay at the clock of its power, the cycles of the launch, that clock in Hz, and the activity."""
        start = self.constants.start_cycles
        clock, _ = self._settled_clock(busy, max(1.0, *busy.values()), self.gpu.clock_hz)
        low, high = 0.0, inf
        wait = self.memory.read_wait(max(self._terms(busy, clock).values()))
        for _ in range(REPLAYS):  # a lower clock under load makes DRAM faster in cycles, and reads wait for writes
            run = self._run(self.resident, self.memory.seen_by_sm(clock, wait), self.per_sm)
            total = max(run.cycles, run.drained - start) + start  # the last writes leave after the last instruction
            before, (clock, activity) = clock, self._settled_clock(busy, total, clock)
            dram = min(1.0, self.memory.dram_seconds * before / total)
            waited, wait = wait, self.memory.read_wait(total / before)
            if dram * abs(clock - before) <= 0.02 * clock:
                if abs(wait - waited) <= WAIT_STEP:
                    break
                continue
            low, high = (before, high) if clock > before else (low, before)
            if not low < clock < high:  # the clocks alternate
                clock = (low + high) / 2
            if high - low <= 0.02 * clock:
                break
        return run, total, clock, activity

    def _attribution(self, run: ReplayResult, clock: float, overhead: dict[str, float]) -> Attribution:
        """Attribute the cycles of a replay to the lines of the code."""
        count = len(self.slices)
        slices = [(len(self.slices[k % count].warps), own) for k, own in enumerate(run.slices)]
        return attribute(self.compiled, self.launch.entry.name, slices, run.cycles, clock, overhead)

    def _bound(self, resources: dict[str, float], seconds: float, run: ReplayResult) -> tuple[str, str]:
        """Return the limiting resource, and a summary with the most frequent reason for waits."""
        largest = max(resources, key=lambda name: resources[name])
        share = resources[largest] / seconds
        why = max(run.stalls, key=lambda name: run.stalls[name], default="")
        summary = f"{UNIT_NAMES[largest]} {share:.0%}".replace("%", " %")
        if self.gpu.launch_seconds > seconds / 2:
            return "launch", f"launch {self.gpu.launch_seconds / seconds:.0%}, {summary}".replace("%,", " %,")
        if why and run.stalls[why] > 0.05 * run.replayed:
            summary += f", waits for {why}"
        return (largest if share >= BUSY else "latency"), summary

    def run_copies(self, copies: int, log: list[Span]) -> ReplayResult:
        """Replay copies of a CTA on one SM and log their intervals."""
        return self._run(copies, self.memory.seen_by_sm(self.gpu.clock_hz), copies, log)

    def _run(self, slots: int, memory: Memory, ctas: int, log: list[Span] | None = None) -> ReplayResult:
        """Replay the CTAs of one SM in a number of slots, whose first CTAs start one after another."""
        each, more = divmod(ctas, slots)
        chains = {
            (program, last): chain_ctas(program, each, min(each, FOLLOWING), last)
            for program in self.programs
            for last in ((False, True) if more else (False,))
        }
        slices = [
            (slot * self.cluster + warp_slice.rank, warp_slice.rank, chains[program, slot < more])
            for slot in range(slots)
            for warp_slice, program in zip(self.slices, self.programs, strict=True)
        ]
        first = [WARP_CYCLES * (warp_slice.warps[0] % self.warps) for warp_slice in self.slices]
        apart = max(CTA_CYCLES * self.sms, self._sm_start_cycles)
        starts = [apart * slot for slot in range(slots) for _ in self.slices]
        return replay(slices, memory, self.constants, log, first * slots, PATIENCE, starts)

    def _terms(self, busy: dict[str, float], clock: float) -> dict[str, float]:
        """Return the seconds that each resource needs alone at a clock in Hz."""
        terms = {unit: value / clock for unit, value in busy.items() if value}
        terms["l2"] = max(self.memory.l2_seconds(clock), terms.get("l2", 0.0))
        terms["dram"] = self.memory.dram_seconds
        terms["ctas"] = self._start_seconds(self.ctas, clock)
        if self.memory.atomics:
            terms["atomics"] = self.memory.atomic_seconds(clock)
        return terms

    def _start_seconds(self, ctas: int, clock: float) -> float:
        """Return the seconds in which a number of CTAs starts: one after the other, on the GPU and on an SM."""
        return max(CTA_CYCLES, self._sm_start_cycles / self.sms) * ctas / clock

    @property
    def _sm_start_cycles(self) -> float:
        """Cycles from the start of one CTA of an SM to that of the next."""
        return max(SM_CTA_CYCLES, WARP_CYCLES * self.warps)

    def _alone_seconds(self, clock: float) -> float:
        """Return the seconds in which no CTA works: those of the launch, and of the start of the CTAs without work."""
        return self.gpu.launch_seconds + self._start_seconds(self.work.sample.ctas - self.ctas, clock)

    def _activity(self, busy: dict[str, float], cycles: float, clock: float) -> Activity:
        """Return what the SMs do in a launch of some cycles at a clock in Hz."""
        moved = self.memory.traffic.read + self.memory.traffic.written
        seconds = max(cycles / clock, *self._terms(busy, clock).values())
        cycles = seconds * clock
        idle = {unit: self.per_sm / self.cluster * value for unit, value in self.demand.idle.items()}
        return Activity(
            {unit: min(1.0, self.average * (value - idle.get(unit, 0.0)) / cycles) for unit, value in busy.items()},
            (self.memory.read + self.memory.written - self.masked) / cycles,
            moved / seconds,
            self.memory.active,
        )

    def _settled_clock(self, busy: dict[str, float], cycles: float, clock: float) -> tuple[float, Activity]:
        """Return the clock in Hz at which the power of a launch of some cycles meets the limit, and its activity."""
        low, high = 0.0, inf
        for _ in range(CLOCK_STEPS):
            activity = self._activity(busy, cycles, clock)
            before, clock = clock, sustained_clock(self.gpu, activity)
            if abs(clock - before) <= 1e-4 * clock:
                break
            low, high = (before, high) if clock > before else (low, before)
            if not low < clock < high:  # a launch that leaves DRAM idle at one clock and not at the other
                clock = (low + high) / 2
        return clock, activity

    def _burst_seconds(self, busy: dict[str, float], cycles: float, clock: float, seconds: float) -> float:
        """Return the seconds at the boost clock, before power limits it."""
        boost = boost_clock(self.gpu, self.average * busy["tensor"] / cycles)
        if boost <= clock:
            return seconds
        return float(max(cycles / boost, *self._terms(busy, boost).values())) + self._alone_seconds(boost)


def _moved(counts: InstructionTotals) -> float:
    """Return the bytes requested from L2, L1 hits included."""
    return float(32 * counts.global_sectors.sum() + counts.tma_bytes.sum())


def _usable(on: Gpu, cluster: int) -> int:
    """Return the SMs that clusters of this size can fill: a cluster runs within one GPC.

    Source: 132 SMs in GPCs of 16 and 18 hold 128 SMs' item of clusters of four (H100).
    """
    if cluster <= 2 or targets.parse(on.target).number < 90:
        return on.sms // cluster * cluster or on.sms
    each = on.sms // GPCS // cluster * cluster
    return max(cluster, each * GPCS)
