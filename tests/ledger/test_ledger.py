"""The ledger: what is kept, what is compared, and who is named for a regression."""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyptx
from pyptx import Tile, kernel, ledger, ptx
from pyptx.analysis.model import MODEL_VERSION
from pyptx.cli import main
from pyptx.errors import InputError, UnknownNameError
from pyptx.ledger import Ledger, Measurement, Origin
from pyptx.ledger.regressions import baseline_of, cause_of, find_regressions
from pyptx.types import f32

X = np.ones(256, np.float32)


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
def double(x, y):
    i = ptx.global_id()
    y[i] = x[i] + x[i]


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_LEDGER", str(tmp_path / "ledger.sqlite"))


def time_of(us: float, day: float, *, cubin="aa", commit="", dirty=False, version="", **fields) -> Measurement:
    given = {"kind": "measured", "method": "events", "gpu": "H100", "driver": "13.0", "source": "benchmark"} | fields
    return Measurement(
        kernel="gemm", problem="f32[8]", seconds=us * 1e-6, low=0.99e-6 * us, high=1.01e-6 * us, cubin=cubin,
        origin=Origin(commit, dirty, version), at=86400 * day, **given,
    )  # fmt: skip


def test_a_benchmark_is_kept_with_what_it_depends_on():
    pyptx.benchmark(double, X, check=False, device="h100")
    (one,) = ledger.measurements("double")
    assert (one.kind, one.method, one.gpu, one.source, one.driver) == (
        "modeled",
        f"model {MODEL_VERSION}",
        "H100 SXM",
        "benchmark",
        "",
    )
    assert one.problem == "float32[256], float32[256]" and one.params == {"N": 256} and len(one.cubin) == 32
    assert one.low < one.seconds < one.high and one.origin.file == "tests/ledger/test_ledger.py"
    assert one.origin.commit == git(Path(__file__).parent, "rev-parse", "HEAD")
    pyptx.benchmark(double, X, check=False, record=False)
    assert len(ledger.measurements()) == 1


def test_modeled_and_measured_times_are_never_compared():
    fast, slow = time_of(10, 1, kind="modeled", method="model 4"), time_of(99, 2)
    assert not find_regressions([fast, slow]) and baseline_of(slow, [fast]) is None
    assert not find_regressions([fast, time_of(99, 2, kind="modeled", method="model 5")]), (
        "another version of the model"
    )
    assert find_regressions([fast, time_of(99, 2, kind="modeled", method="model 4")])


def test_other_gpus_parameters_and_problems_are_other_series():
    first = time_of(10, 1)
    for other in ({"gpu": "A100"}, {"params": {"BM": 64}}, {"method": "ncu"}):
        assert not find_regressions([first, time_of(99, 2, **other)])
    assert not find_regressions([first, replace(time_of(99, 2), problem="f32[9]")])


def test_a_regression_is_named_by_the_first_slow_time_until_it_is_fixed():
    times = [time_of(10, 1, commit="a" * 40), time_of(9, 2, cubin="bb", commit="b" * 40), time_of(9.1, 3, cubin="bb", commit="b" * 40),
             time_of(12, 4, cubin="cc", commit="c" * 40), time_of(12.1, 5, cubin="cc", commit="d" * 40)]  # fmt: skip
    (found,) = find_regressions(times)
    assert (found.best.at, found.last_good.at, found.first_bad.at) == tuple(
        86400 * day for day in (2, 3, 4)
    ) and not found.fixed
    assert "The machine code changed with commit cccccccccc" in found.text() and "+33.3%" in found.text()
    (found,) = find_regressions([*times, time_of(9.05, 6, cubin="bb")])
    assert found.fixed and "(fixed since)" in found.text()
    assert len(find_regressions([*times, time_of(20, 6)])) == 2, "slower again"
    assert not find_regressions([*times[:3], replace(times[3], accepted=True), times[4]])


def test_overlapping_intervals_are_no_regression():
    wide = replace(time_of(10.4, 2), low=10.0e-6)
    assert not find_regressions([time_of(10, 1), wide])
    assert not find_regressions([time_of(10, 1), time_of(10.35, 2)], tolerance=0.05)


@pytest.mark.parametrize(
    "before, after, cause",
    [
        (time_of(1, 1), time_of(2, 2, driver="13.1"), "the driver changed from 13.0 to 13.1"),
        (time_of(1, 1, conditions={"clock_hz": [1e9, 2e9]}), time_of(2, 2, conditions={"clock_hz": [1e9]}), "from 2000 to 1000 MHz"),
        (time_of(1, 1), time_of(2, 2, conditions={"throttled": 3}), "the GPU throttled"),
        (time_of(1, 1), time_of(2, 2), "no recorded condition changed"),
        (time_of(1, 1, version="gemm@1"), time_of(2, 2, cubin="bb", version="gemm@2"), "with version gemm@2 (was gemm@1)"),
        (time_of(1, 1, commit="a" * 40), time_of(2, 2, cubin="b", commit="a" * 40, dirty=True), "changes that are not committed"),
        (time_of(1, 1), time_of(2, 2, cubin="b"), "within unknown version"),
    ],
)  # fmt: skip
def test_the_cause_is_what_changed(before, after, cause):
    assert cause in cause_of(before, after)


