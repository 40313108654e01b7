"""`@frozen` classes behave like frozen dataclasses with slots."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import dataclass, field

import pytest

from pyptx._frozen import frozen

pytestmark = pytest.mark.quick


@frozen
class Frozen:
    name: str
    sizes: tuple[int, ...] = (1,)
    note: str | None = field(default=None, compare=False, repr=False)
    found: dict[str, int] = field(default_factory=dict, hash=False)
    place: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class Dataclass:
    name: str
    sizes: tuple[int, ...] = (1,)
    note: str | None = field(default=None, compare=False, repr=False)
    found: dict[str, int] = field(default_factory=dict, hash=False)
    place: int = field(default=0, kw_only=True)


@pytest.mark.parametrize(
    "show",
    [
        lambda kind: repr(kind("a", (2, 3), "b", place=4)),
        lambda kind: kind("a") == kind("a", note="b"),
        lambda kind: kind("a") == kind("a", place=1),
        lambda kind: hash(kind("a")) == hash(kind("a", (1,), "c")),
        lambda kind: kind("a") == ("a", (1,), 0),
        lambda kind: dataclasses.asdict(kind("a")),
        lambda kind: repr(dataclasses.replace(kind("a", note="b"), sizes=())),
        lambda kind: [repr(made) for made in (copy.copy(kind("a")), copy.deepcopy(kind("a", place=2)))],
        lambda kind: pickle.loads(pickle.dumps(kind("a", note="b"))) == kind("a"),
        lambda kind: pickle.loads(pickle.dumps(kind("a", note="b"))).note,
        lambda kind: kind("a").found is kind("a").found,
        lambda kind: [repr(kind("a", found=given)) for given in ({}, {"b": 1})],
        lambda kind: kind("a") == kind("a", found={"b": 1}),
        lambda kind: hash(kind("a")) == hash(kind("a", found={"b": 1})),
        lambda kind: kind.__match_args__,
        lambda kind: kind.__slots__,
        lambda kind: list(inspect.signature(kind).parameters),
    ],
)
def test_a_frozen_class_behaves_like_a_frozen_dataclass_with_slots(show):
    assert repr(show(Frozen)) == repr(show(Dataclass)).replace("Dataclass", "Frozen")


@pytest.mark.parametrize("kind", [Frozen, Dataclass])
def test_assignment_and_incomplete_construction_are_refused(kind):
    made = kind("a")
    for change in (lambda: setattr(made, "name", "b"), lambda: delattr(made, "name")):
        with pytest.raises(dataclasses.FrozenInstanceError, match="field 'name'"):
            change()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        kind()
    with pytest.raises(TypeError, match="unexpected keyword argument 'nmae'"):
        kind(nmae="a")
