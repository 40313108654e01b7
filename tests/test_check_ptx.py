"""check_ptx: every fault of a text with its line and columns, one each, and none in what ptxas takes."""

from pathlib import Path

import pytest

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
CORPUS = sorted((Path(__file__).parent / "corpus").rglob("*.ptx"))
COMPILED = [path for path in CORPUS if path.stem not in ("directives", "statements")]      # grammar only


def marked(text, diagnostic):
    """The part of the text a diagnostic is about."""
    return text.splitlines()[diagnostic.line - 1][diagnostic.column:diagnostic.end_column]


def test_a_good_text_has_no_faults():
    assert pyptx.check_ptx(TEXT) == []


def test_spans_cover_the_statements():
    spans = emitter.statement_spans(parse(TEXT))
    covered = [TEXT.splitlines()[s.line - 1][s.column:s.end_column] for s in spans]
    assert covered == ["ld.param.u64 %rd0, [x];", "again:", "ld.global.f32 %f0, [%rd0];",
                       "fma.rn.f32 %f1, %f0, %f0, %f0;", "setp.lt.f32 %p, %f1, 0f40000000;", "@%p bra again;", "ret;"]


@pytest.mark.parametrize(("old", "new", "where", "message"), [
    ("fma.rn.f32", "fma.rnn.f32", "fma.rnn.f32 %f1, %f0, %f0, %f0;", ".rnn"),
    ("%f1, 0f40000000", "%f9, 0f40000000", "setp.lt.f32 %p, %f9, 0f40000000;", "%f9 is not declared"),
    ("bra again", "bra agian", "@%p bra agian;", "no label agian"),
    ("@%p bra", "@%f0 bra", "@%f0 bra again;", "expected a predicate"),
    ("ret;", "wgmma.fence.sync.aligned 1;", "wgmma.fence.sync.aligned 1;", "takes 0 operands, not 1"),
    ("ret;", "again: ret;", "again:", "2 times"),
])
def test_a_fault_is_marked(old, new, where, message):
    text = TEXT.replace(old, new)
    found = pyptx.check_ptx(text)
    assert where in [marked(text, d) for d in found]
    assert all(d.severity == "error" for d in found) and message in found[-1].message


def test_a_line_that_is_no_ptx_gives_one_fault_and_the_rest_is_read():
    text = TEXT.replace("\tret;", "\tadd.f32 %f0 %f1;\n\tret;").replace("fma.rn.f32", "fma.rnn.f32")
    assert [d.line for d in pyptx.check_ptx(text)] == [16, 18]


def test_another_target_may_be_asked_for():
    text = TEXT.replace("ret;", "wgmma.fence.sync.aligned;\n\tret;")
    assert pyptx.check_ptx(text) == []
    (found,) = pyptx.check_ptx(text, target="sm_80")
    assert "requires .target sm_90a" in found.message and marked(text, found) == "wgmma.fence.sync.aligned;"


def test_labels_of_two_blocks_do_not_collide():
    block = "\t{\n\tloop:\n\t@%p bra loop;\n\t}\n"
    assert pyptx.check_ptx(TEXT.replace("\tret;", block + block + "\tret;")) == []


@pytest.mark.parametrize("text", ["", "\x00\xff", ".version 8.5", "{" * 5000, b"\xff\xfe.version"])
def test_what_is_no_module_is_a_diagnostic_and_no_crash(text):
    assert pyptx.check_ptx(text)[0].severity == "error"


@pytest.mark.parametrize("path", COMPILED, ids=lambda p: p.stem)
def test_compiled_ptx_has_no_faults_and_spans_that_fit(path):
    text = path.read_text()
    assert pyptx.check_ptx(text) == []
    module, lines = parse(text), text.splitlines()
    nodes = [n for f in module.functions for n in statements(f.body) if isinstance(n, (Instruction, Label))]
    spans = emitter.statement_spans(module)
    if len(nodes) == len(spans):
        for node, span in zip(nodes, spans, strict=True):
            start = lines[span.line - 1][span.column:]
            name = node.name if isinstance(node, Label) else node.opcode if node.predicate is None else "@"
            assert start.startswith(name)


@pytest.mark.parametrize(("old", "new", "where", "message"), [
    (".visible .entry k(\n\t.param .u64 x\n)", ".shared .align 3 .b32 s;\n.visible .entry k(\n\t.param .u64 x\n)",
     ".shared .align 3 .b32 s;", "power of two"),
    (")\n{", ")\n.maxntid 0\n{", ".visible .entry k(", ".maxntid takes a number above zero"),
    (")\n{", ")\n.maxntid 8 .reqntid 8\n{", ".visible .entry k(", "exclude each other"),
    ("[x];", "[y];", "ld.param.u64 %rd0, [y];", "no variable y"),
    ("ld.param.u64 %rd0, [x]", "ld.global.u64 %rd0, [x]", "ld.global.u64 %rd0, [x];", "x is in .param::entry"),
    ("[%rd0];", "[%rd0+08];", "ld.global.f32 %f0, [%rd0+08];", "octal"),
    ("\tret;", "\tcall f, (%f0);\n\tret;", "call f, (%f0);", "no function f"),
    ("\t.reg .pred %p;", "\t.reg .pred %p, %p;", "%p;", "declared twice"),
    ("\tret;", "\t.shared .bf16 h;\n\tret;", ".shared .bf16 h;", "declare .b16"),
])
def test_a_fault_of_a_declaration_a_name_or_a_constant_is_marked(old, new, where, message):
    text = TEXT.replace(old, new, 1)
    (found,) = pyptx.check_ptx(text)
    assert marked(text, found) == where and message in found.message


def test_a_call_names_the_parameter_it_does_not_fit():
    callee = ".func (.param .b32 r) f(.param .b64 a)\n{\n\tret;\n}\n.visible"
    text = TEXT.replace(".visible", callee).replace("\tret;\n}\n", "\tret;\n}\n", 1)
    text = text[:text.rindex("\tret;")] + "\tcall (%f0), f, (%f1);\n" + text[text.rindex("\tret;"):]
    (found,) = pyptx.check_ptx(text)
    assert found.message == "call: %f1 is a .f32 register; parameter a of f is .param .b64"


def test_labels_of_a_section_are_not_taken_for_statements():
    text = (".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry f()\n{\n\tnonsense;\n\tret;\n}\n"
            ".section .debug_str\n{\n$L__name:\n.b8 102\n}\n")
    (found,) = pyptx.check_ptx(text)
    assert found.line == 6


def test_a_header_that_cannot_be_read_is_reported_once():
    assert [d.line for d in pyptx.check_ptx(".version 6:\n.target sm_70\n.entry f() { ret; }\n")][:1] == [1]


@pytest.mark.parametrize("count", ["0x10", "99999999999", "010"])
def test_labels_counted_in_any_way_are_looked_up(count: str):
    text = (".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry f()\n{\n\t.reg .b32 %r;\n"
            f"ts: .branchtargets L<{count}>;\n\tmov.b32 %r, 0;\n\tbrx.idx %r, ts;\nL0:\n\tret;\n}}\n")
    assert any("names L1, which is no label here" in d.message for d in pyptx.check_ptx(text))
