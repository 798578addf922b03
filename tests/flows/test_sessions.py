"""Sessions as results: which of them hold an answer, on what evidence, and what is never among them."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from itertools import permutations

import pytest

import limpet
from limpet.cli.main import main
from tests import formats

TALKS = {
    "garden": ("My tomato plants have yellow leaves", "Water them less and check the soil"),
    "leo": (
        "I need shoes for work",
        "Any color will do. By the way, I was at the wedding of Leo and Ana in a barn",
        "The barn had no heating",
    ),
    "mira": ("Plan a trip to Oslo", "I danced all night at the wedding of my cousin Mira", "Flights are cheap in May"),
    "code": ("The tests hang on Redis", "Start Redis on port 6380 first"),
}


def tell(memory, **talks):
    memory.remember_batch(
        {"content": text, "kind": "episode", "session": name, "speaker": "assistant" if number % 2 else "user"}
        for name, texts in talks.items()
        for number, text in enumerate(texts)
    )
    memory.work()


@pytest.fixture
def told(memory):
    tell(memory, **TALKS)
    return memory


def names(found):
    return [one.name for one in found.sessions]


def run(path, *words, scope="project:api"):
    """(exit code, stdout, stderr) of a command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["--store", str(path), "--scope", scope, *words])
    return code, out.getvalue(), err.getvalue()


def test_every_session_with_a_part_of_the_answer_comes_before_the_others(told):
    found = told.recall_sessions("How many weddings did I go to this year?")

    assert set(names(found)[:2]) == {"leo", "mira"}
    assert all(any("wedding" in item.content for item in one.items) for one in found.sessions[:2])
    assert [one.memories for one in found.sessions[:2]] == [3, 3]
    scores = [one.score for one in found.sessions]
    assert scores == sorted(scores, reverse=True)


def test_a_session_comes_with_the_memories_that_a_recall_finds(told):
    query = "where was the wedding of Leo and Ana?"
    recalled = {one.id: one for one in told.recall(query, k=50).items}
    (first, *_) = told.recall_sessions(query, evidence=2).sessions

    assert first.name == "leo" and first.scope == "project:api"
    assert len(first.items) == 2
    assert [recalled[one.id] for one in first.items] == first.items


def test_what_belongs_to_no_session_is_in_none_and_is_counted(told):
    before = told.recall_sessions("wedding", k=2)
    told.remember("The wedding of Leo and Ana was a wedding in a barn")
    told.work()
    found = told.recall_sessions("wedding", k=2)

    assert before.without_session == 0 and found.without_session == 1
    assert set(names(found)) == set(names(before)) == {"leo", "mira"}


def test_without_any_session_there_is_nothing_but_a_count(memory):
    memory.remember("The wedding was in a barn")
    found = memory.recall_sessions("wedding")
    assert found.sessions == [] and found.without_session == 1
    assert memory.recall_sessions("").sessions == []


def test_filters_hold_for_the_evidence(told, clock):
    assert names(told.recall_sessions("wedding", session="code")) == ["code"]
    assert told.recall_sessions("wedding", kind=["decision"]).sessions == []
    assert told.recall_sessions("wedding", until="2026-02-01").sessions == []
    then = clock.now()
    clock.advance(days=1)
    tell(told, late=("A third wedding, in a tent",))
    assert "late" in names(told.recall_sessions("wedding"))
    assert "late" not in names(told.recall_sessions("wedding", known_at=then))
    assert names(told.recall_sessions("wedding", since="2026-03-02")) == ["late"]


def test_a_purged_or_retracted_session_is_gone(told):
    for one in told.session_memories("leo"):
        told.purge(one.id, confirm=True)
    for one in told.session_memories("mira"):
        told.retract(one.id, "it never was")
    found = told.recall_sessions("the wedding in a barn", k=10)
    assert set(names(found)) <= {"garden", "code"}
    assert "wedding" not in json.dumps(found.as_dict()["sessions"])


def test_a_session_of_the_same_name_in_another_scope_is_another_one(path, clock, told):
    with limpet.open(path, scope="project:theirs", clock=clock) as other:
        tell(other, leo=("The wedding of Leo was in a zyxcastle",))
        other.session_start("leo", title="zyxtitle")
        assert [one.scope for one in other.recall_sessions("wedding").sessions] == ["project:theirs"]
    for words in ("wedding", "zyxcastle", "zyxtitle"):
        shown = json.dumps(told.recall_sessions(words, k=10).as_dict()["sessions"])
        assert "zyx" not in shown and "theirs" not in shown


def test_what_is_global_is_seen_from_everywhere(path, clock, told):
    with limpet.open(path, scope="global", clock=clock) as everywhere:
        tell(everywhere, leo=("Leo and Ana want a wedding without speeches",))
    found = told.recall_sessions("the wedding of Leo and Ana")
    assert {(one.name, one.scope) for one in found.sessions} >= {("leo", "project:api"), ("leo", "global")}


