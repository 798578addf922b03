"""What a store believes of one memory, now and then, from the events that were written."""

from __future__ import annotations

from dataclasses import asdict

from limpet.model.ids import format_id
from tests.contract.conftest import contents, mark


def test_a_memory_has_everything_that_was_said_of_it(store, scribe):
    cause = scribe.clock.now() - 5
    id = scribe.remember(
        "The rate limit is 100", kind="decision", scope="team", topics=["api", "ops"], key="api.limit",
        metadata={"n": 1, "f": 0.5, "t": True, "none": None, "deep": {"list": ["é", 2]}}, source="a.py:3", session="s1",
        speaker="Ana", position=4, importance=0.9, confidence=0.25, pinned=True, valid_from=cause, valid_to=cause + 9,
        origin="user",
    )  # fmt: skip

    one = store.memories.get(id)

    now = scribe.clock.now()
    assert one.id == format_id(id)
    assert (one.content, one.kind, one.scope, one.topics) == (
        "The rate limit is 100",
        "decision",
        "team",
        ("api", "ops"),
    )
    assert (one.key, one.source, one.session, one.speaker) == ("api.limit", "a.py:3", "s1", "Ana")
    assert one.metadata == {"n": 1, "f": 0.5, "t": True, "none": None, "deep": {"list": ["é", 2]}}
    assert (one.position, one.importance, one.stated_confidence, one.pinned) == (4, 0.9, 0.25, True)
    assert (one.valid_from_us, one.valid_to_us, one.origin, one.state) == (cause, cause + 9, "user", "active")
    assert (one.created_at_us, one.recorded_at_us, one.retired_at_us) == (now, now, None)
    assert (one.observations, one.observed_at_us, one.superseded_by, one.reason) == (1, now, None, None)
    assert (one.uses, one.used_at_us) == (0, None)


def test_what_was_not_said_has_its_default(store, scribe):
    one = store.memories.get(scribe.remember("plain"))
    assert (one.topics, one.key, one.metadata, one.source) == ((), None, {}, None)
    assert (one.session, one.speaker, one.position, one.importance) == (None, None, 0, 0.5)
    assert (one.stated_confidence, one.pinned, one.valid_to_us) == (None, False, None)
    assert one.valid_from_us == one.created_at_us


def test_any_text_comes_back_as_it_was(store, scribe):
    for text in (
        "",
        " ",
        "é e\u0301 東京 😀",
        "'; DROP TABLE memory; --",
        "a\nb\t\x01",
        "x" * 100_000,
        '%_\\"',
        "\U0010ffff",
    ):
        id = scribe.remember(text)
        assert store.memories.get(id).content == text
        assert [event.content for event in store.ledger.events(memory=id)] == [text]


def test_every_kind_of_change_shows(store, scribe):
    id, other = scribe.remember("one", topics=["a"], key="k.a"), scribe.remember("two")
    now = scribe.clock.now()

    def after(type, content=None, **data):
        scribe.clock.advance(seconds=1)
        scribe.change(type, id, content, **data)
        return store.memories.get(id)

    assert after("edited", "ONE").content == "ONE"
    tagged = after("tagged", topics=["b", "c"], metadata={"x": 1})
    assert (tagged.topics, tagged.metadata) == (("b", "c"), {"x": 1})
    assert after("keyed", key="k.b").key == "k.b"
    bounded = after("bounded", valid_from=now - 10, valid_to=now + 10)
    assert (bounded.valid_from_us, bounded.valid_to_us) == (now - 10, now + 10)
    superseded = after("superseded", by=other.hex(), valid_to=now + 5)
    assert (superseded.superseded_by, superseded.valid_to_us, superseded.state) == (format_id(other), now + 5, "active")
    retracted = after("retracted", why="it was wrong")
    assert (retracted.state, retracted.reason) == ("retracted", "it was wrong")
    restored = after("restored")
    assert (restored.state, restored.reason) == ("active", None)
    assert after("archived").state == "archived"
    assert after("pinned").pinned
    assert not after("unpinned").pinned
    assert len(store.memories.versions(id)) == 11
    assert store.memories.versions(id)[-1] == store.memories.get(id)


def test_an_observation_counts_days(store, scribe):
    id = scribe.remember("one")
    scribe.clock.advance(hours=1)
    scribe.change("observed", id)
    assert (store.memories.get(id).observations, store.memories.get(id).observed_at_us) == (1, scribe.clock.now())
    scribe.clock.advance(days=1)
    scribe.change("observed", id)
    assert (store.memories.get(id).observations, store.memories.get(id).observed_at_us) == (2, scribe.clock.now())


def test_a_link_or_a_change_of_nothing_makes_no_version(store, scribe):
    one, two = scribe.remember("one"), scribe.remember("two")
    scribe.clock.advance(seconds=1)
    scribe.change("linked", one, edge="caused_by", target=two.hex())
    scribe.change("unpinned", one)
    scribe.change("edited", one, "one")
    assert len(store.memories.versions(one)) == 1
    assert len(list(store.ledger.events(memory=one))) == 4


