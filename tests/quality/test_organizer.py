"""Does `organize` find what is worth remembering, and nothing else? On text that was labelled before it was read.

`organizer/messages.jsonl`: messages by authors of whom nothing else was trained on, and of public conversations.
`organizer/conversations.jsonl`: a conversation a line, with every statement that a careful person would keep.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import limpet
from limpet.features import organize
from limpet.features.organize.extract import extract
from limpet.features.organize.transcripts import Turn
from tests import transcripts

CONVERSATIONS = [
    json.loads(line) for line in (Path(__file__).parent / "organizer" / "conversations.jsonl").open(encoding="utf-8")
]


def measure(half, folder):
    """(precision, recall, wrong ones, missed ones) over the conversations of a half, as Claude Code keeps them."""
    stored = matched = wanted = found = 0
    wrong, missed = [], []
    for one in CONVERSATIONS:
        if one["half"] != half:
            continue
        path = folder / f"{one['name']}.jsonl"
        path.write_text(transcripts.claude(one["steps"], session=one["name"]), encoding="utf-8")
        with limpet.open(folder / f"{one['name']}.db", scope="project:x") as memory:
            taken = organize.run(memory, [path], summaries=False).taken
        stored += len(taken)
        wanted += len(one["wanted"])
        for label in one["wanted"]:
            hit = any(fits(label, memory) for memory in taken)
            found += hit
            missed += [] if hit else [(one["name"], label["has"])]
        for memory in taken:
            right = any(fits(label, memory) for label in one["wanted"])
            matched += right
            wrong += [] if right else [(one["name"], memory["kind"], memory["content"])]
    return matched / stored, found / wanted, wrong, missed


def fits(label, memory):
    return memory["kind"] in label["kind"].split("|") and label["has"].lower() in memory["content"].lower()


# Measured 2026-11: see organizer/README.md. Rules of words that were mended on these conversations until they found 89
# to 100 of 100 of their statements found 10 of 100 of others' (`messages.jsonl`): these bars are of what replaced them.
@pytest.mark.parametrize(
    ("half", "precision", "recall"), [("tune", 0.95, 0.75), ("held", 0.8, 0.7), ("later", 0.95, 0.65)]
)
def test_what_is_stored_is_worth_it_and_noise_is_not(half, precision, recall, tmp_path):
    measured, found, wrong, missed = measure(half, tmp_path)
    assert measured >= precision, wrong
    assert found >= recall, missed


LINES = [json.loads(line) for line in (Path(__file__).parent / "organizer" / "lines.jsonl").open(encoding="utf-8")]


def of_line(one):
    """What the rules take from a line that stands alone."""
    turn = Turn(role=one["role"], id="1", place="line 1", text=one["text"])
    return [{"kind": each.kind, "content": each.content} for each in extract([turn]) if not each.if_corrects]


def measure_lines(rows, fits=fits):
    """(precision, recall, wrong ones, missed ones) over lines of transcripts."""
    stored = matched = wanted = found = 0
    wrong, missed = [], []
    for one in rows:
        taken = of_line(one)
        stored += len(taken)
        wanted += len(one["wanted"])
        for label in one["wanted"]:
            hit = any(fits(label, memory) for memory in taken)
            found += hit
            missed += [] if hit else [(one["text"], label["kind"], taken)]
        for memory in taken:
            right = any(fits(label, memory) for label in one["wanted"])
            matched += right
            wrong += [] if right else [(one["text"], memory)]
    return matched / max(stored, 1), found / max(wanted, 1), wrong, missed


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("half", ["tune", "held"])
def test_lines_of_two_languages_yield_what_they_hold(half, language):
    rows = [one for one in LINES if (one["half"], one["language"]) == (half, language)]
    precision, recall, wrong, missed = measure_lines(rows)
    assert precision >= 0.8, wrong
    assert recall >= 0.6, missed


MESSAGES = [
    json.loads(line) for line in (Path(__file__).parent / "organizer" / "messages.jsonl").open(encoding="utf-8")
]


def says(label, memory):
    """Whether a memory says what was wanted, as whatever kind: readers differ about that."""
    return label["has"].lower() in memory["content"].lower()


@pytest.mark.parametrize(
    ("source", "language", "precision", "recall", "of_kind"),
    [("written", "en", 0.8, 0.65, 0.7), ("written", "de", 0.8, 0.6, 0.7), ("public", "en", 0.7, 0.5, 0.7)],
)
@pytest.mark.parametrize("half", ["tune", "held"])
def test_messages_by_others_yield_what_they_hold(half, source, language, precision, recall, of_kind):
    rows = [one for one in MESSAGES if (one["half"], one["source"], one["language"]) == (half, source, language)]
    measured, found, wrong, missed = measure_lines(rows, says)
    assert measured >= precision, wrong
    assert found >= recall, missed
    assert measure_lines(rows)[1] >= of_kind * found


@pytest.mark.parametrize(
    "rule",
    [
        # The judge of two thirds of the width says 1.1 where the wider one said 1.9, and 1.3 is what it takes; a threshold that
        # takes it costs the German set its precision.
        pytest.param("use pnpm here, not npm", marks=pytest.mark.xfail(strict=True)),
        "don't mock the database in tests",
        "Bitte niemals Commits squashen.",
    ],
)
def test_a_standing_rule_said_as_an_order_is_kept(rule):
    (taken,) = of_line({"role": "user", "text": rule})
    assert taken["kind"] in ("preference", "correction")


@pytest.mark.parametrize(
    "order",
    [
        "don't touch that file yet",
        "write the tests for the parser first",
        "please never mind",
        "rename it to foo",
        "use port 8081 for this run",
        "stop the server",
        "why do you always do that",
    ],
)
def test_an_order_of_the_moment_is_not(order):
    assert not of_line({"role": "user", "text": order})
