"""CUDA C++ kernels: compiled with NVRTC, with the methods of loaded PTX and the names, types and lines of the source."""

from __future__ import annotations

import hashlib
import linecache
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pyptx._loc import SourceLocation, name_files
from pyptx.analysis.ptx_rows import statement_rows
from pyptx.emitter import emit_lines
from pyptx.errors import Diagnostic, InputError, OptionError, UnknownNameError
from pyptx.ir.nodes import Module
from pyptx.ir.visit import instructions, with_places
from pyptx.isa import targets
from pyptx.jit.specialization import Specialization, specializations
from pyptx.launch_config import LaunchConfig
from pyptx.linker import link
from pyptx.nvrtc import Compilation, CudaError, Source, compile_source
from pyptx.nvrtc.headers import toolkit_folders
from pyptx.nvrtc.mangling import local_names, qualified_name
from pyptx.nvrtc.signatures import (
    DeclaredVariable,
    KernelDeclaration,
    Signature,
    declared_kernels,
    declared_variables,
    signature_of,
)
from pyptx.parser import parse
from pyptx.views.code.source_locations import source_places
from pyptx.workbench.cuda_arguments import converted, element_type
from pyptx.workbench.cuda_sweep import sweep
from pyptx.workbench.isolation import isolated
from pyptx.workbench.kernel import compiled_type
from pyptx.workbench.program import Entry, Program
from pyptx.workbench.source_entry import SourceEntry
from pyptx.workbench.source_text import path_of, source_list

if TYPE_CHECKING:
    from pyptx.analysis.gpus import Gpu
    from pyptx.debug import Session as DebugSession
    from pyptx.runtime.variables import Variable
    from pyptx.sim.symbols.scopes import Variable as SharedVariable
    from pyptx.workbench.entry_sweep import EntrySweep

__all__ = ["DEFAULT_ARCH", "CudaEntry", "CudaProgram", "CudaSource", "cuda"]

CudaText = str | os.PathLike[str]
"""A path (os.PathLike, or text without newline, brace and semicolon), or CUDA C++ (other text)."""

DEFAULT_ARCH = "sm_90a"
OLDEST = 75  # compute capability that NVRTC 13 compiles for

_names: dict[str, str] = {}  # names of texts in linecache -> names shown
name_files(_names.get)


def cuda(
    source: CudaText | CudaSource | Sequence[CudaText | CudaSource],
    *,
    arch: str = DEFAULT_ARCH,
    options: Iterable[str] = (),
    defines: Mapping[str, object] | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    templates: Iterable[str] = (),
    debug: bool = False,
    name: str | None = None,
) -> CudaProgram:
    """Compile CUDA C++ with NVRTC, in process; neither a GPU nor a host compiler is needed.

    Host code in the source (functions without `__device__` or `__global__`, such as `main`) is ignored. The PTX is cached
    by source, headers and options.

    Args:
        source: a path (os.PathLike, or text without newline, brace and semicolon), or CUDA C++ (other text); or a list of
            them, which are compiled as relocatable device code and linked.
        arch: the target, such as "sm_100a".
        options: of NVRTC, such as "--maxrregcount=64"; default: -lineinfo and --std=c++17.
        defines: macros: `{"TILE": 32, "NDEBUG": None}`.
        include: folders of headers, besides that of the source and those of the CUDA toolkit.
        templates: kernel templates to instantiate, such as "scale<float, 4>"; others are instantiated on use.
        debug: compile with -G: not optimized, so that the debugger stops at every line of the source.
        name: name of the program; default: that of the file.
    Returns:
        The program: `program["add"].launch(grid, block, a, b, n)`, `program["scale<float, 4>"]`, `program["coefficients"]`.
    Raises:
        CudaError: the compiler refused the source; each error with file, line and column. It is a CompileError.
        MissingToolError: NVRTC is not installed: `pip install 'pyptx-workbench[cuda]'`.
        OperandError: `source` is neither a path nor text. It is a TypeError.
        OSError: the file cannot be read.
    Examples:
        >>> program = pyptx.cuda('''
        ... __global__ void scale(float *x, float by, int n) {
        ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
        ...     if (i < n) x[i] *= by;
        ... }
        ... ''')
        >>> x = np.ones(5, np.float32)
        >>> result = program["scale"].launch(1, 32, x, 2.5, x.size)
        >>> x
        array([2.5, 2.5, 2.5, 2.5, 2.5], dtype=float32)
    """
    given = source_list(source, (str, os.PathLike, CudaSource), "cuda", "CUDA C++")
    if not given:
        raise InputError("cuda: an empty list; pass one source or more")
    sources = tuple(CudaSource.of(each, name) for each in given)
    build = _Build(
        sources,
        _checked_arch(arch),
        (*options, *(("-G",) if debug else ())),
        dict(defines or {}),
        tuple(str(os.fspath(folder)) for folder in include),
        name or " + ".join(each.shown for each in sources),
    )
    return CudaProgram(build, tuple(map(_normal, templates)))


