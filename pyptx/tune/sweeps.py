"""Interactive sweeps: a study with its view, to watch, control and inspect while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from typing import IO, Any

from pyptx._notebook import front_end, in_notebook
from pyptx.errors import BoundsError, OptionError, PtxError
from pyptx.jit import JitKernel
from pyptx.tune.points import point_of
from pyptx.tune.rooflines import of_study
from pyptx.tune.source_edit import SourceEdit, edited_defaults
from pyptx.tune.space import Space
from pyptx.tune.study import Study
from pyptx.tune.trial import Trial, plain_value
from pyptx.views.code.linked import LinkedView, linked
from pyptx.views.comparisons.build import Candidate, table_of
from pyptx.views.comparisons.comparison import ComparisonTable
from pyptx.views.diffs.diff import Diff, DiffOperand, compare
from pyptx.views.rooflines.roofline import Roofline
from pyptx.views.sweeps.sweep import Hole, Parameter, Progress, SweepView
from pyptx.views.sweeps.text import best_text, progress_text

__all__ = ["Sweep", "sweep", "sweep_view"]

_MAX_LISTED = 5000  # combinations of a space up to which refused ones are listed


def sweep(
    kernel: JitKernel, space: Space | Mapping[str, Iterable[Any]], args: Any, *, start: bool = True, **options: Any
) -> Sweep:
    """Run a study of a space and show its progress.

    In a notebook the cell returns at once and the study runs in the background; the widget pauses, stops and resumes it,
    opens the code of a point, compares two points, and chooses one. Elsewhere the study runs to its end with a line of
    progress on stderr.

    Args:
        kernel, space, args, options: as for `Study`.
        start: False: wait for the widget's button, or for `resume()`.
    Returns:
        A `pyptx.tune.sweeps.Sweep`; in a notebook its widget, `pyptx.jupyter.sweep_widget.SweepWidget`. Both have
        `study`, `best`, `choice`, `use()`, `view()`, `pause()`, `resume()`, `stop()`, `wait()`.
    Raises:
        PtxError: as for `Study`.
    """
    study = Study(kernel, space, args, **options)
    if in_notebook() and (widget := front_end().sweep_widget(study)) is not None:
        if start:
            study.start()
        return widget
    shown = Sweep(study)
    if start:
        shown.run()
    return shown


def sweep_view(study: Study, choice: Mapping[str, Any] | None = None) -> SweepView:
    """Return the view of a study in its current state.

    Args:
        study: the study.
        choice: the configuration that the user has chosen.
    """
    names = {name: [plain_value(value) for value in values] for name, values in study.space.parameters.items()}
    indices = {name: {_key(value): at for at, value in enumerate(values)} for name, values in names.items()}
    trials = list(study.trials)
    position: dict[int | None, int] = {trial.number: at for at, trial in enumerate(trials)}

    def encode(config: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(indices[name][_key(plain_value(config[name]))] for name in names)

    points = tuple(point_of(trial, encode(trial.config), position.get(trial.duplicate_of, -1)) for trial in trials)
    taken = {point.config for point in points}
    holes = ()
    if len(taken) < len(study.space) <= _MAX_LISTED:
        refused = ((encode(config), reason) for config, reason in study.space.points() if reason is not None)
        holes = tuple(Hole(config, reason) for config, reason in refused if config not in taken)
    best, progress = study.best, study.progress
    chosen = next((at for at, trial in enumerate(trials) if trial.config == choice), -1) if choice is not None else -1
    notes = [*study.remarks(), *([f"failed with an error: {study.error}"] if study.error is not None else [])]
    axes = tuple(Parameter(name, tuple(values)) for name, values in names.items())
    return SweepView(
        study.kernel.name,
        study.target,
        _device(study.environment),
        axes,
        points,
        holes,
        Progress(progress.done, progress.total, progress.seconds_left, study.state),
        -1 if best is None else position.get(best.number, -1),
        chosen,
        tuple(notes),
    )


def _device(environment: Mapping[str, str]) -> str:
    name = environment.get("gpu") or environment.get("device") or "?"
    return f"model of {name}" if environment.get("kind") == "modeled" else name


def _key(value: Any) -> tuple[type, Any]:
    return type(value), value  # 1 and True are different values


class Sweep:
    """A study with its view, for scripts and terminals. The widget of notebooks derives from it.

    Attributes:
        study: the `pyptx.tune.Study`.
        choice: the configuration chosen by `use` or by a click; None before.
    """

    def __init__(self, study: Study):
        self.study = study
        self.choice: dict[str, Any] | None = None

    @property
    def best(self) -> Trial | None:
        """The best trial so far; None before the first result."""
        return self.study.best

    def view(self) -> SweepView:
        """Return the view of its current state."""
        return sweep_view(self.study, self.choice)

    def pause(self) -> None:
        """Start no more trials until `resume`."""
        self.study.pause()

    def resume(self) -> None:
        """Resume after `pause` or `stop`, also in another session: results are stored."""
        self.study.resume()

    def stop(self) -> None:
        """Stop the run; results so far are stored."""
        self.study.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of the run; return False after `timeout` seconds. Raises the error that ended the run."""
        return self.study.wait(timeout)

    def use(self, config: Mapping[str, Any] | int | None = None) -> dict[str, Any]:
        """Use a configuration, by default the best one, in later calls of the kernel; see `Study.use`.

        Args:
            config: values of the parameters, or the number of a point.
        Returns:
            The configuration, which is also the new `choice`.
        Raises:
            OptionError, BoundsError: there is no such point, or it has no time.
        """
        trial = self._chosen(config)
        self.study.use(trial)
        self.choice = dict(trial.config)
        return self.choice

    def restore_defaults(self) -> None:
        """Undo `use`: later calls use the kernel's declared defaults."""
        self.study.restore_defaults()
        self.choice = None

    def edit(self, config: Mapping[str, Any] | int | None = None) -> SourceEdit:
        """Return the edit of the kernel's source that makes a configuration, by default the best one, its defaults.

        Nothing is written: print it, or use *Write into the cell* in a notebook.

        Raises:
            OptionError, BoundsError: as for `use`.
            InputError: the source is unavailable, or a parameter has no default in the signature.
        """
        return edited_defaults(self.study.kernel.declaration.function, self._chosen(config).config)

    def trial(self, number: int) -> Trial:
        """Return the trial of a point of the view.

        Raises:
            BoundsError: there is no such point.
        """
        if not 0 <= number < len(self.study.trials):
            raise BoundsError(f"there is no point {number}; there are {len(self.study.trials)}")
        return self.study.trials[number]

    def linked(self, number: int) -> LinkedView:
        """Return the linked view of a point.

        Raises:
            PtxError, ValueError: the configuration is refused.
        """
        trial = self.trial(number)
        return linked(trial.compiled(), title=f"{self.study.kernel.name} {trial.label}", **self._launch_sizes(trial))

    def diff(self, first: int, second: int) -> Diff:
        """Compare the machine code of two points.

        Raises:
            PtxError, ValueError: one of the configurations is refused.
        """
        trials = self.trial(first), self.trial(second)
        one, other = (trial.compiled() for trial in trials)
        titles = trials[0].label, trials[1].label
        return compare(DiffOperand(one), DiffOperand(other), titles=titles, **self._launch_sizes(trials[0]))

    def compare(self, *numbers: int) -> ComparisonTable:
        """Compare points side by side, by default the five fastest: registers, occupancy, instructions, time.

        Raises:
            BoundsError: there is no such point.
        """
        timed = sorted((trial.seconds, at) for at, trial in enumerate(self.study.trials) if trial.seconds is not None)
        trials = [self.trial(number) for number in numbers or [at for _, at in timed[:5]]]
        return table_of(self.study.kernel.name, [self._candidate(trial) for trial in trials])

    def _candidate(self, trial: Trial) -> Candidate:
        try:
            operand = DiffOperand(trial.compiled(), **self._launch_sizes(trial))
        except PtxError as error:
            return Candidate(trial.label, self.study.target, None, problem=error.message)
        return Candidate(trial.label, self.study.target, operand, trial.seconds, kind=trial.kind or "modeled")

    def roofline(self, level: str | None = None) -> Roofline:
        """Return the roofline of all points that have a time; see `pyptx.tune.rooflines.of_study`."""
        return of_study(self.study, level=level)

    def _chosen(self, config: Mapping[str, Any] | int | None) -> Trial:
        if config is None:
            if self.study.best is None:
                raise OptionError("no point has a time yet")
            return self.study.best
        if isinstance(config, int):
            return self.trial(config)
        trial = self.study.trial(config)
        if trial is None:
            raise OptionError(f"{dict(config)} is not a point of this sweep")
        return trial

    def _launch_sizes(self, trial: Trial) -> dict[str, Any]:
        """Return the sizes that determine the occupancy in a view."""
        kernel = self.study.kernel
        return {
            "block": kernel.block_of(self.study.problem.specialize(trial.config)),
            "dynamic_shared_bytes": kernel.smem,
        }

    def run(self, out: IO[str] | None = None, every_s: float = 1.0) -> None:
        """Run to the end with one line of progress, rewritten in place on a terminal.

        Args:
            out: default: stderr.
            every_s: interval between updates in seconds; ten times that when `out` is not a terminal.
        Raises:
            KeyboardInterrupt: Ctrl-C was pressed; results so far are stored, and the same sweep resumes later.
        """
        out = out or sys.stderr
        assert out is not None, "stderr is closed"
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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.view()._repr_mimebundle_()
