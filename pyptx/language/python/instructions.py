"""Instructions in Python kernels, spelled `ptx.inst.add.rn.f32(d, a, b)`: their mnemonics, help, and wrong spellings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyptx import isa
from pyptx.errors import Diagnostic
from pyptx.isa.identifiers import from_identifier
from pyptx.language.hover import Hover, describe_instruction
from pyptx.language.python.tokens import PythonToken
from pyptx.validate import mnemonic_problem

__all__ = ["Chain", "find_chains", "hover_chain", "wrong_chains"]


class Chain(NamedTuple):
    """A mnemonic from `start` to `end`: `ptx.inst.ld.global_.f32`.

    Attributes:
        words: opcode and modifiers, with dots: ("ld", ".global", ".f32").
        opcode: offset of the opcode.
        called: whether arguments follow, so that it is complete.
    """

    words: tuple[str, ...]
    start: int
    opcode: int
    end: int
    called: bool


def find_chains(tokens: Sequence[PythonToken]) -> Iterator[Chain]:
    """Yield the mnemonics in source order."""
    for at, token in enumerate(tokens):
        if token.text != "inst" or [t.text for t in tokens[max(at - 2, 0) : at]] != ["ptx", "."]:
            continue
        names, end = [], at + 1
        while end + 1 < len(tokens) and tokens[end].text == "." and tokens[end + 1].kind == "name":
            names.append(tokens[end + 1])
            end += 2
        if names:
            opcode, *modifiers = (from_identifier(name.text) for name in names)
            words = (opcode, *("." + word for word in modifiers))
            called = end < len(tokens) and tokens[end].text == "("
            yield Chain(words, tokens[at - 2].start, names[0].start, names[-1].end, called)


def hover_chain(chains: Sequence[Chain], offset: int) -> Hover | None:
    """Return the help for the mnemonic at an offset."""
    for chain in chains:
        if chain.start <= offset <= chain.end:
            text = describe_instruction(chain.words)
            return None if text is None else Hover(chain.start, chain.end, text)
    return None


def wrong_chains(chains: Sequence[Chain]) -> Iterator[tuple[Chain, Diagnostic]]:
    """Yield the mnemonics that no instruction has; of an incomplete one only what is wrong already."""
    for chain in chains:
        opcode, *modifiers = chain.words
        if not chain.called and isa.complete(opcode, tuple(modifiers)):
            continue
        if problem := mnemonic_problem(opcode, tuple(modifiers)):
            yield chain, Diagnostic("error", f"{opcode}{''.join(modifiers)}: {problem.message}", hint=problem.hint)
