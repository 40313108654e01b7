"""The union of actions is closed: every action class is in it, and each engine implements every member."""

from __future__ import annotations

import ast
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_args

import pytest

from pyptx.sim import actions
from pyptx.sim.core.encoding.actions import _ENCODERS
from pyptx.sim.reference import (
    collectives,
    engine,  # noqa: F401  registers the handlers
    execute,
    matrix,
    scheduling,
)
from pyptx.sim.reference._registry import HANDLERS

MEMBERS = get_args(actions.Action)
OPERANDS = {"Address", "Apply", "Const", "Leaf", "Model", "Product", "Reduction", "Reg", "Special", "Sum"}


def _matched(*modules) -> set[str]:
    """Action classes that a `match` statement of the modules names: `case act.Load(...)`."""
    found = set()
    for module in modules:
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Attribute):
                found.add(node.cls.attr)
    return found


MATCHED = _matched(scheduling, execute, collectives, matrix)


def test_every_record_of_the_package_is_an_action_or_an_operand_of_one():
    records = {name for name in actions.__all__ if is_dataclass(getattr(actions, name))}
    assert records - OPERANDS == {member.__name__ for member in MEMBERS}


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.__name__)
def test_both_engines_implement(member):
    assert member in _ENCODERS, "no encoder for the C core"
    assert member in HANDLERS or member.__name__ in MATCHED, "no handler in the reference engine"


def test_nothing_else_has_an_encoder_or_handler():
    assert set(_ENCODERS) == set(MEMBERS)
    assert set(HANDLERS) <= set(MEMBERS)
