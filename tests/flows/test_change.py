"""Changing what is remembered: nothing is lost, everything can be taken back, except a purge."""

from __future__ import annotations

from pathlib import Path

import pytest

import limpet

WORD = "Zanzibarquartz"


def bytes_of(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def test_an_edit_keeps_the_id_and_the_old_words(memory, clock, ids):
    id = memory.remember("Relaeses run on Friday").id
    clock.advance(seconds=1)

    receipt = memory.edit(id, "Deploys run on Friday")

    assert (receipt.id, receipt.status) == (id, "changed")
    assert [one.content for one in memory.history(id)] == ["Relaeses run on Friday", "Deploys run on Friday"]
    assert ids(memory.recall("deploys", lexical_only=True)) == [id]
    assert ids(memory.recall("relaeses", lexical_only=True)) == []


def test_a_change_that_changes_nothing_writes_nothing(memory):
    id = memory.remember("Deploys run on Friday", topics=["ops"]).id
    events = memory.stats().events

    done = [
        memory.edit(id, "Deploys run on Friday"), memory.tag(id, add=["ops"]), memory.pin(id, off=True), memory.restore(id),
    ]  # fmt: skip

    assert [one.status for one in done] == ["unchanged"] * 4
    assert memory.stats().events == events


def test_tags_are_added_and_removed_and_values_set_and_dropped(memory):
    id = memory.remember("text", topics=["a", "b"], metadata={"x": 1, "y": 2}).id

    memory.tag(id, add=["c", "a"], remove=["b"], values={"x": None, "z": [3]})

    found = memory.get(id)
    assert found.topics == ("a", "c")
    assert found.metadata == {"y": 2, "z": [3]}


def test_pin_and_unpin(memory):
    id = memory.remember("text").id
    assert memory.pin(id).status == "changed"
    assert memory.get(id).pinned
    assert memory.pin(id).status == "unchanged"
    assert memory.pin(id, off=True).status == "changed"
    assert not memory.get(id).pinned


def test_an_archived_memory_is_out_of_recall_until_restored(memory, ids):
    id = memory.remember("Deploys run on Friday").id

    memory.archive(id)
    assert ids(memory.recall("deploys")) == []
    assert memory.get(id).state == "archived"
    assert memory.count() == 0
    assert memory.count(all_states=True) == 1

    memory.restore(id)
    assert ids(memory.recall("deploys")) == [id]


def test_a_retracted_memory_keeps_its_reason_and_cannot_be_changed(memory):
    id = memory.remember("Deploys run on Friday").id

    memory.retract(id, "nobody does that")

    found = memory.get(id)
    assert (found.state, found.reason, found.confidence) == ("retracted", "nobody does that", 0.0)
    for change in (lambda: memory.edit(id, "new"), lambda: memory.pin(id), lambda: memory.correct(id, "new")):
        with pytest.raises(limpet.BadInput, match="retracted"):
            change()
    memory.restore(id)
    assert memory.get(id).reason is None


def test_a_retraction_needs_a_reason(memory):
    id = memory.remember("text").id
    with pytest.raises(limpet.BadInput):
        memory.retract(id, " ")
    assert memory.get(id).state == "active"


def test_a_correction_replaces_and_takes_over_what_was_not_given(memory, clock, ids):
    old = memory.remember(
        "Limit is 100", kind="decision", topics=["api"], importance=0.9, metadata={"a": 1}, pin=True, session="monday"
    )
    clock.advance(days=1)

    new = memory.correct(old.id, "Limit is 1000", why="raised", topics=["api", "limits"])

    found, before = memory.get(new.id), memory.get(old.id)
    assert new.id != old.id
    assert (found.kind, found.importance, found.metadata, found.pinned) == ("decision", 0.9, {"a": 1}, True)
    assert (found.topics, found.session) == (("api", "limits"), "monday")
    assert memory.get(memory.correct(new.id, "Limit is 900", session="friday").id).session == "friday"
    memory.undo()
    assert (before.superseded_by, before.valid_to_us) == (new.id, found.valid_from_us)
    assert ids(memory.recall("limit")) == [new.id]
    with pytest.raises(limpet.BadInput, match="superseded"):
        memory.correct(old.id, "Limit is 5")


def test_a_correction_from_a_date_ends_the_old_belief_there(memory, ids):
    old = memory.remember("Limit is 100", valid_from="2025-01-01")
    new = memory.correct(old.id, "Limit is 1000", valid_from="2026-01-01")

    assert ids(memory.recall("limit", as_of="2025-06-01", lexical_only=True)) == [old.id]
    assert ids(memory.recall("limit", lexical_only=True)) == [new.id]


def test_the_correction_of_a_keyed_value_keeps_its_key(memory, clock):
    old = memory.remember("Berlin", key="user.city")
    clock.advance(days=1)
    new = memory.correct(old.id, "Lisbon")

    assert memory.get(new.id).key == "user.city"
    assert [one.id for one in memory.list().memories] == [new.id]


@pytest.mark.parametrize("verb", ["edit", "correct", "retract", "archive", "tag"])
def test_undo_takes_back_the_last_operation_and_redo_does_it_again(memory, clock, verb):
    id = memory.remember("Deploys run on Friday", topics=["ops"]).id
    clock.advance(seconds=1)
    more = {"edit": ("x",), "correct": ("x",), "retract": ("x",), "tag": (["x"],)}.get(verb, ())
    getattr(memory, verb)(id, *more)
    changed = {one.id: (one.content, one.state, one.topics) for one in memory.list(all_states=True).memories}
    seen = [one.id for one in memory.list().memories]

    memory.undo()
    found = memory.get(id)
    assert (found.content, found.state, found.topics, found.valid_to_us) == (
        "Deploys run on Friday", "active", ("ops",), None,
    )  # fmt: skip
    assert [one.id for one in memory.list().memories] == [id]

    memory.redo()
    assert {one.id: (one.content, one.state, one.topics) for one in memory.list(all_states=True).memories} == changed
    assert [one.id for one in memory.list().memories] == seen


def test_undo_of_an_event_takes_back_its_whole_operation(memory):
    batch = memory.remember_batch([{"content": "one"}, {"content": "two"}])
    memory.remember("three")

    undone = memory.undo(batch[1].event)

    assert {one.id for one in undone} == {one.id for one in batch}
    assert [one.content for one in memory.list().memories] == ["three"]


def test_undo_with_nothing_to_undo_says_so(memory):
    with pytest.raises(limpet.NotFound, match="nothing to undo"):
        memory.undo()
    with pytest.raises(limpet.NotFound):
        memory.undo("01890000-0000-7000-8000-000000000001")


def test_a_purge_without_confirm_only_says_what_would_go(memory):
    id = memory.remember(WORD).id
    memory.edit(id, WORD + " again")

    report = memory.purge(id, dry_run=True)

    assert report.as_dict() == {"id": id, "versions": 2, "events": 2, "purged": False}
    assert memory.get(id).content == WORD + " again"


def test_a_purge_leaves_no_byte_of_the_content(memory, path, clock):
    """Not in rows, index, vectors, ledger, log, nor in a backup or export made later."""
    id = memory.remember(
        f"{WORD} first", topics=[f"topic{WORD}"], metadata={"k": f"meta{WORD}"}, speaker=f"Sp{WORD}",
        source=f"src{WORD}", key=f"key.{WORD}",
    ).id  # fmt: skip
    memory.remember("Something else stays")
    memory.work()
    clock.advance(seconds=5)
    memory.edit(id, f"{WORD} second")
    memory.work()
    assert any(WORD.encode() in data for data in bytes_of(path.parent).values())

    assert memory.purge(id, confirm=True).purged
    memory.backup(path.parent / "later.db")
    memory.export_to("jsonl", path.parent / "later.jsonl")

    for name, data in bytes_of(path.parent).items():
        assert WORD.encode() not in data, name
        assert WORD.lower().encode() not in data, name
    assert memory.get(id).state == "purged"
    assert memory.get(id).content == ""
    assert memory.recall(WORD, lexical_only=True).items == []
    assert [one.content for one in memory.recall("something else").items] == ["Something else stays"]
    assert memory.verify() == []


def test_a_purge_spares_the_same_words_of_another_memory(memory):
    mine = memory.remember(WORD, kind="preference").id
    other = memory.remember(WORD, kind="episode").id

    memory.purge(mine, confirm=True)

    assert memory.get(other).content == WORD
    assert [one.id for one in memory.recall(WORD).items] == [other]


def test_a_purge_names_what_else_holds_its_words(memory):
    secret = memory.remember("Marmalade grows along the\nblue river", session="s1").id
    memory.remember("Nothing of it", session="s1")
    episode = memory.compress("s1").id
    copy = memory.remember("He said: Marmalade grows along the", speaker="Bo").id
    memory.archive(copy)
    report = memory.purge(secret, dry_run=True)
    assert set(report.quoted) == {episode, copy}
    for one in (*report.quoted, secret):
        memory.purge(one, confirm=True)
    assert memory.purge(secret, dry_run=True).quoted == ()
    assert b"Marmalade" not in Path(memory.path).read_bytes()


def test_a_purge_cannot_be_undone_nor_the_memory_changed(memory):
    id = memory.remember(WORD).id
    memory.purge(id, confirm=True)

    with pytest.raises(limpet.BadInput, match="cannot be undone"):
        memory.undo()
    for change in (memory.restore, memory.pin, memory.archive, lambda id: memory.edit(id, "x")):
        with pytest.raises(limpet.BadInput, match="purged"):
            change(id)
    assert memory.purge(id, confirm=True).purged
    memory.rebuild()
    assert memory.get(id).content == ""


def test_what_was_undone_before_a_purge_stays_purged(memory):
    """Undoing an older operation brings no content back."""
    created = memory.remember(WORD)
    edited = memory.edit(created.id, WORD + " again")
    memory.purge(created.id, confirm=True)

    memory.undo(edited.event)

    assert memory.get(created.id).content == ""
    assert memory.get(created.id).state == "purged"


def test_show_counts_a_use_and_reading_otherwise_does_not(memory, clock):
    id = memory.remember("Deploys run on Friday").id
    memory.recall("deploys")
    memory.list()
    memory.get(id)
    memory.history(id)
    memory.related(id)
    assert memory.get(id).uses == 0

    memory.show(id)
    clock.advance(days=1)
    memory.show(id)

    assert (memory.get(id).uses, memory.get(id).used_at_us) == (2, clock.now())


def test_feedback_is_counted_and_only_praise_is_a_use(memory):
    id = memory.remember("Deploys run on Friday").id

    assert memory.feedback(id, "useful").uses == 1
    assert memory.feedback(id, "not_useful").uses == 1
    assert memory.feedback(id, "wrong").uses == 1
    with pytest.raises(limpet.BadInput, match="verdict"):
        memory.feedback(id, "great")
    with pytest.raises(limpet.NotFound):
        memory.feedback("01890000-0000-7000-8000-000000000001", "useful")


def test_history_tells_every_version_with_its_interval(memory, clock):
    id = memory.remember("one").id
    clock.advance(days=1)
    memory.edit(id, "two")
    clock.advance(days=1)
    memory.archive(id)

    versions = memory.history(id)

    assert [(one.content, one.state) for one in versions] == [("one", "active"), ("two", "active"), ("two", "archived")]
    assert [one.retired_at_us for one in versions] == [versions[1].recorded_at_us, versions[2].recorded_at_us, None]
    assert memory.get(id, known_at=versions[0].recorded_at_us).content == "one"
    with pytest.raises(limpet.NotFound):
        memory.get(id, known_at="2020-01-01")


@pytest.mark.parametrize("verb", ["edit", "retract", "correct"])
def test_a_change_of_nothing_known_is_not_found(memory, verb):
    with pytest.raises(limpet.NotFound) as error:
        getattr(memory, verb)("01890000-0000-7000-8000-000000000001", "x")
    assert error.value.exit_code == 1
