"""Pages of Nsight Compute in its CSV format, written for tests: the titles are those of the tool, the numbers are invented."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

# Titles of `ncu --page source --csv --print-source sass`: of 2022, with a title twice, and of 2024.
TITLES_2022 = (
    "Address,Source,Warp Stall Sampling (All Cycles),Warp Stall Sampling (Not-issued Cycles),Instructions Executed,# Samples,"
    "Instructions Executed,Thread Instructions Executed,Predicated-On Thread Instructions Executed,Avg. Threads Executed,"
    "Divergent Branches,Address Space,Access Operation,Access Size,L1 Tag Requests Global,L1 Conflicts Shared N-Way,"
    "L1 Wavefronts Shared Excessive,L1 Wavefronts Shared,L1 Wavefronts Shared Ideal,L2 Theoretical Sectors Global Excessive,"
    "L2 Theoretical Sectors Global,L2 Theoretical Sectors Global Ideal,stall_barrier,stall_long_sb,stall_selected,stall_sleep,"
    "stall_wait,stall_long_sb (Not Issued),stall_sleeping (Not Issued)"
).split(",")
TITLES_2024 = [title.replace("Cycles)", "Samples)") for title in TITLES_2022]
LAUNCH = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC".split(",")


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return out.getvalue()


def source_page(name: str, instructions: Sequence[str], *, titles=TITLES_2024, base=0x7FC48541D900, lines=()) -> str:
    """The source page of a launch; instruction k has 10 k samples, and is executed 1000 + k times."""
    rows: list[list[object]] = [["Kernel Name", name, ""], list(titles)]
    for k, text in enumerate(instructions):
        values: dict[str, object] = {title: 0 for title in titles}
        values |= {"Address": f"0x{base + 16 * k:x}", "Source": f"      {text} ", "Instructions Executed": 1000 + k}
        values |= {title: 10 * k for title in titles if "All" in title or title == "# Samples"}
        values |= {"stall_long_sb": 7 * k, "stall_selected": 3 * k, "stall_long_sb (Not Issued)": 5 * k}
        values |= {
            "Address Space": "-",
            "L2 Theoretical Sectors Global": 4 * k,
            "L1 Wavefronts Shared Excessive": 2 * k,
        }
        rows += [[values[title] for title in titles]]
    return csv_text([*lines, *rows])


def raw_page(name: str, metrics: dict[str, tuple[str, str]], *, launch: int = 0) -> str:
    """The raw page of a launch; metrics: name -> (number, unit)."""
    about = [launch, 4711, "python3", "127.0.0.1", name, 1, 7, "(128, 1, 1)", "(32, 1, 1)", 0, "9.0"]
    return "==PROF== Connected to process 4711\n" + csv_text(
        [
            [*LAUNCH, *metrics],
            [*[""] * len(LAUNCH), *(unit for _, unit in metrics.values())],
            [*about, *(number for number, _ in metrics.values())],
        ]
    )
