"""An IPython shell in this process, with pyptx loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output


class Ran:
    """What running one cell gave."""

    def __init__(self, result, captured):
        self.result, self.stdout = result.result, captured.stdout + captured.stderr
        self.error = result.error_before_exec or result.error_in_exec
        self.outputs: list[RichOutput] = captured.outputs

    @property
    def shown(self) -> str:
        """The error as the notebook shows it."""
        return "\n".join(self.error._render_traceback_())


@pytest.fixture
def shell(tmp_path, monkeypatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(colors="nocolor", history_length=0)
    shell.history_manager.enabled = False
    shell.run_line_magic("load_ext", "pyptx")
    yield shell
    shell.run_line_magic("unload_ext", "pyptx")
    InteractiveShell.clear_instance()


@pytest.fixture
def run(shell) -> Callable[[str], Ran]:
    """Run a cell as a user does, and keep what it showed."""
    def run_cell(source: str) -> Ran:
        with capture_output() as captured:
            result = shell.run_cell(source, store_history=True)
        return Ran(result, captured)
    return run_cell
