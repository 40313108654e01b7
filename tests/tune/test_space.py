"""Spaces: order and restrictions; a large space is never enumerated."""

from __future__ import annotations

import time

import pytest

from pyptx.tune import Space, SpaceError, restrict


def test_the_last_parameter_varies_fastest():
    space = Space(BM=[64, 128], BN=[1, 2])
    assert list(space) == [{"BM": 64, "BN": 1}, {"BM": 64, "BN": 2}, {"BM": 128, "BN": 1}, {"BM": 128, "BN": 2}]
    assert len(space) == 4
    assert [space[i] for i in range(4)] == list(space)


def test_a_mapping_is_a_space():
    assert list(Space.of({"BM": [64, 128]})) == [{"BM": 64}, {"BM": 128}]


def test_restrictions_name_what_they_refuse_and_why():
    fits = restrict(lambda BM, BN: BM * BN <= 128, "{BM} x {BN} sums are too many")
    space = Space(fits, BM=[16, 32], BN=[4, 8])
    assert list(space.points()) == [
        ({"BM": 16, "BN": 4}, None),
        ({"BM": 16, "BN": 8}, None),
        ({"BM": 32, "BN": 4}, None),
        ({"BM": 32, "BN": 8}, "32 x 8 sums are too many"),
    ]
    assert space.count() == 3
    assert {"BM": 32, "BN": 8} not in space
    assert {"BM": 16, "BN": 8} in space


def test_a_rule_says_itself_when_it_has_no_reason():
    assert restrict(lambda BM, BN: BM <= BN).reason == "not BM <= BN"


def test_a_rule_may_say_why_in_words():
    def even(BM):
        """BM is even."""
        return BM % 2 == 0 or f"{BM} is odd"

    assert restrict(even).reason == "BM is even."
    assert Space(even, BM=[1, 2]).refusal({"BM": 1}) == "1 is odd"


def test_a_rule_may_name_a_size_of_the_problem():
    space = Space(restrict(lambda BM, M: M % BM == 0), BM=[64, 96])
    assert list(space.given(M=192)) == [{"BM": 64}, {"BM": 96}]
    assert list(space.given(M=128)) == [{"BM": 64}]
    with pytest.raises(SpaceError, match="names M; known are BM"):
        list(space)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Space(), "needs a parameter"),
        (lambda: Space(BM=[]), "BM has no values"),
        (lambda: Space(BM=[1, 1]), "value 1 twice"),
        (lambda: Space(BM=64), "expected its values, as in BM="),
        (lambda: restrict(lambda *all: True), "takes named parameters"),
    ],
    ids=range(5),
)
def test_what_is_no_space_is_refused(make, message: str):
    with pytest.raises(SpaceError, match=message):
        make()


def test_a_large_space_is_never_listed():
    many = range(1, 101)
    space = Space(restrict(lambda A: A <= 2), A=many, B=many, C=many, D=many)
    started = time.process_time()
    assert len(space) == 10**8
    first = space.feasible()
    assert next(first) == {"A": 1, "B": 1, "C": 1, "D": 1}
    assert space[10**8 - 1] == {"A": 100, "B": 100, "C": 100, "D": 100}
    assert Space(restrict(lambda A: A < 0), A=many, B=many, C=many, D=many).count() == 0  # cut off at the first
    assert time.process_time() - started < 0.5
