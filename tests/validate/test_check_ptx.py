"""check_ptx: one diagnostic per error, with line and columns, and none for text that ptxas accepts."""

from pathlib import Path

import pytest
from support.groups import check_each

import pyptx
from pyptx import emitter
from pyptx.ir.nodes import Instruction, Label
from pyptx.ir.visit import statements
from pyptx.parser import parse

TEXT = """\
.version 8.5
.target sm_90a
.address_size 64

// a comment
.visible .entry k(
	.param .u64 x
)
{
	.reg .pred %p;
	.reg .f32 %f<3>;
	.reg .b64 %rd<2>;

	ld.param.u64 %rd0, [x];     // the pointer
again:  ld.global.f32 %f0, [%rd0];
	/* first */ fma.rn.f32 %f1, %f0, %f0, %f0; setp.lt.f32 %p, %f1, 0f40000000;
	@%p bra again;
	ret;
}
"""
CORPUS = sorted((Path(__file__).parents[1] / "corpus").rglob("*.ptx"))
COMPILED = [path for path in CORPUS if path.stem not in ("directives", "statements")]  # grammar only


def marked(text, diagnostic):
    """Return the part of the text that a diagnostic refers to."""
    return text.splitlines()[diagnostic.line - 1][diagnostic.column : diagnostic.end_column]


def test_a_valid_module_has_no_diagnostics():
    assert pyptx.check_ptx(TEXT) == []


def test_spans_cover_the_statements():
    spans = emitter.statement_spans(parse(TEXT))
    covered = [TEXT.splitlines()[s.line - 1][s.column : s.end_column] for s in spans]
    assert covered == [
        "ld.param.u64 %rd0, [x];",
        "again:",
        "ld.global.f32 %f0, [%rd0];",
        "fma.rn.f32 %f1, %f0, %f0, %f0;",
        "setp.lt.f32 %p, %f1, 0f40000000;",
        "@%p bra again;",
        "ret;",
    ]


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("fma.rn.f32", "fma.rnn.f32", "fma.rnn.f32 %f1, %f0, %f0, %f0;", ".rnn"),
        ("%f1, 0f40000000", "%f9, 0f40000000", "setp.lt.f32 %p, %f9, 0f40000000;", "%f9 is not declared"),
        ("bra again", "bra agian", "@%p bra agian;", "label agian is not defined"),
        ("@%p bra", "@%f0 bra", "@%f0 bra again;", "expected a predicate"),
        ("ret;", "wgmma.fence.sync.aligned 1;", "wgmma.fence.sync.aligned 1;", "takes 0 operands, not 1"),
        ("ret;", "again: ret;", "again:", "2 times"),
    ],
)
def test_an_error_of_a_statement_has_its_span(old, new, where, message):
    text = TEXT.replace(old, new)
    found = pyptx.check_ptx(text)
    assert where in [marked(text, d) for d in found]
    assert all(d.severity == "error" for d in found) and message in found[-1].message


def test_a_syntax_error_is_one_diagnostic_and_the_rest_is_checked():
    text = TEXT.replace("\tret;", "\tadd.f32 %f0 %f1;\n\tret;").replace("fma.rn.f32", "fma.rnn.f32")
    assert [d.line for d in pyptx.check_ptx(text)] == [16, 18]


def test_the_target_of_the_text_can_be_overridden():
    text = TEXT.replace("ret;", "wgmma.fence.sync.aligned;\n\tret;")
    assert pyptx.check_ptx(text) == []
    (found,) = pyptx.check_ptx(text, target="sm_80")
    assert "requires .target sm_90a" in found.message and marked(text, found) == "wgmma.fence.sync.aligned;"


def test_labels_of_two_blocks_do_not_collide():
    block = "\t{\n\tloop:\n\t@%p bra loop;\n\t}\n"
    assert pyptx.check_ptx(TEXT.replace("\tret;", block + block + "\tret;")) == []


@pytest.mark.parametrize("text", ["", "\x00\xff", ".version 8.5", "{" * 5000, b"\xff\xfe.version"])
def test_invalid_text_is_a_diagnostic_not_an_exception(text):
    assert pyptx.check_ptx(text)[0].severity == "error"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(8))
def test_compiled_ptx_has_no_errors_and_correct_spans(part):
    check_each(check_compiled, ((path.stem, (path,)) for path in COMPILED[part::8]))


