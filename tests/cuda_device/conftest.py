"""Programs that run under `pyptx exec`, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from support.cuda_programs import PROGRAMS, environment

from pyptx.cuda_device.build_client import host_target

SECONDS = 120


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the client library where it cannot run; where it was not built, these tests fail."""
    if host_target() is None:
        for item in items:
            if "execute" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip(reason="needs Linux with glibc"))


@pytest.fixture
def execute() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program of the folder programs, or a command, under `pyptx exec` with options; return what it printed."""

    def run(program: str | list[str], *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(PROGRAMS / program)] if isinstance(program, str) else program
        return subprocess.run(
            [sys.executable, "-m", "pyptx", "exec", *options, *command],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=environment(),
        )

    return run
