"""Do the rules find what is worth remembering, and nothing else? On conversations that were labelled before they were read.

`organizer/conversations.jsonl`: a conversation a line, with every statement that a careful person would keep. The rules were
tuned on half "tune"; "held" and "later" were measured before they were looked at.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import limpet
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
            taken = memory.organize([path], summaries=False).taken
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


# Measured 2026-11: see organizer/README.md.
@pytest.mark.parametrize(
    ("half", "precision", "recall"), [("tune", 0.95, 0.95), ("held", 0.9, 0.85), ("later", 0.95, 0.8)]
)
def test_what_is_stored_is_worth_it_and_noise_is_not(half, precision, recall, tmp_path):
    measured, found, wrong, missed = measure(half, tmp_path)
    assert measured >= precision, wrong
    assert found >= recall, missed
