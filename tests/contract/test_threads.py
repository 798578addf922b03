"""A store is thread-safe: many threads write and read it at once, and no reader keeps another out."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from limpet.model.memory import Filter
from tests.contract.conftest import Scribe


def test_writes_of_many_threads_are_all_there(store, clock):
    def write(number):
        scribe = Scribe(store, clock)
        scribe.made = number * 1_000_000
        for i in range(20):
            id = scribe.remember(f"text {i} of {number}")
            assert store.memories.get(id).content == f"text {i} of {number}"
            assert store.listings.count(Filter()) > i
            assert store.search.lexical(f"text {i}", Filter(), limit=50).hits or i < 2
        return number

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(write, range(1, 7))) == [1, 2, 3, 4, 5, 6]
    assert store.listings.count(Filter()) == 120
    assert [event.seq for event in store.ledger.events()] == list(range(1, 121))
    assert store.maintenance.verify() == []


def test_one_worker_gets_a_job_and_no_other(store):
    store.jobs.enqueue("test", range(1, 101), 0)

    def take(worker):
        taken = []
        while jobs := store.jobs.lease("test", limit=3, at=1, until=2):
            taken += [job.subject for job in jobs]
        return taken

    with ThreadPoolExecutor(5) as pool:
        taken = [subject for part in pool.map(take, "abcde") for subject in part]
    assert sorted(taken) == list(range(1, 101))


def test_a_decision_sees_every_write_before_it(store, clock):
    """Read, decide, write as one step: no two threads give out the same place."""

    def take(number):
        scribe = Scribe(store, clock)
        scribe.made = number * 1_000_000
        for _ in range(10):
            store.ledger.commit(
                lambda reads: [
                    scribe.event(
                        "remembered", None, "x", session="s", position=reads.sessions.next_position("project:api", "s")
                    )
                ]
            )

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(take, range(1, 5)))
    assert sorted(one.data["position"] for one in store.ledger.events()) == list(range(1, 41))


@pytest.mark.parametrize(
    "ask",
    [
        lambda store, id: store.ledger.events(),
        pytest.param(
            lambda store, id: store.ledger.events(memory=id),
        ),
        pytest.param(
            lambda store, id: store.usage.rows(),
        ),
    ],
    ids=["events", "events of a memory", "usage"],
)  # fmt: skip
def test_who_stops_reading_half_way_keeps_nobody_out(store, scribe, ask):
    id = scribe.remember("one")
    scribe.change("pinned", id)
    store.usage.record([id], 1)
    assert store.listings.count(Filter()) == 1
    half_read = ask(store, id)
    next(half_read)
    answers = []
    other = threading.Thread(target=lambda: answers.append(store.listings.count(Filter())), daemon=True)
    other.start()
    other.join(0.5)
    in_time = list(answers)
    half_read.close()
    other.join()
    assert in_time == [1]
