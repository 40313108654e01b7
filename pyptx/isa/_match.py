"""Matching of mnemonics to forms, and completion of partial mnemonics.

ptxas identifies an instruction by its fixed opcode words, which come first and in order, and a set of modifiers in any
order; only types and state spaces must keep their relative order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pyptx._frozen import frozen
from pyptx.isa import _types
from pyptx.isa._schema import Form, Op, slot_name

__all__ = [
    "FIXED",
    "MAX_MODIFIERS",
    "Match",
    "Position",
    "following",
    "forms_of",
    "missing",
    "partial_forms",
    "positions_of",
    "viable",
]

FIXED = frozenset(
    """
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
    """.split()
)


MAX_MODIFIERS = 64  # no mnemonic has as many; matching takes more than linear time


@frozen
class Match:
    """A form with its choices: slot -> choice without dot, None for an absent optional slot."""

    form: Form
    choices: dict[str, str | None]


class Position:
    """Position of a modifier in a form: spelling -> choice, and the slot it belongs to."""

    __slots__ = ("choices", "optional", "pair", "slot")

    def __init__(self, choices: dict[str, str], slot: str | None, optional: bool, pair: int):
        self.choices, self.slot, self.optional, self.pair = choices, slot, optional, pair


def positions_of(form: Form) -> tuple[Position, ...]:
    found = []
    for word in form.words:
        if word.slot is not None:
            slot = form.slots[word.slot]
            spelled = {f".{word.before}{choice}{word.after}": choice for choice in slot.choices}
            found.append(Position(spelled, word.slot, word.optional, word.pair))
        else:
            name = slot_name(word.text) if word.optional else None
            found.append(Position({word.text: word.text[1:]}, name, word.optional, word.pair))
    return tuple(found)


class _Index:
    """The forms of an op, each read when an instruction may match it."""

    def __init__(self, op: Op):
        self.forms = op.forms
        required = [form.required_words() for form in op.forms]
        self._required = [(len(words), {word for word in words if word is not None}) for words in required]
        self._positions: list[tuple[Position, ...] | None] = [None] * len(op.forms)

    def positions(self, i: int) -> tuple[Position, ...]:
        """Return the positions of a form."""
        found = self._positions[i]
        if found is None:
            found = self._positions[i] = positions_of(self.forms[i])
        return found

    def complete(self, words: tuple[str, ...]) -> list[int]:
        """Return the forms that may match a mnemonic with these modifiers."""
        given, length = set(words), len(words)
        return [
            i
            for i, (count, literals) in enumerate(self._required)
            if count <= length and literals <= given and self._has(i, words)
        ]

    def partial(self, words: tuple[str, ...]) -> Iterator[int]:
        """Return the forms that may match a mnemonic with these modifiers and more."""
        return (i for i in range(len(self.forms)) if self._has(i, words))

    def _has(self, i: int, words: tuple[str, ...]) -> bool:
        positions = self.positions(i)
        return all(any(word in position.choices for position in positions) for word in words)


_indexes: dict[Op, _Index] = {}


def _index(op: Op) -> _Index:
    index = _indexes.get(op)
    if index is None:
        index = _indexes[op] = _Index(op)
    return index


def _order(word: str) -> str:
    """Return the class of a modifier; modifiers of one class keep their order."""
    if word in _types.TYPE_WORDS:
        return "type"
    return "space" if word in _types.ORDERED_SPACES else "layout" if word in (".row", ".col") else ""


def _assignments(positions: tuple[Position, ...], words: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to assign modifiers to positions: the index of the position of each modifier.

    Each position is used once, and modifiers of one class keep their order.
    """
    count = len(positions)

    def extend(i: int, used: tuple, last: dict[str, int], chosen: dict[str, str]) -> Iterator[tuple[int, ...]]:
        if i == len(words):
            yield used
            return
        word = words[i]
        order = _order(word)
        for at in range(last.get(order, -1) + 1 if order else 0, count):
            position = positions[at]
            choice = position.choices.get(word)
            if choice is None or at in used:
                continue
            if position.slot is not None and chosen.get(position.slot, choice) != choice:
                continue
            yield from extend(
                i + 1,
                (*used, at),
                {**last, order: at} if order else last,
                {**chosen, position.slot: choice} if position.slot is not None else chosen,
            )

    return extend(0, (), {}, {})


