"""Which forms a mnemonic is, and what may follow one that is not finished.

ptxas knows an instruction by its fixed opcode words, which come first and in order, and a bag of modifiers in any
order;
only types and state spaces keep their order among themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pyptx._value import value
from pyptx.isa import _types
from pyptx.isa._schema import Form, Op, slot_name

__all__ = ["FIXED", "Match", "following", "forms_of", "missing", "partly"]

FIXED = frozenset("""
    applypriority.async.bulk applypriority.async.bulk.tensor bar.arrive bar.cta.arrive bar.cta.red bar.cta.sync
    bar.red bar.sync bar.warp barrier.arrive barrier.cluster.arrive barrier.cluster.wait barrier.cta.arrive
    barrier.cta.red barrier.cta.sync barrier.red barrier.sync brx.idx clmad.hi clmad.lo
    clusterlaunchcontrol.query_cancel clusterlaunchcontrol.try_cancel.async cp.async cp.async.bulk
    cp.async.bulk.prefetch cp.async.bulk.prefetch.tensor cp.async.bulk.tensor cp.async.bulk.wait_group
    cp.async.mbarrier.arrive cp.reduce.async.bulk cp.reduce.async.bulk.tensor createpolicy.cvt
    createpolicy.fractional createpolicy.range cvt.pack cvta.to div.full dp2a.hi dp2a.lo fabric.submit
    fabric.try_get.async fabric.try_pullred.async fabric.try_put.async fabric.try_red.async fabric.wait fence.proxy
    mad.hi mad.lo mad.wide mad24.hi mad24.lo madc.hi madc.lo mbarrier.arrive mbarrier.arrive.expect_tx
    mbarrier.arrive_drop mbarrier.arrive_drop.expect_tx mbarrier.check_layout mbarrier.complete_tx
    mbarrier.expect_tx mbarrier.init mbarrier.inval mbarrier.pending_count mbarrier.test_wait
    mbarrier.test_wait.parity mbarrier.try_wait mbarrier.try_wait.parity membar.proxy mul.hi mul.lo mul.wide
    mul24.hi mul24.lo multimem.cp.async.bulk multimem.cp.reduce.async.bulk multimem.ld_reduce multimem.red
    multimem.red.async multimem.st multimem.st.async red.async setmaxnreg.dec setmaxnreg.inc shf.l shf.r st.async
    st.bulk suld.b sured.b sured.p sust.b sust.p tcgen05.alloc tcgen05.commit tcgen05.cp tcgen05.dealloc
    tcgen05.fence::after_thread_sync tcgen05.fence::before_thread_sync tcgen05.ld tcgen05.ld.red
    tcgen05.ld.spcompress tcgen05.mma tcgen05.mma.ws tcgen05.relinquish_alloc_permit tcgen05.shift tcgen05.st
    tcgen05.wait::ld tcgen05.wait::st tensormap.cp_fenceproxy tensormap.replace tex.base tex.grad tex.level
    txq.level wgmma.commit_group wgmma.fence wgmma.mma_async wgmma.wait_group wmma.load.a wmma.load.b wmma.load.c
    wmma.mma wmma.store.d
    """.split())


@value
class Match:
    """A form and what its slots chose: a dict slot -> choice without dot, None where an optional one is absent."""

    form: Form
    choices: dict[str, str | None]


class _Place:
    """Where a word of a mnemonic can go: the choices by spelling, and what it is in the form."""

    __slots__ = ("choices", "optional", "pair", "slot")

    def __init__(self, choices: dict[str, str], slot: str | None, optional: bool, pair: int):
        self.choices, self.slot, self.optional, self.pair = choices, slot, optional, pair


def _places(form: Form) -> tuple[_Place, ...]:
    found = []
    for word in form.words:
        if word.slot is not None:
            slot = form.slots[word.slot]
            spelled = {f".{word.before}{choice}{word.after}": choice for choice in slot.choices}
            found.append(_Place(spelled, word.slot, word.optional, word.pair))
        else:
            name = slot_name(word.text) if word.optional else None
            found.append(_Place({word.text: word.text[1:]}, name, word.optional, word.pair))
    return tuple(found)


class _Index:
    """The places of all forms of one op, and which forms know a word."""

    def __init__(self, op: Op):
        self.forms = op.forms
        self.places = tuple(map(_places, op.forms))
        self.knows: dict[str, set[int]] = {}
        for i, places in enumerate(self.places):
            for place in places:
                for word in place.choices:
                    self.knows.setdefault(word, set()).add(i)

    def candidates(self, words: tuple[str, ...]) -> list[int]:
        known = [self.knows.get(word, frozenset()) for word in words]
        return sorted(known[0].intersection(*known[1:])) if known else list(range(len(self.forms)))


_indexes: dict[str, _Index] = {}


def _index(op: Op) -> _Index:
    index = _indexes.get(op.opcode)
    if index is None or index.forms is not op.forms:
        index = _indexes[op.opcode] = _Index(op)
    return index


def _order(word: str) -> str:
    """Words of one class keep their order."""
    if word in _types.TYPE_WORDS:
        return "type"
    return "space" if word in _types.ORDERED_SPACES else "layout" if word in (".row", ".col") else ""


def _assignments(places: tuple[_Place, ...], words: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """Ways to put the words into places, each place once, types and spaces in order: the place of each word."""
    count = len(places)

    def extend(i: int, used: tuple, last: dict[str, int], chosen: dict[str, str]) -> Iterator[tuple[int, ...]]:
        if i == len(words):
            yield used
            return
        word = words[i]
        order = _order(word)
        for at in range(last.get(order, -1) + 1 if order else 0, count):
            place = places[at]
            choice = place.choices.get(word)
            if choice is None or at in used:
                continue
            if place.slot is not None and chosen.get(place.slot, choice) != choice:
                continue
            yield from extend(i + 1, (*used, at), {**last, order: at} if order else last,
                              {**chosen, place.slot: choice} if place.slot is not None else chosen)

    return extend(0, (), {}, {})


def _complete(places: tuple[_Place, ...], used: tuple[int, ...]) -> bool:
    taken = set(used)
    for at, place in enumerate(places):
        if at not in taken and not place.optional:
            return False
    pairs: dict[int, set[bool]] = {}
    for at, place in enumerate(places):
        if place.optional:
            pairs.setdefault(place.pair, set()).add(at in taken)
    return all(len(states) == 1 for states in pairs.values())


def _fixed_first(opcode: str, words: tuple[str, ...], used: tuple[int, ...]) -> bool:
    """Whether the fixed opcode words stand first and in order."""
    path, fixed = opcode, 0
    ordered = [word for _, word in sorted(zip(used, words, strict=True))]
    for n, word in enumerate(ordered, 1):
        path += word
        if path in FIXED:
            fixed = n
    return list(words[:fixed]) == ordered[:fixed]


@lru_cache(maxsize=65536)
def forms_of(op: Op, words: tuple[str, ...]) -> tuple[Match, ...]:
    """The forms of `op` that a mnemonic with these modifiers is."""
    words = _once(words)
    index = _index(op)
    found = []
    for i in index.candidates(words):
        places, form = index.places[i], index.forms[i]
        for used in _assignments(places, words):
            if _complete(places, used) and _fixed_first(op.opcode, words, used):
                choices: dict[str, str | None] = dict.fromkeys(form.slots)
                for at, word in zip(used, words, strict=True):
                    if places[at].slot is not None:
                        choices[places[at].slot] = places[at].choices[word]
                if not form.some or any(choices[name] is not None for name in form.some):
                    found.append(Match(form, choices))
                break
    return tuple(found)


_REPEATABLE = frozenset({".sat", ".satfinite", ".sync", ".cc", ".approx", ".relu", ".NaN", ".shiftamt", ".uni"})


def _once(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without the repetitions ptxas overlooks."""
    if len(set(words)) == len(words):
        return words
    return tuple(word for i, word in enumerate(words) if word not in _REPEATABLE or word not in words[:i])


