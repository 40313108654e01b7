"""Export of trials: rows, CSV, and the T4 results and metadata format of auto-tuning tools.

Source: results and metadata schemas T4 1.0.0, github.com/odgaard/TuningSchema; fields they do not define are under
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

from pyptx._version import __version__
from pyptx.tune.points import point_of
from pyptx.tune.trial import plain_value
from pyptx.views.sweeps.sweep import POINT_RESULTS

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["to_csv_text", "to_t4_text", "trial_rows", "write_text"]

# Trial states that T4 counts as invalid.
_INVALIDITY = {"refused": "constraints", "failed": "runtime", "wrong": "correctness"}
_COMPILE = {"ptxas", "table", "spills", "python"}


def trial_rows(study: Study) -> list[dict[str, Any]]:
    """Return a mapping for each trial: its parameters by name, then its results. Times in seconds, sizes in bytes."""
    found = []
    for trial in study.trials:
        point = point_of(trial)
        found.append(
            {
                **trial.config,
                **{name: getattr(point, name) for name in POINT_RESULTS},
                "fault": trial.fault,
                "checked": trial.checked,
                "error": trial.error,
                "bound": trial.predicted("bound"),
                "compile_seconds": trial.compile_seconds,
                "cubin_hash": trial.cubin_hash,
                "same_as": None if trial.duplicate_of is None else study.trials[trial.duplicate_of].label,
            }
        )
    return found


def to_csv_text(study: Study) -> str:
    """Return a header and a line for each trial; unknown values are empty."""
    table = trial_rows(study)
    names = list(table[0]) if table else [*study.space.names, "state"]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def to_t4_text(study: Study) -> str:
    """Return the T4 document: `results` of the trials that are done, and `metadata`."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
    results = []
    for trial in study.trials:
        if not trial.done:
            continue
        known = trial.seconds is not None
        times = {
            "compilation_time": trial.compile_seconds,
            "validation": trial.check_seconds,
            "runtimes": list(trial.measurement.get("seconds", ())) or ([trial.seconds] if known else []),
        }
        invalid = _INVALIDITY.get(trial.state, "correct")
        if trial.state == "refused" and trial.fault in _COMPILE:
            invalid = "compile"
        elif trial.fault == "hang":
            invalid = "timeout"
        results.append(
            {
                "timestamp": now,
                "configuration": {name: plain_value(value) for name, value in trial.config.items()},
                "objectives": ["time"],
                "times": {name: value for name, value in times.items() if value is not None},
                "invalidity": invalid,
                "correctness": int(invalid == "correct"),
                "measurements": [{"name": "time", "value": trial.seconds, "unit": "seconds"}] if known else [],
                "pyptx": {
                    "state": trial.state,
                    "kind": trial.kind,
                    "reason": trial.reason,
                    "interval": trial.interval,
                    "cubin": trial.cubin_hash,
                },
            }
        )
    environment, space = dict(study.environment), study.space
    about = {
        "kernel": study.kernel.name,
        "problem": str(study.problem),
        "sizes": study.problem.sizes,
        **environment,
        "space": {name: [plain_value(value) for value in values] for name, values in space.parameters.items()},
        "restrictions": [restriction.reason for restriction in space.restrictions],
    }
    metadata = {
        "hardware": {"operating_system": platform.platform()},
        "environment": {"device_query": {"gpu": environment["gpu"]}, "requirements": [f"pyptx {__version__}"]},
        "pyptx": about,
    }
    return json.dumps({"schema_version": "1.0.0", "metadata": metadata, "results": results}, indent=1)


def write_text(text: str, path: str | Path | None) -> str:
    """Write a text to a file when `path` is given; return the text."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
