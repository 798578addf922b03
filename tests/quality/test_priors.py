"""What comes first where all answer, by age, use, kind and weight; and what a question about the past is told."""

from __future__ import annotations

from collections import defaultdict

import pytest

import limpet
from limpet.model.clock import FixedClock
from tests.quality.halves import read

pytestmark = [pytest.mark.measurement, pytest.mark.xdist_group("priors")]

# Two questions below what was measured. Of priors.jsonl 39 of 40 are right first, of past.jsonl all 24 are told by the
# first result, with the reason where one was given.
RIGHT, TOLD = 37, 22


def asked(world, path):
    """Store a world at its dates, ask its questions. Yields (question, answer, set id -> memory id)."""
    clock, ids = FixedClock("2020-01-01T09:00:00Z"), {}
    rows = [(one["date"], 0, one) for one in world["memories"]]
    rows += [(one["date"], 1, one) for one in world.get("corrections", ())]
    rows += [(day, 2, one) for one in world["memories"] for day in one.get("used", ())]
    with limpet.open(path, scope="global", clock=clock, durable=False, judge=True) as memory:
        for day, what, one in sorted(rows, key=lambda row: row[:2]):
            clock.set(f"{day}T09:00:00Z")
            if what == 0:
                ids[one["id"]] = memory.remember(one["text"], kind=one["kind"]).id
            elif what == 1:
                memory.correct(ids[one["id"]], one["text"], why=one["why"])
            else:
                memory.show(ids[one["id"]])
        memory.work()
        clock.set(f"{world['asked_at']}T12:00:00Z")
        for question in world["questions"]:
            yield question, memory.recall(question["q"]), ids


def test_among_memories_that_answer_alike_age_use_kind_and_weight_decide(tmp_path, capsys):
    right = defaultdict(list)
    for number, world in enumerate(read("priors.jsonl")):
        for question, answer, ids in asked(world, tmp_path / f"{number}.db"):
            right[question["because"]].append(answer.items[0].id == ids[question["first"]])
    with capsys.disabled():
        print(f"\nright first: { {why: f'{sum(rows)} of {len(rows)}' for why, rows in right.items()} }")  # noqa: T201
    assert sum(map(sum, right.values())) >= RIGHT
    assert all(sum(rows) >= 0.75 * len(rows) for rows in right.values())


def test_a_question_about_the_past_is_told_what_held_then_and_why_it_ended(tmp_path, capsys):
    told, first = [], []
    for number, world in enumerate(read("past.jsonl")):
        for question, answer, ids in asked(world, tmp_path / f"{number}.db"):
            item, old = answer.items[0], ids[question["answer_old"]]
            first.append(item.id == old)
            reasons = [row[2:] for row in item.before if row[0] == old]
            reasons += [item.newer[2:]] if first[-1] else []
            told.append(bool(reasons) and question["reason"] in (None, *reasons[0]))
    with capsys.disabled():
        print(f"\ntold with the first result: {sum(told)} of {len(told)}, which is the old one: {sum(first)}")  # noqa: T201
    assert sum(told) >= TOLD
