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

# Of what is found, the share whose kind must be one of the label's.
OF_KIND = 0.7


def fits(label, memory):
    return memory["kind"] in label["kind"].split("|") and says(label, memory)


def says(label, memory):
    """Whether a memory says what was wanted, as whatever kind: readers differ about that."""
    return label["has"].lower() in memory["content"].lower()


def compared(rows, fits):
    """(precision, recall, wrong ones, missed ones) over rows of (name, what is wanted, what was taken)."""
    hits = [
        (name, label, any(fits(label, memory) for memory in taken)) for name, wanted, taken in rows for label in wanted
    ]
    right = [
        (name, memory, any(fits(label, memory) for label in wanted)) for name, wanted, taken in rows for memory in taken
    ]
    return (
        sum(is_right for *_, is_right in right) / max(len(right), 1),
        sum(is_hit for *_, is_hit in hits) / max(len(hits), 1),
        [(name, memory["kind"], memory["content"]) for name, memory, is_right in right if not is_right],
        [(name, label) for name, label, is_hit in hits if not is_hit],
    )


def of_conversations(half, folder):
    """Rows of the conversations of a half, as Claude Code keeps them."""
    rows = []
    for one in CONVERSATIONS:
        if one["half"] == half:
            path = folder / f"{one['name']}.jsonl"
            path.write_text(transcripts.claude(one["steps"], session=one["name"]), encoding="utf-8")
            with limpet.open(folder / f"{one['name']}.db", scope="project:x") as memory:
                taken = organize.run(memory, [path]).taken
            rows.append((one["name"], one["wanted"], taken))
    return rows


def measure(half, folder, fits=says):
    return compared(of_conversations(half, folder), fits)


# Measured 2026-11: see organizer/README.md. Rules of words that were mended on these conversations until they found 89
# to 100 of 100 of their statements found 10 of 100 of others' (`messages.jsonl`): these bars are of what replaced them.
@pytest.mark.parametrize(
    ("half", "precision", "recall"), [("tune", 0.95, 0.8), ("held", 0.85, 0.8), ("later", 0.9, 0.8)]
)
def test_what_is_stored_is_worth_it_and_noise_is_not(half, precision, recall, tmp_path):
    rows = of_conversations(half, tmp_path)
    measured, found, wrong, missed = compared(rows, says)
    assert measured >= precision, wrong
    assert found >= recall, missed
    assert compared(rows, fits)[1] >= OF_KIND * found


LINES = [json.loads(line) for line in (Path(__file__).parent / "organizer" / "lines.jsonl").open(encoding="utf-8")]


def of_line(one):
    """What the rules take from a line that stands alone."""
    turn = Turn(role=one["role"], id="1", place="line 1", text=one["text"])
    return [{"kind": each.kind, "content": each.content} for each in extract([turn]) if not each.if_corrects]


def measure_lines(rows, fits=fits):
    return compared([(one["text"], one["wanted"], of_line(one)) for one in rows], fits)


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


@pytest.mark.parametrize(
    ("source", "language", "precision", "recall"),
    [("written", "en", 0.8, 0.65), ("written", "de", 0.8, 0.6), ("public", "en", 0.7, 0.5)],
)
@pytest.mark.parametrize("half", ["tune", "held"])
def test_messages_by_others_yield_what_they_hold(half, source, language, precision, recall):
    rows = [one for one in MESSAGES if (one["half"], one["source"], one["language"]) == (half, source, language)]
    measured, found, wrong, missed = measure_lines(rows, says)
    assert measured >= precision, wrong
    assert found >= recall, missed
    assert measure_lines(rows)[1] >= OF_KIND * found


@pytest.mark.parametrize(
    "rule",
    [
        # The reader says .46, and .55 is what it takes; a threshold that takes it costs the public messages .04 of precision.
        pytest.param("use pnpm here, not npm", marks=pytest.mark.xfail(strict=True)),
        # .43; the reader before said .59.
        pytest.param("don't mock the database in tests", marks=pytest.mark.xfail(strict=True)),
        # The reader says .07; of "Please never squash commits." .98, of "Bitte immer erst die Tests laufen lassen." .76.
        pytest.param("Bitte niemals Commits squashen.", marks=pytest.mark.xfail(strict=True)),
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
