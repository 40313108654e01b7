"""Tracing a function without a kernel around it, and tables of "this call writes these lines".

writes = Cases()

@writes("bar.sync 0;")
def bar():
    ptx.bar.sync()

@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_writes_its_lines(case):
    case.check()

def test_the_assembler_takes_all_of_it():
    writes.assemble()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import ndiff
from textwrap import dedent

from pyptx import validate
from pyptx.emitter import emit
from pyptx.ir.nodes import AddressSize, Function, Module, Param, Target, VarDecl, Version
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.isa import targets
from pyptx.parser import parse
from pyptx.toolchain import assemble
from pyptx.tracing.trace import DYNAMIC_SMEM, TraceContext, run, trace_scope

_VERSION = (8, 6)


def trace(body: Callable[[], object], version: tuple[int, int] = _VERSION, **options) -> TraceContext:
    """What a function writes."""
    with trace_scope(ptx_version=version, **options) as ctx:
        run(body)
    return ctx


def module_of(
    traces: dict[str, TraceContext], target: str, version: tuple[int, int] = _VERSION, params: Sequence[str] = ()
) -> Module:
    """One entry for each trace; every parameter is a u64."""
    own = tuple(Param(StateSpace.PARAM, ScalarType.U64, name) for name in params)
    entries = [
        Function(True, name, tuple(replace(p, name=p.name) for p in own), None, ctx.body(), LinkingDirective.VISIBLE)
        for name, ctx in traces.items()
    ]
    dynamic = any(ctx.uses_dynamic_smem for ctx in traces.values())
    extern = [VarDecl(StateSpace.SHARED, ScalarType.B8, DYNAMIC_SMEM, 0, 128, None, LinkingDirective.EXTERN)] * dynamic
    lines = [line for ctx in traces.values() for line in ctx.module_files]
    return Module(Version(*version), Target((target,)), AddressSize(64), (*lines, *extern, *entries))


def written(body: Callable[[], object], version: tuple[int, int] = _VERSION, **options) -> list[str]:
    """The lines of the body a function writes, without indentation and declarations."""
    return list(_statements(emit(module_of({"k": trace(body, version, **options)}, "sm_90a", version))))


def _statements(text: str) -> Iterator[str]:
    for line in text.split("\n{\n", 1)[1].rsplit("\n}", 1)[0].splitlines():
        if line.strip() and not line.startswith(("\t.reg", "\t.shared")):  # those of the function itself
            yield line.strip()


@dataclass(frozen=True, slots=True)
class Case:
    body: Callable[[], object]
    lines: tuple[str, ...]
    target: str
    version: tuple[int, int]

    def check(self) -> None:
        """The last lines written are the expected ones."""
        found = written(self.body, self.version)[-len(self.lines) :]
        assert found == list(self.lines), "\n" + "\n".join(ndiff(list(self.lines), found))

    def __str__(self) -> str:
        return self.body.__name__


@dataclass
class Cases:
    """A table of calls and the lines they write; the parameters `m` and `p` are there for all of them."""

    cases: list[Case] = field(default_factory=list)

    def __call__(self, text: str, target: str = "sm_90a", version: tuple[int, int] | None = None):
        lines = tuple(line.strip() for line in dedent(text).strip().splitlines())

        def add(body: Callable[[], object]) -> Callable[[], object]:
            needed = version or max(_VERSION, targets.default_version(target))
            self.cases.append(Case(body, lines, target, needed))
            return body

        return add

    def assemble(self) -> None:
        """Assemble every case, all of a target and version in one module."""
        groups: dict[tuple[str, tuple[int, int]], list[Case]] = {}
        for case in self.cases:
            groups.setdefault((case.target, case.version), []).append(case)
        for (target, version), cases in groups.items():
            traces = {str(case): trace(case.body, version) for case in cases}
            accept(module_of(traces, target, version, params=("m", "p")))

    def read_back(self) -> None:
        """The text of all cases is read and written as it is."""
        text = emit(module_of({str(case): trace(case.body) for case in self.cases}, "sm_100a", (8, 8)))
        assert text.endswith("\n") and emit(parse(text)) == text


def accept(module: Module) -> None:
    """Hold a module against the table and the assembler; what either refuses is the failure."""
    refused = [str(d) for d in validate.check(module) if d.severity == "error"]
    assert not refused, "\n".join(refused)
    assemble(emit(module), target=module.target.targets[0])
