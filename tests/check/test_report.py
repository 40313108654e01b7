"""Reports as text, HTML, JSON, and SARIF, from the command line and from pytest."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from check import racy
from support.processes import python
from support.terminal import Terminal

from pyptx import cli
from pyptx.check import RULES
from pyptx.check.rules import _FAULTS
from pyptx.sim.abi import FAULTS

FILE = Path(racy.__file__)
X = np.arange(racy.N, dtype=np.float32)


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    status = cli.main(list(map(str, arguments)))
    return (status, *capsys.readouterr())


def test_every_fault_of_the_core_has_a_rule():
    assert set(FAULTS) - {"", "memory", "space", "jump", "function", "sanitizer"} <= _FAULTS.keys()
    assert set(_FAULTS.values()) <= RULES.keys()


def test_the_text_has_rule_location_and_fix():
    text = racy.wait_too_weak.check(X).text()
    assert re.match(
        r"wait_too_weak: 1 error in eager, late, 4 random schedules\n\n"
        r"error\[missing-wait\]: The cp.async issued by warp 1, lane 0 wrote byte 128 of smem_0 .*"
        r"The results show it: y\[0\] is 64 in the eager schedule and nan in the late schedule",
        text,
    )
    assert re.search(r"waits for too few groups: \S+racy.py:\d+ \(PTX line \d+\)\n +ptx\S+wait_group\(1\)", text)
    assert "  hint: cp.async.commit_group and cp.async.wait_group with a small enough count" in text
    assert "\x1b[" not in text and "\x1b[31m" in racy.wait_too_weak.check(X).text(color=True)


def test_html_is_static_and_escaped():
    bundle = racy.wait_too_weak.check(X)._repr_mimebundle_()
    assert "<script" not in bundle["text/html"] and "missing-wait" in bundle["text/html"]
    assert bundle["text/plain"].startswith("wait_too_weak: 1 error")


def test_json_is_plain():
    report = racy.wait_too_weak.check(X)
    found = json.loads(json.dumps(report.to_json()))
    assert (found["ok"], found["kernel"], found["findings"][0]["index"]) == (False, "wait_too_weak", [128])
    assert found["findings"][0]["places"][0]["python"]["file"] == str(FILE)


def test_sarif_has_the_properties_its_schema_requires(monkeypatch):
    """SARIF 2.1.0, sections 3.13 to 3.30, for the properties that a report uses."""
    monkeypatch.chdir(FILE.parent)
    log = json.loads(json.dumps(racy.wait_too_weak.check(X).to_sarif()))
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    driver, results = log["runs"][0]["tool"]["driver"], log["runs"][0]["results"]
    assert driver["name"] == "pyptx check" and results
    for result in results:
        assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"]
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"] + result["relatedLocations"]:
            physical = location["physicalLocation"]
            assert physical["artifactLocation"]["uri"] == "racy.py"
            region = physical["region"]
            assert 1 <= region["startLine"] <= region["endLine"] and region["startColumn"] >= 1
            assert region["snippet"]["text"] in FILE.read_text()


def test_the_exit_status_tells_whether_there_are_findings(capsys, tmp_path):
    sarif = tmp_path / "report.sarif"
    status, out, _ = run(capsys, "check", f"{FILE}:wait_too_weak", "--sarif", sarif)
    assert status == 1 and "waits for too few groups" in out
    assert json.loads(sarif.read_text())["runs"][0]["results"][0]["ruleId"] == "missing-wait"
    status, out, _ = run(capsys, "check", f"{FILE}:too_far", "-p", f"N={racy.N + 1}", "--json")
    assert status == 0 and json.loads(out)["ok"] and json.loads(out)["params"]["N"] == racy.N + 1
    status, _, err = run(capsys, "check", f"{FILE}:too_far")
    assert status == 2 and "the size N of" in err and "-p N=128" in err
    status, _, err = run(capsys, "check", f"{FILE}:too_far", "--args", "f99[4]")
    assert status == 2 and "unknown type f99" in err
    status, _, err = run(capsys, "check", f"{FILE}:nowhere")
    assert status == 2 and "defines no kernel" in err


def test_ptx_files_are_checked_with_a_launch_configuration(capsys, tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(racy.copy_not_waited_for.ptx())
    status, out, _ = run(capsys, "check", path, "--grid", 1, "--block", racy.N, "--args", "f32[128]", "f32[128]")
    assert status == 1 and "reads, unordered: PTX line" in out
    status, _, err = run(capsys, "check", path, "--args", "f32[128]", "f32[128]")
    assert status == 2 and "--grid" in err


def test_the_fixture_fails_a_test_with_the_report(tmp_path):
    (tmp_path / "test_it.py").write_text(f"""
import sys; sys.path.insert(0, {str(FILE.parents[1])!r})
import numpy as np
import pytest
from check import racy
def test_wrong(pyptx_check): pyptx_check(racy.wait_too_weak, np.zeros(128, np.float32) + 1)
def test_right(pyptx_check): assert pyptx_check(racy.too_far, np.zeros(129, np.float32)).ok
""")
    plugin = [] if _installed() else ["-p", "pyptx.pytest_plugin"]
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, "--rootdir", tmp_path, tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "waits for too few groups" in done.stdout and "pytest_plugin.py" not in done.stdout


def _installed() -> bool:
    from importlib.metadata import entry_points

    return any(found.value == "pyptx.pytest_plugin" for found in entry_points(group="pytest11"))


@pytest.mark.parametrize(("threads", "line"), [(1, "schedule 2 of 3, late"), (2, "3 of 3 schedules done")])
def test_a_long_check_says_how_far_it_is(threads, line, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr("pyptx.sim.progress.AFTER_S", 0.0)
    racy.wait_too_weak.check(X, random=1, threads=threads)
    lines = sys.stderr.getvalue().split("\r")
    assert f"wait_too_weak: {line} (Ctrl-C or interrupt stops it)" in {line.rstrip() for line in lines}
    assert lines[-1] == "" and not lines[-2].strip()
