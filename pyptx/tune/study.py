"""A sweep as a value: its trials, how far it is, what is best; run here or in the background, stopped and resumed."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pyptx.compiled import Compiled
from pyptx.kernel import Kernel
from pyptx.runtime.arrays import arrays_of
from pyptx.tune import exports, results, tables
from pyptx.tune.book import Book
from pyptx.tune.budget import Budget, budget_of
from pyptx.tune.checking import CHECK_MOST, Checker
from pyptx.tune.comparing import Tolerance
from pyptx.tune.control import Clock, Control
from pyptx.tune.measured import Measured
from pyptx.tune.places import key_of as key_of_problem
from pyptx.tune.problem import Problem
from pyptx.tune.running import Run
from pyptx.tune.space import Space, SpaceError
from pyptx.tune.strategies import strategy_of
from pyptx.tune.trial import Trial, key_of

__all__ = ["Event", "Progress", "Study"]

class Progress(NamedTuple):
    """Trials that are done, all of them, and an estimate of the seconds left (None: nobody knows)."""

    done: int
    total: int
    seconds_left: float | None


class Event(NamedTuple):
    """What a subscriber is told. `kind`: "trial" (its state changed), "added" (a trial), or "state" (the study's)."""

    kind: str
    study: Study
    trial: Trial | None = None


class Study(Book):
    """Configurations of a kernel, tried out.

    Arrays on a GPU: times are measured there. NumPy arrays, or sizes only: every configuration is assembled, run on the
    simulator and timed by the performance model, and its time is labelled "modelled".

    Args:
        kernel: with template parameters.
        space: a Space, or a mapping from parameters to values.
        args: input arrays, or sizes of random ones: {"M": 4096, "N": 4096, "K": 4096}.
        reference: what the outputs should be: a function of the inputs, or arrays; None: only faults are found.
        check_args: arrays or sizes of the check, when there is no GPU and those of the problem are too large to
            simulate quickly. A reference that is a function gets them.
        budget: a number of configurations, or a time such as "10min".
        strategy: "grid": every configuration; "random"; "tpe": Optuna's search; "model": on a GPU only what the model
            finds best is measured; "auto": the grid of a small space, a search of a large one.
        objective: "time", or a function of a Trial, less is better.
        params: template and raw parameters that are the same everywhere.
        gpu: whose times are modelled: a name such as "H200"; by default the one the kernel's target is of.
        options: of ptxas.
        spills: let registers spill instead of refusing the configuration.
        rtol, atol: how far results may be off; by default as their type has it.
        limit_s: seconds that one run of one configuration may take, before it counts as hanging.
        workers: configurations that are prepared at a time; default: the CPUs there are.
        cluster: a Dask client or the address of a scheduler: its workers measure, each on its own device.
        resume: take what the store has of this problem on this device; False: try everything again.
        seed: of random inputs, orders and searches.
    Raises:
        SpaceError, ValueError, TypeError, LaunchError: what was given does not fit together; says what.
    """

    def __init__(self, kernel: Kernel, space: Space | Mapping[str, Iterable[Any]], args: Any, *, reference: Any = None,
                 check_args: Any = None, budget: Budget | int | str | None = None, strategy: str = "auto",
                 objective: str | Callable[[Trial], float] = "time", params: Mapping[str, Any] | None = None,
                 gpu: str | None = None, options: Sequence[str] = (), spills: bool = False, rtol: float | None = None,
                 atol: float | None = None, limit_s: float = 60.0, workers: int | None = None, cluster: Any = None,
                 resume: bool = True, seed: int = 0):
        self.problem = Problem(kernel, args if isinstance(args, Mapping) else _tuple(args), params, seed=seed)
        self.kernel, self.budget, self.seed = kernel, budget_of(budget), seed
        self.space = Space.of(space).given(**self.problem.sizes, **(params or {}))
        self._check_names(params or {})
        if objective != "time" and not callable(objective):
            raise ValueError(f"objective {objective!r}; expected 'time' or a function of a Trial")
        self.objective, self.options, self.spills, self.limit_s = objective, tuple(options), spills, limit_s
        self.workers, self.cluster, self.gpu = workers, cluster, gpu
        self.notes: list[str] = []
        self.checker = self._checker(reference, check_args, Tolerance(rtol, atol))
        self.strategy, self._strategy, most = strategy_of(strategy, self.space, seed=seed)
        self._most = self.budget.trials or most         # the model's strategy looks at all, and measures so many
        if self.strategy == "model" and self.on_gpu:
            self._most = None
        self.state, self.error = "new", None
        self.trials: list[Trial] = []
        self.by_key: dict[str, Trial] = {}
        self._subscribers: list[Callable[[Event], None]] = []
        self._lock, self._control, self._clock = threading.RLock(), Control(), Clock()
        self._finished, self._thread, self._telling = 0, None, threading.local()
        self._ended = threading.Event()                 # not Thread.join, which Ctrl-C may take for the thread's end
        self._ended.set()
        self._run = self._runner()
        self.key = key_of_problem(self.problem, gpu, self.options, cluster)
        kept = results.load(self.key, self._checked_with) if resume else {}
        self._kept = {key: row for key, row in kept.items() if self._holds(row)}
        self._list_trials()

    # what there is ----------------------------------------------------------------------------------------------------

    @property
    def on_gpu(self) -> bool:
        """Whether times are measured."""
        return self.problem.runtime.name == "cuda"

    @property
    def best(self) -> Trial | None:
        """The trial with the least objective; measured ones go before modelled ones.

        Among measured times that the best one's interval holds, the one that takes less of the chip.
        """
        with self._lock:
            usable = [t for t in self.trials if t.usable]
        measured = [t for t in usable if t.kind == "measured"]
        best = min(measured or usable, key=lambda t: (self.value(t), _tie(t)), default=None)
        if measured and self.objective == "time" and best.interval is not None:
            best = min((t for t in measured if t.seconds <= best.interval[1] and t.measurement.get("stage") ==
                        best.measurement.get("stage") and t.measurement.get("slower") is None), key=_tie, default=best)
        return best

    @property
    def progress(self) -> Progress:
        with self._lock:
            done, total = sum(map(self._run.done, self.trials)), self._total()
            left = total - done
            if not left or self.state == "finished":
                return Progress(done, total, 0.0)
            if self.state != "running" or not self._finished:
                return Progress(done, total, None)
            return Progress(done, total, self._clock.seconds / self._finished * left)

    def value(self, trial: Trial) -> float:
        """The objective of a trial that has a time; less is better."""
        return trial.seconds if self.objective == "time" else float(self.objective(trial))

    def trial(self, config: Mapping[str, Any]) -> Trial | None:
        """The trial of a configuration; None when there is none yet."""
        return self.by_key.get(key_of(config))

    def compiled(self, config: Mapping[str, Any]) -> Compiled:
        """A configuration's machine code, for the problem's sizes."""
        return self.problem.variant(config).compile(self.options, arch=self._run.target)

    def use(self, trial: Trial) -> None:
        """Keep the trial as the one that `@autotune` takes for this problem on this device, whatever is faster.

        Raises:
            ValueError: it has no time, so nobody knows whether it runs.
        """
        if trial.seconds is None or trial.state in ("wrong", "failed", "refused"):
            raise ValueError(f"{trial.label} is {trial.state}{f': {trial.reason}' if trial.reason else ''}; "
                             "only a configuration with a time can be used")
        results.choose(self.key, trial)
        self._look_again()

    def _look_again(self) -> None:
        """A kernel with `@autotune` remembers what it found in the store; there is news."""
        if (forget := getattr(self.kernel, "forget", None)) is not None:
            forget()

    def counts(self) -> dict[str, int]:
        """How many trials are in each state that occurs."""
        with self._lock:
            found: dict[str, int] = {}
            for trial in self.trials:
                found[trial.state] = found.get(trial.state, 0) + 1
        return found

    # running ----------------------------------------------------------------------------------------------------------

    def run(self) -> Study:
        """Work until nothing is left or the budget is used up; what is stored already is not done again.

        Raises:
            KeyboardInterrupt: somebody pressed Ctrl-C. What was done is kept; `run` goes on with the rest.
            MissingToolError, and what the reference raises: nothing can be tried at all.
        """
        self.start()
        try:
            self.wait()
        except BaseException:
            self.stop()
            raise
        return self

    def start(self) -> Study:
        """As `run`, in a thread; returns at once."""
        with self._lock:
            if not self._ended.is_set():
                return self
            self._ended.clear()
            self._control.reset()
            self.error, self._finished = None, 0
            self._clock.reset()
            self._thread = threading.Thread(target=self._work, name=f"tuning {self.kernel.name}", daemon=True)
            self._set_state("running")
            self._thread.start()
        return self

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it ends, or so many seconds; whether it has ended. Raises what ended it, when something did."""
        if timeout is None:
            while not self._ended.wait(0.2):            # in slices: Ctrl-C is seen between them
                pass
        elif not self._ended.wait(timeout):
            return False
        if self.error is not None:
            raise self.error
        return True

    def pause(self) -> None:
        """Begin nothing new until `resume`; what is in work is finished."""
        with self._lock:
            if self.state == "running":
                self._control.pause()
                self._clock.hold()
                self._set_state("paused")

    def resume(self) -> Study:
        """Go on after `pause` or `stop`."""
        with self._lock:
            if self.state == "paused":
                self._clock.start()
                self._control.go_on()
                self._set_state("running")
                return self
        return self.start()

    def stop(self) -> None:
        """End the run now; trials in work are begun again by the next one. Waits for it, except in a subscriber."""
        self._control.stop()
        self._run.interrupt()
        if not getattr(self._telling, "now", False):    # a subscriber is called by a thread of the run
            self._ended.wait()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call a function on every change, from the thread that made it; the function returned ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback) if callback in self._subscribers else None

    def _work(self) -> None:
        ended = "failed"
        try:
            self._clock.start()
            self._run.work()
            ended = "stopped" if self._control.stopped else "finished"
        except Exception as error:                      # raised by `wait`, where somebody is there to see it
            self.error = error
        finally:
            self._clock.hold()
            with self._lock:
                for trial in self.trials:
                    if not trial.done:
                        trial.state = "queued"
                self._set_state(ended)
            self._look_again()
            self._ended.set()

    # for itself -------------------------------------------------------------------------------------------------------

    def _holds(self, row: Mapping[str, Any]) -> bool:
        """Whether what is stored says the same under the limits of this study."""
        if row["fault"] == "spills":
            return not self.spills
        return row["fault"] != "hang" or row["measurement"].get("limit_s", 0) >= self.limit_s

    def _set_state(self, state: str) -> None:
        self.state = state
        self._tell("state")

    def _tell(self, kind: str, trial: Trial | None = None) -> None:
        for callback in list(self._subscribers):
            outer, self._telling.now = getattr(self._telling, "now", False), True
            try:
                callback(Event(kind, self, trial))
            except Exception as error:                  # a display that breaks does not end the sweep
                warnings.warn(f"a subscriber of the study failed: {type(error).__name__}: {error}", RuntimeWarning,
                              stacklevel=2)
            finally:
                self._telling.now = outer

    # what it was given ------------------------------------------------------------------------------------------------

    def _check_names(self, params: Mapping[str, Any]) -> None:
        known = self.problem.template
        if unknown := [name for name in self.space.names if name not in known]:
            raise SpaceError(f"{self.kernel.name} has no template parameter {', '.join(unknown)}; it has "
                             f"{', '.join(known) or 'none'}")
        if twice := [name for name in self.space.names if name in params]:
            raise SpaceError(f"{', '.join(twice)} is in the space and in params")

    def _checker(self, reference: Any, check_args: Any, tolerance: Tolerance) -> Checker | None:
        """None when nothing can be checked; a note says why."""
        problem = self.problem
        if check_args is not None:
            if reference is not None and not callable(reference):
                raise ValueError("check_args need a reference that is a function: arrays have the sizes of args")
            given = check_args if isinstance(check_args, Mapping) else _tuple(check_args)
            problem = Problem(self.kernel, given, self.problem.params, seed=self.seed)
        elif not self.on_gpu and problem.elements > CHECK_MOST:
            self.notes.append("results are not checked: the problem is too large to simulate; check_args= gives "
                              "arrays or sizes for it")
            return None
        if reference is None:
            self.notes.append("results are not compared with anything: no reference was given")
        return Checker(problem, reference, tolerance)

    def _runner(self) -> Run:
        """What works for it."""
        return Measured(self) if self.on_gpu else Run(self)

    @property
    def _checked_with(self) -> str:
        return self.checker.name if self.checker else "nothing"

    @property
    def place(self) -> Mapping[str, str]:
        """What its times depend on beside the problem: {"kind": "modelled", "gpu": "H200", ...}."""
        return self.key.place

    @property
    def target(self) -> str:
        """What configurations are assembled for: "sm_90a"."""
        return self._run.target or self.kernel.arch

    # what others make of it -------------------------------------------------------------------------------------------

    def to_csv(self, path: str | Path | None = None) -> str:
        """A row for each trial; written to a file, too, when one is named."""
        return exports.written(exports.csv_text(self), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """The results in Kernel Tuner's T4 form, which its tools read."""
        return exports.written(exports.t4_text(self), path)

    def to_pandas(self) -> Any:
        """A DataFrame, a row for each trial."""
        return import_module("pandas").DataFrame(exports.rows(self))

    def roofline(self, **options: Any) -> Any:
        """All trials that have a time, under their GPU's roofs; options: `pyptx.views.rooflines.placing.of_study`."""
        return import_module("pyptx.views.rooflines.placing").of_study(self, **options)

    def __repr__(self) -> str:
        return tables.text(self)

    def _repr_html_(self) -> str:
        return tables.html(self)


def _tuple(args: Any) -> tuple[Any, ...]:
    return (args,) if arrays_of(args) is not None else tuple(args)


def _tie(trial: Trial) -> tuple:
    """Among equal times the configuration that takes less of the chip."""
    used = trial.resources
    return (used.registers, trial.shared_bytes or 0, trial.key) if used else (0, 0, trial.key)
