"""Recall on the project's own set: what coding agents store and ask, with the real embedder, through the public API."""

from __future__ import annotations

import pytest

from benchmarks import embedding_cache
from benchmarks.own import HALVES, ask, read, summarise
from tests.quality.recall.make import build

# The set is stored and asked once, in one process.
pytestmark = pytest.mark.xdist_group("own set")

# Two points below what benchmarks/results holds: (any@1, any@5, any@10).
REACHED = {"tuning": (0.73, 0.88, 0.93), "held-back": (0.64, 0.84, 0.90)}
# Categories that must not depend on the embedder: any@5.
SURE = {"identifier": 0.97, "plain": 0.97, "near-duplicate": 0.91}
# Withheld: of the questions without an answer at least, of the answerable ones at most.
ABSTENTION = {"tuning": (0.38, 0.06), "held-back": (0.31, 0.065)}


@pytest.fixture(scope="module")
def asked():
    # Each text goes through the model once, and not at all when the benchmark has been run here.
    embedder = embedding_cache.load()
    found = ask(embedder, read("memories.jsonl"), read("questions.jsonl"))
    embedder.save()
    return found


@pytest.fixture(scope="module")
def figures(asked):
    return {half: summarise([one for one in asked if one.half == half]) for half in HALVES}


def test_the_set_is_what_its_sources_say():
    assert build() == (read("memories.jsonl"), read("questions.jsonl"))


def test_the_set_is_large_and_has_questions_without_an_answer():
    memories, questions = read("memories.jsonl"), read("questions.jsonl")
    ids = {one["id"] for one in memories}
    assert len(memories) >= 1_500
    assert len(questions) >= 400
    assert sum(not one["gold"] for one in questions) >= 80
    assert all(id in ids for one in questions for id in one["gold"])
    assert {one["half"] for one in questions} == set(HALVES)


def test_nothing_that_was_replaced_or_had_ended_is_recalled(figures):
    assert [(one["stale"], one["stale_above"]) for one in figures.values()] == [(0, 0), (0, 0)]


def test_nothing_of_another_project_is_recalled(figures):
    assert [one["foreign"] for one in figures.values()] == [0, 0]


@pytest.mark.parametrize("half", HALVES)
def test_the_answer_is_among_the_first(figures, half):
    rates = figures[half]["all"]
    assert all(rates[f"any@{k}"] >= least for k, least in zip((1, 5, 10), REACHED[half], strict=True)), rates


@pytest.mark.parametrize("half", HALVES)
def test_what_shares_words_with_its_answer_is_found(figures, half):
    rates = figures[half]["categories"]
    assert {name: rates[name]["any@5"] for name in SURE if rates[name]["any@5"] < SURE[name]} == {}


@pytest.mark.parametrize("half", HALVES)
def test_questions_without_an_answer_are_recognised_and_few_others_withheld(figures, half):
    least, most = ABSTENTION[half]
    found = figures[half]["abstention"]
    assert found["withheld"] >= least
    assert found["wrongly_withheld"] <= most
