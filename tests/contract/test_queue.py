"""The queue of slow work: each job to one worker at a time, given back by the dead, tried again with patience."""

from __future__ import annotations

import pytest

import limpet
from tests.contract.conftest import body_of

KIND = "test"


@pytest.fixture
def queue(store):
    """Three jobs, 11 to 13, due at 100."""
    assert store.jobs.enqueue(KIND, [11, 12, 13], 100) == 3
    return store


def lease(store, *, limit=9, at=100, until=200, kind=KIND):
    return store.jobs.lease(kind, limit=limit, at=at, until=until)


def test_jobs_come_in_the_order_in_which_they_were_put_in(queue):
    assert [job.subject for job in lease(queue, limit=2)] == [11, 12]
    assert [job.subject for job in lease(queue, limit=2)] == [13]
    assert lease(queue) == []


def test_a_job_is_what_was_put_in(queue):
    job = lease(queue, limit=1)[0]
    assert (job.kind, job.subject, job.attempts, job.error) == (KIND, 11, 1, None)


def test_a_subject_waits_once_for_a_kind_of_work(queue):
    assert queue.jobs.enqueue(KIND, [11, 14], 100) == 1
    assert queue.jobs.enqueue("other", [11], 100) == 1
    assert queue.jobs.enqueue(KIND, [], 100) == 0
    assert [job.subject for job in lease(queue)] == [11, 12, 13, 14]
    assert [job.subject for job in lease(queue, kind="other")] == [11]


def test_a_job_is_not_given_before_its_time(queue):
    assert queue.jobs.backlog(KIND, 99) == 0
    assert lease(queue, at=99) == []
    assert queue.jobs.backlog(KIND, 100) == 3
    assert len(lease(queue, at=100)) == 3


def test_a_lease_that_ran_out_gives_the_job_back(queue):
    first = lease(queue, until=150)
    assert queue.jobs.backlog(KIND, 149) == 0
    assert lease(queue, at=149) == []
    assert queue.jobs.backlog(KIND, 150) == 3
    again = lease(queue, at=150)
    assert [(job.subject, job.attempts) for job in again] == [(job.subject, 2) for job in first]


def test_what_is_finished_is_gone(queue):
    jobs = lease(queue)
    queue.jobs.finish(KIND, [job.subject for job in jobs[:2]])
    queue.jobs.finish(KIND, [jobs[0].subject, 999])
    queue.jobs.finish(KIND, [])
    assert [job.subject for job in lease(queue, at=500)] == [13]
    assert queue.maintenance.stats().waiting_checks == 1


def test_work_that_is_no_longer_needed_is_taken_out(queue):
    queue.jobs.enqueue("other", [11], 100)
    lease(queue, limit=1)
    queue.jobs.finish(KIND, [11, 13, 999])
    queue.jobs.finish(KIND, [])
    assert [job.subject for job in lease(queue, at=500)] == [12]
    assert queue.jobs.backlog("other", 500) == 1


def test_a_failed_job_waits_and_says_why(queue):
    jobs = lease(queue)
    queue.jobs.fail(KIND, [jobs[0].subject], error="ValueError: no", not_before=300, dead=False)
    assert queue.jobs.backlog(KIND, 299) == 2  # the others, whose lease has run out by then
    queue.jobs.finish(KIND, [job.subject for job in jobs[1:]])
    assert lease(queue, at=299) == []
    (again,) = lease(queue, at=300, until=400)
    assert (again.subject, again.attempts, again.error) == (11, 2, "ValueError: no")


def test_a_job_that_failed_for_good_lies_dead_until_it_is_revived(queue):
    jobs = lease(queue)
    queue.jobs.fail(KIND, [job.subject for job in jobs[:2]], error="e" * 10_000, not_before=300, dead=True)
    queue.jobs.finish(KIND, [jobs[2].subject])

    assert [(job.subject, job.attempts) for job in queue.jobs.dead()] == [(11, 1), (12, 1)]
    assert 0 < len(queue.jobs.dead()[0].error) < 10_000
    assert lease(queue, at=10**15, until=10**15 + 1) == []
    assert queue.jobs.backlog(KIND, 10**15) == 0
    assert (queue.maintenance.stats().waiting_jobs, queue.maintenance.stats().dead_jobs) == (0, 2)
    assert queue.jobs.enqueue(KIND, [11], 0) == 0, "dead, not forgotten"

    assert queue.jobs.revive() == 2
    assert queue.jobs.revive() == 0
    assert queue.jobs.dead() == []
    assert [(job.subject, job.attempts) for job in lease(queue, at=301, until=400)] == [(11, 1), (12, 1)]


def test_a_new_text_waits_for_its_vector_and_so_does_an_edited_or_tagged_one(store, scribe):
    id = scribe.remember("one")
    now = scribe.clock.now()
    first = body_of(store, id)
    assert [job.subject for job in lease(store, kind="embed", at=now, until=now + 1)] == [first]
    store.jobs.finish("embed", [first])

    scribe.change("pinned", id)
    scribe.change("tagged", id, topics=[], metadata={"priority": 2})
    assert store.jobs.backlog("embed", now) == 0
    scribe.change("tagged", id, topics=["x"], metadata={})
    assert [job.subject for job in lease(store, kind="embed", at=now, until=now + 1)] == [first]
    store.jobs.finish("embed", [first])
    scribe.change("edited", id, "two")
    assert [job.subject for job in lease(store, kind="embed", at=now, until=now + 1)] == [body_of(store, id)]


def test_no_work_is_left_of_a_purged_text(store, scribe):
    id = scribe.remember("one")
    scribe.change("edited", id, "two")
    scribe.purge(id)
    assert store.jobs.backlog("embed", scribe.clock.now()) == 0
    assert store.maintenance.stats().waiting_jobs == 0


def test_a_text_that_gets_the_number_of_a_purged_one_waits_as_well(store, scribe):
    """The queue knows a new text by its number alone."""
    id = scribe.remember("one")
    now = scribe.clock.now()
    first = body_of(store, id)
    assert [job.subject for job in lease(store, kind="embed", at=now, until=now + 1)] == [first]
    scribe.purge(id)
    again = body_of(store, scribe.remember("two"))
    assert [job.subject for job in lease(store, kind="embed", at=now, until=now + 1)] == [again]
    assert store.maintenance.verify() == []


def test_a_text_is_not_given_to_a_worker_once_its_vector_came_from_elsewhere(store, scribe):
    first, second, third = (body_of(store, scribe.remember(text)) for text in ("one", "two", "three"))
    now = scribe.clock.now()
    store.jobs.finish("embed", [second])
    assert store.jobs.backlog("embed", now) == store.maintenance.stats().waiting_jobs == 2
    assert store.jobs.enqueue("embed", [third], now) == 1, "asked for as well, waits once"
    assert store.jobs.backlog("embed", now) == 2
    assert [job.subject for job in lease(store, kind="embed", at=now, until=now + 1)] == [first, third]


def test_jobs_are_stored_with_what_they_are_about_or_not_at_all(store, scribe):
    with pytest.raises(limpet.BadInput):
        scribe.write(scribe.event("remembered", None, "one"), scribe.event("pinned", b"\x09" * 16))
    assert store.maintenance.stats().waiting_jobs == 0