def _complete(positions: tuple[Position, ...], used: tuple[int, ...]) -> bool:
    taken = set(used)
    for at, position in enumerate(positions):
        if at not in taken and not position.optional:
            return False
    pairs: dict[int, set[bool]] = {}
    for at, position in enumerate(positions):
        if position.optional:
            pairs.setdefault(position.pair, set()).add(at in taken)
    return all(len(states) == 1 for states in pairs.values())


def _fixed_first(opcode: str, words: tuple[str, ...], used: tuple[int, ...]) -> bool:
    """Return True if the fixed opcode words come first and in order."""
    path, fixed = opcode, 0
    ordered = [word for _, word in sorted(zip(used, words, strict=True))]
    for n, word in enumerate(ordered, 1):
        path += word
        if path in FIXED:
            fixed = n
    return list(words[:fixed]) == ordered[:fixed]


@lru_cache(maxsize=65536)
def forms_of(op: Op, words: tuple[str, ...]) -> tuple[Match, ...]:
    """Return the forms of `op` that match a mnemonic with these modifiers."""
    if len(words) > MAX_MODIFIERS:
        return ()
    words = _without_repetitions(words)
    index = _index(op)
    found = []
    for i in index.complete(words):
        positions, form = index.positions(i), index.forms[i]
        for used in _assignments(positions, words):
            if _complete(positions, used) and _fixed_first(op.opcode, words, used):
                choices: dict[str, str | None] = dict.fromkeys(form.slots)
                for at, word in zip(used, words, strict=True):
                    slot = positions[at].slot
                    if slot is not None:
                        choices[slot] = positions[at].choices[word]
                if not form.some or any(choices[name] is not None for name in form.some):
                    found.append(Match(form, choices))
                break
    return tuple(found)


_REPEATABLE = frozenset({".sat", ".satfinite", ".sync", ".cc", ".approx", ".relu", ".NaN", ".shiftamt", ".uni"})


def _without_repetitions(words: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the repetitions that ptxas ignores."""
    if len(set(words)) == len(words):
        return words
    return tuple(word for i, word in enumerate(words) if word not in _REPEATABLE or word not in words[:i])


def _partial(op: Op, words: tuple[str, ...]) -> Iterator[tuple[Form, tuple[Position, ...], tuple[int, ...]]]:
    index = _index(op)
    for i in index.partial(words):
        positions = index.positions(i)
        for used in _assignments(positions, words):
            if _fixed_first(op.opcode, words, used):
                yield index.forms[i], positions, used
                break


def partial_forms(op: Op, words: tuple[str, ...]) -> Iterator[Form]:
    """Return the forms that accept all these modifiers, possibly with further ones."""
    return (form for form, _, _ in _partial(op, words))


def viable(op: Op, words: tuple[str, ...]) -> bool:
    """Return True if some form accepts all these modifiers, possibly with further ones."""
    return any(True for _ in _partial(op, words))


@lru_cache(maxsize=4096)
def following(op: Op, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modifiers that may follow `words`, with dots, in the order of the manual."""
    found: dict[str, None] = {}
    for _, positions, used in _partial(op, words):
        last = max(used, default=-1)
        for at, position in enumerate(positions):
            if at in used or (at < last and position.optional):
                continue
            found.update(dict.fromkeys(_remaining_choices(position, positions, used, words)))
            if not position.optional:
                break
    return tuple(word for word in found if word not in words or _order(word) == "type")


def missing(op: Op, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modifiers of which an incomplete mnemonic requires one."""
    found: dict[str, None] = {}
    for _, positions, used in _partial(op, words):
        for at, position in enumerate(positions):
            if at not in used and not position.optional:
                found.update(dict.fromkeys(_remaining_choices(position, positions, used, words)))
                break
    return tuple(found)


def _remaining_choices(
    position: Position, positions: tuple[Position, ...], used: tuple[int, ...], words: tuple[str, ...]
) -> list[str]:
    """Return the modifiers that a position still accepts; the second occurrence of a slot repeats the first."""
    twins = [
        positions[at].choices[word]
        for at, word in zip(used, words, strict=True)
        if position.slot is not None and positions[at].slot == position.slot
    ]
    return [word for word, choice in position.choices.items() if not twins or choice == twins[0]]
