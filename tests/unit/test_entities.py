"""Named things by their form, and the kinds of questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.recall.plan import asks_now
from limpet.recall.shape import SHAPES, shape_of
from limpet.text import entities as E


def folded(text):
    return {one.folded for one in E.entities(text)}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("the rateLimiter waits", {"rate limiter"}),
        ("the RateLimiter waits", {"rate limiter"}),
        ("set rate_limiter to 5", {"rate limiter"}),
        ("set MAX_ROWS and S3", {"max rows", "s 3"}),
        ("it calls flush() on db.pool_size", {"flush", "db pool size"}),
        ("see src/api/limits.py, not limits.toml", {"src/api/limits.py", "limits.toml"}),
        ("run it with --dry-run", {"--dry-run"}),
        ("read https://ci.example.com/job/1.", {"https://ci.example.com/job/1"}),
        ("fixed by API-412 and #88", {"api-412", "88"}),
        ("since v2.3.1, commit 3f2a9bc", {"2.3.1", "3f2a9bc"}),
        ("listens on port 5432 and redis:6379", {"port 5432", "port 6379"}),
        ("we say “ship on green” here", {"ship on green"}),
        ("we asked Mara Lindqvist", {"mara lindqvist", "mara", "lindqvist"}),
        ("결제는 PaymentGateway 를 쓴다", {"payment gateway"}),
        ("今は「支払い基盤」を使う", {"支払い基盤"}),
        ("The and/or of 24/7 is why we don't. I think so.", set()),
        ("on Friday in May", set()),
        ("", set()),
    ],
)
def test_what_is_written_like_a_name_is_one(text, named):
    assert folded(text) == named


def test_a_text_names_only_so_many_things():
    assert len(E.entities(" ".join(f"API-{i}" for i in range(500)))) == E.MOST


@given(st.text(max_size=400))
def test_any_text_has_its_things(text):
    for one in E.entities(text):
        assert 1 < len(one.folded) <= E.LONGEST
    assert shape_of(text) in SHAPES


@pytest.mark.parametrize("part", ["a_", "A", "Aa", "a.", "/", "1.", "/a", "A-", "Ab-", '"', "`a", "-", "ab'", "a::"])
def test_no_text_takes_for_ever(part):
    """Patterns that go back and forth would not end in the time of a test run."""
    assert len(E.entities(part * 50_000)) <= E.MOST


@pytest.mark.parametrize(
    ("question", "now"),
    [
        ("when did we move to Berlin?", False), ("what is the latest version?", True),
        ("what is the rate limit?", False), ("레이트 리밋은 얼마인가?", False), ("", False),
    ],
)  # fmt: skip
def test_a_question_says_that_it_asks_for_what_holds_now(question, now):
    assert asks_now(question) is now
    assert shape_of(question) == "one"
