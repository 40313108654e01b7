"""A sweep as a value: its trials, how far it is, what is best; run here or in the background, stopped and resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pyptx.compiled import Compiled
from pyptx.kernel import Kernel
from pyptx.runtime.arrays import arrays_of
from pyptx.tune import exports, results, tables
from pyptx.tune.background import Background
from pyptx.tune.book import Book
from pyptx.tune.budget import Budget, budget_of
from pyptx.tune.checking import CHECK_MOST, Checker
from pyptx.tune.comparing import Tolerance
from pyptx.tune.control import Control
from pyptx.tune.listeners import Listeners
from pyptx.tune.measured import Measured
from pyptx.tune.places import key_of as key_of_problem
from pyptx.tune.problem import Problem
from pyptx.tune.running import Run
from pyptx.tune.space import Space, SpaceError
from pyptx.tune.strategies import strategy_of
from pyptx.tune.trial import Trial

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
        self.space.check_names(kernel.name, self.problem.template)
        if twice := [name for name in self.space.names if name in (params or {})]:
            raise SpaceError(f"{', '.join(twice)} is in the space and in params")
        name, searching, most = strategy_of(strategy, self.space, seed=seed)
        if name == "model" and self.on_gpu:             # it looks at all, and measures so many
            super().__init__(objective, (name, searching, None))
        else:
            super().__init__(objective, (name, searching, self.budget.trials or most))
        self.options, self.spills, self.limit_s = tuple(options), spills, limit_s
        self.workers, self.cluster, self.gpu = workers, cluster, gpu
        self.notes: list[str] = []
        self.checker = self._checker(reference, check_args, Tolerance(rtol, atol))
        self._state, self._listeners = "new", Listeners()
        self._run = self._runner()
        self._background = Background(f"tuning {kernel.name}", lambda: self._run.work(), self._set_state,
                                      self._look_again, self._lock)
        self.key = key_of_problem(self.problem, gpu, self.options, cluster)
        self._list_trials(results.load(self.key, self._checked_with) if resume else {})

    # what there is ----------------------------------------------------------------------------------------------------

    @property
    def on_gpu(self) -> bool:
        """Whether times are measured."""
        return self.problem.runtime.name == "cuda"

    @property
    def progress(self) -> Progress:
        """How many configurations are done, of how many, and about how long the rest takes, in seconds."""
        with self._lock:
            done, total = sum(map(self._run.done, self.trials)), self._total()
            left = total - done
            if not left or self.state == "finished":
                return Progress(done, total, 0.0)
            if self.state != "running" or not self._finished:
                return Progress(done, total, None)
            return Progress(done, total, self._background.clock.seconds / self._finished * left)

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
            if not self._background.running:
                self._finished = 0
                self._background.start()
        return self

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it ends, or so many seconds; whether it has ended. Raises what ended it, when something did."""
        return self._background.wait(timeout)

    def pause(self) -> None:
        """Begin nothing new until `resume`; what is in work is finished."""
        self._background.pause()

    def resume(self) -> Study:
        """Go on after `pause` or `stop`."""
        return self if self._background.go_on() else self.start()

    def stop(self) -> None:
        """End the run now; trials in work are begun again by the next one. Waits for it, except in a subscriber."""
        self._background.stop()
        self._run.interrupt()
        if not self._listeners.called_here:             # a subscriber is called by a thread of the run
            self._background.ended()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call a function on every change, from the thread that made it; the function returned ends that."""
        return self._listeners.add(callback)

    # for the run ------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """"new", "running", "paused", "stopped", "finished", "failed"."""
        return self._state

    @property
    def error(self) -> BaseException | None:
        """What ended the newest run."""
        return self._background.error

    @property
    def control(self) -> Control:
        """What the threads of a run look at between two steps."""
        return self._background.control

    @property
    def out_of_time(self) -> bool:
        """Whether the time of its budget is used up."""
        return self.budget.seconds is not None and self._background.clock.seconds > self.budget.seconds

    def _set_state(self, state: str) -> None:
        if state not in ("running", "paused"):
            for trial in self.trials:
                if not trial.done:
                    trial.state = "queued"
        self._state = state
        self._tell("state")

    def _tell(self, kind: str, trial: Trial | None = None) -> None:
        self._listeners.tell(Event(kind, self, trial))

    # what it was given ------------------------------------------------------------------------------------------------

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
