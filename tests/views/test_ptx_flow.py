"""Blocks, loops, links and spills of real machine code and of foreign PTX."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pyptx.analysis.ptx_rows import instruction_rows, statement_rows
from pyptx.assembly import compile_module
from pyptx.emitter import emit
from pyptx.parser import parse
from pyptx.views import LinkedView, linked
from pyptx.views.code.ptx_flow import ptx_flow

LOOPS = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry loops(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
outer:
	mov.u32 %r4, 0;
inner:
	ld.volatile.global.u32 %r5, [%rd1];
	mad.lo.u32 %r3, %r5, %r4, %r3;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p1, %r4, %r1;
	@%p1 bra inner;
	st.volatile.global.u32 [%rd1], %r3;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p2, %r2, %r1;
	@%p2 bra outer;
	ret;
}
"""
CORPUS = Path(__file__).parents[1] / "corpus"


def compiled(ptx: str, target: str = "sm_90", **options):
    return compile_module(parse(ptx), ptx, (None,) * len(ptx.split("\n")), target=target, name="test", **options)


@pytest.fixture(scope="module")
def view() -> LinkedView:
    return linked(compiled(LOOPS, options=("-O1",)))


def rows(view: LinkedView, word: str) -> list[int]:
    return [row for row, line in enumerate(view.ptx.text) if word in line]


def test_loops_of_the_ptx(view):
    outer, inner = rows(view, "outer:"), rows(view, "inner:")
    flow = view.ptx.flow
    assert flow.loops == ((outer[0], rows(view, "bra outer")[0]), (inner[0], rows(view, "bra inner")[0]))
    assert [flow.depth[row] for row in (outer[0] - 1, outer[0], inner[0], rows(view, "st.volatile")[0])] == [0, 1, 2, 1]
    assert set(outer + inner) <= set(flow.starts)


def test_loops_of_the_machine_code_match_the_ptx_loops(view):
    [load] = [row for row, text in enumerate(view.sass.text) if "LDG" in text]
    [store] = [row for row, text in enumerate(view.sass.text) if "STG" in text]
    assert (view.sass.flow.depth[load], view.sass.flow.depth[store]) == (2, 1)
    assert all(0 <= view.sass.target[last] <= last for _, last in view.sass.flow.loops)
    exits = [row for row, text in enumerate(view.sass.text) if "EXIT" in text]
    assert all(view.sass.flow.depth[row] == 0 for row in exits)


def test_the_endless_branch_behind_the_code_is_no_loop(view):
    end = len(view.sass.text) - 1
    assert view.sass.target[end] == end
    assert view.sass.flow.depth[end] == 0


def test_branches_are_linked_with_their_labels(view):
    assert view.ptx.links == (
        (rows(view, "bra inner")[0], "inner", rows(view, "inner:")[0]),
        (rows(view, "bra outer")[0], "outer", rows(view, "outer:")[0]),
    )


def test_text_and_html_mark_the_loops(view):
    assert "loops (↻): PTX 13-24, 15-20; SASS " in view.text()
    assert re.search(r"PTX   17 ↻2 mad\.lo", view.text())
    assert "loops (↻): PTX 13-24" in view.html()


def test_a_branch_table_is_linked_with_all_its_labels_and_labels_have_scopes():
    text = """\
.version 8.0
.target sm_90
.address_size 64
.func helper() { ret; }
.visible .entry k(.param .u32 n)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [n];
a:	add.u32 %r2, %r1, 1;
	{
a:	add.u32 %r2, %r1, 2;
	bra a;
	}
table: .branchtargets a, b;
	brx.idx %r1, table;
b:	call helper;
	ret;
}
"""
    lines = text.removesuffix("\n").split("\n")
    flow, links = ptx_flow(parse(text), lines)
    assert links == ((11, "a", 10), (14, "a", 8), (14, "b", 15), (15, "helper", 3))
    assert (10, 11) in flow.loops


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.ptx")), ids=lambda path: path.stem)
def test_the_rows_of_others_ptx_are_found(path):
    module = parse(path.read_text(encoding="utf-8"))
    lines = emit(module).removesuffix("\n").split("\n")
    for name, found in instruction_rows(module, lines).items():
        assert found == sorted(found), name
    _, links = ptx_flow(module, lines)
    assert all(word in lines[row] or "brx" in lines[row] for row, word, _ in links)
    assert all(word in lines[target] for _, word, target in links)


def test_rows_are_found_between_lines_that_are_not_the_modules():
    module = parse(LOOPS)
    lines = LOOPS.removesuffix("\n").split("\n")
    more = [line for text in lines for line in (("\t.loc 1 2 3", text) if text.startswith("\t") else (text,))]
    assert [more[row] for row in statement_rows(module, more)] == [lines[row] for row in statement_rows(module, lines)]
    with pytest.raises(ValueError, match="has no line 'ret;' of the module"):
        statement_rows(module, [line for line in lines if "ret;" not in line])


def spilling(target: str) -> str:
    count = 40
    loads = "\n".join(f"\tld.volatile.global.f32 %f{n}, [%rd1+{4 * n}];" for n in range(count))
    stores = "\n".join(f"\tst.volatile.global.f32 [%rd1+{4 * n}], %f{(7 * n) % count};" for n in range(count))
    return f""".version 8.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 out)
{{
	.reg .f32 %f<{count}>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
{loads}
{stores}
	ret;
}}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_spilled_bytes_of_all_rows_equal_the_report_of_ptxas(target):
    made = compiled(spilling("sm_75"), target, options=("--maxrregcount=24",))
    view, used = linked(made), made.resources["k"]
    assert used.spill_stores > 0
    sums = {
        word: sum(size for size, text in zip(view.sass.spill, view.sass.text, strict=True) if text.startswith(word))
        for word in ("STL", "LDL")
    }
    assert sums == {"STL": used.spill_stores, "LDL": used.spill_loads}
    assert sum(view.ptx.spill) == used.spill_stores + used.spill_loads
    assert LinkedView.from_json(json.loads(json.dumps(view.to_json()))) == view


def test_a_function_that_is_called_has_its_loops_and_a_return_leads_nowhere():
    view = linked(compiled((CORPUS / "clang_sm80.ptx").read_text(encoding="utf-8"), "sm_80"))
    assert len(view.sass.flow.loops) == 2, "both loops of the function that polynomial calls"
    call, back = (next(row for row, text in enumerate(view.sass.text) if word in text) for word in ("CALL", "RET"))
    assert view.sass.target[call] > call
    assert view.sass.target[back] == -1
    assert view.sass.flow.depth[call] == 0
    assert all(first < last for first, last in view.sass.flow.loops)
