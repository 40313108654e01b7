"""The view of a debugging session: text, HTML, large kernels, escaping."""

from __future__ import annotations

import json
import re

import pytest
from views.debugging import document, large, sources, view

from pyptx.views.debugger import MIME, DebugView


def test_the_text_shows_the_place_and_the_stop_reason():
    lines = view().text().splitlines()
    assert lines[0] == "pipeline on sm_90a, grid 1, block 288, late schedule: step 212 of 420"
    assert lines[1].startswith("● breakpoint: 1 at pipeline.py:16 if lane == 3  (warp 0, lane 3, line 16, PTX 28)")
    assert [line for line in lines if line.startswith(">◆")] == [
        ">◆      16              ptx.wgmma.mma_async(acc, tiles[stage], tiles[stage])",
        ">◆      28      wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, "
        "1, 1, 1, 0, 0;",
    ]
    assert "   3    27      wgmma.fence.sync.aligned;" in lines, "three other warps stand there"


def test_the_text_has_warps_registers_barriers_matrices_and_the_timeline():
    text = view().text()
    for line in (
        "> ▶ warp 0 consumer 0: running at line 16, PTX 28",
        "  ◷ warp 8 producer: waiting at line 9, PTX 18, 1 of 32 lanes, waits for mbarrier empty[0], phase 1",
        "  ✓ warp 7 consumer 1: exited",
        "acc[0] + 1 = 3.5",
        "nothing: no register, name or array is called so",
        "  full[1] (mbarrier): phase 0, 1 of 1 arrived, 4096 bytes pending, waiting: warp 4, warp 5, warp 6",
        "tiles[0]: 64 x 64 bf16 in shared memory at 0x400, swizzle 128B",
        "  rows 0 to 15 and columns 0 to 15 of 64 x 64",
    ):
        assert line in text.splitlines()
    assert re.search(r"^Δ acc\[0\] %f0 ", text, re.MULTILINE)
    assert re.search(r"^ +tid %r0 +\.u32 +3   0 1 2 3 4", text, re.MULTILINE)
    assert re.search(r"^ +TMA tiles\[0\] +'~+#+\+$", text, re.MULTILINE)
    assert text.splitlines()[-1].endswith("^ step 212")


def test_a_finding_of_several_lines_has_its_place_in_the_first():
    own = view(stop={"reason": "finding", "text": "error[data-race]: what\n  reads: where", "breakpoint": None})
    assert own.text().splitlines()[1:3] == [
        "! finding: error[data-race]: what  (warp 0, lane 3, line 16, PTX 28)",
        "  reads: where",
    ]
    assert "what\u00a0\u00a0(warp 0, lane 3, line 16, PTX 28)<br>\u00a0\u00a0reads: where</b>" in own.html()


def test_the_html_says_the_same_without_styles():
    html = view().html()
    bare = re.sub(r' style="[^"]*"', "", html)
    assert "<b>● breakpoint: 1 at pipeline.py:16 if lane == 3\u00a0\u00a0(warp 0, lane 3, line 16, PTX 28)</b>" in bare
    assert "<b>◆▶      16              ptx.wgmma.mma_async(acc, tiles[stage], tiles[stage])</b>" in bare
    assert "<tr><td>Δ</td><td><b>acc[0]</b> %f0</td><td>.f32</td>" in bare
    assert "d = a @ a.T" not in bare, "only the lines around the place"
    for forbidden in ("<script", "<style", " id=", " class=", "onclick"):
        assert forbidden not in html
    colored = re.findall(r'style="([^"]*)"', html)
    assert all(("color:" in style.replace("background", "")) == ("background:" in style) for style in colored)


def test_json_and_back():
    own = view()
    data = json.loads(json.dumps(own.to_json()))
    assert DebugView.from_json(data) == own
    assert data["help"]["wgmma"].endswith(".") and "add" not in data["help"]
    assert set(own._repr_mimebundle_()) == {MIME, "text/html", "text/plain"}
    with pytest.raises(ValueError, match="expected kind 'debug', version 1; got 'linked', 1"):
        DebugView.from_json({"kind": "linked", "version": 1})
    assert repr(own) == "DebugView(pipeline on sm_90a, grid 1, block 288, late schedule: step 212 of 420)"


def test_paths_of_this_machine_do_not_travel():
    code, state = sources(), document()
    for source, file in zip(code["python"], ("/home/me/a/pipeline.py", "/home/me/b/pipeline.py"), strict=True):
        source |= {"file": file, "name": "pipeline.py"}
    state["place"] |= {"file": "/home/me/a/pipeline.py", "stack": [{"file": "/home/me/b/pipeline.py", "line": 3}]}
    state["breakpoints"][0]["file"] = "/home/me/a/pipeline.py"
    data = DebugView(code, state).to_json()
    assert "/home" not in json.dumps(data)
    assert [source["file"] for source in data["sources"]["python"]] == ["a/pipeline.py", "b/pipeline.py"]
    assert data["document"]["place"]["file"] == data["document"]["breakpoints"][0]["file"] == "a/pipeline.py"
    assert data["document"]["place"]["stack"][0]["file"] == "b/pipeline.py"


def test_large_kernels_are_cut_and_the_omitted_parts_counted():
    own = large()
    text, html = own.text(), own.html()
    assert len(text) < 20_000 and len(html) < 60_000
    for left in ("and 40 more rows", "and 4080 more warps", "and 884 more registers"):
        assert left in text
    assert "and 4064 more</div>" in html and "and 868 more</div>" in html
    assert "> ▶ CTA 300 warp 5: running" in text
    assert "  ○ CTA 300 warp 0: ready" in text, "warps of the focused CTA before others"


def test_hostile_text_stays_text():
    evil = '<img src=x onerror="alert(1)">&'
    state = document(kernel=evil, stop={"reason": "fault", "text": evil, "breakpoint": None})
    state["warps"][0] |= {"role": evil, "waits": evil}
    state["registers"][0] |= {"name": evil, "python": evil, "type": evil, "lanes": [evil] * 32}
    state["barriers"][0]["name"] = state["memory"][0]["name"] = state["fragments"][0]["name"] = evil
    state["memory"][0]["values"][0][0] = evil
    state["watches"] = [{"text": evil, "value": evil, "error": None}]
    state["timeline"]["rows"][0]["name"] = evil
    code = sources()
    code["python"][0] |= {"file": evil, "lines": [evil] * 20}
    own = DebugView(code, state | {"place": state["place"] | {"file": evil}})
    assert "<img" not in own.html()
    assert "<img" not in own.page().replace("window.pyptx", "")


def test_a_kernel_without_python_lines_is_shown_by_its_ptx():
    code = {"python": [], "ptx": [".version 8.5", "ret;"], "line_of_ptx": [None, None]}
    state = document(
        warps=[],
        registers=[],
        barriers=[],
        memory=[],
        fragments=[],
        watches=[],
        breakpoints=[],
        timeline={"rows": [], "now": 0},
        place={"ptx": 2, "line": None, "file": None, "stack": []},
    )
    text = DebugView(code, state).text()
    assert ">        2  ret;" in text.splitlines()
    assert "Registers" not in text and "Timeline" not in text
    assert "<pre" in DebugView(code, state).html()
