"""Translation units: variables, functions and kernels of one PTX file, assembled together.

    unit = Unit(arch="sm_90a")
    unit.var("const", f32, "weights", size=4, init=[1.0, 2.0, 3.0, 4.0])

    @unit.func(params=[("f32", "x")], returns=[("f32", "y")])
    def squared(): ...

    @kernel(arch="sm_90a", unit=unit)
    def k(): ...

`k.module()` contains the variables and functions of the unit and that one kernel, `unit.module()` everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pyptx._frozen import frozen
from pyptx._loc import SourceLocation, user_place
from pyptx._params import parse_params
from pyptx.errors import TraceError
from pyptx.ir.nodes import (
    AddressSize,
    BlankLine,
    Directive,
    Function,
    FunctionDirective,
    Module,
    Target,
    VarDecl,
    Version,
)
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.isa import targets
from pyptx.tracing.operand import operand
from pyptx.tracing.trace import run, trace_scope
from pyptx.types import PtxType

__all__ = ["Unit"]

Params = Iterable[tuple[str, str] | str]


class KernelPart(Protocol):
    """A kernel as a unit sees it."""

    @property
    def name(self) -> str: ...

    def specialize(self) -> Any: ...


@frozen
class _Func:
    """A device function, which is traced when the text of the unit is generated."""

    function: Callable
    head: Function

    def node(self, version: tuple[int, int]) -> Function:
        with trace_scope(ptx_version=version) as ctx:
            run(self.function)
        if ctx.faults:
            raise ctx.faults[0]
        if ctx.uses_dynamic_smem or ctx.module_files:
            raise TraceError(
                f"function {self.head.name}: dynamic shared memory and .file belong to a kernel", at=self.head.place
            )
        if ctx.externs:
            raise TraceError(
                f"function {self.head.name}: ptx.printf and ptx.check_ belong to a kernel", at=self.head.place
            )
        head = self.head
        return Function(
            False,
            head.name,
            head.params,
            head.return_params,
            ctx.body(),
            head.linking,
            head.directives,
            place=head.place,
        )


@frozen
class _KernelItem:
    """A kernel, which is traced when the text of the unit is generated."""

    kernel: KernelPart


class Unit:
    """The parts of one PTX file, in order of definition.

    Args:
        arch, version: as for `kernel`; a kernel that is compiled by itself uses its own.
        options: further arguments of `.target`, such as "debug" or "texmode_independent".
        address_size: 64 or 32.
    """

    def __init__(
        self,
        *,
        arch: str = "sm_90a",
        version: tuple[int, int] | None = None,
        options: Sequence[str] = (),
        address_size: int = 64,
    ):
        self.arch = arch
        self.version: tuple[int, int] = targets.default_version(arch) if version is None else (version[0], version[1])
        self.options: tuple[str, ...] = tuple(options)
        self.address_size: int = address_size
        self._items: list[Directive | _Func | _KernelItem] = []
        self._written: dict[str, tuple[Directive, ...]] = {}  # directives of traced kernels by name

    def __repr__(self) -> str:
        return f"<pyptx unit of {len(self._items)} parts, {self.arch}>"

    # parts ------------------------------------------------------------------------------------------------------------

    def var(
        self,
        space: str,
        dtype: PtxType,
        name: str,
        *,
        size: int | None = None,
        align: int | None = None,
        init: object = None,
        linking: str | None = None,
    ) -> str:
        """Declare a variable and return its name.

        Args:
            space: "global", "const", "shared".
            size: elements of an array, 0 for an unsized one; None declares a scalar.
            align: bytes.
            init: a number, a name, or a (nested) list of them.
            linking: "visible", "extern", "weak" or "common".
        """
        value = None if init is None else operand(init, 64 if dtype.bits == 64 else 32)
        self._items.append(
            VarDecl(
                StateSpace.from_ptx(space.replace("__", "::")),
                ScalarType.from_ptx(dtype.register),
                name,
                size,
                align,
                value,
                _linking(linking),
                place=user_place(),
            )
        )
        return name

    def raw(self, text: str) -> None:
        """Append directives as PTX text, for what `var` and `func` cannot express.

        Raises:
            TraceError: the text is not valid PTX; the message names line and column in it.
        """
        from pyptx import parser  # imported late to keep `import pyptx` fast

        place = user_place()
        try:
            module = parser.parse(f".version 9.5\n.target {self.arch}\n{text}\n")
        except parser.ParseError as refused:
            raise TraceError(
                f"unit.raw, line {refused.line - 2}, column {refused.col}: {refused.message}",
                at=place,
                hint=refused.hint,
            ) from None
        self._items += [
            d if isinstance(d, Function) or "formatting" not in d.__dataclass_fields__ else replace(d, formatting=None)
            for d in module.directives
            if not isinstance(d, BlankLine)
        ]

    def func(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        params: Params = (),
        returns: Params | None = None,
        linking: str | None = None,
        raw_directives: Iterable[tuple[str, Sequence[Any]]] = (),
    ) -> Any:
        """Turn a Python function without parameters into a device function; a decorator, with or without arguments.

        Args:
            name: its name in PTX; default: the name of the Python function.
            params, returns: (type, name) pairs such as ("b32", "x"), or whole declarations, ".reg .f32 x".
            raw_directives: between the parameters and the body, such as ("noreturn", ()).
        """

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self._items.append(
                _Func(
                    function,
                    self._head(
                        name or function.__name__,
                        params,
                        returns,
                        linking,
                        raw_directives,
                        SourceLocation(function.__code__, 0),
                    ),
                )
            )
            return function

        return add if fn is None else add(fn)

    def declare(
        self,
        name: str,
        *,
        params: Params = (),
        returns: Params | None = None,
        linking: str | None = None,
        raw_directives: Iterable[tuple[str, Sequence[Any]]] = (),
    ) -> str:
        """Declare a function that is defined later or elsewhere, and return its name; arguments as for func."""
        head = self._head(name, params, returns, linking, raw_directives, user_place())
        self._items.append(
            Function(
                False,
                name,
                head.params,
                head.return_params,
                (),
                head.linking,
                head.directives,
                place=head.place,
                declaration=True,
            )
        )
        return name

    def _head(
        self,
        name: str,
        params: Params,
        returns: Params | None,
        linking: str | None,
        directives: Iterable[tuple[str, Sequence[Any]]],
        place: SourceLocation,
    ) -> Function:
        return Function(
            False,
            name,
            parse_params(params),
            None if returns is None else parse_params(returns),
            (),
            _linking(linking),
            tuple(FunctionDirective(n, tuple(v)) for n, v in directives),
            place=place,
        )

    # text -------------------------------------------------------------------------------------------------------------

    def module(self) -> Module:
        """Return the tree of the whole file; each kernel is traced for its default template parameters."""
        directives: list[Directive] = []
        for item in self._items:
            if isinstance(item, _KernelItem):
                item.kernel.specialize()
                directives += self._written[item.kernel.name]
            else:
                directives.append(self._node(item))
        return self._module(self.version, self.arch, directives)

    def add_kernel(self, kernel: KernelPart) -> None:
        """Append a kernel; called by `kernel(unit=...)`."""
        self._items.append(_KernelItem(kernel))

    def around(self, name: str, written: tuple[Directive, ...], version: tuple[int, int], arch: str) -> Module:
        """Return the module of one kernel: its directives in the place of its definition, and all parts but kernels."""
        self._written[name] = written
        directives: list[Directive] = []
        for item in self._items:
            if not isinstance(item, _KernelItem):
                directives.append(self._node(item))
            elif item.kernel.name == name:
                directives += written
        return self._module(version, arch, directives)

    def _node(self, item: Directive | _Func) -> Directive:
        return item.node(self.version) if isinstance(item, _Func) else item

    def _module(self, version: tuple[int, int], arch: str, directives: list[Directive]) -> Module:
        return Module(
            Version(*version), Target((arch, *self.options)), AddressSize(self.address_size), tuple(directives)
        )


def _linking(word: str | None) -> LinkingDirective | None:
    return LinkingDirective.from_ptx(word) if word else None
