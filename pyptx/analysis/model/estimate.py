"""How long a launch will take: a model, never a measurement.

    prediction = estimate(gemm, a, b, BM=128)           # assemble, count, predict
    prediction = predict(compiled, plan, work, "H200")  # the last of the three steps

1. Occupancy: CTAs of an SM, from registers, shared memory and threads of the assembled code.
2. The way of every team of warps through the machine code, with trip counts at the real sizes (trips).
3. The CTAs of the SM that has most, run instruction by instruction with the stall counts and scoreboards of the code,
   and with servers for the units, matrix products, copies and memory (replay): as many at a time as it holds, each
   further one from when one is over. Long loops and many CTAs are cut short; their steady state goes on.
4. Traffic to DRAM by the footprints of waves in the order of the grid (traffic).
5. Clusters need SMs of one GPC. Their CTAs are run together: what one copies for all, arrives at another's mbarrier or
   multiplies with a pair's tensor cores. Where all clusters run at once, the one with most to do is replayed.
6. The time is that of the replay, or of the server that needs most alone. Nothing is added for servers that are busy at
   the same time: the replay has them wait for each other, and published kernels for H100 keep the tensor pipe, shared
   memory and 80 % of L2 busy together (tests/benchmarks/published.py says how near the model comes to them).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any

from pyptx.analysis.gpus import Gpu, gpu
from pyptx.analysis.model.constants import Constants, constants_of
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replaystate import Memory, Run, Span
from pyptx.analysis.model.rings import rings_of
from pyptx.analysis.model.steps import Kind, Operation, Writer, one_after_another, shortened
from pyptx.analysis.model.traffic import Traffic, traffic_of
from pyptx.analysis.model.trips import Loop, Path, Team, code_of, flattened, path_of, teams_of
from pyptx.analysis.occupancy import Occupancy, occupancy
from pyptx.analysis.work.calls import Call, call_of
from pyptx.analysis.work.count import Work, work_of
from pyptx.analysis.work.pipework import worths_of
from pyptx.analysis.work.sample import Totals
from pyptx.compiled import Compiled
from pyptx.errors import LaunchError
from pyptx.isa import targets
from pyptx.kernel import Kernel
from pyptx.program import Entry
from pyptx.runtime import LaunchPlan

__all__ = ["Prediction", "Replayed", "estimate", "estimate_call", "predict", "replayed"]

OPERATIONS = 24_000             # that are replayed for the CTAs that an SM holds at a time
FOLLOWING = 4                   # CTAs one after the other whose second half is taken for more of them
GPCS = 8
REMOTE = 0.7                    # of L2's latency is that from SM to SM: 180 of 261 cycles on H800 (Luo et al. 2024)
_TERMS = {"issue": "issue", "fma": "fma", "alu": "alu", "mufu": "mufu", "fp64": "fp64", "shared": "shared",
          "tensor": "tensor", "tma": "tma", "tmem": "tmem", "l2": "l2", "dram": "dram"}
_NAMES = {"issue": "issue slots", "fma": "FMA pipe", "alu": "ALU pipe", "mufu": "special functions", "fp64": "f64 pipe",
          "shared": "shared memory", "tensor": "tensor pipe", "tma": "copy engine", "tmem": "tensor memory", "l2": "L2",
          "dram": "DRAM", "latency": "latency", "launch": "launch"}
BUSY = 0.5                      # a server that is less busy does not bind


def estimate(kernel: Kernel | Entry, *args: Any, device: str | Gpu | None = None, **params: Any) -> Prediction:
    """Assemble a call, count its work, and predict its time.

    Args:
        kernel, args, params: as for `call_of`.
        device: a GPU of the table; default: the usual one of the kernel's target.
    Raises:
        CompileError: it cannot be assembled.
        LaunchError, TypeError: it could not be called like that.
        SimulationError: it traps, or cannot be simulated.
    """
    return estimate_call(call_of(kernel, *args, **params), device)


def estimate_call(call: Call, device: str | Gpu | None = None) -> Prediction:
    """The same of a call that is bound already."""
    compiled = call.compiled()
    return predict(compiled, call.plan, work_of(call), device or compiled.target)


def replayed(call: Call, device: str | Gpu | None = None) -> Replayed:
    """What the first CTA of an SM does there, alone, as the replay has it.

    Raises:
        LaunchError: it does not fit on an SM.
    """
    compiled, work = call.compiled(), work_of(call)
    on = gpu(device or compiled.target)
    fits = _fitting(compiled, call.plan, on)
    if not fits.blocks:
        raise LaunchError(f"{call.plan.entry.name}: {fits.why}")
    model = _Model(compiled, call.plan, work, on, fits)
    spans: list[Span] = []
    run = model.run_copies(1, spans)
    teams = [f"CTA {team.rank}, " * (model.cluster > 1) + _warps(team.warps) for team in model.teams]
    return Replayed(call.plan.entry.name, on, run, tuple(teams), tuple(spans))


def _warps(numbers: tuple[int, ...]) -> str:
    """Warps of a team in words."""
    if len(numbers) == 1:
        return f"warp {numbers[0]}"
    return f"warps {numbers[0]}-{numbers[-1]}" if numbers[-1] - numbers[0] + 1 == len(numbers) else \
        f"warps {', '.join(map(str, numbers))}"


def predict(compiled: Compiled, launch: LaunchPlan, work: Work, device: str | Gpu | None = None) -> Prediction:
    """Time of a launch.

    Args:
        compiled: its machine code.
        launch: its geometry.
        work: what it does, counted at these sizes.
        device: a GPU of the table; default: the usual one of the target.
    Raises:
        ShapeError: there is no such GPU in the table.
    """
    on = gpu(device or compiled.target)
    fits = _fitting(compiled, launch, on)
    if not fits.blocks:
        found = Prediction(float("inf"), {}, "resources", fits.why, fits, float("inf"), on.name)
    else:
        found = _Model(compiled, launch, work, on, fits).prediction()
    return replace(found, flops=work.flops, bytes=work.bytes, ctas=work.ctas)


def _fitting(compiled: Compiled, launch: LaunchPlan, on: Gpu) -> Occupancy:
    """How many CTAs of the launch an SM holds."""
    used = compiled.resources[launch.entry.name]
    return occupancy(on.target, threads=prod(launch.block), registers=used.registers, shared_bytes=used.shared_bytes,
                     dynamic_shared_bytes=launch.smem_bytes)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One CTA (or cluster) alone on its SM: the names of its teams of warps, and what they and the units did when."""

    name: str
    gpu: Gpu
    run: Run
    teams: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class _Load:
    """What one cluster asks of the units of the SMs it is on: cycles, and bytes of memory read and written, those of an
    average one."""

    cycles: dict[str, float]
    read: float
    written: float


