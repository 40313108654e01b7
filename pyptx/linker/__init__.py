"""Linking of modules: their symbols are resolved as nvlink resolves them, and their trees are joined.

A name with `.visible`, `.weak` or `.common` is shared by all modules; one without is private to its module, and renamed
where another module has the same name. An `.extern` declaration refers to the definition in another module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pyptx.emitter import emit
from pyptx.errors import InputError
from pyptx.ir.nodes import (
    SILENT,
    Alias,
    Directive,
    File,
    Function,
    Module,
    RawLine,
    Target,
    VarDecl,
    Version,
)
from pyptx.ir.types import LinkingDirective, StateSpace
from pyptx.ir.visit import undefined_functions
from pyptx.isa import targets
from pyptx.linker.source_locations import SourceLocations, without_locations
from pyptx.parser import parse, tokenize
from pyptx.parser.tokens import TokenKind

__all__ = ["Linked", "link"]


class Linked(NamedTuple):
    """Result of `link`.

    Attributes:
        module: the joined tree, parsed from its text: declarations, then the functions of one module after the other.
        objects: text of each module with its private names made unique, to be assembled by itself. A line of a function
            has the number that it has in the text of `module`; source locations are only in `module`.
    """

    module: Module
    objects: tuple[str, ...]


def link(modules: Sequence[tuple[str, Module]]) -> Linked:
    """Link modules.

    Args:
        modules: names, for messages, and trees; two or more.
    Raises:
        InputError: a name is defined twice or nowhere, is declared differently from its definition, or no GPU runs the
            targets of all modules.
    """
    header = _header(modules)
    parts = [_Part(name, module) for name, module in modules]
    _make_private_names_unique(parts)
    chosen = _definitions(parts)
    _require_defined(parts, chosen)
    return _Layout(header, parts, chosen).result()


@dataclass(eq=False)
class _Part:
    """A module to be linked."""

    name: str
    module: Module

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        """Directives without comments and debug information."""
        return tuple(d for d in self.module.directives if not isinstance(d, (*SILENT, RawLine)))

    @property
    def functions(self) -> Iterator[Function]:
        return (d for d in self.directives if isinstance(d, Function))

    @property
    def variables(self) -> Iterator[VarDecl]:
        return (d for d in self.directives if isinstance(d, VarDecl))

    @cached_property
    def defined(self) -> dict[str, Function | VarDecl]:
        """Definitions of the module by name."""
        found: dict[str, Function | VarDecl] = {f.name: f for f in self.functions if not f.declaration}
        return found | {v.symbol: v for v in self.variables if v.linking is not LinkingDirective.EXTERN}

    @cached_property
    def private(self) -> set[str]:
        """Names of definitions that other modules do not see."""
        return {
            name
            for name, node in self.defined.items()
            if node.linking is None and not (isinstance(node, Function) and node.is_entry)
        }

    def renamed(self, names: dict[str, str]) -> _Part:
        """Return the module with other names for some of its symbols."""
        tokens = tokenize(emit(self.module))
        text = "".join(
            t.leading_whitespace + (names.get(t.text, t.text) if t.kind is TokenKind.IDENTIFIER else t.text)
            for t in tokens
        )
        return _Part(self.name, parse(text))


class _Definition(NamedTuple):
    """The definition that a name refers to in all modules."""

    part: _Part
    node: Function | VarDecl


def _header(modules: Sequence[tuple[str, Module]]) -> Module:
    """Return an empty module with the newest version, and with the target that runs on what all targets run on."""
    version = max((m.version.major, m.version.minor) for _, m in modules)
    names = {m.target.targets[0]: name for name, m in modules}
    every = [targets.parse(t) for t in names]
    fits = [t for t, parsed in zip(names, every, strict=True) if all(other.runs_on(parsed) for other in every)]
    if not fits:
        listed = ", ".join(f"{name} targets {target}" for target, name in names.items())
        raise InputError(f"no GPU runs all modules: {listed}", hint="compile them for the same target")
    sizes = {m.address_size.size: name for name, m in modules}
    if len(sizes) > 1:
        raise InputError(f"{sizes[32]} has 32-bit addresses and {sizes[64]} has 64-bit addresses")
    options = dict.fromkeys(option for _, m in modules for option in m.target.targets[1:])
    return Module(Version(*version), Target((fits[-1], *options)), replace(modules[0][1].address_size, formatting=None))


def _make_private_names_unique(parts: list[_Part]) -> None:
    taken = {name for part in parts for name in part.defined if name not in part.private}
    taken |= {f.name for part in parts for f in part.functions if f.declaration and f.name not in part.defined}
    taken |= {v.symbol for part in parts for v in part.variables if v.symbol not in part.defined}
    for index, part in enumerate(parts):
        names = {}
        for name in sorted(part.private):
            unique, number = name, index
            while unique in taken or (unique != name and unique in part.private):
                number += 1
                unique = f"{name}${number}"
            taken.add(unique)
            if unique != name:
                names[name] = unique
        if names:
            parts[index] = part.renamed(names)


def _definitions(parts: Sequence[_Part]) -> dict[str, _Definition]:
    """Return the definition of each name: the strong one, else the first weak one, else the largest common one."""
    found: dict[str, _Definition] = {}
    for part in parts:
        for name, node in part.defined.items():
            before = found.get(name)
            if before is None or _precedes(_Definition(part, node), before, name):
                found[name] = _Definition(part, node)
    return found


_STRENGTH = {LinkingDirective.COMMON: 0, LinkingDirective.WEAK: 1}


def _precedes(new: _Definition, old: _Definition, name: str) -> bool:
    _require_same_kind(name, new, old)
    strength, before = (_STRENGTH.get(d.node.linking, 2) if d.node.linking else 2 for d in (new, old))
    if strength == before == 2:
        raise InputError(
            f"{name} is defined in {old.part.name} and in {new.part.name}",
            hint="make one of them .weak, or private by removing .visible"
            if not (isinstance(new.node, Function) and new.node.is_entry)
            else "rename one of the entries",
        )
    if strength == before == 0 and isinstance(new.node, VarDecl) and isinstance(old.node, VarDecl):
        return new.node.elements > old.node.elements
    return strength > before


def _require_same_kind(name: str, one: _Definition, other: _Definition) -> None:
    if isinstance(one.node, Function) is not isinstance(other.node, Function):
        kinds = ["function" if isinstance(d.node, Function) else "variable" for d in (other, one)]
        raise InputError(
            f"{name} is a {kinds[0]} in {other.part.name} and a {kinds[1]} in {one.part.name}",
            hint="rename one of them",
        )
    if isinstance(one.node, VarDecl) and isinstance(other.node, VarDecl):
        spaces = [d.node.state_space.value for d in (other, one) if isinstance(d.node, VarDecl)]
        types = [d.node.type.value for d in (other, one) if isinstance(d.node, VarDecl)]
        if spaces[0] != spaces[1] or types[0] != types[1]:
            raise InputError(
                f"{name} is .{spaces[0]} .{types[0]} in {other.part.name} and .{spaces[1]} .{types[1]} in {one.part.name}",
                hint="declare it as it is defined",
            )
    if isinstance(one.node, Function) and isinstance(other.node, Function):
        signatures = [_signature(d.node) for d in (other, one) if isinstance(d.node, Function)]
        if signatures[0] != signatures[1]:
            raise InputError(
                f"{name} has other parameters in {other.part.name} than in {one.part.name}",
                hint="declare it as it is defined",
            )


def _signature(function: Function) -> list[list[tuple[str, int | None]]]:
    """Types and array sizes of the parameters and results; bits of one size are the same type."""
    return [
        [(p.type.value.lstrip("usfb"), p.array_size) for p in params or ()]
        for params in (function.return_params, function.params)
    ]


def _require_defined(parts: Sequence[_Part], chosen: dict[str, _Definition]) -> None:
    names = " and ".join(part.name for part in parts) if len(parts) == 2 else ", ".join(part.name for part in parts)
    for part in parts:
        called = set(undefined_functions(part.module))
        for function in part.functions:
            if not function.declaration or function.name in part.defined:
                continue
            if (found := chosen.get(function.name)) is not None:
                _require_same_kind(function.name, _Definition(part, function), found)
            elif function.name in called:
                raise InputError(
                    f"{function.name}, which {part.name} calls, is not defined in {names}",
                    hint="add the module that defines it as .visible or .weak",
                )
        for variable in part.variables:
            if variable.linking is not LinkingDirective.EXTERN:
                continue
            if (found := chosen.get(variable.symbol)) is not None:
                _require_same_kind(variable.symbol, _Definition(part, variable), found)
            elif not _is_dynamic(variable):
                raise InputError(
                    f"{variable.symbol}, a variable that {part.name} declares .extern, is not defined in {names}",
                    hint="add the module that defines it as .visible, .weak or .common",
                )


def _is_dynamic(variable: VarDecl) -> bool:
    """Return True for an array in dynamic shared memory."""
    shared = (StateSpace.SHARED, StateSpace.SHARED_CTA)
    return variable.linking is LinkingDirective.EXTERN and variable.state_space in shared and variable.array_size == 0


class _Layout:
    """Lines of the joined text and of the objects."""

    def __init__(self, header: Module, parts: Sequence[_Part], chosen: dict[str, _Definition]):
        self.header, self.parts, self.chosen = header, parts, chosen
        self.header_text = emit(header)

    def result(self) -> Linked:
        locations = SourceLocations()
        located = [locations.renumbered(part.module.directives) for part in self.parts]
        lines = [*self.header_text.splitlines(), f"// linked: {', '.join(part.name for part in self.parts)}"]
        files, names = [], []
        for node in locations.directives():
            (files if isinstance(node, File) else names).extend(self._text(node))
        lines += [*files, *self._declarations()]
        objects = [self._object_head(part) for part in self.parts]
        for part, rows, functions in zip(self.parts, objects, located, strict=True):
            for directive in part.directives:
                if not self._is_placed(part, directive):
                    continue
                text = self._text(functions[directive.name] if isinstance(directive, Function) else directive)
                rows += [""] * (len(lines) + 1 - len(rows)) + without_locations(text)
                lines += ["", *text]
        module = parse("\n".join([*lines, *names]) + "\n")
        return Linked(module, tuple("\n".join(rows) + "\n" for rows in objects))

    def _is_placed(self, part: _Part, directive: Directive) -> bool:
        """Return whether a directive has lines of its own: the chosen definition of a function, or an alias."""
        if isinstance(directive, Function):
            return not directive.declaration and self.chosen[directive.name].node is directive
        return isinstance(directive, Alias)

    def _declarations(self) -> list[str]:
        """Prototypes of all functions, then all variables, each once."""
        nodes: dict[str, Directive] = {}
        for part in self.parts:
            for function in part.functions:
                name = function.name
                found = self.chosen.get(name)
                if function.is_entry or name in nodes:
                    continue
                nodes[name] = function if found is None else _prototype(found.node)
        for part in self.parts:
            for variable in part.variables:
                found, name = self.chosen.get(variable.symbol), variable.symbol
                before = nodes.get(name)
                if found is not None:
                    nodes.setdefault(name, found.node)
                elif not isinstance(before, VarDecl) or (variable.alignment or 1) > (before.alignment or 1):
                    nodes[name] = variable
        others = [d for part in self.parts for d in part.directives if not isinstance(d, Function | VarDecl | Alias)]
        return [line for node in (*nodes.values(), *others) for line in self._text(_unformatted(node))]

    def _object_head(self, part: _Part) -> list[str]:
        """Header of an object and, in one line, its declarations."""
        functions: dict[str, Directive] = {}
        for function in part.functions:
            if function.is_entry:
                continue
            found = self.chosen.get(function.name)
            own = found is not None and found.node is part.defined.get(function.name)
            prototype = _prototype(function)
            functions[function.name] = prototype if own else replace(prototype, linking=LinkingDirective.EXTERN)
        others = [d for d in part.directives if not isinstance(d, Function | Alias)]
        words = (" ".join(self._text(_unformatted(node))) for node in (*functions.values(), *others))
        return [*self.header_text.splitlines(), " ".join(words)]

    def _text(self, directive: Directive) -> list[str]:
        whole = emit(replace(self.header, directives=(directive,)))
        return whole.removeprefix(self.header_text).strip("\n").split("\n")


def _prototype(node: Directive) -> Function:
    assert isinstance(node, Function), "kinds are checked before"
    return replace(node, body=(), declaration=True, formatting=None)


def _unformatted(node: Directive) -> Directive:
    return replace(node, formatting=None)
