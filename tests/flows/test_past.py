"""What was it before, and why: a memory is found by what it replaced, and tells it with the reason."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.cli.main import main

OLD, NEW, WHY = "Our error tracker is Sentry", "Our error tracker is GlitchTip", "Sentry raised its price to 300 euros"


@pytest.fixture
def memory(path, clock):
    """A store as agents and the command line open it: with the relevance judge."""
    with limpet.open(path, scope="project:api", clock=clock, judge=True) as opened:
        yield opened


@pytest.fixture
def changed(memory, clock):
    """(old, new) ids of a change with a reason in April, told among other things."""
    clock.set("2026-02-01T09:00:00Z")
    old = memory.remember(OLD).id
    for text in ("Ana owns the billing service", "The mobile app is written in Flutter", "Standup is at nine"):
        memory.remember(text)
    clock.set("2026-04-10T09:00:00Z")
    new = memory.correct(old, NEW, why=WHY).id
    memory.set_fact("api.host", "fly.io")
    clock.set("2026-06-10T09:00:00Z")
    memory.set_fact("api.host", "Hetzner")
    memory.work(only_vectors=True)
    clock.set("2026-09-01T09:00:00Z")
    return old, new


@pytest.mark.parametrize(
    "question", ["why did we leave Sentry", "what made us give up Sentry?", "Warum haben wir Sentry aufgegeben?"]
)
def test_a_memory_is_found_by_what_it_replaced_and_tells_why(memory, changed, question):
    old, new = changed
    item = memory.recall(question).items[0]
    assert (item.id, item.before) == (new, ((old, OLD, WHY),))
    assert memory.recall(question).relevant


@pytest.mark.parametrize("lexical_only", [False, True])
def test_a_question_about_now_has_the_newer_one_first_and_the_older_is_no_item(memory, changed, lexical_only):
    old, new = changed
    items = memory.recall("which error tracker do we use?", lexical_only=lexical_only).items
    assert items[0].id == new and items[0].before[0][0] == old
    assert old not in [item.id for item in items]


@pytest.mark.parametrize(
    "question",
    [
        "what was our error tracker before?", "which error tracker did we have in March 2026?",
        "what did we use before GlitchTip?", "Welchen Error-Tracker hatten wir vorher?",
    ],
)  # fmt: skip
def test_a_question_about_the_past_has_what_held_then_first_and_what_replaced_it(memory, changed, question):
    old, new = changed
    first, second = memory.recall(question).items[:2]
    assert (first.id, first.newer, first.valid_to is not None) == (old, (new, NEW, WHY), True)
    assert (second.id, second.before) == (new, ())


def test_a_time_after_the_change_has_the_newer_one_first(memory, changed):
    assert memory.recall("which error tracker did we have in May 2026?").items[0].id == changed[1]


def test_earlier_values_of_a_key_are_told_with_the_value_that_holds(memory, changed):
    item = memory.recall("where is the api hosted?").items[0]
    assert (item.content, [text for _, text, *_ in item.before]) == ("Hetzner", ["fly.io"])
    assert memory.recall("where was the api hosted before?").items[0].content == "fly.io"


def test_a_chain_of_changes_tells_the_latest_first(memory, clock, changed):
    clock.set("2026-09-02T09:00:00Z")
    last = memory.correct(changed[1], "Our error tracker is Bugsink", why="GlitchTip lost events").id
    memory.work(only_vectors=True)
    item = memory.recall("which error tracker do we use?").items[0]
    assert (item.id, [row[1:] for row in item.before]) == (last, [(NEW, "GlitchTip lost events"), (OLD, WHY)])
    assert memory.recall("why did we leave Sentry").items[0].id == last
    assert memory.recall("which error tracker did we have in March 2026?").items[0].id == changed[0]


def test_what_was_forgotten_stays_out(memory, clock, changed):
    memory.forget([changed[1]], why="not ours to know")
    assert not {*changed} & {item.id for item in memory.recall("why did we leave Sentry").items}


def test_another_scope_tells_nothing_of_it(memory, changed):
    other = memory.in_scope("project:other")
    assert not other.recall("why did we leave Sentry").items


def test_the_same_from_arrays(memory, changed, arrays_of_few_texts):
    for _ in range(3):
        item = memory.recall("why did we leave Sentry").items[0]
        assert (item.id, item.before) == (changed[1], ((changed[0], OLD, WHY),))


def test_the_command_line_and_json_tell_the_reason(memory, changed, path, capsys):
    command = ["--store", str(path), "--scope", "project:api", "recall", "why did we leave Sentry"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert f"before: {OLD}" in shown and f"because: {WHY}" in shown
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"][0]["before"] == [
        {"id": changed[0], "content": OLD, "because": WHY}
    ]
    recalled = memory.recall("what was our error tracker before?")
    assert limpet.Recall.from_dict(recalled.as_dict()).items[0].newer == recalled.items[0].newer
