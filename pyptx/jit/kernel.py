"""The core of a kernel: declared once, traced and compiled for each set of parameter values, launched on arrays."""

from __future__ import annotations

import copy
import functools
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from pyptx.errors import BackendError
from pyptx.ir.nodes import Module, Param
from pyptx.jit.batching import BatchLauncher
from pyptx.jit.binding import Binder
from pyptx.jit.captures import Captures, hashable
from pyptx.jit.declaration import Declaration, Grid
from pyptx.jit.fingerprint import kernel_identity
from pyptx.jit.launch_cache import LaunchCache
from pyptx.jit.launchable import ResolvedLaunch
from pyptx.jit.launcher import Launcher
from pyptx.jit.specialization import Specialization, assembly_type
from pyptx.jit.tracer import trace_kernel
from pyptx.launch_config import Extent, LaunchConfig, split_launch
from pyptx.runtime import Dim3, LaunchResult, Runtime, runtime_for
from pyptx.runtime.foreign_arrays import import_foreign
from pyptx.runtime.identity import declare, importing_module, module_of, register, resolve
from pyptx.specs import Tile

if TYPE_CHECKING:
    from pyptx.assembly import Assembly

__all__ = ["JitKernel"]


class JitKernel:
    """A Python function that writes a PTX kernel: `pyptx.Kernel` without the tools that inspect it.

    Attributes:
        declaration: the checked arguments of the decorator.
        binder: checks the arrays and parameter values of a call and derives sizes, outputs and entry arguments.
        captures: the globals and closure variables that the function reads.
        launcher: binds arguments and launches, for callers that have chosen a backend.
        batch_launcher: the same for a batch of calls, which vmap makes.
        launch_cache: launches by the signature of their call.
        last_specialization: the specialization launched last; None before the first launch, and after an empty one.
    """

    declaration: Declaration
    binder: Binder
    captures: Captures
    launcher: Launcher
    batch_launcher: BatchLauncher
    launch_cache: LaunchCache

    def __init__(self, declaration: Declaration):
        functools.update_wrapper(self, declaration.function)
        self.declaration, self.binder = declaration, Binder(declaration)
        self.captures = Captures(declaration.function)
        self.last_specialization: Specialization | None = None
        self._cache: dict[tuple[Hashable, ...], Specialization] = {}
        self._lock = threading.RLock()
        self.launcher, self.launch_cache = Launcher(self), LaunchCache(self)
        self.batch_launcher = BatchLauncher(self)
        self._identity: tuple[Hashable, str] = (None, "")
        self._home = importing_module()
        self._declare()
        if declaration.unit is not None:
            declaration.unit.add_kernel(self)

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.launcher, other.batch_launcher = Launcher(other), BatchLauncher(other)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the kernel itself: it has no state but caches, so copies of a torch module share it."""
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle the identity; unpickling finds the kernel in its module, or raises LaunchError if it has changed.

        cloudpickle also gets the declaration of a kernel that no import makes, as it does for functions.
        """
        identity = self.recorded_identity()
        if self._is_importable or not _called_by_cloudpickle():
            return resolve, (identity,)
        declared = {field.name: getattr(self.declaration, field.name) for field in fields(self.declaration)}
        return _found_or_declared, (identity, type(self), declared)

    @property
    def _is_importable(self) -> bool:
        """The import of a module makes the kernel; or it belongs to a unit, whose other kernels are not copied."""
        function = self.declaration.function
        made_by_module = module_of(function) != "__main__" and "<" not in getattr(function, "__qualname__", "<")
        return bool(self._home) or made_by_module or self.declaration.unit is not None

    def with_fresh_cache(self) -> Self:
        """Return a copy of the kernel whose specializations are kept with the copy, not with this kernel."""
        other = copy.copy(self)
        other._cache = {}
        return other

    @staticmethod
    def _artifact() -> type[Assembly]:
        """Return the class of what `compile` returns."""
        return assembly_type()

    # declaration ------------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the entry: the function's, spelled for PTX (a lambda is `_lambda_`), unless declared."""
        return self.declaration.name

    @property
    def identity(self) -> str:
        """Name and content hash of the kernel, equal in every process; see `pyptx.runtime.identity`."""
        captured = (self.captures.key(),)
        if self._identity[0] != captured:
            self._identity = captured, str(kernel_identity(self.declaration))
        return self._identity[1]

    def recorded_identity(self) -> str:
        """Return the identity and register the kernel under it, for calls that are recorded by torch or JAX."""
        return register(self, self._home)

    def _declare(self) -> None:
        function = self.declaration.function
        declare(self, module_of(function), getattr(function, "__qualname__", self.name))

    # A constant for torch.compile, which calls the method instead of tracing it (torch.compiler.assume_constant_result).
    recorded_identity._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]

    @property
    def in_specs(self) -> tuple[Tile, ...]:
        return self.declaration.in_specs

    @property
    def out_specs(self) -> tuple[Tile, ...]:
        return self.declaration.out_specs

    @property
    def grid(self) -> Grid:
        return self.declaration.grid

    @property
    def block(self) -> Grid:
        return self.declaration.block

    def block_of(self, specialization: Specialization) -> Dim3:
        """Threads of a CTA of a specialization."""
        return self.binder.block(*self.binder.split(specialization.params)[:2])

    @property
    def cluster(self) -> Grid:
        return self.declaration.cluster

    @property
    def smem(self) -> int:
        """Dynamic shared memory requested at launch, in bytes."""
        return self.declaration.smem_bytes

    @property
    def in_place(self) -> bool:
        """An output may be an input."""
        return self.declaration.in_place

    @property
    def arch(self) -> str:
        return self.declaration.arch

    @property
    def template_params(self) -> dict[str, Any]:
        """Keyword-only parameters and their defaults; None where there is no default."""
        return dict(self.declaration.template)

    @property
    def symbolic_dims(self) -> tuple[str, ...]:
        """Names of sizes in the Tiles, in order."""
        return self.declaration.symbolic_dims

    @property
    def params(self) -> tuple[Param, ...]:
        """Parameters of the entry, in ABI order, for the default template values."""
        return self.specialize().entry.params

    def defaults(self, values: Mapping[str, Any] | None = MappingProxyType({}), /, **params: Any) -> dict[str, Any]:
        """Set default values of template parameters for later calls; return those in effect.

        A call's own arguments take precedence. `Sweep.use` sets the chosen configuration this way.

        Args:
            values, params: new defaults by name; other parameters keep theirs. None restores the declared defaults.
        Raises:
            UnknownNameError: the kernel has no such template parameter.
        Examples:
            >>> kernel.defaults(BM=128)   # doctest: +SKIP
            >>> kernel.defaults(None)     # doctest: +SKIP
        """
        if values is None or values or params:
            kept = {} if values is None else self._changed_defaults()
            self.binder.set_defaults({**kept, **(values or {}), **params})
        return dict(self.binder.template)

    def _changed_defaults(self) -> dict[str, Any]:
        """Return the defaults set by `defaults`."""
        declared = self.declaration.template
        return {name: value for name, value in self.binder.template.items() if value is not declared[name]}

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value!r}" for name, value in self._changed_defaults().items())
        return f"<pyptx kernel {self.name}, {self.arch}{changed and f', defaults {changed}'}>"

    # text and machine code --------------------------------------------------------------------------------------------

    def ptx(self, *args: Any, **params: Any) -> str:
        """Return the PTX text for these parameter values, also when validation finds errors in it.

        Args:
            args: input arrays, for their sizes; or a LaunchConfig and arguments, which change nothing.
            params: template parameters and symbolic sizes.
        """
        return self.specialize(**self._sized(args, params)).emitted.text

    def module(self, *args: Any, **params: Any) -> Module:
        """Return the tree for these parameter values; equal values give the same object. Arguments as for ptx."""
        return self._trace(**self._sized(args, params))

    def _sized(self, args: Sequence[Any], params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the parameters and the sizes of the input arrays among the arguments."""
        config, arrays = split_launch(args)
        if config is not None or not arrays:
            return params
        inputs = self.binder.inputs(import_foreign(arrays))
        return {**self.binder.sizes_of(runtime_for(inputs, "sim").arrays, inputs), **params}

    def _trace(self, **params: Any) -> Module:
        return self.specialize(**params).module

    def specialize(
        self, *, arch: str | None = None, version: tuple[int, int] | None = None, **params: Any
    ) -> Specialization:
        """Return the module, text and places for these parameter values; each combination is traced once."""
        return self._specialize(arch, version, params, self._trace_kernel)

    def specialize_for(self, runtime: Runtime, params: Mapping[str, Any]) -> Specialization:
        """Return the specialization for a launch; a GPU needs no trace that an earlier process has cached."""
        if runtime.backend.loads_machine_code:
            return self._specialize(None, None, params, self._cached_trace)
        return self._specialize(None, None, params, self._trace_kernel)

    def _specialize(
        self,
        arch: str | None,
        version: tuple[int, int] | None,
        params: Mapping[str, Any],
        make: Callable[..., Specialization],
    ) -> Specialization:
        sizes, template, _ = self.binder.split(params)
        arch = arch or self.arch
        version = self.declaration.version if version is None else (version[0], version[1])
        values = tuple(sorted((n, hashable(v)) for n, v in template.items()))
        key = (arch, version, values, tuple(sorted(sizes.items())), self.captures.key())
        if key in self._cache:
            return self._cache[key]
        with self._lock:  # concurrent threads get one specialization
            if key not in self._cache:
                self._cache[key] = make(
                    arch=arch, version=version, env=sizes, template=template, artifact=self._artifact
                )
            return self._cache[key]

    def _trace_kernel(self, **values: Any) -> Specialization:
        return trace_kernel(self.declaration, **values)

    def _cached_trace(self, **values: Any) -> Specialization:
        from pyptx.jit.traces.trace_cache import cached_specialization  # late: only launches on a GPU use it

        return cached_specialization(
            self.declaration, lambda: self._trace_kernel(**values), **values, forget=self._forget_launches
        )

    def _forget_launches(self) -> None:
        """Forget specializations and their launches; the next launch traces again."""
        with self._lock:
            self._cache.clear()
            self.launch_cache.entries.clear()

    def compile(
        self,
        *args: Any,
        arch: str | None = None,
        version: tuple[int, int] | None = None,
        options: Iterable[str] = (),
        lineinfo: bool = False,
        **params: Any,
    ) -> Assembly:
        """Validate and assemble.

        Args:
            arch, version: instead of the decorator's.
            options: of ptxas, such as "-O1" or "--maxrregcount=128".
            lineinfo: write `.loc` directives too, for ncu and cuda-gdb.
            args: input arrays, for their sizes; or a LaunchConfig and arguments, which change nothing.
            params: template parameters and symbolic sizes.
        Raises:
            CompileError: validation or ptxas reports errors; each at its Python line.
            MissingToolError: no assembler is installed.
        """
        specialization = self.specialize(arch=arch, version=version, **self._sized(args, params))
        return specialization.compile(options, lineinfo=lineinfo)

    def sass(self, *arrays: Any, **params: Any) -> str:
        """Return the machine code as text, one instruction a line with its address; arguments as for compile."""
        return self.compile(*arrays, **params).listing()

    @property
    def _fn(self) -> Callable[..., Any]:
        return self.declaration.function

    @property
    def last_run(self) -> LaunchResult | None:
        """The result of the last call or launch; None before the first, and after one of an empty grid."""
        return self.last_specialization.last_run if self.last_specialization else None

    # calls ------------------------------------------------------------------------------------------------------------

    def __call__(self, *arrays: Any, out: Any = None, **params: Any) -> Any:
        """Launch on arrays: inputs by position; outputs are allocated, or given as `out=`.

        Args:
            params: sizes, template parameters and raw parameters; other names are backend options (`threads=8`), and
                `reachable=`, the arrays that the kernel reaches only through addresses in memory, see `pyptx.pointer`.
        Returns:
            The output array, or a tuple of them. For an empty grid or empty outputs nothing is launched.
        Raises:
            LaunchError: an array's shape, dtype or layout does not fit; nothing is launched.
            TypeError: a name is neither a parameter of the kernel nor a backend option.
            CompileError: see compile.
        """
        if _torch_compiles():
            return self._recorded_by_torch(arrays, out, params)
        key = self.launch_cache.key(arrays, out, params)
        known = self.launch_cache.entries.get(key)
        outputs = known.run(arrays, out, params) if known is not None else None
        if outputs is None:
            return self._call(self.binder.inputs(arrays), out, params, key)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _recorded_by_torch(self, arrays: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Any:
        from pyptx.torch_support.operator import call

        self._refuse_options(self.binder.own(params)[1].keys() & {"reachable"})
        return call(self.recorded_identity(), self.binder.inputs(arrays), out, params)

    def _call(self, inputs: Sequence[Any], out: Any, params: Mapping[str, Any], key: Hashable | None) -> Any:
        """Launch a call that the launch cache does not have."""
        inputs = import_foreign(inputs)
        own, settings = self.binder.own(params)
        runtime = runtime_for(inputs, settings.pop("backend", None))
        if settings.keys() - runtime.backend.options:
            self.binder.split(params)  # raises, with the names that exist
        self.binder.check_arrays(runtime, inputs)
        record = runtime.arrays.recorder(inputs)
        if record is not None:
            self._refuse_options(settings)
            return record(self.recorded_identity(), inputs, out, own)
        outputs = list(self.run(runtime, inputs, out, own, key, settings).outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _refuse_options(self, settings: Iterable[str]) -> None:
        """Refuse the options of a call that a compiler, autograd or JAX records."""
        if "reachable" in settings:
            raise BackendError(
                f"{self.name}: a call with reachable= cannot be recorded by a compiler, autograd or JAX, which do not "
                "see arrays behind addresses",
                hint=f"call it on NumPy arrays or detached tensors, or launch it: {self.name}.launch(grid, block, ...)",
            )
        if settings:
            raise BackendError(
                f"{self.name}: backend options ({', '.join(settings)}) cannot be recorded by a compiler",
                hint="set them with pyptx.use(...)",
            )

    def run(
        self,
        runtime: Runtime,
        inputs: Sequence[Any],
        out: Any,
        params: Mapping[str, Any],
        key: Hashable | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> LaunchResult:
        """Launch on arrays immediately, without recording by torch.compile or jax.jit; see `Launcher.run`."""
        return self.launcher.run(runtime, inputs, out, params, key, settings)

    # launches ---------------------------------------------------------------------------------------------------------

    def launch(
        self,
        *args: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        cluster: Extent | None = None,
        smem_bytes: int = 0,
        stream: Any = None,
        backend: str | None = None,
        out: Any = None,
        **params: Any,
    ) -> LaunchResult:
        """Launch: `launch(grid, block, *args)`, `launch(LaunchConfig(...), *args)`, `launch(*arrays)`, `launch(M=64)`.

        Args:
            args: after a launch configuration all arguments in parameter order: arrays (pointers; NumPy arrays are
                written in place), numbers (converted to the parameter's type and range checked), bytes (aggregates),
                TensorMaps; tensor maps that are left out are made as the Tiles describe. Otherwise the input arrays, as
                for a call; none: random arrays of the given sizes.
            grid, block, cluster, smem_bytes, stream, backend: the launch configuration by keyword; see LaunchConfig.
            out: arrays for the outputs of a launch on input arrays.
            params: template parameters and symbolic sizes; other names are backend options (`seed=`, `threads=`), and
                `reachable=`, as for a call.
        Examples:
            >>> @kernel(raw_params=[("u64", "out"), ("u32", "value")])
            ... def fill():
            ...     at = ptx.param(u64, "out") + reg.from_(ptx.special.tid.x(), u32) * 4
            ...     ptx.inst.st.global_.u32(ptx.addr(at), ptx.param(u32, "value"))
            >>> out = np.zeros(4, np.uint32)
            >>> result = fill.launch(1, 4, out, 7)
            >>> out, result.backend
            (array([7, 7, 7, 7], dtype=uint32), 'sim')
        """
        config, rest = split_launch(args, grid=grid, block=block, cluster=cluster, smem_bytes=smem_bytes)
        if config is not None and isinstance(args[0] if args else None, LaunchConfig):
            stream, backend = stream or config.stream, backend or config.backend
        own, settings = self.binder.own(params)
        if stream is not None:
            settings["stream"] = stream
        if config is not None:
            return self.launcher.launch(config, rest, own, settings, backend)
        inputs = import_foreign(self.launcher.inputs_for(rest, own))
        runtime = runtime_for(inputs, backend)
        self.binder.check_arrays(runtime, inputs)
        return self.run(runtime, inputs, out, own, settings=settings)

    def resolve(
        self, config: LaunchConfig | None, args: Sequence[Any], params: Mapping[str, Any], out: Any = None
    ) -> ResolvedLaunch:
        """Resolve a launch on the simulator; see `Launchable.resolve`."""
        return self.launcher.resolve(config, args, params, out)

    def _resolve_grid(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        return self.binder.grid(env, template)


def _called_by_cloudpickle() -> bool:
    """Return whether cloudpickle, or a copy of it in another package, calls the caller's caller."""
    return sys._getframe(2).f_globals.get("__name__", "").rpartition(".")[2] == "cloudpickle"


def _found_or_declared(identity: str, kind: type[JitKernel], declared: Mapping[str, Any]) -> JitKernel:
    """Return the kernel of an identity if this process has it, else a new one with this declaration."""
    try:
        return resolve(identity)
    except BackendError:
        kernel = object.__new__(kind)
        JitKernel.__init__(kernel, Declaration(**declared))
        return kernel


def _torch_compiles() -> bool:
    """Return whether torch.compile is tracing the caller; the kernel is then recorded as an operator."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()
