"""The documentation builds without warnings, its links resolve, and its code runs."""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.processes import python

from pyptx import cli

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "generated" not in page.parts)
WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


def named(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=named)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    done = python(str(script), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_a_page_names_exists(page: Path):
    (commands,) = (action for action in cli.parser()._actions if isinstance(action, argparse._SubParsersAction))
    for command in re.findall(r"`pyptx ([a-z]+)\b", page.read_text(encoding="utf-8")):
        assert command in commands.choices


class Anchors(HTMLParser):
    """The ids of a page and where its links lead."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        found = dict(attributes)
        self.ids.add(found.get("id") or "")
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])


@pytest.mark.slow
def test_it_builds_and_every_link_inside_it_leads_somewhere(tmp_path: Path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path: Anchors(path.read_text(encoding="utf-8")) for path in (tmp_path / "html").rglob("*.html")}
    assert len(pages) > 50
    broken = []
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            to = (path.parent / target).resolve() if target else path
            if not to.exists() or (anchor and to in pages and anchor not in pages[to].ids):
                broken.append(f"{path.name}: {link}")
    assert not broken, broken[:20]


@pytest.mark.parametrize(
    ("page", "most"), [("start/first-kernel.md", 3), ("tutorials/tiled-gemm.md", 25), ("tutorials/tma-pipeline.md", 60)]
)
def test_the_kernel_of_a_page_has_the_lines_of_its_title(page: str, most: int):
    """Lines of the body for the first kernel, of decorator and function for the GEMM."""
    code = re.search(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)[1]
    (function,) = (node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef))
    start = function.body[0].lineno if most == 3 else function.decorator_list[0].lineno
    assert function.end_lineno - start + 1 <= most