def test_versions_follow_each_other_without_gap_or_overlap(store, scribe):
    id = scribe.remember("one")
    times = [scribe.clock.now()]
    for text in ("two", "three"):
        times.append(scribe.clock.advance(hours=1))
        scribe.change("edited", id, text)

    versions = store.memories.versions(id)

    assert contents(versions) == ["one", "two", "three"]
    assert [one.recorded_at_us for one in versions] == times
    assert [one.retired_at_us for one in versions] == [*times[1:], None]
    assert {one.created_at_us for one in versions} == {times[0]}


def test_a_store_says_what_it_knew_at_any_instant(store, scribe):
    """Half-open: at the instant of a change the new version is the known one."""
    first = scribe.clock.now()
    id = scribe.remember("one")
    second = scribe.clock.advance(hours=1)
    scribe.change("edited", id, "two")

    def known(at):
        version = store.memories.get(id, known_at=at)
        return version and version.content

    assert [known(first - 1), known(first), known(second - 1), known(second), known(second + 10**12)] == [
        None, "one", "one", "two", "two",
    ]  # fmt: skip
    assert store.memories.get(id).content == "two"


def test_two_changes_in_one_instant_leave_the_last(store, scribe):
    id = scribe.remember("one")
    scribe.write(scribe.event("edited", id, "two"), scribe.event("edited", id, "three"))
    assert contents(store.memories.versions(id)) == ["one", "two", "three"]
    assert store.memories.get(id, known_at=scribe.clock.now()).content == "three"
    assert store.memories.get(id).content == "three"


def test_an_undone_change_no_longer_counts_and_can_be_brought_back(store, scribe):
    id = scribe.remember("one")
    edited = scribe.change("edited", id, "two")
    pinned = scribe.change("pinned", id)

    undone = scribe.undo(edited)
    assert (store.memories.get(id).content, store.memories.get(id).pinned) == ("one", True)
    scribe.undo(undone)
    assert (store.memories.get(id).content, store.memories.get(id).pinned) == ("two", True)
    scribe.undo(pinned)
    assert (store.memories.get(id).content, store.memories.get(id).pinned) == ("two", False)


def test_a_memory_whose_first_event_is_undone_was_said_and_is_not_believed(store, scribe):
    (said,) = scribe.write(scribe.event("remembered", None, "one"))
    before = scribe.clock.now()
    scribe.clock.advance(seconds=1)

    undone = scribe.undo(said)

    assert (store.memories.get(said.memory).state, store.memories.get(said.memory).content) == ("retracted", "one")
    assert store.memories.get(said.memory, known_at=before).state == "active"
    scribe.undo(undone)
    assert store.memories.get(said.memory).state == "active"


def test_a_purged_memory_leaves_a_tombstone_and_no_content(store, scribe):
    secret = "hunter2"
    kept = scribe.remember("kept")
    id = scribe.remember(secret, topics=[secret], key=f"k.{secret}", metadata={"x": secret}, source=secret, session="s", position=1)  # fmt: skip
    before = scribe.clock.now()
    scribe.clock.advance(seconds=1)
    scribe.change("edited", id, f"{secret} again")
    scribe.change("retracted", id, why=secret)
    scribe.clock.advance(seconds=1)

    scribe.purge(id)

    tomb = store.memories.get(id)
    assert (tomb.state, tomb.content, tomb.topics, tomb.metadata) == ("purged", "", (), {})
    assert (tomb.key, tomb.source, tomb.reason) == (None, None, None)
    assert (tomb.scope, tomb.kind, tomb.recorded_at_us) == ("project:api", "fact", scribe.clock.now())
    assert store.memories.versions(id) == [tomb]
    assert store.memories.get(id, known_at=before) is None
    events = list(store.ledger.events(memory=id))
    assert [event.type for event in events] == ["remembered", "edited", "retracted", "purged"]
    assert secret not in repr([asdict(event) for event in events])
    assert store.memories.get(kept).content == "kept"


def test_nothing_changes_a_purged_memory(store, scribe):
    id = scribe.remember("one")
    edited = scribe.change("edited", id, "two")
    scribe.purge(id)
    tomb = store.memories.get(id)
    scribe.clock.advance(seconds=1)
    for type in ("pinned", "restored", "observed", "archived"):
        scribe.change(type, id)
    scribe.undo(edited)
    assert store.memories.versions(id) == [tomb]


# -- sameness and keys


def test_the_same_statement_is_an_active_one_that_still_holds(store, scribe):
    now = scribe.clock.now()
    id = scribe.remember("The cat sleeps", valid_to=now + 100)

    same = store.memories.same_statement("project:api", mark("the CAT sleeps."), now)

    assert same == store.memories.get(id)
    assert store.memories.same_statement("project:api", mark("The cat sleeps"), now + 99) == same
    assert store.memories.same_statement("project:api", mark("The cat sleeps"), now + 100) is None
    assert store.memories.same_statement("project:api", mark("The cat naps"), now) is None
    assert store.memories.same_statement("global", mark("The cat sleeps", scope="global"), now) is None
    assert store.memories.same_statement("project:api", mark("The cat sleeps", kind="note"), now) == same
    assert store.memories.same_statement("project:api", mark("The cat sleeps", kind="episode"), now) is None
    assert store.memories.same_statement("project:api", mark("The cat sleeps", speaker="Ana"), now) is None


