"""A memory that shares nothing with the question but what lies between: found by names and links, and only then."""

from __future__ import annotations

import pytest

import limpet
from limpet.recall import candidates

QUESTION = "Which colour does the person like who maintains what Quillbox depends on?"
ANSWER = "Ysolde Marchetti: tarragon, thirty grams"
CHAIN = ("Quillbox writes through to zrp_core", "zrp_core belongs to Ysolde Marchetti", ANSWER)
# Nearer to the question than the answer by itself.
NOISE = [
    f"The oven of bakery {number} bakes {bread} bread at {150 + number} degrees, and {who} paints its door"
    for number in range(20)
    for bread in ("rye", "spelt", "oat", "wheat")
    for who in ("a neighbour", "somebody")
]


@pytest.fixture
def story(memory):
    """(memory, ids of the chain) among what is nearer to the question."""
    memory.remember_batch({"content": text} for text in NOISE)
    ids = [memory.remember(text).id for text in CHAIN]
    memory.work()
    return memory, ids


def places(found, id):
    return [place for place, one in enumerate(found.items, 1) if one.id == id]


def test_it_needs_neither_vectors_nor_a_second_recall(story):
    memory, (_, _, answer) = story
    assert places(memory.recall(QUESTION, lexical_only=True), answer)


def test_a_question_of_one_hop_does_not_walk(story):
    memory, (first, _, answer) = story
    found = memory.recall("What does Quillbox write to?", explain=True)
    assert places(found, first) == [1]
    assert not places(found, answer)
    assert all(one.why.signals["graph"].raw == 0 for one in found.items)


def test_nothing_of_another_scope_is_on_the_way(story):
    memory, (_, between, answer) = story
    memory.purge(between, confirm=True)
    other = memory.in_scope("project:web")
    other.remember("zrp_core belongs to Ysolde Marchetti")
    memory.work()
    assert not places(memory.recall(QUESTION, k=10), answer)


def test_nothing_that_was_retracted_is_on_the_way(story):
    memory, (_, between, answer) = story
    memory.retract(between, "she left")
    assert not places(memory.recall(QUESTION, k=10), answer)


def test_a_deadline_that_is_near_leaves_it_out(story, monkeypatch):
    memory, _ = story
    monkeypatch.setattr(candidates, "GRAPH_SECONDS", 60.0)  # any deadline is near then, on a slow machine too
    found = memory.recall(QUESTION, deadline_ms=30_000, lexical_only=True)
    assert "graph" in found.missing
    assert "deadline" in found.notes["graph"]


def test_names_are_noted_where_no_embedder_is(path, clock):
    with limpet.open(path, scope="project:api", clock=clock, embedder="none-such") as memory:
        memory.remember_batch({"content": text} for text in NOISE)
        answer = [memory.remember(text).id for text in CHAIN][-1]
        with pytest.raises(limpet.EmbedderUnavailable):
            memory.work()
        assert places(memory.recall(QUESTION, lexical_only=True), answer)
