"""Edits that make a configuration the defaults in a kernel's source."""

from __future__ import annotations

import importlib.util
import linecache

import pytest

from pyptx.errors import InputError
from pyptx.tune.source_edit import edited_defaults

SOURCE = """from functools import wraps
BASE = 64

def kept(function):
    return function


@kept
def tiled(a, b, BM=128, *, BN=(
        BASE *
        2), LAYOUT="nä", STAGES=3):  # BM=128
    return BM
"""


@pytest.fixture
def tiled(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("edited_kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.tiled, path


def test_defaults_are_replaced_and_everything_else_stays(tiled):
    function, path = tiled
    edit = edited_defaults(function, {"BM": 64, "BN": 256, "LAYOUT": "tñ"})
    expected = SOURCE.replace("BM=128, *", "BM=64, *").replace("(\n        BASE *\n        2)", "(\n        256)")
    assert SOURCE.replace(edit.before, edit.after) == expected.replace('"nä"', '"tñ"')
    assert (edit.file, edit.line, edit.in_cell) == (str(path), 9, False)
    assert edit.diff[-2:] == ("+def tiled(a, b, BM=64, *, BN=(", '+        256), LAYOUT="tñ", STAGES=3):  # BM=128')
    assert "before" not in edit.to_json()


def test_equal_defaults_are_no_change(tiled):
    assert edited_defaults(tiled[0], {"BM": 128, "STAGES": 3}).diff == ()


def test_a_parameter_without_default_and_a_changed_file_are_refused(tiled):
    function, path = tiled
    with pytest.raises(InputError, match="tiled has no default of BK in its signature\nhint: .*`BK=16`"):
        edited_defaults(function, {"BK": 16})
    path.write_text("\n\n" + SOURCE, encoding="utf-8")
    linecache.checkcache(str(path))
    with pytest.raises(InputError, match="has changed since it ran"):
        edited_defaults(function, {"BM": 64})
