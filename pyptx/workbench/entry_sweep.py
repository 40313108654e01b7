"""Sweeps over configurations of compiled foreign kernels: each is compiled by its own compiler and timed by the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyptx.analysis.gpus import gpu
from pyptx.errors import CompileError, OptionError, PtxError, SimulationError
from pyptx.tune.space import Space
from pyptx.views.rooflines.elements import Point as RoofPoint
from pyptx.views.sweeps.sweep import Hole, Parameter, Point, Progress, SweepView

if TYPE_CHECKING:
    from pyptx.analysis.gpus import Gpu
    from pyptx.analysis.model.prediction import Prediction
    from pyptx.assembly import Assembly
    from pyptx.workbench.program import Entry

__all__ = ["Candidate", "EntrySweep", "sweep_entries"]


@dataclass(frozen=True)
class Candidate:
    """An entry with the launch of its configuration.

    Attributes:
        symbol: name of the entry in the PTX.
        dynamic_bytes: dynamic shared memory of the launch.
        estimate: models its time.
        defect: runs it and says why its results are wrong; "" if they are right.
    """

    entry: Entry
    symbol: str
    dynamic_bytes: int
    estimate: Callable[[Gpu], Prediction]
    defect: Callable[[], str] = str

    def compile(self) -> Assembly:
        """Return the machine code of the entry."""
        return self.entry.compile()


@dataclass(eq=False)
class EntrySweep:
    """The result of a sweep; it shows as heat maps and a table.

    Attributes:
        view: the grid with all points, as data: `.text()`, `.csv()`, `.page()`.
        entries: the entries by configuration; those that could not be compiled are missing.
    """

    view: SweepView
    entries: Mapping[tuple[Any, ...], Entry] = field(repr=False)

    @property
    def best(self) -> dict[str, Any]:
        """The configuration with the shortest modeled time.

        Raises:
            OptionError: no configuration has a time.
        """
        if self.view.best < 0:
            raise OptionError(f"no configuration of {self.view.title} has a time; see the reasons in .view")
        return self.view.config(self.view.best)

    def entry(self, **config: Any) -> Entry:
        """Return the entry of a configuration, by default of the best one.

        Raises:
            OptionError: the configuration is not part of the sweep, or was refused.
        """
        config = config or self.best
        key = tuple(config.get(parameter.name) for parameter in self.view.parameters)
        if key not in self.entries or len(config) != len(key):
            raise OptionError(f"{config} is not a compiled configuration of {self.view.title}")
        return self.entries[key]

    def __repr__(self) -> str:
        return self.view.text(limit=40)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.view._repr_mimebundle_(include, exclude)


def sweep_entries(
    make: Callable[..., Candidate],
    space: Space | Mapping[str, Iterable[Any]],
    *,
    title: str,
    target: str,
    device: str | Gpu | None = None,
    refusals: tuple[type[Exception], ...] = (PtxError,),
) -> EntrySweep:
    """Compile every configuration of a space and model its time.

    Args:
        make: returns the entry with its launch for the values of a configuration, given by keyword.
        space: values by name, or a `pyptx.tune.Space` with restrictions.
        device: a GPU of the table; default: the usual one of the target.
        refusals: exceptions with which a configuration is refused; others end the sweep. Faults of a launch make it "failed".
    """
    space = Space.of(space)
    on = gpu(device or target)
    points: list[Point] = []
    holes: list[Hole] = []
    entries: dict[tuple[Any, ...], Entry] = {}
    for config, reason in space.points():
        at = tuple(space.parameters[name].index(value) for name, value in config.items())
        if reason is not None:
            holes.append(Hole(at, reason))
            continue
        try:
            candidate = make(**config)
            points.append(_point(at, candidate, on))
            entries[tuple(config.values())] = candidate.entry
        except SimulationError as error:
            points.append(Point(at, "failed", _reason(error)))
        except refusals as error:
            points.append(Point(at, "refused", _reason(error)))
    timed = [(point.seconds, number) for number, point in enumerate(points) if point.state == "modeled"]
    return EntrySweep(
        SweepView(
            title,
            target,
            f"model of {on.name}",
            tuple(Parameter(name, values) for name, values in space.parameters.items()),
            tuple(points),
            tuple(holes),
            Progress(len(points), len(points), 0.0, "finished"),
            min(timed)[1] if timed else -1,
        ),
        entries,
    )


def _point(at: tuple[int, ...], candidate: Candidate, on: Gpu) -> Point:
    defect = candidate.defect()
    prediction = candidate.estimate(on)
    if prediction.seconds == float("inf"):
        return Point(at, "refused", prediction.summary)
    used = candidate.compile().resources[candidate.symbol]
    low, high = prediction.interval
    rate = (
        RoofPoint("", dict(prediction.flops), {}, prediction.seconds, prediction.kind).rate
        if prediction.flops
        else None
    )
    return Point(
        at,
        "wrong" if defect else "modeled",
        defect,
        prediction.seconds,
        low,
        high,
        prediction.kind,
        prediction.summary,
        registers=used.registers,
        spill_bytes=used.spill_stores + used.spill_loads,
        shared_bytes=used.shared_bytes + candidate.dynamic_bytes,
        occupancy=prediction.occupancy.warps / prediction.occupancy.max_warps,
        confidence=prediction.confidence,
        rate=rate or None,
    )


def _reason(error: Exception) -> str:
    """Return the message of an error in one line; compilers show source lines in front of it."""
    if isinstance(error, CompileError) and error.diagnostics:
        return str(error.diagnostics[0]).partition("\n")[0]
    if isinstance(error, PtxError):
        return (error.message or str(error)).partition("\n")[0]
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