def _checked_arch(arch: str) -> str:
    known = [target.name for target in targets.ALL if target.number >= OLDEST]
    if arch not in known:
        raise OptionError(f"arch={arch!r} is not a target; expected {', '.join(known)}")
    return arch


@dataclass(frozen=True)
class CudaSource:
    """A source with its file name for `linecache`, from which views and errors read its lines.

    Attributes:
        source: as the compiler gets it.
        file: the name in `linecache`.
        shown: the name shown to the user.
    """

    source: Source
    file: str
    shown: str

    @classmethod
    def of(cls, given: CudaText | CudaSource, name: str | None = None) -> CudaSource:
        """Return the source of a path or a text; a source is returned as it is."""
        if isinstance(given, CudaSource):
            return given
        if (path := path_of(given)) is not None:
            path = path.resolve()
            text = path.read_text(encoding="utf-8", errors="replace")
            linecache.checkcache(str(path))
            return cls(Source(text, str(path), path.parent), str(path), path.name)
        text = str(given)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        shown = name if name and name.endswith((".cu", ".cuh")) else f"{name or 'kernel'}.cu"
        return cls.of_source(Source(text, f"/{digest}/{shown}"), shown)

    @classmethod
    def of_source(cls, source: Source, shown: str) -> CudaSource:
        """Return a source whose lines are those of its text, also where that differs from the file.

        Args:
            shown: the name shown to the user.
        """
        digest = hashlib.sha256(source.text.encode()).hexdigest()[:12]
        file = f"<cuda {digest} {shown}>"
        _names[file] = shown
        linecache.cache[file] = (len(source.text), None, source.text.splitlines(keepends=True), file)
        return cls(source, file, shown)


@dataclass(frozen=True)
class _Build:
    """The sources of a program and how to compile them."""

    sources: tuple[CudaSource, ...]
    arch: str
    options: tuple[str, ...]
    defines: Mapping[str, object]
    include: tuple[str, ...]
    name: str

    def file_of(self, path: str) -> str:
        """Return the name in `linecache` of a file in the compiler's output."""
        return next((each.file for each in self.sources if each.source.name == path), path)

    def compilations(self, templates: Sequence[str]) -> list[Compilation]:
        """Compile each source; a template is instantiated in the sources that declare it, else in the first."""
        found = []
        declared = [{d.name for d in declared_kernels(each.source.text)} for each in self.sources]
        for k, each in enumerate(self.sources):
            own = [
                t for t in templates if _base(t) in declared[k] or (k == 0 and not any(_base(t) in d for d in declared))
            ]
            found.append(
                compile_source(
                    each.source,
                    arch=self.arch,
                    options=self.options,
                    defines=self.defines,
                    include=self.include,
                    templates=own,
                    relocatable=len(self.sources) > 1,
                    file_of=self.file_of,
                )
            )
        return found


@dataclass
class _Declared:
    """Declarations in the sources and the headers of the user."""

    kernels: list[KernelDeclaration] = field(default_factory=list)
    variables: dict[str, DeclaredVariable] = field(default_factory=dict)

    def read(self, text: str) -> None:
        self.kernels += declared_kernels(text)
        self.variables |= {v.name: v for v in declared_variables(text)}