class _Model:
    """One prediction."""

    def __init__(self, compiled: Compiled, launch: LaunchPlan, work: Work, on: Gpu, fits: Occupancy):
        self.launch, self.work, self.gpu, self.fits = launch, work, on, fits
        self.constants: Constants = constants_of(on.name, on.target)
        self.cluster = prod(launch.cluster)
        sample = work.sample
        self.sms = _usable(on, self.cluster)
        self.per_sm = ceil(work.ctas / self.sms)                        # CTAs of the SM that has most
        self.resident = min(fits.blocks, self.per_sm)
        self.code = code_of(compiled, sample.program)
        self.worths = worths_of(sample.program)
        one = sample.cluster, sample.issues, sample.named
        if work.ctas <= fits.blocks * self.sms:         # all at once: it takes as long as the one that has most to do
            one = sample.longest
        self.sampled: Totals = one[0]
        self.average = _moved(sample.totals) / max(1.0, sample.clusters * _moved(self.sampled)) or 1.0
        self.teams = teams_of(*one[1:], self.cluster)
        executes = {team.warps: team.counts for team in self.teams}
        rings = rings_of(sample.program.actions, sample.barriers, sample.free, executes)
        paths: dict[bytes, Path] = {}
        for team in self.teams:
            key = team.counts.tobytes()
            if key not in paths:
                paths[key] = path_of(self.code, team.counts)
        self.paths = flattened([paths[team.counts.tobytes()] for team in self.teams])
        self.missing = self._missing()
        stages = max((ring.stages for of in rings.values() for ring in of.values()), default=1)
        skips = shortened(self.paths, OPERATIONS // self.resident, 3 * stages + 8)
        self.writer = Writer(on, self.constants, self.code, sample.program, self.worths, self.sampled, rings,
                             skips, self.missing, self.cluster)
        self.load = self._load()
        self.traffic: Traffic = traffic_of(work, on, fits.blocks * self.sms,
                                           self.load.read * sample.clusters)
        self.operations: list[list[Operation]] = []
        written: dict[tuple, list[Operation]] = {}
        for team, path in zip(self.teams, self.paths, strict=True):
            key = team.key, *(rings[k].get(team.warps) for k in sorted(rings))
            if key not in written:
                written[key] = self.writer.write(path, team)
            self.operations.append(written[key])

    def prediction(self) -> Prediction:
        start = self.constants.start_cycles
        busy = {unit: self.per_sm / self.cluster * self.load.cycles.get(unit, 0.0) for unit in _TERMS}
        before, clock = 0.0, self._clock(self.average * busy["tensor"] / max(1.0, *busy.values()))
        while abs(clock - before) > 0.01 * clock:       # where tensor cores slow the clock down, DRAM is nearer
            run = self._run(self.resident, self._memory(clock), self.per_sm)
            total = max(run.cycles, run.drained - start) + start        # the last writes leave after the end
            before, clock = clock, self._clock(self.average * busy["tensor"] / total if total else 0.0)
        terms = {_TERMS[unit]: value / clock for unit, value in busy.items() if value}
        moved = (self.load.read + self.load.written) * self.work.sample.clusters
        terms["l2"] = max(moved / (self.gpu.l2_bytes_per_clock * clock), terms.get("l2", 0.0))
        terms["dram"] = (self.traffic.read + self.traffic.written) / self._dram_rate()
        seconds = max(total / clock, *terms.values()) + self.gpu.launch_seconds
        servers = dict(terms)
        terms["pipeline"], terms["launch"] = total / clock, self.gpu.launch_seconds
        bound, words = self._bound(servers, seconds, run)
        terms = {name: float(value) for name, value in terms.items()}
        waves = self.work.ctas / (self.fits.blocks * self.sms)
        return Prediction(float(seconds), terms, bound, words, self.fits, waves, self.gpu.name)

    def _bound(self, servers: dict[str, float], seconds: float, run: Run) -> tuple[str, str]:
        """Which server binds, and the same in words with what is waited for most."""
        largest = max(servers, key=lambda name: servers[name])
        share = servers[largest] / seconds
        why = max(run.lost, key=lambda name: run.lost[name], default="")
        words = f"{_NAMES[largest]} {share:.0%}".replace("%", " %")
        if self.gpu.launch_seconds > seconds / 2:
            return "launch", f"launch {self.gpu.launch_seconds / seconds:.0%}, {words}".replace("%,", " %,")
        if why and run.lost[why] > 0.05 * run.replayed:
            words += f", waits for {why}"
        return (largest if share >= BUSY else "latency"), words

    def run_copies(self, copies: int, log: list[Span]) -> Run:
        """So many CTAs on one SM, and what they do there."""
        return self._run(copies, self._memory(self.gpu.clock_hz), copies, log)

    def _run(self, places: int, memory: Memory, ctas: int, log: list[Span] | None = None) -> Run:
        """CTAs of one SM, at most so many at a time."""
        each, more = divmod(ctas, places)
        teams = [(place * self.cluster + team.rank, team.rank,
                  one_after_another(operations, each, min(each, FOLLOWING), place < more)) for place in range(places)
                 for team, operations in zip(self.teams, self.operations, strict=True)]
        return replay(teams, memory, self.constants, log)

    def _load(self) -> _Load:
        cycles: dict[str, float] = {}
        moved = [0.0, 0.0]

        def add(path: Path, team: Team, times: float) -> None:
            for part in path:
                if isinstance(part, Loop):
                    add(part.body, team, times * part.trips)
                    continue
                op, runs = self.writer.one(part, team), times * part.weight
                cycles["issue"] = cycles.get("issue", 0.0) + runs * op.issue
                if op.unit:
                    everywhere = op.sms if op.unit == "tensor" else 1
                    cycles[op.unit] = cycles.get(op.unit, 0.0) + runs * op.cycles * everywhere
                if op.shared:
                    cycles["shared"] = cycles.get("shared", 0.0) + runs * op.shared * op.sms
                if op.bytes:
                    moved[op.kind in _STORES] += runs * op.bytes
        known: dict[tuple, tuple[dict[str, float], list[float]]] = {}
        total: dict[str, float] = {}
        read = written = 0.0
        for team, path in zip(self.teams, self.paths, strict=True):
            key = team.key
            if key not in known:
                cycles, moved = {}, [0.0, 0.0]
                add(path, team, 1.0)
                known[key] = cycles, moved
            for unit, value in known[key][0].items():
                total[unit] = total.get(unit, 0.0) + value
            read, written = read + known[key][1][0], written + known[key][1][1]
        return _Load(total, read * self.average, written * self.average)

    def _missing(self) -> float:
        """Share of global reads that go on to L2: all but those of bytes that the CTA read before, if L1 holds them."""
        sample = self.work.sample
        asked = sum(32 * sample.cluster.global_sectors[k] for k, worth in enumerate(self.worths)
                    if worth.space in ("global", "generic") and not worth.writes)
        unique = sum(footprint.sectors for footprint in sample.footprints if not footprint.writes)
        copied = sum(sample.cluster.tma_bytes[k] for k, worth in enumerate(self.worths) if not worth.writes)
        if not asked or copied:
            return 1.0
        room = self.gpu.limits.smem_per_sm + 28 * 1024 - self.fits.shared_bytes_per_block * self.resident
        held = min(1.0, room * self.cluster / max(1, unique * self.resident))
        return min(1.0, max(unique / asked, 1 - held * (1 - unique / asked)))

    def _memory(self, clock: float) -> Memory:
        """The memory system as one SM has it while the others ask as well: L2 goes with the clock, DRAM does not."""
        on = self.gpu
        active = min(self.sms, self.work.ctas)
        clusters = self.work.sample.clusters
        from_dram = min(1.0, self.traffic.read / max(1.0, self.load.read * clusters))
        to_dram = min(1.0, self.traffic.written / max(1.0, self.load.written * clusters))
        near = on.latency_cycles.get("l2", 260)
        l2 = (near + on.latency_cycles.get("l2_far", near)) / 2
        dram = on.latency_cycles.get("dram", 600)
        return Memory(min(self.constants.port_bytes, on.l2_bytes_per_clock / active),
                      self._dram_rate() / clock / active, from_dram, to_dram, l2 + from_dram * (dram - l2),
                      (dram if from_dram > 0.01 else l2) + self.constants.copy_cycles, REMOTE * near)

    def _dram_rate(self) -> float:
        return self.gpu.dram_reached_bytes_per_s or self.constants.dram_share * self.gpu.dram_bytes_per_s

    def _clock(self, tensor: float) -> float:
        """Clock in Hz when tensor cores are busy for this share of the time: they slow it down (power)."""
        low = self.gpu.tensor_clock_hz * self.constants.sustained
        return self.gpu.clock_hz + min(1.0, tensor) * (low - self.gpu.clock_hz)


def _moved(counts: Totals) -> float:
    """Bytes that were asked of L2, before L1 has its share."""
    return float(32 * counts.global_sectors.sum() + counts.tma_bytes.sum())


_STORES = frozenset((Kind.STORE, Kind.STORE_BULK))


def _usable(on: Gpu, cluster: int) -> int:
    """SMs that clusters of this size can fill: a cluster lies within a GPC.

    Source: 132 SMs in GPCs of 16 and 18 hold 128 SMs' worth of clusters of four (H100).
    """
    if cluster <= 2 or targets.parse(on.target).number < 90:
        return on.sms // cluster * cluster or on.sms
    each = on.sms // GPCS // cluster * cluster
    return max(cluster, each * GPCS)
