"""Pages as public exports of several versions have them: their titles and forms of numbers, with numbers of ours."""

from __future__ import annotations

import pytest
from profiles.pages import LAUNCH, csv_text, raw_page, source_page

from pyptx.errors import InputError
from pyptx.profiles.csv_pages import parse_csv

SASS = ["LDG.E R2, [R4.64]", "FFMA R2, R2, R2, R3", "EXIT"]
RULES = ["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]


def test_source_and_machine_code_in_one_page_of_several_files():
    """`--print-source cuda,sass`: lines of each source file, then the instructions, with the same titles."""
    titles = [
        "Line No",
        "Source",
        "Address",
        "Source",
        "Warp Stall Sampling (All Samples)",
        "Instructions Executed",
        "stall_wait",
    ]
    text = csv_text(
        [
            ["Function Name", "gemm"],
            ["File Name", "/src/gemm.cu"],
            titles,
            ["7", "  c = a * b;", "-", "-", "12", "96", "5"],
            ["File Name", "/src/tile.h"],
            ["3", "  load();", "-", "-", "4", "32", "1"],
            ["3", "  load();", "0x7fff00000100", "      LDG.E R2, [R4.64]", "4", "32", "1"],
            ["7", "  c = a * b;", "0x7fff00000110", "      FFMA R2, R2, R2, R3", "12", "96", "5"],
        ]
    )
    report = parse_csv(text, "page.csv")
    (kernel,) = report.kernels
    assert [one.counters["samples"] for one in kernel.instructions] == [4, 12] and not report.notes
    assert kernel.instructions[1].stalls == {"wait": 5}


def test_a_page_of_source_lines_alone_says_which_page_is_needed():
    text = csv_text([["File Name", "/src/gemm.cu"], ["Line No", "Source", "# Samples"], ["7", "c = a * b;", "12"]])
    with pytest.raises(
        InputError, match="page of source lines, without instructions(.|\n)*hint: .*--print-source sass"
    ):
        parse_csv(text, "page.csv")


def test_stall_reasons_without_a_column_of_samples():
    """A page of selected metrics, also under their own names instead of titles."""
    for wait in ("stall_wait", "smsp__pcsamp_warps_issue_stalled_wait"):
        titles = ["Address", "Source", "stall_long_sb", wait, "stall_long_sb (Not Issued)", f"{wait}_not_issued"]
        if wait.startswith("stall"):
            titles[-1] = "stall_wait (Not Issued)"
        rows = [
            ["0x7f000010", "      LDG.E R2, [R4]", "99", "8", "12", "0"],
            ["0x7f000020", "      EXIT", "0", "66", "0", "3"],
        ]
        report = parse_csv(csv_text([["Kernel Name", "jit_kernel", ""], titles, *rows]), "page.csv")
        (kernel,) = report.kernels
        assert [one.counters["samples"] for one in kernel.instructions] == [107, 66]
        assert (
            kernel.instructions[0].stalls == {"long_sb": 99, "wait": 8}
            and "sums of its stall reasons" in report.notes[0]
        )


def test_several_kernels_and_launches_in_one_page():
    text = source_page("gemm", SASS) + source_page("softmax", SASS[1:]) + source_page("gemm", SASS)
    assert [(one.name, len(one.instructions)) for one in parse_csv(text, "page.csv").kernels] == [
        ("gemm", 3),
        ("softmax", 2),
        ("gemm", 3),
    ]


@pytest.mark.parametrize(
    ("unit", "number", "seconds"),
    [("nsecond", "1,250", 1.25e-6), ("ns", "1250", 1.25e-6), ("usecond", "1.25", 1.25e-6), ("us", "1.25", 1.25e-6),
     ("msecond", "2.00", 2e-3), ("ms", "2.00", 2e-3), ("second", "3", 3.0), ("s", "3", 3.0)],
    ids=str,
)  # fmt: skip
def test_older_and_newer_units_of_time(unit: str, number: str, seconds: float):
    text = raw_page("gemm", {"gpu__time_duration.sum": (number, unit)})
    assert parse_csv(text, "raw.csv").kernels[0].metrics["gpu__time_duration.sum"].base == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("unit", "number", "base"),
    [("Mbyte", "2,000.00", 2e9), ("MB", "2.00", 2e6), ("Kbyte", "1.5", 1500), ("byte", "27,595,520", 27_595_520),
     ("Ghz", "1.41", 1.41e9), ("cycle/nsecond", "1.41", 1.41e9), ("cycle/usecond", "1,410.00", 1.41e9), ("hz", "1,410,000,000.50", 1.41e9),
     ("Gbyte/second", "900.00", 9e11), ("Tbyte/s", "1.2", 1.2e12), ("%", "42.5", 42.5)],
    ids=str,
)  # fmt: skip
def test_older_and_newer_units_of_bytes_and_rates(unit: str, number: str, base: float):
    text = raw_page("gemm", {"metric": (number, unit)})
    assert parse_csv(text, "raw.csv").kernels[0].metrics["metric"].base == pytest.approx(base)


def test_a_details_page_with_columns_of_rules_that_rows_leave_out():
    titles = [*LAUNCH, "Section Name", "Metric Name", "Metric Unit", "Metric Value", *RULES]
    about = ["0", "7", "app", "127.0.0.1", "gemm", "1", "7", "(128, 1, 1)", "(32, 1, 1)", "0", "9.0"]
    rows = [
        [*about, "GPU Speed Of Light Throughput", "DRAM Frequency", "Ghz", "2.62", "", "", "", ""],
        [*about, "GPU Speed Of Light Throughput", "", "", "", "SOLBottleneck", "INF", "balanced", "", ""],
        [*about, "GPU Speed Of Light Throughput", "Duration", "us", "1,312.40"],
    ]
    report = parse_csv(csv_text([titles, *rows]), "details.csv")
    assert report.kernels[0].metrics["Duration"].base == pytest.approx(1.3124e-3) and not report.notes


def test_numbers_of_a_machine_with_decimal_commas():
    """Whether "117.344" has a decimal point is ambiguous in itself; another number of the file resolves it."""
    metrics = {
        "gpu__time_duration.sum": ("117.344", "ns"),
        "dram__bytes.sum": ("27.595.520", "byte"),
        "share": ("65,77", "%"),
    }
    found = parse_csv(raw_page("gemm", metrics), "raw.csv").kernels[0].metrics
    assert [one.value for one in found.values()] == [117344, 27595520, 65.77]
