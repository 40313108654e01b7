"""Model the rungs of ladders on all cores."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from typing import NamedTuple

from rungs import Ladder

from pyptx.sim.core.parallel import cores

IN_PROCESS = 16  # rungs up to which starting processes takes longer than they save


class Modeled(NamedTuple):
    """The reported part of a `Prediction`, small enough to be sent between processes."""

    seconds: float
    interval: tuple[float, float]
    bound: str
    confidence: str


def modeled(ladders: Sequence[Ladder]) -> Iterator[tuple[Ladder, list[Modeled]]]:
    """Yield each ladder with the modeled times of its rungs, as soon as the last of them is known.

    The ladders are those of `foreign.ladders` or a part of them: each process creates its own.
    """
    keys = [(ladder.name, index) for ladder in ladders for index in range(len(ladder.rungs))]
    found: dict[tuple[str, int], Modeled] = {}
    waiting = {ladder.name: len(ladder.rungs) for ladder in ladders}
    named = {ladder.name: ladder for ladder in ladders}
    for number, (key, result) in enumerate(_results(ladders, keys), 1):
        name, found[key] = key[0], result
        waiting[name] -= 1
        show_progress(f"{number} of {len(keys)} rungs: {name}")
        if not waiting[name]:
            show_progress("")
            yield named[name], [found[name, index] for index in range(len(named[name].rungs))]


def show_progress(text: str) -> None:
    """Overwrite the last line of a terminal; nothing is written to files and pipes."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)


def _results(ladders: Sequence[Ladder], keys: Sequence[tuple[str, int]]) -> Iterator[tuple[tuple[str, int], Modeled]]:
    if len(keys) <= IN_PROCESS or cores() == 1:
        own = {ladder.name: ladder for ladder in ladders}
        for name, index in keys:
            yield (name, index), _model(own[name], index)
        return
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        tasks = {pool.submit(_model_named, name, index): (name, index) for name, index in keys}
        for task in as_completed(tasks):
            yield tasks[task], task.result()


def _model(ladder: Ladder, index: int) -> Modeled:
    found = ladder.rungs[index].predicted()
    return Modeled(found.seconds, found.interval, found.bound, found.confidence)


def _model_named(name: str, index: int) -> Modeled:
    return _model(_ladders()[name], index)


@cache
def _ladders() -> dict[str, Ladder]:
    from foreign import ladders  # in a process of the pool

    return {ladder.name: ladder for ladder in ladders()}
