"""Distribution of the slow and the browser tests over the workers of pytest-xdist: files as units, the longest first."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

__all__ = ["LONGEST", "FilesScheduling", "rank", "unit"]

# Folders whose tests share one JupyterLab and one page.
TOGETHER = ("tests/labextension/",)

# Units that take longest, the longest first: a long unit that starts last keeps one worker busy and the others idle.
LONGEST = (
    "tests/labextension/",
    "tests/codegen/test_corpus.py",
    "tests/examples/test_every_example.py",
    "tests/renderer/test_browser_view.py",
    "tests/docs/test_docs.py",
    "tests/torch_support/test_identity.py",
    "tests/distribution/test_build.py",
    "tests/cuda_device/test_programs.py",
    "tests/oracle/test_table.py",
    "tests/examples/test_claims.py",
    "tests/cuda_kernels/test_kernels.py",
    "tests/sim/test_sanitized.py",
    "tests/renderer/test_browser.py",
    "tests/renderer/test_browser_diff.py",
    "tests/check/test_mutants.py",
    "tests/check/test_litmus.py",
    "tests/oracle/test_modules.py",
    "tests/benchmarks/test_everything.py",
    "tests/analysis/test_published.py",
    "tests/analysis/test_model_report.py",
    "tests/sim/test_sanitizer.py",
    "tests/sim/test_tcgen05.py",
    "tests/views/test_owners.py",
    "tests/cli/test_lab.py",
    "tests/remote/",
)


def rank(nodeid: str) -> int:
    """Return the place of a test in `LONGEST`; that after its end for all others."""
    return next((i for i, start in enumerate(LONGEST) if nodeid.startswith(start)), len(LONGEST))


def unit(nodeid: str) -> str:
    """Return the name of the unit of a test, its file or folder."""
    return next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid.partition("::")[0])


class FilesScheduling(LoadFileScheduling):
    """Give each worker a unit at a time, in the order of the collected tests."""

    def schedule(self) -> None:
        self.config.option.loadscopereorder = False  # by default the units with the most tests first
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
