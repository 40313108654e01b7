"""Litmus tests: the verdict of `check` on a race is that of the memory model, over shapes, strengths, scopes, and places.

A sample runs in every test run and a larger one in `slow`; PYPTX_LITMUS=all makes the latter complete (42,775 programs).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice

import pytest
from check.litmus.axioms import verdict
from check.litmus.events import Event, Place, Program, atomic, fence, load, reduction, store
from check.litmus.kernel import verdicts
from check.litmus.shapes import FAMILIES

EVERY = {
    "message passing": 13,
    "message passing both ways": 17,
    "two threads": 11,
}  # in `slow`; all of the other families


def disagreements(programs: Sequence[Program]) -> list[str]:
    """Return programs with another verdict than the model's.

    A race that occurs in some executions only is looked for in more schedules.
    """
    wanted = {program: verdict(program) for program in programs}
    found = dict(verdicts(programs))
    missed = [program for program in programs if wanted[program] != "clean" and found[program] == "clean"]
    found.update(verdicts(missed, random=16))
    return [f"{p}: the model says {wanted[p]}, the check {found[p]}" for p in programs if wanted[p] != found[p]]


def test_sampled_litmus_tests_agree_with_the_model():
    assert not disagreements([program for family in FAMILIES.values() for program in islice(family(), 5, None, 151)])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_all_litmus_tests_agree_with_the_model(family: str):
    step = 1 if os.environ.get("PYPTX_LITMUS") == "all" else EVERY.get(family, 1)
    assert not disagreements(list(islice(FAMILIES[family](), 0, None, step)))


# verdicts of the manual and of the literature on the checker itself ------------------------------------------------------

W, R, A, F = store, load, atomic, fence
BAR, CLUSTER = Event("bar.sync"), (Event("cluster.arrive"), Event("cluster.wait"))
WARP, CTA, PEER, GPU = Place(lane=1), Place(warp=1), Place(cta=1), Place(cluster=1)
ARRIVE, TEST = Event("arrive", "m", ""), Event("wait", "m", "")


def R1(sem: str, scope: str) -> Event:
    return load("y", sem, scope).waiting()


@pytest.mark.parametrize(
    "name, place, first, second, wanted",
    [
        ("release and acquire", GPU, [W("x"), W("y", "release", "gpu")], [R1("acquire", "gpu"), R("x")], "clean"),
        ("of a CTA, outside", GPU, [W("x"), W("y", "release", "cta")], [R1("acquire", "cta"), R("x")], "racy"),
        ("of a CTA, inside", CTA, [W("x"), W("y", "release", "cta")], [R1("acquire", "cta"), R("x")], "clean"),
        ("narrow acquire", GPU, [W("x"), W("y", "release", "gpu")], [R1("acquire", "cta"), R("x")], "racy"),
        ("of a cluster", PEER, [W("x"), W("y", "release", "cluster")], [R1("acquire", "cluster"), R("x")], "clean"),
        ("relaxed", GPU, [W("x"), W("y", "relaxed", "gpu")], [R1("relaxed", "gpu"), R("x")], "racy"),
        ("volatile", GPU, [W("x"), W("y", "volatile")], [R1("volatile", ""), R("x")], "racy"),
        (
            "fences",
            GPU,
            [W("x"), F("acq_rel", "gpu"), W("y", "relaxed", "sys")],
            [R1("relaxed", "sys"), F("acq_rel", "gpu"), R("x")],
            "clean",
        ),
        (
            "a fence of a CTA",
            GPU,
            [W("x"), F("sc", "gpu"), W("y", "relaxed", "sys")],
            [R1("relaxed", "sys"), F("sc", "cta"), R("x")],
            "racy",
        ),
        (
            "release and acquire fences exchanged",
            GPU,
            [W("x"), F("acquire", "gpu"), W("y", "relaxed", "gpu")],
            [R1("relaxed", "gpu"), F("release", "gpu"), R("x")],
            "racy",
        ),
        (
            "a weak flag",
            GPU,
            [W("x"), F("acq_rel", "gpu"), W("y")],
            [R1("weak", ""), F("acq_rel", "gpu"), R("x")],
            "racy",
        ),
        ("red", GPU, [W("x"), reduction("y", "release")], [R1("acquire", "gpu"), R("x")], "clean"),
        (
            "acquire pattern",
            GPU,
            [W("x"), W("y", "release", "gpu")],
            [R1("relaxed", "gpu"), R("y", "acquire", "gpu"), R("x")],
            "clean",
        ),
        (
            "SB relaxed",
            GPU,
            [W("x", "relaxed", "gpu"), R("y", "relaxed", "gpu")],
            [W("y", "relaxed", "gpu"), R("x", "relaxed", "gpu")],
            "clean",
        ),
        ("SB weak with fences", GPU, [W("x"), F("sc", "sys"), R("y")], [W("y"), F("sc", "sys"), R("x")], "racy"),
        ("atomics of two scopes", GPU, [A("x", "relaxed", "cta")], [A("x", "relaxed", "gpu")], "racy"),
        ("atomics of a CTA", CTA, [A("x", "relaxed", "cta")], [A("x", "relaxed", "gpu")], "clean"),
        ("CoRR, weak and relaxed", GPU, [R("x", "relaxed", "gpu"), R("x")], [W("x", "relaxed", "gpu")], "racy"),
        ("a lane of the warp", WARP, [W("x")], [R("x")], "racy"),
        ("bar.warp.sync", WARP, [W("x"), Event("bar.warp.sync")], [Event("bar.warp.sync"), R("x")], "clean"),
        ("bar.sync", CTA, [W("x"), BAR], [BAR, R("x")], "clean"),
        ("bar.sync of another CTA", GPU, [W("x"), BAR], [BAR, R("x")], "racy"),
        ("bar.arrive", CTA, [W("x"), Event("bar.arrive")], [BAR, R("x")], "clean"),
        ("bar.arrive before", CTA, [Event("bar.arrive"), W("x")], [BAR, R("x")], "racy"),
        ("a cluster barrier", PEER, [W("x"), *CLUSTER], [*CLUSTER, R("x")], "clean"),
        ("between arrive and wait", PEER, [CLUSTER[0], W("x"), CLUSTER[1]], [*CLUSTER, R("x")], "racy"),
        (
            "a relaxed cluster barrier",
            PEER,
            [W("x"), Event("cluster.arrive", sem="relaxed"), CLUSTER[1]],
            [Event("cluster.arrive", sem="relaxed"), CLUSTER[1], R("x")],
            "racy",
        ),
        ("an mbarrier", CTA, [W("x"), ARRIVE], [TEST, R("x")], "clean"),
        ("a peer's mbarrier without scopes", PEER, [W("x"), ARRIVE], [TEST, R("x")], "unproven"),
        (
            "a peer's mbarrier",
            PEER,
            [W("x"), Event("arrive", "m", "release", "cluster")],
            [Event("wait", "m", "acquire", "cluster"), R("x")],
            "clean",
        ),
        (
            "a peer's mbarrier, acquired for a CTA",
            PEER,
            [W("x"), Event("arrive", "m", "release", "cluster")],
            [Event("wait", "m", "acquire", "cta"), R("x")],
            "racy",
        ),
        ("a relaxed mbarrier", CTA, [W("x"), Event("arrive", "m", "relaxed", "cta")], [TEST, R("x")], "racy"),
        (
            "a bulk load of what another CTA wrote, its own fence",
            GPU,
            [W("x"), W("y", "release", "gpu")],
            [R1("acquire", "gpu"), Event("proxy fence"), Event("bulk fetch", "x"), Event("wait", "x bar", "")],
            "clean",
        ),
        (
            "a bulk load of what another CTA wrote, the writer's fence",
            GPU,
            [W("x"), Event("proxy fence"), W("y", "release", "gpu")],
            [R1("acquire", "gpu"), Event("bulk fetch", "x"), Event("wait", "x bar", "")],
            "unproven",
        ),
        (
            "a bulk load of what another CTA wrote, no fence",
            GPU,
            [W("x"), W("y", "release", "gpu")],
            [R1("acquire", "gpu"), Event("bulk fetch", "x"), Event("wait", "x bar", "")],
            "racy",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_checker_and_the_sanitizer_know_the_verdicts_of_the_literature(name, place, first, second, wanted):
    program = Program(name, (tuple(first), tuple(second)), (Place(), place))
    assert verdict(program) == wanted
    assert dict(verdicts([program], random=8)) == {program: wanted}
