"""A study of `pyptx.tune` as a view, and as something to work with: how it stands, its points' code, the chosen one."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import IO, Any

from pyptx.views.code.linked import LinkedView, linked
from pyptx.views.diffs.diff import Diff, diff
from pyptx.views.rooflines.parts import Point as RoofPoint
from pyptx.views.rooflines.placing import of_study
from pyptx.views.rooflines.roofline import Roofline
from pyptx.views.sweeps.sweep import Hole, Parameter, Point, Progress, SweepView
from pyptx.views.sweeps.text import best_text, progress_text

__all__ = ["Sweep", "sweep_view"]

LISTED = 5000                                           # combinations of a space whose holes are looked up


def sweep_view(study, choice: Mapping[str, Any] | None = None) -> SweepView:
    """How a `pyptx.tune.Study` stands now.

    Args:
        choice: the configuration that the user has chosen.
    """
    names = {name: [_plain(value) for value in values] for name, values in study.space.parameters.items()}
    places = {name: {_key(value): at for at, value in enumerate(values)} for name, values in names.items()}
    trials = list(study.trials)
    number = {id(trial): at for at, trial in enumerate(trials)}
    found = {trial.number: at for at, trial in enumerate(trials)}

    def place(config: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(places[name][_key(_plain(config[name]))] for name in names)

    points = tuple(_point(trial, place(trial.config), found) for trial in trials)
    taken = {point.config for point in points}
    holes = ()
    if len(taken) < len(study.space) <= LISTED:
        refused = ((place(config), reason) for config, reason in study.space.points() if reason is not None)
        holes = tuple(Hole(config, reason) for config, reason in refused if config not in taken)
    best, progress = study.best, study.progress
    chosen = next((at for at, trial in enumerate(trials) if trial.config == choice), -1) if choice is not None else -1
    notes = [*study.notes, *([f"ended by an error: {study.error}"] if study.error is not None else [])]
    axes = tuple(Parameter(name, tuple(values)) for name, values in names.items())
    return SweepView(study.kernel.name, study.target, _device(study.place), axes,
                     points, holes, Progress(progress.done, progress.total, progress.seconds_left, study.state),
                     -1 if best is None else number.get(id(best), -1), chosen, tuple(notes))


def _point(trial, config: tuple[int, ...], found: Mapping[int, int]) -> Point:
    used, (low, high) = trial.resources, trial.interval or (None, None)
    twin = getattr(trial, "twin", None)
    return Point(config, trial.state, trial.reason or "", trial.seconds, low, high, trial.kind or "",
                 _asked(trial.prediction, "words") or "",
                 used.registers if used else None, used.spill_stores + used.spill_loads if used else None,
                 trial.shared_bytes, trial.occupancy, _rate(trial),
                 -1 if twin is None else found.get(twin, -1))


def _asked(prediction: Any, name: str) -> Any:
    """A field of a prediction, or of the mapping that the store has kept of it."""
    return prediction.get(name) if isinstance(prediction, Mapping) else getattr(prediction, name, None)


def _rate(trial) -> float | None:
    """Operations a second, as the roofline counts them; None without a count of the work."""
    work = _asked(trial.prediction, "flops")
    if not work or not trial.seconds:
        return None
    return RoofPoint("", dict(work), {}, trial.seconds, trial.kind).rate or None


def _device(place: Mapping[str, str]) -> str:
    name = place.get("gpu") or place.get("device") or "?"
    return f"model of {name}" if place.get("kind") == "modelled" else name


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _key(value: Any) -> tuple[type, Any]:
    return type(value), value                           # 1 and True are different values


class Sweep:
    """A study to look at and to steer; in a script or a terminal. The widget of notebooks is one of these.

    Attributes:
        study: the `pyptx.tune.Study`.
        choice: the configuration that was chosen by `use`, or by a click; None before that.
    """

    def __init__(self, study):
        self.study = study
        self.choice: dict[str, Any] | None = None

    @property
    def best(self):
        """The trial with the shortest time so far; None before there is one."""
        return self.study.best

    def view(self) -> SweepView:
        """How it stands now."""
        return sweep_view(self.study, self.choice)

    def pause(self) -> None:
        """Begin nothing new until `resume`."""
        self.study.pause()

    def resume(self) -> None:
        """Go on after `pause` or `stop`, also in another session: what was done is in the store."""
        self.study.resume()

    def stop(self) -> None:
        """End the run; what is done is kept."""
        self.study.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it ends, or so many seconds; whether it has ended. Raises what ended it, when something did."""
        return self.study.wait(timeout)

    def use(self, config: Mapping[str, Any] | int | None = None) -> dict[str, Any]:
        """Choose a configuration, by default the best: kept as what `@autotune` takes for this problem here.

        Args:
            config: values of the parameters, or the number of a point.
        Returns:
            The configuration; also `choice` from now on.
        Raises:
            ValueError: there is no such point, or it has no time.
        """
        if config is None:
            trial = self.study.best
            if trial is None:
                raise ValueError("no point has a time yet")
        elif isinstance(config, int):
            trial = self.trial(config)
        else:
            trial = self.study.trial(config)
            if trial is None:
                raise ValueError(f"{dict(config)} is no point of this sweep")
        self.study.use(trial)
        self.choice = dict(trial.config)
        return self.choice

    def trial(self, number: int):
        """The trial of a point of the view."""
        if not 0 <= number < len(self.study.trials):
            raise ValueError(f"there is no point {number}; there are {len(self.study.trials)}")
        return self.study.trials[number]

    def linked(self, number: int) -> LinkedView:
        """The linked view of a point.

        Raises:
            PtxError, ValueError: what refused the configuration.
        """
        trial = self.trial(number)
        return linked(trial.compiled(), title=f"{self.study.kernel.name} {trial.label}", **self._launched(trial))

    def diff(self, first: int, second: int) -> Diff:
        """Two points compared.

        Raises:
            PtxError, ValueError: what refused one of the configurations.
        """
        trials = self.trial(first), self.trial(second)
        one, other = (trial.compiled() for trial in trials)
        return diff(one, other, titles=tuple(trial.label for trial in trials), **self._launched(trials[0]))

    def roofline(self, level: str | None = None) -> Roofline:
        """All points that have a time, under the roofs of their GPU; see `pyptx.views.rooflines.placing.of_study`."""
        return of_study(self.study, level=level)

    def _launched(self, trial) -> dict[str, Any]:
        """What the occupancy of a view needs."""
        kernel = self.study.kernel
        return {"block": kernel.block_of(self.study.problem.variant(trial.config)), "dynamic_shared_bytes": kernel.smem}

    def run(self, out: IO[str] | None = None, every_s: float = 1.0) -> None:
        """Run to the end with one line of progress, rewritten where it is a terminal.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed; what was done is kept, the same sweep goes on with the rest.
        """
        out = sys.stderr if out is None else out
        rewrite, last, width, then = out.isatty(), "", 0, 0.0
        self.study.start()
        try:
            while not self.study.wait(0.1):
                if time.monotonic() - then < (every_s if rewrite else 10 * every_s):
                    continue
                then, line = time.monotonic(), progress_text(self.view())
                if line != last:
                    out.write(f"\r{line.ljust(width)}" if rewrite else f"{line}\n")
                    out.flush()
                    last, width = line, len(line)
        except KeyboardInterrupt:
            self.study.stop()
            raise
        finally:
            view = self.view()
            line = "; ".join(filter(None, [progress_text(view), best_text(view)]))
            out.write(f"\r{line.ljust(width)}\n" if rewrite else f"{line}\n")
            out.flush()

    def __repr__(self) -> str:
        return self.view().text(limit=40)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return self.view()._repr_mimebundle_()