def test_sameness_follows_the_text(store, scribe):
    now = scribe.clock.now()
    id = scribe.remember("one")
    edited = scribe.change("edited", id, "two")
    assert store.memories.same_statement("project:api", mark("one"), now) is None
    assert store.memories.same_statement("project:api", mark("two"), now).id == format_id(id)
    scribe.undo(edited)
    assert store.memories.same_statement("project:api", mark("one"), now).id == format_id(id)


def test_what_is_not_believed_is_not_the_same_statement(store, scribe):
    now = scribe.clock.now()
    for text, type in (("one", "archived"), ("two", "retracted"), ("three", "purged")):
        scribe.change(type, scribe.remember(text))
        assert store.memories.same_statement("project:api", mark(text), now) is None


def test_of_two_same_statements_the_first_said_is_known(store, scribe):
    first = scribe.remember("one")
    scribe.clock.advance(seconds=1)
    scribe.remember("one")
    assert store.memories.same_statement("project:api", mark("one"), scribe.clock.now()).id == format_id(first)


def test_values_of_a_key_come_in_the_order_in_which_they_hold(store, scribe):
    now = scribe.clock.now()
    scribe.remember("late", key="a.b", valid_from=now + 10)
    scribe.remember("early", key="a.b", valid_from=now - 10, valid_to=now)
    middle = scribe.remember("middle", key="a.b", valid_from=now)
    scribe.remember("other key", key="a.c")
    scribe.remember("other scope", key="a.b", scope="global")
    scribe.change("archived", scribe.remember("archived", key="a.b"))
    scribe.purge(scribe.remember("purged", key="a.b"))

    assert contents(store.memories.keyed("project:api", "a.b")) == ["early", "middle", "late"]
    assert contents(store.memories.keyed("global", "a.b")) == ["other scope"]
    assert store.memories.keyed("nowhere", "a.b") == []
    scribe.change("keyed", middle, key="a.d")
    assert contents(store.memories.keyed("project:api", "a.b")) == ["early", "late"]
    assert contents(store.memories.keyed("project:api", "a.d")) == ["middle"]


def test_places_in_a_session_count_upwards_and_are_not_given_twice(store, scribe):
    assert store.sessions.next_position("project:api", "s") == 1
    scribe.remember("one", session="s", position=1)
    last = scribe.remember("two", session="s", position=2)
    scribe.remember("elsewhere", session="s", position=7, scope="global")
    assert store.sessions.next_position("project:api", "s") == 3
    assert store.sessions.next_position("global", "s") == 8
    assert store.sessions.next_position("project:api", "t") == 1
    scribe.change("retracted", last)
    assert store.sessions.next_position("project:api", "s") == 3
    scribe.purge(last)
    assert store.sessions.next_position("project:api", "s") == 2, "what is purged is in no session any more"


def test_the_turns_of_a_session_are_what_somebody_said_in_it(store, scribe):
    turn = {"session": "s", "kind": "episode", "speaker": "Ana"}
    one, two, three = (scribe.remember(text, **turn, position=n) for n, text in enumerate(("yes", "no", "Yes."), 1))
    scribe.remember("a note", session="s", kind="episode", position=4)
    scribe.remember("a preference", session="s", speaker="Ana", kind="preference", position=5)
    scribe.remember("yes", session="t", kind="episode", speaker="Ana", position=1)
    scribe.change("retracted", two)

    turns = store.sessions.turns("project:api", "s", limit=9)
    assert [turn.id for turn in turns] == [one, two, three]
    assert turns[0].mark == turns[2].mark == mark("yes", kind="episode", speaker="Ana")
    assert [turn.state for turn in turns] == ["active", "retracted", "active"]
    assert turns[0].valid_from == scribe.clock.now()
    assert store.sessions.turns("project:api", "s", limit=1) == turns[2:]
    assert store.sessions.turns("global", "s", limit=9) == []


def test_what_was_stated_before_is_what_holds_else_what_was_replaced_last(store, scribe):
    old, new = scribe.remember("the office is in Warsaw"), scribe.remember("the office is in Tampa")
    asked = "project:api", mark("The office is in Warsaw.")
    now = scribe.clock.now()
    assert store.memories.same_statement(*asked, now, replaced=True).id == format_id(old)

    scribe.change("superseded", old, by=new.hex(), valid_to=now + 10)

    assert store.memories.same_statement(*asked, now + 9, replaced=True) == store.memories.same_statement(
        *asked, now + 9
    )
    assert store.memories.same_statement(*asked, now + 10) is None
    assert store.memories.same_statement(*asked, now + 10, replaced=True).id == format_id(old)
    assert store.memories.same_statement("global", asked[1], now + 10, replaced=True) is None
    again = scribe.remember("the office is in Warsaw")
    assert store.memories.same_statement(*asked, now + 10, replaced=True).id == format_id(again)
