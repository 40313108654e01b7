"""The fuzzer with a fixed seed: mutated corpus files never crash the parser, the checker or the transpiler."""

import random

import pytest
from fuzz.texts import CORPUS, check, mutated

PIECES = [path.read_bytes() for path in sorted(CORPUS.rglob("*.ptx"))]


def run(seed: int, count: int, transpile: bool) -> None:
    rnd = random.Random(seed)
    for _ in range(count):
        check(mutated(PIECES, rnd), transpile)


def test_mutated_files_raise_only_documented_errors():
    run(seed=3, count=60, transpile=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_mutated_files_raise_only_documented_errors(seed):
    run(seed, count=300, transpile=seed % 2 == 1)
