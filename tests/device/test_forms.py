"""The comparison of forms with a GPU: with the simulator in its place, and on a GPU if there is one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from device import forms

from pyptx import ir

VERSION = ir.Version(9, 0)


@pytest.mark.parametrize(
    "word", ["sub.type", "shfl.sync", "redux.sync", "mma.sync.aligned.m16n8k8.row.col.f32.bf16", "vadd.", "popc.type"]
)
def test_what_is_compared_with_itself_does_not_differ(tmp_path: Path, word: str):
    assert forms.main(["--out", str(tmp_path), "--backend", "sim", "--only", word]) == 0
    rows = forms.written(tmp_path / "forms.json")["rows"]
    assert rows and all(row["compared"] >= forms.LANES and not row["differ"] for row in rows)
    before = json.loads((tmp_path / "forms.json").read_text())
    assert forms.main(["--out", str(tmp_path), "--backend", "sim", "--only", word]) == 0
    assert forms.written(tmp_path / "forms.json") == before, "nothing is run twice"


def test_a_difference_is_told_with_its_lane_and_inputs(monkeypatch, tmp_path: Path, capsys):
    right = forms.run

    def wrong(group, target, backend, version):
        found = right(group, target, "sim", version)
        if backend == "cuda":
            for probe, out in zip(group, found, strict=True):
                out[probe.stored[0].column, 5] ^= np.uint64(1)
        return found

    monkeypatch.setattr(forms, "run", wrong)
    assert forms.main(["--out", str(tmp_path), "--only", "popc.type"]) == 1
    (row,) = forms.written(tmp_path / "forms.json")["rows"]
    assert (row["differ"], row["furthest_last_places"]) == (1, 1) and len(row["statements_that_differ"]) == 1
    (one,) = row["differences"]
    assert one["lane"] == 5 and int(one["simulator"], 16) ^ int(one["gpu"], 16) == 1 and one["before"]
    assert "DIFFERS: popc" in capsys.readouterr().out


def test_what_is_refused_says_why_and_the_others_are_run():
    (popc,), (clmad,) = (list(forms.probes("sm_90a", word)) for word in ("popc.type", "clmad"))
    first, second = forms.run([popc, clmad], "sm_90a", "sim", VERSION)
    assert isinstance(first, np.ndarray) and "PTX ISA .version 9.3" in second
    row = forms.compare(clmad, second, second)
    assert row["refused_by"] == "simulator" and row["why"] == second


def test_a_form_that_ends_its_process_or_the_gpu_is_found_and_the_others_are_run(monkeypatch, tmp_path: Path):
    """The first process hangs at a module, the others run its forms alone; one of them faults."""
    right, groups = forms.run, []

    def faulty(group, target, backend, version):
        if backend == "cuda":
            groups.append([probe.form for probe in group])
            if len(group) > 1:
                raise RuntimeError
            if "vshl" in group[0].form:
                raise forms.Faulted("CUDA_ERROR_ILLEGAL_INSTRUCTION")
        return right(group, target, "sim", version)

    monkeypatch.setattr(forms, "run", faulty)
    order = ["--out", str(tmp_path), "--only", "vsh"]
    with pytest.raises(RuntimeError):
        forms.main(order)
    found = [forms.main(order) for _ in range(1 + len([form for form in groups[0] if "vshl" in form]))]
    assert found == [3] * (len(found) - 1) + [0] and len(found) > 1
    assert all(len(group) == 1 for group in groups[1:])
    rows = forms.written(tmp_path / "forms.json")["rows"]
    assert {row["form"] for row in rows} == set(groups[0])
    assert {row["why"] for row in rows if "vshl" in row["form"]} == {"CUDA_ERROR_ILLEGAL_INSTRUCTION"}
    assert not any("why" in row for row in rows if "vshr" in row["form"])


def test_two_numbers_that_are_none_are_the_same():
    (probe,) = forms.probes("sm_90a", "add{.rnd}{.ftz}{.sat}.f32  d, a, b")
    one = next(stored for stored in probe.stored if stored.name.startswith("%f32"))
    ours, theirs = (np.full(2, bits, np.uint64) for bits in (0x7FC00000, 0x7FFFFFFF))
    ours[1] = 0x7F800000
    assert forms._both_nan(ours, theirs, one).tolist() == [True, False]


def test_time_that_is_over_ends_it_between_modules(tmp_path: Path, capsys):
    assert forms.main(["--out", str(tmp_path), "--backend", "sim", "--only", "popc.type", "--seconds", "0"]) == 2
    assert "time is over" in capsys.readouterr().out


@pytest.mark.gpu
def test_every_simulated_form_gives_the_same_bits_on_a_gpu(gpu, tmp_path: Path):
    target = f"sm_{gpu.driver.device(0).target.number}"
    target += "a" if gpu.driver.device(0).target.number >= 90 else ""
    assert forms.main(["--out", str(tmp_path), "--target", target]) == 0