@pytest.mark.usefixtures("arrays_of_few_texts")
def test_the_same_question_gets_the_same_sessions(told):
    """From rows, then from arrays, again and again; what is equal stands in the order of its ids."""
    orders = enumerate(permutations(("wedding", "number", "seven")))
    tell(told, **{f"same{number}": (" ".join(order),) for number, order in orders})
    first, *others = [told.recall_sessions("wedding", k=20, explain=True) for _ in range(5)]
    for other in others:
        assert names(other) == names(first)
        assert [one.score for one in other.sessions] == pytest.approx([one.score for one in first.sessions])
    equal = told.recall_sessions("wedding number", k=20, lexical_only=True)
    known = {}
    for one in equal.sessions:
        known.setdefault(round(one.score, 9), []).append(one.items[0].id)
    assert any(len(ids) > 1 for ids in known.values())
    assert all(ids == sorted(ids) for ids in known.values())


def test_words_alone_rank_sessions_too(told):
    found = told.recall_sessions("wedding barn heating", lexical_only=True, explain=True)
    assert names(found)[0] == "leo"
    assert found.missing == [] and all(one.why["alike"] == 0 for one in found.sessions)


def test_the_parts_of_a_score_add_up(told):
    for one in told.recall_sessions("wedding", explain=True).sessions:
        assert sum(one.why.values()) == pytest.approx(one.score)


def test_a_budget_gives_every_session_its_best_memory_first(told):
    whole = told.recall_sessions("wedding", k=3)
    tight = told.recall_sessions("wedding", k=3, budget_tokens=100)
    tiny = told.recall_sessions("wedding", k=3, budget_tokens=1)

    assert tight.truncated and not whole.truncated
    assert names(tight) == names(whole)
    assert [one.items[0] for one in tight.sessions] == [one.items[0] for one in whole.sessions]
    assert tiny.sessions == [] and tiny.truncated


def test_no_time_to_compare_sessions_is_said(told):
    told.recall_sessions("wedding")
    found = told.recall_sessions("wedding", deadline_ms=0.001)
    assert "sessions" in found.missing and "best memories" in found.notes["sessions"]


@pytest.mark.parametrize(
    "given", [{"k": 0}, {"evidence": 0}, {"evidence": True}, {"budget_tokens": 0}, {"since": "soonish"}]
)
def test_what_makes_no_sense_is_refused(memory, given):
    with pytest.raises(limpet.BadInput):
        memory.recall_sessions("x", **given)


def test_asking_changes_nothing(told):
    before = told.stats(), [one.uses for one in told.list(limit=50).memories]
    told.recall_sessions("wedding")
    assert (told.stats(), [one.uses for one in told.list(limit=50).memories]) == before


def test_a_titled_session_says_its_title_and_times(told, clock):
    clock.advance(hours=1)
    told.session_start("mira", title="Trip to Oslo")
    told.session_end("mira")
    (one,) = told.recall_sessions("the wedding of my cousin", k=1).sessions
    assert one.title == "Trip to Oslo" and one.ended_at_us == clock.now()
    assert limpet.SessionRecall.from_dict(told.recall_sessions("wedding").as_dict()).sessions[0].items


def test_an_imported_conversation_is_found_by_its_title(memory, tmp_path):
    file = tmp_path / "conversations.json"
    file.write_text(formats.chatgpt([("user", "Where was the wedding of Leo?"), ("assistant", "In a barn near Bath")]))
    memory.import_from("chatgpt", file)
    memory.work()
    (one,) = memory.recall_sessions("wedding in a barn").sessions
    assert {item.speaker for item in one.items} == {"user", "assistant"}
    assert one.title == one.items[0].metadata["conversation"]


def test_the_command_shows_sessions_with_their_evidence(told, path):
    code, out, err = run(path, "recall", "wedding of Leo", "--sessions", "-k", "2", "--deadline-ms", "30000")
    assert code == 0 and err == ""
    assert out.startswith(" 1 leo") and "3 memories" in out and "By the way, I was at the wedding" in out

    code, out, _ = run(path, "recall", "wedding of Leo", "--sessions", "--json", "--explain", "--lexical")
    shown = json.loads(out)
    assert shown["sessions"][0]["name"] == "leo" and set(shown["sessions"][0]["why"]) >= {"best", "alike"}
    assert shown["without_session"] == 0

    told.remember("A wedding is a wedding is a wedding of Leo")
    _, _, err = run(path, "recall", "wedding of Leo", "--sessions", "--lexical")
    assert "1 memory found that belongs to no session" in err
