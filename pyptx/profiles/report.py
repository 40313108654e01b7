"""A profiler report as plain data: launches with their machine instructions and metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from pyptx.errors import UnknownNameError

__all__ = ["KernelProfile", "ProfileReport", "ProfiledInstruction", "Quantity", "base_name"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with the unit of the report, such as 117.3 "us"; `base` is the value in seconds, bytes, hertz or percent."""

    value: float
    unit: str

    @property
    def base(self) -> float:
        """The value in the base unit."""
        return self.value * _factor(self.unit)


@dataclass(frozen=True, slots=True)
class ProfiledInstruction:
    """A machine instruction of a report.

    Attributes:
        address: its address in the profiled process.
        text: as the report shows it.
        counters: name of `pyptx.profiles.metrics.COUNTERS` -> number over the launch.
        stalls: reason as Nsight Compute names it, "long_sb" -> samples.
    """

    address: int
    text: str
    counters: Mapping[str, float] = field(default_factory=dict)
    stalls: Mapping[str, float] = field(default_factory=dict)

    @property
    def opcode(self) -> str:
        """Opcode with modifiers, without predicate."""
        words = self.text.split()
        if words and words[0].startswith("@"):
            words = words[1:]
        return words[0].rstrip(";") if words else ""


@dataclass(frozen=True, slots=True)
class KernelProfile:
    """One profiled launch.

    Attributes:
        name: of the kernel, as in the report.
        launch: number of the launch in the report.
        gpu: name or compute capability of the GPU; "" if the report does not say.
        grid, block: sizes as in the report; "".
        instructions: with the source page, in order of address.
        metrics: with the raw page: name -> number.
    """

    name: str
    launch: int
    gpu: str = ""
    grid: str = ""
    block: str = ""
    instructions: tuple[ProfiledInstruction, ...] = ()
    metrics: Mapping[str, Quantity] = field(default_factory=dict)

    @property
    def samples(self) -> float:
        """Warp samples of all instructions."""
        return sum(one.counters.get("samples", 0.0) for one in self.instructions)


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """The launches of a report, in order.

    Attributes:
        source: name of the file.
        reader: how it was read: "CSV", "ncu_report", "ncu --import".
        kernels: the launches.
        notes: what could not be read, such as truncated rows.
    """

    source: str
    reader: str
    kernels: tuple[KernelProfile, ...]
    notes: tuple[str, ...] = ()

    def kernel(self, name: str, launch: int | None = None) -> KernelProfile:
        """Return a launch of a kernel: the first one with machine instructions, or the one with a number.

        Args:
            name: name of the entry; namespaces, template arguments and parameters of the report's name are ignored.
            launch: number of the launch in the report.
        Raises:
            UnknownNameError: the report has no such kernel or launch.
        """
        found = self.launches(name)
        if launch is not None:
            found = tuple(one for one in found if one.launch == launch)
        if not found:
            known = list(dict.fromkeys(base_name(one.name) for one in self.kernels))
            near = get_close_matches(name, known, 1)
            which = f"launch {launch} of " if launch is not None else ""
            listed = f"it has {', '.join(known[:8])}" if known else "it has no kernels"
            raise UnknownNameError(
                f"{self.source} has no {which}{name!r}; {listed}", hint=f"did you mean {near[0]!r}?" if near else None
            )
        return next((one for one in found if one.instructions), found[0])

    def launches(self, name: str) -> tuple[KernelProfile, ...]:
        """Return all launches of a kernel."""
        return tuple(one for one in self.kernels if name in (one.name, base_name(one.name)))

    def joined(self, other: ProfileReport) -> ProfileReport:
        """Return a report with the instructions of one page and the metrics of another page of the same run.

        Launches are paired by kernel in order.
        """
        left = list(other.kernels)
        kernels = []
        for one in self.kernels:
            match = next((k for k in left if base_name(k.name) == base_name(one.name)), None)
            if match is None:
                kernels.append(one)
                continue
            left.remove(match)
            kernels.append(
                replace(
                    one,
                    launch=match.launch if match.metrics else one.launch,
                    gpu=one.gpu or match.gpu,
                    grid=one.grid or match.grid,
                    block=one.block or match.block,
                    instructions=one.instructions or match.instructions,
                    metrics={**match.metrics, **one.metrics},
                )
            )
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return ProfileReport(self.source, self.reader, (*kernels, *left), notes)


def base_name(name: str) -> str:
    """Return the name of a kernel without return type, namespaces, template arguments and parameters.

    >>> base_name("void ns::gemm<(int)128, float>(const float *, float *)")
    'gemm'
    """
    depth, kept = 0, []
    for char in name.replace("(anonymous namespace)", "").replace("<unnamed>", ""):
        depth += (char in "<(") - (char in ">)")
        if depth == 0 and char not in ">)":
            kept.append(char)
        elif char == "(" and depth == 1 and kept:
            break
    words = re.findall(r"[\w$.]+", "".join(kept))
    return words[-1] if words else name


_SCALES = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_UNITS = re.compile(r"([numkKMGTµ]?)(s|second|byte|bytes|B|hz|Hz|cycle|inst|warp|sector|%)(?:/([numµ]?)(?:s|second))?")


def _factor(unit: str) -> float:
    """Return the factor to the base unit; 1 for units without a prefix."""
    found = _UNITS.fullmatch(unit)
    if found is None:
        return 1.0
    return _SCALES[found[1]] / _SCALES[found[3] or ""]
