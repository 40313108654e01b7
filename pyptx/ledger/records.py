"""The ledger's file: an SQLite database that processes may share."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, overload

from pyptx import cache
from pyptx.errors import InputError, OptionError, UnknownNameError
from pyptx.ledger import table
from pyptx.ledger.measurement import Measurement
from pyptx.ledger.plot import svg
from pyptx.ledger.regressions import TOLERANCE, Regression, baseline_of, find_regressions
from pyptx.store import Store, load_json, warn_damaged

__all__ = ["VARIABLE", "Ledger", "Measurements", "default_ledger", "measurements", "record", "regressions"]

VARIABLE = "PYPTX_LEDGER"
FILE = "ledger.sqlite"
_MOST = 100_000  # measurements; the oldest are deleted
_STEPS = (
    """
CREATE TABLE measurements (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, kernel TEXT NOT NULL, kind TEXT NOT NULL, gpu TEXT NOT NULL,
    about TEXT NOT NULL);
CREATE INDEX measurements_of_kernel ON measurements (kernel, at);
""",
)


class Measurements(Sequence[Measurement]):
    """Measurements, oldest first; a table in notebooks."""

    def __init__(self, items: Iterable[Measurement]):
        self._items = tuple(items)

    @overload
    def __getitem__(self, index: int) -> Measurement: ...
    @overload
    def __getitem__(self, index: slice) -> Measurements: ...
    def __getitem__(self, index: int | slice) -> Measurement | Measurements:
        return Measurements(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self._items)

    def text(self) -> str:
        """Return a table as text."""
        return table.text(self._items)

    def html(self) -> str:
        """Return a table as static HTML."""
        return table.html(self._items)

    def svg(self) -> str:
        """Return a plot of the times of each series over its measurements, as SVG."""
        return svg(self._items)

    def to_csv(self) -> str:
        """Return a header and a line for each measurement; nested values are JSON."""
        out = io.StringIO()
        names = [one.name for one in fields(Measurement)]
        writer = csv.DictWriter(out, [*names, "date"], lineterminator="\n")
        writer.writeheader()
        for one in self._items:
            row = one.to_json()
            writer.writerow({k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()})
        return out.getvalue()

    def to_json(self) -> dict[str, Any]:
        """Return plain values, which `Ledger.add_json` reads."""
        return {"schema": "pyptx-ledger", "version": 1, "measurements": [one.to_json() for one in self._items]}

    def regressions(self, tolerance: float = TOLERANCE) -> list[Regression]:
        """Return what got slower by more than its interval and a relative tolerance."""
        return find_regressions(self._items, tolerance)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/html": self.html(), "text/plain": self.text()}

    def __repr__(self) -> str:
        return self.text()


class Ledger:
    """A ledger in a file.

    Args:
        path: the file, made when first needed.
    """

    path: Path

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._store = Store(self.path, steps=_STEPS)

    def record(self, measurement: Measurement) -> Measurement:
        """Add a measurement; return it with its number and time."""
        one = replace(measurement, at=measurement.at or time.time(), number=0)

        def change(connection: sqlite3.Connection) -> int:
            about = json.dumps(one.to_json())
            row = connection.execute(
                "INSERT INTO measurements (at, kernel, kind, gpu, about) VALUES (?, ?, ?, ?, ?)",
                (one.at, one.kernel, one.kind, one.gpu, about),
            )
            connection.execute(
                "DELETE FROM measurements WHERE number IN (SELECT number FROM measurements ORDER BY at DESC LIMIT -1 OFFSET ?)",
                (_MOST,),
            )
            assert row.lastrowid is not None, "an INSERT has a row id"
            return row.lastrowid

        return replace(one, number=self._store.write(change))

    def measurements(
        self,
        kernel: str | None = None,
        *,
        kind: str | None = None,
        gpu: str | None = None,
        source: str | None = None,
        since: float | None = None,
        last: int | None = None,
    ) -> Measurements:
        """Return measurements, oldest first.

        Args:
            kernel: name of a kernel.
            kind: "measured" or "modeled".
            gpu: part of the name of the GPU, in any case.
            source: "benchmark", "pytest", "tune", "roofline" or "profile".
            since: seconds since 1970.
            last: the newest ones only, at most so many.
        """

        def ask(connection: sqlite3.Connection) -> list[tuple[int, str]]:
            return connection.execute(
                "SELECT number, about FROM measurements WHERE (?1 IS NULL OR kernel = ?1) AND (?2 IS NULL OR kind = ?2) "
                "AND (?3 IS NULL OR instr(lower(gpu), lower(?3))) AND (?4 IS NULL OR at >= ?4) ORDER BY at, number",
                (kernel, kind, gpu, since),
            ).fetchall()

        found = [one for row in self._store.read(ask) if (one := _loaded(*row)) and source in (None, one.source)]
        return Measurements(found[-last:] if last else found)

    def measurement(self, number: int) -> Measurement:
        """Return the measurement with a number.

        Raises:
            UnknownNameError: there is none.
        """
        for one in self.measurements():
            if one.number == number:
                return one
        raise UnknownNameError(f"the ledger {self.path} has no measurement {number}")

    def baseline(self, new: Measurement) -> Measurement | None:
        """Return the fastest earlier measurement that a new one is comparable with; None if there is none."""
        return baseline_of(new, (one for one in self.measurements(new.kernel) if one.number != new.number))

    def accept(self, number: int) -> Measurement:
        """Make later times compare with this measurement and those after it only; return it.

        Raises:
            UnknownNameError: there is none.
        """
        one = replace(self.measurement(number), accepted=True)
        about = json.dumps(one.to_json())
        self._store.write(lambda c: c.execute("UPDATE measurements SET about = ? WHERE number = ?", (about, number)))
        return one

    def delete(self, numbers: Iterable[int]) -> int:
        """Delete measurements; return how many there were."""
        listed = [(number,) for number in numbers]
        return self._store.write(
            lambda c: sum(c.execute("DELETE FROM measurements WHERE number = ?", one).rowcount for one in listed)
        )

    def add_json(self, text: str, source: str = "the file") -> int:
        """Add the measurements of an export that are not in the ledger; return their number.

        Raises:
            InputError: the text is not an export of a ledger.
        """
        try:
            data = json.loads(text)
            if data["schema"] != "pyptx-ledger" or data["version"] != 1:
                raise InputError("it has another schema")
            given = [Measurement.from_json(one) for one in data["measurements"]]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{source} is not an export of a ledger: {error}") from error
        known = {(one.series, one.at) for one in self.measurements()}
        new = [one for one in given if (one.series, one.at) not in known]
        for one in new:
            self.record(one)
        return len(new)


def _loaded(number: int, about: str) -> Measurement | None:
    """Return a measurement of the file; a damaged one causes a warning."""
    try:
        return replace(Measurement.from_json(load_json(about)), number=number)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        warn_damaged("a measurement", error)
        return None


_ledgers: dict[Path, Ledger] = {}


def default_ledger() -> Ledger:
    """Return the ledger of PYPTX_LEDGER, else the one in the user's cache folder, which `pyptx cache clear` keeps.

    Raises:
        OptionError: PYPTX_LEDGER names a folder.
    """
    given = os.environ.get(VARIABLE)
    path = Path(given).expanduser() if given else cache.DEFAULT_CACHE_DIR / FILE
    if path.is_dir():
        raise OptionError(f"{VARIABLE}={given} names a folder", hint="name a file: PYPTX_LEDGER=perf/ledger.sqlite")
    return _ledgers.setdefault(path, Ledger(path))


def record(measurement: Measurement) -> Measurement:
    """Add a measurement to the default ledger; return it with its number and time."""
    return default_ledger().record(measurement)


def measurements(kernel: str | None = None, **filters: Any) -> Measurements:
    """Return measurements of the default ledger, oldest first; filters as for `Ledger.measurements`."""
    return default_ledger().measurements(kernel, **filters)


def regressions(kernel: str | None = None, tolerance: float = TOLERANCE, **filters: Any) -> list[Regression]:
    """Return what got slower in the default ledger; filters as for `Ledger.measurements`."""
    return measurements(kernel, **filters).regressions(tolerance)
