"""The one write door: what goes in is there, whole and in order, or nothing of it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

import limpet
from limpet.model.ids import format_id
from limpet.model.memory import Filter
from limpet.store.sqlite.database import SqliteStore
from limpet.text.describe import describe


def test_an_empty_store_knows_nothing(store):
    assert list(store.ledger.events()) == []
    assert store.ledger.newest(None, limit=5) == []
    assert store.listings.count(Filter(states=("active", "archived", "retracted", "purged"))) == 0
    assert store.listings.page(Filter(), sort="created", limit=5, cursor=None).memories == []
    assert store.memories.get(b"\x01" * 16) is None
    assert store.memories.versions(b"\x01" * 16) == []


def test_a_commit_answers_with_its_events_in_their_places(store, scribe):
    first = scribe.event("remembered", None, "one", topics=["a"], metadata={"n": 1, "deep": {"x": [1, None, "é"]}})
    second = scribe.event("remembered", None, "two", operation=first.id)

    written = scribe.write(first, second)

    assert [one.seq for one in written] == [1, 2]
    assert [replace(one, seq=0) for one in written] == [first, second]
    assert list(store.ledger.events()) == written


def test_nothing_decided_is_nothing_written(store):
    assert store.ledger.commit(lambda _: []) == []
    assert list(store.ledger.events()) == []


def test_what_decides_sees_the_store_as_it_is_there(store, scribe):
    id = scribe.remember("one", key="a.b", session="s", position=1)
    seen = []

    def decide(reads):
        seen.append((
            reads.memories.get(id).content, reads.memories.resolve(format_id(id)), len(list(reads.ledger.events(memory=id))),
            [one.content for one in reads.memories.keyed("project:api", "a.b")], reads.sessions.next_position("project:api", "s"),
            [one.memory for one in reads.ledger.newest(None, limit=1)],
        ))  # fmt: skip
        return [scribe.event("edited", id, "other words")]

    store.ledger.commit(decide)

    assert seen == [("one", id, 1, ["one"], 2, [id])]
    assert store.memories.get(id).content == "other words"


def test_a_decision_that_fails_leaves_nothing_behind(store, scribe):
    scribe.remember("one")
    before = list(store.ledger.events())

    def refuse(_):
        raise limpet.BadInput("no")

    with pytest.raises(limpet.BadInput, match="no"):
        store.ledger.commit(refuse)
    assert list(store.ledger.events()) == before
    scribe.remember("two")
    assert store.listings.count(Filter()) == 2


def test_an_operation_is_stored_whole_or_not_at_all(store, scribe):
    """The second event changes a memory that is not there: the first one is not stored either."""
    known = scribe.remember("one")
    with pytest.raises(limpet.BadInput):
        scribe.write(scribe.event("remembered", None, "two"), scribe.event("edited", b"\x09" * 16, "x"))
    with pytest.raises(limpet.BadInput):
        scribe.write(scribe.event("edited", known, "half a change"), scribe.event("pinned", b"\x09" * 16))

    assert [one.content for one in store.ledger.events()] == ["one"]
    assert store.memories.get(known).content == "one"
    assert len(store.memories.versions(known)) == 1
    assert store.listings.count(Filter()) == 1


def test_events_are_read_by_memory_by_place_and_by_id(store, scribe):
    one, two = scribe.remember("one"), scribe.remember("two")
    edited = scribe.change("edited", one, "ONE")
    pinned = scribe.change("pinned", two)

    def places(**asked):
        return [event.seq for event in store.ledger.events(**asked)]

    assert places() == [1, 2, 3, 4]
    assert places(after=2) == [3, 4]
    assert places(after=4) == []
    assert places(memory=one) == [1, 3]
    assert places(memory=one, after=1) == [3]
    assert places(memory=b"\x09" * 16) == []
    assert list(store.ledger.events(ids=[edited.id])) == [edited]
    assert places(ids=[edited.id, pinned.id, b"\x09" * 16]) == [3, 4]
    assert places(ids=[]) == []


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_events_of_given_ids_come_in_the_order_of_the_ledger(store, scribe):
    one, two = (scribe.write(scribe.event("remembered", None, text))[0] for text in ("one", "two"))
    assert list(store.ledger.events(ids=[two.id, one.id, two.id])) == [one, two]


def test_a_long_ledger_is_read_whole_and_in_order(store, scribe):
    """More events than an engine reads in one go."""
    scribe.write(*(scribe.event("remembered", None, f"text {i}") for i in range(2_100)))
    assert [event.seq for event in store.ledger.events()] == list(range(1, 2_101))
    assert [event.seq for event in store.ledger.events(after=2_097)] == [2_098, 2_099, 2_100]


def test_a_ledger_that_grows_while_it_is_read_is_read_on(store, scribe):
    scribe.remember("one")
    reading = store.ledger.events()
    assert next(reading).seq == 1
    scribe.remember("two")
    assert [event.seq for event in reading] == [2]


def test_an_operation_is_what_was_committed_together(store, scribe):
    first = scribe.event("remembered", None, "one")
    rest = [scribe.event("remembered", None, text, operation=first.id) for text in ("two", "three")]
    together = scribe.write(first, *rest)
    alone = scribe.write(scribe.event("remembered", None, "four"))

    assert store.ledger.newest(None, limit=1) == alone
    assert store.ledger.operation(alone[0].id) == alone
    assert [store.ledger.operation(event.id) for event in together] == [together] * 3
    assert store.ledger.operation(b"\x09" * 16) == []


def test_what_takes_back_events_of_memories_is_found_by_these(store, scribe):
    one, two, other = scribe.write(*(scribe.event("remembered", None, text) for text in ("one", "two", "three")))
    undone = scribe.write(*(scribe.event("undone", made.memory, undoes=made.id.hex()) for made in (two, other, one)))
    redone = scribe.write(scribe.event("undone", two.memory, undoes=undone[0].id.hex()))

    found = store.ledger.undone({one.memory, two.memory})
    assert [event.id for event in found] == [undone[0].id, undone[2].id, redone[0].id]
    assert found[2].data == {"undoes": undone[0].id.hex()} and store.ledger.undone([]) == []


@pytest.mark.parametrize("store", ["file"], indirect=True)
def test_an_operation_whose_events_do_not_lie_together_is_still_one(store, scribe):
    """An import that was cut off and run again appends the rest of an operation behind what was said meanwhile."""
    first = scribe.event("remembered", None, "one")
    second = scribe.event("remembered", None, "two", operation=first.id)
    store.ledger.append([first])
    scribe.remember("meanwhile")
    meanwhile = next(event for event in store.ledger.events() if event.content == "meanwhile")
    store.ledger.append([first, second])

    assert [event.content for event in store.ledger.operation(meanwhile.id)] == ["meanwhile"]
    assert [event.content for event in store.ledger.operation(second.id)] == ["one", "two"]


def test_a_memory_is_found_by_its_id_by_a_short_one_and_by_a_prefix_of_it(store, scribe):
    one, two = scribe.remember("one"), scribe.remember("two")

    assert store.memories.resolve(format_id(one)) == one
    assert store.memories.resolve(one.hex().upper()) == one
    short = store.memories.abbreviate([one, two])
    assert [store.memories.resolve(prefix) for prefix in short] == [one, two]
    assert [store.memories.resolve(prefix.upper()) for prefix in short] == [one, two]
    with pytest.raises(limpet.AmbiguousId) as error:
        store.memories.resolve(one.hex()[:8])
    assert error.value.candidates == [format_id(one), format_id(two)]
    with pytest.raises(limpet.NotFound):
        store.memories.resolve("ffffffff")


@pytest.mark.parametrize("prefix", ["", "0190", "%%%%%%%%", "______", "0190uz00", "0190zz00z", "0" * 33, "0190-"])
def test_what_is_no_id_is_bad_input(store, scribe, prefix):
    scribe.remember("one")
    for resolve in (store.memories.resolve, store.ledger.resolve):
        with pytest.raises(limpet.BadInput):
            resolve(prefix)


def test_an_event_is_found_by_its_id_and_by_a_prefix_of_it(store, scribe):
    id = scribe.remember("one")
    (made,) = store.ledger.events()
    pinned = scribe.change("pinned", id)

    assert store.ledger.resolve(format_id(made.id)) == made.id
    assert store.ledger.resolve(pinned.id.hex()) == pinned.id
    short = store.ledger.abbreviate([made.id, pinned.id])
    assert [store.ledger.resolve(one) for one in short] == [made.id, pinned.id]
    with pytest.raises(limpet.AmbiguousId):
        store.ledger.resolve(made.id.hex()[:8])
    with pytest.raises(limpet.NotFound):
        store.ledger.resolve(format_id(id))


def test_events_are_read_backwards_a_page_at_a_time(store, scribe):
    for text in ("one", "two", "three"):
        scribe.remember(text)

    first = store.ledger.newest(None, limit=2)
    rest = store.ledger.newest(None, before=first[-1].seq, limit=2)

    assert [event.content for event in (*first, *rest)] == ["three", "two", "one"]


def test_an_event_id_is_taken_once(store, scribe):
    """The same event twice would count twice; the operation it came with is not stored."""
    first = scribe.event("remembered", None, "one")
    scribe.write(first)
    with pytest.raises(limpet.LimpetError):
        scribe.write(scribe.event("remembered", None, "two"), replace(first, content="three"))
    assert [event.content for event in store.ledger.events()] == ["one"]


# -- events of another ledger


def test_appended_events_are_known_by_their_ids(store, scribe):
    one = scribe.event("remembered", None, "one")
    two = scribe.event("edited", one.memory, "ONE")

    assert store.ledger.append([one]) == 1
    assert store.ledger.append([one, two]) == 1
    assert store.ledger.append(iter([one, two])) == 0

    assert [event.id for event in store.ledger.events()] == [one.id, two.id]
    assert store.memories.get(one.memory).content == "ONE"


def test_an_append_that_fails_appends_nothing(store, scribe):
    good = scribe.event("remembered", None, "one")
    with pytest.raises(limpet.BadInput):
        store.ledger.append([good, scribe.event("edited", b"\x09" * 16, "x")])
    assert list(store.ledger.events()) == []
    assert store.ledger.append([good]) == 1


def test_an_appended_ledger_believes_the_same(store, scribe, tmp_path):
    id = scribe.remember("one", topics=["a"], session="s", position=1)
    scribe.clock.advance(hours=1)
    edited = scribe.change("edited", id, "two")
    scribe.clock.advance(hours=1)
    scribe.undo(edited)
    scribe.purge(scribe.remember("secret"))
    other = SqliteStore(str(tmp_path / "other.db"), describe)

    assert other.ledger.append(store.ledger.events()) == len(list(store.ledger.events()))
    ids = {event.memory for event in store.ledger.events()}
    assert [other.memories.versions(one) for one in ids] == [store.memories.versions(one) for one in ids]
    assert other.maintenance.verify() == []
    other.close()
