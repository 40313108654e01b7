"""Pages of Nsight Compute as CSV: `--page source`, `--page raw` and `--page details`, of one kernel or many.

A source page has, for each launch, a line with the kernel's name, a line of titles, and a line for each instruction; with
`--print-source cuda,sass` also lines of the source. A raw page has a line of titles, one of units, and one for each launch;
a details page a line for each metric. Lines that start with "==" are messages of the tool.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyptx.errors import InputError
from pyptx.profiles.metrics import counter_of, stall_of
from pyptx.profiles.number_format import NumberFormat
from pyptx.profiles.report import KernelProfile, ProfiledInstruction, ProfileReport, Quantity

__all__ = ["MAX_BYTES", "parse_csv", "read_csv"]

MAX_BYTES = 1 << 30
_MAX_FIELD = 1 << 20  # characters: a page with embedded source has long fields
_NAMES = ("Kernel Name", "Function Name")
_ABOUT = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream")
_LAUNCH = (*_ABOUT, "Block Size", "Grid Size", "Device", "CC", "Section Name", "thread Domain:Push/Pop_Range")


def read_csv(path: Path) -> ProfileReport:
    """Return the report of a CSV file.

    Raises:
        InputError: the file is too large, is not text, or is not one of the pages.
        OSError: it cannot be read.
    """
    if path.stat().st_size > MAX_BYTES:
        raise InputError(
            f"{path} has more than {MAX_BYTES >> 20} MiB", hint="export one kernel: ncu --kernel-name NAME"
        )
    data = path.read_bytes()
    for encoding in ("utf-16", "utf-8-sig") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return parse_csv(data.decode(encoding), path.name)
        except UnicodeDecodeError as error:
            fault = error
    raise InputError(f"{path} is not text: {fault}", hint="expected a CSV of ncu, or a report that ends in .ncu-rep")


def parse_csv(text: str, source: str) -> ProfileReport:
    """Return the report in the text of a page.

    Args:
        text: the output of `ncu --csv --page source|raw|details`; a file may hold several pages.
        source: name of the file, for messages.
    Raises:
        InputError: it is not one of the pages, or its numbers contradict each other.
    """
    rows = _rows(text, source)
    form = NumberFormat.of(_numbers(row for _, row in rows))
    reader = _Reader(source, form)
    for line, row in rows:
        reader.row(line, row)
    reader.end()
    report = reader.report()
    if not report.kernels:
        what = next(
            (note for note in reader.notes if "source lines" in note),
            "it is not a page of Nsight Compute with a kernel",
        )
        raise InputError(
            f"{source}: {what}",
            hint="export one with: ncu --import REPORT --page source --print-source sass --csv (or --page raw --csv)",
        )
    return report


def _numbers(rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield the cells that are written as the machine writes numbers; compute capabilities always have a point."""
    about: set[int] = set()  # columns that identify a launch
    for row in rows:
        if row[0].strip() == "ID" and "Kernel Name" in row:
            about = {column for column, title in enumerate(row) if title.strip() in _LAUNCH}
        elif row[0].strip() in _NAMES:
            about = set()
        yield from (cell.strip() for column, cell in enumerate(row) if column not in about)


def _rows(text: str, source: str) -> list[tuple[int, list[str]]]:
    """Return the rows with their line numbers, without messages of the tool."""
    kept = [(n, line) for n, line in enumerate(text.splitlines(keepends=True), 1) if not line.startswith("==")]
    lines = [n for n, _ in kept]
    previous = csv.field_size_limit(_MAX_FIELD)
    try:
        reader = csv.reader(io.StringIO("".join(line for _, line in kept), newline=""), strict=False)
        return [(lines[min(reader.line_num, len(lines)) - 1], row) for row in reader if any(row)]
    except csv.Error as error:
        raise InputError(f"{source} is not CSV: {error}") from error
    finally:
        csv.field_size_limit(previous)


@dataclass
class _Columns:
    """Titles of a table of instructions: where the address, the text, and the numbers are."""

    titles: list[str]
    address: int
    text: int
    counters: dict[str, int] = field(default_factory=dict)
    stalls: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, titles: Sequence[str]) -> _Columns | None:
        """Return the columns of a line of titles; None if it is another line."""
        titles = [title.strip() for title in titles]
        if "Address" not in titles or "Source" not in titles[titles.index("Address") :]:
            return None
        address = titles.index("Address")
        found = cls(titles, address, titles.index("Source", address))
        ranks: dict[str, int] = {}
        for column, title in enumerate(titles):
            if (known := counter_of(title)) and known[1] < ranks.get(known[0], len(titles)):
                found.counters[known[0]], ranks[known[0]] = column, known[1]
            elif reason := stall_of(title):
                found.stalls.setdefault(reason, column)
        return found


