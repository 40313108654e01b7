"""Readable Python for a module, proven: what was written is executed, traced and compared with the module.

Every rewrite asks a `Budget`. Where the comparison finds a difference, rewrites of that function are taken back until
there is none: all of one kind, then only those that matter. A function that cannot be written so keeps the names of its
registers, one call an instruction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from pyptx import validate
from pyptx.codegen.body import BodyWriter
from pyptx.codegen.demangle import plain_name
from pyptx.codegen.directives import FileWriter
from pyptx.codegen.dissolve import dissolved, pretty_labels
from pyptx.codegen.flow import If, Item, Loop, Region, references, structured, without_idle_jumps
from pyptx.codegen.fluent import Fluent
from pyptx.codegen.helpers import helped
from pyptx.codegen.idioms import Range, ranges, waits
from pyptx.codegen.layout import Lines
from pyptx.codegen.plain import plain
from pyptx.codegen.prove import traced
from pyptx.codegen.rolls import rolled
from pyptx.codegen.same import differences
from pyptx.codegen.scopes import Names
from pyptx.codegen.variables import NotFluent
from pyptx.errors import PtxError
from pyptx.ir.nodes import Function, Instruction, Module, RegDecl

__all__ = ["Budget", "apply_sugar"]

KINDS = ("helper", "roll", "wait", "inline", "keep", "value", "range", "else", "if", "loop")
_ROUNDS = 24                                            # proofs spent on one function


@dataclass(slots=True)
class Budget:
    """Numbers the rewrites of a function and allows them, but for those forbidden."""

    forbidden: set[tuple[str, int]] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)        # none of these
    taken: Counter = field(default_factory=Counter)

    def __call__(self, kind: str) -> bool:
        self.taken[kind] += 1
        return kind not in self.kinds and (kind, self.taken[kind] - 1) not in self.forbidden


def apply_sugar(module: Module, *, kernel_name: str | None = None) -> str:
    """Readable Python that traces to the same program; see ptx_to_python.

    Where not even functions that keep their names are proven - two things of one name, which no assembler takes - the
    whole file is plain.

    Raises:
        TranspileError: not even the plain Python traces back.
    """
    writer = _Sugar(module, kernel_name)
    text = writer.text(module)
    if not _differs(text, module):
        return text
    for function in module.functions:
        if not function.declaration:
            writer.repair(function)
    text = writer.text(module)
    return plain(module, kernel_name=kernel_name) if _differs(text, module) else text


def _differs(text: str, module: Module) -> str:
    """What is wrong with the Python, "" when nothing is: what it traces to is the same program, and as valid."""
    try:
        again = traced(text)
        found = differences(module, again, names=False)
        if not found and not _refused(module):
            found = _refused(again)                     # registers may have got other types
        return "; ".join(found[:3])
    except (PtxError, TypeError, ValueError, LookupError, AttributeError, NameError, SyntaxError) as error:
        return f"{type(error).__name__}: {error}"


def _refused(module: Module) -> list[str]:
    return [d.message for d in validate.check(module) if d.severity == "error"]


class _Sugar:
    def __init__(self, module: Module, kernel_name: str | None):
        self.module = module
        self.budgets: dict[str, Budget] = {}
        self.plain: set[str] = set()                    # functions that keep names and flow
        first = next((f.name for f in module.entries), None)
        self.names = {f.name: kernel_name if kernel_name and f.is_entry and f.name == first else plain_name(f.name)
                      for f in module.functions}

    def text(self, module: Module) -> str:
        return FileWriter(module, function_name=lambda f: self.names[f.name], write_body=self._body).text()

    def repair(self, function: Function) -> None:
        """Take back rewrites of a function until it is proven."""
        alone = replace(self.module, directives=tuple(
            d if not isinstance(d, Function) or d.name == function.name else replace(d, body=())
            for d in self.module.directives))

        def wrong(budget: Budget) -> bool:
            self.budgets[function.name] = budget
            return bool(_differs(self.text(alone), alone))

        if not wrong(Budget()):
            return
        done = self.budgets[function.name].taken
        kinds: set[str] = set()
        for kind in KINDS:
            kinds.add(kind)
            if not wrong(Budget(kinds=set(kinds))):
                break
        else:
            self.plain.add(function.name)
            return
        for kind in sorted(kinds):                      # kinds that were not to blame
            if len(kinds) > 1 and not wrong(Budget(kinds=kinds - {kind})):
                kinds.discard(kind)
        if len(kinds) == 1:
            self._narrow(wrong, kinds.copy().pop(), done)
        else:
            wrong(Budget(kinds=kinds))

    def _narrow(self, wrong, kind: str, done: Counter) -> None:
        """Forbid as few rewrites of a kind as a halving finds."""
        forbidden = {(kind, i) for i in range(done[kind])}
        size, rounds = len(forbidden), 0
        while size > 1 and rounds < _ROUNDS:
            size = (size + 1) // 2
            left = sorted(forbidden)
            for start in range(0, len(left), size):
                rounds += 1
                fewer = forbidden - set(left[start:start + size])
                if fewer != forbidden and not wrong(Budget(fewer)):
                    forbidden = fewer
        if wrong(Budget(forbidden)):
            wrong(Budget(kinds={kind}))

    def _body(self, lines: Lines, names: Names, types: set[str], function: Function) -> None:
        budget = self.budgets.get(function.name)
        if budget is not None:
            budget.taken.clear()
        if function.name in self.plain or "debug" in self.module.target.targets:        # where every .loc counts
            self._plain(lines, names, types, function)
            return
        before, known = len(lines.out), set(types)
        try:
            declared, statements = dissolved(function.body)
            items = _arranged(pretty_labels(without_idle_jumps(statements)), declared, budget or Budget())
            Fluent(lines, names, types, declared, items, budget or Budget(),
                   frozenset(p.name for p in function.params if p.array_size is None) if function.is_entry
                   else frozenset(), function.name).write()
        except (NotFluent, ValueError):                 # what can be said as text only
            del lines.out[before:]
            types.clear()
            types.update(known)
            self._plain(lines, names, types, function)

    def _plain(self, lines: Lines, names: Names, types: set[str], function: Function) -> None:
        BodyWriter(lines, names, types, debug="debug" in self.module.target.targets).body(function.body)


def _arranged(statements: list, declared: list[RegDecl], take: Budget) -> list[Item]:
    """Statements structured, waits and repeated groups found."""
    counts = {d.name: d.count for d in declared if d.count is not None}

    def indexed(name: str) -> bool:
        base = name.rstrip("0123456789")
        return base in counts and len(base) < len(name) and int(name[len(base):]) < counts[base]

    uses: Counter = Counter(references(statements))
    for node in statements:
        if isinstance(node, Instruction):
            if node.predicate is not None:
                uses[node.predicate.register] += 1
            for operand in node.operands:
                uses[getattr(operand, "name", "")] += hasattr(operand, "name") and operand.name[:1] == "%"
    items = ranges(waits(structured(statements, take), uses, take), uses, take)
    return _rolled(helped(items, take), indexed, take)


def _rolled(items: list[Item], indexed, take: Budget) -> list[Item]:
    for item in items:
        match item:
            case Loop(body=body) | Region(body=body) | Range(body=body):
                item.body = _rolled(body, indexed, take)
            case If():
                item.then = _rolled(item.then, indexed, take)
                item.otherwise = _rolled(item.otherwise, indexed, take)
    return rolled(items, indexed, take)
