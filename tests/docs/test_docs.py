"""The documentation builds without warnings, its links resolve, and its code runs."""

from __future__ import annotations

import argparse
import ast
import re
import runpy
import shutil
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


BLOCK = re.compile(r"^```python\n(.*?)^```(\n\n<!-- output -->\n```text\n)?((?(2).*?^(?=```)|))", re.M | re.S)
END = "\x1e"  # printed after each block
ALONE = {"howto/cuda-without-a-gpu.md", "howto/triton.md"}  # what they turn on stays on; the others share a process


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=named)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch, capsys):
    """Every block runs, prints the text under `<!-- output -->`, and saves the pictures that the page shows beside it.

    `--bless` writes texts and pictures.
    """
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    name = (
        "page" if named(page) in ALONE else page.stem.replace("-", "_")
    )  # the folder of a script is on sys.path: not triton.py
    script = tmp_path / f"{name}.py"
    lines = [f"{block[1]}\nprint({END!r}, end='')" for block in blocks]
    script.write_text("\n".join(lines), encoding="utf-8")
    if named(page) in ALONE:
        done = python(str(script), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        printed = done.stdout.split(END)
    else:
        monkeypatch.chdir(tmp_path)
        runpy.run_path(str(script), run_name="__main__")
        printed = capsys.readouterr().out.split(END)
    printed = [output.replace(f"{tmp_path}/", "") for output in printed]
    pictures = [name for name in re.findall(r"\]\(([\w-]+\.svg)\)", text) if (tmp_path / name).exists()]
    if request.config.getoption("--bless"):
        for block, output in reversed(list(zip(blocks, printed, strict=False))):
            if block[2]:
                text = text[: block.start(3)] + cleaned(output) + text[block.end(3) :]
        page.write_text(text, encoding="utf-8")
        for name in pictures:
            shutil.copy(tmp_path / name, page.parent / name)
    for block, output in zip(BLOCK.finditer(text), printed, strict=False):
        assert not block[2] or block[3] == cleaned(output), "update it with --bless"
    for name in pictures:
        assert (tmp_path / name).read_bytes() == (page.parent / name).read_bytes(), "update it with --bless"


def cleaned(output: str) -> str:
    return "".join(line.rstrip() + "\n" for line in output.strip("\n").split("\n"))


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


QUICK = (
    "-D",
    "html_theme=basic",
)  # contents and links are those of the real theme, whose navigation takes half the time


@pytest.mark.slow
def test_it_builds_and_every_link_inside_it_leads_somewhere(tmp_path: Path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", *QUICK, str(DOCS), str(tmp_path / "html")]
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
