"""The statements of the README hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.processes import python

from pyptx import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.M | re.S)


def test_the_first_block_holds_the_two_commands():
    language, text = BLOCKS[0]
    assert language == ""
    assert text == "pip install '.[lab]' && pyptx demo\npip install '.[test]' && pytest\n"


def test_the_first_kernel_runs_as_it_is(tmp_path: Path):
    (script,) = (text for language, text in BLOCKS if language == "python")
    path = tmp_path / "first.py"
    path.write_text(script + "\nassert (add(x, x) == 2 * x).all()\n", encoding="utf-8")
    done = python(str(path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ".visible .entry add(" in done.stdout
    assert "EXIT" in done.stdout


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(target: str):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`pyptx (\w+)", README))))
def test_every_command_it_names_exists(command: str, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([command, "--help"])
    assert caught.value.code == 0
    assert f"usage: pyptx {command}" in capsys.readouterr().out


def test_nobody_is_told_to_install_the_other_project():
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "pyptx").rglob("*.py"), *ROOT.glob("*/*.ipynb")):
        assert not re.search(r"pip install (-\S+ )*['\"]?pyptx(?!-workbench)\b", path.read_text(encoding="utf-8")), path
