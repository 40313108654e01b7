"""PTX in Python files: values and positions of strings, which strings are PTX, instructions of kernels."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx.language.findings import find_problems
from pyptx.language.python.literals import read_literals
from pyptx.language.python.tokens import read_tokens
from pyptx.language.source import Source

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
PIECES = st.sampled_from(["a", "é", "𝔸", "\\n", "\\\\", "\\x41", "\\101", "\\u00e9", "\\U0001d538", "\\N{BULLET}", "\\%", "\\\n", "\n", "{", "}", "'", "%r1"])  # fmt: skip


def values(source: str):
    tokens = read_tokens(source)
    return read_literals(source, [(token.start, token.end) for token in tokens if token.kind == "string"])


@given(prefix=st.sampled_from(["", "r", "b", "Rb", "u"]), parts=st.lists(PIECES, max_size=12))
@settings(max_examples=150, deadline=None)
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_the_value_of_a_literal_is_what_python_reads(prefix, parts):
    source = (
        f'{prefix}"""{"".join(parts)}""" "tail"' if "b" not in prefix.lower() else f'{prefix}"""{"".join(parts)}"""'
    )
    try:
        expected = ast.literal_eval(source)
    except SyntaxError:  # not ASCII in bytes
        return
    found = values(source)
    assert found.text == (expected.decode("latin-1") if isinstance(expected, bytes) else expected)
    assert len(found.starts) == len(found.ends) + 1 == len(found.text) + 1
    assert list(found.starts) == sorted(found.starts)
    for character, start, end in zip(found.text, found.starts, found.ends, strict=False):
        assert source[start:end] == character or source[start:end].startswith("\\")


def test_an_f_string_has_its_text_and_holes():
    found = values("f\"{a}.reg {{ }} {b['x']!r:>{width}} \\n\"")
    assert (found.text, found.has_holes) == ("_.reg { } _ \n", True)
    assert values("f'no holes {{}}'").has_holes is False


def test_line_ends_of_windows_are_one_character():
    found = values('"""a\r\nb\\\r\nc"""')
    assert found.text == "a\nbc" and [found.ends[i] - found.starts[i] for i in range(4)] == [1, 2, 1, 1]


@pytest.mark.parametrize(
    "source, kinds",
    [
        (f"x = '''{HEAD}'''", ["module"]),
        (f"x = b'''\n// c\n{HEAD}'''", ["module"]),
        ("x = '.version 8.5\\n' '.target sm_90'  # c\n", ["module"]),
        ("x = ('.version 8.5\\n'\n # c\n '.target sm_90').strip()", ["module"]),
        ("x = '.version'", []),
        ("'.version 8.5 of the manual'", []),
        ("ptx.raw('add.s32 %r1, %r2, 1;')", ["statements"]),
        ("ptx.raw(text)", []),
        (f"f'''{HEAD}{{x}}'''", ["an f-string with values"]),
        (f"'''{HEAD}{{x}}'''", ["a template with {x}"]),
        (f"('''{HEAD}''').format()", ["a template of .format"]),
        (f"'''{HEAD}''' % x", ["an operand of %"]),
        (f"'''{HEAD}''' + x", ["an operand of +"]),
        (f"load('''{HEAD}''').compile()", ["module"]),
        (f"'''{HEAD}\n", []),  # not closed
        (f"x = '''{HEAD}'''\n$ 'y'", ["module"]),
    ],
)  # fmt: skip
def test_which_strings_are_ptx(source, kinds):
    assert [region.unknown or region.kind for region in Source(source, python=True).regions] == kinds


def findings(source: str) -> list[tuple[str, str]]:
    return [(source[one.start : one.end], one.severity) for one in find_problems(Source(source, python=True))]


def test_statements_of_a_kernel_may_use_its_registers_but_not_unknown_instructions():
    assert findings("ptx.raw('add.s32 %r1, %r2, 1; movv.b32 %a, 1;')") == [("movv.b32", "error")]
    assert findings("ptx.raw(f'add.s32 %r{i}, {x}; movv.b32 %a, 1; ld.{kind}.b32 %a, [%b];')") == [
        ("movv.b32", "error")
    ]
    assert findings("ptx.raw('add.s32 %r1, [;')")[0][1] == "error"


def test_what_is_not_checked_is_said():
    [(word, severity)] = findings(f"x = f'''\n{HEAD}{{body}}'''")
    assert (word, severity) == (".version", "information")


def test_instructions_of_kernels():
    assert findings("ptx.inst.add.rn.f33(a)\nptx.inst.or_.pred(p)\nptx.inst.ld.shared__cta.b32(a, b)") == [
        ("add.rn.f33", "error")
    ]
    assert findings("half = ptx.inst.add.rn") == [] and findings("ptx.inst.add.xx") == [("add.xx", "error")]
    source = Source("ptx.inst.mov.b32(a, b)", python=True)
    found = source.hover(12)
    assert found is not None and "mov" in found.text and (found.start, found.end) == (0, 16)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.stem)
def test_kernels_that_trace_have_no_wrong_instructions(path):
    """The judge is the tracer and ptxas, which take all examples."""
    source = Source(path.read_text(), python=True)
    assert [one for one in find_problems(source) if one.severity == "error"] == []
