"""Loaded PTX: programs and their entries, with the tools of a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pyptx import validate
from pyptx.emitter import Emitted, emit_lines
from pyptx.errors import ArgumentValueError, Diagnostic, InputError, OptionError, UnknownNameError
from pyptx.ir.nodes import Function, Module, Param, VarDecl
from pyptx.ir.types import StateSpace
from pyptx.jit.launchable import ResolvedLaunch
from pyptx.jit.specialization import Specialization, device_arrays, specializations
from pyptx.launch_config import Dim3, Extent, LaunchConfig, dim3, split_launch
from pyptx.linker import link
from pyptx.parser import parse
from pyptx.runtime import LaunchResult, chosen, options, runtime_for
from pyptx.runtime.foreign_arrays import import_foreign
from pyptx.runtime.reachable import checked, staged
from pyptx.workbench.kernel import compiled_type
from pyptx.workbench.source_text import path_of, source_list
from pyptx.workbench.tools import check_launch, counters_of, debug_launch, linked_view

if TYPE_CHECKING:
    from pyptx.analysis.gpus import Gpu
    from pyptx.analysis.model.prediction import Prediction
    from pyptx.check import Report
    from pyptx.compiled import Compiled
    from pyptx.debug import Session
    from pyptx.profiles.sources import ProfileSource
    from pyptx.runtime.variables import Variable, VariableMemory
    from pyptx.views import LinkedView, Roofline
    from pyptx.views.code.ir_pane import IrLines

__all__ = ["Entry", "Program", "load", "observed_launches"]

LaunchObserver = Callable[["Entry", tuple[Any, ...], dict[str, Any]], None]
_observers: list[LaunchObserver] = []


PtxSource = str | bytes | os.PathLike[str]
"""A path (os.PathLike, or text without newline, brace and semicolon), or PTX (other text, or bytes)."""


def load(source: PtxSource | Sequence[PtxSource], *, name: str | None = None) -> Program:
    """Read PTX.

    Args:
        source: a path (os.PathLike, or text without newline, brace and semicolon), or PTX (other text, or bytes); or a list
            of them, which are linked: `load(["main.ptx", "library.ptx"])`. Each is then assembled by itself with `ptxas -c`, and
            nvlink (else nvJitLink) links the machine code.
        name: name of the program; default: the names of the files.
    Raises:
        ParseError: the text is not PTX; `pyptx.check_ptx` finds all of what is wrong with it.
        InputError: the modules cannot be linked: a name is defined twice or nowhere. It is a ValueError.
        OperandError: `source` is neither. It is a TypeError.
        OSError: the file cannot be read.
    Examples:
        >>> program = pyptx.load('''
        ... .version 8.5
        ... .target sm_90a
        ... .address_size 64
        ... .visible .entry fill(.param .u64 out) {
        ...     .reg .b64 %rd<3>;
        ...     .reg .b32 %r<2>;
        ...     ld.param.u64 %rd0, [out];
        ...     mov.u32 %r0, %tid.x;
        ...     mul.wide.u32 %rd1, %r0, 4;
        ...     add.u64 %rd2, %rd0, %rd1;
        ...     st.global.u32 [%rd2], %r0;
        ...     ret;
        ... }''', name="fill.ptx")
        >>> list(program.entries)
        ['fill']
        >>> out = np.zeros(4, np.uint32)
        >>> result = program["fill"].launch(1, 4, out)
        >>> out
        array([0, 1, 2, 3], dtype=uint32)
    """
    modules = [_read(each) for each in source_list(source, (str, bytes, os.PathLike), "load", "PTX")]
    if not modules:
        raise InputError("load: an empty list; pass the PTX of one module or more")
    if len(modules) == 1:
        return Program(modules[0][1], name or modules[0][0])
    if len({found for found, _ in modules}) < len(modules):
        modules = [(f"{found} ({number})", module) for number, (found, module) in enumerate(modules, 1)]
    linked = link(modules)
    return Program(linked.module, name or " + ".join(found for found, _ in modules), linked.objects)


def _read(source: PtxSource) -> tuple[str, Module]:
    """Return the name of a source and its tree."""
    if (path := path_of(source)) is not None:
        return path.name, parse(path.read_bytes())
    assert not isinstance(source, os.PathLike), "a path"
    return "<ptx>", parse(source)


@contextmanager
def observed_launches(observer: LaunchObserver) -> Iterator[None]:
    """Call `observer` before each launch of an entry, with its positional and keyword arguments."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


