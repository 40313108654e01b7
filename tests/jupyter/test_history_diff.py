"""A cell's kernel compared with its previous version, or with the one that `--diff REF` names."""

from __future__ import annotations

import numpy as np
import pytest
from support.cells import GOOD, with_line_9

import pyptx
from pyptx import history
from pyptx.views import Diff, LinkedView

pytestmark = pytest.mark.usefixtures("own_history")

ADD = with_line_9("ptx.inst.add.f32(value, value, factor)")


def against(cell: str, ref: str) -> str:
    return cell.replace("-p", f"--diff {ref} -p")


@pytest.mark.parametrize("ref", ["@-1", "@1", "double@1", "base", "@base", "double"])
def test_the_diff_is_part_of_the_view(run, ref):
    run(GOOD.replace("-p", "--name base -p"))
    ran = run(against(ADD, ref))
    assert isinstance(ran.result, LinkedView)
    found = ran.result.diff
    assert (found.left.title, found.right.title) == ("double@1", "double@2")
    assert not found.identical
    assert ran.outputs == []
    assert LinkedView.from_json(ran.result.to_json()) == ran.result
    assert found.verdict in ran.result.html()
    assert found.verdict in ran.result.text()


def test_an_edited_cell_is_compared_by_itself_with_the_version_before(run):
    assert run(GOOD).result.diff is None
    assert run(ADD).result.diff.left.title == "double@1"
    assert run(ADD).result.diff.left.title == "double@1", "not with itself"
    assert run(GOOD).result.diff.left.title == "double@2"
    assert run(against(ADD, "@1 --no-diff")).result.diff.left.title == "double@1", "it was asked for"
    assert run(ADD.replace("-p", "--no-diff -p")).result.diff is None
    assert run(ADD.replace("-p", "-q -p")).result is None
    run("%ptxconfig --no-diff")
    assert run(GOOD).result.diff is None


def test_large_kernels_are_compared_only_on_request(run, monkeypatch):
    monkeypatch.setattr("pyptx.jupyter.versioning.MAX_AUTO_DIFF", 5)
    run(GOOD)
    with pytest.warns(UserWarning, match="double has more than 5 instructions, .* use --diff double@1"):
        assert run(ADD).result.diff is None
    assert run(against(ADD, "double@1")).result.diff.left.title == "double@1"


def test_versions_of_other_notebooks_are_compared_only_on_request(run, shell, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "one.ipynb")
    run(GOOD)
    shell.run_line_magic("unload_ext", "pyptx")  # as after a restart
    shell.run_line_magic("load_ext", "pyptx")
    monkeypatch.setenv("JPY_SESSION_NAME", "other.ipynb")
    assert run(ADD).result.diff is None
    assert run(against(ADD, "@-1")).result.diff.left.title == "double@1"
    monkeypatch.setenv("JPY_SESSION_NAME", "one.ipynb")
    shell.run_line_magic("unload_ext", "pyptx")
    shell.run_line_magic("load_ext", "pyptx")
    assert run(ADD).result.diff.left.title == "double@1", "the notebook was restarted"


def test_the_python_of_the_earlier_version_is_there(run):
    run(GOOD)
    found = run(against(ADD, "@-1")).result.diff
    assert "    ptx.inst.mul.f32(value, value, factor)" in found.left.python.text
    assert "    ptx.inst.add.f32(value, value, factor)" in found.right.python.text
    assert {section.file for section in found.left.python.sections} == {"<double@1: Cell In[1]>"}


def test_a_cell_run_again_is_compared_with_the_one_before_it_and_not_with_itself(run):
    run(GOOD)
    run(ADD)
    assert run(against(ADD, "@-1")).result.diff.left.title == "double@1"
    assert run(against(GOOD, "@-1")).result.diff.left.title == "double@2"


def test_the_first_version_is_recorded_without_a_diff(run):
    with pytest.warns(UserWarning, match="--diff @-1: double has no other versions to compare with"):
        ran = run(against(GOOD, "@-1"))
    assert isinstance(ran.result, LinkedView)
    assert len(history.versions()) == 1


def test_a_label_that_moves_here_is_compared_with_where_it_was(run):
    run(GOOD.replace("-p", "--name best -p"))
    assert run(against(ADD, "best --name best")).result.diff.left.title == "double@1"
    assert history.version("best").ref == "double@2"


def test_quiet_shows_the_diff_alone(run):
    run(GOOD)
    ran = run(against(ADD, "@-1 -q"))
    assert isinstance(ran.result, Diff)
    assert ran.outputs == []


def test_the_same_code_is_identical(run):
    run(GOOD)
    assert run(against(GOOD.replace("def load", "# a comment\ndef load"), "@1")).result.diff.identical


def test_two_recorded_versions_are_compared(run):
    run(GOOD)
    run(ADD)
    found = run("%ptxhistory double --diff @-1 @1").result
    assert (found.left.title, found.right.title) == ("double@2", "double@1")
    assert pyptx.diff("double@2", history.version("double@1")).verdict == found.verdict


def test_a_run_and_a_diff_go_together(run, shell):
    run(GOOD)
    shell.user_ns["x"] = np.ones(256, np.float32)
    ran = run(against(ADD, '@-1 --run "y = double(x)"'))
    assert ran.result.diff.left.title == "double@1"
    assert ran.result.to_json()["python"]["issues"]


def test_launches_of_both_versions_weigh_the_issue_cycles(run, shell):
    shell.user_ns["x"] = np.ones(256, np.float32)
    run(GOOD.replace("-p", '--run "y = double(x)" -p'))
    shell.run_line_magic("unload_ext", "pyptx")  # the counts are kept with the version
    shell.run_line_magic("load_ext", "pyptx")
    found = run(against(ADD, '@1 --run "y = double(x)"')).result.diff
    [cycles] = [fact for fact in found.facts if "modeled" in fact.label]
    assert cycles.label == "issue cycles of a warp, modeled"
    assert cycles.left and cycles.right


@pytest.mark.parametrize(
    "ref, message",
    [
        ("@9", "--diff @9: double has no version '@9'; it has double@1"),
        ("nothing", "--diff nothing: no version is named 'nothing'"),
        ("triple@-1", "--diff triple@-1: 'triple@-1': 'triple' has no recorded version"),
    ],
)
def test_a_wrong_reference_fails_the_cell(run, ref, message):
    run(GOOD)
    error = run(against(ADD, ref)).error
    assert type(error).__name__ == "UsageError"
    assert message in str(error)


@pytest.mark.parametrize(
    "name, message",
    [
        ("double", "--name double: a kernel of the cell has this name"),
        ("twice", "--name 'twice' cannot be a label: it is the name of a kernel"),
    ],
)
def test_a_label_that_is_a_kernels_name_is_refused(run, name, message):
    run(GOOD.replace("double", "twice"))
    error = run(GOOD.replace("-p", f"--name {name} -p")).error
    assert type(error).__name__ == "UsageError"
    assert message in str(error)


@pytest.mark.parametrize("suffix", ["ptx", "cubin"])
def test_a_cell_can_be_compared_with_a_file(run, shell, tmp_path, suffix):
    run(GOOD)
    path = shell.user_ns["double"].compile(**history.version("double@1").params).save(tmp_path / f"theirs.{suffix}")
    found = run(against(ADD, str(path))).result.diff
    assert (found.left.title, found.right.title) == ("theirs", "double@2")
    assert not found.identical


def test_a_missing_file_is_named(run):
    error = run(against(GOOD, "nowhere.ptx")).error
    assert "--diff nowhere.ptx" in str(error) and "No such file" in str(error)