class CudaProgram(Program):
    """A compiled CUDA C++ source; its entries have the names, parameter types and lines of the source.

    Attributes:
        arch: the target.
        warnings: of the compiler, each at its line.
    """

    arch: str
    warnings: tuple[Diagnostic, ...]

    def __init__(self, build: _Build, templates: tuple[str, ...] = (), shared: dict[str, Any] | None = None):
        self._build, self._templates, self._shared = build, templates, {} if shared is None else shared
        self._instances: dict[str, CudaEntry] = {}
        compiled = build.compilations(templates)
        self._lowered = {name: mangled for each in compiled for name, mangled in each.lowered.items()}
        self.arch, self.warnings = build.arch, tuple(w for each in compiled for w in each.warnings)
        self._declared = _Declared()
        for text in [each.source.text for each in build.sources]:
            self._declared.read(text)
        for path in dict.fromkeys(header for each in compiled for header in each.headers):
            self._declared.read(Path(path).read_text(encoding="utf-8", errors="replace"))
        module, objects = self._linked(compiled)
        text = emit_lines(module).text
        places = source_places(text, build.file_of, _is_toolkit, qualified_name)
        rows = statement_rows(module, text.removesuffix("\n").split("\n"))
        super().__init__(with_places(module, (places[row] for row in rows)), build.name, objects)

    def _linked(self, compiled: Sequence[Compilation]) -> tuple[Module, tuple[str, ...]]:
        modules = [parse(each.ptx) for each in compiled]
        if len(modules) == 1:
            return modules[0], ()
        names = [f"{each.shown} ({k})" for k, each in enumerate(self._build.sources, 1)]
        linked = link(list(zip(names, modules, strict=True)))
        return linked.module, linked.objects

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the kernels in C++, with the arguments of templates that are instantiated."""
        return tuple(self._entries)

    @cached_property
    def signatures(self) -> Mapping[str, Signature]:
        """Signatures of the kernels, by name."""
        return {name: cast(CudaEntry, entry).signature for name, entry in self._entries.items()}

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        found = specializations(self.module, self._emitted, compiled_type, self._objects, self._shared)
        signed = {
            mangled: signature_of(mangled, self._declared.kernels, len(each.entry.params))
            for mangled, each in found.items()
        }
        names = [signature.name for signature in signed.values()]
        return {
            (name := str(signature) if names.count(signature.name) > 1 else signature.name): CudaEntry(
                found[mangled], signature, name
            )
            for mangled, signature in signed.items()
        }

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """Its `__device__` and `__constant__` variables by name, with the element type of the source."""
        found: dict[str, Variable] = {}
        for symbol, variable in super().variables.items():
            name = qualified_name(symbol)
            declared = self._declared.variables.get(name.rpartition("::")[2])
            typed = None if declared is None else element_type(declared, variable.size * variable.dtype.itemsize)
            if typed is not None and variable.dtype == "uint8":
                variable = variable.typed(*typed)
            found[name] = variable
        return found

    def __getitem__(self, name: str) -> CudaEntry:
        """Return an entry or a variable by its C++ name; "scale<float, 4>" instantiates a template.

        An instance that is made here has its own copies of variables on a GPU; those of `templates=` share them.

        Namespaces may be omitted where the name is unique. Type checkers and completion take it for an entry;
        `variables[name]` has the type of a variable.
        """
        found = self._find(name)
        if found is not None:
            return found
        if "<" in name:
            key = _normal(name)
            if key not in self._instances:
                self._instances[key] = self._instantiated(key)
            return self._instances[key]
        templates = sorted({d.name for d in self._declared.kernels if d.is_template})
        if name in templates:
            raise UnknownNameError(
                f"{name} is a template; name its arguments, as in program[{name + '<float>'!r}]; {name}<> has its defaults"
            )
        listed = [*self.entries, *(f"{t}<...>" for t in templates if not any(_base(e) == t for e in self.entries))]
        variables = ", ".join(self.variables)
        raise UnknownNameError(
            f"{self.name} has no kernel or variable {name!r}; its kernels are {', '.join(listed) or 'none'}"
            + (f", its variables are {variables}" if variables else "")
        )

    def sweep(
        self,
        kernel: str,
        values: Mapping[str, Sequence[Any]],
        *args: Any,
        grid: Any,
        block: Any,
        cluster: Any = 1,
        smem_bytes: Any = 0,
        expected: Mapping[int, Any] | None = None,
        device: str | Gpu | None = None,
    ) -> EntrySweep:
        """Compile a kernel for each combination of macros and template arguments, and estimate its time on a GPU.

        Args:
            kernel: its name; braces mark template arguments, such as "gemm<float, {TILE}>".
            values: values to try, by name: of a template argument in braces, else of a macro.
            args: arguments of the kernel; arrays are not changed.
            grid, block, cluster, smem_bytes: as for `launch`, or functions of the values, such as
                `lambda TILE: (n // TILE, m // TILE)`.
            expected: arrays that the launch should leave, by the number of the argument; others are reported as wrong.
            device: a GPU, as for `estimate`.
        Returns:
            A table and heat map of modeled times and resources: `.best`, `.entry()`, `.view.csv()`, `.view.page()`.
        """
        launch = {"grid": grid, "block": block, "cluster": cluster, "smem_bytes": smem_bytes}

        def compiled(macros: Mapping[str, Any]) -> CudaProgram:
            if not macros:
                return self
            return CudaProgram(replace(self._build, defines={**self._build.defines, **macros}))

        return sweep(compiled, kernel, values, launch, args, target=self.arch, expected=expected or {}, device=device)

    def isolated(self, name: str) -> CudaEntry:
        """Return an entry of the program without the other entries, for a view of it alone.

        On the simulator it shares the variables of the program. A program of several sources stays as it is.
        """
        from pyptx.sim.variables import ModuleVariables

        found = self[name]
        if self.is_linked or not isinstance(found, CudaEntry):
            return found
        module = isolated(found._specialization.module, found.mangled)
        shared = {"sim": self._shared.setdefault("sim", ModuleVariables())}
        alone = specializations(module, artifact=compiled_type, shared=shared)[found.mangled]
        return CudaEntry(alone, found.signature, found.name)

    def _find(self, name: str) -> CudaEntry | None:
        if (exact := self._entries.get(name) or self._variable(name)) is not None:
            return cast(CudaEntry, exact)
        wanted = self._lowered.get(_normal(name))
        same = [
            entry
            for entry in cast("list[CudaEntry]", list(self))
            if (wanted and entry.mangled == wanted)
            or _normal(entry.name) == _normal(name)
            or ("<" not in name and entry.signature.base == name)
        ]
        if len(same) > 1:
            raise UnknownNameError(f"{name} is ambiguous; it is one of {', '.join(entry.name for entry in same)}")
        return same[0] if same else None

    def _instantiated(self, expression: str) -> CudaEntry:
        """Return an entry of a program with one more template.

        It shares the variables of this program on the simulator; on a GPU it is a module with variables of its own.
        """
        from pyptx.sim.variables import ModuleVariables

        expression = self._qualified(expression)
        shared = {"sim": self._shared.setdefault("sim", ModuleVariables())}
        try:
            program = CudaProgram(self._build, (*self._templates, expression), shared)
        except CudaError as error:
            raise CudaError(error.diagnostics, summary=f"{self.name} cannot instantiate {expression}") from None
        found = program._find(expression)
        assert found is not None, "the compiler names every instantiation"
        return found

    def _qualified(self, expression: str) -> str:
        """Return the expression with the namespace of the template, if it has none."""
        base, rest = expression.partition("<")[0], expression.partition("<")[2]
        names = {d.qualified for d in self._declared.kernels if d.is_template and d.name == base}
        return f"{names.pop()}<{rest}" if len(names) == 1 else expression


class CudaEntry(SourceEntry):
    """A kernel of CUDA C++. `launch`, `check` and the other methods take arguments of the types in the source.

    Numbers are converted to `int`, `__half` and so on; sequences to `float4` and other vectors; structures are bytes,
    ctypes structures or NumPy records; None is a null pointer.
    """

    signature: Signature

    def __init__(self, specialization: Specialization, signature: Signature, name: str):
        super().__init__(specialization, name, [param.name for param in signature.params])
        self.signature = signature

    def __repr__(self) -> str:
        return f"<pyptx entry {self.signature}>"

    def _configured(self, config: LaunchConfig | None, args: Sequence[Any]) -> tuple[LaunchConfig, Sequence[Any]]:
        config, args = super()._configured(config, args)
        return config, converted(self.signature, self.params, args)

    def debug(self, *args: Any, **options: Any) -> DebugSession:
        """Start a debugging session; arguments as for `Entry.debug`.

        C++ variables have names in kernels compiled with -G: `pyptx.cuda(source, debug=True)`; shared variables always.
        """
        session = super().debug(*args, **options)
        session.launch.shared_types = self._shared_types(session.launch.program.shared_variables)
        return session

    def _shared_types(self, variables: Iterable[SharedVariable]) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return element type and shape of shared variables as the sources declare them, by PTX name."""
        module = self._specialization.module
        places = {i.place for f in module.functions for i in instructions(f) if isinstance(i.place, SourceLocation)}
        files = dict.fromkeys(here.file for place in places for here in place.stack)
        texts = ("".join(linecache.getlines(file)) for file in files)
        declared = {d.name: d for text in texts for d in declared_variables(text, ("__shared__",))}
        found = {}
        for variable in variables:
            source = declared.get(local_names(variable.name))
            typed = element_type(source, variable.size) if source and variable.size else None
            if typed is not None:
                found[variable.name] = typed
        return found

    def _renamed(self, text: str) -> str:
        return super()._renamed(local_names(text))


def _is_toolkit(file: str) -> bool:
    return any(file.startswith(f"{folder}{os.sep}") for folder in map(str, toolkit_folders()))


def _normal(name: str) -> str:
    """Return a name expression with canonical blanks."""
    return re.sub(r"\s*([<>,*&:()])\s*", r"\1", " ".join(name.split())).replace(",", ", ")


def _base(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2]
