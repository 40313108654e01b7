"""The litmus programs: shapes, with strengths, scopes, and places of the threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from check.litmus.events import SCOPES, Event, Place, Program, atomic, fence, load, reduction, store

__all__ = ["FAMILIES"]

PAIRS = {
    "warp": (Place(lane=0), Place(lane=1)),
    "cta": (Place(), Place(warp=1)),
    "cluster": (Place(), Place(cta=1)),
    "gpu": (Place(), Place(cluster=1)),
}
IN_CLUSTER = ("warp", "cta", "cluster")
# of three threads: all apart, and two of them together
TRIPLES = (
    (Place(), Place(warp=1), Place(warp=2)),
    (Place(), Place(cta=1), Place(cta=2)),
    (Place(), Place(cluster=1), Place(cluster=2)),
    (Place(), Place(warp=1), Place(cta=1)),
    (Place(), Place(warp=1), Place(cluster=1)),
    (Place(), Place(cta=1), Place(cluster=1)),
    (Place(), Place(cluster=1), Place(cluster=1, warp=1)),
    (Place(), Place(cluster=1), Place(cluster=1, cta=1)),
    (Place(), Place(cluster=1), Place(warp=1)),
    (Place(), Place(cluster=1), Place(cluster=1, lane=1)),
)
QUADS = (
    tuple(Place(warp=k) for k in range(4)),
    tuple(Place(cta=k) for k in range(4)),
    tuple(Place(cluster=k) for k in range(4)),
    (Place(), Place(cluster=1), Place(warp=1), Place(cluster=1, warp=1)),
)


def program(name: str, places: Sequence[Place], *threads: Sequence[Event], space: str = "global") -> Program:
    return Program(name, tuple(map(tuple, threads)), tuple(places), space)


def stores(location: str, value: int = 1) -> Iterator[tuple[str, Event]]:
    """Yield stores of every strength and scope."""
    yield "weak", store(location, value=value)
    yield "volatile", store(location, "volatile", value=value)
    for sem, scope in product(("relaxed", "release"), SCOPES):
        yield f"{sem}.{scope}", store(location, sem, scope, value)


def loads(location: str) -> Iterator[tuple[str, Event]]:
    """Yield loads of every strength and scope."""
    yield "weak", load(location)
    yield "volatile", load(location, "volatile")
    for sem, scope in product(("relaxed", "acquire"), SCOPES):
        yield f"{sem}.{scope}", load(location, sem, scope)


def signals() -> Iterator[tuple[str, list[Event]]]:
    """Yield ways to set the flag y."""
    for name, event in stores("y"):
        yield name, [event]
    for sem, scope in product(("relaxed", "acquire", "release", "acq_rel"), SCOPES):
        yield f"atom.{sem}.{scope}", [atomic("y", sem, scope)]
    for sem, scope in product(("relaxed", "release"), SCOPES):
        yield f"red.{sem}.{scope}", [reduction("y", sem, scope)]
    for sem, scope in product(("acquire", "release", "acq_rel", "sc"), SCOPES):
        if sem in ("acq_rel", "sc") or scope in ("cta", "gpu"):
            yield f"fence.{sem}.{scope} relaxed", [fence(sem, scope), store("y", "relaxed", "sys")]
            yield f"fence.{sem}.{scope} red.cluster", [fence(sem, scope), reduction("y", "relaxed", "cluster")]
    yield "fence weak", [fence("acq_rel", "gpu"), store("y")]
    yield "fence volatile", [fence("acq_rel", "gpu"), store("y", "volatile")]
    yield "release relaxed", [store("y", "release", "gpu", 0), store("y", "relaxed", "gpu")]
    yield "release weak", [store("y", "release", "gpu", 0), store("y")]


def waits() -> Iterator[tuple[str, list[Event]]]:
    """Yield ways to wait for the flag y."""
    for name, event in loads("y"):
        yield name, [event.waiting()]
    for sem, scope in product(("acquire", "release", "acq_rel", "sc"), SCOPES):
        if sem in ("acq_rel", "sc") or scope in ("cta", "gpu"):
            yield f"relaxed fence.{sem}.{scope}", [load("y", "relaxed", "sys").waiting(), fence(sem, scope)]
            yield f"relaxed.cluster fence.{sem}.{scope}", [load("y", "relaxed", "cluster").waiting(), fence(sem, scope)]
    yield "weak fence", [load("y").waiting(), fence("acq_rel", "gpu")]
    yield "volatile fence", [load("y", "volatile").waiting(), fence("acq_rel", "gpu")]
    yield "relaxed acquire", [load("y", "relaxed", "gpu").waiting(), load("y", "acquire", "gpu")]
    yield "relaxed acquire.cta", [load("y", "relaxed", "gpu").waiting(), load("y", "acquire", "cta")]


def message_passing() -> Iterator[Program]:
    for (a, signal), (b, wait), (place, pair) in product(signals(), waits(), PAIRS.items()):
        yield program(f"MP {a} / {b}", pair, [store("x"), *signal], [*wait, load("x")])
        if place != "gpu" and "sys" not in a + b:
            yield program(f"MP {a} / {b}", pair, [store("x"), *signal], [*wait, load("x")], space="shared")


def message_passing_both_ways() -> Iterator[Program]:
    """A flag there and one back, so that the first thread may write again."""
    for (a, signal), (b, wait), pair in product(signals(), waits(), PAIRS.values()):
        back = [store("z", "release", "gpu")], [load("z", "acquire", "gpu").waiting()]
        yield program(
            f"there {a} / {b}", pair, [store("x"), *signal, *back[1], store("x")], [*wait, load("x"), *back[0]]
        )


def two_threads() -> Iterator[Program]:
    """SB, LB, R, S, 2+2W, MP and CoRR: every strength and scope in each thread, with and without fences in between."""
    fences = [[], *([fence(sem, scope)] for sem, scope in product(("acq_rel", "sc"), ("cta", "gpu")))]
    strengths = [("weak", ""), ("volatile", ""), *product(("relaxed", "ordered"), SCOPES)]

    def w(location: str, strength: tuple[str, str], value: int = 1) -> Event:
        return store(location, strength[0].replace("ordered", "release"), strength[1], value)

    def r(location: str, strength: tuple[str, str]) -> Event:
        return load(location, strength[0].replace("ordered", "acquire"), strength[1])

    for a, b, f, pair in product(strengths, strengths, fences, PAIRS.values()):
        name = f"{'.'.join(a)} {'.'.join(b)} " + " ".join(f"fence.{e.sem}.{e.scope}" for e in f)
        yield program(f"SB {name}", pair, [w("x", a), *f, r("y", a)], [w("y", b), *f, r("x", b)])
        yield program(f"LB {name}", pair, [r("x", a), *f, w("y", a)], [r("y", b), *f, w("x", b)])
        yield program(f"2+2W {name}", pair, [w("x", a), *f, w("y", a, 2)], [w("y", b), *f, w("x", b, 2)])
        yield program(f"R {name}", pair, [w("x", a), *f, w("y", a)], [w("y", b, 2), *f, r("x", b)])
        yield program(f"S {name}", pair, [w("x", a, 2), *f, w("y", a)], [r("y", b), *f, w("x", b)])
        yield program(f"MP {name}", pair, [w("x", a), *f, w("y", a)], [r("y", b), *f, r("x", b)])
        if not f:
            yield program(f"CoRR {name}", pair, [w("x", a)], [r("x", b), r("x", b)])
            yield program(f"CoRR mixed {name}", pair, [r("x", a), r("x", b)], [w("x", ("relaxed", "gpu"))])


def atomics() -> Iterator[Program]:
    for (sem, scope), other, pair in product(product(("relaxed", "acq_rel"), SCOPES), SCOPES, PAIRS.values()):
        mine, name = atomic("x", sem, scope), f"atom.{sem}.{scope}"
        yield program(f"{name} atom.{other}", pair, [mine], [atomic("x", "relaxed", other)])
        yield program(f"{name} red.{other}", pair, [mine], [reduction("x", "relaxed", other)])
        yield program(f"{name} st.{other}", pair, [mine], [store("x", "relaxed", other)])
        yield program(f"{name} ld.{other}", pair, [mine], [load("x", "relaxed", other)])
        yield program(f"{name} st weak", pair, [mine], [store("x")])
        yield program(f"{name} ld weak", pair, [mine], [load("x")])
        yield program(f"{name} ld weak first", pair, [load("x")], [mine])
        taken = atomic("y", sem, other, 0).waiting()
        yield program(f"ticket {name} {other}", pair, [store("x"), atomic("y", sem, scope)], [taken, load("x")])


def three_threads() -> Iterator[Program]:
    """ISA2, WRC, release sequences, and a wait by another thread of the CTA."""
    scopes = ("cta", "cluster", "gpu")
    for places, first, second, strong in product(TRIPLES, scopes, scopes, range(4)):
        release, acquire = ("release" if strong & 1 else "relaxed"), ("acquire" if strong & 2 else "relaxed")
        yield program(
            f"ISA2 {release}.{first} {acquire}.{second}",
            places,
            [store("x"), store("y", release, first)],
            [load("y", acquire, first).waiting(), store("z", release, second)],
            [load("z", acquire, second).waiting(), load("x")],
        )
        yield program(
            f"WRC {release}.{first} {acquire}.{second}",
            places,
            [store("x", "relaxed", first)],
            [load("x", "relaxed", first).waiting(), store("y", release, second)],
            [
                load("y", acquire, second).waiting(),
                load("x", "relaxed" if strong else "weak", second if strong else ""),
            ],
        )
        for middle in ("atom", "red", "store", "weak store"):
            kind = {"atom": atomic, "red": reduction}.get(middle)
            link = kind("y", "relaxed", first) if kind else store("y", "relaxed", first, 2)
            link = store("y", value=2) if middle == "weak store" else link
            yield program(
                f"release sequence through {middle}.{first} {release} {acquire}.{second}",
                places,
                [store("x"), store("y", release, "gpu")],
                [load("y", "relaxed", "gpu").waiting(), link],
                [load("y", acquire, second).waiting(2), load("x")],
            )
    for places, how in product(TRIPLES, ("acquire", "fence")):
        wait = [load("y", "acquire", "gpu").waiting()]
        if how == "fence":
            wait = [load("y", "relaxed", "gpu").waiting(), fence("acq_rel", "gpu")]
        name = f"waited for by another thread, {how}"
        yield program(name, places, [store("x"), store("y", "release", "gpu")], wait, [load("x")])
        together = [Event("bar.sync")]
        yield program(
            f"{name}, then bar.sync",
            places,
            [store("x"), store("y", "release", "gpu"), *together],
            [*wait, *together],
            [*together, load("x")],
        )


def four_threads() -> Iterator[Program]:
    strengths = [("weak", ""), ("volatile", ""), *product(("relaxed", "ordered"), SCOPES)]
    for places, (sem, scope), f in product(QUADS, strengths, ([], [fence("sc", "gpu")], [fence("acq_rel", "gpu")])):
        w = [store(name, sem.replace("ordered", "release"), scope) for name in "xy"]
        x, y = (load(name, sem.replace("ordered", "acquire"), scope) for name in "xy")
        name = f"IRIW {sem}.{scope} {' '.join(e.sem for e in f)}"
        yield program(name, places, [w[0]], [w[1]], [x, *f, y], [y, *f, x])


def fence_sc() -> Iterator[Program]:
    """fence.sc before and after atomics, also through a barrier of the CTA."""
    for scope, other, places in product(("cta", "cluster", "gpu"), ("cta", "cluster", "gpu"), PAIRS.values()):
        first, second = fence("sc", scope), fence("sc", other)
        yield program(
            f"SC {scope} {other}",
            places,
            [store("x"), first, atomic("y", "relaxed", "gpu")],
            [load("y", "relaxed", "gpu").waiting(), second, load("x")],
        )
    for scope, places in product(("cta", "cluster", "gpu"), TRIPLES):
        yield program(
            f"SC {scope}, atomic by another thread",
            places,
            [store("x"), fence("sc", scope), Event("bar.sync"), Event("bar.sync")],
            [Event("bar.sync"), atomic("y", "relaxed", "gpu"), Event("bar.sync")],
            [
                Event("bar.sync"),
                Event("bar.sync"),
                load("y", "relaxed", "gpu").waiting(),
                fence("sc", scope),
                load("x"),
            ],
        )


def barriers() -> Iterator[Program]:
    bar, warp = Event("bar.sync"), Event("bar.warp.sync")
    for (place, pair), space in product(PAIRS.items(), ("global", "shared")):
        if place == "gpu" and space == "shared":
            continue
        for name, step in (("bar.sync", bar), ("bar.warp.sync", warp)):
            yield program(name, pair, [store("x"), step], [step, load("x")], space=space)
            yield program(f"{name} before", pair, [step, store("x")], [step, load("x")], space=space)
            yield program(f"{name} WAR", pair, [load("x"), step], [step, store("x")], space=space)
            yield program(
                f"{name} twice", pair, [store("x"), step, step, store("x")], [step, load("x"), step], space=space
            )
            yield program(f"{name} once", pair, [store("x"), step, store("x")], [step, load("x")], space=space)
        for relaxed, f in product((False, True), ("none", "acq_rel", "release", "acquire", "sc")):
            for scope in ("cta", "cluster", "gpu") if f != "none" else ("",):
                if f in ("release", "acquire") and scope == "cta":
                    continue
                arrive = Event("cluster.arrive", sem="relaxed" if relaxed else "weak")
                wait = Event("cluster.wait")
                head = [fence(f, scope)] if f != "none" else []
                name = f"cluster{'.relaxed' * relaxed} fence.{f}.{scope}"
                yield program(name, pair, [store("x"), *head, arrive, wait], [arrive, wait, load("x")], space=space)
                yield program(
                    f"{name} late", pair, [arrive, store("x"), *head, wait], [arrive, wait, load("x")], space=space
                )
                yield program(
                    f"{name} early", pair, [store("x"), *head, arrive, wait], [arrive, load("x"), wait], space=space
                )
    arrive = Event("bar.arrive")
    pair = PAIRS["cta"]
    for space in ("global", "shared"):
        yield program("bar.arrive", pair, [store("x"), arrive], [bar, load("x")], space=space)
        yield program("bar.arrive before", pair, [arrive, store("x")], [bar, load("x")], space=space)
        yield program("bar.arrive, read after", pair, [arrive, load("x")], [store("x"), bar], space=space)
        yield program("bar.arrive WAR", pair, [load("x"), arrive], [bar, store("x")], space=space)


def mbarriers() -> Iterator[Program]:
    """Arrivals and waits, relaxed or not, of every scope, with fences; by one or two threads."""
    arrivals = [("weak", ""), *product(("release", "relaxed"), ("cta", "cluster"))]
    tests = [("weak", ""), *product(("acquire", "relaxed"), ("cta", "cluster"))]
    fences: list[list[Event]] = [[], *([fence("acq_rel", scope)] for scope in ("cta", "cluster", "gpu"))]
    for (a, scope), (t, other), before, after, place in product(arrivals, tests, fences, fences, IN_CLUSTER):
        arrive = Event("arrive", "m", a if scope else "", scope)
        wait = Event("wait", "m", t if other else "", other)
        for space in ("global", "shared"):
            if space == "shared" and before and after:
                continue
            name = f"mbarrier {a}.{scope} {t}.{other} {[e.scope for e in before]} {[e.scope for e in after]}"
            first = [store("x"), *before, arrive]
            yield program(name, PAIRS[place], first, [wait, *after, load("x")], space=space)
    for (a, scope), (t, other), places in product(arrivals, tests, TRIPLES[:2] + TRIPLES[3:4]):
        arrive = Event("arrive", "m", a if scope else "", scope)
        wait = Event("wait", "m", t if other else "", other)
        two = [store("x"), arrive], [store("y"), arrive], [wait, load("x"), load("y")]
        yield program(f"mbarrier of two {a}.{scope} {t}.{other}", places, *two)
        yield program(f"mbarrier early {a}.{scope} {t}.{other}", places, [arrive, store("x")], two[1], two[2])
        back = [Event("arrive", "n", "release", "cluster")], [Event("wait", "n", "acquire", "cluster")]
        ring = [store("x"), arrive, *back[1], store("x")], [wait, load("x"), *back[0]]
        yield program(f"mbarriers there and back {a}.{scope} {t}.{other}", places[:2], *ring)
        yield program(
            f"one mbarrier only {a}.{scope} {t}.{other}",
            places[:2],
            [store("x"), arrive, store("x")],
            [wait, load("x")],
        )


def copies() -> Iterator[Program]:
    """cp.async, bulk copies to and from shared memory, and the fences of the async proxy."""
    bar, done, p = Event("bar.sync"), Event("cp.async.wait"), Event("proxy fence")
    cp, bulk, out = Event("cp.async", "x"), Event("bulk load", "x"), Event("bulk store", "x")
    pair = PAIRS["cta"]
    for waits_, others in product(([], [done]), ([], [bar])):
        name = f"cp.async {len(waits_)} {len(others)}"
        yield program(name, pair, [cp, *waits_, *others, load("x"), done], [*others, load("x")])
        yield program(f"{name} late wait", pair, [cp, *others, done], [*others, load("x")])
        yield program(f"{name} over a write", pair, [store("x"), *others, *others], [*others, cp, done, *others])
        yield program(f"{name} over a read", pair, [load("x"), *others, *others], [*others, cp, done, *others])
    tests = [
        Event("wait", "x bar", sem, scope) for sem, scope in (("", ""), ("acquire", "cluster"), ("relaxed", "cta"))
    ]
    for wait, first, second, both in product(tests, (False, True), (False, True), ([], [bar])):
        name = f"bulk load {wait.sem}.{wait.scope} {first} {second} {len(both)}"
        mine = [bulk, *[wait] * first, *both, load("x"), tests[0]]
        yield program(name, pair, mine, [*[wait] * second, *both, load("x")])
        after = fence("acq_rel", "cta")
        yield program(
            f"{name} fence", pair, [bulk, wait, after, *both, load("x")], [*both, *[wait, after] * second, load("x")]
        )
    for mine, theirs, sync, back in product(([], [p]), ([], [p]), ([], [bar]), (False, True)):
        name = f"{len(mine)} {len(theirs)} {len(sync)} {back}"
        wait = tests[0]
        yield program(f"bulk load over a write {name}", pair, [store("x"), *mine, *sync], [*sync, *theirs, bulk, wait])
        yield program(f"bulk load over a read {name}", pair, [load("x"), *mine, *sync], [*sync, *theirs, bulk, wait])
        yield program(f"own bulk load over a write {name}", pair[:1], [store("x"), *mine, *theirs, bulk, wait])
        store_out = [*theirs, out, Event("bulk.wait.read" if back else "bulk.wait")]
        yield program(f"bulk store {name}", pair, [store("x"), *mine, *sync], [*sync, *store_out])
        yield program(
            f"bulk store, fence before {name}", pair, [*mine, store("x"), *sync], [*theirs, *sync, *store_out[-2:]]
        )
        yield program(f"own bulk store {name}", pair[:1], [store("x"), *mine, *store_out])
        last = [Event("bulk.wait.read"), Event("bulk.wait")][back]
        reuse = [store("x"), p, out, last, *mine, *sync, store("x"), Event("bulk.wait")]
        yield program(f"bulk store, source again {name}", pair[:1], [e for e in reuse if e != bar])
        read_back = [store("x"), p, out, last, *sync, load("x copy"), Event("bulk.wait")]
        yield program(f"bulk store, result {name}", pair, read_back, [*sync, load("x copy")])
        early = [store("x"), p, out, *sync, load("x copy"), Event("bulk.wait")]
        yield program(f"bulk store, result early {name}", pair, early, [*sync])
    flags = [("release.gpu", [store("y", "release", "gpu")], [load("y", "acquire", "gpu").waiting()])]
    flags += [("relaxed", [store("y", "relaxed", "gpu")], [load("y", "relaxed", "gpu").waiting()])]
    flags += [("cta", [store("y", "release", "cta")], [load("y", "acquire", "cta").waiting()])]
    fetch = [Event("bulk fetch", "x"), Event("wait", "x bar", "")]
    for (name, signal, wait), mine, theirs, places in product(flags, ([], [p]), ([], [p]), PAIRS.values()):
        name = f"{name} {len(mine)} {len(theirs)}"
        yield program(f"bulk fetch {name}", places, [store("x"), *mine, *signal], [*wait, *theirs, *fetch])
        yield program(f"bulk fetch fenced early {name}", places, [*mine, store("x"), *signal], [*theirs, *wait, *fetch])
        yield program(f"bulk fetch then write {name}", places, [*fetch, *mine, *signal], [*wait, *theirs, store("x")])


FAMILIES = {
    "message passing": message_passing,
    "message passing both ways": message_passing_both_ways,
    "two threads": two_threads,
    "atomics": atomics,
    "three threads": three_threads,
    "four threads": four_threads,
    "fence.sc": fence_sc,
    "barriers": barriers,
    "mbarriers": mbarriers,
    "copies": copies,
}
