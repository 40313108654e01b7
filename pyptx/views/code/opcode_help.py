"""Descriptions of the opcodes of a view: what an instruction does, its operands, its pipe and latency, its section in the manual."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.constants import find_constants
from pyptx.analysis.model.pipes import pipe_use
from pyptx.analysis.sass.opcodes import describe_opcode, opcode_group
from pyptx.errors import ShapeError
from pyptx.ir.nodes import Module
from pyptx.ir.visit import instructions
from pyptx.isa import cheaper, match, op_of
from pyptx.isa._schema import MANUAL

__all__ = ["opcode_help", "opcode_reference"]

_MEMORY = frozenset(("global", "shared", "local", "atomic", "texture"))  # groups whose latency depends on the access


def opcode_help(module: Module, sass: Iterable[str]) -> dict[str, str]:
    """Return opcode -> description in one sentence, of PTX and, in capitals, of machine instructions."""
    opcodes = {instruction.opcode for function in module.functions for instruction in instructions(function)}
    ptx = {opcode: op.summary for opcode in sorted(opcodes) if (op := op_of(opcode)) is not None}
    words = sorted({opcode.partition(".")[0] for opcode in sass})
    return ptx | {word: f"{meaning[0].upper()}{meaning[1:]}." for word in words if (meaning := describe_opcode(word))}


def opcode_reference(module: Module, sass: Iterable[str], target: str) -> dict[str, dict[str, Any]]:
    """Return what the tables know of the instructions of a module.

    Returns:
        "syntax": PTX mnemonic -> its line of the manual with the operands; "section": mnemonic -> URL of its section;
        "summary": mnemonic -> one sentence, where it is more specific than that of the opcode; "pipe": opcode of a machine
        instruction -> pipe and latency in the performance model of the target's GPU; "cheaper": mnemonic -> cheaper forms,
        each [mnemonic, what it gives up].
    """
    found = {
        (one.opcode, tuple(one.modifiers))
        for function in module.functions
        for one in instructions(function)
        if op_of(one.opcode) is not None
    }
    syntax, section, summary, cheap = {}, {}, {}, {}
    for opcode, modifiers in sorted(found):
        if forms := match(opcode, modifiers):
            form, mnemonic = forms[0].form, opcode + "".join(modifiers)
            syntax[mnemonic], section[mnemonic] = form.syntax, f"{MANUAL}#{form.op.section}"
            op = op_of(opcode)
            if op is not None and form.op.summary != op.summary:
                summary[mnemonic] = form.op.summary
            if others := cheaper(opcode, modifiers):
                cheap[mnemonic] = [[other.mnemonic, other.price] for other in others]
    return {"syntax": syntax, "section": section, "summary": summary, "pipe": _pipes(sass, target), "cheaper": cheap}


def _pipes(sass: Iterable[str], target: str) -> dict[str, str]:
    try:
        on = gpu(target)
    except ShapeError:  # the model has no GPU of this target
        return {}
    constants, texts = find_constants(on.name, on.target), {}
    for opcode in sorted(set(sass)):
        use = pipe_use(opcode, on, constants)
        if opcode_group(opcode) not in _MEMORY and use.unit:
            rate = f"{use.cycles:.3g} cycle{'' if use.cycles == 1 else 's'} of the SM per warp"
            texts[opcode] = f"{use.unit} pipe: {rate}; result after {use.latency:.3g} cycles (modeled, {on.name})"
    return texts
