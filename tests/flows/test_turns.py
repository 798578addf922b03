"""Turns of a conversation: each is kept, and none is stored twice by a call or a file that comes again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import limpet

TALK = [
    ("bot", "Book the train for Friday?"), ("Ana", "yes"), ("bot", "Delete all backups?"), ("Ana", "no"),
    ("bot", "Order lunch?"), ("Ana", "yes"),
]  # fmt: skip


def lines(talk, session="c", *, days=None):
    found = [{"content": text, "speaker": who, "session": session} for who, text in talk]
    return found if days is None else [one | {"valid_from": day} for one, day in zip(found, days, strict=True)]


def said(memory, session="c"):
    return [(one.speaker, one.content) for one in memory.session_memories(session)]


def test_every_turn_of_a_conversation_is_kept(memory):
    receipts = [memory.remember(**one) for one in lines(TALK)]

    assert [one.status for one in receipts] == ["created"] * 6
    assert said(memory) == TALK
    memory.rebuild()
    assert said(memory) == TALK


def test_a_turn_belongs_to_its_session(memory):
    for session in ("c", "d"):
        memory.remember_batch(lines(TALK, session))

    assert said(memory, "c") == said(memory, "d") == TALK


def test_a_call_that_comes_again_is_the_same_turn(memory):
    first = [memory.remember(**one) for one in lines(TALK)][-1]
    memory.remember("Ana is asked about lunch", session="c")  # a note between, no turn
    again = memory.remember("Yes.", speaker="Ana", session="c")

    assert (again.status, again.id) == ("observed", first.id)
    assert "a second turn of these words" in again.reason
    assert memory.count(session="c", kind="episode") == 6


def test_a_time_of_its_own_makes_another_turn_and_the_same_time_the_same(memory):
    yes = {"content": "yes", "speaker": "Ana", "session": "c"}
    first, second = (memory.remember(**yes, valid_from=f"2026-02-0{day}") for day in (1, 2))
    memory.remember("Anything else?", speaker="bot", session="c")

    assert [one.status for one in (first, second)] == ["created", "created"]
    assert memory.remember(**yes, valid_from="2026-02-01").id == first.id
    assert [one.as_dict()["valid_from"][:10] for one in memory.session_memories("c")[:2]] == [
        "2026-02-01",
        "2026-02-02",
    ]


def test_what_a_speaker_holds_is_a_statement_and_no_turn(memory):
    liked = {"content": "Small pull requests", "speaker": "Ana", "kind": "preference"}
    first = memory.remember(**liked, session="c")
    memory.remember("Noted", speaker="bot", session="c")

    assert memory.remember(**liked, session="c").id == memory.remember(**liked, session="d").id == first.id


@pytest.mark.parametrize("days", [None, ["2026-02-01"] * 6, [f"2026-02-0{n}" for n in range(1, 7)]])
@pytest.mark.parametrize("more", [[], [("bot", "Done."), ("Ana", "yes")]])
def test_a_conversation_that_is_sent_again_is_stored_once(memory, days, more):
    """Also when it has grown meanwhile."""
    memory.remember_batch(lines(TALK, days=days))
    days = days and days + ["2026-02-07"] * len(more)
    receipts = memory.remember_batch(lines(TALK + more, days=days))

    assert [one.status for one in receipts] == ["observed"] * 6 + ["created"] * len(more)
    assert said(memory) == TALK + more


def test_what_goes_on_in_the_words_of_before_is_kept(memory):
    whole = []
    for part in (TALK[:4], [("Ana", "yes"), ("bot", "Done.")], TALK[2:4], TALK[2:3], [("Ana", "yes")]):
        memory.remember_batch(lines(part))
        whole += part
        assert said(memory) == whole


def test_a_part_that_is_sent_again_later_is_stored_once(memory):
    memory.remember_batch(lines(TALK))
    memory.retract(memory.session_memories("c")[4].id, "a mistake")
    left = said(memory)

    assert [one.status for one in memory.remember_batch(lines(TALK[1:4]))] == ["observed"] * 3
    assert [one.status for one in memory.remember_batch(lines(TALK))] == ["observed"] * 4 + ["created", "observed"]
    assert sorted(said(memory)) == sorted([*left, TALK[4]])


def test_a_turn_with_an_id_is_known_by_it(memory):
    ids = [f"01a2163c-2036-70de-ac61-{n:012x}" for n in range(6)]
    named = [one | {"id": id} for one, id in zip(lines(TALK), ids, strict=True)]

    assert [one.status for one in memory.remember_batch(named)] == ["created"] * 6
    assert [one.status for one in memory.remember_batch(named)] == ["observed"] * 6
    assert said(memory) == TALK


def test_a_file_that_is_imported_twice_is_stored_once(memory, tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines(TALK)))

    for _ in range(2):
        memory.import_from("jsonl", path)
    assert said(memory) == TALK


def test_a_file_of_many_sessions_and_keys_is_stored_once(memory, tmp_path):
    """Its transactions part the sessions: a key that comes again ends one, and so do a thousand lines."""
    values = [{"content": f"{n}", "key": "api.port", "valid_from": f"2026-01-{n + 1:02}"} for n in range(6)]
    between = [one for pair in zip(lines(TALK, "keys"), values, strict=True) for one in pair]
    sessions = [one for n in range(8) for who in range(150) for one in lines([TALK[(n + who) % 6]], f"s{who}")]
    path = tmp_path / "talks.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in [*between, *sessions]))

    assert memory.import_from("jsonl", path).new == len(between) + len(sessions)
    turns = memory.count(kind="episode")
    memory.import_from("jsonl", path)
    assert said(memory, "keys") == TALK
    assert memory.count(kind="episode") == turns == len(TALK) + len(sessions)


SAID = st.tuples(st.sampled_from(["Ana", "bot"]), st.sampled_from(["yes", "no", "Shall I?", "Done"]))
TURNS = st.lists(SAID, min_size=1, max_size=12)


@given(talk=TURNS, more=TURNS, timed=st.booleans())
def test_any_conversation_is_kept_whole_and_once(talk, more, timed):
    days = [f"2026-01-{n + 1:02}" for n in range(len(talk) + len(more))] if timed else None
    with limpet.open(":memory:", scope="project:api", clock=limpet.FixedClock("2026-03-01T10:00:00Z")) as memory:
        memory.remember_batch(lines(talk, days=days and days[: len(talk)]))
        assert said(memory) == talk
        assert all(
            one.status == "observed" for one in memory.remember_batch(lines(talk, days=days and days[: len(talk)]))
        )
        memory.remember_batch(lines(talk + more, days=days))
        assert said(memory) == talk + more
        assert all(one.status == "observed" for one in memory.remember_batch(lines(talk + more, days=days)))
