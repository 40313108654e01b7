"""Diffs of two kernels: verdict, resources, causes, and their text, HTML, JSON and page."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from types import ModuleType

import pytest
from support.processes import python
from views.test_forms import Elements

import pyptx
from pyptx.analysis.diff.text import compare_text
from pyptx.views import Diff
from pyptx.views._packed import unpack
from pyptx.workbench.comparing import compiled_of, diff

KERNEL = """
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=(32, 1, 1),
        arch="sm_90a", reqntid=(32, 1, 1))
def scale(x, y, *, N=1024, factor=2.0, unroll=1):
    x_at, y_at = ptx.global_ptrs(x, y)
    i = reg.from_(ptx.special.tid.x(), u32)
    for pointer in (x_at, y_at):
        ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
    for step in range(unroll):
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(x_at, 128 * step))
        ptx.inst.mul.f32(value, value, factor)
        ptx.inst.st.global_.f32(ptx.addr(y_at, 128 * step), value)  # <b>&amp;
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory) -> ModuleType:
    path = tmp_path_factory.mktemp("diff") / "scale.py"
    path.write_text(KERNEL)
    spec = importlib.util.spec_from_file_location("scale_of_the_diff", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def compiled(module) -> Callable:
    return lambda arch=None, options=(), **parameters: module.scale.compile(arch=arch, options=options, **parameters)


@pytest.fixture(scope="module")
def factor(compiled) -> Diff:
    return diff(compiled(), compiled(factor=3.0))


@pytest.fixture(scope="module")
def unrolled(compiled) -> Diff:
    return diff(compiled(), compiled(unroll=4))


def test_the_same_kernel_compiled_twice_is_identical(compiled):
    for level in ("sass", "ptx", "python"):
        found = diff(compiled(), compiled(), level=level)
        assert found.identical
        assert "dentical" in found.verdict
        assert "!" not in found.text()


def test_a_changed_constant_is_one_line_caused_by_its_python_line(factor):
    assert not factor.identical
    assert factor.verdict == "Different: 1 instruction differs."
    (hunk,) = (hunk for hunk in factor.compared.hunks if hunk.kind == 3)
    line = KERNEL.split("\n").index("        ptx.inst.mul.f32(value, value, factor)") + 1
    assert factor.causes(hunk) == {"left": [("scale.py", line)], "right": [("scale.py", line)]}
    assert f"--- different, 1 row: scale.py line {line}" in factor.text()


def test_a_changed_unroll_factor_shows_its_cost(unrolled):
    facts = {fact.label: (fact.left, fact.right) for fact in unrolled.facts}
    assert facts["registers"][1] >= facts["registers"][0]
    assert facts["global"] == (2, 8)
    assert facts["instructions"][1] - facts["instructions"][0] >= 9
    assert facts["code"] == tuple(16 * count for count in facts["instructions"])
    assert facts["occupancy"][0]
    assert unrolled.counts["different"][1] > unrolled.counts["different"][0]


def test_ptx_is_compared_up_to_the_names_of_registers(compiled):
    found = diff(compiled(), compiled(factor=3.0), level="ptx")
    assert found.counts["different"] == (1, 1)
    assert diff(compiled(), compiled(factor=3.0), level="python").identical


@pytest.mark.parametrize(
    "left, right, expected",
    [
        ("add.u32 %r1, %r2, %r3;", "add.u32 %r7, %r8, %r9;", ["renamed"]),
        ("add.u32 %r1, %r2, %r2;", "add.u32 %r7, %r8, %r9;", ["different"]),
        ("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;", "mov.u32 %r4, 1;\nadd.u32 %r5, %r4, %r4;", ["renamed", "renamed"]),
        ("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.y;", ["different"]),
        ("mov.u32 %r1, %envreg1;", "mov.u32 %r1, %envreg2;", ["different"]),
        ("bra $L1;\n$L1:", "bra $L2;\n$L2:", ["renamed", "renamed"]),
        ("ld.f32 %arr2_0, [%rd1];", "ld.f32 %arr5_3, [%rd1];", ["renamed"]),
        ("ret;", "  ret;  ", ["identical"]),
    ],
)
def test_ptx_lines(left, right, expected):
    found = compare_text(left.split("\n"), right.split("\n"), ptx=True)
    names = ("identical", "renamed", "rescheduled", "different")
    assert [names[row.kind] for row in found.rows] == expected


def test_inserted_and_deleted_text_lines():
    found = compare_text(["a", "b", "c", "d"], ["a", "c", "x", "d"])
    assert [(row.a, row.b, row.kind) for row in found.rows] == [(0, 0, 0), (1, -1, 3), (2, 1, 0), (-1, 2, 3), (3, 3, 0)]


def test_another_architecture(compiled):
    found = diff(compiled(), compiled(arch="sm_100a"))
    assert found.left.target == "sm_90a"
    assert "(sm_90a)  |  scale (sm_100a)" in found.text()


def test_kernels_and_files_may_be_compared(module, compiled, tmp_path):
    path = compiled(factor=3.0).save(tmp_path / "other.ptx")
    found = diff(module.scale, path)
    assert found.counts["different"] == (1, 1)
    assert pyptx.diff(str(path), path).identical
    assert {fact.label: fact.left for fact in found.facts}["occupancy"] > 0
    assert found.right.title == "other"


@pytest.mark.parametrize(
    "reference, error, says",
    [
        (
            3,
            TypeError,
            "cannot compare int; expected a Compiled, a kernel, an entry, a path to a .cu, .ptx or .cubin file",
        ),
        ("kernel.txt", ValueError, "kernel.txt: expected a file that ends in .cu, .ptx or .cubin"),
        ("missing.ptx", FileNotFoundError, "missing.ptx"),
    ],
)
def test_operands_that_cannot_be_compared_are_refused(reference, error, says):
    with pytest.raises(error, match=re.escape(says)):
        compiled_of(reference)


def test_a_level_that_does_not_exist_is_refused(compiled):
    with pytest.raises(ValueError, match="level='llvm'; expected 'sass', 'ptx' or 'python'"):
        diff(compiled(), compiled(), level="llvm")


def test_a_terminal_gets_colors_beside_the_marks(unrolled):
    colored = unrolled.text(color=True)
    assert re.sub(r"\033\[\d*m", "", colored) == unrolled.text()
    assert f"\033[1m{unrolled.verdict}\033[0m" in colored
    different = [line for line in colored.split("\n") if re.sub(r"\033\[\d*m", "", line).startswith("! ")]
    assert different and all(line.startswith("\033[31m! ") and line.endswith("\033[0m") for line in different)


def test_json_holds_the_whole_diff(unrolled):
    data = json.loads(json.dumps(unrolled.to_json()))
    assert (data["kind"], data["version"]) == ("diff", 1)
    again = Diff.from_json(data)
    assert again.text() == unrolled.text()
    assert again.to_json() == unrolled.to_json()
    with pytest.raises(ValueError, match="expected kind 'diff', version 1; got 'linked', 1"):
        Diff.from_json(unrolled.left.to_json())


def test_a_notebook_gets_all_forms(unrolled):
    bundle = unrolled._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.pyptx.view+json", "text/html", "text/plain"}
    assert unrolled.text(limit=5).split("\n")[-1].startswith("... ")


def test_static_html_needs_no_script_style_sheet_or_id(unrolled):
    found = Elements(unrolled.html())
    assert not {"script", "style", "link", "pre", "code"} & set(found.tags)
    assert {name for _, name, _ in found.attributes} == {"style", "colspan"}
    assert unrolled.verdict in "".join(found.words)
    for style in set(re.findall(r'style="([^"]*)"', unrolled.html())):
        names = {part.partition(":")[0] for part in style.split(";")}
        assert ("color" in names) == ("background" in names), style


def test_static_html_counts_the_omitted_rows(unrolled):
    assert re.search(r"\d+ more rows not shown here", unrolled.html(limit=3))
    assert "not shown" not in unrolled.html(limit=10_000)


def test_everything_is_escaped(compiled):
    found = diff(compiled(), compiled(factor=3.0), level="python")
    object.__setattr__(found, "verdict", "<b>&amp;")
    assert "<b>&amp;</b>" not in found.html()
    assert "&lt;b&gt;&amp;amp;" in found.html()


def test_the_page_holds_everything_and_loads_nothing(unrolled):
    page = unrolled.page()
    assert not re.search(r"(src|href)=|@import|https?://(?!www\.w3\.org)", page)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert unpack(json.loads(data)) == unrolled.to_json()


def test_the_shortcut_costs_nothing_at_import():
    code = "import pyptx, sys; print('pyptx.views' in sys.modules, pyptx.diff.__name__, 'pyptx.views' in sys.modules)"
    assert python("-c", code).stdout == "False diff True\n"


def test_a_diff_holds_all_levels_and_any_can_be_shown_first(unrolled):
    assert [one.name for one in unrolled.others] == ["ptx", "python"]
    ptx = unrolled.at("ptx")
    assert ptx.level == "ptx"
    assert ptx.verdict.startswith("Different: ")
    assert {one.name for one in ptx.others} == {"sass", "python"}
    assert ptx.at("sass").compared == unrolled.compared
    assert unrolled.at("sass") is unrolled
    assert "PTX: Different: " in unrolled.text()
    assert "The Python is identical." in unrolled.text()
    with pytest.raises(ValueError, match="no level 'asm'; expected sass, ptx, python"):
        unrolled.at("asm")
    assert Diff.from_json(unrolled.to_json()).others == unrolled.others


def test_configurations_of_one_kernel_are_named_by_what_differs(compiled, factor):
    assert (factor.left.title, factor.right.title) == ("scale(factor=2.0)", "scale(factor=3.0)")
    other = diff(compiled(factor=2.0, unroll=4), compiled("sm_80", ["-O1"], factor=3.0, unroll=4))
    assert other.left.title == "scale(factor=2.0)"
    assert other.right.title == "scale(factor=3.0, -O1)"
    assert diff(compiled(), compiled()).left.title == "scale"
    assert diff(compiled(), compiled(factor=3.0), titles=("old", None)).left.title == "old"
