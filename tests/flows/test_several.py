"""What an owner's page asks of the store: counts by any part, no edit over another's."""

from __future__ import annotations

import pytest

import limpet


def test_memories_are_counted_by_what_they_have(memory, clock):
    memory.remember("We chose Postgres", kind="decision", topics=["db", "api"])
    clock.advance(days=1)
    memory.remember("Deploys go out on Tuesdays", topics=["api"], origin="user")
    gone = memory.remember("The office has a piano").id
    memory.retract(gone, "a joke")

    assert memory.count_by("kind") == {("decision",): 1, ("fact",): 1}
    assert memory.count_by("topic") == {("api",): 2, ("db",): 1}
    assert memory.count_by("day", "kind") == {("2026-03-01", "decision"): 1, ("2026-03-02", "fact"): 1}
    assert memory.count_by("state", all_states=True) == {("active",): 2, ("retracted",): 1}
    assert memory.count_by("scope", "origin", topics=["api"]) == {
        ("project:api", "agent"): 1,
        ("project:api", "user"): 1,
    }
    with pytest.raises(limpet.BadInput, match="cannot count by nothing"):
        memory.count_by()
    with pytest.raises(limpet.BadInput, match="cannot count by content"):
        memory.count_by("content")


def test_counts_stay_in_their_scope(memory):
    memory.in_scope("project:other").remember("Ana likes tea", topics=["tea"])

    assert memory.count_by("topic") == {}
    assert memory.in_all_scopes().count_by("scope") == {("project:other",): 1}


def test_no_edit_goes_over_one_that_its_writer_has_not_read(memory, clock):
    id = memory.remember("The limit is 100 calls").id
    read = memory.get(id).recorded_at
    clock.advance(hours=1)
    memory.edit(id, "The limit is 100 calls a minute", version=read)

    clock.advance(hours=1)
    with pytest.raises(limpet.ChangedSince):
        memory.edit(id, "The limit is 200 calls", version=read)
    with pytest.raises(limpet.ChangedSince):
        memory.correct(id, "The limit is 200 calls", version=read)
    assert memory.get(id).content == "The limit is 100 calls a minute"
    memory.edit(id, "The limit is 200 calls", version=memory.get(id).recorded_at)


def test_a_change_of_anything_but_the_text_is_no_conflict(memory, clock):
    id = memory.remember("The limit is 100 calls").id
    read = memory.get(id).recorded_at
    clock.advance(hours=1)
    memory.tag(id, add=["limits"])

    assert memory.edit(id, "The limit is 100 calls a minute", version=read).status == "changed"


def test_a_correction_is_no_longer_corrected_by_who_has_not_seen_it(memory, clock):
    id = memory.remember("The limit is 100 calls").id
    read = memory.get(id).recorded_at
    clock.advance(hours=1)
    memory.correct(id, "The limit is 500 calls")

    with pytest.raises(limpet.ChangedSince):
        memory.correct(id, "The limit is 200 calls", version=read)
