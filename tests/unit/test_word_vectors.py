"""Vectors of words: a recall that has no others finds what says the same in other words."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import limpet
from limpet.vectors.word_vectors import DIMENSIONS, TABLES, cosines, word_vectors
from limpet.vectors.wordpiece import VOCABULARY, wordpiece

DAY = "2026-03-01T12:00:00Z"
NOTES = (
    "The nightly deploy runs from the release branch.",
    "Ben keeps two cats and a parrot.",
    "We moved every customer record to Postgres in May.",
)


@pytest.fixture
def memory(tmp_path):
    with limpet.open(tmp_path / "memory.db", scope="global", embedder=None, clock=limpet.FixedClock(DAY)) as opened:
        opened.remember_batch({"content": text} for text in NOTES)
        yield opened


def scores(found):
    return {one.content: one.score for one in found.items}


def test_there_is_a_row_of_each_table_for_each_piece():
    words = len(Path(VOCABULARY).read_text(encoding="utf-8").splitlines())
    assert Path(TABLES).stat().st_size == 2 * DIMENSIONS * words <= 6_000_000


@pytest.mark.parametrize("text", [
    "Don't re-run `make test_all` at 3.5x speed!", "Müller's café: naïve résumé", "数据库 is slow", "",
    "OperationalError: database is locked (src/app.py:17)", "x" * 60,
])  # fmt: skip
def test_a_text_has_the_pieces_that_the_embedder_gives_it(text):
    wanted = [number for number in wordpiece().ids(text, 256)[1:-1] if number != wordpiece().unknown]
    assert list(word_vectors().pieces(text)) == wanted


def test_words_of_a_question_lie_near_words_of_its_answer():
    near = cosines("which pets does he have", NOTES, deadline=None)
    assert max(near) == near[1]
    assert all(-1.0 <= one <= 1.0 for one in near)


def test_a_text_without_words_is_near_nothing():
    assert cosines("which pets does he have", ["", "\u200b"], deadline=None) == [0.0, 0.0]
    assert cosines("", NOTES, deadline=None) == [0.0, 0.0, 0.0]


def test_a_long_text_is_read_up_to_a_bound():
    word = "postgres "
    assert cosines("database", [word * 200], deadline=None) == cosines("database", [word * 100_000], deadline=None)


def test_a_deadline_that_has_passed_gives_none():
    assert cosines("database", NOTES, deadline=time.monotonic() - 1) is None


def test_a_recall_by_words_is_ranked_by_them_and_says_so(memory):
    found = memory.recall("where is the customer data kept", lexical_only=True, trace=True)
    first = found.items[0]
    assert first.content == NOTES[2]
    assert first.why.signals["word_vectors"].raw > 0
    assert first.why.signals["word_vectors"].contribution > 0


def test_without_them_scores_are_those_of_words(memory):
    query = "where is the customer data kept"
    found = memory.recall(query, lexical_only=True, without=["word_vectors"], trace=True)
    assert "word_vectors" not in found.items[0].why.signals
    assert scores(found) != scores(memory.recall(query, lexical_only=True))
