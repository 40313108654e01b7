"""A tuning study: configurations of a kernel, their results, and the run that produces them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyptx.assembly import Assembly
from pyptx.errors import OptionError
from pyptx.jit import JitKernel
from pyptx.runtime.arrays import arrays_of
from pyptx.tune import display, exports, result_store
from pyptx.tune.background import BackgroundRun, Control, Subscribers
from pyptx.tune.clusters import OtherMachine, machine_of
from pyptx.tune.correctness import MAX_SIMULATED_ELEMENTS, Checker, Tolerance
from pyptx.tune.environment import study_key
from pyptx.tune.gpu_runner import GpuRunner
from pyptx.tune.points import resolution_note
from pyptx.tune.problem import Problem
from pyptx.tune.result_store import Key
from pyptx.tune.runner import Runner
from pyptx.tune.space import Space, SpaceError
from pyptx.tune.strategies import Budget, make_strategy, parse_budget
from pyptx.tune.trial import Trial, config_key
from pyptx.tune.trial_table import Objective, TrialTable

if TYPE_CHECKING:
    from pyptx.analysis.gpus import Gpu
    from pyptx.views import Roofline

__all__ = ["Event", "Progress", "Study"]


class Progress(NamedTuple):
    """Completed trials, all trials, and an estimate of the seconds left (None: unknown)."""

    done: int
    total: int
    seconds_left: float | None


class Event(NamedTuple):
    """A change reported to subscribers.

    Attributes:
        kind: "trial" (its state changed), "added" (a new trial) or "state" (the study's state changed).
        study: the study.
        trial: the trial of "trial" and "added".
    """

    kind: str
    study: Study
    trial: Trial | None = None


class Study:
    """Configurations of a kernel, tried out.

    With arrays on a GPU, times are measured there. With NumPy arrays, or sizes only, every configuration is assembled,
    run on the simulator and timed by the performance model; its time is labeled "modeled".

    Args:
        kernel: a kernel with template parameters.
        space: a Space, or a mapping from parameters to values.
        args: input arrays, or sizes for random ones: {"M": 4096, "N": 4096, "K": 4096}.
        reference: the expected outputs: a function of the inputs, or arrays; None: only faults are detected.
        check_args: arrays or sizes for the correctness check, when there is no GPU and the problem is too large to
            simulate quickly. A reference that is a function is called with them.
        budget: a number of configurations, or a time such as "10min".
        strategy: "grid": every configuration; "random"; "tpe": Optuna's search; "model": on a GPU, only the
            configurations the model ranks best are measured; "auto": the grid of a small space, a search of a large one.
        objective: "time", or a function of a Trial; lower is better.
        params: template and raw parameters that are the same for all configurations.
        gpu: the GPU to model, such as "H200"; default: the usual one of the kernel's target.
        options: ptxas options.
        spills: accept configurations that spill registers instead of refusing them.
        rtol, atol: tolerances of the correctness check; default: by type.
        limit_s: time limit in seconds for one run of one configuration; beyond it the configuration counts as hanging.
        workers: configurations prepared in parallel; default: the available CPUs.
        cluster: where the study runs: the address of another machine, "ssh://user@host"; a Dask client or the address
            of a scheduler, whose workers measure, each on its own device. Default: the machine of `pyptx.use`, else this.
        resume: reuse stored results of this problem on this device; False: try everything again.
        seed: seed of random inputs, orders and searches.
    Attributes:
        problem: the kernel with its arguments.
        space: the configurations, with the problem's sizes.
        table: the trials.
        checker: the correctness check; None where nothing can be checked.
        notes: remarks for the reader, such as why results are not checked.
        key: the key under which results are stored.
        machine: the other machine that runs it, or None.
    Raises:
        SpaceError, OptionError, OperandError, LaunchError: the arguments do not fit together.
    """

    problem: Problem
    budget: Budget
    kernel: JitKernel
    seed: int
    space: Space
    table: TrialTable
    limit_s: float
    options: tuple[str, ...]
    spills: bool
    cluster: Any
    gpu: str | None
    workers: int | None
    checker: Checker | None
    key: Key
    machine: OtherMachine | None

    def __init__(
        self,
        kernel: JitKernel,
        space: Space | Mapping[str, Iterable[Any]],
        args: Any,
        *,
        reference: Any = None,
        check_args: Any = None,
        budget: Budget | int | str | None = None,
        strategy: str = "auto",
        objective: Objective = "time",
        params: Mapping[str, Any] | None = None,
        gpu: str | None = None,
        options: Sequence[str] = (),
        spills: bool = False,
        rtol: float | None = None,
        atol: float | None = None,
        limit_s: float = 60.0,
        workers: int | None = None,
        cluster: Any = None,
        resume: bool = True,
        seed: int = 0,
    ):
        self.problem = Problem(kernel, args if isinstance(args, Mapping) else _as_tuple(args), params, seed=seed)
        self.kernel, self.budget, self.seed = kernel, parse_budget(budget), seed
        self.machine = machine_of(cluster, self.problem.runtime)
        self.space = Space.of(space).given(**self.problem.sizes, **(params or {}))
        self.space.check_names(kernel.name, self.problem.template)
        if repeated := [name for name in self.space.names if name in (params or {})]:
            raise SpaceError(f"{', '.join(repeated)} is in the space and in params")
        search = make_strategy(strategy, self.space, seed=seed)
        if search.name == "model" and self.on_gpu:  # the model looks at all; the budget limits what is measured
            search = replace(search, max_trials=None)
        elif self.budget.trials is not None:
            search = replace(search, max_trials=self.budget.trials)
        self.table = TrialTable(
            self.space,
            search,
            objective,
            compile_config=self.compiled,
            on_added=lambda trial: self._notify("added", trial),
        )
        self.options, self.spills, self.limit_s = tuple(options), spills, limit_s
        self.workers, self.cluster, self.gpu = workers, cluster, gpu
        self.notes: list[str] = [search.note] if search.note else []
        if self.machine is not None and self.on_gpu:
            about = self.machine.device()
            of = "a simulated GPU there, not measurements" if about.get("simulated") else "the GPU there"
            self.notes.append(f"run on {self.machine.name}: times are those of {of} ({about['name']})")
        self.checker = self._make_checker(reference, check_args, Tolerance(rtol, atol))
        self._state, self._subscribers = "new", Subscribers()
        self._runner = self._make_runner()
        self._background = BackgroundRun(
            f"tuning {kernel.name}",
            lambda: self._runner.work(),
            self._set_state,
            self._forget_stored_choice,
            self.table.lock,
        )
        self.key = study_key(self.problem, gpu, self.options, cluster, self.machine)
        stored = result_store.load(self.key, self._checked_with) if resume else {}
        self.table.populate({key: row for key, row in stored.items() if self._is_valid(row)})

    # results ----------------------------------------------------------------------------------------------------------

    @property
    def trials(self) -> list[Trial]:
        """All trials, in order of number."""
        return self.table.trials

    @property
    def strategy(self) -> str:
        """Name of the search strategy, "auto" resolved."""
        return self.table.search.name

    @property
    def best(self) -> Trial | None:
        """The trial with the lowest objective; measured trials take precedence over modeled ones."""
        return self.table.best()

    @property
    def on_gpu(self) -> bool:
        """True when times are measured."""
        return self.problem.runtime.name == "cuda" if self.machine is None else self.machine.measures

    @property
    def progress(self) -> Progress:
        """Completed trials, all trials, and an estimate of the time left in seconds."""
        with self.table.lock:
            done, total = sum(map(self._runner.done, self.trials)), self.table.expected_total()
            left = total - done
            if not left or self.state == "finished":
                return Progress(done, total, 0.0)
            if self.state != "running" or not self.table.finished:
                return Progress(done, total, None)
            return Progress(done, total, self._background.clock.seconds / self.table.finished * left)

    def value(self, trial: Trial) -> float:
        """Return the objective of a trial that has a time; lower is better."""
        return self.table.value(trial)

    def trial(self, config: Mapping[str, Any]) -> Trial | None:
        """Return the trial of a configuration; None when there is none yet."""
        return self.table.by_key.get(config_key(config))

    def remarks(self) -> list[str]:
        """Return `notes`, and how many configurations the performance model does not distinguish from the best one."""
        near = resolution_note(list(self.trials), self.best) if self.table.objective == "time" else ""
        return [*self.notes, near] if near else list(self.notes)

    def counts(self) -> dict[str, int]:
        """Number of trials in each state that occurs."""
        return self.table.counts()

    def compiled(self, config: Mapping[str, Any]) -> Assembly:
        """Return the machine code of a configuration, for the problem's sizes."""
        return self.problem.specialize(config).compile(self.options, arch=self._runner.target)

    def use(self, trial: Trial) -> None:
        """Use the configuration of this trial in later calls of the kernel.

        It becomes the kernel's defaults in this process, and the choice of `@autotune` for this problem and device, even
        if another trial is faster.

        Raises:
            OptionError: the trial has no time, so it is not known to run.
        """
        if trial.seconds is None or trial.state in ("wrong", "failed", "refused"):
            raise OptionError(
                f"{trial.label} is {trial.state}{f': {trial.reason}' if trial.reason else ''}; "
                "only a configuration with a time can be used"
            )
        result_store.choose(self.key, trial)
        self.kernel.defaults(trial.config)
        self._forget_stored_choice()

    def restore_defaults(self) -> None:
        """Undo `use`: calls use the kernel's declared defaults again, and `@autotune` the fastest trial."""
        result_store.choose(self.key, None)
        self.kernel.defaults(None)
        self._forget_stored_choice()

    def _forget_stored_choice(self) -> None:
        """Invalidate what a kernel with `@autotune` has read from the store."""
        if (forget := getattr(self.kernel, "forget", None)) is not None:
            forget()

    # running ----------------------------------------------------------------------------------------------------------

    def run(self) -> Study:
        """Run until all trials are done or the budget is used up; stored results are reused.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed. Results so far are stored; `run` resumes with the rest.
            MissingToolError, and whatever the reference raises: no trial can be run.
        """
        self.start()
        try:
            self.wait()
        except BaseException:
            self.stop()
            raise
        return self

    def start(self) -> Study:
        """Run in a background thread; return at once."""
        with self.table.lock:
            if not self._background.running:
                self.table.finished = 0
                self._background.start()
        return self

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of the run; return False after `timeout` seconds. Raises the error that ended the run."""
        return self._background.wait(timeout)

    def pause(self) -> None:
        """Start no more trials until `resume`; those in progress are completed."""
        self._background.pause()

    def resume(self) -> Study:
        """Resume after `pause` or `stop`."""
        return self if self._background.resume() else self.start()

    def stop(self) -> None:
        """Stop the run now; trials in progress are repeated by the next run. Blocks, except in a subscriber."""
        self._background.stop()
        self._runner.interrupt()
        if not self._subscribers.active_in_this_thread:  # a subscriber is called by a thread of the run
            self._background.join()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call a function on every change, from the thread that made it; the returned function unsubscribes it."""
        return self._subscribers.add(callback)

    @property
    def state(self) -> str:
        """ "new", "running", "paused", "stopped", "finished" or "failed"."""
        return self._state

    @property
    def error(self) -> BaseException | None:
        """The error that ended the last run, or None."""
        return self._background.error

    # for the runner ---------------------------------------------------------------------------------------------------

    @property
    def control(self) -> Control:
        """Pause and stop requests, polled by the threads of a run."""
        return self._background.control

    @property
    def out_of_time(self) -> bool:
        """True when the time budget is used up."""
        return self.budget.seconds is not None and self._background.clock.seconds > self.budget.seconds

    def take(self) -> Trial | None:
        """Return the next trial to run; None when there is none or the budget is used up."""
        return None if self.out_of_time else self.table.take()

    def update(self, trial: Trial) -> None:
        """Notify subscribers of a changed trial; store it when it is done."""
        if trial.done:
            self.save([trial, *self.table.finish(trial, complete=self._runner.done(trial))])
        self._notify("trial", trial)

    def save(self, trials: Sequence[Trial]) -> None:
        """Store the results of trials."""
        about = {
            "kernel": self.kernel.name,
            "problem": str(self.problem),
            "sizes": self.problem.sizes,
            "target": self.target,
        }
        rows = zip(trials, self.table.duplicate_keys(trials), strict=True)
        result_store.save(self.key, rows, about, self._checked_with)

    def _set_state(self, state: str) -> None:
        if state not in ("running", "paused"):
            for trial in self.trials:
                if not trial.done:
                    trial.state = "queued"
        self._state = state
        self._notify("state")

    def _notify(self, kind: str, trial: Trial | None = None) -> None:
        self._subscribers.notify(Event(kind, self, trial))

    # setup ------------------------------------------------------------------------------------------------------------

    def _make_checker(self, reference: Any, check_args: Any, tolerance: Tolerance) -> Checker | None:
        """Return the correctness check; None, with a note, when nothing can be checked."""
        problem = self.problem
        if check_args is not None:
            if reference is not None and not callable(reference):
                raise OptionError("check_args need a reference that is a function: arrays have the sizes of args")
            given = check_args if isinstance(check_args, Mapping) else _as_tuple(check_args)
            problem = Problem(self.kernel, given, self.problem.params, seed=self.seed)
        elif not self.on_gpu and problem.elements > MAX_SIMULATED_ELEMENTS:
            self.notes.append(
                "results are not checked: the problem is too large to simulate; pass smaller arrays or sizes as check_args="
            )
            return None
        if reference is None:
            self.notes.append("results are not compared: no reference was given")
        return Checker(problem, reference, tolerance)

    def _make_runner(self) -> Runner:
        return GpuRunner(self) if self.on_gpu else Runner(self)

    def _is_valid(self, row: Mapping[str, Any]) -> bool:
        """True when a stored result also holds under the limits of this study."""
        if row["fault"] == "spills":
            return not self.spills
        return row["fault"] != "hang" or row["measurement"].get("limit_s", 0) >= self.limit_s

    @property
    def _checked_with(self) -> str:
        return self.checker.name if self.checker else "nothing"

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment its times hold for: {"kind": "modeled", "gpu": "H200", ...}."""
        return self.key.environment

    @property
    def target(self) -> str:
        """The target configurations are assembled for, such as "sm_90a"."""
        return self._runner.target or self.kernel.arch

    # output -----------------------------------------------------------------------------------------------------------

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return a CSV table with a row for each trial; also write it to a file when `path` is given."""
        return exports.write_text(exports.to_csv_text(self), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the results in the T4 format of Kernel Tuner and related tools; also write them to `path`."""
        return exports.write_text(exports.to_t4_text(self), path)

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each trial."""
        import pandas  # pyright: ignore[reportMissingImports]  # optional

        return pandas.DataFrame(exports.trial_rows(self))

    def roofline(self, *, device: str | Gpu | None = None, level: str | None = None) -> Roofline:
        """Return the roofline of the trials that have a time; arguments as for `pyptx.tune.rooflines.of_study`."""
        from pyptx.tune.rooflines import of_study

        return of_study(self, device=device, level=level)

    def __repr__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def _as_tuple(args: Any) -> tuple[Any, ...]:
    return (args,) if arrays_of(args) is not None else tuple(args)
