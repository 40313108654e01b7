"""The layout of a roofline in JavaScript equals that of Python: lines, labels and markers."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from views.rooflines import four, sgemm, sweep

from pyptx.renderer import FOLDER
from pyptx.views.rooflines.layout import chart_layout
from pyptx.views.rooflines.units import number, power, quantity, ticks

MODULES = {name: (FOLDER / f"{name}.js").as_uri() for name in ("rooflines/layout", "rooflines/units")}


def node(script: str, data: object) -> object:
    """What the script, a module that has `data`, writes as JSON."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed")
    ran = subprocess.run(
        [program, "--input-type=module"],
        input=f"const data = {json.dumps(data)};\n{script}",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_layout_equals_that_of_python():
    cases = [
        (view, level, width) for view in (four(), sgemm(), sweep()) for level in ("dram", "l2") for width in (420, 900)
    ]
    script = f"""import {{ layout }} from "{MODULES["rooflines/layout"]}";
      const drawn = ([view, level, width]) => {{
        const area = {{ left: 70, top: 20, width, height: width / 2 }};
        const {{ lines, labels, markers, leaders }} = layout(view, level, area);
        const place = one => [one.x, one.y];
        return [lines.map(one => [one.kind, one.x1, one.y1, one.x2, one.y2]),
                labels.map(one => [one.kind, one.text, one.anchor, one.turn, ...place(one)]),
                markers.map(one => [one.number, one.color, one.solid, one.low, one.high, ...place(one)]),
                leaders.map(one => [one.x1, one.y1, one.x2, one.y2])];
      }};
      console.log(JSON.stringify(data.map(drawn)));"""
    found = node(script, [(view.to_json(), level, width) for view, level, width in cases])
    for (view, level, width), (lines, labels, markers, leaders) in zip(cases, found, strict=True):
        own = chart_layout(view.at_level(level), 70, 20, width, width / 2)
        assert_near(lines, [(one.kind, one.x1, one.y1, one.x2, one.y2) for one in own.lines])
        assert_near(labels, [(one.kind, one.text, one.anchor, one.turn, one.x, one.y) for one in own.labels])
        assert_near(
            markers, [(one.number, one.color, one.solid, one.low, one.high, one.x, one.y) for one in own.markers]
        )
        assert_near(leaders, [(one.x1, one.y1, one.x2, one.y2) for one in own.leaders])


def assert_near(found, wanted) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a == (pytest.approx(b, abs=0.01) if isinstance(b, float) else b), (one, other)


def test_numbers_are_written_alike():
    values = [0.5e-9, 3.4e-6, 999.96e9, 12345.0, 0.125, 7.0, 1e15, 66.9e12, 0.0]
    powers, ends = [1e-4, 0.01, 1.0, 1000.0, 1e4, 1e7], [(0.5, 200.0), (1e-9, 1e15), (0.1, 3e4)]
    script = f"""import {{ number, power, quantity, ticks }} from "{MODULES["rooflines/units"]}";
      const [values, powers, ends] = data;
      console.log(JSON.stringify([values.map(one => quantity(one, "B")), values.filter(Boolean).map(number),
                                  powers.map(power), ends.map(([low, high]) => ticks(low, high))]));"""
    quantities, numbers, named, found = node(script, [values, powers, ends])
    assert quantities == [quantity(one, "B") for one in values]
    assert numbers == [number(one) for one in values if one]
    assert named == [power(one) for one in powers]
    for got, (low, high) in zip(found, ends, strict=True):
        assert [pytest.approx(one) for one in ticks(low, high)] == got
