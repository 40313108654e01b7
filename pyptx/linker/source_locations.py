"""Source locations of linked modules: `.file`, `.loc` and the names of inlined functions, with unique numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyptx.ir.nodes import (
    Block,
    Directive,
    File,
    Function,
    IntrinsicScope,
    Label,
    Loc,
    Section,
    SectionData,
    Statement,
)

__all__ = ["SourceLocations", "without_locations"]

_STRINGS = ".debug_str"
_LOCATION = re.compile(r"\s*\.loc\b")


class SourceLocations:
    """The source files and function names that the `.loc` directives of all modules refer to."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, int | None, int | None], int] = {}
        self._names: dict[tuple[SectionData, ...], str] = {}

    def renumbered(self, module: Iterable[Directive]) -> dict[str, Function]:
        """Return the defined functions of a module by name; their `.loc` directives have the numbers of all modules."""
        directives = tuple(module)
        files = {d.index: self._file(d) for d in directives if isinstance(d, File)}
        sections = [d for d in directives if isinstance(d, Section) and d.name == _STRINGS]
        names = {label: self._name(data) for section in sections for label, data in _strings(section)}

        def located(body: Iterable[Statement]) -> Iterator[Statement]:
            for node in body:
                if isinstance(node, Block | IntrinsicScope):
                    yield replace(node, body=tuple(located(node.body)))
                elif not isinstance(node, Loc):
                    yield node
                elif node.file in files:
                    yield _relocated(node, files, names)

        functions = (d for d in directives if isinstance(d, Function) and not d.declaration)
        return {f.name: replace(f, body=tuple(located(f.body))) for f in functions}

    def directives(self) -> list[Directive]:
        """Return the `.file` directives, and the section of the names."""
        found: list[Directive] = [File(number, *file) for file, number in self._files.items()]
        if self._names:
            body = [part for data, label in self._names.items() for part in (Label(label), *data)]
            found.append(Section(_STRINGS, tuple(body)))
        return found

    def _file(self, node: File) -> int:
        return self._files.setdefault((node.name, node.timestamp, node.size), len(self._files) + 1)

    def _name(self, data: tuple[SectionData, ...]) -> str:
        return self._names.setdefault(data, f"$L__info_string{len(self._names)}")


def without_locations(lines: Iterable[str]) -> list[str]:
    """Return lines of text with empty lines in place of `.loc` directives."""
    return ["" if _LOCATION.match(line) else line for line in lines]


def _strings(section: Section) -> Iterator[tuple[str, tuple[SectionData, ...]]]:
    """Yield the labels of a section, each with the data up to the next one."""
    label, data = "", []
    for node in section.body:
        if isinstance(node, Label):
            if label:
                yield label, tuple(data)
            label, data = node.name, []
        elif isinstance(node, SectionData):
            data.append(replace(node, formatting=None))
    if label:
        yield label, tuple(data)


def _relocated(node: Loc, files: dict[int, int], names: dict[str, str]) -> Loc:
    """Return a `.loc`, in a line of its own, with the numbers of all modules; an unknown caller is left out."""
    name, caller = names.get(node.function_name or ""), None
    if name is not None and node.inlined_at is not None and node.inlined_at[0] in files:
        caller = files[node.inlined_at[0]], *node.inlined_at[1:]
    return replace(
        node,
        file=files[node.file],
        function_name=name if caller else None,
        inlined_at=caller,
        formatting=None,
    )