def check_compiled(path) -> None:
    text = path.read_text()
    found = errors(text)
    if path.stem == "dwarf":  # written by hand; ptxas refuses the same line
        assert found.pop().startswith("@@DWARF"), "the label among its lines"
    assert found == []
    module, lines = parse(text), text.splitlines()
    nodes = [n for f in module.functions for n in statements(f.body) if isinstance(n, (Instruction, Label))]
    spans = emitter.statement_spans(module)
    if len(nodes) == len(spans):
        for node, span in zip(nodes, spans, strict=True):
            start = lines[span.line - 1][span.column :]
            name = node.name if isinstance(node, Label) else node.opcode if node.predicate is None else "@"
            assert start.startswith(name)


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        (
            ".visible .entry k(\n\t.param .u64 x\n)",
            ".shared .align 3 .b32 s;\n.visible .entry k(\n\t.param .u64 x\n)",
            ".shared .align 3 .b32 s;",
            "power of two",
        ),
        (")\n{", ")\n.maxntid 0\n{", ".visible .entry k(", ".maxntid takes a number above zero"),
        (")\n{", ")\n.maxntid 8 .reqntid 8\n{", ".visible .entry k(", "exclude each other"),
        ("[x];", "[y];", "ld.param.u64 %rd0, [y];", "variable y is not declared"),
        ("ld.param.u64 %rd0, [x]", "ld.global.u64 %rd0, [x]", "ld.global.u64 %rd0, [x];", "x is in .param::entry"),
        ("[%rd0];", "[%rd0+08];", "ld.global.f32 %f0, [%rd0+08];", "octal"),
        ("\tret;", "\tcall f, (%f0);\n\tret;", "call f, (%f0);", "function f is not declared"),
        ("\t.reg .pred %p;", "\t.reg .pred %p, %p;", "%p;", "declared twice"),
        ("\tret;", "\t.shared .bf16 h;\n\tret;", ".shared .bf16 h;", "declare .b16"),
    ],
)
def test_an_error_of_a_declaration_name_or_constant_has_its_span(old, new, where, message):
    text = TEXT.replace(old, new, 1)
    (found,) = pyptx.check_ptx(text)
    assert marked(text, found) == where and message in found.message


def test_an_argument_error_names_the_parameter():
    callee = ".func (.param .b32 r) f(.param .b64 a)\n{\n\tret;\n}\n.visible"
    text = TEXT.replace(".visible", callee).replace("\tret;\n}\n", "\tret;\n}\n", 1)
    text = text[: text.rindex("\tret;")] + "\tcall (%f0), f, (%f1);\n" + text[text.rindex("\tret;") :]
    (found,) = pyptx.check_ptx(text)
    assert found.message == "call: %f1 is a .f32 register; parameter a of f is .param .b64"


def test_labels_of_a_section_are_not_statements():
    text = (
        ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry f()\n{\n\tnonsense;\n\tret;\n}\n"
        ".section .debug_str\n{\n$L__name:\n.b8 102\n}\n"
    )
    (found,) = pyptx.check_ptx(text)
    assert found.line == 6


def test_an_invalid_header_is_reported_once():
    assert [d.line for d in pyptx.check_ptx(".version 6:\n.target sm_70\n.entry f() { ret; }\n")][:1] == [1]


