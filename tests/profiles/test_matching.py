"""Profiles matched with machine code of a kernel, through CSV, ncu and ncu_report."""

from __future__ import annotations

import stat
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from profiles.pages import raw_page, source_page

from pyptx import Tile, kernel, ptx
from pyptx.errors import InputError, ShapeError, ToolError
from pyptx.profiles import compare_profile, load_report, match_profile
from pyptx.profiles.csv_pages import parse_csv
from pyptx.types import f32


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
def double(x, y):
    i = ptx.global_id()
    y[i] = x[i] + x[i]


X = np.ones(1024, np.float32)
SASS = double.compile(N=1024).sass
CODE = [line.text for line in SASS]


def matched(code, name="double(float *, float *)", sass=SASS):
    return match_profile(parse_csv(source_page(name, code), "run.csv"), "double", sass)


def test_equal_machine_code_matches_in_full():
    found = matched(CODE)
    assert [row.counters["executed"] for row in found.rows] == [1000 + k for k in range(len(CODE))] and not found.notes


def test_padding_of_the_report_counts_as_no_difference():
    found = matched([*CODE, *["NOP"] * 6])
    assert found.rows[-1] is not None and not found.notes


def test_an_inserted_instruction_is_named_and_the_others_match():
    found = matched([*CODE[:4], "IADD3.X R9, R9, R9, RZ", *CODE[4:]])
    assert [
        row.text.split()[0] == SASS[k].opcode or row.text.startswith("@") for k, row in enumerate(found.rows) if row
    ]
    assert found.rows[3].counters["executed"] == 1003 and found.rows[4].counters["executed"] == 1005
    (note,) = found.notes
    assert note.startswith(
        "1 instructions of the profile are not in this machine code: instruction 4 of the profile is IADD3.X"
    )


def test_machine_code_of_another_kernel_is_refused_with_the_first_difference():
    with pytest.raises(ShapeError, match="of other machine code: instruction 0 of the profile is FFMA, expected"):
        matched(["FFMA R1, R1, R1, R1"] * 20)


def test_of_several_launches_the_one_with_this_machine_code_is_taken():
    text = source_page("double", ["NOP"] * 3 + CODE[3:]) + source_page("other", CODE) + source_page("double", CODE)
    found = match_profile(parse_csv(text, "run.csv"), "double", SASS)
    assert found.rows[0] is not None and found.notes == ("launch 2 of 2 in the report",)


def test_modeled_and_measured_metrics_are_side_by_side():
    metrics = {
        "gpu__time_duration.sum": ("4.00", "us"),
        "dram__bytes_read.sum": ("4.096", "Kbyte"),
        "sm__warps_active.avg.pct_of_peak_sustained_active": ("50", "%"),
    }
    report = parse_csv(source_page("double", CODE) + raw_page("double", metrics), "run.csv")
    prediction = double.estimate(X, device="h100")
    table = compare_profile(match_profile(report, "double", SASS), prediction)
    rows = {row.name: row for row in table.rows}
    assert rows["duration"].measured == pytest.approx(4e-6) and rows["duration"].modeled == prediction.seconds
    assert rows["DRAM bytes, read"].ratio == pytest.approx(1.0)
    assert rows["stalled: scoreboard"].measured == pytest.approx(70.0) and rows["issuing"].measured == pytest.approx(
        30.0
    )
    modeled = sum(row.modeled or 0 for name, row in rows.items() if name.startswith(("stalled", "issuing")))
    assert modeled == pytest.approx(100, abs=0.5)
    assert "duration" in table.text() and table.to_json()["rows"][0]["ratio"] == prediction.seconds / 4e-6


def program(tmp_path, body: str) -> str:
    path = tmp_path / "ncu"
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_report_is_exported_by_ncu(tmp_path, monkeypatch):
    for page, text in (("source", source_page("double", CODE)), ("raw", raw_page("double", {"m": ("1", "")}))):
        (tmp_path / page).write_text(text)
    body = f"print(open({str(tmp_path)!r} + '/' + sys.argv[sys.argv.index('--page') + 1]).read())"
    monkeypatch.setenv("PYPTX_NCU", program(tmp_path, body))
    (tmp_path / "run.ncu-rep").write_bytes(b"NVR")
    report = load_report(tmp_path / "run.ncu-rep")
    assert report.reader == "ncu --import" and report.kernel("double").metrics and report.kernel("double").instructions
    monkeypatch.setenv("PYPTX_NCU", program(tmp_path, "sys.exit('==ERROR== version mismatch')"))
    with pytest.raises(ToolError, match="version mismatch"):
        load_report(tmp_path / "run.ncu-rep")


class Metric(SimpleNamespace):
    """A metric of NVIDIA's module: a number, or one for each address."""

    def __init__(self, number=0.0, unit="", at=None):
        super().__init__(number=number, at=at or {}, unit=lambda: unit)

    def value(self, index=None):
        return self.number if index is None else list(self.at.values())[index]

    def has_correlation_ids(self):
        return bool(self.at)

    def num_instances(self):
        return len(self.at)

    def correlation_ids(self):
        return SimpleNamespace(value=lambda index: list(self.at)[index])


def test_a_report_is_read_with_nvidias_module(tmp_path, monkeypatch):
    """The stand-in has the documented functions of `ncu_report`."""
    places = {4096 + 16 * k: k for k in range(len(CODE))}
    metrics = {
        "inst_executed": Metric(at={at: 32 * k for at, k in places.items()}),
        "smsp__pcsamp_warps_issue_stalled_long_scoreboard": Metric(at={4096: 5}),
        "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued": Metric(at={4096: 4}),
        "memory_l1_wavefronts_shared": Metric(at={4112: 9}),
        "memory_l1_wavefronts_shared_ideal": Metric(at={4112: 2}),
        "gpu__time_duration.sum": Metric(117344.0, "ns"),
        "device__attribute_display_name": Metric("NVIDIA H100"),
    }
    action = SimpleNamespace(
        name=lambda: "double",
        metric_names=lambda: tuple(metrics),
        metric_by_name=metrics.get,
        sass_by_pc=lambda at: CODE[places[at]],
    )
    module = ModuleType("ncu_report")
    module.__spec__ = SimpleNamespace(name="ncu_report")
    module.load_report = lambda path: [[action]]
    monkeypatch.setitem(sys.modules, "ncu_report", module)
    (tmp_path / "run.ncu-rep").write_bytes(b"")
    report = load_report(tmp_path / "run.ncu-rep")
    found = match_profile(report, "double", SASS)
    assert found.rows[0].stalls == {"long_sb": 5} and found.rows[0].counters["samples"] == 5
    assert found.rows[1].counters["conflicts"] == 7 and found.rows[2].counters["executed"] == 64
    assert found.profile.gpu == "NVIDIA H100" and found.profile.metrics["gpu__time_duration.sum"].base == pytest.approx(
        117344e-9
    )

    def refuses(path):
        raise RuntimeError("cannot open")

    module.load_report = refuses
    with pytest.raises(InputError, match="cannot open"):
        load_report(tmp_path / "run.ncu-rep")
