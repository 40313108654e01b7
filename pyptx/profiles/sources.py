"""Reading of reports from files: CSV, or .ncu-rep through NVIDIA's own reader."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from pyptx.errors import InputError, OptionError
from pyptx.profiles.csv_pages import parse_csv, read_csv
from pyptx.profiles.ncu_program import export_page
from pyptx.profiles.ncu_report_reader import read_report
from pyptx.profiles.report import ProfileReport

__all__ = ["ProfileSource", "load_report"]

ProfileSource = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | ProfileReport


def load_report(source: ProfileSource) -> ProfileReport:
    """Return a profiler report.

    The format of .ncu-rep files is not documented: they are read with NVIDIA's Python module `ncu_report` if it can be
    imported, else with `ncu --import`.

    Args:
        source: a file that ends in .ncu-rep or .csv; several, such as the source page and the raw page of one run, whose
            launches are paired; or a report, which is returned.
    Raises:
        OptionError: a name with another ending.
        MissingToolError: an .ncu-rep file without ncu_report and ncu.
        InputError: there is no such file, or a CSV is not a page of Nsight Compute.
        ToolError: ncu cannot read the report.
        OSError: a file cannot be read.
    """
    if isinstance(source, ProfileReport):
        return source
    if isinstance(source, str | os.PathLike):
        return _load(Path(source))
    if not source:
        raise OptionError("profile=[] names no report", hint='profile="run.ncu-rep"')
    first, *others = map(load_report, source)
    for other in others:
        first = first.joined(other)
    return first


def _load(path: Path) -> ProfileReport:
    if path.suffix not in (".csv", ".ncu-rep"):
        raise OptionError(f"{path}: expected a profiler report that ends in .ncu-rep or .csv")
    if not path.is_file():
        raise InputError(f"no profiler report {path}")
    if path.suffix == ".csv":
        return read_csv(path)
    if find_spec("ncu_report") is not None:
        return read_report(path)
    pages = []
    for page in ("source", "raw"):
        try:
            pages.append(parse_csv(export_page(path, page), path.name))
        except InputError:
            if page == "raw" and not pages:  # neither page has a kernel
                raise
    first, *others = pages
    for other in others:
        first = first.joined(other)
    return ProfileReport(path.name, "ncu --import", first.kernels, first.notes)
