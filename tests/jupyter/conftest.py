"""Fixtures: an IPython shell in this process with pyptx loaded, and notebooks executed in a fresh kernel."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output
from support.pages import page  # noqa: F401  (a fixture)
from support.processes import PACKAGE_PARENT
from traitlets.config import Config


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
def own_history(own_cache) -> None:
    """A history for the test, empty at first."""


@pytest.fixture
def shell(tmp_path, monkeypatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(colors="nocolor", config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "pyptx")
    yield shell
    shell.run_line_magic("unload_ext", "pyptx")
    InteractiveShell.clear_instance()
    atexit.unregister(shell.atexit_operations)  # a garbage collection for each shell when the tests end


@pytest.fixture
def run(shell) -> Callable[[str], Ran]:
    """Run a cell as a user does, and keep what it showed."""

    def run_cell(source: str) -> Ran:
        with capture_output() as captured:
            result = shell.run_cell(source, store_history=True)
        return Ran(result, captured)

    return run_cell


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Run cells in a fresh kernel of this Python; the executed notebook."""
    import nbformat  # not above: importing it takes seconds in each worker
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(PACKAGE_PARENT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")

    def run(*sources: str, allow_errors: bool = False):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
        elsewhere = {"metadata": {"path": str(tmp_path)}}  # the tree of the checkout must not be what it imports
        NotebookClient(notebook, km=manager, timeout=120, allow_errors=allow_errors, resources=elsewhere).execute()
        return notebook

    return run
