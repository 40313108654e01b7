"""PTX text as a module, without the parser, for the simple text of these tests."""

from __future__ import annotations

import re

from pyptx import ir
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace

__all__ = ["entry", "statement"]


def _operand(text: str) -> ir.Operand:
    text = text.strip()
    if text.startswith("{"):
        return ir.VectorOperand(tuple(map(_operand, _split(text[1:-1]))))
    if text.startswith("!"):
        return ir.NegatedOperand(_operand(text[1:]))
    if text.startswith("-%"):
        return ir.NegativeOperand(_operand(text[1:]))
    if text.startswith("["):
        base, _, offset = text[1:-1].partition("+")
        return ir.AddressOperand(base.strip(), offset.strip() or None)
    if "|" in text:
        left, right = text.split("|")
        return ir.PipeOperand(_operand(left), _operand(right))
    if text[0] == "%" or text == "_":
        return ir.RegisterOperand(text)
    if text[0].isdigit() or text[0] == "-" or text[0] == ".":
        return ir.ImmediateOperand(text)
    return ir.LabelOperand(text)


def _split(text: str) -> list[str]:
    return [p for p in re.split(r",(?![^{\[(]*[}\])])", text) if p.strip()]


def statement(text: str) -> ir.Statement:
    """One statement: `label:`, `.reg .b32 %r<4>;`, `.shared .b8 x[16];`, `@p add.s32 a, b, c;`."""
    text = text.strip().rstrip(";").strip()
    if text.endswith(":"):
        return ir.Label(text[:-1])
    if found := re.fullmatch(r"\.reg\s+\.(\w+)\s+([%\w]+)(?:<(\d+)>)?", text):
        return ir.RegDecl(ScalarType(found[1]), found[2], int(found[3]) if found[3] else None)
    if found := re.fullmatch(
        r"(\.extern\s+)?\.(shared|local|const|global)(?:\s+\.align\s+(\d+))?\s+\.(\w+)\s+(\w+)"
        r"(?:\[(\d*)\])?(?:\s*=\s*(.*))?",
        text,
    ):
        size = None if found[6] is None else int(found[6] or 0)
        return ir.VarDecl(
            StateSpace(found[2]),
            ScalarType(found[4]),
            found[5],
            size,
            int(found[3]) if found[3] else None,
            found[7],
            LinkingDirective.EXTERN if found[1] else None,
        )
    if found := re.fullmatch(r"(\w+):\s*\.branchtargets\s+(.*)", text):
        return ir.BranchTargets(found[1], tuple(t.strip() for t in found[2].split(",")))
    found = re.fullmatch(r"(?:@(!?)([%\w]+)\s+)?(\w+)([.\w:]*)\s*(.*)", text, re.S)
    modifiers = tuple("." + m for m in found[4].split(".")[1:])
    operands = tuple(map(_operand, _split(found[5])))
    predicate = ir.Predicate(found[2], bool(found[1])) if found[2] else None
    return ir.Instruction(found[3], modifiers, operands, predicate)


def entry(
    body: str, params: str = "", *, declarations: str = "", name: str = "test", target: str = "sm_100a"
) -> ir.Module:
    """A module with one entry; `params` as "u64 x, f32 eps, b8[16] blob", one statement a line (or behind `;`)."""
    parsed = []
    for param in filter(None, map(str.strip, params.split(","))):
        type_, param_name = param.split()
        found = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", type_)
        parsed.append(ir.Param(StateSpace.PARAM, ScalarType(found[1]), param_name, int(found[2]) if found[2] else None))

    def statements(text):
        return tuple(statement(line) for line in re.split(r";|\n|(?<=:)\s", re.sub(r"//.*", "", text)) if line.strip())

    function = ir.Function(True, name, tuple(parsed), body=statements(body))
    return ir.Module(ir.Version(9, 0), ir.Target((target,)), ir.AddressSize(64), (*statements(declarations), function))
