"""Loaded PTX: the same tools as for traced kernels."""

from pathlib import Path

import numpy as np
import pytest

import pyptx
from pyptx.codegen import ptx_to_python
from pyptx.errors import CompileError, LaunchError
from pyptx.parser import ParseError

TEXT = """\
.version 7.0
.target sm_80
.address_size 64

.visible .entry double_it(.param .u64 x, .param .u32 n)
.reqntid 32, 1, 1
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	.reg .f32 %f;
	ld.param.u64 %rd0, [x];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p, %r1, %r0;
	@%p ret;
	mad.wide.u32 %rd1, %r1, 4, %rd0;
	ld.global.f32 %f, [%rd1];
	add.f32 %f, %f, %f;
	st.global.f32 [%rd1], %f;
	ret;
}
.visible .entry nothing() { ret; }
"""


def test_text_a_path_and_bytes_are_read(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(TEXT)
    for source in (TEXT, TEXT.encode(), path, str(path)):
        program = pyptx.load(source)
        assert program.entries == ("double_it", "nothing") and program.text == TEXT
    assert "k.ptx" in repr(pyptx.load(path))


def test_an_entry_compiles_for_its_own_and_for_another_target():
    entry = pyptx.load(TEXT)["double_it"]
    own, other = entry.compile(), entry.compile(arch="sm_90")
    assert own.target == "sm_80" and other.target == "sm_90" and own is entry.compile()
    assert set(own.resources) == {"double_it", "nothing"}
    owners = [own.lines.owner(i) for i in range(len(own.sass))]
    assert all(o.ptx_line or o.added_by_ptxas for o in owners)


def test_the_nul_that_ends_a_c_string_is_noted_kept_in_the_text_and_removed_before_assembling():
    program = pyptx.load(TEXT.encode() + b"\0")
    assert program.text == TEXT + "\0" and [d.severity for d in program.check_ptx()] == ["warning"]
    assert program["double_it"].compile().cubin == pyptx.load(TEXT)["double_it"].compile().cubin
    assert ptx_to_python(program.text) == ptx_to_python(TEXT)


def test_an_entry_launches_and_counts():
    x = np.arange(40, dtype=np.float32)
    entry = pyptx.load(TEXT)["double_it"]
    result = entry.launch(1, 32, x, 30)
    assert np.array_equal(x, [2 * i if i < 30 else i for i in range(40)])
    assert result.outputs[0] is x and entry.last_run is result and result.counters.lanes.max() == 32


def test_the_view_shows_ptx_and_sass():
    entry = pyptx.load(TEXT)["double_it"]
    entry.launch(1, 32, np.zeros(32, np.float32), 30)
    text = entry.view().text()
    assert "mad.wide.u32" in text and "LDG" in text


def test_arguments_that_do_not_fit_are_refused():
    entry = pyptx.load(TEXT)["double_it"]
    with pytest.raises(LaunchError, match="requires"):
        entry.launch(1, 64, np.zeros(64, np.float32), 30)
    with pytest.raises(LaunchError, match="n"):
        entry.launch(1, 32, np.zeros(64, np.float32), -1)


def test_what_the_table_refuses_is_reported_with_its_line():
    program = pyptx.load(TEXT.replace("add.f32", "add.f31"))
    (found,) = program.check_ptx()
    assert found.line == 19 and TEXT.splitlines()[18].strip().startswith("add.f32")
    with pytest.raises(CompileError, match="PTX line 19"):
        program["double_it"].compile()
    with pytest.raises(CompileError, match="PTX line 19"):
        program["double_it"].launch(1, 32, np.zeros(32, np.float32), 30)


def test_an_unknown_entry_is_refused_with_what_there_is():
    with pytest.raises(KeyError, match="double_it, nothing"):
        pyptx.load(TEXT)["triple"]
    with pytest.raises(LaunchError, match=r"no \.entry"):
        pyptx.load(".version 7.0\n.target sm_80\n").compile()


def test_what_is_no_ptx_is_refused_at_its_place():
    with pytest.raises(ParseError) as caught:
        pyptx.load(TEXT.replace("mov.u32 %r1,", "mov.u32 %r1 %r2"))
    assert caught.value.line == 14
    with pytest.raises(FileNotFoundError):
        pyptx.load("missing.ptx")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", sorted((Path(__file__).parents[1] / "corpus").glob("[nc]*.ptx")), ids=lambda p: p.stem)
def test_compiler_output_compiles_with_every_instruction_owned(path):
    compiled = pyptx.load(path).compile()
    owners = [compiled.lines.owner(i) for i in range(len(compiled.sass))]
    assert owners and all(o.ptx_line or o.added_by_ptxas for o in owners)
