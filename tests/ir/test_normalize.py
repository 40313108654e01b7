"""Normalization and comparison of modules."""

from dataclasses import replace

from pyptx.ir.nodes import Instruction, Label, RawLine
from pyptx.ir.normalize import diff_modules, normalize_module
from pyptx.parser import parse

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
PLAIN = parse(HEADER + "\n.visible .entry f(\n\t.param .u64 p\n)\n{\n\tadd.s32 a, b, 1;\nL:\n\tret;\n}\n")
SPELLED = parse(
    "// c\n"
    + HEADER
    + """
.file 1 "x.cu"
.visible .entry f ( .param .u64 p ) {   // opens
    .loc 1 2 3
    { add.s32   a ,b , /* one */ 1; }

// BEGIN helper(x)
    L: ret;
// END helper
}
.section .debug_str { .b8 0 }
"""
)


def test_comments_whitespace_scopes_and_debug_information_are_ignored():
    assert PLAIN != SPELLED
    assert normalize_module(PLAIN) == normalize_module(SPELLED)
    assert diff_modules(PLAIN, SPELLED) == []


def test_a_normalized_module_has_no_formatting():
    (f,) = normalize_module(SPELLED).directives
    assert [type(node) for node in f.body] == [Instruction, Label, Instruction]
    assert f.formatting is None and f.params[0].formatting is None
    assert all(node.formatting is None for node in f.body)


def test_unparsed_lines_are_kept_only_inside_functions():
    broken = parse(HEADER + "???\n.entry f() {\n???\n}\n", recover=True)
    (f,) = normalize_module(broken).directives
    assert f.body == (RawLine("???"),)


def test_differences_name_the_function():
    (f,) = PLAIN.functions
    other = replace(
        PLAIN,
        version=replace(PLAIN.version, minor=6),
        directives=(replace(f, is_entry=False, body=(Instruction("trap"), *f.body[1:])),),
    )
    found = diff_modules(PLAIN, other)
    assert len(found) == 3 and found[0].startswith("version") and all("function f" in line for line in found[1:])
    assert diff_modules(PLAIN, replace(PLAIN, directives=()))[0] == "function count: 1 against 0"
    helper = replace(f, name="g", is_entry=False)
    assert diff_modules(PLAIN, replace(PLAIN, directives=(f, helper))) == ["function count: 1 against 2"]
    assert diff_modules(PLAIN, replace(PLAIN, directives=(f, helper)), entry_only=True) == []
