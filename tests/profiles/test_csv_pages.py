"""CSV pages of Nsight Compute: titles of several versions, locales, other kernels, and damaged files."""

from __future__ import annotations

import random

import pytest
from profiles.pages import TITLES_2022, TITLES_2024, csv_text, raw_page, source_page

from pyptx.errors import InputError, MissingToolError, OptionError, UnknownNameError
from pyptx.profiles import Quantity, load_report
from pyptx.profiles.csv_pages import parse_csv
from pyptx.profiles.number_format import NumberFormat
from pyptx.profiles.report import base_name

CODE = ["MOV R1, c[0x0][0x28]", "@!P0 LDG.E.64 R2, [R4.64]", "EXIT"]


@pytest.mark.parametrize("titles", [TITLES_2022, TITLES_2024], ids=["2022", "2024"])
def test_the_titles_of_several_versions_give_the_same_counters(titles):
    (kernel,) = parse_csv(source_page("void k(float *)", CODE, titles=titles), "a.csv").kernels
    load = kernel.instructions[1]
    assert load.opcode == "LDG.E.64" and load.text == CODE[1] and load.address == 0x7FC48541D910
    assert load.counters == {
        "samples": 10, "executed": 1001, "threads": 0, "sectors": 4, "sectors_excess": 0, "wavefronts": 0, "conflicts": 2,
        "divergent": 0,
    }  # fmt: skip
    assert load.stalls == {"long_sb": 7, "selected": 3}, "samples without an issue are a part of these"
    assert kernel.samples == 30


def test_a_line_of_cuda_source_is_no_instruction():
    titles = ["Line No", "Source", "Address", "Source", "# Samples"]
    page = csv_text(
        [
            ["File Path", "k.cu"],
            ["Function Name", "k"],
            titles,
            ["7", "float a = x[i];", "-", "-", "12"],
            ["", "", "0x10", "LDG R1", "12"],
        ]
    )
    (kernel,) = parse_csv(page, "a.csv").kernels
    assert [(one.address, one.text, one.counters) for one in kernel.instructions] == [(16, "LDG R1", {"samples": 12})]


def test_a_raw_page_and_a_details_page_give_metrics_with_units():
    raw = raw_page(
        "k",
        {"gpu__time_duration.sum": ("117.344", "us"), "dram__bytes_read.sum": ("2,000.50", "Mbyte"), "x": ("n/a", "")},
    )
    (kernel,) = parse_csv(raw, "a.csv").kernels
    assert kernel.metrics == {
        "gpu__time_duration.sum": Quantity(117.344, "us"),
        "dram__bytes_read.sum": Quantity(2000.5, "Mbyte"),
    }
    assert kernel.metrics["gpu__time_duration.sum"].base == pytest.approx(117.344e-6)
    assert kernel.metrics["dram__bytes_read.sum"].base == 2000.5e6 and kernel.gpu == "compute capability 9.0"
    titles = ["ID", "Kernel Name", "Section Name", "Metric Name", "Metric Unit", "Metric Value"]
    details = csv_text([titles, ["3", "k", "", "Duration", "ms", "2.5"], ["3", "k", "", "SM Frequency", "Ghz", "1.5"]])
    (kernel,) = parse_csv(details, "a.csv").kernels
    assert kernel.launch == 3 and kernel.metrics["Duration"].base == 2.5e-3


@pytest.mark.parametrize(
    "numbers, text, value",
    [
        (["65,77"], "117.344", 117344.0),
        (["27.595.520"], "65,7", 65.7),
        (["1,234.5"], "117.344", 117.344),
        ([], "117.344", 117.344),
        ([], "3,632", 3632.0),
        (["0.125"], "1,000", 1000.0),
        ([], "1e-3", 0.001),
        ([], "(128, 1, 1)", None),
        ([], "-", None),
    ],
)
def test_separators_follow_from_the_numbers_of_the_file(numbers, text, value):
    assert NumberFormat.of(numbers).number(text) == value


def test_contradicting_separators_are_refused():
    with pytest.raises(InputError, match="different decimal separators"):
        NumberFormat.of(["65,77", "1,234.5"])


def test_the_pages_of_one_run_are_joined_by_kernel():
    report = parse_csv(source_page("a(int)", CODE) + source_page("void b<int>(int)", CODE), "s.csv").joined(
        parse_csv(raw_page("b", {"m": ("1", "")}, launch=5), "r.csv")
    )
    assert report.kernel("b").launch == 5 and report.kernel("b").instructions and "m" in report.kernel("b").metrics
    assert report.kernel("a").metrics == {}
    with pytest.raises(UnknownNameError, match="has no 'bb'; it has a, b"):
        report.kernel("bb")
    with pytest.raises(UnknownNameError, match="no launch 7 of 'a'"):
        report.kernel("a", launch=7)


@pytest.mark.parametrize(
    "name, base",
    [
        ("void ns::gemm<(int)128, float>(const float *, T8)", "gemm"),
        ("gemm", "gemm"),
        ("void (anonymous namespace)::k<f<int>>(int)", "k"),
        ("_Z4gemmPf", "_Z4gemmPf"),
        ("", ""),
    ],
)
def test_a_kernel_is_found_by_its_base_name(name, base):
    assert base_name(name) == base


def test_a_truncated_page_keeps_what_is_whole_and_says_so():
    page = source_page("k", CODE)
    report = parse_csv(page[: page.rindex("EXIT") + 20], "a.csv")
    assert len(report.kernels[0].instructions) >= 2 and report.notes == ("line 5 is truncated",)


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "\0\0\0", '"Kernel Name","k"\n', "==ERROR== no kernels were profiled\n", '"' * 99]
)
def test_other_files_are_refused(text):
    with pytest.raises(InputError, match="not a page of Nsight Compute|is not CSV"):
        parse_csv(text, "a.csv")


def test_damaged_pages_never_raise_anything_else():
    page, rng = source_page("k", CODE) + raw_page("k", {"m": ("1.5", "us")}), random.Random(0)
    for _ in range(300):
        text = list(page)
        for _ in range(rng.randrange(1, 20)):
            at = rng.randrange(len(text))
            text[at : at + rng.randrange(3)] = rng.choice(['"', ",", "\n", "\0", "9", "=", "é"])
        try:
            parse_csv("".join(text), "a.csv")
        except InputError:
            pass


def test_files_are_read_by_their_ending(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(source_page("k", CODE), encoding="utf-16")
    assert load_report(tmp_path / "a.csv").kernel("k").instructions
    with pytest.raises(OptionError, match=r"ends in \.ncu-rep or \.csv"):
        load_report(tmp_path / "a.txt")
    with pytest.raises(InputError, match="no profiler report"):
        load_report(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_bytes(b"\xff\xfa\x00\x80")
    with pytest.raises(InputError, match="is not text"):
        load_report(tmp_path / "c.csv")
    (tmp_path / "a.ncu-rep").write_bytes(b"NVR")
    monkeypatch.setenv("PYPTX_NCU", str(tmp_path / "none"))
    with pytest.raises(MissingToolError, match="does not name a file"):
        load_report(tmp_path / "a.ncu-rep")