def _partial(op: Op, words: tuple[str, ...]) -> Iterator[tuple[Form, tuple[_Place, ...], tuple[int, ...]]]:
    index = _index(op)
    for i in index.candidates(words):
        for used in _assignments(index.places[i], words):
            if _fixed_first(op.opcode, words, used):
                yield index.forms[i], index.places[i], used
                break


def partly(op: Op, words: tuple[str, ...]) -> Iterator[Form]:
    """The forms that have room for all these words."""
    return (form for form, _, _ in _partial(op, words))


def viable(op: Op, words: tuple[str, ...]) -> bool:
    """Whether some form has room for all these words."""
    return any(True for _ in _partial(op, words))


@lru_cache(maxsize=4096)
def following(op: Op, words: tuple[str, ...]) -> tuple[str, ...]:
    """Words, with dots, that may stand next in the order of the manual, after a mnemonic that starts with `words`."""
    found: dict[str, None] = {}
    for _, places, used in _partial(op, words):
        last = max(used, default=-1)
        for at, place in enumerate(places):
            if at in used or (at < last and place.optional):
                continue
            found.update(dict.fromkeys(_open(place, places, used, words)))
            if not place.optional:
                break
    return tuple(word for word in found if word not in words or _order(word) == "type")


def missing(op: Op, words: tuple[str, ...]) -> tuple[str, ...]:
    """Words of which one must still come, for a mnemonic that is no form yet."""
    found: dict[str, None] = {}
    for _, places, used in _partial(op, words):
        for at, place in enumerate(places):
            if at not in used and not place.optional:
                found.update(dict.fromkeys(_open(place, places, used, words)))
                break
    return tuple(found)


def _open(place: _Place, places: tuple[_Place, ...], used: tuple[int, ...], words: tuple[str, ...]) -> list[str]:
    """The words a place still takes: one of a slot that stands twice takes what the other has."""
    twins = [places[at].choices[word] for at, word in zip(used, words, strict=True)
             if place.slot is not None and places[at].slot == place.slot]
    return [word for word, choice in place.choices.items() if not twins or choice == twins[0]]