@pytest.mark.parametrize("count", ["0x10", "99999999999", "010"])
def test_parameterized_branch_targets_are_resolved_for_any_integer_literal(count: str):
    text = (
        ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry f()\n{\n\t.reg .b32 %r;\n"
        f"ts: .branchtargets L<{count}>;\n\tmov.b32 %r, 0;\n\tbrx.idx %r, ts;\nL0:\n\tret;\n}}\n"
    )
    assert any("lists L1, which is not a label of this scope" in d.message for d in pyptx.check_ptx(text))


# verdicts of ptxas ----------------------------------------------------------------------------------------------------

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
REGISTERS = (
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>; .reg .f32 %f<4>; .reg .b16 %h<4>; .reg .f16x2 %hh<3>;"
    " .reg .u64 temp; .reg .u64 l;"
)
CALLEES = ".func (.param .b32 a) f() { ret; }\n.func g(.param .b32 a) { ret; }\n"


def in_entry(body: str, before: str = "") -> str:
    return f"{HEADER}{before}.visible .entry k()\n{{\n{REGISTERS}\n{body}\nret;\n}}\n"


ACCEPTED = {
    "special register in integer cvt": in_entry("cvt.u64.u32 %rd1, %ctaid.x; cvt.u32.u64 %r1, %clock64;"),
    "narrow read of a special register": in_entry("cvt.u64.u16 %rd1, %tid.x; cvt.sat.u16.u32 %h1, %laneid;"),
    "227 KiB of shared memory": in_entry("st.shared.b8 [x], 1;", before=".shared .b8 x[232448];\n").replace(
        "sm_90", "sm_90a"
    ),
    "debug information": HEADER.replace("sm_90", "sm_90, debug") + ".section .debug_info { .b32 0 }\n",
    "declaration without semicolon": HEADER + ".func f ()\n.visible .entry k() { call f; ret; }\n.func f () { ret; }\n",
    "declaration before a variable": HEADER + ".func g ()\n.global .b32 x;\n.func g () { ret; }\n",
    "declaration without parentheses": HEADER + ".func f\n.func f { ret; }\n",
    "vector register parameters": HEADER
    + ".func (.reg .v4 .f32 r) f (.reg .v4 .f32 a) { mov.v4.f32 r, a; ret; }\n"
    + ".visible .entry k() { .reg .v4 .f32 v, w; call (v), f, (w); ret; }\n",
    "register plus constant": in_entry("add.u32 %r0,%r1+1,%r2+-1; st.u64 [l],temp+1; selp.b32 %r0,%r1+1,2,%p1;"),
    "f16x2 destinations": in_entry("cvt.rn.f16x2.f32 %hh1, %f1, %f2; atom.global.inc.u32 %hh1, [%rd1], 3;"),
    "hidden parameter": HEADER + ".visible .entry k(.hidden .param .align 8 .u64 a) { ret; }\n",
    "wgmma without .aligned": in_entry("wgmma.fence.sync; wgmma.commit_group.sync; wgmma.wait_group.sync 0;").replace(
        "sm_90", "sm_90a"
    ),
    "result loaded twice": in_entry(
        ".param .b32 x; call (x), f; ld.param.b32 %r1,[x]; ld.param.b32 %r2,[x];", before=CALLEES
    ),
    "argument stored after a branch": in_entry(
        ".param .b32 x; st.param.b32 [x], 1; @%p1 bra L; mov.u32 %r1, 2; L: call g, (x);", before=CALLEES
    ),
    "non-ASCII comment": HEADER + "// é /* ü\n/* é */.visible .entry k() { ret; }\n",
    "48 KiB of shared memory": in_entry("st.shared.b8 [x], 1;", before=".shared .b8 x[49152];\n"),
    "64 KiB of constant memory": in_entry("ld.const.b8 %r1, [x];", before=".const .b8 x[65536];\n"),
}
REFUSED = {
    "special register in a conversion to float": (in_entry("cvt.rn.f32.s32 %f1, %tid.x;"), "cannot be operand 2"),
    "special register narrower than cvt reads": (in_entry("cvt.u32.u64 %r1, %tid.x;"), "cannot be read as .u64"),
    "entry without body and semicolon": (HEADER + ".entry f ()\n.entry f () { ret; }\n", "expected '{'"),
    "vector .param parameter": (HEADER + ".func f (.param .v4 .b32 a) { ret; }\n", "cannot be a vector"),
    "register minus constant": (in_entry("add.u32 %r0,%r1-1,3;"), "found '-'"),
    "register plus float": (in_entry("add.f32 %f0,%f1+1.0,%f2;"), "only an integer can be added"),
    "sum in a vector": (in_entry("mov.b64 %rd1, {%r1+1, %r2};"), "cannot be operand 2"),
    "sum as destination": (in_entry("add.u32 %r0+1,%r1,3;"), "cannot be operand 1"),
    "f16x2 destination of redux": (in_entry("redux.sync.add.u32 %hh1, %r1, -1;"), "%hh1 is .f16x2"),
    "hidden parameter of a function": (HEADER + ".func f(.hidden .param .u32 a) { ret; }\n", ".hidden"),
    "hidden before 8.8": (HEADER.replace("9.0", "8.7") + ".entry k(.hidden .param .u32 a) { ret; }\n", "8.8 or later"),
    "wgmma without .sync": (in_entry("wgmma.wait_group 0;").replace("sm_90", "sm_90a"), "expected '.sync'"),
    "non-ASCII file name": (HEADER + '.file 1 "é.cu"\n.entry k() { ret; }\n', "PTX strings are ASCII"),
    "non-ASCII pragma": (in_entry('.pragma "é";'), "PTX strings are ASCII"),
    "load of an argument": (
        in_entry(".param .b32 x; st.param.b32 [x], 1; call g, (x); ld.param.b32 %r1, [x];", before=CALLEES),
        "no earlier call returns it",
    ),
    "load before the call": (
        in_entry(".param .b32 x; ld.param.b32 %r1, [x]; call (x), f;", before=CALLEES),
        "no earlier call returns it",
    ),
    "abi_preserve of a prototype": (
        HEADER.replace("9.0", "8.5") + ".entry k() { p: .callprototype _ () .abi_preserve 4; ret; }\n",
        "9.0 or later",
    ),
    "texref register": (HEADER + ".entry k() { .reg .texref t; ret; }\n", "must be .global"),
    "texref parameter of a function": (
        HEADER + ".func f(.param .texref p) { ret; }\n.entry k() { .param .texref q; call f, (q); ret; }\n",
        "which only an entry can have",
    ),
    "predicate argument": (
        HEADER + ".func f(.reg .pred p) { ret; }\n.entry k() { .reg .pred q; call f, (q); ret; }\n",
        "which cannot be passed",
    ),
    "49 KiB of shared memory": (
        in_entry("st.shared.b8 [x], 1; st.shared.b8 [y], 1;", before=".shared .b8 x[30000], y[20000];\n"),
        "50,000 bytes of static shared memory",
    ),
    "228 KiB of shared memory": (
        in_entry("st.shared.b8 [x], 1;", before=".shared .b8 x[232449];\n").replace("sm_90", "sm_90a"),
        "the limit is 232,448",
    ),
    "unknown option": (HEADER.replace("sm_90", "sm_90, fast"), "no option fast"),
    "two texture modes": (HEADER.replace("sm_90", "sm_90, texmode_unified, texmode_independent"), "one texture mode"),
    "mapped f64": (HEADER.replace("sm_90", "sm_90, map_f64_to_f32"), "sm_90 has it"),
    "debug without a section": (HEADER.replace("sm_90", "sm_90, debug"), "requires debug information"),
    "second target": (".version 2.0\n.target sm_20, sm_80\n", "'.target sm_80' requires"),
    "result of an entry": (HEADER + ".entry (.param .b32 r) k() { ret; }\n", "returns nothing"),
    "too much constant memory": (HEADER + ".const .b8 x[65537];\n.entry k() { ret; }\n", "65,537 bytes of constant"),
    "huge register count": (in_entry(".reg .b32 %v<99999999999999>;"), "does not fit in 32 bits"),
    "huge dimension": (HEADER + ".global .b8 x[99999999999999999999999999];\n", "does not fit in 64 bits"),
}
WARNED = {
    "local array of 2**59 bytes": (in_entry(".local .align 16 .b8 x[576460752303423488];"), "of local memory"),
    "shared array of 4 GiB": (
        HEADER + ".shared .b8 x[4294967296];\n.entry k() { ret; }\n",
        "of shared memory on sm_90",
    ),
    "global array of 1 TiB": (HEADER + ".global .b8 x[1099511627776];\n", "more than the memory of a GPU"),
    "argument of 10 MB": (in_entry(".param .b8 x[10000000];"), "of local memory"),
    "final NUL": (in_entry("") + "\0", "NUL character"),
    "undefined function": (
        HEADER + ".extern .func h();\n.entry k() { call h; ret; }\n",
        "h is called, but not defined",
    ),
}


def errors(text: str) -> list[str]:
    return [d.message for d in pyptx.check_ptx(text) if d.severity == "error"]


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_what_ptxas_accepts_has_no_errors(text):
    assert errors(text) == []


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_ptxas_refuses_has_an_error(text, message):
    found = errors(text)
    assert found and any(message in one for one in found), found


@pytest.mark.parametrize(("text", "message"), WARNED.values(), ids=WARNED)
def test_valid_ptx_that_no_gpu_runs_has_a_warning(text, message):
    assert errors(text) == []
    assert any(message in d.message and d.line for d in pyptx.check_ptx(text) if d.severity == "warning")


def test_a_header_error_has_the_line_of_its_directive():
    text = ".version 7.0\n// comment\n.target sm_90\n.address_size 64\n.entry f() { ret; }\n"
    assert [(d.line, d.message[:19]) for d in pyptx.check_ptx(text)] == [(3, ".target sm_90 requi")]
    (found,) = pyptx.check_ptx(text.replace("sm_90", "sm_91"))
    assert (found.line, marked(text, found)) == (3, ".target sm_90")
