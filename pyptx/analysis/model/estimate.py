"""The performance model: predicted duration of a launch.

    prediction = estimate(gemm, a, b, BM=128)           # assemble, count, predict
    prediction = predict(compiled, plan, work, "H200")  # the last of the three steps

1. Occupancy: resident CTAs of an SM, from registers, shared memory and threads of the machine code.
2. The path of each warp slice through the machine code, with trip counts at the real sizes (`trip_counts`).
3. Replay of the CTAs of the busiest SM, instruction by instruction, with the stall counts and scoreboards of the code,
   and with queues for pipes, matrix products, copies and memory (`replay`). Further CTAs start when earlier ones end.
   Long loops and many CTAs are shortened; their steady state is extrapolated.
4. DRAM traffic from the footprints of waves in grid order (`dram_traffic`).
5. Clusters need SMs of one GPC. Their CTAs are replayed together: multicast copies, remote mbarriers and the tensor cores
   of a pair. When all clusters run at once, the one with the most work is replayed.
6. The time is that of the replay, or of the resource that needs most alone. No penalty is added for resources that are
   busy at the same time: the replay queues them, and published kernels for H100 keep the tensor pipe, shared memory and
   80 % of L2 busy together (tests/benchmarks/published.py reports the model's error on them).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any

from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.attribution import Attribution, attribute
from pyptx.analysis.model.constants import Constants, find_constants
from pyptx.analysis.model.dram_traffic import Traffic, estimate_traffic
from pyptx.analysis.model.mbarrier_rings import find_rings
from pyptx.analysis.model.operations import Operation, OperationBuilder, OpKind, chain_ctas, skipped_iterations
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import UNITS, Memory, ReplayResult, Span
from pyptx.analysis.model.trip_counts import (
    InstructionStep,
    Loop,
    WarpPath,
    WarpSlice,
    find_path,
    find_slices,
    flatten_nests,
    read_code,
)
from pyptx.analysis.occupancy import Occupancy, occupancy
from pyptx.analysis.work.call import Call, bind_call
from pyptx.analysis.work.count import Work, work_of
from pyptx.analysis.work.instruction_work import LINE, program_work
from pyptx.analysis.work.sampling import InstructionTotals
from pyptx.assembly import Assembly
from pyptx.errors import ArgumentValueError
from pyptx.isa import targets
from pyptx.jit import Launchable
from pyptx.runtime import LaunchPlan

__all__ = ["ReplayTrace", "estimate", "estimate_call", "predict", "replay_call"]

OPERATIONS = 24_000  # replayed operations of an SM
FOLLOWING = 4  # successive CTAs that are replayed; their second half is extrapolated
DRIFT = 8  # iterations of a loop by which the warps of a CTA are apart
GPCS = 8
REMOTE = 0.7  # latency between SMs relative to L2: 180 of 261 cycles on H800 (Luo et al. 2024)
_NAMES = {
    "issue": "issue slots",
    "fma": "FMA pipe",
    "alu": "ALU pipe",
    "mufu": "special functions",
    "fp64": "f64 pipe",
    "shared": "shared memory",
    "tensor": "tensor pipe",
    "tma": "copy engine",
    "tmem": "tensor memory",
    "l2": "L2",
    "dram": "DRAM",
    "latency": "latency",
    "launch": "launch",
}
TOLERANCE = 0.02  # relative difference of modeled and simulated work beyond which the confidence is low
BUSY = 0.5  # utilization below which a resource is not the bottleneck


def estimate(kernel: Launchable, *args: Any, device: str | Gpu | None = None, **params: Any) -> Prediction:
    """Assemble a call, count its work, and predict its time.

    Args:
        kernel, args, params: as for `bind_call`.
        device: a GPU of the table; default: the usual one of the kernel's target.
    Raises:
        CompileError: the kernel cannot be assembled.
        LaunchError: the arguments do not fit the kernel.
        SimulationError: the kernel traps, or cannot be simulated.
    """
    return estimate_call(bind_call(kernel, *args, **params), device)


def estimate_call(call: Call, device: str | Gpu | None = None) -> Prediction:
    """Assemble a bound call, count its work, and predict its time."""
    compiled = call.compiled()
    return predict(compiled, call.plan, work_of(call), device or compiled.target, attribute_lines=True)


def replay_call(call: Call, device: str | Gpu | None = None) -> ReplayTrace:
    """Replay the first CTA (or cluster) alone on its SM.

    Args:
        call: the call.
        device: a GPU of the table; default: the usual one of the kernel's target.
    Raises:
        LaunchError: the CTA does not fit on an SM.
    """
    compiled, work = call.compiled(), work_of(call)
    on = gpu(device or compiled.target)
    fits = _occupancy(compiled, call.plan, on)
    if not fits.blocks:
        raise ArgumentValueError(f"{call.plan.entry.name}: {fits.why}")
    model = _Model(compiled, call.plan, work, on, fits)
    spans: list[Span] = []
    run = model.run_copies(1, spans)
    slices = [
        f"CTA {warp_slice.rank}, " * (model.cluster > 1) + _warps(warp_slice.warps) for warp_slice in model.slices
    ]
    return ReplayTrace(call.plan.entry.name, on, run, tuple(slices), tuple(spans))


def _warps(numbers: tuple[int, ...]) -> str:
    """Return the warps of a slice as text."""
    if len(numbers) == 1:
        return f"warp {numbers[0]}"
    return (
        f"warps {numbers[0]}-{numbers[-1]}"
        if numbers[-1] - numbers[0] + 1 == len(numbers)
        else f"warps {', '.join(map(str, numbers))}"
    )


def predict(
    compiled: Assembly,
    launch: LaunchPlan,
    work: Work,
    device: str | Gpu | None = None,
    *,
    attribute_lines: bool = False,
) -> Prediction:
    """Predict the time of a launch.

    Args:
        compiled: its machine code.
        launch: its launch plan.
        work: its work, counted at these sizes.
        device: a GPU of the table; default: the usual one of the target.
        attribute_lines: fill `Prediction.attribution`.
    Raises:
        ShapeError: there is no such GPU in the table.
    """
    on = gpu(device or compiled.target)
    fits = _occupancy(compiled, launch, on)
    if not fits.blocks:
        found = Prediction(float("inf"), {}, "resources", fits.why, fits, float("inf"), on.name)
    else:
        found = _Model(compiled, launch, work, on, fits).prediction(attribute_lines)
    return replace(found, flops=work.flops, bytes=work.bytes, ctas=work.ctas)


def _occupancy(compiled: Assembly, launch: LaunchPlan, on: Gpu) -> Occupancy:
    """Return the occupancy of the launch."""
    used = compiled.resources[launch.entry.name]
    return occupancy(
        on.target,
        threads=prod(launch.block),
        registers=used.registers,
        shared_bytes=used.shared_bytes,
        dynamic_shared_bytes=launch.smem_bytes,
    )


@dataclass(frozen=True, slots=True)
class ReplayTrace:
    """Trace of one CTA (or cluster) alone on its SM.

    Attributes:
        name: the entry.
        gpu: the GPU.
        run: result of the replay.
        slices: names of the warp slices.
        spans: intervals of waits and of busy units.
    """

    name: str
    gpu: Gpu
    run: ReplayResult
    slices: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class _Load:
    """Demand of one cluster: cycles by unit, and bytes read and written by an average cluster."""

    cycles: dict[str, float]
    read: float
    written: float
    executions: dict[tuple[str, int], float]  # (group of opcodes, PTX instruction) -> executions on the paths


class _Model:
    """One prediction."""

    def __init__(self, compiled: Assembly, launch: LaunchPlan, work: Work, on: Gpu, fits: Occupancy):
        self.compiled, self.launch, self.work, self.gpu, self.fits = compiled, launch, work, on, fits
        self.constants: Constants = find_constants(on.name, on.target)
        self.cluster = prod(launch.cluster)
        sample = work.sample
        self.sms = _usable(on, self.cluster)
        self.per_sm = ceil(work.ctas / self.sms)  # CTAs of the busiest SM
        self.resident = min(fits.blocks, self.per_sm)
        self.code = read_code(compiled, sample.program)
        self.instruction_work = program_work(sample.program)
        sampled = sample.cluster, sample.issues, sample.barrier_bits
        if work.ctas <= fits.blocks * self.sms:  # all run at once: the heaviest one determines the time
            sampled = sample.heaviest
        self.sampled: InstructionTotals = sampled[0]
        self.average = _moved(sample.totals) / max(1.0, sample.clusters * _moved(self.sampled)) or 1.0
        self.slices = find_slices(*sampled[1:], self.cluster)
        executes = {warp_slice.warps: warp_slice.counts for warp_slice in self.slices}
        rings = find_rings(sample.program.actions, sample.barriers, sample.initially_free, executes)
        paths: dict[bytes, WarpPath] = {}
        for warp_slice in self.slices:
            key = warp_slice.counts.tobytes()
            if key not in paths:
                paths[key] = find_path(self.code, warp_slice.counts)
        self.paths = flatten_nests([paths[warp_slice.counts.tobytes()] for warp_slice in self.slices])
        self.l1_miss_rate = self._l1_miss_rate()
        stages = max((ring.stages for of in rings.values() for ring in of.values()), default=1)
        replayed = self.resident * min(FOLLOWING, ceil(self.per_sm / self.resident))
        skipped_by_trips = skipped_iterations(self.paths, OPERATIONS // replayed, 3 * stages + 8)
        self.writer = OperationBuilder(
            on,
            self.constants,
            self.code,
            sample.program,
            self.instruction_work,
            self.sampled,
            rings,
            skipped_by_trips,
            self.l1_miss_rate,
            self.cluster,
        )
        self.load = self._load()
        self.traffic: Traffic = estimate_traffic(work, on, fits.blocks * self.sms, self.load.read * sample.clusters)
        self.operations: list[list[Operation]] = []
        written: dict[tuple, list[Operation]] = {}
        for warp_slice, path in zip(self.slices, self.paths, strict=True):
            key = warp_slice.key, *(rings[k].get(warp_slice.warps) for k in sorted(rings))
            if key not in written:
                written[key] = self.writer.write(path, warp_slice)
            self.operations.append(written[key])

    def prediction(self, attribute_lines: bool = False) -> Prediction:
        """Replay the launch and return its prediction."""
        start = self.constants.start_cycles
        busy = {unit: self.per_sm / self.cluster * self.load.cycles.get(unit, 0.0) for unit in UNITS}
        clock = self._clock(self.average * busy["tensor"] / max(1.0, *busy.values()))
        while True:  # a lower clock under tensor load makes DRAM faster in cycles
            run = self._run(self.resident, self._memory(clock), self.per_sm)
            total = max(run.cycles, run.drained - start) + start  # the last writes leave after the last instruction
            before, clock = clock, self._clock(self.average * busy["tensor"] / total if total else 0.0)
            dram = min(1.0, (self.traffic.read + self.traffic.written) / self._dram_rate() * before / total)
            if dram * abs(clock - before) <= 0.02 * clock:
                break
        terms = {unit: value / clock for unit, value in busy.items() if value}
        moved = (self.load.read + self.load.written) * self.work.sample.clusters
        terms["l2"] = max(moved / (self.gpu.l2_bytes_per_clock * clock), terms.get("l2", 0.0))
        terms["dram"] = (self.traffic.read + self.traffic.written) / self._dram_rate()
        seconds = max(total / clock, *terms.values()) + self.gpu.launch_seconds
        resources = dict(terms)
        terms["pipeline"], terms["launch"] = total / clock, self.gpu.launch_seconds
        bound, summary = self._bound(resources, seconds, run)
        terms = {name: float(value) for name, value in terms.items()}
        waves = self.work.ctas / (self.fits.blocks * self.sms)
        notes = self._conservation()
        found = Prediction(float(seconds), terms, bound, summary, self.fits, waves, self.gpu.name, notes=notes)
        if not attribute_lines:
            return found
        overhead = {
            "launch": self.gpu.launch_seconds,
            "start and drain": (total - run.cycles) / clock,
            f"{_NAMES[bound if bound in resources else 'latency']} limit": seconds
            - self.gpu.launch_seconds
            - total / clock,
        }
        return replace(found, attribution=self._attribution(run, clock, overhead))

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
        summary = f"{_NAMES[largest]} {share:.0%}".replace("%", " %")
        if self.gpu.launch_seconds > seconds / 2:
            return "launch", f"launch {self.gpu.launch_seconds / seconds:.0%}, {summary}".replace("%,", " %,")
        if why and run.stalls[why] > 0.05 * run.replayed:
            summary += f", waits for {why}"
        return (largest if share >= BUSY else "latency"), summary

    def run_copies(self, copies: int, log: list[Span]) -> ReplayResult:
        """Replay copies of a CTA on one SM and log their intervals."""
        return self._run(copies, self._memory(self.gpu.clock_hz), copies, log)

    def _run(self, slots: int, memory: Memory, ctas: int, log: list[Span] | None = None) -> ReplayResult:
        """Replay the CTAs of one SM in a number of slots."""
        each, more = divmod(ctas, slots)
        slices = [
            (
                slot * self.cluster + warp_slice.rank,
                warp_slice.rank,
                chain_ctas(operations, each, min(each, FOLLOWING), slot < more),
            )
            for slot in range(slots)
            for warp_slice, operations in zip(self.slices, self.operations, strict=True)
        ]
        return replay(slices, memory, self.constants, log)

    def _load(self) -> _Load:
        """Sum the demand of all slices over their whole paths."""
        cycles: dict[str, float] = {}
        moved = [0.0, 0.0]
        executions: dict[tuple[str, int], float] = {}

        def add(path: WarpPath, warp_slice: WarpSlice, times: float) -> None:
            for part in path:
                if isinstance(part, Loop):
                    add(part.body, warp_slice, times * part.trips)
                    continue
                op, runs = self.writer.one(part, warp_slice), times * part.weight
                owner = self.code.owners[part.row]
                group = _CONSERVED.get(self.code.lines[part.row].opcode.partition(".")[0])
                if group == "HGMMA":  # line information of wgmma names other instructions
                    executions[group, -1] = executions.get((group, -1), 0.0) + runs * op.width
                elif group is not None and owner >= 0:
                    key = group, owner
                    merged = self._merged(part.row, owner) if group == "LDS" else 1.0
                    executions[key] = executions.get(key, 0.0) + runs * op.width * merged / part.copies
                cycles["issue"] = cycles.get("issue", 0.0) + runs * op.issue
                if op.unit:
                    everywhere = op.sms if op.unit == "tensor" else 1
                    cycles[op.unit] = cycles.get(op.unit, 0.0) + runs * op.cycles * everywhere
                if op.shared:
                    cycles["shared"] = cycles.get("shared", 0.0) + runs * op.shared * op.sms
                if op.bytes:
                    moved[op.kind in _STORES] += runs * op.bytes

        known: dict[tuple, tuple[dict[str, float], list[float], dict[tuple[str, int], float]]] = {}
        total: dict[str, float] = {}
        modeled: dict[tuple[str, int], float] = {}
        read = written = 0.0
        for warp_slice, path in zip(self.slices, self.paths, strict=True):
            key = warp_slice.key
            if key not in known:
                cycles, moved, executions = {}, [0.0, 0.0], {}
                add(path, warp_slice, 1.0)
                known[key] = cycles, moved, executions
            for unit, value in known[key][0].items():
                total[unit] = total.get(unit, 0.0) + value
            read, written = read + known[key][1][0], written + known[key][1][1]
            for name, value in known[key][2].items():
                modeled[name] = modeled.get(name, 0.0) + value
        return _Load(total, read * self.average, written * self.average, modeled)

    def _conservation(self) -> tuple[str, ...]:
        """Compare the executions on the paths with those the simulator counted; describe each difference.

        ptxas merges, duplicates and removes instructions; where the trip counts do not account for that, the modeled
        work is not that of the launch.
        """
        simulated: dict[str, float] = {}
        modeled: dict[str, float] = {"HGMMA": self.load.executions.get(("HGMMA", -1), 0.0)}
        for owner, instruction in enumerate(self.work.sample.program.instructions):
            group = next((g for g, kind in _SIMULATED.items() if re.match(kind, instruction.mnemonic)), None)
            if group is None:
                continue
            worth = self._bytes_of(group, owner)
            executed = sum(float(s.counts[owner] * s.width[owner]) for s in self.slices)
            simulated[group] = simulated.get(group, 0.0) + worth * executed
            modeled[group] = modeled.get(group, 0.0) + worth * self.load.executions.get((group, owner), 0.0)
        return tuple(
            f"{group}: the path through the machine code has {modeled[group] / total:.0%} of the simulated {unit}"
            for group, total in simulated.items()
            if total and abs(modeled[group] / total - 1) > TOLERANCE
            for unit in ("executions" if group in ("FFMA", "HGMMA") else "bytes",)
        )

    def _merged(self, row: int, owner: int) -> float:
        """Return the loads from shared memory that ptxas merged into one: the ratio of their widths."""
        wide = re.search(r"\.(64|128)\b", self.code.lines[row].opcode)
        mnemonic = self.work.sample.program.instructions[owner].mnemonic
        found = re.search(r"(?:\.v(\d))?\.[a-z]+(\d+)$", mnemonic)
        if wide is None or found is None:
            return 1.0
        return max(1.0, int(wide[1]) / (int(found[1] or 1) * int(found[2])))

    def _bytes_of(self, group: str, owner: int) -> float:
        """Return the bytes that one execution of a PTX instruction moves; 1 for arithmetic."""
        if group in ("FFMA", "HGMMA"):
            return 1.0
        executed = float(self.sampled.executed[owner])
        if not executed:
            return 0.0
        if group == "LDS":
            return LINE * (self.instruction_work[owner].passes + float(self.sampled.shared_conflicts[owner]) / executed)
        column = self.sampled.tma_bytes if group == "TMA" else 32 * self.sampled.global_sectors
        return float(column[owner]) / executed

    def _l1_miss_rate(self) -> float:
        """Return the fraction of global reads that miss L1: rereads by a CTA hit as far as L1 holds the data.

        A single loop that reads everything moves over its data: its warps reread what they read a few iterations ago,
        and L1 needs to hold only that part.
        """
        sample = self.work.sample
        requested = sum(
            32 * sample.cluster.global_sectors[k]
            for k, item in enumerate(self.instruction_work)
            if item.space in ("global", "generic") and not item.writes
        )
        unique = sum(footprint.sectors for footprint in sample.footprints if not footprint.writes)
        copied = sum(sample.cluster.tma_bytes[k] for k, item in enumerate(self.instruction_work) if not item.writes)
        if not requested or copied:
            return 1.0
        room = self.gpu.limits.smem_per_sm + 28 * 1024 - self.fits.shared_bytes_per_block * self.resident
        recent = unique * min(1.0, DRIFT / self._turns_of_reads(requested))
        held = min(1.0, room * self.cluster / max(1, recent * self.resident))
        return min(1.0, max(unique / requested, 1 - held * (1 - unique / requested)))

    def _turns_of_reads(self, requested: float) -> float:
        """Return the iterations of the loop outside of others that makes all reads of global memory; 1 if there is none."""
        reads = {
            k for k, item in enumerate(self.instruction_work) if item.space in ("global", "generic") and not item.writes
        }
        for path in self.paths:
            for part in path:
                if isinstance(part, Loop):
                    own = {self.code.owners[step.row] for step in part.body if isinstance(step, InstructionStep)}
                    if sum(32 * self.work.sample.cluster.global_sectors[k] for k in own & reads) > 0.95 * requested:
                        return part.trips
        return 1.0

    def _memory(self, clock: float) -> Memory:
        """Return the memory system as seen by one SM while all others are active; L2 scales with the clock, DRAM does not."""
        on = self.gpu
        active = min(self.sms, self.work.ctas)
        clusters = self.work.sample.clusters
        from_dram = min(1.0, self.traffic.read / max(1.0, self.load.read * clusters))
        to_dram = min(1.0, self.traffic.written / max(1.0, self.load.written * clusters))
        near = on.latency_cycles.get("l2", 260)
        l2 = (near + on.latency_cycles.get("l2_far", near)) / 2
        dram = on.latency_cycles.get("dram", 600)
        return Memory(
            min(self.constants.port_bytes, on.l2_bytes_per_clock / active),
            self._dram_rate() / clock / active,
            from_dram,
            to_dram,
            l2 + from_dram * (dram - l2),
            (dram if from_dram > 0.01 else l2) + self.constants.copy_cycles,
            REMOTE * near,
        )

    def _dram_rate(self) -> float:
        return self.gpu.dram_reached_bytes_per_s or self.constants.dram_share * self.gpu.dram_bytes_per_s

    def _clock(self, tensor: float) -> float:
        """Return the clock in Hz for a utilization of the tensor cores, whose power lowers it."""
        low = self.gpu.tensor_clock_hz * self.constants.sustained
        return self.gpu.clock_hz + min(1.0, tensor) * (low - self.gpu.clock_hz)


def _moved(counts: InstructionTotals) -> float:
    """Return the bytes requested from L2, L1 hits included."""
    return float(32 * counts.global_sectors.sum() + counts.tma_bytes.sum())


# Opcodes whose executions, or bytes, must be those the simulator counted, and the PTX instructions they come from.
_CONSERVED = {
    "FFMA": "FFMA",
    "HGMMA": "HGMMA",
    "IGMMA": "HGMMA",
    "QGMMA": "HGMMA",
    "LDG": "LDG",
    "LDS": "LDS",
    "UTMALDG": "TMA",
    "UBLKCP": "TMA",
}
_SIMULATED = {
    "FFMA": r"fma\.rn(\.ftz)?(\.sat)?\.f32$",
    "HGMMA": r"wgmma\.mma_async",
    "LDG": r"ld(\.\w+)*\.global",
    "LDS": r"ld(\.\w+)*\.shared",
    "TMA": r"cp\.async\.bulk\..*shared::\w+\.global",
}
_STORES = frozenset((OpKind.STORE, OpKind.BULK_STORE))


def _usable(on: Gpu, cluster: int) -> int:
    """Return the SMs that clusters of this size can fill: a cluster runs within one GPC.

    Source: 132 SMs in GPCs of 16 and 18 hold 128 SMs' item of clusters of four (H100).
    """
    if cluster <= 2 or targets.parse(on.target).number < 90:
        return on.sms // cluster * cluster or on.sms
    each = on.sms // GPCS // cluster * cluster
    return max(cluster, each * GPCS)
