"""Two keys for one thing: found by meaning, joined when a person says so, and known by both names from then on."""

from __future__ import annotations

import pytest

import limpet


def pairs(memory):
    return [(item.kind, item.reason) for item in memory.review()]


def test_a_key_that_means_another_is_proposed_and_joined(memory, clock):
    memory.set_fact("user.city", "Tampa")
    memory.set_fact("user.birthday", "1 May")
    clock.advance(days=3)
    memory.set_fact("user.home_city", "Oslo")
    memory.work()
    assert pairs(memory) == [("key", "user.home_city and user.city")]
    assert memory.fact("user.city").value == "Tampa"  # nothing happens until a person decides

    (item,) = memory.review()
    assert memory.accept(item.id).status == "changed"
    for key in ("user.city", "user.home_city"):
        assert memory.fact(key).value == "Oslo"
        assert memory.fact(key, as_of="2026-03-02").value == "Tampa"
        assert [one.value for one in memory.fact_history(key)] == ["Tampa", "Oslo"]

    clock.advance(days=1)
    told = memory.set_fact("user.home_city", "Rome")
    assert (told.status, told.reason) == ("created", "its key is user.city")
    assert memory.fact("user.city").value == "Rome"
    before = [one.as_dict() for one in memory.list(all_states=True).memories]
    memory.rebuild()
    assert [one.as_dict() for one in memory.list(all_states=True).memories] == before
    clock.advance(days=1)
    memory.end_fact("user.home_city")
    with pytest.raises(limpet.NotFound):
        memory.fact("user.city")


def test_joining_is_undone(memory, clock):
    memory.set_fact("user.city", "Tampa")
    clock.advance(days=1)
    memory.set_fact("user.home_city", "Oslo")
    memory.work()
    memory.accept(memory.review()[0].id)
    memory.undo()
    assert (memory.fact("user.city").value, memory.fact("user.home_city").value) == ("Tampa", "Oslo")
    assert len(memory.review()) == 1


def test_what_was_rejected_is_not_asked_again(memory, clock):
    memory.set_fact("user.city", "Tampa")
    memory.set_fact("user.home_city", "Oslo")
    memory.work()
    memory.reject(memory.review()[0].id)
    clock.advance(days=1)
    memory.set_fact("user.home_city", "Bergen")
    memory.work()
    assert memory.review() == []
    assert memory.fact("user.city").value == "Tampa"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("user.city", "user.country"),
        ("db.host", "db.port"),
        ("min.replicas", "max.replicas"),
        ("ana.city", "ben.city"),
        ("python.version", "node.version"),
    ],
)
def test_keys_that_are_alike_and_not_the_same_are_left_alone(memory, one, other):
    memory.set_fact(one, "4")
    memory.set_fact(other, "5")
    memory.work()
    assert memory.review() == []


def test_keys_of_another_scope_are_not_compared(path, clock, memory):
    with limpet.open(path, scope="project:web", clock=clock) as other:
        other.set_fact("user.city", "Tampa")
        memory.set_fact("user.home_city", "Oslo")
        memory.work()
        assert memory.review() == [] and other.review() == []
