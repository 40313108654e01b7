"""Rooflines as data: positions, roofs, ceilings; text, HTML, SVG, CSV, JSON, matplotlib."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as xml
from dataclasses import replace

import pytest
from views.rooflines import PRODUCT, N, four, sgemm, sweep
from views.test_forms import Elements

from pyptx.analysis.gpus import GPUS, gpu
from pyptx.errors import OptionError, ShapeError
from pyptx.views import MIME
from pyptx.views.rooflines.elements import Point
from pyptx.views.rooflines.layout import CHARACTER, FONT, chart_layout
from pyptx.views.rooflines.roofline import Roofline
from pyptx.views.rooflines.units import number, percent, power, quantity, ticks

H200 = gpu("h200")


def test_a_point_is_placed_at_its_intensity_and_rate():
    view = four()
    placed = view.at(view.points[0])
    assert placed.intensity == pytest.approx(PRODUCT / (6 * N * N))
    assert placed.rate == pytest.approx(742e12)
    assert placed.attainable == pytest.approx(132 * 1.83e9 * 4096)
    assert placed.limit == "wgmma bf16 989 TFLOP/s"
    assert placed.formula == (
        "1.1 TFLOP / 403 MB of DRAM = 2731 FLOP/B",
        "1.1 TFLOP / 1.48 ms measured = 742 TFLOP/s",
        "attainable: min(989 TFLOP/s, 4.8 TB/s × 2731 FLOP/B) = 989 TFLOP/s",
        "742 TFLOP/s of 989 TFLOP/s: 75%",
    )
    rows = view.at(view.points[2])
    assert rows.attainable == pytest.approx(4.8e12 * 0.75)
    assert rows.share == pytest.approx(4.31 / 4.8)
    assert rows.limit == "DRAM 4.8 TB/s"
    assert view.at(view.points[3], "shared") is None, "those bytes were not counted"
    assert view.at(view.points[0], "shared").intensity == 32


def test_the_slower_of_two_pipes_limits_the_rate():
    point = Point("attention", {"wgmma.bf16": 989e9, "core.f32": 133.8e9, "mma.bf16": 0}, {"dram": 1e6}, 1e-2)
    view = Roofline(H200, [point])
    assert point.flops == 989e9, "of the tensor cores alone"
    assert view.at(point).attainable == pytest.approx(989e9 / (133.8e9 / H200.flops_per_s("core", "f32")))
    assert view.at(point).limit == "CUDA cores f32 66.9 TFLOP/s"


def test_roofs_are_those_of_the_types_that_are_used_and_of_the_other_tensor_pipe():
    assert [(roof.name, roof.used) for roof in four().roofs] == [
        ("wgmma.f16", True),
        ("mma.f16", False),
        ("core.f32", True),
    ]
    both = Roofline(H200, [Point("a", {"wgmma.f16": 1, "wgmma.bf16": 1, "wgmma.e4m3": 1}, {}, 1)])
    assert [roof.label.rsplit(" ", 2)[0] for roof in both.roofs] == [
        "wgmma e4m3",
        "wgmma bf16/f16",
        "mma bf16/e4m3/f16",
        "CUDA cores f32",
    ], "fp8 of mma.sync is emulated"
    assert [roof.name for roof in Roofline(H200).roofs] == ["core.f32"]
    assert four().roofs[1].source == "read from ptxas' schedule"


def test_slopes_are_the_memory_levels_and_the_measured_bandwidth():
    assert [(one.level, one.kind) for one in four().slopes] == [("dram", "peak"), ("l2", "peak"), ("shared", "peak")]
    first, second = sgemm().slopes[:2]
    assert (first.kind, first.bytes_per_s, second.bytes_per_s) == ("reached", 1898e9, 2039e9)
    assert first.source == "measured by others"


def test_ceilings_of_the_last_wave_and_of_a_launch():
    by_point = {(one.point, one.label.partition(":")[0]): one for one in four().ceilings}
    wave = by_point[0, "last wave"]
    assert wave.flops_per_s == pytest.approx(0.9 * H200.flops_per_s("wgmma", "bf16"))
    assert wave.why == "4.5 waves of CTAs take the time of 5: 90% of the roof"
    assert by_point[-1, "non-FMA"].flops_per_s == pytest.approx(H200.flops_per_s("core", "f32") / 2)
    assert (2, "launch") not in by_point, "it computes longer than a launch takes"
    tail = Roofline(H200, [Point("tail", {"wgmma.bf16": 1e12}, {"dram": 1e9}, 2e-3, ctas=200)]).ceilings[0]
    assert tail.flops_per_s == pytest.approx(200 / 264 * H200.flops_per_s("wgmma", "bf16"))
    assert tail.why == "200 CTAs on 132 SMs: one has 2, the average 1.52: 76% of the roof"
    assert Roofline(H200, [Point("all", {"wgmma.bf16": 1e12}, {"dram": 1e9}, 2e-3, ctas=132)]).ceilings == ()
    special = Roofline(H200, [Point("exp", {"core.f32": 1e12, "core.mufu": 1e12, "core.s32": 1e9}, {"dram": 1e9}, 1)])
    assert special.points[0].flops == 1e12
    assert [one.label for one in special.ceilings] == ["non-FMA: 33.5 TFLOP/s", "special functions: 4.18 TFLOP/s"]
    assert special.ceilings[1].why == "1 T special functions take 239 ms"
    small = Roofline(H200, [Point("tiny", {"core.f32": 1e6}, {"dram": 1e5}, 3e-6)])
    assert [one.label for one in small.ceilings] == ["non-FMA: 33.5 TFLOP/s", "launch: 400 GFLOP/s"]


def test_integers_are_operations_and_not_flops():
    view = Roofline(gpu("a100"), [Point("igemm", {"mma.s8": 1e12}, {"dram": 1e9}, 2e-3)])
    assert view.unit == "OP/s"
    assert view.roofs[0].label == "mma s8 624 TOP/s"
    assert "1 TOP / 1 GB of DRAM = 1000 OP/B" in view.text()


def test_a_point_without_work_shows_its_bandwidth():
    view = Roofline(H200, [Point("copy", {}, {"dram": 4e9}, 1e-3, "measured")])
    assert view.at(view.points[0]) is None
    assert "4 TB/s, 83% of dram" in view.text()
    xml.fromstring(view.svg())


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"work": {"fma.f32": 1}}, "pipes are core, mma, wgmma, tcgen05"),
        ({"work": {"core": 1}}, "work 'core'; expected a pipe and a type"),
        ({"bytes": {"l1": 1}}, "bytes of 'l1'; expected dram, l2, shared"),
        ({"seconds": 0}, "seconds=0; expected"),
        ({"kind": "guessed"}, "kind='guessed'; expected modeled or measured"),
    ],
)
def test_a_point_that_cannot_be_is_refused(changes, said):
    with pytest.raises((OptionError, ShapeError), match=said):
        Point(**{"name": "x", "work": {"core.f32": 1}, "bytes": {}, "seconds": 1} | changes)


def test_levels_that_do_not_exist_are_refused_and_gpus_are_found_by_name():
    assert Roofline("l4").gpu.name == "L4"
    with pytest.raises(ShapeError, match="expected dram, l2, shared"):
        Roofline("l4", level="l1")


def test_json_holds_everything(golden):
    view = four(level="l2")
    data = json.loads(json.dumps(view.to_json()))
    again = Roofline.from_json(data)
    assert again == view
    assert again.to_json() == view.to_json()
    assert list(data["points"][3]["at"]) == ["dram", "l2"]
    golden("views/roofline.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    with pytest.raises(ValueError, match="expected kind 'roofline', version 1; got 'linked', 1"):
        Roofline.from_json({"kind": "linked", "version": 1})


def test_a_mime_bundle_has_all_forms():
    bundle = four()._repr_mimebundle_()
    assert bundle[MIME]["kind"] == "roofline"
    assert bundle["text/plain"].startswith("Kernels of a block on H200 SXM")
    assert "<img" in bundle["text/html"]


def test_text_draws_the_chart_and_lists_the_points(golden):
    golden("views/roofline.txt", "\n\n".join((four().text(), sgemm().text(width=70), Roofline("t4").text())) + "\n")
    assert str(four()) == four().text() and "4 points" in repr(four()) and repr(sgemm()).endswith(": 1 point>")


@pytest.mark.parametrize("name, view", [("four", four()), ("sgemm", sgemm()), ("sweep", sweep())])
def test_svg_is_as_before(name, view, golden):
    text = view.svg(theme="light" if name == "sgemm" else "auto")
    xml.fromstring(text)
    golden(f"views/roofline_{name}.svg", text)


@pytest.mark.parametrize("level", ["dram", "l2", "shared"])
@pytest.mark.parametrize("make", [four, sgemm, sweep])
@pytest.mark.parametrize("width", [420, 860, 1400])
def test_labels_do_not_lie_on_one_another(make, level, width):
    drawn = chart_layout(make().at_level(level), 0, 0, width, width * 0.55)
    boxes = []
    for label in drawn.labels:
        wide = len(label.text) * FONT * CHARACTER
        if not label.turn:
            left = label.x - (wide if label.anchor == "end" else 0)
            boxes.append((left, label.y - FONT + 1, wide, FONT - 1, label.text))
    for x, y, wide, high, text in boxes:
        assert 0 <= x and x + wide <= width, text
        others = [
            other
            for a, b, w, h, other in boxes
            if other is not text and x < a + w and a < x + wide and y < b + h and b < y + high
        ]
        assert not others, f"{text} on {others}"


def test_static_html_has_no_script_style_sheet_id_or_handler():
    found = Elements(four().html(), void={"img"})
    assert not {"script", "style", "link"} & set(found.tags)
    assert {name for _, name, _ in found.attributes} <= {"style", "alt", "src", "width"}
    words = " ".join(found.words)
    assert "1.48 ms (1.47 ms to 1.5 ms) measured" in words
    assert "1.37 ms modeled" in words


def test_csv_has_plain_numbers():
    rows = list(csv.DictReader(io.StringIO(four().csv())))
    assert [row["name"] for row in rows] == ["gemm", "gemm", "softmax", "layer_norm"]
    assert float(rows[0]["flops_wgmma_bf16"]) == PRODUCT
    assert float(rows[2]["dram_bytes"]) == 8 * 4096 * 8192
    assert float(rows[0]["l2_intensity"]) == 128
    assert rows[3]["shared_bytes"] == rows[3]["waves"] == ""


def test_more_points_and_another_level():
    view = four().with_points(sgemm().points, {"x": {"kind": "linked"}})
    assert [point.name for point in view.points][-1] == "sgemm"
    assert view.at_level("l2").level == "l2"
    assert view.views == {"x": {"kind": "linked"}}


def test_files_are_written_by_their_suffix(tmp_path):
    for suffix, first in (
        (".svg", "<svg"),
        (".csv", "name,version,gpu"),
        (".json", '{"kind":"roofline"'),
        (".html", "<!doctype html>"),
    ):
        assert four().save(tmp_path / f"x{suffix}").read_text().startswith(first)
    with pytest.raises(ValueError, match="expected a name that ends in .svg, .png"):
        four().save(tmp_path / "x.gif")


def test_matplotlib_draws_it(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    view = four()
    assert view.save(tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(16, 5))
    assert view.plot(left) is left
    assert view.at_level("l2").plot(ax=right) is right
    assert left.get_xlabel() == "Arithmetic intensity (FLOP per byte of DRAM)"
    assert any("softmax" in text.get_text() for text in left.texts)
    pyplot.close(figure)


@pytest.mark.parametrize("one", GPUS.values(), ids=str)
def test_every_gpu_has_a_chart(one):
    pipe = "wgmma" if one.name.startswith("H") else "tcgen05" if one.name.startswith("B") else "mma"
    view = Roofline(one, [Point("k", {f"{pipe}.f16": 1e12}, {level: 1e9 for level in ("dram", "l2", "shared")}, 1)])
    for level in view.levels:
        xml.fromstring(view.at_level(level).svg())
    assert view.roofs[0].source


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (989.4e12, "FLOP/s", "989 TFLOP/s"),
        (4.8e12, "B/s", "4.8 TB/s"),
        (3.4e-6, "s", "3.4 µs"),
        (0, "B", "0 B"),
        (999.96e9, "B/s", "1 TB/s"),
        (1e-15, "s", "0.001 ps"),
        (12345, "B", "12.3 kB"),
    ],
)
def test_quantities_have_three_digits(value, unit, text):
    assert quantity(value, unit) == text


def test_numbers_and_ticks():
    assert [percent(share) for share in (0.754, 0.0995, 0.061, 0.0005, 1.02)] == ["75%", "10%", "6.1%", "0.05%", "102%"]
    assert [number(value) for value in (0.125, 341.3, 2730.7, 1.0)] == ["0.125", "341", "2731", "1"]
    assert [power(value) for value in (0.01, 1, 1000, 1e4)] == ["0.01", "1", "1000", "10k"]
    assert ticks(0.5, 200)[0] == [1, 10, 100]
    assert len(ticks(1e-9, 1e15)[0]) <= 9


def test_a_point_keeps_its_view():
    view = replace(four(), views={"gemm@4": {"kind": "linked"}})
    assert view.to_json()["views"]["gemm@4"] == {"kind": "linked"}
    assert view.to_json()["points"][0]["view"] == "gemm@4"
