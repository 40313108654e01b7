"""Stored results of trials: a row for each configuration, written as soon as its trial is done.

A study's key is its problem (kernel source, shapes, types, fixed parameters) and its environment (GPU, driver, ptxas, or
the model and its version). The space is not part of it, so a space can grow without tuning again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyptx.errors import UnknownNameError
from pyptx.runtime import fingerprint
from pyptx.store import Store, default_store, load_json, warn_damaged
from pyptx.toolchain import Resources
from pyptx.tune.space import Config, Space
from pyptx.tune.trial import FINAL, TIMED, Trial, plain_value

__all__ = ["Key", "StoredBest", "best_of", "choose", "forget", "load", "restore_trial", "save", "stored_config"]

_MAX_STUDIES = 2000  # the least recently used ones are deleted
_UNCERTAIN = (
    "killed",
    "stopped",
    "error",
    "launch",
)  # faults that the configuration may not have caused: it is tried again
_RENAMED = {"modelled": "modeled"}  # spelling in stores written by pyptx 0.x
_FIELDS = (
    "reason",
    "fault",
    "interval",
    "kind",
    "shared_bytes",
    "occupancy",
    "cubin_hash",
    "identity",
    "checked",
    "error",
    "compile_seconds",
    "check_seconds",
    "measurement",
)


@dataclass(frozen=True, slots=True)
class Key:
    """Key of a study's results.

    Attributes:
        problem: `Problem.key()`.
        environment: everything else a time depends on: {"kind": "measured", "gpu": ..., "driver": ..., "ptxas": ...}.
    """

    problem: str
    environment: Mapping[str, str]

    @property
    def text(self) -> str:
        return fingerprint.digest([self.problem, dict(self.environment)])


@dataclass(frozen=True, slots=True)
class StoredBest:
    """A stored configuration and its time."""

    config: dict[str, Any]
    seconds: float
    kind: str


def save(
    key: Key,
    trials: Iterable[tuple[Trial, str | None]],
    about: Mapping[str, Any],
    checked_with: str,
    store: Store | None = None,
) -> None:
    """Store the trials that are done, replacing rows of the same configurations.

    Args:
        key: key of the study.
        trials: pairs of a trial and the key of the trial it duplicates, or None.
        about: description of the study for readers.
        checked_with: name of the reference results were compared with.
        store: default: the user's store.
    """
    now = time.time()
    rows = [
        (key.text, trial.key, trial.state, trial.seconds, now, json.dumps(_row(trial, checked_with, original)))
        for trial, original in trials
        if trial.done
    ]
    if not rows:
        return

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO studies VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET last = ?",
            (key.text, key.problem, json.dumps(dict(key.environment)), now, json.dumps(dict(about)), now),
        )
        connection.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute(
            "DELETE FROM studies WHERE key NOT IN (SELECT key FROM studies ORDER BY last DESC LIMIT ?)",
            (_MAX_STUDIES,),
        )

    (store or default_store()).write(change)


def load(key: Key, checked_with: str, store: Store | None = None) -> dict[str, dict[str, Any]]:
    """Return the rows of a study, mappings from fields of Trial to values, by configuration key.

    Args:
        key: key of the study.
        checked_with: name of the reference; rows of other references are used only for configurations that cannot be
            launched.
        store: default: the user's store.
    """

    def query(connection: sqlite3.Connection) -> list[tuple]:
        return connection.execute(
            "SELECT config, state, seconds, about FROM trials WHERE study = ?", (key.text,)
        ).fetchall()

    found = {}
    for config, state, seconds, about in (store or default_store()).read(query):
        state = _RENAMED.get(state, state)
        try:
            row = load_json(about)
            row["kind"] = _RENAMED.get(row["kind"], row["kind"])
            if state not in FINAL or (row.pop("checked_with") != checked_with and state != "refused"):
                continue
            if row["fault"] in _UNCERTAIN:
                continue
            if row["interval"] is not None:
                row["interval"] = tuple(row["interval"])
            if (used := row.pop("resources")) is not None:
                row["resources"] = Resources(**used)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            warn_damaged("a trial", error)
            continue
        found[config] = {**row, "state": state, "seconds": seconds}
    return found


def best_of(key: Key, space: Space, store: Store | None = None) -> StoredBest | None:
    """Return the chosen configuration of a study, or else the fastest one, within a space; None when there is none."""

    def query(connection: sqlite3.Connection) -> tuple[str | None, list[tuple]]:
        about = connection.execute("SELECT about FROM studies WHERE key = ?", (key.text,)).fetchone()
        chosen = _description(about[0]).get("chosen") if about else None
        return chosen, connection.execute(
            f"SELECT config, seconds, about FROM trials WHERE study = ? AND (state IN ({', '.join('?' * len(TIMED))}) "
            "OR config = ?) AND seconds IS NOT NULL ORDER BY seconds, config",
            (key.text, *TIMED, chosen),
        ).fetchall()

    found = []
    chosen, rows = (store or default_store()).read(query)
    for name, seconds, about in rows:
        try:
            row = load_json(about)
            config, kind = stored_config(row["config"], space), row["kind"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            warn_damaged("a trial", error)
            continue
        if config is not None and space.refusal(config) is None:
            choice = StoredBest(config, seconds, kind)
            if name == chosen:
                return choice
            found.append(choice)
    measured = [choice for choice in found if choice.kind == "measured"]
    return next(iter(measured or found), None)


def choose(key: Key, trial: Trial | None, store: Store | None = None) -> None:
    """Make `best_of` return this trial's configuration from now on; None: the fastest one again.

    Raises:
        UnknownNameError: nothing is stored of the study.
    """

    def change(connection: sqlite3.Connection) -> None:
        about = connection.execute("SELECT about FROM studies WHERE key = ?", (key.text,)).fetchone()
        if about is None:
            raise UnknownNameError(f"no results of the study of {trial.label if trial else key.text} are stored")
        connection.execute(
            "UPDATE studies SET about = ? WHERE key = ?",
            (json.dumps({**_description(about[0]), "chosen": trial.key if trial else None}), key.text),
        )

    (store or default_store()).write(change)


def _description(about: str) -> dict[str, Any]:
    """Return the stored description of a study; empty if it is damaged."""
    try:
        found = load_json(about)
    except (TypeError, ValueError) as error:
        warn_damaged("the description of a study", error)
        return {}
    return found if isinstance(found, dict) else {}


def forget(problem: str | None = None, store: Store | None = None) -> int:
    """Delete the results of a problem, or of all problems; return the number of deleted trials."""

    def change(connection: sqlite3.Connection) -> int:
        count = connection.execute(
            "SELECT count(*) FROM trials WHERE study IN (SELECT key FROM studies WHERE ?1 IS NULL OR problem = ?1)",
            (problem,),
        ).fetchone()[0]
        connection.execute("DELETE FROM studies WHERE ?1 IS NULL OR problem = ?1", (problem,))
        return count

    return (store or default_store()).write(change)


def restore_trial(trial: Trial, row: Mapping[str, Any], known: Mapping[str, Trial]) -> None:
    """Fill a trial from its stored row.

    Args:
        trial: the trial.
        row: its fields.
        known: trials by configuration key, among them the original of a duplicate.
    """
    for name, value in row.items():
        if name not in ("config", "twin"):
            setattr(trial, name, value)
    original = known.get(row["twin"])
    trial.duplicate_of = original and original.number
    trial.restored = True


def stored_config(config: Mapping[str, Any], space: Space) -> Config | None:
    """Return a stored configuration with the values of a space; None when it is outside the space."""
    if config.keys() != space.parameters.keys():
        return None
    found = {}
    for name, values in space.parameters.items():
        matching = [value for value in values if plain_value(value) == config[name]]
        if not matching:
            return None
        found[name] = matching[0]
    return found


def _row(trial: Trial, checked_with: str, original: str | None) -> dict[str, Any]:
    return {
        **{name: getattr(trial, name) for name in _FIELDS},
        "config": {name: plain_value(value) for name, value in trial.config.items()},
        "twin": original,
        "measurement": dict(trial.measurement),
        "prediction": _prediction_row(trial.prediction),
        "resources": trial.resources and asdict(trial.resources),
        "checked_with": checked_with,
    }


def _prediction_row(prediction: Any) -> Any:
    """Return a prediction as plain values."""
    if prediction is None or isinstance(prediction, Mapping):
        return prediction
    return {**prediction.to_json(), "seconds": prediction.seconds}  # infinite where the launch cannot run
