"""Instructions of a shape that was valid before are not checked again: the diagnostics are the same."""

import random
import re

import pytest
from corpus.corpus import PTX

from pyptx import parser, validate
from pyptx.validate import _checker, _shapes

FILES = sorted(PTX.rglob("*.ptx"))
INSTRUCTION = re.compile(r"(\s*(?:@!?%\w+\s+)?[a-z][\w.:]*\s+)(.*;.*)")
TOKEN = re.compile(r"%?[A-Za-z_$][\w$]*|-?\b\d\w*|[\[{!]")
NUMBERS = (
    "0",
    "-1",
    "7",
    "08",
    "4294967296",
    "99999999999999999999",
    "0x10",
    "1.5",
    "0f3F800000",
    "1/0",
    "x+4",
    "%tid.x",
)


class Forgetful(set):
    """A set that never contains anything."""

    def __contains__(self, value: object) -> bool:
        return False


def mutant(lines: list[str], rnd: random.Random) -> str:
    """Return the text with an operand of 30 instructions, and some guards, replaced by other tokens of the file."""
    lines = list(lines)
    instructions = {i: found.groups() for i, line in enumerate(lines) if (found := INSTRUCTION.match(line))}
    for i in rnd.sample(list(instructions), min(len(instructions), 30)):
        head, operands = instructions[i]
        other = TOKEN.findall(rnd.choice(list(instructions.values()))[1])
        tokens = list(TOKEN.finditer(operands))
        if tokens:
            old, new = rnd.choice(tokens), rnd.choice([*other, *NUMBERS])
            operands = f"{operands[: old.start()]}{new}{operands[old.end() :]}"
            if new[0] == "%" and "@" in head:
                head = re.sub(r"%\w+", new, head)  # the guard
            lines[i] = head + operands
    return "\n".join(lines)


def differences(text: str, monkeypatch) -> tuple[int, int]:
    """Return the numbers of diagnostics and of checked shapes, after asserting that both ways agree."""
    module = parser.parse(text, recover=True)
    first, second = validate.check(module), validate.check(module)
    with monkeypatch.context() as patch:
        patch.setattr(_checker, "valid_shapes", lambda chip, version: Forgetful())
        expected = validate.check(module)
    assert first == expected
    assert second == expected
    return len(expected), sum(map(len, _shapes._valid.values()))


@pytest.mark.parametrize("seed", range(2))
def test_mutated_operands_have_the_same_diagnostics(seed, monkeypatch):
    monkeypatch.setattr(_shapes, "_valid", type(_shapes._valid)(set))
    rnd = random.Random(seed)
    faults = shapes = 0
    for path in rnd.sample(FILES, 25):
        text = path.read_text(errors="replace")
        if len(text) < 200_000:
            found, shapes = differences(mutant(text.split("\n"), rnd), monkeypatch)
            faults += found
    assert faults > 100
    assert shapes > 100


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_file_has_the_same_diagnostics(part, monkeypatch):
    monkeypatch.setattr(_shapes, "_valid", type(_shapes._valid)(set))
    rnd = random.Random(part)
    for path in FILES[part::4]:
        text = path.read_text(errors="replace")
        for _ in range(3):
            differences(mutant(text.split("\n"), rnd), monkeypatch)


def test_the_number_of_shapes_is_bounded(monkeypatch):
    monkeypatch.setattr(_shapes, "_valid", found := type(_shapes._valid)(set))
    monkeypatch.setattr(_shapes, "_LARGEST", 50)
    head = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .u32 %r;\n"
    for part in range(3):
        text = head + "".join(f"mov.u32 %r, 0x{i};\n" for i in range(100 * part, 100 * part + 60)) + "}\n"
        assert validate.check(parser.parse(text)) == []
        assert sum(map(len, found.values())) == 60  # of the last module; those before were dropped
