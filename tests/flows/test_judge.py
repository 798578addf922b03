"""The relevance judge: whether the first results answer at all, and which of them does, by reading them with the question."""

from __future__ import annotations

import pytest

import limpet
from limpet.agents.hooks import fit_weights
from limpet.rank import constants
from limpet.rank import relevance_weights as weights
from limpet.recall.relevance import JUDGED
from limpet.recall.score import passages
from limpet.vectors.judge import TOKENS, shared
from tests.flows.test_work import WordEmbedder

JUDGE = shared()
DEPLOYS = "Deploys run on Tuesday after ten"


@pytest.fixture
def judging(path, clock):
    with limpet.open(path, clock=clock, scope="global", judge=True) as memory:
        yield memory


def test_the_text_that_answers_is_told_from_its_neighbour():
    right, wrong = JUDGE.scores(
        "When was the billing service moved to Go?",
        ["The billing service was rewritten in Go in May 2024", "The search service was rewritten in Rust in May 2024"],
    )
    assert right - wrong > 4 and wrong < -2


def test_what_answers_is_said_to_answer_and_its_neighbour_is_not(judging):
    """What the log-odds come to: their zero is nobody's promise, the constants fitted beside the judge know it."""
    asked = "When was the billing service moved to Go?"
    judging.remember("The search service was rewritten in Rust in May 2024")
    judging.work()
    assert not judging.recall(asked).relevant
    answer = judging.remember("The billing service was rewritten in Go in May 2024")
    judging.work()
    found = judging.recall(asked)
    assert found.relevant and found.items[0].id == answer.id


def test_a_text_is_read_alike_in_any_company():
    question, texts = "who owns billing?", ["Ana owns billing", "Ben owns search and the mail of the team", "x"]
    alone = [JUDGE.scores(question, [text])[0] for text in texts]
    assert JUDGE.scores(question, texts) == pytest.approx(alone, abs=1e-4)  # NumPy and onnxruntime may read them
    assert JUDGE.scores(question, []) == []


@pytest.mark.parametrize(
    "question, text", [("", ""), ("w" * 9_000, "x"), ("who?", "word " * 5_000), ("who " * 500,) * 2]
)
def test_texts_of_any_length_are_read(question, text):
    (value,) = JUDGE.scores(question, [text])
    assert -50 < value < 50
    assert TOKENS < 512  # what its positions are made for


def test_of_a_long_memory_the_part_nearest_to_the_question_is_read(memory):
    long = "Weather was fine. " * 60 + "The wifi of the cabin is called Heron. " + "We walked a lot. " * 60
    kept = memory.get(memory.remember(long, speaker="Ana").id)
    (read,) = passages("what is the wifi of the cabin called?", [kept])
    assert "Heron" in read and read.startswith("Ana: ") and len(read) < 300


def test_a_keyed_fact_is_read_with_its_key(judging):
    """Its value alone says nothing: with it the judge tells which limit is asked for."""
    fact = judging.get(judging.set_fact("idempotency.keys_kept", "10 minutes").id)
    assert passages("how long do we remember idempotency keys?", [fact]) == ["idempotency keys kept: 10 minutes"]
    judging.set_fact("upload.timeout", "15 seconds")
    judging.work()
    found = judging.recall("how long do we remember idempotency keys?", trace=True)
    assert found.relevant and found.items[0].content == "10 minutes"
    kept, other = (one.why.signals["judge"].raw for one in found.items)
    assert kept > 0 > other


def test_it_reads_on_where_it_doubts_the_first(judging, monkeypatch):
    judging.remember_batch(
        {"content": f"The {name} cupboard holds old cables"} for name in "red blue green grey".split()
    )
    judging.remember("Ana keeps the key of the grey cupboard")
    judging.work()
    read = []
    asked = shared().scores
    monkeypatch.setattr(shared(), "scores", lambda question, texts: read.append(len(texts)) or asked(question, texts))
    judging.recall("who keeps the key of the grey cupboard?")
    assert read == [constants.JUDGED]
    judging.recall("when was the roof of the cupboard painted by the neighbours?")
    assert read[1:] == [constants.JUDGED, 5 - constants.JUDGED]


def test_without_the_judge_the_cheap_features_decide(path, clock):
    for judge in (True, False):
        with limpet.open(path, clock=clock, scope="global", judge=judge) as memory:
            memory.remember(DEPLOYS)
            memory.work()
            found = memory.recall("when do deploys run?", trace=True)
            assert found.relevant
            assert ("judge" in found.items[0].why.signals) == judge


def test_what_it_says_is_a_term_of_the_score_and_what_it_has_not_read_stays_below(judging):
    judging.remember(DEPLOYS)
    judging.remember_batch({"content": f"Deploys are announced in the {name} channel"} for name in "a b c d".split())
    judging.work()
    found = judging.recall("when do deploys run?", trace=True)
    read = [one.why.signals["judge"] for one in found.items if "judge" in one.why.signals]
    assert read[0].rank == 1 and read[0].raw == max(one.raw for one in read)
    assert all(one.contribution == constants.JUDGE_WEIGHT * one.raw for one in read)
    assert len(read) == constants.JUDGED
    assert all("unread" in one.why.signals for one in found.items[len(read) :])
    scores = [one.score for one in found.items]
    assert scores == sorted(scores, reverse=True)


def test_only_beside_our_vectors(path, clock):
    with limpet.open(path, clock=clock, scope="global", embedder=WordEmbedder(), judge=True) as memory:
        memory.remember(DEPLOYS)
        memory.work()
        found = memory.recall("when do deploys run?", trace=True)
        assert found.relevant and "judge" not in found.items[0].why.signals


def test_a_question_in_other_letters_is_not_judged(judging):
    judging.remember(DEPLOYS)
    judging.work()
    found = judging.recall("когда выполняется deploy?", trace=True)
    assert all("judge" not in one.why.signals for one in found.items)


def test_where_a_caller_is_thorough_it_reads_more_and_is_asked_in_any_case(path, clock):
    with limpet.open(path, clock=clock, scope="global") as memory:
        memory.remember_batch({"content": f"Deploy number {n} went well"} for n in range(20))
        memory.remember(DEPLOYS)
        memory.work()
        plain = memory.recall("when do deploys run?", trace=True, k=20)
        assert not any("judge" in one.why.signals for one in plain.items)
        found = memory.recall("when do deploys run?", trace=True, thorough=True, k=8)
        assert found.items[0].content == DEPLOYS and found.missing == []
        assert sum("judge" in one.why.signals for one in found.items) == 8 < constants.JUDGED_THOROUGHLY


def test_a_deadline_that_leaves_no_time_does_without_it(judging):
    judging.remember(DEPLOYS)
    judging.work()
    judging.recall("loads what is needed")
    found = judging.recall("when do deploys run?", trace=True, deadline_ms=30)
    assert all("judge" not in one.why.signals for one in found.items)


def test_a_damaged_file_is_done_without_and_named(judging, monkeypatch, tmp_path):
    from limpet.vectors import judge

    (tmp_path / "judge.safetensors").write_bytes(b"nothing, in more than eight bytes")
    damaged = judge.Judge(str(tmp_path))
    monkeypatch.setattr(judge, "shared", lambda: damaged)
    judging.remember(DEPLOYS)
    judging.work()
    found = judging.recall("when do deploys run?")
    assert found.items and "judge" in found.missing and "judge.safetensors" in found.notes["judge"]


def test_its_features_have_a_weight():
    assert JUDGED in weights.RELEVANCE_JUDGED
    assert fit_weights.FITS_JUDGED["judge"] > 0
