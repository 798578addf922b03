"""What `prepare` asks of a store: what stands, what is recent, what was used, what was not seen for long."""

from __future__ import annotations

import pytest

from limpet.api import Limpet
from limpet.model.clock import MICROSECONDS_PER_DAY
from limpet.model.memory import Filter
from limpet.settings import read_settings

API = Filter(scopes=("project:api",))


@pytest.fixture
def open_as(store, clock):
    """The façade over the engine at hand, in a scope."""
    return lambda scope: Limpet(read_settings(":memory:", scope, False), clock=clock, store=store)


def said(store, nums):
    return [one.content for one in store.memories.by_rows(nums)]


def test_what_stands_is_what_is_pinned_keyed_preferred_or_aimed_for(open_as, store, clock):
    api = open_as("project:api")
    api.remember("plain fact")
    api.remember("pinned fact", pin=True)
    api.remember("pinned goal", kind="goal", pin=True)
    api.remember("weighty preference", kind="preference", importance=0.9)
    old = api.remember("replaced preference", kind="preference").id
    api.remember("goal", kind="goal")
    api.remember("gone goal", kind="goal", valid_to="2026-01-01", valid_from="2025-01-01")
    api.set_fact("user.city", "Tampa", valid_from="2025-01-01")
    api.set_fact("user.city", "Lisbon", valid_from="2026-01-01")
    api.archive(api.remember("archived goal", kind="goal").id)
    clock.advance(seconds=1)
    api.correct(old, "newer preference")
    open_as("project:web").remember("web goal", kind="goal")
    clock.advance(seconds=1)
    rows = store.listings.standing(["project:api", "global"], at=clock.now(), limit=5)
    shown = list(zip([group for group, _ in rows], said(store, [num for _, num in rows]), strict=True))
    assert shown[0] == ("preference", "weighty preference") and shown[1] == ("preference", "newer preference")
    assert sorted(shown[2:]) == [
        ("goal", "goal"),
        ("keyed", "Lisbon"),
        ("pinned", "pinned fact"),
        ("pinned", "pinned goal"),
    ]
    assert len(store.listings.standing(["project:api"], at=clock.now(), limit=1)) == 4
    assert store.listings.standing(["nowhere"], at=clock.now(), limit=5) == []


def test_what_is_recent_comes_newest_first_without_its_text(open_as, store, clock):
    api = open_as("project:api")
    for i in range(4):
        api.remember(f"fact {i}", topics=["a", "b"], session="s" if i % 2 else None, origin="user")
        clock.advance(days=1)
    rows = store.listings.lately(API, after=clock.now() - 3 * MICROSECONDS_PER_DAY - 1, limit=2)
    assert said(store, [one.num for one in rows]) == ["fact 3", "fact 2"]
    assert rows[0].topics == ("a", "b") and rows[0].session == "s" and rows[0].open and rows[0].origin == "user"
    assert rows[1].session is None and not rows[1].open
    assert store.listings.lately(API, after=clock.now(), limit=2) == []


def test_use_and_age_and_counts(open_as, store, clock):
    api = open_as("project:api")
    ids = [api.remember(f"fact number {i}", kind="fact" if i else "goal").id for i in range(4)]
    api.remember("pinned for good", pin=True)
    clock.advance(days=10)
    api.show(ids[1])
    api.show(ids[1])
    api.show(ids[2])
    assert said(store, store.listings.most_used(API, limit=5)) == ["fact number 1", "fact number 2"]
    assert said(store, store.listings.unseen(API, before=clock.now() - MICROSECONDS_PER_DAY, limit=5)) == [
        "fact number 0",
        "fact number 3",
    ]
    assert store.listings.count_kinds(API) == {"fact": 4, "goal": 1}
    assert store.listings.count_kinds(Filter(scopes=("nowhere",))) == {}


def test_counts_by_parts_and_names_of_scopes(open_as, store, clock):
    api = open_as("project:api")
    api.remember("plain", topics=["a"])
    clock.advance(days=1)
    api.remember("pinned", kind="goal", pin=True, topics=["a", "b"])
    api.remember("important", kind="goal", importance=0.9)
    open_as("global").remember("elsewhere")
    assert store.listings.count_by(API, ["kind"]) == {("goal",): 2, ("fact",): 1}
    assert store.listings.count_by(API, ["topic", "kind"]) == {("a", "fact"): 1, ("a", "goal"): 1, ("b", "goal"): 1}
    assert list(store.listings.count_by(API, ["day"]).items()) == [(("2026-03-02",), 2), (("2026-03-01",), 1)]
    assert store.listings.scope_names() == ["global", "project:api"]