class Program:
    """A module read from PTX text; `program["name"]` is one of its entries or variables."""

    module: Module
    name: str

    def __init__(self, module: Module, name: str, objects: tuple[str, ...] = ()):
        """Args: objects: texts to assemble and link in place of the module's, of `pyptx.linker`."""
        self.module, self.name, self._objects = module, name, objects

    def __repr__(self) -> str:
        return f"<pyptx program {self.name}: {', '.join(self.entries) or 'no entries'}>"

    @cached_property
    def text(self) -> str:
        """The module as PTX text."""
        return self._emitted.text

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the kernels, in textual order."""
        return tuple(f.name for f in self.module.entries)

    @property
    def is_linked(self) -> bool:
        """True if it was loaded from several modules."""
        return bool(self._objects)

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """Its `.global` and `.const` variables by name, which can be read and set before and between launches.

        All entries share them, and they keep their values from launch to launch. They are those of the backend of the
        last launch; before the first, of the backend that `pyptx.use` selects, else of the simulator.
        """
        from pyptx.runtime.variables import Variable
        from pyptx.sim.memory.texture_objects import REFERENCES

        spaces = (StateSpace.GLOBAL, StateSpace.CONST)
        return {
            d.symbol: Variable(d, partial(self._memory_of, d.symbol))
            for d in self.module.directives
            if isinstance(d, VarDecl) and d.state_space in spaces and d.type.value not in REFERENCES
        }

    def _memory_of(self, name: str) -> VariableMemory:
        entry = next((e for e in self if e._specialization.entry.is_entry), None)
        if entry is None:
            raise ArgumentValueError(
                f"{self.name} has no .entry, so it is not loaded and {name} has no memory",
                hint="load it together with the module that uses it: pyptx.load([...])",
            )
        specialization = entry._specialization
        specialization.require_valid()
        specialization.require_launchable()
        shared = specialization.shared or {}
        runtime = runtime_for((), shared.get("backend") or chosen()[0] or "sim")
        return runtime.backend.variable(specialization.program(runtime), specialization.shared or {}, name)

    def __getitem__(self, name: str) -> Entry:
        """Return an entry or a variable by name.

        Type checkers and completion take it for an `Entry`; `variables[name]` has the type of a variable.
        """
        found = self._entries.get(name) or self._variable(name)
        if found is None:
            variables = ", ".join(self.variables)
            raise UnknownNameError(
                f"{self.name} has no entry or variable {name!r}; its entries are "
                f"{', '.join(self.entries) or 'none: the text has no .entry'}"
                + (f", its variables are {variables}" if variables else "")
            )
        return cast(Entry, found)

    def __setitem__(self, name: str, values: Any) -> None:
        """Set all elements of a variable."""
        variable = self._variable(name)
        if variable is None:
            raise UnknownNameError(
                f"{self.name} has no variable {name!r}; it has {', '.join(self.variables) or 'none'}"
            )
        variable.set(values)

    def _variable(self, name: str) -> Variable | None:
        return self.variables.get(name)

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.entries, *self.variables]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def check_ptx(self, target: str | None = None) -> list[Diagnostic]:
        """Return all validation errors and warnings with their lines; empty if the module is valid."""
        return validate.check_ptx(self.text, target)

    def compile(self, **arguments: Any) -> Compiled:
        """Assemble the whole module; arguments as for Entry.compile.

        Raises:
            LaunchError: the module has no entry.
        """
        if not self._entries:
            raise ArgumentValueError(f"{self.name} has no .entry, so there is nothing to compile")
        return next(iter(self)).compile(**arguments)

    @cached_property
    def _emitted(self) -> Emitted:
        return emit_lines(self.module)

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {
            name: Entry(found)
            for name, found in specializations(self.module, self._emitted, compiled_type, self._objects).items()
        }


class Entry:
    """A kernel of a loaded program; compile, view, launch and check are those of `Kernel`."""

    def __init__(self, specialization: Specialization):
        self._specialization = specialization

    def __repr__(self) -> str:
        return f"<pyptx entry {self.name}({', '.join(p.name for p in self.params)})>"

    @property
    def name(self) -> str:
        """Name of the entry in the PTX."""
        return self._function.name

    @property
    def params(self) -> tuple[Param, ...]:
        """Parameters of the entry, in order."""
        return self._function.params

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of the parameters, as results and messages show them."""
        return tuple(param.name for param in self.params)

    @property
    def last_run(self) -> LaunchResult | None:
        """The result of the last launch; None before the first."""
        return self._specialization.last_run

    @property
    def last_check(self) -> Report | None:
        """The report of the last check; None before the first."""
        return self._specialization.last_check

    def counters(self) -> Any:
        """Return the simulator's counters of the last launch as `pyptx.views.linked` takes them; None without any."""
        return counters_of(self._specialization)

    @property
    def _function(self) -> Function:
        return self._specialization.entry

    def ptx(self) -> str:
        """Return the text of the program, with all its entries."""
        return self._specialization.emitted.text

    def sass(self, *, arch: str | None = None, options: Iterable[str] = ()) -> str:
        """Return the machine code as text, one instruction a line with its address; arguments as for compile."""
        return self.compile(arch=arch, options=options).listing()

    def compile(self, *args: Any, arch: str | None = None, options: Iterable[str] = ()) -> Compiled:
        """Validate and assemble.

        Args:
            args: a LaunchConfig (or grid and block) and arguments, which change nothing.
            arch: a target that overrides the one in the text.
            options: of ptxas, such as "-O1".
        Raises:
            CompileError: validation or ptxas reports errors; each with its line.
        """
        return cast("Compiled", self._specialization.compile(options, arch=arch))

    def view(
        self,
        *args: Any,
        arch: str | None = None,
        options: Iterable[str] = (),
        block: Extent | None = None,
        source: str | os.PathLike[str] | None = None,
        device: str | Gpu | None = None,
        profile: ProfileSource | None = None,
        ir: IrLines | None = None,
        **settings: Any,
    ) -> LinkedView:
        """Return the linked PTX | SASS view; arguments as for compile.

        Args:
            device: a GPU, as for `estimate`: also show the modeled time of each line on it, and the reasons of stalls.
                Needs a launch: `args` and `settings` as for launch.
            profile: a report of Nsight Compute, as for `Kernel.view`.
            block: threads of a CTA, for the occupancy; default: of the LaunchConfig, or what `.reqntid` requires.
            source: folder of the source files that `.file` names; default: the working directory. No other is read.
            ir: an IR of the compiler that made the PTX, shown between source and PTX.
        Raises:
            OptionError: `settings` without `device`.
            ShapeError: `device` together with options that change the machine code; a profile of other machine code.
        """
        if settings and device is None:
            raise OptionError(f"view() uses {', '.join(settings)} only with device=, such as device='h100'")
        config, _ = split_launch(args)
        launch = settings if block is None else settings | {"block": block}
        block = block if block is not None else config.block if config else None
        return linked_view(
            self._specialization,
            self.compile(arch=arch, options=options),
            block=self._required_block() if block is None else dim3(block, "block"),
            dynamic_bytes=config.smem_bytes if config else 0,
            roots=None if source is None else (Path(source),),
            estimate=None if device is None else self.estimate(*args, device=device, **launch),
            ir=ir,
            profile=profile,
        )

    def _required_block(self) -> Dim3 | None:
        values = next((d.values for d in self._function.directives if d.name == "reqntid"), None)
        return dim3([int(v) for v in values], "reqntid") if values else None

    def launch(
        self,
        *args: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        cluster: Extent | None = None,
        smem_bytes: int = 0,
        stream: Any = None,
        backend: str | None = None,
        **settings: Any,
    ) -> LaunchResult:
        """Launch: `launch(grid, block, *args)` or `launch(LaunchConfig(...), *args)`.

        Args:
            args: after the configuration all arguments in parameter order: arrays (pointers; NumPy arrays are written
                in place), numbers (converted to the parameter's type and range checked), bytes (aggregates), TensorMaps
                (128 bytes by value, or a pointer to them).
            grid, block, cluster, smem_bytes, stream, backend: the launch configuration by keyword; see LaunchConfig.
            settings: backend options, such as `seed=` or `threads=` of the simulator; `reachable=`, the arrays that the
                kernel reaches only through addresses in memory, see `pyptx.pointer`.
        """
        for observe in _observers:
            sizes = {"grid": grid, "block": block, "cluster": cluster, "smem_bytes": smem_bytes}
            observe(self, args, {**sizes, **settings})
        split = split_launch(args, grid=grid, block=block, cluster=cluster, smem_bytes=smem_bytes)
        config, values = self._configured(*split)
        if (stream := config.stream if stream is None else stream) is not None:
            settings["stream"] = stream
        values = import_foreign(values)
        settings = {**options(), **config.settings, **settings}
        runtime = runtime_for((*values, *settings.get("reachable", ())), backend or config.backend)
        outputs, extent = device_arrays(runtime, values, self.name), dim3(config.grid, "grid")
        if 0 in extent:
            return LaunchResult(runtime.name, 0.0, outputs=tuple(outputs))
        with staged(runtime, values, settings, self.name) as (values, settings):
            return self._specialization.launch(
                runtime,
                extent,
                dim3(config.block, "block"),
                values,
                cluster=dim3(config.cluster, "cluster"),
                smem_bytes=config.smem_bytes,
                outputs=outputs,
                settings=settings,
            )

    def resolve(
        self, config: LaunchConfig | None, args: Sequence[Any], params: Mapping[str, Any], out: Any = None
    ) -> ResolvedLaunch:
        """Resolve a launch on the simulator; see `pyptx.jit.Launchable`. `params` are backend options."""
        config, args = self._configured(config, args)
        self._specialization.require_launchable()
        args = import_foreign(args)
        settings = {**options(), **config.settings, **params}
        runtime = runtime_for((*args, *settings.get("reachable", ())), "sim")
        device_arrays(runtime, args, self.name)
        if "reachable" in settings:
            settings["reachable"] = checked(runtime, settings, self.name)
        plan = self._specialization.plan(
            dim3(config.grid, "grid"), dim3(config.block, "block"), dim3(config.cluster, "cluster"), config.smem_bytes
        )
        return ResolvedLaunch(self._specialization, plan, list(args), settings)

    def _configured(self, config: LaunchConfig | None, args: Sequence[Any]) -> tuple[LaunchConfig, Sequence[Any]]:
        """Return a launch configuration with a block.

        Raises:
            LaunchError: there is no configuration, or no block, and the text requires none.
        """
        if config is None:
            raise ArgumentValueError(
                f"{self.name} is loaded PTX, so its grid and block do not follow from arrays",
                hint="pass a LaunchConfig(grid, block), or a grid and a block, and all arguments in parameter order",
            )
        if config.block is None:
            block = self._required_block()
            if block is None:
                raise ArgumentValueError(
                    f"{self.name} has no .reqntid, so its launch needs a block", hint="pass block="
                )
            config = replace(config, block=block)
        return config, args

    def check(
        self,
        *args: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        cluster: Extent | None = None,
        smem_bytes: int = 0,
        schedules: Sequence[str] = ("eager", "late"),
        random: int = 4,
        seed: int = 0,
        ignore: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> Report:
        """Simulate a launch in several schedules, on copies of the arrays, and report races and other findings.

        Args:
            args, grid, block, cluster, smem_bytes: as for launch.
            schedules: "eager" and "late", the orders in which asynchronous operations complete.
            random: number of random schedules, with seeds from `seed` on.
            ignore: rules whose findings become notes, with the reason: {"missing-mbarrier-fence": "one CTA"}.
            settings: simulator options, such as `max_steps=`.
        Raises:
            CompileError, LaunchError: the launch is invalid. Faults of the kernel are in the report.
        """
        config, rest = split_launch(args, grid=grid, block=block, cluster=cluster, smem_bytes=smem_bytes)
        launch = self.resolve(config, rest, settings)
        return check_launch(launch, schedules=schedules, random=random, seed=seed, ignore=ignore)

    def debug(
        self,
        *args: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        cluster: Extent | None = None,
        smem_bytes: int = 0,
        schedule: str = "eager",
        seed: int = 0,
        **settings: Any,
    ) -> Session:
        """Start a debugging session of a launch on the simulator, on copies of the arrays.

        Args:
            args, grid, block, cluster, smem_bytes: as for launch.
            schedule, seed: "eager", "late" or "random": the order in which asynchronous operations complete, and its
                seed.
            settings: simulator options: `tensor_cores=`, and `sanitize=True`, which stops at races, missing fences and
                missing waits.
        Returns:
            The session: .step(), .next(), .resume(), .back(), .breakpoints, .evaluate(text), .document()
        Raises:
            CompileError, LaunchError: the launch is invalid. Faults of the kernel are stops of the session.
        """
        config, rest = split_launch(args, grid=grid, block=block, cluster=cluster, smem_bytes=smem_bytes)
        launch = self.resolve(config, rest, settings)
        return debug_launch(launch, schedule=schedule, seed=seed)

    def estimate(self, *args: Any, device: str | Gpu | None = None, **config: Any) -> Prediction:
        """Predict the time of a launch with the performance model; arguments as for launch, `device` as for
        `Kernel.estimate`."""
        from pyptx.analysis.model.estimate import estimate

        return estimate(self, *args, device=device, **config)

    def roofline(self, *args: Any, device: str | Gpu | None = None, level: str = "dram", **config: Any) -> Roofline:
        """Place a launch on the roofline of a GPU; arguments as for launch, the rest as for `Kernel.roofline`."""
        from pyptx.workbench.roofline import roofline

        return roofline(self, *args, device=device, level=level, **config)
