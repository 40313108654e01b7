"""Board power of a launch, and the clock at which it meets the power limit.

Each event of an SM takes an energy (`gpu_table.ENERGIES`); power is the idle power, the energy of DRAM traffic, and the
energy of the events in a cycle times the clock. The voltage falls with the clock, so the energy of the events is
proportional to the clock, too: halving the clock quarters their power. DRAM has its own supply; its traffic crosses the GPU,
which takes energy in proportion to the clock.

A GPU that has been busy for some milliseconds runs at the clock where power meets the limit ("sustained"); before, and
when launches are far apart, at its boost clock ("burst").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from pyptx.analysis.gpu_table import ENERGIES, Energy
from pyptx.analysis.gpus import Gpu
from pyptx.isa import targets

__all__ = ["Activity", "board_watts", "boost_clock", "energy_of", "sustained_clock"]

_LANES = 32  # of a warp instruction
_SLOTS = 4  # warp instructions that an SM issues per cycle
_LEAST = 0.2  # fraction of the boost clock; below, the model's energies do not hold


@dataclass(frozen=True, slots=True)
class Activity:
    """Utilization of the SMs and of memory during a launch.

    Attributes:
        busy: unit ("issue", "fma", "mufu", "shared", "tensor") -> utilization, 0..1; of shared memory without bank conflicts,
            in which no data move.
        l2_bytes: bytes between L2 and all SMs per cycle.
        dram_bytes_per_s: rate of DRAM traffic.
        sms: SMs that execute CTAs.
    """

    busy: Mapping[str, float]
    l2_bytes: float
    dram_bytes_per_s: float
    sms: int


def energy_of(gpu: Gpu) -> Energy:
    """Return the energies of a GPU's generation."""
    number = targets.parse(gpu.target).number
    return ENERGIES[max((n for n in ENERGIES if n <= number), default=min(ENERGIES))]


def boost_clock(gpu: Gpu, tensor: float) -> float:
    """Return the highest clock in Hz at a utilization of the tensor cores, whose published peaks have a lower clock."""
    if gpu.max_clock_hz is not None:
        return gpu.max_clock_hz
    return gpu.clock_hz + min(1.0, tensor) * (gpu.tensor_clock_hz - gpu.clock_hz)


def board_watts(gpu: Gpu, activity: Activity, clock: float) -> float:
    """Return the power of the board at a clock in Hz."""
    fixed, path, events = _watts(gpu, activity)
    share = clock / gpu.clock_hz
    return fixed + path * share + events * share**2


def sustained_clock(gpu: Gpu, activity: Activity) -> float:
    """Return the clock in Hz at which power meets the limit of the board, at most the boost clock."""
    boost = boost_clock(gpu, activity.busy.get("tensor", 0.0))
    fixed, path, events = _watts(gpu, activity)
    if not gpu.watts or not events:
        return boost
    half, left = path / events / 2, max(0.0, gpu.watts - fixed) / events
    return min(boost, gpu.clock_hz * max(_LEAST, sqrt(half**2 + left) - half))


def _watts(gpu: Gpu, activity: Activity) -> tuple[float, float, float]:
    """Return the power that does not depend on the clock, and those of DRAM traffic and of events at the boost clock."""
    energy, busy = energy_of(gpu), activity.busy
    arithmetic = gpu.core["f32"] * busy.get("fma", 0.0)
    others = max(0.0, _LANES * _SLOTS * busy.get("issue", 0.0) - arithmetic)
    of_sm = (
        energy.fma * arithmetic
        + energy.instruction * others
        + energy.mufu * gpu.core["mufu"] * busy.get("mufu", 0.0)
        + energy.tensor_cycle * busy.get("tensor", 0.0)
        + energy.shared_byte * gpu.shared_bytes_per_clock * busy.get("shared", 0.0)
    )
    cycle = activity.sms * of_sm + energy.l2_byte * activity.l2_bytes
    fixed = energy.idle * gpu.watts + 1e-12 * energy.dram_byte * activity.dram_bytes_per_s
    return fixed, 1e-12 * energy.path_byte * activity.dram_bytes_per_s, 1e-12 * cycle * gpu.clock_hz
