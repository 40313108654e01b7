"""Recorded versions, `%ptxhistory`, `%ptxconfig` and `--run` in an IPython shell."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from support.cells import GOOD, with_line_9
from support.processes import python

from pyptx import history
from pyptx.compiled import Compiled
from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.history import Versions
from pyptx.jupyter.completion import completions
from pyptx.views import LinkedView

pytestmark = pytest.mark.usefixtures("own_history")

HALF = GOOD.replace("factor=2.0", "factor=0.5")


@pytest.fixture
def arrays(shell):
    shell.user_ns["x"] = np.arange(3, 515, dtype=np.float32)
    return shell.user_ns


# keeping --------------------------------------------------------------------------------------------------------------


def test_a_cell_records_what_it_compiles(run):
    run(GOOD)
    [kept] = history.versions()
    assert (kept.ref, kept.target, kept.cell, kept.cell_source) == ("double@1", "sm_80", "Cell In[1]", GOOD.rstrip())
    assert kept.params == {"N": 256, "factor": 2.0}
    assert kept.block == (128, 1, 1)
    assert list(kept.files) == ["Cell In[1]"]


def test_an_edited_cell_is_another_version_and_the_same_cell_is_not(run):
    for cell in (GOOD, HALF, GOOD):
        run(cell)
    assert [(one.ref, one.cell) for one in history.versions()] == [
        ("double@1", "Cell In[3]"),
        ("double@2", "Cell In[2]"),
    ]


def test_quiet_cells_keep_too_and_failing_cells_do_not(run):
    run(GOOD.replace("-p", "-q -p"))
    run(with_line_9("ptx.inst.mul.f32(value)"))
    assert [one.ref for one in history.versions()] == ["double@1"]


def test_versions_are_compared_side_by_side(run):
    for cell in (GOOD, HALF, GOOD.replace("factor=2.0", "factor=3.0")):
        run(cell)
    table = run("%ptxhistory double --compare 3").result
    assert [column.title for column in table.columns] == ["double@1", "double@2", "double@3"]
    assert [one.title for one in run("%ptxhistory --compare double@1 double@3").result.columns] == [
        "double@1",
        "double@3",
    ]
    assert "two or more columns" in str(run("%ptxhistory --compare double@1").error)


def test_a_name_is_a_label(run):
    run(GOOD.replace("-p", "--name base -p"))
    run(HALF)
    assert history.version("base").ref == "double@1"


def test_the_name_of_the_notebook_is_kept(run, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/somewhere/norms.ipynb")
    run(GOOD)
    assert history.version("double").notebook == "norms.ipynb"


def test_a_store_that_cannot_be_written_does_not_fail_the_cell(run, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "taken" / "cache"))
    with pytest.warns(RuntimeWarning, match="in memory and lost when this process ends"):
        ran = run(GOOD)
    assert isinstance(ran.result, LinkedView)
    assert isinstance(run("%ptxhistory").result, Versions)


AGAIN = """
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
shell.run_line_magic("load_ext", "pyptx")
print(shell.run_cell("%ptxhistory").result.text())
view = shell.run_cell("%ptxhistory --restore base").result
print([section.file for section in view.python.sections], len(view.sass.text) > 10)
print(shell.rl_next_input)
"""


def test_after_a_restart_all_of_it_is_there(run, tmp_path):
    run(GOOD.replace("-p", "--name base -p"))
    run(HALF)
    done = python("-c", AGAIN, env={"IPYTHONDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"double@1 +base .*Cell In\[1\] +sm_80 +N=256 factor=2\.0", done.stdout)
    assert "['<double@1: Cell In[1]>', '<double@1: Cell In[1]>'] True" in done.stdout
    assert GOOD.replace("-p", "--name base -p").rstrip() in done.stdout


# %ptxhistory ----------------------------------------------------------------------------------------------------------


def test_the_list_is_a_table_as_text_and_html(run, shell):
    run(GOOD)
    run(GOOD.replace("double", "twice"))
    listed = run("%ptxhistory").result
    assert [one.ref for one in listed] == ["double@1", "twice@1"]
    shown, _ = shell.display_formatter.format(listed)
    assert shown["text/plain"].startswith("version ")
    assert shown["text/html"].count("<tr>") == 3
    assert [one.ref for one in run("%ptxhistory twice").result] == ["twice@1"]


def test_naming_shows_the_kernels_versions(run):
    run(GOOD)
    run(HALF)
    listed = run("%ptxhistory --name double@-2 base").result
    assert [one.labels for one in listed] == [("base",), ()]
    assert run("%ptxhistory double --name @2 best").result[1].labels == ("best",)


def test_restoring_shows_the_version_and_brings_the_cell_back(run, shell):
    run(GOOD)
    run(HALF)
    view = run("%ptxhistory --restore double@1").result
    assert view.title == "double@1"
    assert shell.rl_next_input == GOOD.rstrip()
    assert any("0f40000000" in line for line in view.ptx.text)
    assert "    ptx.inst.mul.f32(value, value, factor)" in view.python.text


def test_a_version_can_be_viewed(run, shell):
    run(GOOD)
    view = run("%ptxhistory double --view @-1").result
    assert isinstance(view, LinkedView)
    assert view.entries[0].occupancy["threads"] == 128
    assert not hasattr(shell, "rl_next_input"), "only --restore touches the next cell"


@pytest.mark.parametrize(
    "line, message",
    [
        ("%ptxhistory triple", "'triple' has no recorded version\nhint: recorded: double@1"),
        ("%ptxhistory --view double@7", "double has no version 'double@7'; it has double@1 and no labels"),
        ("%ptxhistory --restore nope", "no version is named 'nope'"),
        ("%ptxhistory --name double@1 7", "'7' is not a label"),
        ("%ptxhistory --name double@1", "argument --name: expected 2 arguments"),
        (
            "%ptxhistory --view double --restore double",
            "at most one of --restore, --view, --diff, --compare and --name",
        ),
        ("%ptxhistory --nope", "unrecognized arguments: --nope"),
    ],
)
def test_wrong_history_lines_say_what_would_do(run, line, message):
    run(GOOD)
    error = run(line).error
    assert type(error).__name__ == "UsageError"
    assert message in str(error)


# --run ----------------------------------------------------------------------------------------------------------------


def test_a_run_gives_results_and_counters(run, arrays):
    ran = run(GOOD.replace("--arch sm_80 -p N=256", '--run "y = double(x)"'))
    assert arrays["y"][0] == 2 * arrays["x"][0]
    view = ran.result
    assert sum(view.python.issues) > 0
    assert "issues" in view.ptx.counters
    assert view.target == "sm_90a"
    assert history.version("double").params == {"N": 512, "factor": 2.0}, "the specialization that ran is the one shown"


def test_a_run_of_the_ptx_asked_for_has_counters_whatever_the_target(run, arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ran = run(GOOD.replace("N=256", 'N=512 --run "y = double(x)"'))
    assert ran.result.python.issues
    assert ran.result.target == "sm_80"


def test_a_run_of_another_variant_has_none_and_says_so(run, arrays):
    with pytest.warns(UserWarning, match="--run launched double with N=512 factor=2.0, which is not the version shown"):
        view = run(GOOD.replace("-p", '--run "y = double(x)" -p factor=3.0')).result
    assert view.python.issues == ()


def test_the_value_of_an_expression_is_shown(run, arrays):
    ran = run(GOOD.replace("-p N=256", '--run "double(x).shape"'))
    assert [output.data["text/plain"] for output in ran.outputs] == ["(512,)"]


@pytest.mark.parametrize(
    "statement, kind, message",
    [
        ("double(3)", ArgumentTypeError, "int"),
        ("double(x[::2])", ArgumentValueError, "not contiguous"),
        ("nothing(x)", NameError, "nothing"),
        ("y =", None, "--run y =: invalid syntax"),
        ("y = 1", None, "--run y = 1: launched no kernel of this cell (double)"),
    ],
)
def test_a_run_that_fails_fails_the_cell(run, arrays, statement, kind, message):
    ran = run(GOOD.replace("-p N=256", f'--run "{statement}"'))
    assert message in str(ran.error)
    assert type(ran.error).__name__ == (kind.__name__ if kind else type(ran.error).__name__)
    if kind:
        assert "magics.py" not in ran.shown


# %ptxconfig -----------------------------------------------------------------------------------------------------------


def test_defaults_stick_and_a_cell_goes_before_them(run):
    assert (
        run("%ptxconfig --arch sm_100a --panes ptx,sass -p N=128").stdout.strip()
        == "%%ptxkernel --arch sm_100a -p N=128 --panes ptx,sass"
    )
    plain = GOOD.replace("--arch sm_80 -p N=256", "")
    view = run(plain).result
    assert (view.target, view.panes) == ("sm_100a", ("ptx", "sass"))
    assert history.version("double").params["N"] == 128
    assert run(GOOD).result.target == "sm_80"
    assert history.version("double").params["N"] == 256


def test_what_is_set_adds_up_is_shown_and_forgotten(run):
    run("%ptxconfig --arch sm_80")
    assert run('%ptxconfig -q --options "-O1"').stdout.strip() == '%%ptxkernel --arch sm_80 --options "-O1" --quiet'
    assert run("%ptxconfig").stdout.strip() == '%%ptxkernel --arch sm_80 --options "-O1" --quiet'
    run("%ptxconfig --reset -p N=1 M=2")
    assert run("%ptxconfig -p N=3").stdout.strip() == "%%ptxkernel -p M=2 N=3"
    assert run("%ptxconfig --reset").stdout == ""
    assert "no options are set" in run("%ptxconfig").stdout
    assert run("%ptxconfig --reset --arch sm_90a").stdout.strip() == "%%ptxkernel --arch sm_90a"


def test_a_default_that_a_kernel_does_not_take_is_left_out_for_it(run):
    run("%ptxconfig -p N=64 M=3")
    assert run(GOOD.replace("-p N=256", "")).error is None


@pytest.mark.parametrize(
    "line, message",
    [
        ("%ptxconfig --arch sm_1", "--arch sm_1: expected one of sm_75"),
        ("%ptxconfig --panes x", "--panes x: expected one or more of"),
        ("%ptxconfig --version 8", "--version 8: expected MAJOR.MINOR"),
        ("%ptxconfig -p N", "-p N: expected NAME=VALUE"),
        ("%ptxconfig --run x", "unrecognized arguments: --run x"),
    ],
)
def test_wrong_defaults_are_refused_at_once(run, line, message):
    error = run(line).error
    assert type(error).__name__ == "UsageError"
    assert message in str(error)
    assert "no options are set" in run("%ptxconfig").stdout


# help and completion --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, options",
    [("ptxhistory", ("--restore", "--view", "--name")), ("ptxconfig", ("--arch", "--panes", "--reset"))],
)
def test_the_help_lists_the_options(shell, name, options):
    text = shell.find_line_magic(name).__doc__
    assert all(option in text for option in options)
    assert "%%%%" not in text


@pytest.mark.parametrize(
    "line, expected",
    [
        ("%ptxhistory d", ["double"]),
        ("%ptxhistory --v", ["--view"]),
        ("%ptxhistory --view double@", ["double@1", "double@2"]),
        ("%ptxhistory --restore b", ["base"]),
        ("%ptxhistory --diff base double@", ["double@1", "double@2"]),
        ("%ptxhistory --name ", ["double", "double@1", "double@2", "base"]),
        ("%ptxconfig --arch sm_103", ["sm_103", "sm_103a", "sm_103f"]),
        ("%ptxconfig --re", ["--reset"]),
        ("%%ptxkernel --r", ["--run"]),
        ("%%ptxkernel --diff @", ["@-1"]),
        ("%%ptxkernel --diff double@", ["double@1", "double@2"]),
        ("%%ptxkernel --name d", []),
    ],
)
def test_completions(run, line, expected):
    run(GOOD.replace("-p", "--name base -p"))
    run(HALF)
    assert [text for text, _ in completions(line)] == expected


def test_the_shell_offers_them_on_any_line_of_a_cell(run, shell):
    run(GOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # completions() is a provisional name in IPython
        text = "x = 1\n%ptxhistory --view dou"
        assert "double@1" in [c.text for c in shell.Completer.completions(text, len(text))]


def test_unloading_takes_the_magics_back(shell):
    shell.run_line_magic("unload_ext", "pyptx")
    assert shell.find_line_magic("ptxhistory") is None
    assert shell.find_line_magic("ptxconfig") is None
    shell.run_line_magic("load_ext", "pyptx")


def test_the_kept_name_holds_the_compiled(run, shell):
    run(GOOD.replace("-p", "--name first -p"))
    assert isinstance(shell.user_ns["first"], Compiled)
    assert history.restore("first") == shell.user_ns["first"]