@dataclass
class _Reader:
    """State of reading: the table that the current row belongs to."""

    source: str
    form: NumberFormat
    profiled: list[KernelProfile] = field(default_factory=list)  # of source pages
    launches: dict[int, KernelProfile] = field(default_factory=dict)  # of raw and details pages
    notes: list[str] = field(default_factory=list)
    name: str = ""
    columns: _Columns | None = None
    instructions: list[ProfiledInstruction] = field(default_factory=list)
    raw: list[str] | None = None
    units: list[str] | None = None

    def report(self) -> ProfileReport:
        """Return what was read; instructions and metrics of a launch are joined."""
        notes = tuple(dict.fromkeys(self.notes))
        metrics = ProfileReport(self.source, "CSV", tuple(self.launches.values()), notes)
        return ProfileReport(self.source, "CSV", tuple(self.profiled), notes).joined(metrics)

    def row(self, line: int, row: list[str]) -> None:
        if row[0].strip() in _NAMES and len(row) > 1 and "Address" not in row:
            self.end()
            self.name, self.raw = row[1].strip(), None
        elif row[0].strip() == "File Name":
            return  # the lines of the source that follow have no address
        elif {"Line No", "Source"} <= {title.strip() for title in row} and _Columns.of(row) is None:
            self.end()
            self.notes.append(f"line {line} begins a page of source lines, without instructions")
        elif columns := _Columns.of(row):
            if self.columns is not None:
                self.end()
            self.columns, self.raw = columns, None
        elif row[0].strip() == "ID" and "Kernel Name" in row:
            self.end()
            self.raw, self.units = [title.strip() for title in row], None
        elif self.raw is not None:
            self._launch(line, row)
        elif self.columns is not None:
            self._instruction(line, row)

    def end(self) -> None:
        """Close a table of instructions."""
        if self.instructions:
            ordered = tuple(sorted(map(_with_samples, self.instructions), key=lambda one: one.address))
            if any("samples" in one.counters for one in ordered) and "samples" not in self.instructions[0].counters:
                self.notes.append("the page has no samples: they are the sums of its stall reasons")
            self.profiled.append(KernelProfile(self.name or "unknown", len(self.profiled), instructions=ordered))
        self.columns, self.instructions = None, []

    def _instruction(self, line: int, row: list[str]) -> None:
        columns = self.columns
        assert columns is not None
        if len(row) <= columns.text:
            self.notes.append(f"line {line} is truncated")
            return
        address = _address(row[columns.address])
        if address is None:
            return  # a line of the source
        if len(row) < len(columns.titles) - 1:
            self.notes.append(f"line {line} is truncated")
        counters = {name: self._number(row, column) for name, column in columns.counters.items()}
        stalls = {name: self._number(row, column) for name, column in columns.stalls.items()}
        self.instructions.append(
            ProfiledInstruction(
                address,
                row[columns.text].strip(),
                {name: value for name, value in counters.items() if value is not None},
                {name: value for name, value in stalls.items() if value},
            )
        )

    def _number(self, row: list[str], column: int) -> float | None:
        return self.form.number(row[column]) if column < len(row) else None

    def _launch(self, line: int, row: list[str]) -> None:
        titles = self.raw
        assert titles is not None
        cells = dict(zip(titles, row, strict=False))
        if not cells.get("ID", "").strip():  # the units of a raw page
            self.units = row if self.units is None else self.units
            return
        number = self.form.number(cells["ID"])
        if number is None or len(row) < titles.index("Kernel Name") + 1:
            self.notes.append(f"line {line} is truncated")
            return
        needed = (
            titles.index("Metric Value") + 1 if "Metric Value" in titles else len(titles)
        )  # columns of rules may be absent
        if len(row) < needed:
            self.notes.append(f"line {line} is truncated")
        known = self.launches.get(int(number))
        metrics = dict(known.metrics) if known else {}
        metrics.update(self._metrics(titles, row, cells))
        self.launches[int(number)] = KernelProfile(
            cells["Kernel Name"].strip(),
            int(number),
            _gpu(cells),
            cells.get("Grid Size", "").strip(),
            cells.get("Block Size", "").strip(),
            metrics=metrics,
        )

    def _metrics(self, titles: list[str], row: list[str], cells: dict[str, str]) -> Iterator[tuple[str, Quantity]]:
        if "Metric Name" in titles:  # a details page
            value = self.form.number(cells.get("Metric Value", ""))
            if value is not None:
                yield cells["Metric Name"].strip(), Quantity(value, cells.get("Metric Unit", "").strip())
            return
        units = self.units or []
        for column, (title, cell) in enumerate(zip(titles, row, strict=False)):
            if title not in _LAUNCH and (value := self.form.number(cell)) is not None:
                yield title, Quantity(value, units[column].strip() if column < len(units) else "")


def _with_samples(one: ProfiledInstruction) -> ProfiledInstruction:
    """Return an instruction whose samples, if the page has none, are the sum over its stall reasons: each sample has one."""
    if "samples" in one.counters or not one.stalls:
        return one
    return replace(one, counters={**one.counters, "samples": sum(one.stalls.values())})


def _gpu(cells: dict[str, str]) -> str:
    """Return the name of the GPU if the report has it, else its compute capability."""
    capability = cells.get("CC", "").strip()
    name = cells.get("device__attribute_display_name", "").strip()
    return name or (f"compute capability {capability}" if capability else "")


def _address(text: str) -> int | None:
    """Return an address, written with or without 0x; None for "-" and other text."""
    text = text.strip()
    try:
        return int(text, 16) if text else None
    except ValueError:
        return None
