"""Whether a first memory is believed: stores of one, three, five and ten, asked in other words than theirs."""

from __future__ import annotations

from collections import defaultdict

import pytest

import limpet
from benchmarks import embedding_cache
from tests.quality.halves import is_held_back, read

# The stores are made and asked once, by one worker.
pytestmark = [pytest.mark.measurement, pytest.mark.xdist_group("small stores")]

HALVES = ("tuning", "held-back")
SIZES = (1, 3, 5, 10)
# Shares in the whole set, two points from what was measured (tests/quality/README.md): of the questions with an
# answer that "nothing relevant" is said of at most, of those without one at least.
# With the relevance judge, as agents and the command line meet it. Whoever has few memories must not be told that what
# was found is nothing: the constants give up some of the questions without an answer for that.
DENIED = {1: 0.03, 3: 0.03, 5: 0.03, 10: 0.03}
FLAGGED = {1: 0.73, 3: 0.53, 5: 0.44, 10: 0.46}


def stores():
    """(texts, [(question, whether the first of the texts answers it)]) of each small store."""
    notes, nothing = defaultdict(list), defaultdict(list)
    for row in read("small_stores.jsonl"):
        (notes if row["text"] else nothing)[row["scene"]].append(row)
    for scene, several in notes.items():
        for size in SIZES:
            for i, asked in enumerate(several):
                turned = several[i:] + several[:i]
                others = [*turned[size + 1 : size + 2], *nothing[scene][i : i + 1]]
                questions = [(asked["question"], True), *((one["question"], False) for one in others)]
                yield [one["text"] for one in turned[:size]], questions


@pytest.fixture(scope="module")
def flagged():
    """(size, half, answerable) -> whether "nothing relevant" was said, a value for each question."""
    embedder, found = embedding_cache.load(), defaultdict(list)
    for texts, questions in stores():
        with limpet.open(":memory:", scope="global", embedder=embedder, judge=True) as memory:
            # The rules of what may be stored would be made anew for each store.
            memory.remember_batch({"content": text, "origin": "user", "anyway": True} for text in texts)
            memory.work(only_vectors=True)
            for question, answerable in questions:
                half = HALVES[is_held_back(question)]
                found[len(texts), half, answerable].append(not memory.recall(question).relevant)
    embedder.save()
    return found


def share(flagged, size, half, *, answerable):
    values = flagged[size, half, answerable]
    return sum(values) / len(values)


def whole(flagged, size, *, answerable):
    values = [one for half in HALVES for one in flagged[size, half, answerable]]
    return sum(values) / len(values)


def test_the_set_has_questions_with_and_without_an_answer():
    rows = read("small_stores.jsonl")
    assert sum(row["text"] is not None for row in rows) >= 60 and sum(row["text"] is None for row in rows) >= 40
    assert {is_held_back(row["question"]) for row in rows} == {False, True}


@pytest.mark.parametrize("half", HALVES)
def test_of_a_store_of_one_memory_one_paraphrase_in_twenty_at_most_is_called_irrelevant(flagged, half):
    assert share(flagged, 1, half, answerable=True) <= 0.05


@pytest.mark.parametrize("size", SIZES)
def test_in_small_stores_few_answers_are_denied(flagged, size):
    assert whole(flagged, size, answerable=True) <= DENIED[size]


@pytest.mark.parametrize("size", SIZES)
def test_in_small_stores_most_questions_without_an_answer_are_recognised(flagged, size):
    assert whole(flagged, size, answerable=False) >= FLAGGED[size]
