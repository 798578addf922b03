"""Which texts name which things: noted after the write, kept to what there is, and never across a filter."""

from __future__ import annotations

import pytest

from limpet.jobs.mentions import drain
from limpet.store.records import Filter
from limpet.text.entities import number, numbers

GATEWAY, MARA = number("payment gateway"), number("mara")


@pytest.fixture
def named(store, scribe):
    """(store, scribe, ids): three texts, all looked at."""
    ids = {
        "here": scribe.remember("PaymentGateway is slow, says Mara"),
        "there": scribe.remember("PaymentGateway is quick", scope="project:web"),
        "plain": scribe.remember("nothing of the kind"),
    }
    assert drain(store) == 3
    return store, scribe, ids


def holders(store, thing, where=None, most=10):
    return [one.id for one in store.mentions.naming([thing], where or Filter(), most=most)]


def test_what_texts_name_is_known_after_the_work(named):
    store, _, ids = named
    assert holders(store, GATEWAY) == [ids["there"], ids["here"]]
    assert holders(store, MARA) == [ids["here"]]
    (body,) = store.search.texts_of([ids["here"]])
    assert {thing for _, thing in store.mentions.named_in([body])} == {GATEWAY, MARA}
    assert store.mentions.named_in(store.search.texts_of([ids["plain"]])) == []
    assert store.mentions.note(numbers) == 0


def test_a_write_notes_nothing_by_itself(named):
    store, scribe, _ = named
    scribe.remember("Mara is back")
    assert len(holders(store, MARA)) == 1
    assert drain(store, limit=1) == 1
    assert len(holders(store, MARA)) == 2


def test_the_filter_holds(named):
    store, scribe, ids = named
    assert holders(store, GATEWAY, Filter(scopes=("project:web",))) == [ids["there"]]
    assert holders(store, GATEWAY, Filter(scopes=("nowhere",))) == []
    scribe.change("retracted", ids["here"], reason="wrong")
    assert holders(store, GATEWAY) == [ids["there"]]
    assert holders(store, GATEWAY, Filter(states=("retracted",))) == [ids["here"]]


def test_an_older_version_names_what_it_named_then(named):
    store, scribe, ids = named
    then = scribe.clock.now()
    scribe.clock.advance(hours=1)
    scribe.change("edited", ids["here"], "Jonas says nothing")
    drain(store)
    assert holders(store, MARA) == []
    assert holders(store, number("jonas")) == [ids["here"]]
    assert holders(store, MARA, Filter(known_at=then)) == [ids["here"]]


def test_what_many_name_tells_nothing(named):
    store, _, _ = named
    assert holders(store, GATEWAY, most=1) == []
    assert len(holders(store, MARA, most=1)) == 1


def test_a_purge_takes_what_a_text_named_with_it(named):
    store, scribe, ids = named
    bodies = store.search.texts_of(ids.values())
    scribe.change("purged", ids["plain"])
    scribe.change("purged", ids["there"])
    scribe.change("purged", ids["here"])
    assert store.mentions.named_in(bodies) == []
    assert store.maintenance.verify() == []
    # The numbers of what is gone are given to what comes next, which is looked at as well.
    again = scribe.remember("Mara is back")
    drain(store)
    assert holders(store, MARA) == [again]


def test_a_rebuild_notes_the_same_again(named):
    store, _, ids = named
    bodies = store.search.texts_of(ids.values())
    before = store.mentions.named_in(bodies)
    store.maintenance.rebuild()
    assert store.mentions.named_in(bodies) == []
    drain(store)
    assert store.mentions.named_in(bodies) == before
