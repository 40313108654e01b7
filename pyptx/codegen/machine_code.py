"""Machine code of a module, for the comparison of a transpiled program with its original.

mbarrier spin loops are normalized first: `W: try_wait p; @p bra D; bra W; D:` is `W: try_wait p; @!p bra W; D:`, which
`ptx.mbarrier.wait` emits and which ptxas compiles to a different branch.
"""

from __future__ import annotations

from dataclasses import replace

from pyptx.codegen.canonical import strip_comments
from pyptx.emitter import emit
from pyptx.errors import ToolError
from pyptx.ir.nodes import Block, Directive, Function, Instruction, Label, LabelOperand, Module, Predicate, Statement
from pyptx.toolchain.elf import sections
from pyptx.toolchain.ptxas import run_ptxas

__all__ = ["machine_code"]

MAX_CHARACTERS = 1 << 18  # of PTX; larger modules take ptxas too long to be assembled several times
_COMPARED = (".text.", ".nv.constant", ".nv.global", ".nv.shared", ".nv.info.")
_PROGBITS = 1


def machine_code(module: Module) -> dict[str, bytes] | None:
    """Return the sections with code and data, by name.

    Returns:
        None if ptxas is not installed or refuses the module, or the module is too large.
    """
    text = emit(replace(module, directives=tuple(map(_normalized, module.directives))))
    if len(text) > MAX_CHARACTERS:
        return None
    options = ("-c",) if ".extern .func" in text or ".extern .global" in text else ()
    try:
        cubin = run_ptxas(text, module.target.targets[0], options).cubin
    except ToolError:
        return None
    if not cubin:
        return None
    return {s.name: s.data for s in sections(cubin) if s.kind == _PROGBITS and s.name.startswith(_COMPARED)}


def _normalized(node: Directive) -> Directive:
    if not isinstance(node, Function) or node.declaration:
        return node
    return replace(node, body=_normalize_waits(node.body), formatting=None)


def _normalize_waits(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return the statements with spin loops on try_wait normalized, without comments and source lines."""
    out: list[Statement] = []
    for node in strip_comments(body):
        if isinstance(node, Block):
            node = Block(_normalize_waits(node.body))
        out.append(node)
        match out[-5:]:
            case [
                Label(start),
                Instruction("mbarrier", (".try_wait", *_), _, None) as wait,
                Instruction("bra", _, (LabelOperand(exit_),), Predicate(done, False)),
                Instruction("bra", _, (LabelOperand(back),), None),
                Label(end) as after,
            ] if (exit_, back) == (end, start):
                again = Instruction("bra", (), (LabelOperand(start),), Predicate(done, True))
                out[-5:] = [Label(start), wait, again, after]
    return tuple(out)
