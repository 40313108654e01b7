"""The queue of work: what runs, and in which order, against the order that the calls demand."""

from __future__ import annotations

import random

import pytest

from pyptx.cuda_device.server.work_queue import Work, WorkQueue

CALL = (0, ())


def queue(late: bool = True) -> WorkQueue:
    return WorkQueue(late, lambda work, start: work.carry_out(start))


def noting(ran: list[str], name: str, seconds: float = 1.0):
    def carry_out(start: float) -> float:
        ran.append(name)
        return seconds

    return carry_out


def test_late_work_runs_when_it_is_waited_for_after_what_it_follows():
    ran, work = list[str](), queue()
    first = work.add("a", noting(ran, "a1"), CALL)
    second = work.add("b", noting(ran, "b1"), CALL, after=[first])
    work.add("a", noting(ran, "a2"), CALL)
    work.add("c", noting(ran, "c1"), CALL)
    assert not ran
    work.complete(second)
    assert ran == ["a1", "b1"] and second.end == 2.0
    work.complete_all()
    assert ran == ["a1", "b1", "c1", "a2"]


def test_the_legacy_stream_waits_for_blocking_streams_and_they_for_it():
    ran, work = list[str](), queue()
    work.add("a", noting(ran, "a"), CALL, blocking=True)
    work.add("free", noting(ran, "free"), CALL)
    legacy = work.add(1, noting(ran, "legacy"), CALL, legacy=True)
    last = work.add("b", noting(ran, "b"), CALL, blocking=True)
    work.complete(last)
    assert ran == ["a", "legacy", "b"] and legacy.is_done


def test_a_destroyed_stream_is_still_waited_for():
    ran, work = list[str](), queue()
    work.add("a", noting(ran, "a"), CALL, blocking=True)
    work.forget("a")
    work.complete(work.add(1, noting(ran, "legacy"), CALL, legacy=True))
    assert ran == ["a", "legacy"]


def test_a_query_finds_work_pending_once():
    work = queue()
    added = work.add("a", lambda start: 0.0, CALL)
    assert [work.query(added), work.query(added)] == [False, True]


def test_a_full_stream_runs_its_first_work():
    ran, work = list[str](), queue()
    for k in range(1030):
        work.add("a", noting(ran, str(k)), CALL)
    assert ran == [str(k) for k in range(6)]


@pytest.mark.parametrize("late", [False, True])
def test_random_work_runs_once_and_in_order(late: bool):
    choose = random.Random(7)
    for _ in range(50):
        ran, work, all_ = list[int](), queue(late), list[Work]()
        edges: dict[int, list[int]] = {}
        for k in range(30):
            after = [one for one in all_ if choose.random() < 0.1]
            edges[k] = [all_.index(one) for one in after]

            def carry_out(start: float, k: int = k, ran: list[int] = ran) -> float:
                ran.append(k)
                return 1.0

            all_.append(work.add(choose.randrange(4), carry_out, CALL, after=after))
            if choose.random() < 0.1:
                work.complete(choose.choice(all_))
        work.complete_all()
        assert sorted(ran) == list(range(30)) and not work.pending
        assert all(ran.index(before) < ran.index(k) for k, befores in edges.items() for before in befores)
