"""What `feedback` and time do to a memory's place and confidence, and how confidence is told."""

from __future__ import annotations

import pytest

from limpet.agents.hooks.injected import Section, block, lines_of
from limpet.cli.main import main

FIRST = "Deployments to production go out on Tuesdays after the smoke tests"
SECOND = "Deployments are announced in the release channel beforehand"
QUESTION = "when do deployments to production go out?"


@pytest.fixture
def two(memory):
    """Two notes that both speak of the question, the better one first."""
    first, second = memory.remember(FIRST).id, memory.remember(SECOND).id
    assert [one.id for one in memory.recall(QUESTION).items] == [first, second]
    return first, second


def order(memory):
    return [one.id for one in memory.recall(QUESTION).items]


def score(memory, id):
    return next(one.score for one in memory.recall(QUESTION).items if one.id == id)


@pytest.mark.parametrize("verdicts", [["not_useful"] * 5, ["wrong"]])
def test_what_was_no_use_or_wrong_stands_behind_and_comes_back_when_it_is_useful(memory, two, verdicts):
    first, second = two
    before = score(memory, first)
    for verdict in verdicts:
        memory.feedback(first, verdict)
    assert score(memory, first) < 0.8 * before

    memory.feedback(first, "useful")
    assert score(memory, first) >= before and order(memory) == [first, second]


def test_verdicts_take_a_share_of_a_score_and_no_more(memory, two):
    first, _ = two
    before = score(memory, first)
    for _ in range(200):
        memory.feedback(first, "wrong")
    assert 0.25 * before < score(memory, first) < 0.5 * before


def test_what_was_said_to_be_wrong_is_doubtful_until_a_person_decides(memory, two):
    first, _ = two
    assert memory.get(first).confidence_word == "stated"
    memory.feedback(first, "wrong")

    shown = next(one for one in memory.recall(QUESTION).items if one.id == first)
    assert (shown.confidence, shown.confidence_word) == (0.05, "doubtful")
    assert (memory.get(first).confidence, memory.get(first).wrong) == (0.05, 1)

    memory.reject(first)  # it is right
    assert memory.get(first).confidence_word == "stated" and order(memory)[0] == first


def test_what_is_doubtful_says_so_wherever_it_is_shown(memory, two, capsys, path):
    first, _ = two
    memory.feedback(first, "wrong")
    assert f"] doubtful: {FIRST}" in memory.prepare(QUESTION).text()
    shown = block([Section("", lines_of(memory.recall(QUESTION).items, memory.abbreviate))], 1_000).text
    assert f"| doubtful] {FIRST}" in shown and f"| doubtful] {SECOND}" not in shown

    at = ["--store", str(path), "--scope", memory.scope]
    assert main([*at, "recall", QUESTION, "--lexical"]) == 0
    assert "doubtful" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["show"], ["audit"], ["audit", "--json"], ["show", "--json"]])
def test_people_read_a_word_and_programs_a_number(memory, two, capsys, path, command):
    first, _ = two
    memory.recall(QUESTION)
    assert main(["--store", str(path), "--scope", memory.scope, command[0], first, *command[1:]]) == 0
    out = capsys.readouterr().out
    if "--json" in command:
        assert '"confidence": 0.1, "confidence_word": "stated"' in out
    else:
        assert "stated" in out and "0.1" not in out


@pytest.mark.usefixtures("arrays_of_few_texts")
def test_feedback_counts_the_same_in_a_process_that_answers_many_recalls(memory, two):
    """Rows and arrays give one order."""
    first, _ = two
    memory.feedback(first, "wrong")
    cold = [(one.id, one.score) for one in memory.recall(QUESTION).items]
    for _ in range(5):
        assert [(one.id, one.score) for one in memory.recall(QUESTION).items] == cold


def test_an_opinion_nobody_repeats_stands_below_what_the_user_states(memory, clock):
    opinion = memory.remember("Postgres is the right database for the billing service", kind="opinion").id
    clock.advance(days=60)
    fact = memory.remember("The database of the billing service is MySQL, not Postgres", origin="user").id
    found = memory.recall("which database is right for the billing service?").items
    assert [one.id for one in found] == [fact, opinion]
    assert (found[1].confidence, found[1].confidence_word) == (0.0, "doubtful")


def test_importance_fades_until_the_memory_is_stated_or_used_again(memory, clock):
    id = memory.remember(FIRST, importance=1.0).id
    plain = memory.remember(SECOND).id
    fresh, usual = score(memory, id), score(memory, plain)
    clock.advance(days=400)
    faded = score(memory, id)
    assert faded < fresh and score(memory, plain) == usual
    memory.remember(FIRST)
    assert score(memory, id) > faded


def test_confidence_is_told_in_a_word(memory, clock):
    id = memory.remember("The office closes at six").id
    assert memory.get(id).confidence_word == "stated"
    clock.advance(days=1)
    memory.remember("The office closes at six")
    assert memory.get(id).confidence_word == "repeated"
    clock.advance(days=1)
    memory.remember("The office closes at six")
    assert (memory.get(id).confidence, memory.get(id).confidence_word) == (0.8, "confirmed")
    assert memory.get(memory.remember("The user lives in Turin", origin="user").id).confidence_word == "stated"
    assert memory.get(memory.remember("The moon is near", confidence=0.02).id).confidence_word == "doubtful"
