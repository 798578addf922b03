"""The relevance judge: whether what is nearest answers at all is told word by word."""

from __future__ import annotations

import limpet
from limpet.rank.relevance import JUDGED
from limpet.recall.judged import passages
from limpet.settings import DEFAULT_EMBEDDER
from limpet.vectors.embedder import load_embedder
from limpet.vectors.judge import matches

OWN = load_embedder(DEFAULT_EMBEDDER)


def test_the_word_that_a_text_lacks_is_farther_than_in_the_text_that_has_it():
    right, wrong = matches(
        OWN,
        "When was the billing service moved to Go?",
        ["The billing service was rewritten in Go in May 2024", "The search service was rewritten in Rust in May 2024"],
        {},
    )
    assert right.least > wrong.least
    assert right.mean > wrong.mean


def test_the_same_pair_reads_alike_in_any_company():
    question, texts = "who owns billing?", ["Ana owns billing", "Ben owns search and the mail of the team", "x"]
    together = matches(OWN, question, texts, {"bill": 2.0})
    assert together == [matches(OWN, question, [text], {"bill": 2.0})[0] for text in texts]


def test_of_a_long_memory_the_part_nearest_to_the_question_is_read(memory):
    long = "Weather was fine. " * 60 + "The wifi of the cabin is called Heron. " + "We walked a lot. " * 60
    kept = memory.get(memory.remember(long, speaker="Ana").id)
    (read,) = passages("what is the wifi of the cabin called?", [kept])
    assert "Heron" in read and read.startswith("Ana: ") and len(read) < 300


def test_without_the_judge_the_cheap_features_decide(path, clock):
    for judge in (True, False):
        with limpet.open(path, clock=clock, scope="global", judge=judge) as memory:
            memory.remember("Deploys run on Tuesday after ten")
            memory.work()
            assert memory.recall("when do deploys run?").relevant
            assert (memory._context.semantic().judge(_plan(memory)) is not None) == judge


def test_only_our_model_judges(path, clock):
    with limpet.open(path, clock=clock, scope="global", embedder="minilm", judge=True) as memory:
        memory.remember("Deploys run on Tuesday after ten")
        memory.work()
        assert memory.recall("when do deploys run?").relevant
        assert memory._context.semantic().judge(_plan(memory)) is None


def _plan(memory):
    from benchmarks.collect import plan_for

    return plan_for("when do deploys run?", ("global",), memory._context.now())


def test_its_features_have_a_weight():
    from limpet.rank import relevance_weights as weights

    assert JUDGED in weights.RELEVANCE_JUDGED
