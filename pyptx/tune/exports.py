"""Trials for other programs: rows, CSV, and the T4 form of the auto-tuning community (results and metadata).

Source: the results and metadata schemas T4 1.0.0 of github.com/odgaard/TuningSchema; what they do not name stands under
"pyptx".
"""

from __future__ import annotations

import csv
import io
import json
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyptx.tune.fingerprint import version
from pyptx.tune.trial import plain

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["csv_text", "rows", "t4_text", "written"]

# What T4 calls what became of a configuration.
_INVALIDITY = {"refused": "constraints", "failed": "runtime", "wrong": "correctness"}
_COMPILE = {"ptxas", "table", "spills", "python"}


def rows(study: Study) -> list[dict[str, Any]]:
    """A mapping for each trial: the parameters by name, then what is known. Times in seconds, sizes in bytes."""
    found = []
    for trial in study.trials:
        used, low, high = trial.resources, *(trial.interval or (None, None))
        found.append({
            **trial.config, "state": trial.state, "seconds": trial.seconds, "kind": trial.kind, "low": low,
            "high": high, "reason": trial.reason, "fault": trial.fault, "checked": trial.checked,
            "error": trial.error, "registers": used and used.registers,
            "spill_bytes": used and used.spill_stores + used.spill_loads,
            "shared_bytes": trial.shared_bytes, "occupancy": trial.occupancy, "bound": bound_of(trial),
            "compile_seconds": trial.compile_seconds, "cubin_hash": trial.cubin_hash,
            "same_as": None if trial.twin is None else study.trials[trial.twin].label})
    return found


def bound_of(trial: Any) -> str | None:
    """What the model says limits it."""
    said = trial.prediction
    return said.get("bound") if isinstance(said, dict) else getattr(said, "bound", None)


def csv_text(study: Study) -> str:
    """A header and a line for each trial; what is not known is empty."""
    table = rows(study)
    names = list(table[0]) if table else [*study.space.names, "state"]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def t4_text(study: Study) -> str:
    """The T4 document: `results` of what is done, and `metadata` that says what was tuned where."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
    results = []
    for trial in study.trials:
        if not trial.done:
            continue
        known = trial.seconds is not None
        times = {"compilation_time": trial.compile_seconds, "validation": trial.check_seconds,
                 "runtimes": list(trial.measurement.get("seconds", ())) or ([trial.seconds] if known else [])}
        invalid = _INVALIDITY.get(trial.state, "correct")
        if trial.state == "refused" and trial.fault in _COMPILE:
            invalid = "compile"
        elif trial.fault == "hang":
            invalid = "timeout"
        results.append({
            "timestamp": now, "configuration": {name: plain(value) for name, value in trial.config.items()},
            "objectives": ["time"], "times": {name: value for name, value in times.items() if value is not None},
            "invalidity": invalid, "correctness": int(invalid == "correct"),
            "measurements": [{"name": "time", "value": trial.seconds, "unit": "seconds"}] if known else [],
            "pyptx": {"state": trial.state, "kind": trial.kind, "reason": trial.reason, "interval": trial.interval,
                      "cubin": trial.cubin_hash}})
    place, space = dict(study.place), study.space
    about = {"kernel": study.kernel.name, "problem": str(study.problem), "sizes": study.problem.sizes, **place,
             "space": {name: [plain(value) for value in values] for name, values in space.parameters.items()},
             "restrictions": [restriction.reason for restriction in space.restrictions]}
    metadata = {"hardware": {"operating_system": platform.platform()},
                "environment": {"device_query": {"gpu": place["gpu"]}, "requirements": [f"pyptx {version()}"]},
                "pyptx": about}
    return json.dumps({"schema_version": "1.0.0", "metadata": metadata, "results": results}, indent=1)


def written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text

