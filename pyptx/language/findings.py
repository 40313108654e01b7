"""Findings of a source while it is edited, as spans of its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyptx.errors import Diagnostic
from pyptx.language.diagnostics import find_diagnostics, span
from pyptx.language.python.instructions import wrong_chains
from pyptx.language.python.strings import F_STRING
from pyptx.language.regions import Region
from pyptx.language.source import Source
from pyptx.parser import ParseError, statements
from pyptx.validate import mnemonic_problem

__all__ = ["Finding", "find_problems"]


class Finding(NamedTuple):
    """A message for the text from `start` to `end`; `severity` is "error", "warning" or "information"."""

    start: int
    end: int
    severity: str
    message: str
    hint: str | None = None


def find_problems(source: Source, target: str | None = None) -> list[Finding]:
    """Return the findings of a source, in source order.

    Args:
        target: check for this target, such as "sm_90a", instead of the one in the text.
    """
    found = [finding for region in source.regions for finding in _of_region(region, target)]
    for chain, wrong in wrong_chains(source.chains):
        found.append(Finding(chain.opcode, chain.end, wrong.severity, wrong.message, wrong.hint))
    return sorted(found, key=lambda one: one.start)


def _of_region(region: Region, target: str | None) -> Iterator[Finding]:
    if region.unknown:
        if region.kind == "module":
            message = (
                f"this PTX is only checked in part: it is {region.unknown}, and its text is known when Python runs"
            )
            yield Finding(*region.outer(*_first_word(region)), "information", message, "check it with pyptx.check_ptx")
        if region.unknown == F_STRING:
            yield from _of_mnemonics(region)
    elif region.kind == "statements":
        yield from _of_statements(region)
    else:
        yield from _placed(region, find_diagnostics(region.document.text, target))


def _placed(region: Region, found: Iterable[Diagnostic]) -> Iterator[Finding]:
    for one in found:
        yield Finding(*region.outer(*span(region.document, one)), one.severity, one.message, one.hint)


def _first_word(region: Region) -> tuple[int, int]:
    token = next(iter(region.document.tokens), None)
    return (0, 0) if token is None else (token.start, token.end)


def _of_statements(region: Region) -> Iterator[Finding]:
    """Yield the findings of `ptx.raw` that do not depend on the kernel, whose registers it may use."""
    try:
        statements(region.document.text)
    except ParseError as refused:
        yield from _placed(region, [refused.diagnostic])
    else:
        yield from _of_mnemonics(region)


def _of_mnemonics(region: Region) -> Iterator[Finding]:
    """Yield the mnemonics that no instruction has; not those that Python inserts a part of."""
    tokens = region.document.tokens
    for start, words in region.index.opcodes.items():
        end = tokens[region.document.index_at(start) + len(words) - 1].end
        first, last = region.outer(start, end)
        if last - first == end - start and (problem := mnemonic_problem(words[0], words[1:])):
            yield Finding(first, last, "error", f"{''.join(words)}: {problem.message}", problem.hint)