def git(folder: Path, *arguments: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, env=env, check=True)
    return done.stdout.strip()


def test_commits_of_the_kernels_file_are_listed(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    hashes = []
    for number in range(3):
        (tmp_path / ("k.py" if number != 1 else "other.py")).write_text(f"{number}")
        git(tmp_path, "add", ".")
        git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", f"change {number}")
        hashes.append(git(tmp_path, "rev-parse", "HEAD"))
    monkeypatch.chdir(tmp_path)
    before, after = time_of(1, 1, commit=hashes[0]), time_of(2, 2, cubin="b", commit=hashes[2])
    assert "change 2; " in cause_of(before, after) + "; " and "change 1" in cause_of(before, after)
    after = replace(after, origin=replace(after.origin, file="k.py"))
    assert "change 2" in cause_of(before, after) and "change 1" not in cause_of(before, after)


def test_a_damaged_row_is_left_out_with_a_warning(tmp_path):
    own = Ledger(tmp_path / "own.sqlite")
    kept = own.record(time_of(1, 1))
    own._store.write(
        lambda c: c.execute("INSERT INTO measurements VALUES (7, 1, 'gemm', 'measured', 'H100', '{\"seconds\": NaN}')")
    )
    with pytest.warns(RuntimeWarning, match="a measurement in the store is damaged"):
        assert list(own.measurements()) == [kept]


def test_a_damaged_file_is_set_aside(tmp_path):
    (tmp_path / "own.sqlite").write_bytes(b"not a database" * 99)
    own = Ledger(tmp_path / "own.sqlite")
    with pytest.warns(RuntimeWarning, match="is damaged"):
        own.record(time_of(1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(own.measurements()) == 1


def test_exports_go_into_another_ledger_once(tmp_path):
    own, other = Ledger(tmp_path / "a.sqlite"), Ledger(tmp_path / "b.sqlite")
    for day in (1, 2):
        own.record(time_of(day, day, params={"BM": 64}))
    text = json.dumps(own.measurements().to_json())
    assert other.add_json(text) == 2 and other.add_json(text) == 0
    assert [one.series for one in other.measurements()] == [one.series for one in own.measurements()]
    assert own.measurements().to_csv().splitlines()[0].startswith("kernel,problem,kind,method")
    for wrong in (
        "",
        "[]",
        '{"schema": "x"}',
        '{"schema": "pyptx-ledger", "version": 1, "measurements": [{"kernel": 1}]}',
    ):
        with pytest.raises(InputError, match="is not an export of a ledger"):
            other.add_json(wrong)


def test_filters_and_numbers():
    for day, gpu in ((1, "NVIDIA H100"), (2, "NVIDIA A100"), (3, "NVIDIA H100")):
        ledger.record(time_of(day, day, gpu=gpu))
    assert [one.at // 86400 for one in ledger.measurements(gpu="h100")] == [1, 3]
    assert len(ledger.measurements(since=86400 * 2.0)) == 2 and len(ledger.measurements(last=1)) == 1
    assert (
        not ledger.measurements("other")
        and not ledger.measurements(kind="modeled")
        and not ledger.measurements(source="tune")
    )
    own = ledger.default_ledger()
    assert own.accept(2).accepted and own.measurement(2).accepted and own.delete([2, 9]) == 1
    with pytest.raises(UnknownNameError, match="has no measurement 2"):
        own.measurement(2)


def test_the_command(tmp_path, capsys):
    assert main(["ledger"]) == 0 and "pyptx.benchmark(kernel, args) records one" in capsys.readouterr().out
    ledger.record(time_of(10, 1, commit="a" * 40))
    ledger.record(time_of(15, 2, cubin="bb", commit="b" * 40))
    assert main(["ledger", "gemm", "--since", "1970-01-02"]) == 0 and "commit aaaaaaaaaa" in capsys.readouterr().out
    assert main(["ledger", "--regressions"]) == 1 and "with commit bbbbbbbbbb" in capsys.readouterr().out
    assert (
        main(["ledger", "--regressions", "--tolerance", "60"]) == 0 and "nothing got slower" in capsys.readouterr().out
    )
    assert main(["ledger", "--compare", "1", "2"]) == 0 and "+50.0%" in capsys.readouterr().out
    files = [tmp_path / f"out{suffix}" for suffix in (".csv", ".json", ".svg", ".html")]
    assert main(["ledger", *(word for file in files for word in ("-o", str(file)))]) == 0
    assert files[2].read_text().count("<circle") == 2 and "#cc3311" in files[2].read_text()
    assert main(["ledger", "--delete", "2"]) == 0 and main(["ledger", "--add", str(files[1])]) == 0
    assert "added 1 times" in capsys.readouterr().out
    assert main(["ledger", "--accept", "3"]) == 0 and main(["ledger", "--regressions"]) == 0
    for wrong in (
        ["--compare", "1", "99"],
        ["--since", "yesterday"],
        ["--last", "0"],
        ["--add", "none.json"],
        ["-o", "a.txt"],
    ):
        assert main(["ledger", *wrong]) == 1
        assert capsys.readouterr().err.startswith("pyptx: ")
