"""A problem that was told in a session is shown as one item with the later turn that says what solved it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout

import pytest

import limpet
from limpet.cli.main import main

PROBLEM = "Since Thursday the nightly invoice export hangs at 40 % and never finishes."
SOLUTION = (
    "Found it: somebody had left a transaction open on the replica and gone on holiday. I killed that backend and set "
    "idle_in_transaction_session_timeout to 10 minutes, and the job ran through in one go."
)
TURNS = (
    ("user", PROBLEM),
    ("assistant", "Is the worker out of memory?"),
    ("user", "Memory is flat. By the way, please rename the branch to INF-2231."),
    ("assistant", "Renamed to INF-2231."),
    ("assistant", SOLUTION),
    ("user", "Great, thanks."),
)
QUESTION = "Why does the nightly invoice export hang at 40 %?"


def tell(memory, **given):
    for speaker, text in TURNS:
        memory.remember(text, kind="episode", session="ops", speaker=speaker, **given)
    memory.work()


@pytest.fixture
def told(memory):
    tell(memory)
    return memory


def first(memory, **options):
    return memory.recall(QUESTION, k=1, **options).items[0]


def test_the_first_result_is_the_problem_with_what_solved_it(told):
    item = first(told)
    assert item.content == PROBLEM
    id, text, day = item.resolved_by
    assert text == SOLUTION and told.get(id).content == SOLUTION and day == "2026-03-01"
    assert item.as_dict()["resolved_by"] == {"id": id, "content": SOLUTION, "date": day}
    assert limpet.Item.from_dict(item.as_dict()).resolved_by == item.resolved_by


def test_what_is_told_with_a_problem_takes_no_place_of_its_own(told):
    answer = told.recall(QUESTION, k=6, explain=True)
    assert SOLUTION not in [item.content for item in answer.items]
    assert sum(item.resolved_by is not None for item in answer.items) == 1


def test_a_question_for_the_solution_has_it_first_and_once(told):
    items = told.recall("idle_in_transaction_session_timeout", k=6).items
    assert items[0].content == SOLUTION
    assert not any(item.resolved_by for item in items)


def test_every_face_shows_both(told, path):
    from limpet.agents.hooks.injected import lines_of
    from limpet.agents.tools import _item

    out = io.StringIO()
    with redirect_stdout(out):
        main(["--store", str(path), "--scope", "project:api", "recall", QUESTION, "-k", "1"])
    assert "solved on 2026-03-01: Found it" in out.getvalue()
    assert SOLUTION in json.dumps(_item(first(told)))
    (line,) = lines_of([first(told)], told.abbreviate)
    assert PROBLEM in line.text and "solved on 2026-03-01: Found it" in line.text
    brief = told.prepare(QUESTION).text()
    (line,) = [line for line in brief.splitlines() if PROBLEM in line]
    assert "solved on 2026-03-01: Found it" in line and brief.count("Found it") == 1


def test_a_solution_that_was_erased_or_is_from_outside_is_not_told(memory, opened):
    tell(memory, origin="web")
    assert first(memory).resolved_by is None
    here = memory.in_scope("project:other")
    tell(here)
    here.forget(first(here).resolved_by[0])
    assert first(here).resolved_by is None


def test_a_solution_whose_words_were_changed_is_not_told_with_the_old_ones(told):
    told.edit(first(told).resolved_by[0], content="The branch has its new name.")
    assert first(told).resolved_by is None


def test_talk_without_a_problem_gets_no_solution(memory):
    for text in ("We picked blue for the nursery.", "Lovely.", "Ina wants to learn rowing this summer, on the lake."):
        memory.remember(text, kind="episode", session="talk", speaker="user")
    memory.work()
    assert not any(item.resolved_by for item in memory.recall("What colour is the nursery?").items)


def test_a_note_that_resolves_a_problem_is_one_item_with_it(memory, clock):
    problem = memory.remember("Deploys to staging fail because its disk is full", origin="user").id
    clock.advance(days=3)
    memory.remember("The disk of staging was cleaned up, deploys go through again", origin="user")
    memory.work()
    (item,) = memory.recall("Why do deploys to staging fail?").items
    assert item.content.startswith("The disk") and [id for id, *_ in item.before] == [problem]
