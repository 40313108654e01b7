"""What trials gave, kept between processes: a row for each configuration, written as soon as it is known.

A study's key is the problem (kernel source, shapes, types, fixed parameters) and the place (GPU, driver, ptxas, or the
model and its version); the list of configurations is no part of it, so that a space can grow without tuning again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyptx.store import Store, default_store
from pyptx.toolchain import Resources
from pyptx.tune import fingerprint
from pyptx.tune.space import Config, Space
from pyptx.tune.trial import FINAL, TIMED, Trial, plain

__all__ = ["Choice", "Key", "best_of", "choose", "config_in", "forget", "load", "restore", "save"]

_MOST_STUDIES = 2000                                    # the least recently used go
_UNCERTAIN = ("killed", "stopped", "error", "launch")   # the configuration may not be to blame: tried again
_FIELDS = ("reason", "fault", "interval", "kind", "shared_bytes", "occupancy", "cubin_hash", "identity", "checked",
           "error", "compile_seconds", "check_seconds", "measurement")


@dataclass(frozen=True, slots=True)
class Key:
    """Whose results.

    Attributes:
        problem: of `Problem.key`.
        place: what a time depends on beside the problem: {"kind": "measured", "gpu": ..., "driver": ..., "ptxas": ...}.
    """

    problem: str
    place: Mapping[str, str]

    @property
    def text(self) -> str:
        return fingerprint.digest([self.problem, dict(self.place)])


@dataclass(frozen=True, slots=True)
class Choice:
    """A stored configuration and its time."""

    config: dict[str, Any]
    seconds: float
    kind: str


def save(key: Key, trials: Iterable[tuple[Trial, str | None]], about: Mapping[str, Any], checked_with: str,
         store: Store | None = None) -> None:
    """Keep trials that are done; a row of the same configuration is replaced.

    Args:
        trials: each with the key of the trial it is the same as, or None.
        about: of the study, for readers.
        checked_with: names what results were compared with.
    """
    now = time.time()
    rows = [(key.text, trial.key, trial.state, trial.seconds, now, json.dumps(_row(trial, checked_with, twin)))
            for trial, twin in trials if trial.done]
    if not rows:
        return

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO studies VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET last = ?",
                           (key.text, key.problem, json.dumps(dict(key.place)), now, json.dumps(dict(about)), now))
        connection.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("DELETE FROM studies WHERE key NOT IN (SELECT key FROM studies ORDER BY last DESC LIMIT ?)",
                           (_MOST_STUDIES,))
    (store or default_store()).write(change)


def load(key: Key, checked_with: str, store: Store | None = None) -> dict[str, dict[str, Any]]:
    """The rows of a study by configuration: fields of a Trial.

    Args:
        checked_with: what results are compared with; rows of another reference count only where they say that the
            configuration cannot be launched at all.
    """
    def ask(connection: sqlite3.Connection) -> list[tuple]:
        return connection.execute("SELECT config, state, seconds, about FROM trials WHERE study = ?",
                                  (key.text,)).fetchall()
    found = {}
    for config, state, seconds, about in (store or default_store()).read(ask):
        row = json.loads(about)
        if state not in FINAL or (row.pop("checked_with") != checked_with and state != "refused"):
            continue
        if row["fault"] in _UNCERTAIN:
            continue
        if row["interval"] is not None:
            row["interval"] = tuple(row["interval"])
        if (used := row.pop("resources")) is not None:
            row["resources"] = Resources(**used)
        found[config] = {**row, "state": state, "seconds": seconds}
    return found


def best_of(key: Key, space: Space, store: Store | None = None) -> Choice | None:
    """The chosen configuration of a study, else the fastest, among those in the space; None when there is none."""
    def ask(connection: sqlite3.Connection) -> tuple[str | None, list[tuple]]:
        about = connection.execute("SELECT about FROM studies WHERE key = ?", (key.text,)).fetchone()
        chosen = json.loads(about[0]).get("chosen") if about else None
        return chosen, connection.execute(
            f"SELECT config, seconds, about FROM trials WHERE study = ? AND (state IN ({', '.join('?' * len(TIMED))}) "
            "OR config = ?) AND seconds IS NOT NULL ORDER BY seconds, config", (key.text, *TIMED, chosen)).fetchall()
    found = []
    chosen, rows = (store or default_store()).read(ask)
    for name, seconds, about in rows:
        row = json.loads(about)
        config = config_in(row["config"], space)
        if config is not None and space.refusal(config) is None:
            choice = Choice(config, seconds, row["kind"])
            if name == chosen:
                return choice
            found.append(choice)
    measured = [choice for choice in found if choice.kind == "measured"]
    return next(iter(measured or found), None)


def choose(key: Key, trial: Trial, store: Store | None = None) -> None:
    """From now on `best_of` gives this trial's configuration, whatever is faster."""
    def change(connection: sqlite3.Connection) -> None:
        about = connection.execute("SELECT about FROM studies WHERE key = ?", (key.text,)).fetchone()
        if about is None:
            raise ValueError(f"nothing is stored of the study that {trial.label} belongs to")
        connection.execute("UPDATE studies SET about = ? WHERE key = ?",
                           (json.dumps({**json.loads(about[0]), "chosen": trial.key}), key.text))
    (store or default_store()).write(change)


def forget(problem: str | None = None, store: Store | None = None) -> int:
    """Delete what is stored of a problem, or of all; how many trials."""
    def change(connection: sqlite3.Connection) -> int:
        count = connection.execute("SELECT count(*) FROM trials WHERE study IN (SELECT key FROM studies WHERE ?1 IS "
                                   "NULL OR problem = ?1)", (problem,)).fetchone()[0]
        connection.execute("DELETE FROM studies WHERE ?1 IS NULL OR problem = ?1", (problem,))
        return count
    return (store or default_store()).write(change)


def restore(trial: Trial, row: Mapping[str, Any], known: Mapping[str, Trial]) -> None:
    """Make a trial what its row says.

    Args:
        known: trials by configuration, among them the one that a duplicate is the same as.
    """
    for name, value in row.items():
        if name not in ("config", "twin"):
            setattr(trial, name, value)
    twin = known.get(row["twin"])
    trial.twin = twin and twin.number
    trial.restored = True


def config_in(config: Mapping[str, Any], space: Space) -> Config | None:
    """A stored configuration with the values of a space; None when it lies outside."""
    if config.keys() != space.parameters.keys():
        return None
    found = {}
    for name, values in space.parameters.items():
        matching = [value for value in values if plain(value) == config[name]]
        if not matching:
            return None
        found[name] = matching[0]
    return found


def _row(trial: Trial, checked_with: str, twin: str | None) -> dict[str, Any]:
    return {**{name: getattr(trial, name) for name in _FIELDS},
            "config": {name: plain(value) for name, value in trial.config.items()}, "twin": twin,
            "measurement": dict(trial.measurement), "prediction": _said(trial.prediction),
            "resources": trial.resources and asdict(trial.resources), "checked_with": checked_with}


def _said(prediction: Any) -> Any:
    """What a prediction says, in plain values."""
    if prediction is None or isinstance(prediction, Mapping):
        return prediction
    return {"seconds": prediction.seconds, "bound": prediction.bound, "words": prediction.words,
            "terms": {str(name): value for name, value in dict(prediction.terms).items()}, "waves": prediction.waves,
            "flops": dict(prediction.flops), "bytes": dict(prediction.bytes), "ctas": prediction.ctas}
