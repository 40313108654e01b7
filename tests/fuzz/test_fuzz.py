"""A part of what `python tests/fuzz/run.py` does, with fixed seeds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")
ROUNDS = {"texts": 25, "cubins": 4, "commands": 150, "magics": 30, "launches": 120}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROUNDS)
def test_random_input_ends_in_a_result_or_a_documented_error(kind: str, tmp_path: Path):
    command = [sys.executable, str(RUN), kind, "--seed", "1000", "--rounds", str(ROUNDS[kind]), "--minutes", "3"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "COLUMNS": "120"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{ROUNDS[kind]} rounds" in done.stdout
