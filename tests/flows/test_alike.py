"""Behind the first results of a conversation: what is most like the best of them."""

from __future__ import annotations

import pytest

import limpet
from benchmarks import embedding_cache
from limpet.recall.score import STAYING

# Answers to one question, most of them in other words than it has; and talk of other things.
BOUGHT = [
    "I bought a snake plant at the nursery on Saturday.",
    "We bought a fern too, a plant for the bathroom.",
    "Bought another plant at the nursery, a calathea.",
    "The peace lily that was ordered stands on the piano now.",
    "My sister left one of her succulents with me.",
    "The orchid from Mum has new buds.",
    "Repotted the monstera.",
    "The basil got too much water.",
    "One cactus fell off the sill.",
]
OTHER = [
    f"{what} {when}."
    for what in ("The tram was late", "Tom came home", "I had a cold", "We watched a film at home", "It rained")
    for when in ("on Monday", "again", "last week", "in the evening")
]
ASKED = "Which plants do I have at home?"
OF_ONE = "When did I buy the first plant?"


@pytest.fixture
def filled(tmp_path):
    """(speaker) -> a memory of the same texts, by a speaker or by none."""
    opened = []

    def fill(speaker):
        memory = limpet.open(
            tmp_path / f"{speaker}.db", scope="g", embedder=embedding_cache.load(),
            clock=limpet.FixedClock("2026-03-01T12:00:00Z"),
        )  # fmt: skip
        opened.append(memory)
        for text in (*BOUGHT, *OTHER):
            memory.remember(text, kind="episode", speaker=speaker, session="s1")
        memory.work(only_vectors=True)
        return memory

    yield fill
    for memory in opened:
        memory.close()


def test_what_is_like_the_best_comes_behind_the_first(filled):
    memory = filled("Ana")
    with_few, with_more = (memory.recall(ASKED, k=k, trace=True) for k in (STAYING, 10))
    assert [one.id for one in with_few] == [one.id for one in with_more][:STAYING]
    came = {one.content for one in with_more.items[STAYING:]}
    by_signals = sorted(memory.recall(ASKED, k=30, trace=True), key=lambda one: -one.why.ranked)
    likelier = {one.content for one in by_signals[STAYING:10]}
    assert len(came & set(BOUGHT)) > len(likelier & set(BOUGHT))
    assert all("alike" in one.why.signals for one in with_more.items[STAYING:])
    assert [one.id for one in with_more] == [one.id for one in memory.recall(ASKED, k=10)]


def test_among_notes_and_by_words_nothing_moves(filled):
    notes = filled(None).recall(ASKED, k=10, trace=True).items
    by_words = filled("Ana").recall(ASKED, k=10, trace=True, lexical_only=True)
    assert not any("alike" in one.why.signals and one.why.signals["alike"].raw for one in (*notes, *by_words))


def test_a_question_that_counts_finds_other_sessions(filled, monkeypatch):
    memory = filled("Ana")
    for text in (BOUGHT[6], BOUGHT[8], OTHER[0], OTHER[8]):
        memory.remember(f"{text} Really.", kind="episode", speaker="Ana", session="s2")
    memory.work(only_vectors=True)

    def of_another(question):
        return [one.session for one in memory.recall(question, k=8)].count("s2")

    counted, asked = of_another("How many plants did I buy?"), of_another(OF_ONE)
    monkeypatch.setattr("limpet.recall.score.OF_A_SESSION", 0.0)
    assert of_another("How many plants did I buy?") < counted
    assert of_another(OF_ONE) == asked
