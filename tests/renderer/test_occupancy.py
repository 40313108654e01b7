"""The occupancy computed by the live view equals that of `pyptx.analysis`."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest

from pyptx.analysis import occupancy
from pyptx.isa import targets
from pyptx.renderer import FOLDER
from pyptx.views.code.entry_summary import limits_of

pytestmark = pytest.mark.browser

SCRIPT = """
import {{ betters, curve, occupancy }} from {module};
const cases = JSON.parse(await new Promise(done => {{
  let text = "";
  process.stdin.on("data", part => {{ text += part; }}).on("end", () => done(text));
}}));
const seen = cases.map(([limits, threads, registers, shared]) => {{
  const use = {{ threads, registers, shared }}, fits = occupancy(limits, use);
  return [fits.blocks, fits.warps, fits.maxWarps, fits.limits, fits.limiters, betters(limits, use),
          curve(limits, use, "registers").length];
}});
console.log(JSON.stringify(seen));
"""


def test_javascript_and_python_agree():
    node = shutil.which("node")
    assert node, "node is not installed"
    pick = random.Random(7)
    names = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a"]
    cases = [
        (
            pick.choice(names),
            pick.choice([1, 31, 32, 33, pick.randint(1, 1100)]),
            pick.randint(0, 260),
            pick.choice([0, pick.randint(0, 4096), pick.randint(0, 240_000)]),
        )
        for _ in range(400)
    ]
    given = json.dumps([[limits_of(name), *rest] for name, *rest in cases])
    script = SCRIPT.format(module=json.dumps((FOLDER / "code/occupancy.js").as_uri()))
    done = subprocess.run(
        [node, "--input-type=module", "-e", script], input=given, text=True, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for (name, threads, registers, shared), found in zip(cases, json.loads(done.stdout), strict=True):
        blocks, warps, most, limits, limiters, betters, points = found
        known = occupancy(name, threads=threads, registers=registers, shared_bytes=shared)
        assert (blocks, warps, most) == (known.blocks, known.warps, known.max_warps), (name, threads, registers, shared)
        assert (limits, tuple(limiters)) == (known.limits, known.limiters)
        assert points == 32
        for better in betters:
            use = {"threads": threads, "registers": registers, "shared": shared, better["name"]: better["value"]}
            there = occupancy(name, threads=use["threads"], registers=use["registers"], shared_bytes=use["shared"])
            assert there.warps == better["warps"] > known.warps
    assert {limit for _, _, _, limits, limiters, *_ in json.loads(done.stdout) for limit in limiters} == {
        "registers",
        "shared memory",
        "warps",
        "blocks",
    }


def test_one_register_less_is_not_enough_and_eight_are():
    """What the view says for a kernel of 72 registers on sm_90: the step is at 64."""
    assert occupancy("sm_90a", threads=256, registers=72).warps == 24
    assert occupancy("sm_90a", threads=256, registers=65).warps == 24
    assert occupancy("sm_90a", threads=256, registers=64).warps == 32
    assert targets.parse("sm_90a").limits.regs_unit == 256
