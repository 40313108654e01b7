"""Comparisons of several kernels: columns, numbers, forms, the command."""

from __future__ import annotations

import json

import pytest

import pyptx
from pyptx import Tile, cli, kernel, ptx
from pyptx.errors import OptionError
from pyptx.types import f32
from pyptx.views import ComparisonTable
from pyptx.views.comparisons.comparison import Column, Measure
from pyptx.views.comparisons.text import change_text, number_text


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def scale(x, y, *, TIMES=1):
    i = ptx.global_id()
    value = x[i]
    for _ in range(TIMES):
        value = value * value
    y[i] = value


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def copies(x, y):
    ptx.inst.setmaxnreg.dec.sync.aligned.u32(40)
    y[ptx.global_id()] = x[ptx.global_id()]


def measure(table: ComparisonTable, label: str) -> Measure:
    return next(one for one in table.measures if one.label == label)


def test_a_column_for_each_target_has_the_numbers_of_its_code():
    table = pyptx.compare(scale, targets=("sm_80", "sm_90a"), N=64)
    assert [(one.title, one.target) for one in table.columns] == [("sm_80", "sm_80"), ("sm_90a", "sm_90a")]
    for number, target in enumerate(("sm_80", "sm_90a")):
        compiled = scale.compile(arch=target, N=64)
        assert measure(table, "registers").values[number] == compiled.resources["scale"].registers
        assert measure(table, "instructions").values[number] == len(compiled.sass)


def test_configurations_are_columns_and_time_is_that_of_the_estimate():
    table = pyptx.compare(scale, configs=[{"TIMES": 1}, {"TIMES": 40}], time=True, N=64)
    assert [one.title for one in table.columns] == ["TIMES=1", "TIMES=40"]
    times = measure(table, "modeled time").values
    assert times == tuple(scale.estimate(N=64, TIMES=count).seconds for count in (1, 40)) and times[0] < times[1]
    assert measure(table, "modeled time").best == (0,)


def test_a_target_without_the_instruction_says_why():
    table = pyptx.compare(copies, targets=("sm_80", "sm_90a"), N=64)
    assert "setmaxnreg" in table.columns[0].problem and table.columns[1].problem is None
    assert measure(table, "registers").values[0] is None and table.baseline == 1
    assert "sm_80: " in table.text() and "setmaxnreg" in table.html()


def test_fewer_than_two_columns_and_parameters_of_compiled_code_are_refused():
    with pytest.raises(OptionError, match="needs two or more columns"):
        pyptx.compare(scale, N=64)
    with pytest.raises(OptionError, match="targets applies to kernels; scale is compiled already"):
        pyptx.compare(scale.compile(N=64), scale.compile(N=64), targets=("sm_80",))


def test_forms_agree():
    registers = Measure("registers", "", -1, (40, 60, None))
    table = ComparisonTable("k", (Column("a", "sm_80"), Column("b", "sm_80"), Column("c", "sm_80", "no")), (registers,))
    assert registers.best == (0,) and change_text(registers, 1, 0) == "+50 %" and number_text(registers, None) == "?"
    assert ComparisonTable.from_json(json.loads(json.dumps(table.to_json()))) == table
    assert "40*" in table.text() and "60 (+50 %)" in table.text() and table.text().endswith("c: no")
    assert "60 (" not in table.against("b").text() and table.against("b").baseline == 1
    assert "+50 %" in table.html() and "<script" not in table.html()
    with pytest.raises(OptionError, match="no column 7; the columns are a, b, c"):
        table.against(7)


def test_the_command_prints_a_table(capsys, tmp_path):
    for name, times in (("one", 1), ("two", 9)):
        (tmp_path / f"{name}.ptx").write_text(scale.ptx(N=64, TIMES=times))
    files = [str(tmp_path / f"{name}.ptx") for name in ("one", "two")]
    assert cli.main(["compare", *files]) == 0
    assert "registers" in capsys.readouterr().out
    assert cli.main(["compare", files[0]]) == 2
    assert "needs two or more columns" in capsys.readouterr().err
    assert cli.main(["compare", *files, "-o", "x.txt"]) == 2
