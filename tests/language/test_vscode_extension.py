"""The VS Code extension: its manifest fits its code and the server. `npm ci && npm run package` builds it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyptx import __version__
from pyptx.cli.language_server.machine_code import COMMAND
from pyptx.language.semantic_tokens import TYPES

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text())


def test_the_manifest_fits_the_code_and_the_server():
    code, contributes = (FOLDER / "src" / "extension.ts").read_text(), MANIFEST["contributes"]
    settings = contributes["configuration"]["properties"]
    assert {f"pyptx.{name}" for name in re.findall(r'\.get<\w+>\("(\w+)"', code)} == settings.keys()
    commands = {command["command"] for command in contributes["commands"]}
    assert commands == set(re.findall(r'registerCommand\("([\w.]+)"', code))
    assert COMMAND not in commands, "the client registers the commands of the server itself"
    [scopes] = [one["scopes"] for one in contributes["semanticTokenScopes"]]
    assert scopes.keys() <= set(TYPES)
    assert MANIFEST["version"] == __version__
    for setting in settings:
        assert f"`{setting}`" in (FOLDER / "README.md").read_text()


def test_the_grammar_highlights_what_needs_no_table():
    grammar = json.loads((FOLDER / "syntaxes" / "ptx.tmLanguage.json").read_text())
    json.loads((FOLDER / "language-configuration.json").read_text())
    scopes = {}
    for word in ("// note", "0x1F", "%tid.x", '"text"', "\t.visible .entry", "again:", "@!%p1"):
        for rule in grammar["patterns"]:
            if (
                "match" in rule
                and "name" in rule
                and (found := re.match(rule["match"], word))
                and found[0] == word.rstrip(":")
            ):
                scopes[word.strip()] = rule["name"].split(".")[0]
                break
    assert scopes == {
        "// note": "comment", "0x1F": "constant", "%tid.x": "variable", '"text"': "string", ".visible .entry": "keyword",
        "again:": "entity", "@!%p1": "keyword",
    }  # fmt: skip


@pytest.mark.slow
def test_the_bundle_is_a_client_of_the_server(tmp_path):
    """Where it was built (`npm run build`): it is loaded with a stand-in for the editor and starts the server."""
    bundle, node = FOLDER / "dist" / "extension.js", shutil.which("node")
    if node is None or not bundle.exists():
        pytest.skip("the extension is not built here: npm ci && npm run build in editors/vscode")
    command, text = tmp_path / "pyptx", tmp_path / "kernel.ptx"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m pyptx "$@"\n')
    command.chmod(0o755)
    text.write_text(".version 8.5\n.target sm_90a\n.address_size 64\n.entry k() {\n\taddd.s32 %r1, 1, 2;\n}\n")
    stand_in = Path(__file__).with_name("vscode_stand_in.js")
    done = subprocess.run(
        [node, str(stand_in), str(bundle), str(text), str(command)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    [[line, column, message]] = found["diagnostics"]
    assert (line, column) == (4, 1) and "did you mean 'add'" in message
    assert {COMMAND, "registerInlayHintsProvider", "registerDocumentFormattingEditProvider"} <= set(found["registered"])
