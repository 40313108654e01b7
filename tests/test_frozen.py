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


def test_a_subclass_has_the_fields_of_its_base_first():
    @frozen
    class Derived(Frozen):
        more: int = 0
        name: str = "b"

    made = Derived(sizes=(2,), more=3)
    assert repr(made).endswith("Derived(name='b', sizes=(2,), found={}, place=0, more=3)")
    assert [f.name for f in dataclasses.fields(made)] == ["name", "sizes", "note", "found", "place", "more"]
    assert Derived.__slots__ == ("more",) and made != Derived(sizes=(2,), more=4) and made != Frozen("b", (2,))
    assert dataclasses.replace(made, more=4).sizes == (2,)


def test_classes_that_dataclass_refuses_are_refused():
    with pytest.raises(TypeError, match="'b' without a default follows one with a default"):

        @frozen
        class Misordered:
            a: int = 0
            b: int

    with pytest.raises(TypeError, match="derives from the dataclass Dataclass"):

        @frozen
        class Mixed(Dataclass):
            more: int = 0


def test_post_init_and_methods_of_the_class_are_kept():
    @frozen
    class Kept:
        a: int

        def __post_init__(self):
            object.__setattr__(self, "a", self.a + 1)

        def __repr__(self):
            return f"<{self.a}>"

        __eq__ = object.__eq__
        __hash__ = object.__hash__

    assert repr(Kept(1)) == "<2>" and Kept(1) != Kept(1) and len({Kept(1), Kept(1)}) == 2


def test_records_may_be_compared_by_identity():
    @frozen(eq=False)
    class Place:
        line: int

    one = Place(1)
    assert one == one and one != Place(1) and len({one, Place(1)}) == 2
    assert not Place.__dataclass_params__.eq and repr(one).endswith("Place(line=1)")
