"""Parsing and emitting a corpus file restores it byte for byte."""

from pathlib import Path

import pytest

from pyptx.emitter import emit
from pyptx.parser import parse

FOLDER = Path(__file__).parents[1] / "corpus"
FILES = sorted(FOLDER.rglob("*.ptx"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_corpus_file_round_trips_byte_for_byte(path: Path):
    data = path.read_bytes()
    assert emit(parse(data)).encode("utf-8", "surrogateescape") == data
