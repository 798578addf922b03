"""Retention: what is old and nobody used leaves recall, summed up first; said before it is done, and taken back."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.cli.main import main
from limpet.features import upkeep

TALK = (
    "We walked along the canal after work",
    "The bakery on the corner closes in June",
    "Nadia brought the tickets for Saturday",
    "The train was late again",
)


@pytest.fixture
def old(memory, clock):
    """Four turns of a conversation a year and a half ago, and what must stay. Returns the ids of the turns."""
    turns = [memory.remember(text, speaker="Ana", session="walk").id for text in TALK]
    memory.remember("The canal path is closed for repairs", kind="fact")
    clock.advance(days=540)
    memory.remember("We talked about the summer", speaker="Ana", session="summer")
    return turns


def test_it_says_first_what_it_would_do(memory, old, ids):
    found = upkeep.retention(memory, days=365)

    assert [one.id for one in found.archive] == old
    assert found.fold == ["walk"]
    assert not found.applied
    assert set(ids(memory.recall("canal bakery tickets train", k=10))) >= set(old), "nothing has changed"


def test_applied_the_session_is_summed_up_and_its_turns_leave_recall_until_it_is_undone(memory, old, ids):
    assert upkeep.retention(memory, days=365, apply=True).applied

    found = memory.recall("Who brought the tickets for Saturday?", k=10)
    assert not set(ids(found)) & set(old)
    (summary,) = [one for one in found.items if one.session == "walk"]
    assert TALK[2] in summary.content, "the summary still answers"
    assert upkeep.retention(memory, days=365).archive == [], "a summary does not expire with what it sums up"

    memory.undo()
    assert set(ids(memory.recall("canal bakery tickets train", k=10))) >= set(old)


def test_what_is_used_pinned_or_the_reason_of_something_stays(memory, clock):
    used, pinned, reason, idle = (memory.remember(text, speaker="Ana").id for text in TALK)
    memory.pin(pinned)
    memory.remember("We take the bus to Saturday's match", kind="decision", because=[reason])
    clock.advance(days=400)
    memory.feedback(used, "useful")

    assert [one.id for one in upkeep.retention(memory, days=365).archive] == [idle]


def test_other_kinds_stay(memory, clock):
    memory.remember("The old build machine is under the desk", kind="note")
    clock.advance(days=400)
    assert upkeep.retention(memory).archive == []


@pytest.mark.parametrize("days", [0, 0.5, float("nan"), float("inf"), 1e300, True])
def test_so_many_days_are_refused_in_words(memory, days):
    with pytest.raises(limpet.BadInput, match="days must be from 1 to 1,000,000"):
        upkeep.retention(memory, days=days)


def test_on_the_command_line(memory, old, capsys):
    arguments = ["--store", memory.path, "--scope", memory.scope]
    assert main(["gc", "--unused", "30", *arguments]) == 0
    said = capsys.readouterr()
    assert TALK[0] in said.out
    assert "4 would be archived, 1 session summed up before; --apply does it" in said.err

    assert main(["gc", "--unused", "30", "--apply", "--json", *arguments]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["applied"], len(done["archive"]), done["fold"]) == (True, 4, ["walk"])

    assert main(["gc", "--unused", "365", *arguments]) == 0
    assert "nothing is that old and unused" in capsys.readouterr().err
