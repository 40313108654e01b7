"""Sessions: while one is active, Triton kernels run on the simulator."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyptx.check import CheckError, Report
from pyptx.check.ignored import checked_rules
from pyptx.errors import BackendError, OptionError
from pyptx.launch_config import LaunchConfig
from pyptx.runtime import options, use
from pyptx.triton.modeled_times import modeled_seconds
from pyptx.triton.targets import DEFAULT, TritonTarget, parse
from pyptx.triton.versions import require_triton
from pyptx.workbench.program import Entry

if TYPE_CHECKING:
    from pyptx.runtime import LaunchResult
    from pyptx.triton.loading import TritonEntry
    from pyptx.triton.stages import CompilerStages

__all__ = ["Simulation", "activate", "active_session", "current_session", "deactivate", "simulate"]

VARIABLE = "PYPTX_TRITON"

LaunchObserver = Callable[[Entry, LaunchConfig, Sequence[Any], "CompilerStages"], None]

_active: list[Simulation] = []


class Simulation:
    """A simulated device for Triton.

    Attributes:
        target: the target that kernels are compiled for.
        reports: the reports of checked launches, in order.
        last_entry: the entry of the last launch.
        launched: called after each launch that was executed.
        capture: called with each launch instead of executing it; None: launches are executed.
    """

    def __init__(
        self,
        target: TritonTarget,
        check: bool | str,
        ignore: Mapping[str, str],
        check_options: Mapping[str, Any],
        settings: Mapping[str, Any],
        torch_cuda: bool = False,
        autotune: str = "modeled",
    ):
        from pyptx.triton.torch_device import TorchDevice
        from pyptx.triton.triton_hooks import TritonHooks

        self.target, self.reports, self.last_entry = target, list[Report](), None
        self._check, self._ignore, self._check_options, self._options = check, ignore, check_options, settings
        self.launched: LaunchObserver | None = None
        self._modeled: list[float] | None = None
        self.capture: LaunchObserver | None = None
        self._autotune, self._choices = autotune, 0
        self._hooks = TritonHooks(target, self.model_ahead)
        self._torch = TorchDevice(target) if torch_cuda else None

    @property
    def driver(self) -> Any:
        """The Triton driver."""
        return self._hooks.driver

    def begin(self) -> None:
        """Install the driver."""
        self._hooks.install()
        if self._torch is not None:
            self._torch.install()
        _active.append(self)

    def end(self) -> None:
        """Restore the driver that was active before."""
        if self in _active:
            _active.remove(self)
            if self._torch is not None:
                self._torch.remove()
            self._hooks.remove()

    def launch(
        self, entry: Entry, config: LaunchConfig, values: Sequence[Any], stages: CompilerStages
    ) -> LaunchResult | None:
        """Execute a launch that Triton hands over; while times are modeled, predict its time instead.

        Raises:
            CheckError: launches are checked, and this one has findings.
        """
        settings = {**options(), **self._options}
        if "reachable" in settings:
            config = replace(config, reachable=settings.pop("reachable"))
        if self._modeled is not None:
            self._modeled.append(modeled_seconds(entry, config, values))
            return None
        if self.capture is not None:
            self.capture(entry, config, values, stages)
            return None
        self.last_entry = entry
        with use("sim", **settings):
            result = self._run(entry, config, values)
        if self.launched is not None:
            self.launched(entry, config, values, stages)
        return result

    def _run(self, entry: Entry, config: LaunchConfig, values: Sequence[Any]) -> LaunchResult:
        if self._check:
            report = entry.check(config, *values, ignore=self._ignore, **self._check_options)
            self.reports.append(report)
            if not report.ok and self._check != "report":
                raise CheckError(report)
        return entry.launch(config, *values)

    def modeled_seconds(self, call: Callable[[], Any]) -> float:
        """Return the modeled time of the launches that a call makes; they are not executed.

        With `autotune="first"` the call is not made, and the first one has the shortest time.
        """
        if self._autotune == "first":
            self._choices += 1
            return float(self._choices)
        return sum(self._while_modeled(call))

    def model_ahead(self, call: Callable[[], Any]) -> None:
        """Make a call whose launches are modeled, for the cache of times; with `autotune="first"` do nothing."""
        if self._autotune != "first":
            self._while_modeled(call)

    def _while_modeled(self, call: Callable[[], Any]) -> list[float]:
        before, self._modeled = self._modeled, []
        try:
            call()
            return self._modeled
        finally:
            self._modeled = before


class simulate:
    """Run Triton kernels on the simulator in a `with` block.

    Args:
        target: "sm_80", "sm_89", "sm_90a", "sm_100a" or "sm_120a", what the kernels are compiled for.
        check: True: run every launch under the sanitizer in several schedules first, and raise its findings at the Triton
            line; "report": only collect the reports, in `reports`.
        ignore: rules of findings that do not fail a check, with the reason, as for `Entry.check`.
        keep_launches: keep every launch in `launches`, with its arrays.
        autotune: "modeled": Triton's autotuner chooses the configuration with the shortest modeled time; "first": it takes
            the first one, which compiles no other.
        torch_cuda: let torch report a GPU of the target, and place on the CPU what is asked for on "cuda": for code that
            asks torch for a device.
        schedules, random, seed: schedules of checks, as for `Entry.check`.
        options: options of the simulator, such as `schedule="random"`, `seed=1` or `threads=4`; `reachable=`, the arrays
            whose addresses, of `pyptx.pointer`, a kernel reads from memory.
    Raises:
        BackendError: Triton is not installed, or its version is not supported.
        OptionError: Triton kernels are not simulated for this target; or an ignored rule does not exist or has no reason.
    """

    def __init__(
        self,
        target: str = DEFAULT,
        *,
        check: bool | str = False,
        ignore: Mapping[str, str] | None = None,
        schedules: Sequence[str] = ("eager", "late"),
        random: int = 4,
        keep_launches: bool = False,
        torch_cuda: bool = False,
        autotune: str = "modeled",
        **options: Any,
    ):
        if check not in (True, False, "report"):
            raise OptionError(f"check={check!r}; expected True, False or 'report'")
        if autotune not in ("modeled", "first"):
            raise OptionError(f"autotune={autotune!r}; expected 'modeled' or 'first'")
        require_triton()
        ignore = checked_rules(ignore)
        checked = {"schedules": schedules, "random": random, "seed": options.get("seed", 0)}
        self._session = Simulation(parse(target), check, ignore, checked, options, torch_cuda, autotune)
        self.launches: list[TritonEntry] = []
        if keep_launches:
            self._session.launched = self._keep

    def _keep(self, entry: Entry, config: LaunchConfig, values: Sequence[Any], stages: CompilerStages) -> None:
        from pyptx.triton.loading import TritonEntry

        self.launches.append(TritonEntry(entry, config, values, stages))

    @property
    def reports(self) -> list[Report]:
        """The reports of checked launches, in order."""
        return self._session.reports

    @property
    def last_entry(self) -> Entry | None:
        """The entry of the last launch, with `view`, `counters` and `last_run`; None before the first."""
        return self._session.last_entry

    @property
    def driver(self) -> Any:
        """The Triton driver of the session."""
        return self._session.driver

    def __enter__(self) -> simulate:
        self._session.begin()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._session.end()


def activate(target: str | None = None, **options: Any) -> simulate:
    """Run Triton kernels on the simulator until `deactivate`; arguments as for `simulate`.

    Args:
        target: default: that of the environment variable PYPTX_TRITON, else "sm_90a".
    """
    deactivate()
    session = simulate(target or os.environ.get(VARIABLE) or DEFAULT, **options)
    session.__enter__()
    _activated.append(session)
    return session


def deactivate() -> None:
    """Undo `activate`."""
    while _activated:
        _activated.pop().__exit__()


_activated: list[simulate] = []


def current_session() -> Simulation | None:
    """Return the innermost session; None if none is active."""
    return _active[-1] if _active else None


def active_session() -> Simulation:
    """Return the innermost session.

    Raises:
        BackendError: none is active.
    """
    if not _active:
        raise BackendError(
            "a Triton kernel was compiled for the simulator and is launched outside of it",
            hint="launch it inside `with pyptx.triton.simulate(...)`, or call pyptx.triton.activate()",
        )
    return _active[-1]
