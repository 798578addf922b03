"""What a person types and reads: text without quotes, and one wording for what several faces say."""

from __future__ import annotations

import pytest

from .test_cli import limpet  # noqa: F401


@pytest.fixture
def told(limpet):  # noqa: F811
    limpet("remember", "We", "deploy", "with", "Kamal", "--kind", "decision", "--origin", "user")
    limpet("remember", "My standup is on Wednesdays in the Berlin office")
    return limpet


def test_words_without_quotes_are_one_text(told):
    assert told("list", "--kind", "decision", "--json").lines[0]["content"] == "We deploy with Kamal"
    assert "Kamal" in told("recall", "where", "do", "we", "deploy", "--lexical").out
    assert told("prepare", "we", "deploy", "--lexical").code == 0


def test_what_is_piped_says_that_nothing_answers(told):
    answer = told("recall", "what is the capital of Peru")
    assert answer.out.startswith("Nothing here answers this well; the nearest are shown.")
    assert told("recall", "capital of Peru", "--json").json["note"].startswith("Nothing here answers this well")


def test_confidence_stands_beside_each_memory(told):
    assert " stated" in told("recall", "we deploy with Kamal", "--lexical", "-k", "1").out


def test_what_the_user_said_is_by_you(told):
    decision = next(line for line in told("log").out.splitlines() if "Kamal" in line)
    assert " you " in decision
    assert "you" in told("audit", "Kamal").out


def test_things_are_named_and_words_at_the_beginning_of_a_sentence_are_not(told):
    names = {line.split()[0] for line in told("list", "--by", "entity").out.splitlines()}
    assert names == {"Kamal", "Berlin"}


def test_the_queue_is_told_alike_by_work_and_doctor(told):
    done = told("work", "--json").json
    assert (done["done"], done["checked"], done["remaining"]) == (2, 2, 0)
    assert any("queue" in line and "empty" in line for line in told("doctor").out.splitlines())


def test_why_says_what_was_replaced_and_the_reason(told):
    old = told("list", "--kind", "decision", "--json").lines[0]["id"]
    new = told(
        "correct", old, "We", "deploy", "with", "Nomad", "--why", "Kamal was slow", "--origin", "user", "--json"
    ).json["id"]
    assert "because Kamal was slow" in told("why", new).out


def test_a_pause_says_that_it_is_for_agents(told):
    assert "what you type yourself" in told("pause").err
    told("resume")
