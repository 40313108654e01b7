"""Parsing and emitting a corpus file restores it byte for byte."""

from pathlib import Path

import pytest
from support.groups import check_each

from pyptx.emitter import emit
from pyptx.parser import parse

FOLDER = Path(__file__).parents[1] / "corpus"
FILES = sorted(FOLDER.rglob("*.ptx"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(8))
def test_corpus_files_round_trip_byte_for_byte(part):
    check_each(round_trips, ((path.stem, (path,)) for path in FILES[part::8]))


def round_trips(path: Path) -> None:
    data = path.read_bytes()
    assert emit(parse(data)).encode("utf-8", "surrogateescape") == data
