"""A problem is recalled with the later turn of its session that says what solved it: by rates, with the real models."""

from __future__ import annotations

import pytest

import limpet

from .halves import read

# Sessions that are asked here, all in one store.
SESSIONS = 15


@pytest.fixture(scope="module")
def told():
    """(session, the first item of its question) of each."""
    sessions = read("solutions.jsonl")[:SESSIONS]
    with limpet.open(":memory:", scope="global", judge=True) as memory:
        for row in sessions:
            memory.remember_batch(
                {"content": turn["text"], "speaker": turn["role"], "kind": "episode", "session": row["id"]}
                for turn in row["turns"]
            )
        memory.work()
        return [(row, memory.recall(row["question"], k=1).items[0]) for row in sessions]


def test_the_first_item_has_what_solved_the_problem(told, capsys):
    solved = [(row, item) for row, item in told if row["cure"] is not None]
    right = [row["turns"][row["cure"]]["text"] in (item.content, *(item.resolved_by or ())) for row, item in solved]
    with capsys.disabled():
        print(f"\nsolved problems with their solution: {sum(right)} of {len(right)}")  # noqa: T201
    assert sum(right) >= 0.9 * len(right)


def test_a_problem_without_a_solution_seldom_gets_one(told):
    wrong = [item.resolved_by for row, item in told if row["cure"] is None and item.resolved_by]
    assert len(wrong) <= 1, wrong
