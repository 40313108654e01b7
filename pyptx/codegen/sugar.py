"""Readable Python for a module, verified: the generated source is executed, traced and compared with the module.

Two comparisons must hold: the canonical forms are equal, and ptxas, if it is installed, generates equal machine code.

Each rewrite consults a `RewriteFilter`. If the comparison finds a difference, rewrites of that function are disabled
until there is none: all of one kind first, then as few as a bisection finds. A function that still differs keeps its
register names, with one call per instruction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyptx import validate
from pyptx.codegen.body_writer import BodyWriter
from pyptx.codegen.control_flow import count_label_references, drop_fallthrough_branches, structure_control_flow
from pyptx.codegen.demangle import plain_name
from pyptx.codegen.execution import Part, text_of, trace_parts
from pyptx.codegen.file_writer import FileWriter, plain_python
from pyptx.codegen.flatten_scopes import flatten_scopes, shorten_labels
from pyptx.codegen.items import If, Item, Loop, Range, Region
from pyptx.codegen.machine_code import machine_code
from pyptx.codegen.patterns import match_descriptors, match_ranges, match_waits
from pyptx.codegen.python_source import Lines
from pyptx.codegen.reroll import reroll
from pyptx.codegen.scopes import RegisterScopes
from pyptx.codegen.sugar_writer import SugarWriter
from pyptx.codegen.verify import differences
from pyptx.ir.nodes import (
    Function,
    Instruction,
    LabelOperand,
    Module,
    RegDecl,
    RegisterOperand,
    Statement,
    SubscriptOperand,
)

__all__ = ["RewriteFilter", "apply_sugar"]

CONTROL = ("jump", "else", "if", "loop")  # kinds that change control flow, the usual reason for other machine code
REWRITES = ("helper", "roll", "wait", "inline", "keep", "value", "range")  # other kinds
_MAX_ROUNDS = 24  # verifications per function while bisecting, fewer for large functions
_BISECTED = 60_000  # characters of Python verified while bisecting, about


@dataclass(slots=True)
class RewriteFilter:
    """Numbers the rewrites of a function by kind, and allows all that are not disabled.

    Attributes:
        forbidden: disabled rewrites, by kind and number.
        kinds: kinds disabled altogether.
        taken: rewrites counted so far, by kind.
    """

    forbidden: set[tuple[str, int]] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    taken: Counter = field(default_factory=Counter)

    def __call__(self, kind: str) -> bool:
        self.taken[kind] += 1
        return kind not in self.kinds and (kind, self.taken[kind] - 1) not in self.forbidden


def apply_sugar(module: Module, *, kernel_name: str | None = None) -> str:
    """Return readable Python that traces to the same program; see `ptx_to_python`.

    Falls back to plain Python for the whole file if verification fails even with exact register names, as it does for
    duplicate symbols, which no assembler accepts.

    Raises:
        TranspileError: the plain Python does not trace back either.
    """
    writer = _SugarTranspiler(module, kernel_name)
    original = _Original(module)
    parts = writer.parts(module)
    if not original.mismatch(parts):
        return text_of(parts)
    for function in module.functions:
        if not function.declaration:
            writer.repair(function)
    parts = writer.parts(module)
    return plain_python(module, kernel_name=kernel_name) if original.mismatch(parts) else text_of(parts)


class _Original:
    """A module, its errors and its machine code, for comparison with Python that should trace to it."""

    def __init__(self, module: Module):
        self.module = module
        self.refused = _refused(module)

    @cached_property
    def code(self) -> dict[str, bytes] | None:
        """Machine code; None if it cannot be assembled here."""
        return None if self.refused else machine_code(self.module)

    def mismatch(self, parts: list[Part]) -> str:
        """Return how Python differs from the module, "" if it traces to the same program and machine code."""
        try:
            again = trace_parts(parts)
            found = differences(self.module, again, names=False)
            if not found and not self.refused:
                found = _refused(again)  # register types may have changed
            if not found and self.code is not None and self.code != machine_code(again):
                found = ["ptxas generates different machine code"]
            return "; ".join(found[:3])
        except Exception as error:  # whatever generated source raises, it is not the program
            return f"{type(error).__name__}: {error}"


def _refused(module: Module) -> list[str]:
    return [d.message for d in validate.check(module) if d.severity == "error"]


class _SugarTranspiler:
    """Writes a module, with the rewrites of each function that survived verification."""

    def __init__(self, module: Module, kernel_name: str | None):
        self.module = module
        self.filters: dict[str, RewriteFilter] = {}
        self.plain: set[str] = set()  # functions written with exact names and branches
        first = next((f.name for f in module.entries), None)
        self.names = {
            f.name: kernel_name if kernel_name and f.is_entry and f.name == first else plain_name(f.name)
            for f in module.functions
        }

    def parts(self, module: Module) -> list[Part]:
        return FileWriter(module, function_name=lambda f: self.names[f.name], write_body=self._body).parts()

    def repair(self, function: Function) -> None:
        """Disable rewrites of a function until it verifies."""
        alone = replace(
            self.module,
            directives=tuple(
                d if not isinstance(d, Function) or d.name == function.name else replace(d, body=())
                for d in self.module.directives
            ),
        )

        original = _Original(alone)

        def differs(rewrites: RewriteFilter) -> bool:
            self.filters[function.name] = rewrites
            return bool(original.mismatch(self.parts(alone)))

        if not differs(RewriteFilter()):
            return
        done = self.filters[function.name].taken
        kinds: set[str] = set(CONTROL)
        for kind in (None, *REWRITES):
            kinds |= {kind} if kind else set()
            if not differs(RewriteFilter(kinds=set(kinds))):
                break
        else:
            self.plain.add(function.name)
            return
        for kind in sorted(kinds):  # re-enable kinds that are not at fault
            if len(kinds) > 1 and not differs(RewriteFilter(kinds=kinds - {kind})):
                kinds.discard(kind)
        if len(kinds) == 1:
            rounds = min(_MAX_ROUNDS, _BISECTED // len(text_of(self.parts(alone))))
            self._narrow(differs, kinds.copy().pop(), done, rounds)
        else:
            differs(RewriteFilter(kinds=kinds))

    def _narrow(self, differs: Callable[[RewriteFilter], bool], kind: str, done: Counter, rounds: int) -> None:
        """Disable as few rewrites of a kind as a bisection of `rounds` verifications finds."""
        forbidden = {(kind, i) for i in range(done[kind])}
        size = len(forbidden)
        while size > 1 and rounds > 0:
            size = (size + 1) // 2
            left = sorted(forbidden)
            for start in range(0, len(left), size):
                fewer = forbidden - set(left[start : start + size])
                if fewer != forbidden and rounds > 0:
                    rounds -= 1
                    if not differs(RewriteFilter(fewer)):
                        forbidden = fewer
        if differs(RewriteFilter(forbidden)):
            differs(RewriteFilter(kinds={kind}))

    def _body(self, lines: Lines, names: RegisterScopes, types: set[str], function: Function) -> None:
        rewrites = self.filters.get(function.name)
        if rewrites is not None:
            rewrites.taken.clear()
        if function.name in self.plain or "debug" in self.module.target.targets:  # .loc is part of the program
            self._plain(lines, names, types, function)
            return
        before, known = len(lines.out), set(types)
        try:
            declared, statements = flatten_scopes(function.body)
            items = _structure(
                shorten_labels(drop_fallthrough_branches(statements, rewrites or RewriteFilter())),
                declared,
                rewrites or RewriteFilter(),
            )
            SugarWriter(
                lines,
                names,
                types,
                declared,
                items,
                rewrites or RewriteFilter(),
                frozenset(p.name for p in function.params if p.array_size is None)
                if function.is_entry
                else frozenset(),
                function.name,
            ).write()
        except Exception:  # the exact form below expresses every function
            del lines.out[before:]
            types.clear()
            types.update(known)
            self._plain(lines, names, types, function)

    def _plain(self, lines: Lines, names: RegisterScopes, types: set[str], function: Function) -> None:
        BodyWriter(lines, names, types, debug="debug" in self.module.target.targets).body(function.body)


def _structure(statements: list[Statement], declared: list[RegDecl], allow: RewriteFilter) -> list[Item]:
    """Recover loops, conditionals, wrapper patterns and repeated groups from flat statements."""
    counts = {d.name: d.count for d in declared if d.count is not None}

    def indexed(name: str) -> bool:
        base = name.rstrip("0123456789")
        return base in counts and len(base) < len(name) and int(name[len(base) :]) < counts[base]

    uses: Counter = Counter(count_label_references(statements))
    for node in statements:
        if isinstance(node, Instruction):
            if node.predicate is not None:
                uses[node.predicate.register] += 1
            for operand in node.operands:
                if isinstance(operand, RegisterOperand | LabelOperand | SubscriptOperand) and operand.name[:1] == "%":
                    uses[operand.name] += 1
    items = match_ranges(match_waits(structure_control_flow(statements, allow), uses, allow), uses, allow)
    return _reroll_nested(match_descriptors(items, allow), indexed, allow)


def _reroll_nested(items: list[Item], indexed: Callable[[str], bool], allow: RewriteFilter) -> list[Item]:
    for item in items:
        match item:
            case Loop(body=body) | Region(body=body) | Range(body=body):
                item.body = _reroll_nested(body, indexed, allow)
            case If():
                item.then = _reroll_nested(item.then, indexed, allow)
                item.otherwise = _reroll_nested(item.otherwise, indexed, allow)
    return reroll(items, indexed, allow)
