"""A stopped launch to inspect: what runs, the focus, CTAs and warps, names and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyptx.check.argument_copies import copy_launch
from pyptx.debug.errors import DebugError
from pyptx.debug.expressions import Expression
from pyptx.debug.inspect.python_names import PythonNames, trace_python_names
from pyptx.debug.inspect.source_variables import SourceVariables, source_variables
from pyptx.debug.inspect.warp_state import WarpState
from pyptx.debug.source_lines import SourceLines
from pyptx.debug.stops import Focus
from pyptx.jit.specialization import Specialization
from pyptx.runtime import LaunchPlan, runtime_for
from pyptx.sim import Program
from pyptx.sim.core.debug import Machine
from pyptx.sim.core.debug_state import EventKind, ResidentCta
from pyptx.sim.debug import DebugLaunch
from pyptx.sim.faults.deadlocks import Group
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.sim.plan import SCHEDULES, Plan
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["CTA", "StoppedLaunch"]

CTA = int | tuple[int, ...] | None

_SETTINGS = ("max_steps", "tensor_cores", "sanitize")  # of the simulator


class StoppedLaunch:
    """A launch on the simulator that is stopped between two instructions.

    Attributes:
        run: the simulator's launch.
        lines: source lines of the instructions.
        focus: the CTA, warp, and lane that are inspected.
        shared_types: PTX element type and shape of shared variables by PTX name, where the source has them.
    """

    specialization: Specialization
    run: DebugLaunch
    lines: SourceLines
    focus: Focus
    shared_types: Mapping[str, tuple[str, tuple[int, ...]]]

    def __init__(
        self,
        specialization: Specialization,
        plan: LaunchPlan,
        args: Sequence[Any],
        *,
        schedule: str = "eager",
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        trace: Callable[[], Specialization] | None = None,
    ):
        if schedule not in SCHEDULES:
            raise DebugError(f"schedule {schedule!r}; expected {', '.join(map(repr, SCHEDULES))}")
        specialization.require_valid()
        self.specialization, self._trace = specialization, trace
        program = specialization.program(runtime_for((), "sim"))
        self._args, self._reachable = copy_launch(args, settings or {})
        settings = {k: v for k, v in (settings or {}).items() if k in _SETTINGS and v is not None}
        self.run = DebugLaunch(
            program,
            plan.grid,
            plan.block,
            self._args,
            cluster=plan.cluster,
            smem_bytes=plan.smem_bytes,
            reachable=self._reachable,
            schedule=schedule,
            seed=seed,
            **settings,
        )
        self.lines = SourceLines(specialization, program)
        self.focus = Focus(0, 0)
        self._names: PythonNames | SourceVariables | None = None
        self._names_known = False
        self.shared_types = {}

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.specialization.title

    @property
    def step_number(self) -> int:
        """Warp-instructions started so far, in the whole grid."""
        return self.machine.step

    @property
    def machine(self) -> Machine:
        """The simulator core that runs the launch; another object after a restart from step 0."""
        return self.run.machine

    @property
    def program(self) -> Program:
        """The program that runs."""
        return self.run.program

    @property
    def plan(self) -> Plan:
        """Grid, block, cluster, and schedule."""
        return self.run.plan

    @property
    def names(self) -> PythonNames | SourceVariables | None:
        """Variables of the kernel in Python, or in C++ compiled with -G; None for other PTX."""
        if not self._names_known:
            self._names_known = True
            if self._trace is not None:
                self._names = trace_python_names(self._trace, self.specialization, self.program)
            else:
                self._names = source_variables(self.specialization.module, self.program)
        return self._names

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments by parameter name; arrays are the session's own copies."""
        found: dict[str, Any] = {}
        for parameter, arg in zip(self.specialization.entry.params, self._args, strict=False):
            if not isinstance(arg, TensorMap) or parameter.name.removesuffix("_tma_desc") not in found:
                if isinstance(arg, ArrayPointer):
                    found[arg.name or parameter.name] = arg.array
                    continue
                found[parameter.name] = arg.source if isinstance(arg, (TensorMap, Texture, Surface)) else arg
        return found

    def resident(self, cta: int) -> ResidentCta | None:
        """Return the running CTA with this number, or None."""
        return next((r for r in self.machine.residents() if r.id == cta), None)

    def group(self, cta: int, warp: int) -> Group | None:
        """Return the lanes of a warp to inspect: those about to run, else those that are ready, else those waiting."""
        resident = self.resident(cta)
        if resident is None or not 0 <= warp < self.plan.warps:
            return None
        groups = list(resident.groups(warp))
        turn = self.machine.position
        if turn is not None and (turn.cta, turn.warp) == (cta, warp):
            here = [g for g in groups if g.instruction == turn.instruction]
            return here[0] if here else Group(cta, warp, turn.lanes, turn.instruction, "ready")
        return next((g for g in groups if g.state == "ready"), groups[0] if groups else None)

    @property
    def focused_group(self) -> Group | None:
        """The lanes to inspect of the focused warp; None when it is not running."""
        return self.group(*self.focus.cta_warp)

    def warp_state(self, cta: int | None = None, warp: int | None = None) -> WarpState:
        """Return registers and memory of a warp, by default of the focused one.

        Raises:
            DebugError: its CTA is not running.
        """
        cta, warp = self.focus.cta if cta is None else cta, self.focus.warp if warp is None else warp
        resident, group = self.resident(cta), self.group(cta, warp)
        if resident is None:
            raise DebugError(
                f"CTA {self.cta_text(cta)} is not running",
                hint="go back to a step at which it runs: back, rewind, goto STEP",
            )
        turn = self.machine.position
        at = group.instruction if group is not None else turn.instruction if turn else 0
        lanes = group.lanes if group is not None else 0
        return WarpState(self.run, self.names, self.arguments, resident, warp, at, lanes, self.shared_types)

    def evaluate(self, text: str) -> Any:
        """Return the value of an expression for the focused warp; of arguments only, when its CTA is not running.

        Raises:
            DebugError: the expression is invalid, or a name is not defined.
        """
        if self.resident(self.focus.cta) is not None:
            return Expression(text).value(self.warp_state().lookup)
        arguments = self.arguments
        return Expression(text).value(
            lambda name: arguments[name] if name in arguments else self.warp_state().lookup(name)
        )

    # CTAs -------------------------------------------------------------------------------------------------------------

    def cta_number(self, cta: CTA) -> int | None:
        """Return the linear index of a CTA given as that index or as its coordinates in the grid.

        Raises:
            DebugError: the grid has no such CTA.
        """
        if cta is None:
            return None
        grid = self.plan.grid
        if isinstance(cta, Sequence):
            at = (*map(int, cta), 0, 0)[:3]
            number = at[0] + grid[0] * (at[1] + grid[1] * at[2])
            inside = all(0 <= k < size for k, size in zip(at, grid, strict=True))
        else:
            number = int(cta)
            inside = 0 <= number < self.plan.ctas
        if not inside:
            raise DebugError(f"no CTA {cta}; the grid is {' x '.join(map(str, grid))}")
        return number

    def cta_coordinates(self, cta: int) -> tuple[int, int, int]:
        """Return the coordinates (x, y, z) of a CTA in the grid."""
        x, y, _ = self.plan.grid
        return cta % x, cta // x % y, cta // (x * y)

    def cta_text(self, cta: int) -> str:
        """Return a CTA as text: its number in a one-dimensional grid, else its coordinates."""
        at = self.cta_coordinates(cta)
        return str(at[0]) if self.plan.grid[1:] == (1, 1) else f"({', '.join(map(str, at))})"

    def warp_steps(self) -> dict[tuple[int, int], int]:
        """Return the instructions each warp started so far, by (CTA, warp), as far as events are retained."""
        events, _ = self.machine.events()
        found: dict[tuple[int, int], int] = {}
        began: dict[tuple[int, int], int] = {}
        for step, cta, kind, warp, *_ in events.tolist():
            if kind == EventKind.TURN_STARTED:
                began[cta, warp] = step
            elif kind == EventKind.TURN_ENDED and (cta, warp) in began:
                found[cta, warp] = found.get((cta, warp), 0) + step - began.pop((cta, warp))
        for key, step in began.items():
            found[key] = found.get(key, 0) + self.step_number - step
        return found
