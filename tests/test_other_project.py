"""The unrelated project `pyptx` beside this one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyptx._distribution import warn_of_other_project


def test_the_other_project_in_the_same_folder_is_named(tmp_path: Path, recwarn: pytest.WarningsRecorder):
    (tmp_path / "pyptx_workbench-0.2.0.dist-info").mkdir()
    warn_of_other_project(tmp_path)
    assert not recwarn
    (tmp_path / "pyptx-0.1.1.dist-info").mkdir()
    with pytest.warns(RuntimeWarning, match=r"(?s)pyptx 0\.1\.1 is installed.*hint: pip uninstall pyptx"):
        warn_of_other_project(tmp_path)
